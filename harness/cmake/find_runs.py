"""Which files of candidates/ are kernels of runs, and what stops a run: called when configuring.

Kernels are candidates/RUN/[SAMPLE/]levelN/NNN_slug.cu. A file that cannot be one, or a wrong run.json, stops its run
and no other: none of its kernels is configured, and what would build or judge it says what is wrong and what to do.
Anybody may have written these files, so names and texts of theirs are data in all that is written here.
"""

import argparse
import fnmatch
import glob
import hashlib
import json
import os
import pathlib
import re
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

KNOWN_KEYS = ("model", "samples_are", "library", "headers", "tasks", "cost_usd", "tokens")
TAKEN = re.compile(
    "seed|adversar(y|ies)|honest|containment|validity|kb|harness|selftest|build|correct|bench|level[0-9]*"
)
ODD = re.compile(r"[][;\\]")  # what CMake's lists cannot hold
MOST_BYTES = 1_000_000  # of a run.json
MOST_BRACKETS = (
    500  # CMake comes to its end with an error where lists lie a thousand deep in each other
)
LONGEST_NAME = (
    200  # of a run with mistakes, since file systems let no name of a file be longer than 255
)


@dataclass
class Asked:
    """What the configure step knows."""

    candidates: pathlib.Path
    tasks: list[str]  # levelN/NNN_slug
    left_out: list[str]  # tasks that this build folder leaves out
    headers: list[str]
    has_cudnn: bool


@dataclass
class Run:
    """A folder below candidates/, or what lies in the place of one."""

    kernels: list[str] = field(default_factory=list)  # paths below candidates/
    mistakes: list[str] = field(default_factory=list)
    has_samples: bool | None = None  # of its first kernel
    facts: dict[str, Any] = field(default_factory=dict)  # of its run.json


class Mistake(Exception):
    """What is wrong, and what to do about it."""


def shown(path: str) -> str:
    return "candidates/" + ODD.sub("?", path)


def is_pipe(path: str | pathlib.Path) -> bool:
    """Whoever opens a pipe waits for somebody who writes into it; devices may have no end."""
    mode = os.lstat(path).st_mode
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))


def entries_of(root: pathlib.Path, chosen: list[str]) -> list[str]:
    """All paths below the chosen runs, relative to `root`; exits if one that is named is not there."""
    found: set[str] = set()
    for pattern in chosen:
        pattern = pattern.rstrip("/")  # as shells complete names of folders
        folders = glob.glob(pattern, root_dir=root)
        if not folders and pattern != "*":
            sys.exit(
                f"KB_RUNS names '{pattern}', but candidates/{pattern} does not exist. Add it, or choose all runs "
                "again with -DKB_RUNS=*."
            )
        found.update(folders)
        for folder in folders:
            if os.path.islink(root / folder):
                continue
            for where, below, files in os.walk(root / folder):
                found.update(
                    os.path.relpath(os.path.join(where, name), root) for name in below + files
                )
    return sorted(found)


def check_name(place: str, name: str) -> None:
    """Names of runs and samples become parts of target and test names, and labels."""
    if not re.fullmatch("[A-Za-z0-9][A-Za-z0-9_-]{0,63}", name):
        raise Mistake(
            f"{place}: '{name}' is no name for a run or sample: rename it to at most 64 letters, digits, _ and -, "
            "the first a letter or digit."
        )
    if TAKEN.fullmatch(name):
        raise Mistake(
            f"{place}: '{name}' is taken (seed is the run of the shipped candidates, the others are labels of "
            "tests): rename the run or sample."
        )


def nearest(names: list[str], name: str) -> str:
    """A sentence with the task that has the number of this name, such as 19_ReLU, and up to five that share the most
    words with it; nothing without such tasks."""
    name = name.lower()
    number = re.match("0*([1-9][0-9]*)", name)
    near = [n for n in names if number and re.match(f"0*{number[1]}_", n)]
    words = set(re.findall("[a-z0-9]*[a-z][a-z0-9]*", name))
    shared = {n: sum(part in words for part in n.split("_")) for n in names}
    most = max(shared.values(), default=0)
    if most > 0:
        near += [n for n in names if shared[n] == most][:5]
    return f" Nearest: {', '.join(f'{n}.cu' for n in dict.fromkeys(near))}" if near else ""


def sort_entry(asked: Asked, run: Run, path: str) -> None:
    """One path below candidates/: a kernel of its run, or something to pass over, or a mistake."""
    place, name, full = shown(path), os.path.basename(path), asked.candidates / path
    if re.match(r"[.#]", name) or name.endswith("~"):
        return  # what editors and file managers leave behind
    if full.is_symlink():
        raise Mistake(
            f"{place} is a symbolic link. Results quote what the compiler saw, so a link could publish any file of "
            "this machine: put a copy in its place."
        )
    if is_pipe(full):
        raise Mistake(
            f"{place} is a pipe or a device, which may have no end: put a file in its place."
        )
    if ODD.search(path):
        if ODD.search(name):  # else a folder above is told
            raise Mistake(
                f"{place}: a name in candidates/ holds one of ; [ ] \\ (here ?): use letters, digits, _ and - only."
            )
        return
    if not name.endswith(".cu"):
        if full.is_dir() or not re.search("/level[0-9]+/", path):
            return
        raise Mistake(
            f"{place} is no candidate: below levelN/ there are only files NNN_slug.cu. Rename it, or keep it one "
            "folder up."
        )
    if full.is_dir():
        raise Mistake(
            f"{place} is a folder, but a name that ends in .cu belongs to a kernel's file: rename the folder, or put "
            "the file in its place."
        )
    parts = re.fullmatch(r"([^/]+)/(?:([^/]+)/)?(level[1-4])/([^/]+)\.cu", path)
    if not parts:
        raise Mistake(
            f"{place} is not where a candidate belongs: candidates/RUN/[SAMPLE/]levelN/NNN_slug.cu, N from 1 to 4"
        )
    run_name, sample, level, slug = parts.groups()
    if f"{level}/{slug}" in asked.left_out:
        return
    check_name(place, run_name)
    if sample is not None:
        check_name(place, sample)
    if f"{level}/{slug}" not in asked.tasks:
        here = [task.partition("/")[2] for task in asked.tasks if task.startswith(level)]
        raise Mistake(  # without all names: a hundred would push the sentence off the screen
            f"{place} matches no task of level {level[-1]}: its name must be that of a folder in {level}/, with .cu. "
            f"Rename it, or move it out of candidates/ if its task is not among them.{nearest(here, slug)}"
        )
    if run.has_samples is None:
        run.has_samples = sample is not None
    elif run.has_samples != (sample is not None):
        raise Mistake(
            f"{place}: candidates/{run_name} has candidates both directly in levelN/ and in sample folders, so that a "
            "task may stand there twice: move its levelN/ into a sample folder, too."
        )
    run.kernels.append(path)


def name_of(path: str) -> str:
    """A name of a run that targets and tests may have: with a + in it, as none that is a run's, if this one may not."""
    named = ODD.sub("?", path.partition("/")[0])
    run = re.sub("[^A-Za-z0-9_-]", "+", named)
    try:
        check_name("", named)
    except Mistake:
        if run == named:
            run += "+"
    if len(run) > LONGEST_NAME:
        run = f"{run[:100]}+{hashlib.sha256(os.fsencode(named)).hexdigest()}"
    return run


def read_facts(place: str, about: pathlib.Path) -> dict[str, Any]:
    """What run.json says."""
    size = about.stat().st_size
    if size > MOST_BYTES:
        raise Mistake(
            f"{place} has {size} bytes, more than {MOST_BYTES}: keep what is long in other files of the run."
        )
    raw = about.read_bytes()
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff") or (len(raw) > 1 and 0 in raw[:2]):
        raise Mistake(f"{place} is UTF-16 text: save it as UTF-8.")
    opened = raw.count(b"[") + raw.count(b"{")
    if opened > MOST_BRACKETS:
        raise Mistake(
            f"{place} has {opened} opening brackets, more than {MOST_BRACKETS}: keep what is long in other files of "
            "the run."
        )
    try:
        facts = json.loads(raw.decode("utf-8-sig"))
        json.dumps(facts, allow_nan=False)
        why = "" if isinstance(facts, dict) else f"It is {type(facts).__name__}."
    except ValueError as error:
        why = f"{error}."
    if why:
        raise Mistake(
            f'{place} must be one JSON object, such as {{"model": "name"}}: correct or remove it. {why}'
        )
    return facts


def letters_apart(a: str, b: str) -> int:
    """How many letters have to be put in, left out or replaced to make b of a (Levenshtein's distance)."""
    above = list(range(len(b) + 1))
    for i, mine in enumerate(a, 1):
        row = [i]
        for j, other in enumerate(b, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (mine != other)))
        above = row
    return above[-1]


def wrong_facts(
    asked: Asked, place: str, facts: dict[str, Any], kernels: list[str]
) -> Iterator[str]:
    """What is wrong with a run.json; other keys than the known ones are the author's own."""
    samples = facts.get("samples_are", "turns")
    if samples != "turns":
        yield f"{place} says that samples_are '{samples}': say \"turns\", or nothing for independent draws."
    for key in facts.keys() - set(KNOWN_KEYS):
        meant = [known for known in KNOWN_KEYS if letters_apart(key, known) <= 2]
        if meant:
            yield f"{place} has a key '{key}', which nothing reads: did you mean {meant[0]}? Correct or rename it."
    library = facts.get("library", "none")
    if library not in ("none", "cublas", "cudnn"):
        yield f"{place} declares the library '{library}'. It must be none, cublas or cudnn (which includes cuBLAS)."
    elif library == "cudnn" and not asked.has_cudnn:
        yield (
            f"{place} declares the library cudnn, but cudnn.h and libcudnn.so are not found: install cuDNN, or set "
            "KB_CUDNN_INCLUDE and KB_CUDNN_LIBRARY."
        )
    headers = facts.get("headers", [])
    if not isinstance(headers, list):
        yield f'{place}: headers must be a list of names, such as {{"headers": ["kb"]}}.'
    elif unknown := [name for name in headers if name not in asked.headers]:
        yield (
            f"{place} declares the headers '{unknown[0]}', which are not known: remove the name, or choose from "
            f"{', '.join(asked.headers)}."
        )
    if "tasks" in facts:
        yield from wrong_choice(asked, place, facts["tasks"], kernels)


def wrong_choice(asked: Asked, place: str, globs: Any, kernels: list[str]) -> Iterator[str]:
    """What is wrong with the tasks that a run.json chooses, which N counts alone."""
    how = "name tasks as level1/019_relu or by globs as level2/*"
    if not isinstance(globs, list) or not globs:
        yield (
            f'{place}: tasks must be a list such as {{"tasks": ["level1/019_relu", "level2/*"]}}: {how}, or remove the '
            "key for all tasks."
        )
        return
    for wanted in globs:
        good = isinstance(wanted, str) and re.fullmatch("[a-z0-9_/*?]+", wanted)
        if not good or not fnmatch.filter(asked.tasks + asked.left_out, wanted.rstrip("/")):
            yield f"{place} chooses the tasks '{wanted}', but no task has such a name: {how}."
            return
    for path in kernels:
        task = "/".join(path.removesuffix(".cu").split("/")[-2:])
        if not any(fnmatch.fnmatchcase(task, wanted.rstrip("/")) for wanted in globs):
            yield (
                f"candidates/{path} is of no task that {place} chooses: add '{task}' to its tasks, or move the file "
                "out of candidates/."
            )
            return


def add_facts(asked: Asked, name: str, run: Run) -> pathlib.Path | None:
    """Reads and checks run.json. Links and pipes are mistakes of their own, and nothing of them is quoted.

    Returns the file, if a later change of it matters.
    """
    folder = asked.candidates / name
    about, place = folder / "run.json", f"candidates/{name}/run.json"
    if not about.is_file() or folder.is_symlink() or about.is_symlink():
        return None
    try:
        run.facts = read_facts(place, about)
        run.mistakes += wrong_facts(asked, place, run.facts, run.kernels)
    except Mistake as mistake:
        run.mistakes.append(str(mistake))
    return about


def find(asked: Asked, paths: list[str]) -> dict[str, Run]:
    """The runs by name, those with mistakes among them."""
    runs: dict[str, Run] = {}
    for path in paths:
        run = runs.setdefault(name_of(path), Run())
        try:
            sort_entry(asked, run, path)
        except Mistake as mistake:
            run.mistakes.append(str(mistake))
    return {name: run for name, run in runs.items() if run.kernels or run.mistakes}


def quoted(text: str) -> str:
    """As CMake's bracket argument, in which nothing is replaced."""
    marks = "=" * (1 + max((len(found) for found in re.findall("](=*)", text)), default=0))
    return f"[{marks}[{text}]{marks}]"


def watch(root: pathlib.Path, chosen: list[str]) -> Iterator[str]:
    """Commands that let a build look whether files have come or gone. CMake writes the names that a glob has found into
    a script of its own, where a backslash is an error that would stop all builds: with such a name the folders are
    watched instead."""
    tree = list(os.walk(root))
    if not any("\\" in name for _, below, files in tree for name in below + files):
        for run in chosen:
            wanted = root / run.rstrip("/")
            yield f"file(GLOB_RECURSE _ CONFIGURE_DEPENDS LIST_DIRECTORIES true {quoted(f'{wanted}/*')})"
            yield f"file(GLOB _ CONFIGURE_DEPENDS LIST_DIRECTORIES true {quoted(str(wanted))})"
        return
    for folder, _, _ in tree:
        if "\\" not in folder:
            yield f"set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS {quoted(folder)})"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--candidates", type=pathlib.Path, required=True)
    parser.add_argument(
        "--refused", type=pathlib.Path, required=True, help="folder for a RUN.txt of mistakes each"
    )
    parser.add_argument("--out", type=pathlib.Path, required=True, help="file for CMake to include")
    lists = {
        "runs": "names or globs",
        "tasks": "levelN/NNN_slug",
        "left-out": "the same",
        "headers": "names",
    }
    for name, what in lists.items():
        parser.add_argument(
            f"--{name}", type=lambda text: text.split(";") if text else [], default=[], help=what
        )
    parser.add_argument("--without-cudnn", action="store_true")
    given = parser.parse_args()
    asked = Asked(
        given.candidates, given.tasks, given.left_out, given.headers, not given.without_cudnn
    )

    commands = list(watch(asked.candidates, given.runs))
    for name, run in find(asked, entries_of(asked.candidates, given.runs)).items():
        about = add_facts(asked, name, run)
        if about:
            commands.append(
                f"set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS {quoted(str(about))})"
            )
        if run.mistakes:
            # A terminal obeys control characters, and CTest attaches the file that an element in a test's output names.
            lines = [re.sub("[^ -;=?-~]", "?", mistake) + "\n" for mistake in run.mistakes]
            given.refused.mkdir(parents=True, exist_ok=True)
            (given.refused / f"{name}.txt").write_text("".join(lines), encoding="ascii")
            commands.append(f"kb_refuse_run({name})")
            continue
        commands.append(
            f"set_property(GLOBAL PROPERTY KB_FACTS_{name} {quoted(json.dumps(run.facts))})"
        )
        for path in run.kernels:
            *place, level, file = path.split("/")
            sample = place[1] if len(place) > 1 else ""
            commands.append(
                f'kb_add_candidate(RUN {name} SAMPLE "{sample}" LEVEL {level[-1]} TASK {file.removesuffix(".cu")} '
                f"SOURCE candidates/{path})"
            )
    given.out.write_text(
        "".join(f"{command}\n" for command in commands), encoding="utf-8", errors="surrogateescape"
    )


if __name__ == "__main__":
    main()
