"""Advice about the mistakes that generators make most, and compiler messages that appear once."""

import json

import pytest

from kb_report import advice, feedback
from kb_report.feedback import trim_diagnostics
from synthetic import BuildDir

KERNEL = "__global__ void k(const float* x, float* y, int64_t n) { if (n) y[0] = x[0]; }\n"
LAUNCH = """void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  k<<<1, 1, 0, stream>>>(x, y, s.batch_size);
}
"""
WHOLE = KERNEL + LAUNCH
ERROR = "candidates/m/level1/019_relu.cu(4): error: {}\n"


def undefined(name):
    return ERROR.format(f'identifier "{name}" is undefined')


MATMUL = "const Sizes& s, const float* A, const float* B, float* C, cudaStream_t stream"
# Source, diagnostics, and words of the only sentence; None: nothing is known about it.
MISTAKES = {
    "fences": (f"Sure! Here's it:\n```cuda\n{WHOLE}```\n", "", "Line 2 is a Markdown fence"),
    "fences in comments": (f"/*\n```\n*/\n{WHOLE}", "", None),
    "python": ("import torch\nfrom torch.utils import cpp_extension\n", "", "The file is Python"),
    "a class": (f'class ModelNew(nn.Module):\n    source = """{KERNEL}"""\n', "", "is Python"),
    "a module of C++20": (f"import std;\n{WHOLE}", "", None),
    "empty": ("// the kernel goes here\n", "", "holds no code"),
    "truncated": (KERNEL + LAUNCH[:-20], "", "before the { of line 2 is closed"),
    "truncated in parameters": (KERNEL + LAUNCH[:60], "", "before the ( of line 2 is closed"),
    "truncated in a call": (KERNEL + LAUNCH.rpartition("x, y")[0], "", "ends before the {"),
    "a parenthesis that is missing within": (KERNEL + LAUNCH.replace("size)", "size"), "", None),
    "truncated in a comment": (f"{WHOLE}/* and now", "", "within a comment"),
    "braces in text": (f"{WHOLE}// {{\nconst char* t = \"{{\"; char c = '{{';\n", "", None),
    "one brace too many": (f"{WHOLE}}}\n", "", None),
    "outside": (KERNEL + LAUNCH.replace("task::launch", "launch"), "", "outside of namespace task"),
    "inside": (f"{KERNEL}namespace task {{ {LAUNCH.replace('task::launch', 'launch')} }}", "", None),
    "no launch": (KERNEL, "", "defines no task::launch: define void task::launch(const Sizes& s,"),
    "of another task": (f"{KERNEL}void task::launch({MATMUL}) {{}}\n", "",
                        "other parameters than task.h declares"),
    "other names": (KERNEL + LAUNCH.replace("x,", "input,").replace("y,", "output,"), "", None),
    "restrict and order": (
        KERNEL + LAUNCH.replace("const float* x", "float const * __restrict__ x"), "", None,
    ),
    "UTF-16": (WHOLE.encode("utf-16").decode(errors="replace"), "", "save it as UTF-8"),
    "attributes": (
        KERNEL + LAUNCH.replace("const Sizes& s", "[[maybe_unused]] const Sizes& s"), "", None,
    ),
    "constant parameters": (
        KERNEL + LAUNCH.replace("float* y", "float* const y").replace("_t st", "_t const st"),
        "", None,
    ),
    "an alias": (
        f"using T = float;\n{KERNEL}" + LAUNCH.replace("const float* x", "const T* x"), "", None,
    ),
    "an alias of a pointer": (
        f"typedef const float* In;\n{KERNEL}" + LAUNCH.replace("const float* x", "In x"), "", None,
    ),
    "an alias of another type": (
        f"using T = double;\n{KERNEL}" + LAUNCH.replace("const float* x", "const T* x"), "",
        "other parameters than task.h declares",
    ),
    "what it points to is not constant": (
        KERNEL + LAUNCH.replace("const float* x", "float* const x"), "",
        "other parameters than task.h declares",
    ),
    "include of nvcc": (WHOLE, undefined("FLT_MAX"), "<cfloat> for FLT_MAX"),
    "include of g++": (WHOLE, ERROR.format("‘numeric_limits’ is not a member of ‘std’"), "<limits>"),
    "include of clang": (WHOLE, ERROR.format("unknown type name '__half'"), "<cuda_fp16.h> for __half"),
    "included": (f"#include <cfloat>\n{WHOLE}", undefined("FLT_MAX"), None),
    "a name of its own": (WHOLE, undefined("shared_tile"), None),
    "host only": (LAUNCH.replace("k<<<1, 1, 0, stream>>>(x, y, s.batch_size)", "y[0] = x[0]"), "",
                  "no __global__ function"),
    "kernels of a header": (
        '#include <kb/map.cuh>\nvoid task::launch(const Sizes& s, const real* x, real* y, '
        "cudaStream_t stream) { kb::launch_map(stream, 1, F{}, y, x); }", "", None,
    ),
}  # fmt: skip


def failed(source, diagnostics="", verdict="compile_error", **changes):
    return {
        "level": 1, "task": "019_relu", "state": "judged", "source_text": source,
        "source_changed": False,
        "result": {
            "verdict": verdict, "evidence": "it does not compile",
            "build": {"diagnostics": diagnostics},
        },
    } | changes  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_each_mistake_gets_its_advice(name):
    source, diagnostics, words = MISTAKES[name]
    found = advice.of(failed(source, diagnostics))
    assert len(found) == (words is not None), found
    assert words is None or words in found[0]


def test_the_task_whose_signature_it_is_gets_named():
    source = KERNEL + (
        "void task::launch(const Sizes& s, const float* predictions, const int64_t* targets, "
        "float* loss, cudaStream_t stream) {}\n"
    )
    (found,) = advice.of(failed(source))
    assert "signature of level1/095_cross_entropy_loss" in found and "level1/019_relu" in found


def test_no_advice_where_none_is_due():
    host = MISTAKES["host only"][0]
    assert advice.of(failed(host, verdict="runtime_error"))
    for verdict in ("pass", "skipped", "degenerate"):
        assert advice.of(failed(host, verdict=verdict)) == []
    assert advice.of(failed(host, source_changed=True)) == []
    assert advice.of(failed(None)) == [] == advice.of(failed(host, state="stale", result=None))


def test_advice_is_in_feedback_and_on_the_page(tmp_path):
    build = BuildDir(tmp_path / "b", levels={1: ["019_relu"]})
    message = undefined("Sure")
    entry = build.judged(
        0, "compile_error", changes={"build.diagnostics": message * 2}, run="m",
        source=MISTAKES["fences"][0], evidence=f"it does not compile: {message.strip()}",
    )  # fmt: skip
    build.report()
    text = build.feedback(entry)
    assert "- Line 2 is a Markdown fence" in text
    assert text.count("Sure") == 1 and "candidates/" not in text, "once, and relative"
    told = json.loads(build.text("feedback/m/level1/019_relu.json"))
    assert "Markdown" in told["advice"][0]
    assert "Markdown" in build.details(entry)


def test_what_compilers_say_twice_is_said_once():
    error = "a.cu(7): error: x\n   x = 1;\n   ^\n"
    assert trim_diagnostics(error * 3, failed=True).count("error") == 1
    assert trim_diagnostics(f"{error}a.cu(8): error: x\n", failed=True).count("error") == 2
    short = feedback._said_once(
        "it does not compile: /r/a.cu(7): error: x (hint)", "a.cu(7): error: x"
    )
    assert short == "it does not compile (hint)"
    assert feedback._said_once("it crashed", "a.cu(7): error: x") == "it crashed"
