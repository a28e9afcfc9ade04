"""tools/judge with one kernel that lies anywhere."""

import hashlib
import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from checkout import BUILD_DIR, EXAMPLES, PRESET, RIGHT, SOURCE_DIR, WRONG, Checkout
from processes import alive, descendants, runs, wait_until

BLOCKS = (SOURCE_DIR / "level1/019_relu/candidate.cu").read_text()  # includes <kb/map.cuh>
ENDLESS = """#include "task.h"
void task::launch(const Sizes&, const real*, real*, cudaStream_t) { for (;;) {} }
"""


def verdict_of(done: subprocess.CompletedProcess[str]) -> str:
    return json.loads(done.stdout)["verdict"]


@pytest.mark.parametrize(
    ("task", "kernel", "verdict", "code"),
    [
        (RIGHT, (EXAMPLES / f"{RIGHT}.cu").read_text(), "pass", 0),
        (WRONG, (EXAMPLES / f"{WRONG}.cu").read_text(), "incorrect", 10),
        (WRONG, "int x = ;\n", "compile_error", 11),
        ("019_relu", "```cuda\nint x;\n```\n", "compile_error", 11),
        ("019_relu", BLOCKS, "policy_violation", 15),
    ],
)
def test_a_kernel_gets_the_code_of_its_verdict(
    checkout: Checkout, task: str, kernel: str, verdict: str, code: int
) -> None:
    done = checkout.judge(PRESET, f"level1/{task}", "-", given=kernel)
    assert (done.returncode, verdict_of(done)) == (code, verdict), done.stderr
    assert done.stderr.startswith(f"level1/{task}: {verdict}: ")
    usage = checkout.judge("--help").stdout
    assert re.search(rf"\b{code} {verdict}\b", usage), "the codes are documented"


def test_the_name_of_a_task_may_end_with_a_slash(checkout: Checkout) -> None:
    done = checkout.judge(PRESET, f"level1/{WRONG}/", "-", given="int x = ;\n")
    assert (done.returncode, verdict_of(done)) == (11, "compile_error"), done.stderr


NO_PROC = "mount -t tmpfs none /proc && exec"


@pytest.mark.parametrize(
    ("machine", "reason"),
    [
        (["bash", "-c", 'ulimit -f 100; exec "$@"', "sh"], "ulimit -f unlimited"),
        (["unshare", "-rm", "bash", "-c", f'{NO_PROC} "$@"', "sh"], "/proc is not mounted"),
        ([BUILD_DIR / "bin/kb_refuse_call", "clone3"], "no thread can be started"),
        ([BUILD_DIR / "bin/kb_refuse_call", "getrandom"], "getrandom is refused"),
    ],
    ids=["file_size", "no_proc", "clone3", "getrandom"],
)
def test_what_the_machine_lacks_is_not_the_kernels_fault(
    checkout: Checkout, machine: list[str], reason: str
) -> None:
    probe = subprocess.run([*machine, "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip(f"this machine does not allow {machine[0]}")
    arguments = ["--no-timing", PRESET, f"level1/{RIGHT}", EXAMPLES / f"{RIGHT}.cu"]
    command = [*machine, checkout.root / "tools/judge", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stdout + done.stderr
    assert reason in done.stderr and done.stdout == ""
    name = f"examples.level1.{RIGHT}"
    entry = ["--manifest", checkout.build / "manifest.json", "--candidate", name]
    program = [*machine, checkout.build / f"bin/level1.{RIGHT}.test", *entry]
    assert subprocess.run(program, capture_output=True, check=False).returncode == 2
    assert not list(checkout.build.glob("results/**/*.json"))


@pytest.mark.parametrize(
    ("choice", "value", "error"),
    [
        ("sizes", "24", "such as '24g', not '24'"),
        ("contract", "fp8", "unknown precision contract 'fp8'"),
    ],
)
def test_the_build_trees_choices_hold(
    checkout: Checkout, choice: str, value: str, error: str
) -> None:
    """Shown by choices that no configure step lets through, since they are errors in the judge."""
    file = checkout.build / "manifest.json"
    manifest = json.loads(file.read_text())
    file.write_text(json.dumps({**manifest, choice: value}))
    source = EXAMPLES / f"{RIGHT}.cu"
    done = checkout.judge(PRESET, f"level1/{RIGHT}", str(source))
    assert done.returncode == 2 and error in done.stderr


@pytest.mark.parametrize(
    ("kernel", "evidence"),
    [
        ("", "the source is empty"),
        (" \n\t\r\n", "the source is empty"),
        ("// x\n" * (1 << 20), "the source is larger than 4 MiB"),
    ],
)
def test_an_answer_that_is_no_kernel_is_a_result(
    checkout: Checkout, kernel: str, evidence: str
) -> None:
    """Whatever a model answers, the loop that trains it goes on."""
    file = checkout.root / "kernel.cu"
    file.write_text(kernel)
    for source, given in (("-", kernel), (str(file), None)):
        done = checkout.judge(PRESET, "level1/019_relu", source, given=given)
        assert (done.returncode, verdict_of(done)) == (11, "compile_error"), done.stderr
        assert evidence in json.loads(done.stdout)["evidence"]


@pytest.mark.parametrize(
    ("task", "kernel", "advice"),
    [
        ("019_relu", 'Sure:\n```cuda\n#include "task.h"\n```\n', "Line 2 is a Markdown fence"),
        ("019_relu", "import torch\n", "The file is Python."),
        ("019_relu", "// later\n", "The file holds no code."),
        ("019_relu", '#include "task.h"\n', "The file defines no task::launch: define void task::"),
        ("019_relu", ENDLESS.replace("for (;;) {}", ""), "The file has no __global__ function."),
        (WRONG, (EXAMPLES / f"{WRONG}.cu").read_text(), None),
        (RIGHT, (EXAMPLES / f"{RIGHT}.cu").read_text(), None),
    ],
)
def test_common_mistakes_are_named(
    checkout: Checkout, task: str, kernel: str, advice: str | None
) -> None:
    done = checkout.judge("--no-timing", PRESET, f"level1/{task}", "-", given=kernel)
    result = json.loads(done.stdout)
    if advice is None:
        assert "advice" not in result
    else:
        assert result["advice"][0].startswith(advice)
        assert done.stderr.splitlines()[1:] == result["advice"]


def test_a_contract_overrides_the_presets(checkout: Checkout) -> None:
    """The result names it; one of another element type needs another build."""
    kernel = str(EXAMPLES / f"{RIGHT}.cu")
    for contract in ("fp32", "tf32"):
        done = checkout.judge(
            "--contract", contract, "--no-timing", PRESET, f"level1/{RIGHT}", kernel
        )
        assert json.loads(done.stdout)["correctness"]["contract"] == contract
    done = checkout.judge("--contract=bf16", "--no-timing", PRESET, f"level1/{RIGHT}", kernel)
    assert done.returncode == 2 and "-DKB_CONTRACT=bf16" in done.stderr


@pytest.mark.parametrize("python", ["/nowhere/python3", "/bin/false", "/bin/echo"])
def test_a_verdict_needs_no_python(checkout: Checkout, python: str) -> None:
    environment = {"KB_PYTHON": python}
    done = checkout.judge(
        PRESET, "level1/019_relu", "-", given="import torch\n", environment=environment
    )
    assert (done.returncode, verdict_of(done)) == (11, "compile_error")
    assert "advice" not in json.loads(done.stdout)
    assert len(done.stderr.splitlines()) == 1


def test_the_result_is_complete_and_nothing_is_left(checkout: Checkout) -> None:
    before = sorted(p for p in checkout.root.rglob("*") if "build" not in p.parts)
    done = checkout.judge(PRESET, f"level1/{RIGHT}", f"{RIGHT}.cu", cwd=EXAMPLES)
    result = json.loads(done.stdout)
    assert result["verdict"] == "pass" and result["stage"] == "bench"
    assert (result["run"], result["sample"], result["task"]) == ("kernel", None, RIGHT)
    assert result["build"]["source"] == "kernel.cu"
    assert result["timing"]["lanes"]["eager"]["speedup"] > 0
    assert str(checkout.root) not in done.stdout
    assert sorted(p for p in checkout.root.rglob("*") if "build" not in p.parts) == before
    assert not (checkout.build / "results").exists()


@pytest.mark.skipif(not PRESET.startswith("cpu"), reason="times count on a GPU")
def test_times_that_count_for_nothing_are_one_block_of_two_calls(checkout: Checkout) -> None:
    done = checkout.judge(PRESET, f"level1/{RIGHT}", str(EXAMPLES / f"{RIGHT}.cu"))
    timing = json.loads(done.stdout)["timing"]
    lanes = timing["lanes"].values()
    assert timing["functional"] and set(timing["lanes"]) == {"eager", "graph"}
    assert {(lane["blocks"], lane["pairs"], lane["calls_per_unit"]) for lane in lanes} == {
        (1, 1, 2)
    }


def test_times_can_be_left_out(checkout: Checkout) -> None:
    kernel = EXAMPLES / f"{RIGHT}.cu"
    done = checkout.judge("--no-timing", PRESET, f"level1/{RIGHT}", str(kernel))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["timing"] is None


def test_declared_headers_may_be_included(checkout: Checkout) -> None:
    done = checkout.judge("--headers", "kb", PRESET, "level1/019_relu", "-", given=BLOCKS)
    result = json.loads(done.stdout)
    assert (done.returncode, result["verdict"]) == (0, "pass"), done.stderr
    assert result["build"]["headers"] == ["kb"]


TORCH = """#include "task.h"
#include <kb/torch.h>
__global__ void relu(const float* x, float* y, int64_t n) {
  const int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}
void task::launch(const Sizes& s, const real* x, real* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  relu<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
"""


def test_torchs_names_may_be_included_alone_or_with_the_blocks(checkout: Checkout) -> None:
    for headers in (["torch"], ["kb", "torch"]):
        options = [word for name in headers for word in ("--headers", name)]
        done = checkout.judge(*options, "--no-timing", PRESET, "level1/019_relu", "-", given=TORCH)
        assert (done.returncode, verdict_of(done)) == (0, "pass"), done.stderr
        assert json.loads(done.stdout)["build"]["headers"] == headers


def test_weights_may_come_out_of_a_file(checkout: Checkout, tmp_path: Path) -> None:
    task, file = "level2/086_matmul_divide_gelu", tmp_path / "weights.safetensors"
    program = BUILD_DIR / "bin/kb_reference"
    listed = json.loads(subprocess.check_output([program, "--list"]))
    smoke = next(t for t in listed if t["name"] == task)["sets"]["smoke"]
    sizes = [f"--size={name}={value}" for name, value in smoke.items()]
    make = [program, "--task", task, "--make-inputs", "7", "--out", file, *sizes]
    subprocess.run(make, check=True)
    given = (checkout.root / task / "candidate.cu").read_text()

    def judge(weights: Path) -> subprocess.CompletedProcess[str]:
        arguments = ("--headers", "kb", PRESET, task, "-")
        return checkout.judge(*arguments, given=given, environment={"KB_WEIGHTS": str(weights)})

    done = judge(file)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["correctness"]["weights"]
    assert found["sets"] == ["smoke"]
    assert found["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    missing = judge(tmp_path / "nowhere.safetensors")
    assert missing.returncode == 2 and "nowhere.safetensors" in missing.stderr


def test_a_declared_library_is_recorded(checkout: Checkout) -> None:
    kernel = (EXAMPLES / f"{RIGHT}.cu").read_text()
    arguments = ("--library", "cublas", PRESET, f"level1/{RIGHT}", "-")
    done = checkout.judge(*arguments, given=kernel)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["build"]["library"] == "cublas"


def test_the_kernel_of_another_task_is_not_judged_as_this_one(checkout: Checkout) -> None:
    """The command comes from one task; every part of it must be that of the task asked for."""
    done = checkout.judge(PRESET, f"level1/{WRONG}", str(EXAMPLES / f"{RIGHT}.cu"))
    assert verdict_of(done) == "compile_error"
    done = checkout.judge(PRESET, "level2/057_conv2d_relu_hardswish", "-", "--headers=kb",
        given=(SOURCE_DIR / "level2/057_conv2d_relu_hardswish/candidate.cu").read_text())  # fmt: skip
    assert (done.returncode, json.loads(done.stdout)["level"]) == (0, 2), done.stderr


def test_many_calls_at_once(checkout: Checkout) -> None:
    tasks = [RIGHT, WRONG] * 3
    calls = [
        checkout.start(PRESET, f"level1/{t}", str(EXAMPLES / f"{t}.cu"), "--no-timing")
        for t in tasks
    ]
    results = [json.loads(call.communicate()[0]) for call in calls]
    assert [r["task"] for r in results] == tasks
    assert [r["verdict"] for r in results] == ["pass", "incorrect"] * 3
    assert [call.returncode for call in calls] == [0, 10] * 3
    assert not list(checkout.temporary.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((PRESET, "level1/019_relu"), "name the kernel's file after level1/019_relu, or - for"),
        ((PRESET, "level1/019_relus", "-"), "there is no task 'level1/019_relus' in"),
        ((PRESET, "level9/x", "-"), "give the name of a task's folder, such as level1/019_relu"),
        (("nothing", "level1/019_relu", "-"), "there is no preset 'nothing': choose one of cpu, "),
        (("h/../x", "level1/019_relu", "-"), "is no name of a preset"),
        ((PRESET, "level1/019_relu", "nowhere.cu"), "cannot read the kernel nowhere.cu (No such"),
        ((PRESET, "level1/019_relu", "."), ". is a folder: name a file of CUDA C++"),
        ((PRESET, "level1/019_relu", "-", "--frobnicate"), "there is no option --frobnicate"),
        ((PRESET, "level1/019_relu", "-", "--headers"), "--headers needs a name after it"),
        (
            (PRESET, "level1/019_relu", "-", "--headers=cute"),
            "'cute' are not known: choose from kb, torch",
        ),
        ((PRESET, "level1/019_relu", "-", "-j", "2"), "-j is for runs"),
    ],
)
def test_bad_input_is_one_sentence(
    checkout: Checkout, arguments: tuple[str, ...], message: str
) -> None:
    (checkout.stand_ins / "cmake").unlink()
    done = checkout.judge(*arguments, cwd=checkout.root)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert not list(checkout.temporary.iterdir())


def test_a_preset_that_is_not_built(checkout: Checkout) -> None:
    (checkout.build / "bin").unlink()
    done = checkout.judge(PRESET, "level1/019_relu", "-", given="int x;")
    assert done.returncode == 2
    assert f"cmake --build --preset {PRESET} --target kb_suite" in done.stderr
    (checkout.build / "bin").mkdir()
    for file in (SOURCE_DIR / "build" / PRESET / "bin").iterdir():
        if file.name != "level1.019_relu.test":
            (checkout.build / "bin" / file.name).symlink_to(file)
    done = checkout.judge(PRESET, "level1/019_relu", "-", given="int x;")
    assert done.returncode == 2
    assert "bin/level1.019_relu.test is missing" in done.stderr


def test_a_result_that_cannot_be_written_is_told(checkout: Checkout) -> None:
    arguments = (PRESET, f"level1/{RIGHT}", str(EXAMPLES / f"{RIGHT}.cu"), "--no-timing")
    with open("/dev/full", "w") as full:
        done = checkout.judge(*arguments, stdout=full)
    assert done.returncode == 2
    assert "No space left on device" in done.stderr and "verdict is pass" in done.stderr
    reader, writer = os.pipe()
    os.close(reader)
    done = checkout.judge(*arguments, stdout=writer)
    os.close(writer)
    assert done.returncode == 2
    assert "Broken pipe" in done.stderr and "verdict is pass" in done.stderr


def test_a_folder_for_temporary_files_that_is_not_there(checkout: Checkout) -> None:
    checkout.temporary.rmdir()
    done = checkout.judge(PRESET, "level1/019_relu", "-", given="int x;")
    assert done.returncode == 2
    assert f"{checkout.temporary}" in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("key", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_nothing(checkout: Checkout, key: signal.Signals) -> None:
    file = checkout.root / "endless.cu"
    file.write_text(ENDLESS)
    environment = {"KB_CALL_TIMEOUT": "1000"}
    call = checkout.start(PRESET, "level1/019_relu", str(file), environment=environment)
    seen: set[int] = set()

    def runner_started() -> bool:
        seen.update(descendants(call.pid))
        return runs("kb_runner", seen)

    wait_until(runner_started)
    call.send_signal(key)
    out, _ = call.communicate()
    assert (call.returncode, out) == (-key, "")
    wait_until(lambda: not any(alive(p) for p in seen))
    assert not list(checkout.temporary.iterdir())
