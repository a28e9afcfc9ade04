"""Finds what is no code in C++: comments and literals."""

from __future__ import annotations

import re

# Linear whatever the text, which strangers wrote: no match fails after it has looked far ahead. A
# comment or a raw string that nothing closes goes on to the end of the text, as for a compiler; any
# other text in quotes ends with its line, and stays code if it has no second quote there.
_NOT_CODE = re.compile(
    r"""
    //[^\n]*
  | (?P<comment>/\*)(?:.*?(?P<comment_end>\*/)|.*)
  | (?P<raw>R"(?P<mark>[^()\\\s]{0,16})\()(?:.*?(?P<raw_end>\)(?P=mark)")|.*)
  | "[^"\\\n]*(?:\\.[^"\\\n]*)*(?P<quote>"?)
  | '(?:\\[^\n']{1,8}|[^'\\\n])'
    """,
    re.VERBOSE | re.DOTALL,
)


def blanked(text: str, keep_strings: bool = False) -> str:
    """The code in a text: a space and their ends of lines stand for comments and literals."""
    return _blanked(text, keep_strings)[0]


def blanked_with_end(text: str) -> tuple[str, str | None]:
    """blanked(), and within what the text ends, in words; None if it ends in code."""
    return _blanked(text, False)


def _blanked(text: str, keep_strings: bool) -> tuple[str, str | None]:
    within = None

    def blank(match: re.Match[str]) -> str:
        nonlocal within
        found = match[0]
        if found[0] == '"' and (keep_strings or not match["quote"]):
            return found
        if match["comment"] and not match["comment_end"]:
            within = "comment"
        if match["raw"] and not match["raw_end"]:
            within = "raw string"
        return " " + "\n" * found.count("\n")

    return _NOT_CODE.sub(blank, text), within
