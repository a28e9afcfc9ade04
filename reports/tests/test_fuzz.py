"""Result files that were changed at random: whatever they say, a report is made of the others."""

import json
import random

import pytest

from kb_report.load import load_build_dir
from kb_report.rollup import document
from synthetic import BuildDir

EDGES = [
    None,
    True,
    -1,
    0,
    0.5,
    1e308,
    2**63,
    "",
    "pass",
    "\ud800",
    "../..",
    [],
    [None],
    {},
    {"a": 1},
]


def places(value, found=None):
    """Every container of a JSON value with each of its keys."""
    found = [] if found is None else found
    if isinstance(value, dict | list):
        keys = list(value) if isinstance(value, dict) else range(len(value))
        for key in keys:
            found.append((value, key))
            places(value[key], found)
    return found


def change_value(text, rng):
    """One value replaced, moved or removed."""
    value = json.loads(text)
    container, key = rng.choice(places(value))
    kind = rng.randrange(4)
    if kind == 0:
        del container[key]
    elif kind == 1:
        other, of_other = rng.choice(places(value))
        container[key] = json.loads(json.dumps(other[of_other]))
    else:
        container[key] = rng.choice(EDGES)
    return json.dumps(value).encode()


def change_bytes(text, rng):
    """One place overwritten, removed, doubled or cut off."""
    data = bytearray(text.encode())
    at, length = rng.randrange(len(data)), rng.randrange(1, 40)
    kind = rng.randrange(4)
    if kind == 0:
        data[at] = rng.randrange(256)
    elif kind == 1:
        del data[at : at + length]
    elif kind == 2:
        data[at:at] = data[at : at + length] * rng.choice([1, 1000])
    else:
        data[at:at] = rng.choice([b"[" * 5000, b"1" * 5000, b"\xff", b"NaN", b"\\ud800"])
    return bytes(data)


@pytest.mark.parametrize("change", [change_value, change_bytes])
@pytest.mark.parametrize("file", ["result", "env.json"])
def test_whatever_a_file_says(tmp_path, change, file):
    """The manifest is not among them: CMake writes it, no candidate is near."""
    build = BuildDir(tmp_path / "h200")
    changed, other = build.levels[1][:2]
    build.judged(changed, "pass", 2.0)
    build.judged(other, "incorrect")
    build.finish()
    path = build.root / (f"results/seed/level1/{changed}.json" if file == "result" else file)
    text = path.read_text()
    rng = random.Random(f"{change.__name__} {file}")
    for _ in range(250):
        path.write_bytes(change(text, rng))
        suite = load_build_dir(build.root)
        states = {c["task"]: c["state"] for c in suite.candidates}
        assert states[other] in ("judged", "stale"), path.read_bytes()
        if file == "result":
            assert states[other] == "judged"
        document(suite)
