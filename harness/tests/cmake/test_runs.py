"""Which files of candidates/ become candidates, and how mistakes stop the configure step."""

import json
import os
import re
import shutil

import pytest
from conftest import Tree, error_of, stopped

RELU = "level1/019_relu.cu"


def refused(tree: Tree, *messages: str, run: str = "m") -> None:
    """Configuring refuses the run, with these words and wherever it is asked for; no other one."""
    tree.add("another/" + RELU)
    done = tree.configure()
    assert done.returncode == 0, done.stderr
    for message in messages:
        assert message in error_of(done)
    manifest = json.loads((tree.root / "build/cpu/manifest.json").read_text())
    assert {c["run"] for c in manifest["candidates"]} == {"seed", "another"}
    assert [f.name for f in (tree.root / "build/cpu/refused").iterdir()] == [f"{run}.txt"]
    said = (tree.root / f"build/cpu/refused/{run}.txt").read_text()
    assert all(message in said for message in messages)
    assert said.endswith("\n") and "NOTFOUND" not in said
    ctest = tree.run(["ctest", "--test-dir", "build/cpu", "-R", rf"^{re.escape(run)}\.", "-V"])
    assert ctest.returncode != 0
    assert messages[0] in " ".join(re.sub("(?m)^[0-9]+: ", "", ctest.stdout).split())


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("m/level1/019_relus.cu", "m/level1/019_relus.cu"),
        ("m/level2/019_relu.cu", "matches no task of level 2"),
        ("m/level1/19_ReLU.cu", "Nearest: 019_relu.cu"),
        ("m/level1/softmax.cu", "Nearest: 023_softmax.cu"),
        ("m/level1/fast_softmax.cu", "Nearest: 023_softmax.cu"),
        ("m/level1/019_softmax.cu", "Nearest: 019_relu.cu, 023_softmax.cu"),
        ("m/level4/001_new.cu", "matches no task of level 4"),
        ("m/level1/019_relu.cu/kernel.cu", "is a folder, but a name that ends in .cu belongs to"),
        ("m/level5/019_relu.cu", "is not where"),
        ("m/019_relu.cu", "is not where"),
        ("019_relu.cu", "is not where"),
        ("m/s0/deeper/level1/019_relu.cu", "is not where"),
        ("m/level1/019_relu.py", "is no candidate"),
        ("m/level1/019_relu/candidate.cu", "is not where"),
        ("my.model/level1/019_relu.cu", "'my.model' is no name"),
        ("my model/level1/019_relu.cu", "'my model' is no name"),
        ("-m/level1/019_relu.cu", "'-m' is no name"),
        ("m" * 65 + "/level1/019_relu.cu", "is no name"),
        ("m/s.0/level1/019_relu.cu", "'s.0' is no name"),
        ("seed/level1/019_relu.cu", "'seed' is taken"),
        ("bench/level1/019_relu.cu", "'bench' is taken"),
        ("adversary/level1/019_relu.cu", "'adversary' is taken"),
        ("m/level1/level1/019_relu.cu", "'level1' is taken"),
        ("a;b/level1/019_relu.cu", "letters, digits"),
        ("[b/level1/019_relu.cu", "letters, digits"),
    ],
)
def test_a_misplaced_file_stops_with_the_remedy(tree: Tree, path: str, message: str) -> None:
    tree.add(path)
    named = path.partition("/")[0]
    run = re.sub("[^A-Za-z0-9_-]", "+", named)
    refused(tree, message, run=run if run == "m" or run != named else f"{run}+")


def test_all_mistakes_are_told_at_once(tree: Tree) -> None:
    for path in ("m/level1/019_relus.cu", "m/level4/001_new.cu"):
        tree.add(path)
    tree.add("m/run.json", '{"samples_are": "draws", "library": "cutlass", "headers": ["thrust"]}')
    words = ("samples_are 'draws'", "the library 'cutlass'", "the headers 'thrust'")
    refused(tree, "matches no task of level 1", "matches no task of level 4", *words)
    assert (tree.root / "build/cpu/refused/m.txt").read_text().count("\n") == 5


@pytest.mark.parametrize(
    "odd", ["walk odd", "walk.odd", "walk_odd;a", "a;walk_odd", "walk_odd;a;b", "a\\b", "a\\"]
)
def test_an_odd_name_harms_no_other_run(tree: Tree, odd: str) -> None:
    """Not even the one that is called like it, or like a part of it. Builds look for new files."""
    for run in ("walk_odd", "a"):
        tree.add(f"{run}/{RELU}")
    tree.add(f"{odd}/{RELU}")
    done = tree.configure()
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tree.root / "build/cpu/manifest.json").read_text())
    assert {c["run"] for c in manifest["candidates"]} == {"seed", "walk_odd", "a"}
    (refusal,) = (tree.root / "build/cpu/refused").iterdir()
    assert refusal.stem == re.sub("[^a-z_]", "+", odd)
    told = refusal.read_text()
    assert told.startswith("candidates/" + re.sub(r"[;\\]", "?", odd)) and told.count("\n") == 1
    assert "letters, digits" in error_of(done)
    looked = tree.run(["cmake", "-P", "build/cpu/CMakeFiles/VerifyGlobs.cmake"])
    assert (looked.returncode, looked.stderr) == (0, "")
    watched = (tree.root / "build/cpu/build.ninja").read_text()
    assert "\\" not in odd or f"{tree.root}/candidates/walk_odd " in watched


def test_a_folder_of_a_taken_name_harms_no_shipped_kernel(tree: Tree) -> None:
    """What stops the folder is no test or target of the run seed."""
    tree.add("seed/" + RELU)
    assert tree.configure().returncode == 0
    listed = tree.run(["ctest", "--test-dir", "build/cpu", "-N"]).stdout
    assert "seed.files" not in listed and "seed+.files" in listed


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ("[]", "tasks must be a list such as"),
        ('"level1/019_relu"', "tasks must be a list such as"),
        ("null", "tasks must be a list such as"),
        ('["level1/020_gelu"]', "chooses the tasks 'level1/020_gelu', but no task has such a name"),
        ('["019_relu"]', "'019_relu', but no task has such a name: name tasks as level1/019_relu"),
        ('["level1/*", "level[2]/*"]', "chooses the tasks 'level[2]/*'"),
        ("[1]", "chooses the tasks '1'"),
        ('["level2/*"]', "m/level1/019_relu.cu is of no task that candidates/m/run.json"),
    ],
)
def test_a_wrong_choice_of_tasks_is_refused(tree: Tree, tasks: str, message: str) -> None:
    tree.add("m/" + RELU)
    tree.add("m/run.json", f'{{"tasks": {tasks}}}')
    refused(tree, message)


def test_a_run_chooses_tasks(tree: Tree) -> None:
    """By names or globs; one that this build folder leaves out is no mistake."""
    tree.add("m/" + RELU)
    tree.add("m/run.json", '{"tasks": ["level1/0?9*", "level2/066_matmul_dropout_softmax"]}')
    for options in ((), ("-DKB_TASKS=level1/*",)):
        done = tree.configure(*options, build="chosen")
        assert done.returncode == 0, done.stderr
        assert not (tree.root / "build/chosen/refused").exists()
        manifest = json.loads((tree.root / "build/chosen/manifest.json").read_text())
        assert {c["run"] for c in manifest["candidates"]} == {"seed", "m"}
        assert manifest["runs"]["m"]["tasks"][0] == "level1/0?9*"


def test_an_unknown_task_does_not_list_all(tree: Tree) -> None:
    """The sentence stays on the screen."""
    tree.add("m/level1/nothing_like_it.cu")
    done = tree.configure()
    assert "matches no task of level 1" in error_of(done)
    assert "softmax" not in done.stderr


def test_a_task_twice_in_a_run_stops(tree: Tree) -> None:
    tree.add("m/" + RELU)
    tree.add("m/s0/" + RELU)
    refused(tree, "twice")


@pytest.mark.parametrize("linked", ["m/" + RELU, "m/run.json", "m", "m/s0", "m/s0/level1"])
def test_links_are_refused(tree: Tree, linked: str) -> None:
    target = tree.root / "elsewhere"
    target.mkdir(exist_ok=True)
    link = tree.root / "candidates" / linked
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target)
    refused(tree, f"candidates/{linked} is a symbolic link.", "put a copy in its place")


@pytest.mark.parametrize("name", [RELU, "run.json", "s1/" + RELU, "notes"])
def test_a_pipe_stops_its_run_and_nobody_waits_for_it(tree: Tree, name: str) -> None:
    pipe = tree.add("m/" + name)
    pipe.unlink()
    os.mkfifo(pipe)
    refused(tree, f"candidates/m/{name} is a pipe or a device", "put a file in its place")


def test_a_run_json_may_begin_with_the_mark_of_utf8(tree: Tree) -> None:
    tree.add("m/" + RELU)
    tree.add("m/run.json", '\ufeff{"headers": ["kb"]}')
    done = tree.configure()
    assert "Warning" not in done.stderr, done.stderr
    manifest = json.loads((tree.root / "build/cpu/manifest.json").read_text())
    assert manifest["runs"]["m"]["headers"] == ["kb"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_run_json_in_utf16_is_explained(tree: Tree, encoding: str) -> None:
    tree.add("m/" + RELU)
    tree.add("m/run.json").write_bytes('{"model": "m"}'.encode(encoding))
    refused(tree, "candidates/m/run.json is UTF-16 text", "save it as UTF-8")


@pytest.mark.parametrize("text", ["", "{", "[]", "[1]", '"model"', "{'model': 1}"])
def test_a_broken_run_json_is_named(tree: Tree, text: str) -> None:
    tree.add("m/" + RELU)
    tree.add("m/run.json", text)
    refused(tree, "candidates/m/run.json", "JSON object")


def test_text_of_a_run_orders_nothing(tree: Tree) -> None:
    """Neither a terminal, nor CTest, which would attach any file of the machine."""
    order = "\x1b[2J\x9b\u202e<CTestMeasurementFile type='file' name='x'>/etc/hostname</..>"
    tree.add("m/run.json", json.dumps({"library": order}))
    tree.add(f"m/level1/019{order.partition('/')[0]}.cu")
    refused(tree, "m/run.json declares the library '?[2J", "?CTestMeasurementFile type='file'")
    told = (tree.root / "build/cpu/refused/m.txt").read_text()
    ctest = tree.run(["ctest", "--test-dir", "build/cpu", "-R", r"^m\.", "-V"])
    for text in (told, tree.configure().stderr, ctest.stdout):
        assert text.isascii() and not set("\x1b<") & set(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"a": ' + 1200 * "[" + 1200 * "]" + "}",
            "has 1201 opening brackets, more than 500: keep",
        ),
        (1200 * '{"a": ' + "1" + 1200 * "}", "has 1200 opening brackets"),
        ('{"a": "' + 1_000_000 * "x" + '"}', "has 1000009 bytes, more than 1000000: keep"),
    ],
)
def test_a_run_json_that_is_too_much_stops_its_run_only(
    tree: Tree, text: str, message: str
) -> None:
    tree.add("m/" + RELU)
    tree.add("m/run.json", text)
    refused(tree, "candidates/m/run.json " + message)
    watched = (tree.root / "build/cpu/build.ninja").read_text()
    assert f"{tree.root}/candidates/m/run.json" in watched, "a build looks whether it is right now"


def test_long_names_stop_their_runs_only(tree: Tree) -> None:
    """Two that begin alike are two."""
    names = ["m" * 254 + end for end in "ab"]
    for name in names:
        tree.add(f"{name}/{RELU}")
    tree.add("another/" + RELU)
    done = tree.configure()
    assert done.returncode == 0, done.stderr
    told = [file.read_text() for file in (tree.root / "build/cpu/refused").iterdir()]
    assert sorted(text.split("'")[1] for text in told) == names
    built = tree.run(["ninja", "-C", "build/cpu", "-n", "kb_sources"])
    assert built.returncode == 0, built.stderr


@pytest.mark.parametrize("said", ["turn", "Turns", "draws"])
def test_what_samples_are_is_said_in_one_word(tree: Tree, said: str) -> None:
    tree.add("m/s0/" + RELU)
    about = tree.add("m/run.json", json.dumps({"samples_are": said}))
    refused(tree, f"m/run.json says that samples_are '{said}'")
    about.write_text('{"samples_are": "turns"}')
    assert tree.configure().returncode == 0


def test_an_unknown_library_is_named(tree: Tree) -> None:
    tree.add("m/run.json", '{"library": "cutlass"}')
    tree.add("m/" + RELU)
    refused(tree, "candidates/m/run.json", "'cutlass'", "cublas")


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ('["kb", "thrust"]', "m/run.json declares the headers 'thrust'"),
        ('["cu;b"]', "declares the headers 'cu;b'"),
        ('"kb"', "headers must be a list"),
        ("null", "headers must be a list"),
    ],
)
def test_unknown_headers_are_named(tree: Tree, headers: str, message: str) -> None:
    tree.add("m/run.json", f'{{"headers": {headers}}}')
    tree.add("m/" + RELU)
    refused(tree, message)


@pytest.mark.parametrize(
    ("key", "meant"),
    [("header", "headers"), ("Tasks", "tasks"), ("librray", "library"), ("cost-usd", "cost_usd")],
)
def test_a_key_that_is_almost_a_known_one_is_refused(tree: Tree, key: str, meant: str) -> None:
    tree.add("m/run.json", json.dumps({"note": 1, key: ["kb"]}))
    tree.add("m/" + RELU)
    refused(tree, f"m/run.json has a key '{key}'", f"did you mean {meant}?")


def test_keys_of_the_author_are_kept(tree: Tree) -> None:
    own = {"": 1, "prompt": "x", "date": "x", "a;[b": 2, "head": 3, "samples": 4, "größe": 5}
    tree.add("m/run.json", json.dumps(own | {"model": "x", "tokens": 9}))
    tree.add("m/" + RELU)
    done = tree.configure()
    assert done.returncode == 0 and "did you mean" not in done.stderr, done.stderr
    manifest = json.loads((tree.root / "build/cpu/manifest.json").read_text())
    assert manifest["runs"]["m"] == own | {"model": "x", "tokens": 9}


def test_declared_headers_are_recorded(tree: Tree) -> None:
    tree.add("m/run.json", '{"headers": ["kb"]}')
    for run in ("m", "plain"):
        tree.add(f"{run}/{RELU}")
    done = tree.configure()
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tree.root / "build/cpu/manifest.json").read_text())
    headers = {c["run"]: c["headers"] for c in manifest["candidates"]}
    assert headers == {"seed": ["kb"], "m": ["kb"], "plain": []}


def test_a_run_that_is_not_there_is_named(tree: Tree) -> None:
    done = tree.configure("-DKB_RUNS=nobody", build="other")
    stopped(done, "KB_RUNS", "candidates/nobody")


def test_good_files_become_candidates(tree: Tree) -> None:
    tree.add("README.md")
    tree.add("m/notes.txt")
    tree.add("m/run.json", '{"model": "a \\"b\\" ; @KB_BACKEND@ ${X} \\\\", "temperature": 0.5}')
    for sample in ("0", "off", "s1"):
        tree.add(f"m/{sample}/{RELU}")
    tree.add("m/s1/level1/.019_relu.cu.swp")
    tree.add("m/s1/level1/019_relu.cu~")
    (tree.root / "candidates/m/s1/level1/.#019_relu.cu").symlink_to("nowhere")  # an editor's lock
    tree.add("plain/" + RELU)
    done = tree.configure()
    assert done.returncode == 0, done.stderr

    manifest = json.loads((tree.root / "build/cpu/manifest.json").read_text())
    found = {c["name"]: (c["run"], c["sample"]) for c in manifest["candidates"]}
    assert found == {
        "seed.level1.019_relu": ("seed", None),
        "seed.level1.023_softmax": ("seed", None),
        "seed.level2.066_matmul_dropout_softmax": ("seed", None),
        "m.0.level1.019_relu": ("m", "0"),
        "m.off.level1.019_relu": ("m", "off"),
        "m.s1.level1.019_relu": ("m", "s1"),
        "plain.level1.019_relu": ("plain", None),
    }
    results = [c["result"] for c in manifest["candidates"]]
    assert len(set(results)) == len(results)
    listed = tree.run(["ctest", "--test-dir", "build/cpu", "-N", "-L", "^m$"]).stdout
    assert all(f"m.{sample}.level1.019_relu.bench" in listed for sample in ("0", "off", "s1"))
    about = {"model": 'a "b" ; @KB_BACKEND@ ${X} \\', "temperature": 0.5}
    assert manifest["runs"] == {"m": about, "plain": {}, "seed": {"headers": ["kb"]}}


def test_the_example_run_is_not_of_its_level(tree: Tree) -> None:
    """Judging a level must not fail because of kernels that are meant to fail."""
    for run in ("m", "examples"):
        tree.add(f"{run}/{RELU}")
    assert tree.configure().returncode == 0

    def listed(label: str) -> set[str]:
        done = tree.run(["ctest", "--test-dir", "build/cpu", "-N", "-L", label])
        return set(re.findall(r": (?!kb\.)(\w+)\.level1\.", done.stdout))

    assert listed("level1") == {"seed", "m"}
    assert listed("^examples$") == {"examples"}
    assert listed("^correct$") == {"seed", "m", "examples"}


def test_programs_that_are_not_built_are_not_looked_for(tree: Tree) -> None:
    assert tree.configure().returncode == 0
    done = tree.run(["ctest", "--test-dir", "build/cpu", "-N"])
    assert "kb.validity.level1.019_relu" in done.stdout
    lacking = re.findall(r"Could not find executable (\S+)", done.stdout + done.stderr)
    kernels = (
        "kb_check_build",
        "kb_profile",
        "kb_peaks",
    )  # these come with kb_suite, as the judges do
    assert not [
        path for path in lacking if not re.search("/bin/level", path) and not path.endswith(kernels)
    ]


def test_runs_can_be_chosen(tree: Tree) -> None:
    for run in ("a1", "a2", "b"):
        tree.add(f"{run}/{RELU}")
    done = tree.configure("-DKB_RUNS=a*;b", build="other")
    assert done.returncode == 0, done.stderr
    done = tree.configure("-DKB_RUNS=a2", build="other")
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tree.root / "build/other/manifest.json").read_text())
    assert {c["run"] for c in manifest["candidates"]} == {"seed", "a2"}


def test_nothing_stays_of_what_is_gone(tree: Tree) -> None:
    """And all of what is only not chosen, or refused for now."""
    build = tree.root / "build/gone"
    task = "level3/001_leaving"
    for name in ("task.h", "reference.cpp", "candidate.cu"):
        (tree.root / task).mkdir(exist_ok=True)
        (tree.root / task / name).write_text("\n")

    def of(run: str, level: str, slug: str, folder: str) -> list[str]:
        """What building and judging leaves of one kernel."""
        return [
            f"modules/{folder}/{level}.{slug}.so",
            f"CMakeFiles/{run}.{level}.{slug}.dir/x.cu.o.build.json",
            *(f"results/{folder}/{level}/{slug}.{x}" for x in ("json", "bench.json", "test.log")),
            *(f"reports/feedback/{folder}/{level}/{slug}.{x}" for x in ("json", "md")),
        ]

    going = [
        *(f"bin/level3.001_leaving.{x}" for x in ("test", "bench")),
        *(f"CMakeFiles/level3.001_leaving.{x}/y.o" for x in ("dir", "test.dir", "bench.dir")),
        "lib/tasks/level3.001_leaving.so",
        "validity/level3.001_leaving.json",
        *of("seed", "level3", "001_leaving", "seed"),
        *of("m.s1", "level3", "001_leaving", "m/s1"),
        *of("n", "level1", "019_relu", "n"),
        "runs/n/index.html",
        "reports/kernelbench/runs/n_level1/analysis.json",
    ]
    staying = [
        "bin/level1.023_softmax.test",
        "lib/tasks/level1.019_relu.so",
        "CMakeFiles/level1.019_relu.dir/y.o",
        "runs/m/index.html",
        "reports/kernelbench/runs/m_level1/analysis.json",
        "reports/kernelbench/runs/seed_level1/analysis.json",
        "modules/adversaries/x/level1.019_relu.so",
        *of("seed", "level1", "019_relu", "seed"),
        *of("m.s1", "level1", "019_relu", "m/s1"),
        *of("wrong", "level1", "019_relu", "wrong"),
    ]
    tree.add("m/s1/" + RELU)
    tree.add(f"m/s1/{task}.cu")
    tree.add("wrong/" + RELU)
    tree.add("n/" + RELU)
    assert tree.configure(build="gone").returncode == 0
    for name in going + staying:
        (build / name).parent.mkdir(parents=True, exist_ok=True)
        (build / name).write_text("{}")

    shutil.rmtree(tree.root / task)
    shutil.rmtree(tree.root / "candidates/n")
    (tree.root / f"candidates/m/s1/{task}.cu").unlink()
    tree.add("wrong/stray.cu")
    done = tree.configure("-DKB_TASKS=level1/023*", build="gone")
    assert done.returncode == 0, done.stderr
    assert not [name for name in going if (build / name).exists()]
    assert [name for name in staying if (build / name).exists()] == staying
    assert not [x for x in ("modules", "results", "reports/feedback") if (build / x / "n").exists()]


def test_tasks_can_be_chosen(tree: Tree) -> None:
    tree.add(f"a/{RELU}")
    tree.add("a/level2/066_matmul_dropout_softmax.cu")
    done = tree.configure("-DKB_TASKS=level2/*;level1/0?3_softmax", build="chosen")
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tree.root / "build/chosen/manifest.json").read_text())
    assert manifest["levels"]["1"]["tasks"] == ["023_softmax"]
    assert manifest["levels"]["2"]["tasks"] == ["066_matmul_dropout_softmax"]
    assert manifest["chosen_tasks"] == "level2/*;level1/0?3_softmax"
    assert {(c["run"], c["task"]) for c in manifest["candidates"]} == {
        ("seed", "023_softmax"),
        ("seed", "066_matmul_dropout_softmax"),
        ("a", "066_matmul_dropout_softmax"),
    }
    done = tree.configure("-DKB_TASKS=level3/*", build="chosen")
    stopped(done, "KB_TASKS is 'level3/*'")


@pytest.mark.parametrize("lacking", ["task.h", "reference.cpp", "candidate.cu"])
def test_a_task_lacking_a_file_is_named(tree: Tree, lacking: str) -> None:
    folder = tree.root / "level3/001_new"
    folder.mkdir()
    for name in {"task.h", "reference.cpp", "candidate.cu"} - {lacking}:
        (folder / name).write_text("\n")
    done = tree.configure()
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    stopped(done, f"level3/001_new lacks {lacking}")


def test_a_number_is_given_once(tree: Tree) -> None:
    folder = tree.root / "level1/019_another"
    folder.mkdir()
    for name in ("task.h", "reference.cpp", "candidate.cu"):
        (folder / name).write_text("\n")
    done = tree.configure()
    shutil.rmtree(folder)
    stopped(done, "level1/019_relu", "level1/019_another")


def test_a_badly_named_task_is_named(tree: Tree) -> None:
    folder = tree.root / "level3/1_New"
    folder.mkdir()
    done = tree.configure()
    folder.rmdir()
    stopped(done, "level3/1_New", "lower case")
