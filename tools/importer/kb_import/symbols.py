"""Values of a program that is followed without being run: see `translate`."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any


class Untranslatable(Exception):
    """What stands in the way, as half a sentence; `kind` is the heading under which it counts."""

    def __init__(self, kind: str, detail: str = ""):
        super().__init__(f"{kind}: {detail}" if detail else kind)
        self.kind = kind
        self.detail = detail


@dataclass(frozen=True)
class Scalar:
    """A number that launch() knows when it runs, as C++, with its value at the source's sizes."""

    text: str
    kind: str
    """`int`, `float` or `bool`."""
    value: Any = None


@dataclass
class Tensor:
    """A tensor as a C++ expression without effects."""

    text: str
    rank: int | None = None
    sizes: tuple[Any, ...] | None = None
    """The size of each dimension at the source's own sizes, as far as they are known."""
    dtype: str | None = None
    """Its element type as torch names it; None if it is not known."""
    dense: bool = False
    """Whether it is known to be contiguous."""


@dataclass
class Sequence:
    """A tuple or a list of values."""

    items: list[Any]
    is_list: bool = False


@dataclass
class Shape:
    """The sizes of a tensor whose number of dimensions is not known."""

    tensor: Tensor


@dataclass
class Vector:
    """What an extension returns as std::vector<Tensor> or std::tuple, as C++."""

    text: str
    is_tuple: bool = False


@dataclass
class Fresh:
    """A tensor of __init__ that holds no input: of what shape it is, for nn.Parameter."""

    shape: list[Any] | None
    made_by: str
    value: Any = None
    """What all its elements are, if that is known."""


@dataclass
class Weight:
    """A parameter or buffer of the model, whose path is known once it is an attribute."""

    shape: list[Any] | None
    path: str | None = None
    changed: str | None = None
    """What __init__ did to its values, if that is not known."""
    value: Any = None
    """What all its elements are at first, if that is known."""
    parameter: bool = False
    base: Any = None
    """The weight that it was computed from, if it was."""
    steps: list[tuple[str, Any]] = field(default_factory=list)
    """Arithmetic with numbers that __init__ does to each element: operator and number."""


@dataclass
class Layer:
    """A layer of torch.nn: its weights may be used, the layer itself is an operator."""

    kind: str
    arguments: list[Any]
    keywords: dict[str, Any]
    path: str | None = None
    weights: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class Class:
    """A class of the source."""

    node: ast.ClassDef
    scope: dict[str, Any]
    bases: list[Any]
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class Instance:
    """An object of a class of the source."""

    of: Class
    attributes: dict[str, Any] = field(default_factory=dict)
    path: str = ""


@dataclass(eq=False)
class Function:
    """A function of the source with the names that it sees."""

    node: ast.FunctionDef | ast.Lambda
    scope: dict[str, Any]
    of: Class | None = None


@dataclass
class Method:
    """A function bound to an object."""

    function: Function
    self: Any


@dataclass
class Bound:
    """A method of one of the values here."""

    value: Any
    name: str


@dataclass
class Super:
    """super() of a method."""

    self: Any
    of: Class


@dataclass
class Extension:
    """What load_inline() returns."""

    cuda: str
    cpp: str
    functions: list[str] | None


@dataclass
class Library:
    """A name of an imported library, such as `torch.nn.functional.relu`."""

    path: str


@dataclass
class Pointer:
    """Tensor.data_ptr()."""

    tensor: Tensor


@dataclass
class Opaque:
    """A value that nothing of launch() may depend on."""

    what: str


@dataclass
class File:
    """A file that the source opened to write."""

    path: str


CONSTANTS = (int, float, bool, str, type(None))


def describe(value: Any) -> str:
    """What a value is, in a few words."""
    match value:
        case Library():
            return value.path
        case Opaque():
            return value.what
        case Layer():
            return f"nn.{value.kind}"
        case Fresh():
            return value.made_by
        case Bound():
            return f"{describe(value.value)}.{value.name}"
        case _:
            return type(value).__name__.lower()
