"""Every task is what upstream's facts say, apart from the deviations on record.

Compares `kb_reference --list` and the reports' data/tasks.json with upstream/level<N>.jsonl and
upstream/deviations.json, whose form upstream/README.md describes.

Environment: KB_REFERENCE, the program; KB_SOURCE_DIR, the source tree.
"""

import copy
import json
import os
import pathlib
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

FACTS_DIR = pathlib.Path(__file__).parent / "upstream"
LEVELS = {1: 100, 2: 100, 3: 50}

Record = dict[str, Any]


def read_facts() -> dict[str, Record]:
    """Reads upstream's facts by task."""
    lines = [
        json.loads(line)
        for level in LEVELS
        for line in (FACTS_DIR / f"level{level}.jsonl").read_text().splitlines()
    ]
    return {line["task"]: line for line in lines}


def read_list() -> dict[str, Record]:
    """Runs kb_reference --list; tasks by name."""
    done = subprocess.run(
        [os.environ["KB_REFERENCE"], "--list"], capture_output=True, text=True, check=True
    )
    return {task["name"]: task for task in json.loads(done.stdout) if task["level"] in LEVELS}


def read_given() -> dict[str, Record]:
    """What tools/import takes for upstream's arguments, constants and inputs, by task."""
    path = pathlib.Path(os.environ["KB_SOURCE_DIR"]) / "reports/kb_report/data/tasks.json"
    rows = json.loads(path.read_text())
    return {f"level{r['level']}/{r['task']}": r for r in rows if r["level"] in LEVELS}


# Parameters of Model that upstream gives no argument for, though a constant has the name.
LEFT_AT_DEFAULT = {
    "024_log_softmax": ["dim"],
    "073_conv_transposed_3d_asymmetric_input_square_kernel_strided_padded_grouped": ["groups"],
    "032_convolutional_vision_transformer": ["in_channels", "image_size"],
}
FACTS = read_facts()
GIVEN = read_given()
DEVIATIONS: dict[str, Record] = json.loads((FACTS_DIR / "deviations.json").read_text())


def tensor(declared: Record) -> str:
    """A declared tensor in the facts' form."""
    return declared["dtype"] + json.dumps(declared["shape"], separators=(",", ":"))


def expected_sizes(task: Record, fact: Record, deviation: Record) -> Record:
    """Upstream's constants with the deviations on record; what upstream passes to Model may be one.

    Constants come first: where both have a name, they may mean different things by it.
    """
    sizes = {k: v for k, v in fact["init_args"].items() if k in task["sizes"]}
    sizes |= fact["constants"] | deviation.get("sizes_added", {})
    return {name: sizes[name] for name in sizes if name not in deviation.get("sizes_left_out", [])}


def expected_inputs(fact: Record, deviation: Record) -> list[str]:
    """Upstream's inputs with the deviations on record."""
    left_out = deviation.get("inputs_left_out", [])
    kept = [given for i, given in enumerate(fact["inputs"]) if i not in left_out]
    return kept + deviation.get("inputs_added", [])


def differences(task: Record, fact: Record, deviation: Record) -> list[str]:
    """What of a listed task is not as upstream's facts and the deviations say."""
    pairs = {
        "category": (task["category"], fact["category"]),
        "sizes": (task["sizes"], expected_sizes(task, fact, deviation)),
        "inputs": ([tensor(x) for x in task["inputs"]], expected_inputs(fact, deviation)),
        "weights": ([f"{w['tensor']} {tensor(w)}" for w in task["weights"]], fact["state"]),
        "outputs": ([tensor(y) for y in task["outputs"]], fact["outputs"]),
    }
    return [f"{key}: {got} is not {want}" for key, (got, want) in pairs.items() if got != want]


def stale(fact: Record, deviation: Record) -> list[str]:
    """Deviations that say nothing: they name what upstream has, or leave out what it has not."""
    found = [name for name in deviation.get("sizes_left_out", []) if name not in fact["constants"]]
    found += [name for name in deviation.get("sizes_added", {}) if name in fact["constants"]]
    found += [i for i in deviation.get("inputs_left_out", []) if i >= len(fact["inputs"])]
    return [f"'{name}' is no deviation" for name in found]


@pytest.fixture(name="listed", scope="session")
def fixture_listed() -> dict[str, Record]:
    """The tasks that kb_reference knows."""
    return read_list()


@pytest.mark.parametrize("level", LEVELS)
def test_the_level_is_whole(level: int, listed: dict[str, Record]) -> None:
    wanted = {name for name in FACTS if name.startswith(f"level{level}/")}
    assert len(wanted) == LEVELS[level]
    assert {name for name in listed if name.startswith(f"level{level}/")} == wanted


@pytest.mark.parametrize("name", FACTS)
def test_a_task_is_upstreams(name: str, listed: dict[str, Record]) -> None:
    assert differences(listed[name], FACTS[name], DEVIATIONS.get(name, {})) == []


@pytest.mark.parametrize("name", DEVIATIONS)
def test_a_deviation_is_one_and_says_why(name: str) -> None:
    known = {"why", "sizes_added", "sizes_left_out", "inputs_added", "inputs_left_out"}
    assert set(DEVIATIONS[name]) <= known
    assert len(DEVIATIONS[name]) > 1
    assert len(DEVIATIONS[name]["why"]) > len("none")
    assert stale(FACTS[name], DEVIATIONS[name]) == []


def wrongly_given(given: Record, fact: Record, deviation: Record) -> list[str]:
    """What of upstream's arguments, constants and inputs in tasks.json is not as its facts say."""

    def value(argument: Any) -> Any:
        if isinstance(argument, list):
            return [value(a) for a in argument]
        return fact["constants"][argument] if isinstance(argument, str) else argument

    def text(given: Any) -> str:
        return "python float" if isinstance(given, float) else json.dumps(given).replace(" ", "")

    arguments = [value(a) for a in given["arguments"]]
    count = len(arguments)
    rest = [name for name in list(fact["init_args"])[count:] if name in fact["constants"]]
    inputs = [x if x == "python float" else x[x.index("[") :] for x in fact["inputs"]]
    numbers = [x for x in given["inputs"] if isinstance(x, float)]
    pairs = {
        "constants": (given["constants"], fact["constants"]),
        "arguments": (arguments, list(fact["init_args"].values())[:count]),
        "left out": (rest, LEFT_AT_DEFAULT.get(given["task"], [])),
        "inputs": ([text(x) for x in given["inputs"]], inputs),
        "numbers": (numbers, list(deviation.get("sizes_added", {}).values()) if numbers else []),
    }
    return [f"{key}: {got} is not {want}" for key, (got, want) in pairs.items() if got != want]


@pytest.mark.parametrize("name", FACTS)
def test_what_an_import_takes_is_upstreams(name: str) -> None:
    assert wrongly_given(GIVEN[name], FACTS[name], DEVIATIONS.get(name, {})) == []


@pytest.mark.parametrize(
    "change",
    [
        {"arguments": ["dim1"]},
        {"arguments": [["features", "dim2", 2]]},
        {"constants": {"batch_size": 17}},
        {"inputs": [[16, 64, 256]]},
        {"inputs": [[16, 64, 256, 256], 3.14]},
    ],
    ids=range(5),
)
def test_what_an_import_takes_wrongly_is_found(change: Record) -> None:
    name = "level1/040_layer_norm"
    assert wrongly_given(GIVEN[name], FACTS[name], {}) == []
    assert wrongly_given(GIVEN[name] | change, FACTS[name], {}) != []


def test_an_argument_that_is_left_out_is_found() -> None:
    name = "level2/012_gemm_multiply_leaky_relu"
    given = GIVEN[name]
    assert wrongly_given(given | {"arguments": given["arguments"][:-1]}, FACTS[name], {}) != []


def set_size(task: Record) -> None:
    task["sizes"]["batch_size"] += 1


def drop_size(task: Record) -> None:
    del task["sizes"]["batch_size"]


def drop_weight(task: Record) -> None:
    del task["weights"][1]


def rename_weight(task: Record) -> None:
    task["weights"][0]["tensor"] = "param.weight"


def swap_weights(task: Record) -> None:
    task["weights"].reverse()


def transpose_input(task: Record) -> None:
    task["inputs"][0]["shape"][0] = 0


def change_output(task: Record) -> None:
    task["outputs"][0]["dtype"] = "int64"


def change_category(task: Record) -> None:
    task["category"] = "Loss"


@pytest.mark.parametrize(
    "change",
    [
        set_size,
        drop_size,
        drop_weight,
        rename_weight,
        swap_weights,
        transpose_input,
        change_output,
        change_category,
    ],
)
def test_a_difference_is_found(change: Callable[[Record], None], listed: dict[str, Record]) -> None:
    name = "level1/040_layer_norm"
    task = copy.deepcopy(listed[name])
    change(task)
    assert differences(task, FACTS[name], DEVIATIONS.get(name, {})) != []
