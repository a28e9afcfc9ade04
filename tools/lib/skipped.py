"""Lists the skipped tests of a run of CTest with their reasons.

skipped.py <JUnit file of ctest>. With KB_MAY_LACK in the environment, words of
tools/ci/expected-skips.txt, a skip that the file does not expect on such a machine is named and
ends it with status 1.
"""

import os
import re
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

EXPECTED = Path(__file__).resolve().parent.parent / "ci/expected-skips.txt"
# GoogleTest, a session of pytest that ended itself, and the judge.
REASONS = (
    r"^\S+: Skipped\n(.+)",
    r"^!+ _pytest\.outcomes\.Exit: (.+?) !+$",
    r"^\S+: ((?:degenerate|skipped): .+)",
    r"^\S+ (is not (?:judged|timed): .+)",
)


def skips(case: xml.Element) -> list[str]:
    """The reasons of what a test has skipped: itself, or some of a file of pytest's."""
    text = case.findtext("system-out") or ""
    skipped = case.find("skipped")
    if skipped is None or not skipped.get("message", "").startswith("SKIP_"):
        return sorted(set(re.findall(r"^SKIPPED \[\d+\] \S+ (.+)", text, re.MULTILINE)))
    found = [match[1] for each in REASONS if (match := re.search(each, text, re.MULTILINE))]
    return found[:1] or ["it says no reason"]


def expected(lacking: set[str]) -> list[tuple[str, str]]:
    """The patterns of name and reason that hold where `lacking` is not there."""
    lines = (line.split(maxsplit=2) for line in EXPECTED.read_text().splitlines())
    rows = [row for row in lines if row and not row[0].startswith("#")]
    unknown = lacking - {what for what, _, _ in rows}
    if unknown:
        sys.exit(f"KB_MAY_LACK names {', '.join(sorted(unknown))}, which {EXPECTED} does not")
    return [(name, reason) for what, name, reason in rows if what in lacking | {"-"}]


def main() -> int:
    """Prints the list."""
    cases = xml.parse(sys.argv[1]).getroot().iter("testcase")
    found = [(case.get("name", ""), reason) for case in cases for reason in skips(case)]
    lacking = os.environ.get("KB_MAY_LACK")
    patterns = expected(set((lacking or "").split()))
    surprises = 0
    print(f"\nskipped: {len(found)}")
    for name, reason in sorted(found):
        fits = any(re.fullmatch(n, name) and re.search(r, reason) for n, r in patterns)
        surprises += not fits and lacking is not None
        print(f"  {'' if fits or lacking is None else 'UNEXPECTED '}{name}: {reason}")
    if surprises:
        print(
            f"{surprises} of them must not be skipped where only "
            f"'{lacking}' may lack: install what they need, or add a line to {EXPECTED}"
        )
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
