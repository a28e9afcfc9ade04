"""A checkout of its own with the programs and modules of the real build tree, to judge in."""

import json
import os
import pathlib
import re
import shutil
import subprocess

SOURCE_DIR = pathlib.Path(os.environ["KB_SOURCE_DIR"])
BUILD_DIR = pathlib.Path(os.environ["KB_BUILD_DIR"])
PRESET = BUILD_DIR.name
EXAMPLES = SOURCE_DIR / "candidates/examples/level1"
RIGHT = "040_layer_norm"
WRONG = "023_softmax"


class Checkout:
    """Tools, reports and a built preset; what is judged here leaves the real tree alone."""

    def __init__(self, root: pathlib.Path) -> None:
        """Links what is only read. The run `examples` has one kernel that is right and one not."""
        self.root = root
        self.build = root / "build" / PRESET
        self.build.mkdir(parents=True)
        shutil.copytree(SOURCE_DIR / "tools", root / "tools")
        for name in ("reports", "harness", "level1", "level2", "CMakePresets.json"):
            (root / name).symlink_to(SOURCE_DIR / name)
        shutil.copytree(EXAMPLES, root / "candidates/examples/level1")
        for name in ("bin", "lib", "modules", "CMakeFiles", "harness", "build.ninja", "peaks"):
            if (BUILD_DIR / name).exists():
                (self.build / name).symlink_to(BUILD_DIR / name)
        for name in ("kernel_patterns.json", "sources.sha256"):
            shutil.copy(BUILD_DIR / name, self.build / name)
        manifest = json.loads((BUILD_DIR / "manifest.json").read_text())
        manifest["candidates"] = [
            c
            for c in manifest["candidates"]
            if c["run"] == "examples" and c["task"] in (RIGHT, WRONG)
        ]
        (self.build / "manifest.json").write_text(json.dumps(manifest))
        self.tests = (BUILD_DIR / "CTestTestfile.cmake").read_text()
        self.write_tests(self.tests)
        self.temporary = root / "tmp"
        self.temporary.mkdir()
        self.stand_ins = root / "stand-ins"
        self.stand_ins.mkdir()
        self.say("cmake", "exit 0")

    def write_tests(self, text: str) -> None:
        """The tests of the real build, at this place; only those of the two kernels and env."""
        lines = [
            line.replace(str(BUILD_DIR), str(self.build))
            for line in text.splitlines()
            if f"examples.level1.{RIGHT}." in line
            or f"examples.level1.{WRONG}." in line
            or "[kb.env]" in line
            or "[kb.peaks]" in line
        ]
        (self.build / "CTestTestfile.cmake").write_text("\n".join(lines) + "\n")

    def judge_with(self, task: str, *command: str) -> None:
        """Puts a command in the place of the program that judges this task."""
        file = self.build / "CTestTestfile.cmake"
        words = " ".join(f'"{word}"' for word in command)
        start = f"add_test([=[examples.level1.{task}.correct]=] "
        text, found = re.subn(f"{re.escape(start)}.*", f"{start}{words})", file.read_text())
        assert found == 1
        file.write_text(text)

    def say(self, name: str, script: str) -> None:
        """Puts a stand-in for a program on PATH."""
        file = self.stand_ins / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    def start(self, *arguments: str, **options) -> subprocess.Popen:
        """Starts tools/judge, or another program of tools/ that `tool` names."""
        tool = self.root / "tools" / options.pop("tool", "judge")
        environment = {
            **os.environ,
            "PATH": f"{self.stand_ins}:{os.environ['PATH']}",
            "TMPDIR": str(self.temporary),
            **options.pop("environment", {}),
        }
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
        return subprocess.Popen([tool, *arguments], env=environment, **options)

    def judge(
        self, *arguments: str, given: str | None = None, **options
    ) -> subprocess.CompletedProcess[str]:
        """Runs tools/judge to its end, with `given` on standard input."""
        stdin = subprocess.DEVNULL if given is None else subprocess.PIPE
        process = self.start(*arguments, stdin=stdin, **options)
        out, err = process.communicate(given)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def result(self, task: str) -> pathlib.Path:
        """The result file of a kernel of the run `examples`."""
        return self.build / f"results/examples/level1/{task}.json"
