"""Text of strangers that made the reports take minutes or hours: it is long, and never closed."""

import pytest
from test_advice import KERNEL, LAUNCH, WHOLE, failed

from kb_report import advice, cxx, feedback, spreadsheet

MEGABYTE = 1_000_000


def filled(text, size=MEGABYTE):
    return (text * (size // len(text) + 1))[:size]


def source(text):
    """As long a source as there is advice about; one that is long is left as it is."""
    return text if len(text) > 100_000 else filled(text, advice.MOST_SOURCE)


def test_comments_and_literals_become_spaces():
    text = 'a /* x\n */ b // y\nc "z\\"" R"m(\n)" )m" d \'{\' \'\\n\' e'
    assert cxx.blanked_with_end(text) == ("a  \n b  \nc    \n d     e", None)
    assert cxx.blanked('"x" // y', keep_strings=True) == '"x"  '
    # One quote alone is a mistake of the line in which it stands.
    assert cxx.blanked('f("a);\ng("b");') == 'f("a);\ng( );'
    assert cxx.blanked_with_end("a /* b\n") == ("a  \n", "comment")
    assert cxx.blanked_with_end('a R"m(b)"') == ("a  ", "raw string")


@pytest.mark.parametrize(
    "text", ['"\\', "/* ", 'R"(', 'R"0123456789abcdef(', '"a\n', "'", "'a'", "//\n"]
)
def test_what_is_never_closed_is_read_once(text):
    long = filled(text)
    code, within = cxx.blanked_with_end(long)
    assert code.count("\n") == long.count("\n")
    assert within == {"/": "comment", "R": "raw string"}.get(text[0] if text != "//\n" else None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"\\', "no task::launch"),
        ("/* ", "ends within a comment"),
        ('R"(', "ends within a raw string"),
        ("(", "ends before the ( of line 1"),
        ("{\n", "ends before the { of line 1"),
        ("launch(", "ends before the ( of line 1"),
        ("launch(a);", "no task::launch"),
        ("def f()" + ")" * 200_000 + "\n", "no task::launch"),
        ("def f(" + "):  " * 60_000 + "x\n", "no task::launch"),
        ("from a import b" + " " * 200_000 + ";\n", "no task::launch"),
    ],
)
def test_advice_about_long_sources(text, words):
    found = " ".join(advice.of(failed(source(text))))
    assert words in found


def test_no_advice_about_sources_that_may_be_cut():
    assert advice.of(failed(filled("{", advice.MOST_SOURCE + 1))) == []


def test_advice_stays_short():
    parameters = ", ".join(f"int a{i}" for i in range(10_000))
    (found,) = advice.of(failed(f"{KERNEL}void task::launch({parameters}) {{}}\n"))
    assert "other parameters" in found and len(found) < 2 * advice._PARAMETERS_SHOWN


def test_a_call_of_launch_is_no_definition():
    before = "void f() { launch(1, (2)); if (launch(3)) return; }\n"
    assert advice.of(failed(before + WHOLE, "")) == []
    inside = f"{KERNEL}namespace task {{ {LAUNCH.replace('task::launch', 'launch')} }}"
    assert advice.of(failed(inside.replace("launch(", "launch ("))) == []


def test_long_lines_of_compilers():
    for text in (" ", "a/", "candidates/", " /", "error ", "level1", "'a"):
        found = feedback.trim_diagnostics(filled(text), failed=True)
        assert len(found) <= 200
    line = "   from  /a b/c/x.cu:3: error: y"
    assert feedback.trim_diagnostics(line, failed=True) == "   from  x.cu:3: error: y"


def test_a_formula_behind_spaces_is_text():
    assert [spreadsheet._cell(v) for v in ("=1", " =1", "\t@a", "a=1")] == [
        "'=1", "' =1", "'\t@a", "a=1",
    ]  # fmt: skip
