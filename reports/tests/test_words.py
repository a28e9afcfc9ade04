"""Pages and comments keep to the words of docs/words.md."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
WORDS = PROJECT / "docs/words.md"
ROOMS = ("harness", "reports", "tools")
C_LIKE = {".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp"}
LISTS = re.compile(r"^```(banned(?:-in-pages)?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def banned(*names):
    """The words of these lists of the page, one a line."""
    lists = LISTS.findall(WORDS.read_text(encoding="utf-8"))
    return [word for name, text in lists if name in names for word in text.splitlines()]


def pattern(words):
    """Any of the words, as whole words, in any case; a space may be the end of a line."""
    one = (r"\s+(?:(?://+|#+)\s*)?".join(map(re.escape, w.split())) for w in words)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(one)})(?![\w-])", re.IGNORECASE)


def found(text, words):
    """`line: word` of each."""
    lower = text.lower()
    likely = [word for word in words if word.split()[0] in lower]
    hits = pattern(likely).finditer(text) if likely else []
    return [f"{text.count(chr(10), 0, hit.start()) + 1}: {hit[0]}" for hit in hits]


def without(text, keep):
    """The text with everything but these parts blanked, so that lines keep their numbers."""
    kept = [" " if c != "\n" else c for c in text]
    for first, last in keep:
        kept[first:last] = text[first:last]
    return "".join(kept)


def c_comments(text):
    token = re.compile(r'R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*(?:.|\n)*?\*/')
    return without(text, [m.span() for m in token.finditer(text) if m[0].startswith("/")])


def script_comments(text):
    """Of shell and CMake: lines that begin with #, and what follows a space and #."""
    return without(
        text, [m.span() for m in re.finditer(r"(?:^|(?<=\s))#[^\n]*", text, re.MULTILINE)]
    )


def python_comments(text):
    """Comments and docstrings."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    keep = [
        (starts[t.start[0] - 1] + t.start[1], starts[t.end[0] - 1] + t.end[1])
        for t in tokens
        if t.type == tokenize.COMMENT
    ]
    with_docstring = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, with_docstring) and ast.get_docstring(node, clean=False) is not None:
            keep.append((starts[node.body[0].lineno - 1], starts[node.body[0].end_lineno]))
    return without(text, keep)


def comments(path):
    """What a source says to its readers, or nothing if it is no source."""
    text = path.read_text(encoding="utf-8", errors="replace")
    first = text.partition("\n")[0]
    if path.suffix in C_LIKE:
        return c_comments(text)
    if path.suffix == ".py" or (first.startswith("#!") and "python" in first):
        return python_comments(text)
    if path.suffix in (".cmake", ".sh") or path.name == "CMakeLists.txt" or first.startswith("#!"):
        return script_comments(text)
    return ""


def pages():
    """Every page of the project; runs of candidates but the example run are other people's."""
    yield from PROJECT.glob("*.md")
    for folder in ("docs", "candidates/examples", *ROOMS):
        yield from (PROJECT / folder).rglob("*.md")
    yield PROJECT / "candidates/README.md"


def sources():
    for room in ROOMS:
        for path in (PROJECT / room).rglob("*"):
            inside = path.relative_to(PROJECT).parts
            if path.is_file() and "__pycache__" not in inside and "hardware" not in inside:
                yield path


def test_pages_keep_to_the_words():
    words = banned("banned", "banned-in-pages")
    assert len(words) > 10
    wrong = []
    for page in sorted(pages()):
        text = LISTS.sub(lambda m: "\n" * m[0].count("\n"), page.read_text(encoding="utf-8"))
        wrong += [f"{page.relative_to(PROJECT)}:{hit}" for hit in found(text, words)]
    assert wrong == []


def test_comments_keep_to_the_words():
    words = banned("banned")
    wrong = []
    for path in sorted(sources()):
        wrong += [f"{path.relative_to(PROJECT)}:{hit}" for hit in found(comments(path), words)]
    assert wrong == []


def test_every_word_has_one_meaning():
    """No word stands in two rows, nor twice in the lists."""
    rows = re.findall(r"^\| ([^|]+?) \|", LISTS.sub("", WORDS.read_text()), re.MULTILINE)
    words = [w for row in rows if row != "word" and set(row) - set("-") for w in row.split(", ")]
    assert len(words) > 40 and len(words) == len(set(words))
    listed = banned("banned", "banned-in-pages")
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize(
    ("name", "text", "want"),
    [
        ("a.cpp", 'f("whence");  // whence\n/* thence\nWhence */\n', ["1: whence", "3: Whence"]),
        ("a.py", 'x = "whence"\n\n\ndef f():\n    """Whence."""\n    # whence\n', ["5: Whence", "6: whence"]),
        ("a.sh", 'echo "whence" # whence\n# whences\n', ["1: whence"]),
        ("a.h", "// in\n// vain\n", ["1: in\n// vain"]),
        ("a.json", "# whence\n", []),
    ],
)  # fmt: skip
def test_only_comments_count(tmp_path, name, text, want):
    path = tmp_path / name
    path.write_text(text)
    assert found(comments(path), ["whence", "in vain"]) == want
