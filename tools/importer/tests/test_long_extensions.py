"""Extensions of strangers that made the import take minutes or hours: long, and never closed."""

import ast

import pytest

from kb_import import importing, translate
from kb_import.symbols import Extension, Untranslatable

MEGABYTE = 1_000_000


def filled(text, size=MEGABYTE):
    return (text * (size // len(text) + 1))[:size]


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
        "auto b = at::empty(1); auto l = [&](int i) { return a.sum(0); }; if (x) { b.max(); }"
        "if (y) return a * b; else return a + b; c = 3 * a.size(0); p += a->b; return torch::mm(a); }"
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
