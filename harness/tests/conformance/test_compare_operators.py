"""compare-operators without upstream and without PyTorch: what counts, and how it is said.

Whether references call what upstream calls is for its users to see: it needs a checkout of
KernelBench.
"""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import types
from typing import Any

import pytest

SOURCE_DIR = pathlib.Path(os.environ["KB_SOURCE_DIR"])
TOOL = SOURCE_DIR / "harness/lab/compare-operators"
X = {"shape": [2, 3], "dtype": "float32"}


@pytest.fixture(name="tool", scope="module")
def fixture_tool() -> types.ModuleType:
    """The program as a module."""
    loader = importlib.machinery.SourceFileLoader("compare_operators", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """An operator as kb_reference lists it."""
    return {"operator": f"aten::{name}", "arguments": arguments}


def test_tasks_may_follow_options(tool: types.ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["tool", "checkout", "--set", "odd", "level1/019_relu"])
    args = tool.parse_arguments()
    assert (args.set, args.tasks) == ("odd", ["level1/019_relu"])


def test_shapes_types_and_numbers_are_compared(tool: types.ModuleType) -> None:
    assert tool.lines([call("add", self=X, other=1, alpha=1)]) == [
        "add(self=float32[2,3], other=1, alpha=1)"
    ]
    assert tool.lines([call("mul", self=X, other=2.0)]) == tool.lines(
        [call("mul", self=X, other=2)]
    )
    assert tool.lines([call("mul", self=X, other=0.1)]) != tool.lines(
        [call("mul", self=X, other=1)]
    )
    double = X | {"dtype": "float64"}
    assert tool.lines([call("relu", self=X)]) != tool.lines([call("relu", self=double)])


def test_what_computes_nothing_counts_for_nothing(tool: types.ModuleType) -> None:
    view = call("view", self=X, size=[6]) | {"view": True}
    assert tool.lines([view, call("clone", self=X), call("_to_copy", self=X, dtype=None)]) == []
    assert tool.lines([call("_to_copy", self=X, dtype="float32")]) == []
    assert len(tool.lines([call("_to_copy", self=X, dtype="float64"), call("copy_", self=X)])) == 2


def test_one_extent_for_all_dimensions_is_one_for_each(tool: types.ModuleType) -> None:
    one = call("max_pool2d_with_indices", self=X, kernel_size=[3], stride=[], padding=[1])
    each = call(
        "max_pool2d_with_indices", self=X, kernel_size=[3, 3], stride=[3, 3], padding=[1, 1]
    )
    assert tool.lines([one]) == tool.lines([each])
    other = call("max_pool2d_with_indices", self=X, kernel_size=[3, 2], stride=[], padding=[1])
    assert tool.lines([one]) != tool.lines([other])


def test_a_difference_is_on_record_only_as_it_is_recorded(tool: types.ModuleType) -> None:
    ours = ["relu(1)", "mul(2)", "sum(3)", "exp(4)"]
    theirs = ["relu(1)", "div(2)", "sum(3)", "exp(4)", "div(5)", "exp(6)"]
    assert tool.differences(ours, theirs) == {"ours": ["mul"], "upstream": ["div", "exp"]}
    assert tool.differences(ours, ours) == {"ours": [], "upstream": []}


def test_exceptions_are_tasks_with_reasons(tool: types.ModuleType) -> None:
    for task, exception in json.loads(tool.EXCEPTIONS.read_text()).items():
        assert (SOURCE_DIR / task / "reference.cpp").exists()
        assert exception.keys() == {"reason", "ours", "upstream"}
        assert exception["ours"] != exception["upstream"]
