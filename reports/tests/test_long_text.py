"""Text of strangers that made the reports take minutes or hours: it is long, and never closed."""

import ast

import pytest
from test_advice import KERNEL, LAUNCH, WHOLE, failed

from kb_report import advice, cxx, feedback, importing, spreadsheet, translate
from kb_report.symbols import Extension, Untranslatable

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


HEAD = "at::Tensor f(at::Tensor a) {"
OPERATORS = {
    "heads": ("at::Tensor ", []),
    "brackets": ("at::Tensor" + "(" * MEGABYTE, []),
    "operators": (HEAD + ".sum(" * 200_000, [(".sum", False)]),
    "branches": (HEAD + "{.sum(;" * 140_000, [(".sum", True)]),
    "arguments": (HEAD + ".sum<" * 200_000, []),
    "arguments that differ": (HEAD + "{" + "".join(f".sum<{i}>(" for i in range(80_000)),
                              [(".sum", True)]),
    "names": (HEAD + "".join(f"Tensor a{i};" for i in range(70_000)), []),
    "one name": (HEAD + "Tensor" * 160_000, []),
    "spaces": (HEAD + "Tensor" + " " * MEGABYTE, []),
    "signs": (HEAD + "a*" * 500_000, [("* of tensors", False)]),
    "a word": (HEAD + "b" * MEGABYTE, []),
    "braces": (HEAD + "{" * MEGABYTE, []),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_of_long_extensions(name):
    text, found = OPERATORS[name]
    assert translate.host_operators(filled(text)) == found


def test_functions_in_functions_without_end():
    with pytest.raises(Untranslatable, match="functions that stand in functions"):
        translate.host_operators(filled(HEAD))


def test_operators_in_branches():
    text = HEAD + (
        "auto b = at::empty(1); auto l = [&](int i) { return a.sum(); }; if (x) { b.max(); }"
        "if (y) return a * 2; else return 2 + b; c = 3 * a.size(0); p += a->b; return torch::mm(a); }"
    )
    assert translate.host_operators(text) == [
        (".sum", False), (".max", True), ("* of tensors", True), ("+ of tensors", True),
        ("torch::mm", False),
    ]  # fmt: skip


SIGNATURES = {
    "a binding": 'm.def("f",' + " " * MEGABYTE,
    "a word": "f" * MEGABYTE,
    "types": "vector<" * 140_000,
    "bounds": "a __launch_bounds__(" * 50_000,
    "calls": " >f(" * 240_000,
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures_of_long_extensions(name):
    text = SIGNATURES[name][: MEGABYTE - 10]
    assert translate.signatures(Extension(text, "", ["f"])) == {}


def test_signatures_are_bounded():
    kernels = "".join(f"__global__ void k{i}(" for i in range(40_000))
    assert len(translate.signatures(Extension(kernels, "", None))) == 256
    with pytest.raises(Untranslatable, match="larger"):
        translate.signatures(Extension(filled("a", MEGABYTE + 1), "", None))


def test_types_of_parameters():
    types = {
        "const float* __restrict__ x": "const float*", "float  *\n const * p": "float * const *",
        "int n = 3": "int", "unsigned": "unsigned", " " * MEGABYTE + "+": "+",
    }  # fmt: skip
    assert {t: translate._type_of(t) for t in types} == types


def test_lines_before_triton():
    with pytest.raises(Untranslatable, match="no CUDA"):
        translate.translate(filled("\n", MEGABYTE - 20) + "# triton", None, "")


def test_chains_of_calls():
    text = f"class M:\n  def forward(self, x):\n    return self.a(torch.b(x)(x)){'.c()' * 900}\n"
    assert importing.operators(ast.parse(text), "M") == [*"bba", *["c"] * 900]
