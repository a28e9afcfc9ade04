"""tools/quickstart on machines that lack something; stand-ins on PATH play the machine."""

import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator

import pytest
from conftest import Tree, error_of, stopped

NEEDED = "awk bash cmake c++ cat chmod dirname env g++ head ld.lld ls ninja nproc rm sed test uname"


@pytest.fixture
def machine(tmp_path: pathlib.Path) -> pathlib.Path:
    """A PATH with what the scripts use and nothing else: root, 20 GB of disk, no apt-get, no GPU."""
    for name in NEEDED.split():
        found = shutil.which(name)
        assert found, f"this test needs {name}"
        (tmp_path / name).symlink_to(found)
    say(tmp_path, "python3", f'exec {sys.executable} "$@"')
    say(tmp_path, "id", "echo 0")
    say(tmp_path, "df", "echo Filesystem; echo disk 0 0 20000000 0% /")
    return tmp_path


def say(machine: pathlib.Path, name: str, script: str) -> None:
    """Puts a stand-in on the machine's PATH."""
    file = machine / name
    file.unlink(missing_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


def quickstart(tree: Tree, machine: pathlib.Path, **environment: str) -> str:
    """Runs tools/quickstart, which must fail, and returns its last line."""
    shutil.rmtree(tree.root / ".venv", ignore_errors=True)
    environment = {"KB_PRESET": "", "KB_SIZES": "", "KB_TORCH_DIR": "", **environment}
    done = tree.run(["tools/quickstart"], PATH=str(machine), **environment)
    assert done.returncode != 0, done.stdout
    return done.stderr.strip().splitlines()[-1]


def answer(machine: pathlib.Path, *cases: str) -> None:
    """Gives the machine a python3 that can install everything but what these cases of a shell refuse."""
    for name in ("mkdir", "cp", "dpkg-deb"):
        say(machine, name, f'exec {shutil.which(name)} "$@"')
    say(
        machine,
        "python3",
        "\n".join(
            [
                'case "$*" in',
                '"-m venv .venv") mkdir -p .venv/bin; cp "$0" .venv/bin/python ;;',
                *cases,
                "*version_info*) echo 3.10 ;;",
                "esac",
            ]
        ),
    )


def test_no_apt(tree: Tree, machine: pathlib.Path) -> None:
    """What can come from PyPI comes from there."""
    (machine / "ninja").unlink()
    answer(machine, '*"install"*ninja) exit 1 ;;')
    assert "pip could not install ninja" in quickstart(tree, machine)


@pytest.mark.parametrize("sudo", ["", "exit 1"])
def test_what_only_root_can_install(tree: Tree, machine: pathlib.Path, sudo: str) -> None:
    """Nothing is fetched where the compiler is missing."""
    answer(machine)
    (machine / "g++").unlink()
    say(machine, "id", "echo 1000")
    say(machine, "apt-get", f"touch {machine}/called")
    if sudo:
        say(machine, "sudo", sudo)
    last = quickstart(tree, machine)
    assert "have root install g++" in last and not (machine / "called").exists()


def test_packages_are_fetched_as_any_user(tree: Tree, machine: pathlib.Path) -> None:
    """With state and cache in .deps/, and only what is missing."""
    answer(machine)
    say(machine, "id", "echo 1000")
    say(machine, "apt-get", f'echo "$@" >>{machine}/calls; exit 1')
    script = (
        "source tools/lib/setup.sh; set -eu; KB_PACKAGES=('libx-dev|false|x|archive' 'cmake|true|y|pypi'); "
        "kb_install_packages"
    )
    done = tree.run(["bash", "-c", script], PATH=str(machine), KB_FETCH="", KB_BUNDLE="")
    assert done.returncode == 1 and "packages are unpacked into .deps/root" in done.stdout
    assert "apt-get could not fetch libx-dev" in done.stderr and "KB_FETCH=1" in done.stderr
    for call in (machine / "calls").read_text().splitlines():
        assert f"Dir::State={tree.root}/.deps/apt" in call
        assert f"Dir::Cache={tree.root}/.deps/apt" in call
    shutil.rmtree(tree.root / ".deps")


def test_a_bundle_that_was_not_copied_whole(
    tree: Tree, machine: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    for name in ("sha256sum", "dpkg-deb"):
        say(machine, name, f'exec {shutil.which(name)} "$@"')
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    assert "make a bundle with tools/bundle" in quickstart(tree, machine, KB_BUNDLE=str(bundle))
    (bundle / "SHA256SUMS").write_text(f"{'0' * 64}  wheel\n")
    (bundle / "wheel").write_text("half")
    assert "copy it again" in quickstart(tree, machine, KB_BUNDLE=str(bundle))


def test_no_network_for_apt(tree: Tree, machine: pathlib.Path) -> None:
    (machine / "ninja").unlink()
    say(machine, "apt-get", "exit 100")
    last = quickstart(tree, machine)
    assert "ninja-build" in last and "network" in last


def test_no_network_for_pip(tree: Tree, machine: pathlib.Path) -> None:
    say(
        machine,
        "python3",
        """case "$*" in
"-m venv .venv") mkdir -p .venv/bin; cp "$0" .venv/bin/python ;;
*jinja2* | *"pip install"*) exit 1 ;;
*version_info*) echo 3.11 ;;
esac""",
    )
    for name in ("mkdir", "cp"):
        (machine / name).symlink_to(shutil.which(name) or name)
    last = quickstart(tree, machine)
    assert "pip" in last and "network" in last


@pytest.mark.parametrize(
    ("program", "script", "message"),
    [
        ("c++", "echo 11.4.0", "g++ 11.4.0 is too old"),
        ("df", "echo F; echo disk 0 0 2000000 0% /", "2 GB of disk are free in"),
    ],
)
def test_too_old_or_too_small(
    tree: Tree, machine: pathlib.Path, program: str, script: str, message: str
) -> None:
    say(machine, program, script)
    assert message in quickstart(tree, machine)


def test_an_old_cmake_is_replaced(tree: Tree, machine: pathlib.Path) -> None:
    say(machine, "cmake", "echo cmake version 3.22.1")
    answer(machine, '*"install"*cmake*) exit 1 ;;')
    assert "pip could not install cmake>=3.25" in quickstart(tree, machine)


@pytest.mark.parametrize(
    ("driver", "toolkit", "torch"),
    [
        ("580.65.06", "13.0", "2.11.0"),
        ("595.10", "12.4", "2.11.0"),
        ("570.86.15", "12.8", "2.10.0"),
        ("550.54", "13.0", "nvcc is of CUDA 13.0, but the driver runs CUDA 12 at most"),
        ("470.1", "11.4", "the NVIDIA driver 470 is too old"),
    ],
)
def test_the_driver_decides_which_torch(
    tree: Tree, machine: pathlib.Path, driver: str, toolkit: str, torch: str
) -> None:
    say(machine, "nvidia-smi", f"echo {driver}")
    say(machine, "nvcc", f"echo Cuda compilation tools, release {toolkit}, V{toolkit}.1")
    script = (
        "set -eu; source tools/lib/setup.sh; KB_PRESET=h100; kb_check_toolkit; row=$(kb_torch_for_driver); "
        "echo ${row#* }"
    )
    done = tree.run(["bash", "-c", script], PATH=str(machine))
    assert (done.stdout.strip() == torch) if done.returncode == 0 else (torch in done.stderr)


def test_a_preset_that_is_none(tree: Tree, machine: pathlib.Path) -> None:
    """It is named before anything is made ready for it: the wheel for a GPU has gigabytes."""
    say(machine, "df", "echo F; echo disk 0 0 2000000 0% /")
    last = quickstart(tree, machine, KB_PRESET="rtx9090")
    assert "'rtx9090'" in last and last.endswith(", h200, b200")


def test_a_preset_of_the_user_is_one(tree: Tree, machine: pathlib.Path) -> None:
    file = tree.root / "CMakeUserPresets.json"
    file.write_text('{"version": 6, "configurePresets": [{"name": "rtx5090", "inherits": "cuda"}]}')
    say(machine, "df", "echo F; echo disk 0 0 2000000 0% /")
    last = quickstart(tree, machine, KB_PRESET="rtx5090")
    file.unlink()
    assert "2 GB of disk are free in" in last


def options(tree: Tree, machine: pathlib.Path, **environment: str) -> set[str]:
    """What quickstart configures with, on a machine whose python3 can install everything."""
    answer(machine)
    say(
        machine,
        "cmake",
        f"""case "$1" in
--version) echo cmake version 3.25.1 ;;
--preset) printf '%s\\n' "$@" >{machine}/options; exit 1 ;;
*) exec {shutil.which("cmake")} "$@" ;;
esac""",
    )
    assert "cmake failed" in quickstart(tree, machine, **environment)
    return set((machine / "options").read_text().splitlines()[1:])


def test_a_wrong_folder_of_torch_is_forgotten(tree: Tree, machine: pathlib.Path) -> None:
    """An earlier call's choice does not outlive it in CMake's cache."""
    assert options(tree, machine, KB_TORCH_DIR="/nope") == {"cpu", "-DKB_TORCH_DIR=/nope"}
    assert options(tree, machine) == {"cpu", "-DKB_TORCH_DIR="}

    assert "not found (/nope)" in error_of(tree.configure("-DKB_TORCH_DIR=/nope", build="torch"))
    assert "(/nope)" not in error_of(tree.configure("-DKB_TORCH_DIR=", build="torch"))


@pytest.mark.parametrize(
    ("gpu", "capability", "mib", "wanted", "configured"),
    [
        ("NVIDIA L4", "8.9", "23034", "", {"l40s", "-DKB_SIZES=24g"}),
        ("NVIDIA L4", "8.9", "23034", "20g", {"l40s", "-DKB_SIZES=20g"}),
        ("Tesla T4", "7.5", "15360", "", {"t4", "-DKB_SIZES=16g"}),
        ("NVIDIA L40S", "8.9", "46068", "", {"l40s"}),
        ("NVIDIA H100", "9.0", "[N/A]", "", {"h100"}),
        ("NVIDIA GeForce GTX 1080", "6.1", "8192", "", {"cpu"}),
    ],
)
def test_sizes_fit_the_gpu(
    tree: Tree,
    machine: pathlib.Path,
    gpu: str,
    capability: str,
    mib: str,
    wanted: str,
    configured: set[str],
) -> None:
    """A small GPU gets sizes for it, unless the user has chosen some."""
    say(machine, "nvcc", "exit 0")
    say(
        machine,
        "nvidia-smi",
        f"""case "$1" in
*name*) echo "{gpu}" ;;
*compute_cap*) echo {capability} ;;
*memory.total*) echo "{mib}" ;;
esac""",
    )
    assert options(tree, machine, KB_SIZES=wanted) == {*configured, "-DKB_TORCH_DIR="}


@pytest.mark.parametrize(
    ("remembered", "complete"),
    [
        ({}, True),
        ({"KB_CONTRACT": "tf32"}, True),
        ({"KB_CONTRACT": "bf16"}, False),
        ({"KB_TASKS": "level1/*"}, False),
        ({"KB_RUNS": "examples"}, False),
    ],
)
def test_selftest_needs_all_tests(
    tree: Tree, machine: pathlib.Path, remembered: dict[str, str], complete: bool
) -> None:
    """Nothing is built where an earlier choice, which CMake remembers, has left some out."""
    answer(machine)
    say(machine, "grep", f'exec {shutil.which("grep")} "$@"')
    cached = {"KB_TASKS": "*", "KB_RUNS": "*", "KB_CONTRACT": "kernelbench", **remembered}
    cache = "".join(f"{name}:STRING={value}\n" for name, value in cached.items())
    say(
        machine,
        "cmake",
        f"""case "$1" in
--version) echo cmake version 3.25.1 ;;
--list-presets) echo '  "p"' ;;
--preset) mkdir -p build/p; echo '{cache}' >build/p/CMakeCache.txt ;;
--build) echo building; exit 1 ;;
esac""",
    )
    shutil.rmtree(tree.root / ".venv", ignore_errors=True)
    done = tree.run(["tools/selftest"], PATH=str(machine), KB_PRESET="p", KB_TORCH_DIR="/torch")
    assert done.returncode == 1
    assert ("building" in done.stdout) == complete
    remedy = "cmake --preset p -DKB_TASKS='*' -DKB_RUNS='*' -DKB_CONTRACT=kernelbench"
    assert (remedy in done.stderr) != complete
    shutil.rmtree(tree.root / "build/p")


def test_sources_that_no_gpu_has_tried_are_told(tree: Tree) -> None:
    script = "source tools/lib/gpu-sources.sh; kb_gpu_sources; kb_warn_unchecked"
    done = tree.run(["bash", "-c", script])
    tried, warning = done.stdout.splitlines()
    assert warning.startswith("\033[33m") and "tools/gpu-check" in warning
    record = tree.root / "reports/hardware/h200/checked.json"
    record.parent.mkdir(parents=True)
    text = f'{{\n "gpu_sources_sha256": "{tried}",\n "right": %s\n}}\n'
    record.write_text(text % "false")
    assert len(tree.run(["bash", "-c", script]).stdout.splitlines()) == 2, "a check that failed"
    record.write_text(text % "true")
    assert tree.run(["bash", "-c", script]).stdout.splitlines() == [tried]
    source = tree.root / "harness/judge/bench/duel.cpp"
    text = source.read_text()
    source.write_text(text + "\n")
    changed, warning = tree.run(["bash", "-c", script]).stdout.splitlines()
    assert changed != tried and "run tools/gpu-check" in warning
    source.write_text(text)
    (tree.root / "harness/tests/timing/anomalies_test.cpp").write_text("// another test\n")
    assert tree.run(["bash", "-c", script]).stdout.splitlines() == [tried]
    shutil.rmtree(tree.root / "reports")


# quickstart's own parts, with what builds and judges replaced by lines that say so.
LEVELS = r"""
source tools/lib/setup.sh; source tools/lib/judge-run.sh; source tools/lib/levels.sh
root=$PWD preset=p KB_PRESET=cpu build=$PWD/build/p KB_JOBS=1 run=seed
fail() { kb_die "$*"; }
kb_build_step() { echo "build ${*:2}"; }
kb_check_machine() { :; }
kb_find_pending() { kb_pending=($NAMES); }
kb_judge_pending() { echo "judge ${kb_pending[*]}"; }
kb_choose_tests() { :; }
kb_print_part() { echo "table $*"; }
set -eu
"""


def levels(tree: Tree, script: str, **environment: str) -> list[str]:
    """What quickstart does, but for headings."""
    done = tree.run(["bash", "-c", LEVELS + script], **environment)
    assert done.returncode == 0, done.stderr
    return [x for x in done.stdout.splitlines() if x and "==" not in x]


def test_the_first_look_builds_what_is_configured_of_it_once(
    tree: Tree, tmp_path: pathlib.Path
) -> None:
    say(tmp_path, "ctest", 'echo "  Test  #7: seed.level1.019_relu.correct"')
    build = tree.root / "build/p"
    shutil.rmtree(build, ignore_errors=True)
    build.mkdir(parents=True)
    given = {"PATH": f"{tmp_path}:/usr/bin:/bin", "NAMES": "seed.level1.019_relu seed.level1.9_x"}
    assert levels(tree, "kb_first_look", **given) == [
        "build kb_programs seed.level1.019_relu level1.019_relu.test level1.019_relu.bench",
        "judge seed.level1.019_relu",
        "table level1/019_relu",
    ]
    (build / "reports").mkdir()
    (build / "reports/results.json").write_text("{}")
    assert levels(tree, "kb_first_look", **given) == []


def test_a_level_is_judged_before_the_next_one_is_built(tree: Tree, tmp_path: pathlib.Path) -> None:
    listed = "".join(f"echo Test 1: seed.level{n}.01_a.correct;" for n in (1, 3))
    say(
        tmp_path, "ctest", f'{{ {listed} }} | grep -E "${{5#^}}"'
    )  # --test-dir D -N -R <expression>
    given = {"PATH": f"{tmp_path}:/usr/bin:/bin", "NAMES": "seed.level1.01_a seed.level3.01_a"}
    said = levels(tree, "kb_judge_levels", **given)
    assert [line.split()[0] for line in said] == ["build", "judge", "table"] * 2
    assert said[1] == "judge seed.level1.01_a" and said[4] == "judge seed.level3.01_a"
    assert said[5] == "table level1/* level3/*"


def test_examples_are_held_against_what_they_expect(tree: Tree, tmp_path: pathlib.Path) -> None:
    say(tmp_path, "ctest", "echo Total Tests: 6")
    folder = tree.root / "candidates/examples/level1"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    expected = ("pass", "skipped on cpu, pass on cuda.", "timeout or incorrect", "compile_error")
    verdicts = ("pass", "skipped", "incorrect", "pass")
    told = ""
    for name, line, verdict in zip("abcd", expected, verdicts, strict=True):
        (folder / f"{name}.cu").write_text(f"// One.\n// Expected: {line}\n")
        told += f"echo examples.level1.{name} {verdict};"
    reports = f"reports/kb-report() {{ {told} }}; kb_judge_examples"
    path = f"{tmp_path}:/usr/bin:/bin"
    said = levels(tree, reports, PATH=path, NAMES="")
    shutil.rmtree(tree.root / "candidates/examples")
    assert said == [
        "3 of 4 examples have the verdict they should",
        "  examples.level1.d is pass and should be compile_error",
    ]


def test_a_stopped_quickstart_says_that_the_next_call_continues(tree: Tree) -> None:
    """And ends what it has started, though it ends at errors of its own."""
    script = "set -m; sleep 600 & kb_working=$!; set +m; kb_stop INT 2"
    done = tree.run(["bash", "-c", LEVELS + script, "tools/quickstart"])
    assert done.returncode == 130
    assert done.stderr == "quickstart: stopped; the same command continues where it was\n"


def test_a_build_tells_the_time_left(tree: Tree) -> None:
    script = """
    kb_step=all kb_step_told=0 kb_step_started=$((SECONDS - 100))
    for i in 1 50 100; do kb_step_line "[$i/100] Building x"; kb_step_line "error: no"; done 2>&1
    """
    assert levels(tree, script) == [
        "building all: 50 of 100 steps, 2 min left",
        "building all: 100 of 100 steps, 0 s left",
    ]


def test_gpu_check_needs_a_built_preset(tree: Tree) -> None:
    done = tree.run(["tools/gpu-check", "h200"])
    assert done.returncode == 2
    assert "cmake --workflow --preset h200" in done.stderr


@pytest.fixture
def checked(tree: Tree, tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    """A built preset `p` with one task for tools/gpu-check; its ctest passes what `tests` lists."""
    build = tree.root / "build/p"
    (build / "bin").mkdir(parents=True)
    task = '{"name": "level1/1_a", "category": "c", "inputs": [], "weights": [], "outputs": []}'
    for program in ("kb_runner", "kb_reference", "kb_test_reference_runner"):
        say(build / "bin", program, f"echo '[{task}]'")
    say(tmp_path, "ctest", f'exec {sys.executable} {tmp_path}/ctest.py "$@"')
    (tmp_path / "ctest.py").write_text(f"""
import pathlib, re, sys
status, *names = pathlib.Path("{tmp_path}/tests").read_text().split()
words = dict(zip(sys.argv[1:], sys.argv[2:]))
found = [name for name in names if re.search(words["-R"], name)]
skipped = '"notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/></testcase>'
cases = "".join(f'<testcase name="{{name}}" status=' +
                (skipped if name.endswith(".Skips") else '"run"/>') for name in found)
pathlib.Path(words["--output-junit"]).write_text(f"<testsuite>{{cases}}</testsuite>")
sys.exit(int(status))
""")
    environment = {"gpu": {"name": "a GPU", "driver": "1"}}
    environment |= dict.fromkeys(("torch", "time", "isolation"), "")
    (build / "env.json").write_text(json.dumps(environment))
    result = build / "results/seed/level1/1_a.json"
    result.parent.mkdir(parents=True)
    lane = dict.fromkeys(("reference_ms", "candidate_ms", "speedup"), 1.0)
    result.write_text(json.dumps({"verdict": "pass", "timing": {"lanes": {"eager": lane}}}))
    controls = tree.root / "harness/tests/adversaries/controls"
    controls.mkdir(parents=True)
    (controls / "slow.cu").write_text("// slow\n")
    (controls / "no_gpu.cu").write_text("// Backends: cpu\n")
    yield build
    shutil.rmtree(build)
    shutil.rmtree(controls.parent)


def test_gpu_check_is_right_only_if_all_was_tried(
    tree: Tree, checked: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    text = (tree.root / "tools/gpu-check").read_text().partition("adversaries=(")[2]
    adversaries = [f"kb.adversary.{name}" for name in text.partition(")")[0].split()]
    steps = [f"seed.level1.1_a.{step}" for step in ("build", "correct", "bench")]
    others = ["kb.adversary.slow", "kb.example.level1.1_a", "kb.test.runner"]
    every = [*adversaries, *steps, *others]

    def check(names: list[str], status: int = 0) -> subprocess.CompletedProcess[str]:
        (tmp_path / "tests").write_text("\n".join([str(status), *names]))
        path = f"{tmp_path}:{os.environ['PATH']}"
        return tree.run(["tools/gpu-check", "p", "build/p/out"], PATH=path, KB_COMMIT="c")

    def is_right() -> bool:
        return json.loads((checked / "out/checked.json").read_text())["right"]

    done = check(every)
    assert (done.returncode, is_right()) == (0, True), done.stdout + done.stderr
    check([*every, "kb.test.buffers.Skips"])
    assert is_right()  # a test that is about no GPU
    check([*every, "kb.example.level1.Skips"])
    assert not is_right()
    for lacking in (adversaries[0], steps[0], steps[2], *others):
        done = check([name for name in every if name != lacking])
        assert (done.returncode, is_right()) == (1, False), lacking
        assert "1 of these tests did not run" in done.stdout and "-DKB_TASKS='*'" in done.stdout
        assert lacking.startswith(done.stdout.splitlines()[-2].rstrip("*"))
    assert check(every, 1).returncode == 2


@pytest.mark.parametrize(
    ("runs", "submitted", "kept"),
    [
        ("a", "b", True),
        ("a/s0", "b a/s1", True),
        ("b a", "b", True),
        ("a", "b a", False),
        ("a/s0", "a", False),
        ("judged", "b", False),
        ("gone", "b", False),
    ],
)
def test_fleet_remembers_what_is_not_judged(
    tree: Tree, tmp_path: pathlib.Path, runs: str, submitted: str, kept: bool
) -> None:
    """A submission that lost its jobs is forgotten once others have taken its kernels over."""
    for run in ("a/s0", "a/s1", "b", "judged"):
        (tree.root / "candidates" / run).mkdir(parents=True)
    for folder in ("reports", "tools/slurm"):
        (tmp_path / folder).mkdir(parents=True)
    say(tmp_path / "reports", "kb-report", "[ $4 = judged ] || echo x")  # pending
    say(tmp_path / "tools/slurm", "kb-fleet", "echo 1")  # shards
    (tmp_path / "candidates").symlink_to(tree.root / "candidates")
    before = tmp_path / "build/fleet/1"
    before.mkdir(parents=True)
    (before / "runs").write_text("\n".join(runs.split()) + "\n")
    script = f"""
    root={tmp_path} build={tmp_path}/build preset=p share= shards= ship=folder scratch= exclude=
    runs=({submitted}) seconds=() slurm=()
    source {tree.root}/tools/slurm/fleet.sh
    fail() {{ echo "$*" >&2; exit 2; }}
    say() {{ :; }}
    sbatch() {{ echo 2; }}
    for name in lock_build build_run adopt write_place; do eval "kb_$name() {{ :; }}"; done
    kb_find_live() {{ kb_live=; }}
    kb_fleet_submit"""
    done = tree.run(["bash", "-uo", "pipefail", "-c", script])
    assert (done.returncode, done.stderr) == (0, "")
    assert before.exists() == kept
    assert (tmp_path / "build/fleet/2").exists()


def test_export_needs_a_configured_build_with_the_lane(tree: Tree) -> None:
    command = [sys.executable, "tools/export-aoti", "nothing"]
    done = tree.run(command)
    stopped(done, "cmake --preset nothing")
    folder = tree.root / "build/nothing"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text('{"torch": "0.0.0", "contract": "fp32"}')
    done = tree.run(command)
    stopped(done, "-DKB_LANES='eager;graph;aoti'")
    (folder / "lib").mkdir(exist_ok=True)
    (folder / "lib/libkb_aoti.so").touch()
    done = tree.run(command)
    stopped(done, "torch==0.0.0")


# What an export touches of a PyTorch. It can trace no reference but 023's, and 019 ends the process.
FAKE_TORCH = """
import contextlib, os, types, zipfile
__version__ = "0.0.0"
Tensor = list
def trace(library, *_):
    if "019" in library: os.abort()
    if "023" not in library: raise ValueError("no trace")
    return ()
def make_fx(reference): return reference
def export(graph, given): return graph
def aoti_compile_and_package(program, package_path, inductor_configs):
    with zipfile.ZipFile(package_path, "w") as package:
        shared = "static" not in os.environ["CXX"]
        package.writestr("model/m.wrapper.so", "libstdc++.so.6" if shared else "libc.so.6")
        package.writestr("model/m.wrapper.cpp", "")
def aoti_load_package(path): return lambda *given: []
kb = types.SimpleNamespace(apply_contract=str, example=lambda *_: ([], []), reference=trace,
                           describe_sizes=lambda *_: "{}", check=lambda *_: "")
ops = types.SimpleNamespace(load_library=str, kb=kb)
cuda = types.SimpleNamespace(device_count=lambda: 1, get_device_name=lambda: "a GPU")
device, no_grad = str, contextlib.nullcontext
"""


@pytest.fixture
def exports(tree: Tree) -> Iterator[pathlib.Path]:
    """A preset `p` with three tasks that tools/export-aoti takes, by a PyTorch that is none."""
    torch = tree.root / "tools/torch"  # the folder of the script comes first
    for module in ("", "_inductor", "export", "fx/experimental/proxy_tensor"):
        (torch / module).mkdir(parents=True)
        (torch / module / "__init__.py").write_text(FAKE_TORCH)
    build = tree.root / "build/p"
    (build / "lib/tasks").mkdir(parents=True)
    for library in ("libkb_aoti", *(f"tasks/level1.{task}" for task in ("001", "019", "023"))):
        (build / f"lib/{library}.so").touch()
    (build / "manifest.json").write_text(
        '{"torch": "0.0.0", "contract": "fp32", "backend": "cuda"}'
    )
    yield build
    shutil.rmtree(torch)
    shutil.rmtree(build)


def failure_of(build: pathlib.Path, task: str) -> str | None:
    """What the lane reads about the export of a task."""
    return json.loads((build / f"aoti/level1.{task}.fp32.json").read_text())["failure"]


def test_an_export_that_crashes_costs_no_other(tree: Tree, exports: pathlib.Path) -> None:
    done = tree.run([sys.executable, "tools/export-aoti", "p"], CXX="g++")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "level1.001: ValueError: no trace",
        "level1.019: the process that exported it was killed by SIGABRT",
        "level1.023: ok",
    ]
    assert failure_of(exports, "001") == "ValueError: no trace"
    assert failure_of(exports, "019") == "its export did not come to an end"
    assert failure_of(exports, "023") is None


def test_a_package_with_a_cxx_library_of_its_own_is_not_loaded(
    tree: Tree, exports: pathlib.Path
) -> None:
    command = [sys.executable, "tools/export-aoti", "p", "--tasks", "023"]
    done = tree.run(command, CXX="static-g++")
    assert done.returncode == 1
    assert done.stdout.startswith("level1.023: static-g++ links libstdc++ into packages; choose")
    assert "CXX=g++" in failure_of(exports, "023")
    assert tree.run(command, CXX="g++").returncode == 0
    assert failure_of(exports, "023") is None


def test_slurm_does_not_start_without_ports(tree: Tree, tmp_path: pathlib.Path) -> None:
    tool = tree.root / "tools/slurm-on-one-machine"
    here = tmp_path / tool.name
    here.write_text(tool.read_text().replace("base < 30000", "base < 0"))
    for program in ("munged", "slurmctld", "slurmd", "sbatch", "sinfo"):
        say(tmp_path, program, f"touch {tmp_path}/started")
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = tree.run(["bash", str(here), "start", str(tmp_path / "s")], PATH=path)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "no 4 free ports in a row" in line
    assert not (tmp_path / "s").exists() and not (tmp_path / "started").exists()


@pytest.mark.parametrize("torn", [b"", b'{"schema": 1', b"\xff"])
def test_a_torn_description_is_written_again(
    tree: Tree, exports: pathlib.Path, torn: bytes
) -> None:
    command = [sys.executable, "tools/export-aoti", "p", "--tasks", "023"]
    assert tree.run(command, CXX="g++").returncode == 0
    (exports / "aoti/level1.023.fp32.json").write_bytes(torn)
    done = tree.run(command, CXX="g++")
    assert done.returncode == 0, done.stderr
    assert failure_of(exports, "023") is None
    assert sorted(p.suffix for p in (exports / "aoti").iterdir()) == [".json", ".pt2"]


@pytest.mark.parametrize("tool", ["quickstart", "selftest"])
def test_help_and_wrong_arguments_run_nothing(tree: Tree, tool: str) -> None:
    for option in ("-h", "--help"):
        done = tree.run([f"tools/{tool}", option])
        assert (done.returncode, done.stderr) == (0, "")
        assert "KB_PRESET" in done.stdout and "== " not in done.stdout
    for arguments in (["build"], ["--help", "x"]):
        done = tree.run([f"tools/{tool}", *arguments])
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"usage: tools/{tool} ")
