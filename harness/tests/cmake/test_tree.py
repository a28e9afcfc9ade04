"""The tree itself: three files a task, three chained tests a candidate, names that are paths."""

import hashlib
import json
import re
import subprocess

import pytest
from conftest import BUILD_DIR, SOURCE_DIR, Tree

TASK_FILES = {"task.h", "reference.cpp", "candidate.cu"}


@pytest.fixture(scope="module", name="tests")
def fixture_tests() -> dict[str, dict]:
    """All tests of the build tree by name: their command and their properties."""
    done = subprocess.run(
        ["ctest", "--show-only=json-v1"],
        cwd=BUILD_DIR,
        capture_output=True,
        text=True,
        check=True,
    )
    listed = json.loads(done.stdout)["tests"]
    assert len({t["name"] for t in listed}) == len(listed)
    return {
        t["name"]: {
            "command": t.get("command", []),
            **{p["name"]: p["value"] for p in t.get("properties", [])},
        }
        for t in listed
    }


@pytest.fixture(scope="module", name="manifest")
def fixture_manifest() -> dict:
    """What is configured."""
    return json.loads((BUILD_DIR / "manifest.json").read_text())


def test_every_task_folder_has_its_three_files(manifest: dict) -> None:
    for level in ("1", "2", "3", "4"):
        folders = {p.name for p in SOURCE_DIR.glob(f"level{level}/*") if p.is_dir()}
        folders.discard("architectures")  # what tasks share
        assert folders == set(manifest["levels"][level]["tasks"])
        for folder in folders:
            files = {p.name for p in (SOURCE_DIR / f"level{level}" / folder).iterdir()}
            assert files == TASK_FILES, f"level{level}/{folder}"


def test_task_numbers_are_unique(manifest: dict) -> None:
    for level, content in manifest["levels"].items():
        numbers = [slug[:3] for slug in content["tasks"]]
        assert len(set(numbers)) == len(numbers), f"level {level}"


def test_what_judges_is_hashed_as_text(manifest: dict) -> None:
    hashes = (BUILD_DIR / "sources.sha256").read_bytes()
    hashed = {line.split()[1]: line.split()[0] for line in hashes.decode().splitlines()}
    tasks = [
        f"level{level}/{task}"
        for level, content in manifest["levels"].items()
        for task in content["tasks"]
    ]
    needed = {f"{task}/{file}" for task in tasks for file in TASK_FILES - {"candidate.cu"}}
    assert needed | {"harness/judge/bench/duel.cpp", "harness/cmake/KbTask.cmake"} <= hashed.keys()
    assert not [path for path in hashed if "candidate.cu" in path or "/tests/" in path]
    for path, digest in hashed.items():
        assert hashlib.sha256((SOURCE_DIR / path).read_bytes()).hexdigest() == digest, path
    environment = json.loads((BUILD_DIR / "env.json").read_text())
    assert environment["sources_sha256"] == hashlib.sha256(hashes).hexdigest()


def folders() -> dict[str, bool]:
    """The folders of harness/, by role, and whether what is in them decides verdicts or times."""
    lines = (SOURCE_DIR / "harness/without_verdict.txt").read_text().splitlines()
    without = {line for line in lines if not line.startswith("#")}
    found = set()
    for room in (path for path in (SOURCE_DIR / "harness").iterdir() if path.is_dir()):
        parts = [path for path in room.iterdir() if path.is_dir()]
        split = room.name in ("judge", "sandbox")
        found |= {f"{room.name}/{p.name}" for p in parts} if split else {room.name}
    assert without < found
    return {folder: folder not in without for folder in found}


def folder_of(path: str) -> str:
    """The folder by role of a path below harness/."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] in ("judge", "sandbox") and len(parts) > 2 else parts[0]


def test_folders_that_decide_no_verdict_make_no_result_stale(manifest: dict) -> None:
    """Binaries, whose hash a result names, are made of the other folders' files and of no others."""
    decide = {folder for folder, decides in folders().items() if decides}
    lines = (BUILD_DIR / "sources.sha256").read_text().splitlines()
    paths = [line.split("  harness/")[1] for line in lines if "  harness/" in line]
    hashed = {folder_of(path) for path in paths if not path.endswith("CMakeLists.txt")}
    assert hashed == decide
    inputs = subprocess.run(
        ["ninja", "-C", BUILD_DIR, "-t", "inputs", *manifest["harness"]],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    used = re.findall(rf"^{SOURCE_DIR}/harness/(\S+)\.(?:cpp|cu)$", inputs, re.MULTILINE)
    used = {folder_of(path) for path in used}
    # Headers for candidates, whose module has a hash of its own; a program around the judge.
    elsewhere = {"blocks", "cmake", "contract", "judge/single"}
    assert decide - elsewhere <= used <= decide


def test_rooms_use_each_other_in_one_direction() -> None:
    """Whoever may be tainted, and what all use, knows nothing of the judge; nothing needs the lab."""
    forbidden = {
        "base": {"judge", "sandbox", "reference", "lab"},
        "blocks": {"judge", "sandbox", "reference", "lab", "base"},
        "contract": {"judge", "sandbox", "reference", "lab", "base"},
        "cpu": {"judge", "sandbox", "reference", "lab"},
        "reference": {"judge", "sandbox", "lab"},
        "sandbox": {"judge", "reference", "lab"},
        "judge": {"lab"},
    }
    harness = SOURCE_DIR / "harness"
    seen = set()
    for path in harness.rglob("*"):
        room = path.relative_to(harness).parts[0]
        if path.suffix not in (".h", ".cpp", ".cu", ".cuh", ".hpp") or room not in forbidden:
            continue
        for used in re.findall(r'^#include "(\w+)/', path.read_text(), re.MULTILINE):
            seen.add((room, used))
            assert used not in forbidden[room], f"{path} includes {used}/"
    assert {("judge", "sandbox"), ("judge", "reference"), ("judge", "base")} <= seen


def test_an_edit_makes_stale_what_it_may_change(tree: Tree) -> None:
    """One file of each folder: the hash of what decides verdicts, and that of what a GPU tries."""
    (tree.root / "build/cpu").mkdir(parents=True, exist_ok=True)
    assert tree.configure().returncode == 0

    def hashes() -> tuple[str, str]:
        built = tree.run(["cmake", "--build", "build/cpu", "--target", "kb_sources"])
        assert built.returncode == 0, built.stdout
        gpu = tree.run(["bash", "-c", "source tools/lib/gpu-sources.sh; kb_gpu_sources"])
        return (tree.root / "build/cpu/sources.sha256").read_text(), gpu.stdout

    before = hashes()
    for folder, decides in sorted(folders().items()):
        kinds = (".cpp", ".h", ".cuh", ".cmake")
        files = [
            p for p in sorted((tree.root / "harness" / folder).rglob("*")) if p.suffix in kinds
        ]
        text = files[0].read_text()
        files[0].write_text(text + "\n")
        sources, gpu = hashes()
        assert (sources != before[0]) == decides, files[0]
        assert (gpu != before[1]) == (decides and folder != "cpu"), files[0]
        files[0].write_text(text)


def test_what_editors_leave_behind_is_not_hashed(tree: Tree) -> None:
    left = [
        tree.root / "harness/judge/bench" / name
        for name in ("duel.cpp~", ".duel.cpp.swp", "#duel.h#")
    ]
    for file in left:
        file.touch()
    lock = tree.root / "harness/judge/bench/.#duel.cpp"
    lock.symlink_to("nowhere")
    assert tree.configure().returncode == 0
    built = tree.run(["cmake", "--build", "build/cpu", "--target", "kb_sources"])
    for file in [*left, lock]:
        file.unlink()
    assert built.returncode == 0, built.stdout
    hashed = (tree.root / "build/cpu/sources.sha256").read_text()
    assert [line for line in hashed.splitlines() if "duel" in line] == [
        line for line in hashed.splitlines() if line.endswith(("bench/duel.cpp", "bench/duel.h"))
    ]


def test_names_are_paths(manifest: dict) -> None:
    for c in manifest["candidates"]:
        who = [c["run"]] if c["sample"] is None else [c["run"], c["sample"]]
        where = [f"level{c['level']}", c["task"]]
        assert c["name"] == ".".join(who + where)
        folder = "/".join(who)
        if c["run"] == "seed":
            assert c["source"] == "/".join([*where, "candidate.cu"])
        else:
            assert c["source"] == f"candidates/{folder}/{'/'.join(where)}.cu"
        assert c["module"] == f"modules/{folder}/{'.'.join(where)}.so"
        assert c["result"] == f"results/{folder}/{'/'.join(where)}.json"


def test_no_two_tests_write_to_one_folder() -> None:
    """Each test of GoogleTest's is a process, and several run at once: TemporaryDirectory is its own."""
    sources = (SOURCE_DIR / "harness/tests").rglob("*.cpp")
    assert [p for p in sources if "testing::TempDir()" in p.read_text()] == []


def test_every_option_is_documented() -> None:
    sources = "".join(
        p.read_text()
        for p in (SOURCE_DIR / "harness").rglob("*")
        if p.suffix in (".cmake", ".cpp", ".h", ".hpp")
        and not p.is_relative_to(SOURCE_DIR / "harness/tests")
    )
    options = set(re.findall(r"set\((KB_\w+) .*CACHE", sources))
    variables = set(re.findall(r'"(KB_\w+)"', sources))  # however they are read
    assert len(options) > 10 and len(variables) > 5
    text = (SOURCE_DIR / "docs/options.md").read_text()
    assert {name for name in options | variables if f"`{name}`" not in text} == set()


def test_three_chained_tests_for_each_candidate(manifest: dict, tests: dict[str, dict]) -> None:
    programs = {"build": "kb_check_build", "correct": "{}.test", "bench": "{}.bench"}
    needs = {"build": None, "correct": "built", "bench": "right"}
    gives = {"build": "built", "correct": "right", "bench": None}
    for c in manifest["candidates"]:
        name, task = c["name"], f"level{c['level']}.{c['task']}"
        for step, program in programs.items():
            test = tests[f"{name}.{step}"]
            assert test["command"], f"{name}.{step} is not built"
            assert test["command"][0].endswith("/bin/" + program.format(task))
            assert test["command"][-2:] == ["--candidate", name]
            required = set(test["FIXTURES_REQUIRED"])
            assert {"kb.env", "kb.report"} <= required
            assert (f"{name}.{needs[step]}" in required) == (needs[step] is not None)
            given = test.get("FIXTURES_SETUP", [])
            assert given == ([f"{name}.{gives[step]}"] if gives[step] else [])
            assert test["SKIP_RETURN_CODE"] == 77
            own = {c["run"]} if c["sample"] is None else {c["run"], f"{c['run']}.{c['sample']}"}
            level = set() if c["run"] == "examples" else {f"level{c['level']}"}
            assert set(test["LABELS"]) == {step} | own | level


def test_the_fixtures_around_all(tests: dict[str, dict]) -> None:
    assert tests["kb.env"]["FIXTURES_SETUP"] == ["kb.env"]
    assert tests["kb.report"]["FIXTURES_CLEANUP"] == ["kb.report"]
    # Python packages may lie where the user's PYTHONPATH says.
    (change,) = tests["kb.report"]["ENVIRONMENT_MODIFICATION"]
    assert change.startswith("PYTHONPATH=path_list_prepend:")


def test_every_test_of_the_project_is_in_selftest(tests: dict[str, dict]) -> None:
    around = {"kb.env", "kb.peaks", "kb.report"}
    own = {n for n in tests if n.startswith(("kb.", "harness."))} - around
    outside = {n for n in own if "selftest" not in tests[n].get("LABELS", [])}
    assert not outside


def test_every_example_has_its_expectation(manifest: dict, tests: dict[str, dict]) -> None:
    examples = {c["name"] for c in manifest["candidates"] if c["run"] == "examples"}
    assert {n.removeprefix("kb.") for n in tests if n.startswith("kb.example.")} == {
        n.replace("examples.", "example.", 1) for n in examples
    }
    for source in (SOURCE_DIR / "candidates/examples").glob("level*/*.cu"):
        assert "// Expected: " in source.read_text(), source


def test_links_between_documents_lead_somewhere() -> None:
    listed = [p for p in SOURCE_DIR.glob("*.md")]
    for folder in ("docs", "candidates", "harness", "reports", "tools"):
        listed += (SOURCE_DIR / folder).rglob("*.md")
    for page in listed:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.relative_to(SOURCE_DIR)}: {target}"


def test_the_readme_says_where_every_folder_of_the_harness_is() -> None:
    table = (SOURCE_DIR / "README.md").read_text().split("## Where things are")[1].split("\n## ")[0]
    listed = set(re.findall(r"[`/](\w+)`", table))
    assert not {p.name for p in (SOURCE_DIR / "harness").iterdir() if p.is_dir()} - listed


def test_presets_run_tests_side_by_side() -> None:
    """All of them: those of GPUs, too, whose tests hold a GPU each."""
    presets = json.loads((SOURCE_DIR / "CMakePresets.json").read_text())["testPresets"]
    base = {p["name"]: p for p in presets}["base"]
    assert base["execution"]["jobs"] > 1
    assert all(p["inherits"] == "base" for p in presets if p is not base)


def test_quickstart_knows_only_presets_that_exist() -> None:
    presets = json.loads((SOURCE_DIR / "CMakePresets.json").read_text())
    chosen = set(
        re.findall(r"KB_PRESET=([a-z0-9]+)", (SOURCE_DIR / "tools/lib/setup.sh").read_text())
    )
    assert {"cpu", "h100", "h200"} <= chosen
    for kind in ("configurePresets", "buildPresets", "testPresets", "workflowPresets"):
        assert chosen <= {p["name"] for p in presets[kind]}, kind
