"""docs/inspect_scorer.py, with stand-ins for the names that it takes from Inspect."""

import asyncio
import importlib.util
import sys
import types

import pytest
from checkout import EXAMPLES, RIGHT, SOURCE_DIR, WRONG, Checkout


@pytest.fixture(name="adapter")
def fixture_adapter(monkeypatch: pytest.MonkeyPatch, checkout: Checkout) -> types.ModuleType:
    """The adapter as a module, judging in the checkout."""
    parts = {name: types.ModuleType(f"inspect_ai.{name}") for name in ("scorer", "solver")}
    parts["scorer"].Score = types.SimpleNamespace
    parts["scorer"].Target = parts["solver"].TaskState = object
    parts["scorer"].accuracy = parts["scorer"].stderr = lambda: None
    parts["scorer"].scorer = lambda metrics: lambda function: function
    monkeypatch.setitem(sys.modules, "inspect_ai", types.ModuleType("inspect_ai"))
    for name, module in parts.items():
        monkeypatch.setitem(sys.modules, f"inspect_ai.{name}", module)
    monkeypatch.setenv("KB_NATIVE", str(checkout.root))
    monkeypatch.setenv("TMPDIR", str(checkout.temporary))
    spec = importlib.util.spec_from_file_location("adapter", SOURCE_DIR / "docs/inspect_scorer.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def score(adapter: types.ModuleType, checkout: Checkout, task: str, answer: str):
    state = types.SimpleNamespace(
        metadata={"kernelbench_task": f"level1/{task}"},
        output=types.SimpleNamespace(completion=answer),
    )
    return asyncio.run(adapter.kernelbench(checkout.build.name)(state, None))


@pytest.mark.parametrize(("task", "value"), [(RIGHT, 1), (WRONG, 0)])
def test_the_score_is_the_verdict(adapter, checkout: Checkout, task: str, value: int) -> None:
    kernel = (EXAMPLES / f"{task}.cu").read_text()
    found = score(adapter, checkout, task, f"Here it is:\n```cuda\n{kernel}```\nEnjoy.")
    assert found.value == value
    assert found.explanation == found.metadata["evidence"]


@pytest.mark.parametrize(
    ("answer", "kernel"),
    [
        ("int x;\nint y;", "int x;\nint y;"),
        ("", ""),
        ("Here:\n```cuda\nint x;\n```\nEnjoy.\n", "int x;\n"),
        ("  ```\nint x;\n  ```", "int x;\n"),
        ("```\nint x;\r\n```\r\n", "int x;\r\n"),
        ("```sh\nls\n```\n```cuda\nint longer;\n```\n```\nx\n```\n", "int longer;\n"),
        ("```cuda\nint x;\nint y", "int x;\nint y"),
        ("nothing\n```", ""),
        ("```cuda\n```\n", ""),
    ],
)
def test_an_answer_is_read_as_by_refine(adapter, answer: str, kernel: str) -> None:
    """The cases of answer_test.cpp."""
    assert adapter.kernel_of(answer) == kernel


@pytest.mark.parametrize("answer", ["", "```cuda\n```\n", "\ud800", "x" * (5 << 20)])
def test_an_answer_without_a_kernel_is_a_score(adapter, checkout: Checkout, answer: str) -> None:
    found = score(adapter, checkout, RIGHT, answer)
    assert (found.value, found.metadata["verdict"]) == (0, "compile_error")


def test_an_answer_that_was_cut_off_is_judged(adapter, checkout: Checkout) -> None:
    kernel = (EXAMPLES / f"{RIGHT}.cu").read_text()
    assert score(adapter, checkout, RIGHT, f"Here it is:\n```cuda\n{kernel}").value == 1


def test_what_was_not_judged_is_no_score(adapter, checkout: Checkout) -> None:
    with pytest.raises(RuntimeError, match="there is no task 'level1/nothing'"):
        score(adapter, checkout, "nothing", "x")
