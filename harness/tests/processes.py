"""What tests of interrupted programs ask about processes."""

import pathlib
import time


def descendants(pid: int) -> set[int]:
    """All processes that a process has started and that are children of it or theirs."""
    try:
        own = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return set()
    return {int(p) for p in own}.union(*(descendants(int(p)) for p in own))


def alive(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        status = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rsplit(")", 1)[1].split()[0] != "Z"


def runs(name: str, pids: set[int]) -> bool:
    """Whether one of the processes is of this program. A process may end while it is asked."""

    def program(pid: int) -> str | None:
        try:
            return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
        except OSError:
            return None

    return any(program(p) == name for p in pids)


def wait_until(condition, seconds: float = 120) -> None:
    """Polls; the limit is no measure of anything but of a hang."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
