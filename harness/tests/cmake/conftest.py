"""A small copy of the source tree to configure in, and a stand-in for a build tree to judge in."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

SOURCE_DIR = pathlib.Path(os.environ["KB_SOURCE_DIR"])
BUILD_DIR = pathlib.Path(os.environ["KB_BUILD_DIR"])
TASKS = ("level1/019_relu", "level1/023_softmax", "level2/066_matmul_dropout_softmax")


class Tree:
    """A checkout with three tasks and no runs."""

    def __init__(self, root: pathlib.Path) -> None:
        """Copies what configuring reads."""
        self.root = root
        for name in ("CMakeLists.txt", "CMakePresets.json"):
            shutil.copy(SOURCE_DIR / name, root / name)
        for name in ("harness", "tools", *TASKS):
            # Of other tasks.
            ignored = shutil.ignore_patterns("__pycache__", "adversaries", "honest")
            shutil.copytree(SOURCE_DIR / name, root / name, ignore=ignored)
        for level in (1, 2, 3, 4):
            (root / f"level{level}").mkdir(exist_ok=True)
        (root / "candidates").mkdir()

    def add(self, path: str, text: str = "// nothing\n") -> pathlib.Path:
        """Writes a file below candidates/."""
        file = self.root / "candidates" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def clear(self) -> None:
        """Removes all runs."""
        shutil.rmtree(self.root / "candidates")
        (self.root / "candidates").mkdir()

    def configure(
        self, *options: str, preset: str = "cpu", build: str = "cpu", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Runs `cmake --preset`, with this machine's LibTorch unless `options` say otherwise."""
        torch = f"-DKB_TORCH_DIR={os.environ['KB_TEST_TORCH']}"
        command = ["cmake", "--preset", preset, "-B", f"build/{build}", torch]
        command += [f"-DPython3_EXECUTABLE={sys.executable}", *options]
        return self.run(command, **environment)

    def run(self, command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
        """Runs a command in the tree."""
        return subprocess.run(
            command,
            cwd=self.root,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )


def error_of(done: subprocess.CompletedProcess[str]) -> str:
    """What CMake said on stderr, in one line: it wraps messages where it likes."""
    return " ".join(done.stderr.split())


def stopped(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """It failed, and what it said on stderr names these."""
    assert done.returncode != 0, done.stdout
    assert [w for w in words if w not in error_of(done)] == [], done.stderr


def need_built(*files: str) -> None:
    """Ends a test that needs these files of the build tree, if only some targets were built."""
    missing = [file for file in files if not (BUILD_DIR / file).exists()]
    if missing:
        pytest.fail(
            f"{', '.join(missing)} missing in {BUILD_DIR}: build the target all first", False
        )


@pytest.fixture(scope="session", name="shared_tree")
def fixture_shared_tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """One tree for all tests: only the first configure step looks at the compiler."""
    return Tree(tmp_path_factory.mktemp("tree"))


@pytest.fixture
def tree(shared_tree: Tree) -> Tree:
    """The tree, without runs."""
    shared_tree.clear()
    return shared_tree


@pytest.fixture
def build(tmp_path: pathlib.Path) -> pathlib.Path:
    """The programs and modules of the real build tree, with results of its own."""
    for name in ("bin", "lib", "modules", "CMakeFiles"):
        (tmp_path / name).symlink_to(BUILD_DIR / name)
    for name in ("manifest.json", "env.json", "sources.sha256"):
        shutil.copy(BUILD_DIR / name, tmp_path / name)
    return tmp_path
