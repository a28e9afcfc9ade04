"""harness/lab/compare-with-upstream without upstream and without PyTorch: what it says, and sizes.

Whether references agree with upstream is for its users to see: it needs a checkout of KernelBench.
"""

import ast
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import types

import pytest

SOURCE_DIR = pathlib.Path(os.environ["KB_SOURCE_DIR"])
TOOL = SOURCE_DIR / "harness/lab/compare-with-upstream"
SIZES = {"batch_size": 2, "dims": [3, 4], "affine": True}
TASK = {
    "name": "level1/019_relu",
    "sizes": SIZES,
    "sets": {"smoke": SIZES, "odd": SIZES},
    "inputs": [],
    "outputs": [],
    "weights": [],
}


@pytest.fixture(name="upstream", scope="module")
def fixture_upstream() -> types.ModuleType:
    """What the program shares with others."""
    path = SOURCE_DIR / "harness/lab/upstream.py"
    spec = importlib.util.spec_from_file_location("upstream", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(name="reference")
def fixture_reference(tmp_path: pathlib.Path) -> pathlib.Path:
    """A kb_reference that lists one task, and modules in the place of PyTorch."""
    (tmp_path / "torch.py").write_text("def set_num_threads(n): pass\n")
    (tmp_path / "safetensors").mkdir()
    (tmp_path / "safetensors/__init__.py").write_text("")
    (tmp_path / "safetensors/torch.py").write_text("load_file = None\n")
    program = tmp_path / "kb_reference"
    program.write_text(f"#!/bin/sh\n[ \"$1\" = --list ] || exit 3\necho '{json.dumps([TASK])}'\n")
    program.chmod(0o755)
    return program


def said(reference: pathlib.Path, checkout: pathlib.Path, task: str, *options: str) -> str:
    """What it says when it gives up."""
    done = subprocess.run(
        [sys.executable, TOOL, checkout, task, "--reference", reference, *options],
        env={**os.environ, "PYTHONPATH": str(reference.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and done.stdout == "", done
    assert "Traceback" not in done.stderr
    return done.stderr


def checkout_with(root: pathlib.Path, *names: str) -> pathlib.Path:
    """A checkout of KernelBench with these files of level 1."""
    folder = root / "upstream/KernelBench/level1"
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).write_text("")
    return root / "upstream"


def test_a_missing_program_is_named(tmp_path: pathlib.Path) -> None:
    missing = tmp_path / "kb_reference"
    text = said(missing, tmp_path, TASK["name"])
    assert text.startswith(f"cannot run {missing} (No such file") and "--reference" in text
    target = re.search(r"--target (\w+)", text)[1]
    assert f"add_executable({target} " in (SOURCE_DIR / "harness/lab/CMakeLists.txt").read_text()


@pytest.mark.parametrize("task", ["level1/020_gelu", "019_relu", "relu"])
def test_an_unknown_task_is_named(
    reference: pathlib.Path, tmp_path: pathlib.Path, task: str
) -> None:
    text = said(reference, checkout_with(tmp_path), task)
    assert f"has no task '{task}'; give levelN/NNN_slug" in text


@pytest.mark.parametrize("names", [(), ("20_GELU.py",), ("19_ReLU.py", "19_Another.py")])
def test_a_checkout_without_the_one_file_is_named(
    reference: pathlib.Path, tmp_path: pathlib.Path, names: tuple[str, ...]
) -> None:
    checkout = checkout_with(tmp_path, *names)
    found = 2 if len(names) == 2 else 0
    text = said(reference, checkout, TASK["name"])
    assert text == (
        f"{checkout} has {found} files KernelBench/level1/19_*.py; name a checkout of KernelBench\n"
    )


def test_no_checkout_is_named(reference: pathlib.Path, tmp_path: pathlib.Path) -> None:
    text = said(reference, tmp_path / "nowhere", TASK["name"])
    assert f"{tmp_path / 'nowhere'} has 0 files" in text


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("width=3", "a NAME of batch_size, dims, affine, not 'width=3'"),
        ("batch_size", "--size takes NAME=VALUE"),
        ("batch_size=many", "--size takes int, not 'many'"),
        ("dims=3,x", "--size takes int, not 'x'"),
    ],
)
def test_a_wrong_size_is_refused(
    reference: pathlib.Path, tmp_path: pathlib.Path, setting: str, words: str
) -> None:
    checkout = checkout_with(tmp_path, "19_ReLU.py")
    assert words in said(reference, checkout, TASK["name"], "--size", setting)


def test_no_pytorch_is_named(reference: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "torch.py").write_text("import a_part_that_is_missing\n")
    text = said(reference, checkout_with(tmp_path, "19_ReLU.py"), TASK["name"])
    assert "has no complete PyTorch" in text and "pip install torch" in text


def test_sizes_are_those_of_both_sets_or_given(upstream: types.ModuleType) -> None:
    assert upstream.chosen_sets(TASK, []) == TASK["sets"]
    given = upstream.chosen_sets(TASK, ["dims=5,6", "affine=false"])
    assert given == {"given": {"batch_size": 2, "dims": [5, 6], "affine": False}}
    assert [upstream.size_text(v) for v in given["given"].values()] == ["2", "5,6", "false"]
    assert SIZES["dims"] == [3, 4]


def test_our_sizes_take_the_place_of_upstreams(upstream: types.ModuleType) -> None:
    """Constants, parameters of Model, and literals that functions pass by the name of a size."""
    tree = ast.parse(
        "batch_size = 2\n"
        "a, b = 1, 2\n"
        "class Model:\n"
        "    def __init__(self, width, *, affine=True):\n"
        "        self.layer = layer(dims=(3, 4), other=(3, 4))\n"
    )
    assert [upstream.assigned_names(s) for s in tree.body] == [{"batch_size"}, {"a", "b"}, set()]
    assert upstream.constructor_parameters(tree) == {"width", "affine"}
    assert upstream.replace_literals(tree, {"dims": [5, 6]}, {"dims": [3, 4]}) == {"dims"}
    assert "layer(dims=(5, 6), other=(3, 4))" in ast.unparse(tree)
    assert upstream.replace_literals(tree, {"other": [7]}, {"other": [9]}) == set()


def test_tensors_are_in_the_order_of_their_numbers(upstream: types.ModuleType) -> None:
    tensors = {f"input.{i}": i for i in (10, 2, 0, 1)} | {"param.w": -1}
    assert upstream.numbered(tensors, "input") == [0, 1, 2, 10]
    assert upstream.numbered({"output": 7}, "output") == [7]
