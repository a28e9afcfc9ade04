"""Nights of tools/nightly.cmake in a small project whose tests are those of two shipped kernels of this build."""

import contextlib
import fcntl
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from checkout import BUILD_DIR, SOURCE_DIR

RELU = "seed.level1.019_relu"
SOFTMAX = "seed.level1.023_softmax"

# Configures and builds like the real project, but the programs and modules are those of this build.
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(night LANGUAGES NONE)
if(KB_SIZES STREQUAL wrong)
  message(FATAL_ERROR "KB_SIZES is wrong")
endif()
get_filename_component(PRESET ${{PROJECT_BINARY_DIR}} NAME)
set(KB_TEST_BUILD true CACHE STRING "what building does")
enable_testing()
foreach(name IN ITEMS bin lib modules peaks {objects})
  if(EXISTS {real}/${{name}})
    file(CREATE_LINK {real}/${{name}} ${{PROJECT_BINARY_DIR}}/${{name}} SYMBOLIC)
  endif()
endforeach()
foreach(name IN ITEMS manifest.json sources.sha256 tests.cmake)
  configure_file(${{PROJECT_SOURCE_DIR}}/${{name}}.in ${{PROJECT_BINARY_DIR}}/${{name}} @ONLY)
endforeach()
set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${{PROJECT_BINARY_DIR}}/tests.cmake)
add_custom_target(kb_suite COMMAND ${{CMAKE_COMMAND}} -E ${{KB_TEST_BUILD}} VERBATIM)
"""
PRESETS = {
    "version": 6,
    "configurePresets": [
        {"name": "cpu", "generator": "Ninja", "binaryDir": "${sourceDir}/build/${presetName}"},
        {"name": "other", "inherits": "cpu", "cacheVariables": {"KB_SIZES": "wrong"}},
    ],
}


class Night:
    """A checkout of the small project, and the folder of its nights."""

    def __init__(self, root: pathlib.Path) -> None:
        """Makes the project; reports and tools are the real ones."""
        self.root = root / "checkout"
        self.history = root / "nights"
        self.root.mkdir()
        for name in ("tools", "reports", "CTestConfig.cmake"):
            (self.root / name).symlink_to(SOURCE_DIR / name)
        (self.root / "CMakePresets.json").write_text(json.dumps(PRESETS))
        manifest = json.loads((BUILD_DIR / "manifest.json").read_text())
        manifest["candidates"] = [c for c in manifest["candidates"] if c["name"] in (RELU, SOFTMAX)]
        assert len(manifest["candidates"]) == 2
        manifest |= {"preset": "@PRESET@", "build_dir": "@PROJECT_BINARY_DIR@"}
        self.write("manifest.json.in", json.dumps(manifest))
        shutil.copy(BUILD_DIR / "sources.sha256", self.root / "sources.sha256.in")
        objects = " ".join(f"CMakeFiles/{name}.dir" for name in (RELU, SOFTMAX))
        text = PROJECT.format(real=BUILD_DIR, objects=objects)
        self.write("CMakeLists.txt", text)
        tests = "\n".join(
            line.replace(str(BUILD_DIR), "@PROJECT_BINARY_DIR@")
            for line in (BUILD_DIR / "CTestTestfile.cmake").read_text().splitlines()
            if re.search(rf"\((\[=\[)?({RELU}\.|{SOFTMAX}\.|kb\.(env|peaks|report)\b(?!\.))", line)
        )
        self.write("tests.cmake.in", tests)

    def write(self, name: str, text: str) -> None:
        """Writes a file of the checkout."""
        (self.root / name).write_text(text)

    def replace_program(self, test: str, command: str) -> None:
        """Puts a shell command in the place of a test's program."""
        start = re.escape(f"add_test([=[{test}]=] ")
        text, found = re.subn(
            f"{start}.*",
            lambda m: f'add_test([=[{test}]=] "sh" "-c" "{command}")',
            (self.root / "tests.cmake.in").read_text(),
        )
        assert found == 1
        self.write("tests.cmake.in", text)

    def run(
        self, *options: str, presets: str = "cpu", environment: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs a night."""
        command = ["ctest", "-S", str(self.root / "tools/nightly.cmake"), f"-DPRESETS={presets}"]
        command += [f"-DHISTORY={self.history}", *options]
        without = ("KB_CDASH_URL", "KB_CDASH_TOKEN", "SOURCE_DATE_EPOCH", "GITHUB_STEP_SUMMARY")
        return subprocess.run(
            command,
            env={k: v for k, v in os.environ.items() if k not in without}
            | {"KB_PYTHON": sys.executable}
            | (environment or {}),
            capture_output=True,
            text=True,
            check=False,
        )

    def nights(self) -> list[pathlib.Path]:
        """The folders of all nights, oldest first."""
        return sorted(p.parent for p in self.history.glob("*/*/results.json"))

    def build(self, preset: str = "cpu") -> pathlib.Path:
        """The build folder of a preset's nights."""
        return self.root / "build/nightly" / preset


@pytest.fixture
def night(tmp_path: pathlib.Path) -> Night:
    """A checkout in which no night was."""
    return Night(tmp_path)


def said(done: subprocess.CompletedProcess[str]) -> str:
    """All that a night said, in one line: CMake wraps messages where it likes."""
    return " ".join((done.stdout + done.stderr).split())


def verdicts(folder: pathlib.Path) -> dict[str, str | None]:
    """The verdicts that a night has filed."""
    report = json.loads((folder / "results.json").read_text())
    return {c["name"]: (c["result"] or {}).get("verdict") for c in report["candidates"]}


@pytest.fixture(scope="module", name="first_night")
def fixture_first_night(tmp_path_factory: pytest.TempPathFactory) -> Night:
    """A checkout in which one night was: only to be read."""
    night = Night(tmp_path_factory.mktemp("first"))
    done = night.run("-DKB_TASKS=level1/019_relu;level1/023_softmax")
    assert done.returncode == 0, said(done)
    night.told = said(done)
    return night


@pytest.fixture
def second(night: Night, first_night: Night) -> Night:
    """Another checkout after that night."""
    shutil.copytree(first_night.history, night.history)
    return night


def test_the_first_night_is_filed(first_night: Night) -> None:
    assert "this is the first night on" in first_night.told
    assert "no CDash server is named" in first_night.told
    (filed,) = first_night.nights()
    assert verdicts(filed) == {RELU: "pass", SOFTMAX: "pass"}
    assert {p.name for p in filed.iterdir()} >= {"results.json", "summary.md"}
    assert not (filed / "gate.txt").exists()
    environment = json.loads((first_night.build() / "env.json").read_text())
    gpu = (environment.get("gpu") or {}).get("name", "cpu")
    assert filed.parent.name == re.sub("[^a-z0-9]+", "_", gpu.lower())
    assert "023_softmax" in (first_night.history / "matrix.csv").read_text()


def test_options_reach_cmake_whole(first_night: Night) -> None:
    cache = (first_night.build() / "CMakeCache.txt").read_text()
    assert "KB_TASKS:UNINITIALIZED=level1/019_relu;level1/023_softmax\n" in cache


def test_the_second_night_is_compared(second: Night) -> None:
    done = second.run()
    assert done.returncode == 0, said(done)
    old, new = second.nights()
    assert f"against the night {old.name}" in said(done)
    assert "gate: no significant regression" in said(done)
    assert (new / "gate.txt").read_text().startswith(f"against {old.name}\n2 candidates passed")
    assert old.parent == new.parent and list(second.history.glob("*/.*")) == []
    assert "all GPUs: " in said(done)


def test_a_kernel_that_got_worse_is_told(second: Night) -> None:
    second.replace_program(f"{RELU}.correct", "exit 1")
    done = second.run()
    assert done.returncode != 0
    assert f"LOST {RELU}: passed, now" in said(done)
    assert "worse than the night" in said(done)
    assert len(second.nights()) == 2, "a bad night is filed, too"


def test_what_does_not_compare_is_compared_and_told(second: Night) -> None:
    """Such as times of another driver: a night is to tell what has changed."""
    (filed,) = second.nights()
    report = filed / "results.json"
    report.write_text(report.read_text().replace('"torch": "', '"torch": "9'))
    done = second.run()
    assert "MIXED: different LibTorch versions" in said(done)
    assert "gate: no significant regression" in said(done)
    assert done.returncode == 0, said(done)


def test_a_night_without_results_is_none(second: Night) -> None:
    """The results of an earlier night must not stand in for it."""
    filed = second.nights()
    (second.build() / "results/seed").mkdir(parents=True)
    (second.build() / "results/seed/old.json").write_text("{}")
    second.replace_program("kb.env", "echo there is no such GPU; exit 1")
    done = second.run()
    assert done.returncode != 0
    assert "cpu: no kernel was judged" in said(done) and "there is no such GPU" in said(done)
    assert second.nights() == filed


def test_labels_that_choose_no_test_are_told(night: Night) -> None:
    done = night.run("-DLABELS=^nobody$")
    assert done.returncode != 0
    assert "do LABELS '^nobody$' choose tests?" in said(done)


def test_a_preset_that_cannot_be_built_ends_no_other_night(night: Night) -> None:
    night.replace_program(f"{RELU}.correct", "exit 1")  # there is a result, and no time is spent
    night.replace_program(f"{SOFTMAX}.correct", "exit 1")
    done = night.run("-DKB_TEST_BUILD=false", presets="cpu")
    assert done.returncode != 0
    assert "cpu: cannot be built" in said(done) and not night.nights()
    done = night.run("-DKB_TEST_BUILD=true", presets="other;cpu")
    assert done.returncode != 0
    assert "other: cannot be configured" in said(done) and "KB_SIZES is wrong" in said(done)
    assert "cpu: filed in" in said(done) and len(night.nights()) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-DPRESETS=",), "Name the presets of this machine"),
        (("-DPRESETS=cpu;rtx9090",), "There is no preset 'rtx9090': choose some of cpu, other."),
        (("-DPRESETS=cpu;../x",), "There is no preset '../x'"),
        (("-DJOBS=many",), "JOBS is 'many': give a number"),
        (("-DHISTORY=/proc/nights",), "/proc/nights cannot be written"),
    ],
)
def test_wrong_options_build_nothing(night: Night, options: tuple[str, ...], message: str) -> None:
    done = night.run(*options)
    assert done.returncode != 0
    assert message in said(done)
    assert not night.build().exists() and not night.nights()


@pytest.mark.parametrize("option", ["-DLABEL=x", "-DPRESET=cpu", "-Djobs=2", "-DCTEST_SITE=x"])
def test_a_name_that_is_no_option_is_refused(night: Night, option: str) -> None:
    done = night.run(option, "-DKB_TASKS=level1/*", "-DCTEST_SUBMIT_URL=file:///x", "-DRETRIES=0")
    assert done.returncode != 0
    name = option.partition("=")[0]
    assert f"There is no option {name}: the options are PRESETS, UPDATE" in said(done)
    assert not night.build().exists() and not night.nights()


def test_a_dry_run_tells_and_builds_nothing(night: Night) -> None:
    done = night.run("-DDRY_RUN=ON", presets="cpu;other")
    assert done.returncode == 0, said(done)
    for told in (
        f"cpu: {night.build()} is not configured yet",
        f"other: {night.build('other')} is not configured yet",
        "labels: ^(build|correct|bench)$, 4 side by side",
        f"history: {night.history}, which has 0 night(s)",
        "sent to CDash: nothing",
    ):
        assert told in said(done)
    assert not night.build().exists() and not night.nights()


def test_a_dry_run_counts_the_tests(first_night: Night) -> None:
    done = first_night.run("-DDRY_RUN=ON", "-DLABELS=^correct$")
    count = re.search(rf"cpu: {first_night.build()} has (\d+) tests with these labels", said(done))
    assert int(count[1]) in (6, 7), "two checks, and the builds and facts that they need"
    assert f"history: {first_night.history}, which has 1 night(s)" in said(done)


def test_an_empty_folder_of_states_is_none(night: Night, tmp_path: pathlib.Path) -> None:
    environment = {"XDG_STATE_HOME": "", "HOME": str(tmp_path / "home")}
    done = night.run("-DHISTORY=", "-DKB_TEST_BUILD=false", environment=environment)
    assert "cpu: cannot be built" in said(done)
    assert (tmp_path / "home/.local/state/kernelbench-native/nightly").is_dir()


def test_two_nights_do_not_meet_in_one_build_folder(night: Night) -> None:
    night.build().mkdir(parents=True)
    with (night.build().parent / "cpu.lock").open("w") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        done = night.run()
    assert done.returncode != 0
    assert "another night works in" in said(done) and not night.nights()


def git(folder: pathlib.Path, *words: str) -> None:
    """Runs git with an identity."""
    command = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *words]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def test_an_update_keeps_what_somebody_has_changed(night: Night, tmp_path: pathlib.Path) -> None:
    """It is a fast-forward; where there can be none the night goes on with what is there."""
    night.write(".gitignore", "/build/\n")
    git(night.root, "init", "-q", "-b", "main")
    git(night.root, "add", "-A")
    git(night.root, "commit", "-qm", "a")
    git(tmp_path, "clone", "-q", str(night.root), "origin")
    git(night.root, "remote", "add", "origin", str(tmp_path / "origin"))
    git(night.root, "fetch", "-q", "origin")
    git(night.root, "branch", "-q", "-u", "origin/main")
    (tmp_path / "origin/README").write_text("new\n")
    git(tmp_path / "origin", "add", "-A")
    git(tmp_path / "origin", "commit", "-qm", "b")
    (night.root / "README").write_text("mine\n")
    options = ("-DUPDATE=ON", "-DKB_TEST_BUILD=false")
    done = night.run(*options)
    assert "cpu: git pull --ff-only failed, so the night goes on" in said(done)
    assert "cpu: cannot be built" in said(done)
    assert (night.root / "README").read_text() == "mine\n"
    (night.root / "README").unlink()
    done = night.run(*options)
    assert "git pull" not in said(done)
    assert (night.root / "README").read_text() == "new\n"


class Server(http.server.BaseHTTPRequestHandler):
    """Takes what CTest submits, as CDash does."""

    def do_PUT(self) -> None:
        """Keeps a file."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.got[self.path] = (self.headers.get("Authorization"), body)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<cdash><status>OK</status></cdash>")

    do_POST = do_PUT

    def log_message(self, *words: object) -> None:
        """Says nothing."""


@contextlib.contextmanager
def cdash() -> Iterator[http.server.HTTPServer]:
    """A server on this machine."""
    with http.server.HTTPServer(("127.0.0.1", 0), Server) as server:
        server.got = {}
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()


def test_cdash_gets_the_tests_with_their_measurements(night: Night) -> None:
    with cdash() as server:
        url = f"http://127.0.0.1:{server.server_port}/submit.php?project=x"
        done = night.run(f"-DCTEST_SUBMIT_URL={url}", environment={"KB_CDASH_TOKEN": "secret"})
    assert done.returncode == 0, said(done)
    assert "secret" not in said(done)
    files = {
        re.search(r"FileName=[^&]*___([A-Za-z]+)\.xml", p).group(1): v
        for p, v in server.got.items()
    }
    assert {"Configure", "Build", "Test"} <= files.keys()
    assert {token for token, _ in files.values()} == {"Bearer secret"}
    text = (night.build() / "Testing").glob("*/Test.xml").__next__().read_text()
    assert f"<Name>{RELU}.bench</Name>" in text
    for name in ("speedup", "seed.level1.fast_0"):
        assert re.search(f'<NamedMeasurement type="numeric/double" name="{name}">', text), name


def test_a_cdash_that_does_not_answer_costs_no_night(night: Night) -> None:
    night.replace_program(f"{RELU}.correct", "exit 1")
    night.replace_program(f"{SOFTMAX}.correct", "exit 1")
    done = night.run("-DCTEST_SUBMIT_URL=http://127.0.0.1:9/submit.php?project=x", "-DRETRIES=0")
    assert done.returncode != 0
    assert "did not take the results; they are filed here all the same" in said(done)
    assert len(night.nights()) == 1
