"""docs/inspect_scorer.py, with stand-ins for the names that it takes from Inspect."""

import asyncio
import importlib.util
import sys
import types

import pytest
from conftest import EXAMPLES, RIGHT, SOURCE_DIR, WRONG, Checkout


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


def test_what_was_not_judged_is_no_score(adapter, checkout: Checkout) -> None:
    with pytest.raises(RuntimeError, match="there is no task 'level1/nothing'"):
        score(adapter, checkout, "nothing", "x")
