"""What tests of interrupted programs ask about processes."""

import os
import pathlib
import time


def _read(file: pathlib.Path) -> str:
    """What a file of a process says; nothing if the process has ended, as it may at any time."""
    try:
        return file.read_text()
    except OSError:
        return ""


def descendants(pid: int) -> set[int]:
    """All processes that a process has started and that are children of it or theirs."""
    tasks = pathlib.Path(f"/proc/{pid}/task")
    try:
        threads = os.listdir(tasks)
    except OSError:
        return set()
    own = {int(child) for t in threads for child in _read(tasks / t / "children").split()}
    return own.union(*(descendants(child) for child in own))


def alive(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    status = _read(pathlib.Path(f"/proc/{pid}/stat"))
    return status != "" and status.rsplit(")", 1)[1].split()[0] != "Z"


def program(pid: int) -> str:
    """The name of a process's program; empty if it has ended."""
    return _read(pathlib.Path(f"/proc/{pid}/comm")).strip()


def runs(name: str, pids: set[int]) -> bool:
    """Whether one of the processes is of this program."""
    return any(program(pid) == name for pid in pids)


def wait_until(condition, seconds: float = 120) -> None:
    """Polls; the limit is no measure of anything but of a hang."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
