"""harness/lab/slow-down on two kernels, one of which has its launch() in a header."""

import json
import shutil
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
LAUNCH = """#include "task.h"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t on) {
}
"""


def test_kernels_whose_launch_is_elsewhere_are_left_out(tmp_path):
    (tmp_path / "harness/lab").mkdir(parents=True)
    shutil.copy(REPOSITORY / "harness/lab/slow-down", tmp_path / "harness/lab")
    (tmp_path / "harness/tests").symlink_to(REPOSITORY / "harness/tests")
    tasks = {"019_relu": LAUNCH, "020_model": '#include "task.h"\n#include "../model.cuh"\n'}
    candidates = []
    for name, text in tasks.items():
        task = tmp_path / "level1" / name
        task.mkdir(parents=True)
        (task / "candidate.cu").write_text(text)
        timing = {"lanes": {"eager": {"candidate_ms": 1.5}}}
        result = {"run": "seed", "level": 1, "task": name, "result": {"timing": timing}}
        candidates.append(result)
    reports = tmp_path / "build/fake/reports"
    reports.mkdir(parents=True)
    (reports / "results.json").write_text(json.dumps({"candidates": candidates}))

    tool = [tmp_path / "harness/lab/slow-down", "fake", "2", "5"]
    done = subprocess.run(tool, check=True, capture_output=True, text=True)

    assert "left out" in done.stderr and "level1/020_model" in done.stderr
    assert done.stdout == "2 files in candidates/slowed\n"
    for percent in (2, 5):
        slowed = tmp_path / f"candidates/slowed/p{percent}/level1"
        assert [file.name for file in slowed.iterdir()] == ["019_relu.cu"]
        text = (slowed / "019_relu.cu").read_text()
        assert f"#define KB_SLOWED {percent}" in text and "const Slowed slowed(on);" in text
    assert (tmp_path / "candidates/slowed/run.json").exists()
