"""Expressions of a source that is followed; the rest of `follow.Follower` is beside it."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

from kb_import.follow_state import (
    ARITHMETIC,
    COMPARISONS,
    MOST_ITEMS,
    OPERATORS,
    PYTHON,
    TRITON,
    TYPES,
    Raised,
    State,
)
from kb_import.symbols import (
    CONSTANTS,
    Fresh,
    Function,
    Instance,
    Layer,
    Library,
    Opaque,
    Scalar,
    Sequence,
    Shape,
    Tensor,
    Untranslatable,
    Vector,
    Weight,
    describe,
)


class Expressions(State):
    """Numbers of the source as numbers, sizes as C++."""

    def eval(self, node: ast.expr, scope: dict[str, Any]) -> Any:
        self.tick()
        match node:
            case ast.Constant():
                return node.value if isinstance(node.value, CONSTANTS) else Opaque("a constant")
            case ast.Name():
                return self.name(node.id, scope)
            case ast.Attribute():
                return self.attribute(self.eval(node.value, scope), node.attr)
            case ast.Tuple() | ast.List() | ast.Set():
                items = []
                for each in node.elts:
                    if isinstance(each, ast.Starred):
                        items += self.listed(self.eval(each.value, scope))
                    else:
                        items.append(self.eval(each, scope))
                return Sequence(items, not isinstance(node, ast.Tuple))
            case ast.Dict():
                keys = [None if k is None else self.eval(k, scope) for k in node.keys]
                if not all(isinstance(k, CONSTANTS) for k in keys):
                    return Opaque("a dictionary")
                return {k: self.eval(v, scope) for k, v in zip(keys, node.values, strict=True)}
            case ast.Call():
                return self.call_node(node, scope)
            case ast.BinOp():
                left, right = self.eval(node.left, scope), self.eval(node.right, scope)
                return self.binary(type(node.op), left, right)
            case ast.UnaryOp():
                return self.unary(node, scope)
            case ast.BoolOp():
                return self.boolean(node, scope)
            case ast.Compare():
                return self.compare(node, scope)
            case ast.IfExp():
                chosen = node.body if self.truth(self.eval(node.test, scope)) else node.orelse
                return self.eval(chosen, scope)
            case ast.Subscript():
                return self.subscript(node, scope)
            case ast.Lambda():
                return Function(node, scope)
            case ast.JoinedStr():
                return self.joined(node, scope)
            case ast.ListComp() | ast.GeneratorExp():
                return self.comprehension(node, scope)
            case ast.NamedExpr():
                value = self.eval(node.value, scope)
                self.assign(node.target, value, scope)
                return value
            case _:
                raise Untranslatable(PYTHON, type(node).__name__)

    def name(self, name: str, scope: dict[str, Any]) -> Any:
        while True:
            if name in scope:
                return scope[name]
            if "enclosing" not in scope:
                break
            scope = scope["enclosing"]
        if name in self.globals:
            return self.globals[name]
        return Library(f"builtins.{name}")

    def joined(self, node: ast.JoinedStr, scope: dict[str, Any]) -> Any:
        parts = []
        for part in node.values:
            if isinstance(part, ast.Constant):
                parts.append(str(part.value))
                continue
            value = self.eval(part.value, scope)
            if (
                part.format_spec is not None
                or part.conversion != -1
                or not isinstance(value, (int, str))
            ):
                return Opaque("a text that is put together")
            parts.append(str(value))
        return self.limited("".join(parts))

    def comprehension(
        self, node: ast.ListComp | ast.GeneratorExp, scope: dict[str, Any]
    ) -> Sequence:
        if len(node.generators) != 1:
            raise Untranslatable(PYTHON, "a nested comprehension")
        generator, items = node.generators[0], []
        for item in self.listed(self.eval(generator.iter, scope)):
            inner: dict[str, Any] = {"enclosing": scope}
            self.assign(generator.target, item, inner)
            if all(self.truth(self.eval(test, inner)) for test in generator.ifs):
                items.append(self.eval(node.elt, inner))
        return Sequence(items, True)

    def listed(self, value: Any) -> list[Any]:
        match value:
            case Sequence():
                return value.items
            case dict():
                return list(value)
            case Shape() if value.tensor.rank is not None:
                return [self.size_of(value.tensor, i) for i in range(value.tensor.rank)]
            case Layer() | Instance():
                raise Untranslatable(OPERATORS, f"layers of {describe(value)}")
        raise Untranslatable(PYTHON, f"items of {describe(value)}")

    def truth(self, value: Any) -> bool:
        """Which branch to take; what depends on sizes becomes a condition of launch()."""
        match value:
            case bool() | int() | float() | str() | dict() | None:
                return bool(value)
            case Scalar():
                return self.decide(value)
            case Sequence():
                return bool(value.items)
            case Opaque() | Library():
                raise Untranslatable(PYTHON, f"a branch depends on {describe(value)}")
            case Tensor() | Fresh():
                raise Untranslatable(OPERATORS, "a branch depends on elements of a tensor")
        return True

    def decide(self, condition: Scalar) -> bool:
        if condition.text in self.known:
            return self.known[condition.text]
        place = len(self.taken)
        taken = self.given[place] if place < len(self.given) else True
        self.taken.append((condition, taken, len(self.statements)))
        self.known[condition.text] = taken
        return taken

    def unary(self, node: ast.UnaryOp, scope: dict[str, Any]) -> Any:
        value = self.eval(node.operand, scope)
        match node.op:
            case ast.Not():
                if isinstance(value, Scalar):
                    known = None if value.value is None else not value.value
                    return Scalar(f"!({value.text})", "bool", known)
                if isinstance(value, (Opaque, Library)):
                    return value
                return not self.truth(value)
            case ast.USub():
                if isinstance(value, (int, float)):
                    return -value
                if isinstance(value, Scalar):
                    known = None if value.value is None else -value.value
                    return Scalar(f"(-{value.text})", value.kind, known)
            case ast.Invert() if isinstance(value, int):
                return ~value
        if isinstance(value, (Tensor, Weight)):
            raise Untranslatable(OPERATORS, "an operator on tensors")
        return Opaque(describe(value))

    def boolean(self, node: ast.BoolOp, scope: dict[str, Any]) -> Any:
        stop = isinstance(node.op, ast.Or)
        value: Any = None
        for i, each in enumerate(node.values):
            value = self.eval(each, scope)
            if i + 1 < len(node.values) and self.truth(value) == stop:
                return value
        return value

    def compare(self, node: ast.Compare, scope: dict[str, Any]) -> Any:
        left = self.eval(node.left, scope)
        result: Any = True
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.eval(right_node, scope)
            result = self.compare_two(type(op), left, right)
            if len(node.ops) > 1 and not self.truth(result):
                return False
            left = right
        return result

    def compare_two(self, op: type, left: Any, right: Any) -> Any:
        if op in (ast.Is, ast.IsNot):
            same = left is right
            if isinstance(left, CONSTANTS) and isinstance(right, CONSTANTS):
                same = same or (left == right and type(left) is type(right))
            return same == (op is ast.Is)
        if op in (ast.In, ast.NotIn):
            if isinstance(right, (dict, Sequence)):
                items = list(right) if isinstance(right, dict) else right.items
                if isinstance(left, CONSTANTS) and all(isinstance(i, CONSTANTS) for i in items):
                    return (left in items) == (op is ast.In)
                if isinstance(right, dict) and not right:
                    return op is ast.NotIn
                if isinstance(left, Library):
                    equal = any(self.same_type(ast.Eq, left, i) is True for i in items)
                    return equal == (op is ast.In)
            if isinstance(left, str) and isinstance(right, str):
                return (left in right) == (op is ast.In)
            return Opaque("a membership")
        sides = [left, right]
        for i, each in enumerate(sides):
            if isinstance(each, Shape):
                other = sides[1 - i]
                count = each.tensor.rank
                if count is None and isinstance(other, Sequence):
                    count = len(other.items)
                if count is not None:
                    sides[i] = Sequence([self.size_of(each.tensor, d) for d in range(count)])
        if all(isinstance(v, Sequence) for v in sides) and op in (ast.Eq, ast.NotEq):
            return self.same_items(op, *sides)
        if all(isinstance(v, Library) or getattr(v, "kind", "") == "type" for v in (left, right)):
            return self.same_type(op, left, right)
        text, function = COMPARISONS[op]
        if isinstance(left, CONSTANTS) and isinstance(right, CONSTANTS):
            try:
                return function(left, right)
            except TypeError:
                raise Untranslatable(PYTHON, "a comparison of unlike values") from None
        a, b = self.scalar(left), self.scalar(right)
        if a is None or b is None:
            if isinstance(left, (Tensor, Weight)) or isinstance(right, (Tensor, Weight)):
                raise Untranslatable(OPERATORS, "a comparison of tensors")
            return Opaque(f"a comparison of {describe(left)}")
        if a.text == b.text:
            return function(0, 0)
        known = None if a.value is None or b.value is None else function(a.value, b.value)
        return Scalar(f"({a.text} {text} {b.text})", "bool", known)

    def same_type(self, op: type, left: Any, right: Any) -> Any:
        """Whether element types are equal."""
        if left == right and describe(left) == "torch.the_device" and op in (ast.Eq, ast.NotEq):
            return op is ast.Eq
        codes = []
        for each in (left, right):
            code = each.text if isinstance(each, Scalar) else None
            codes.append(code or TYPES.get(describe(each).removeprefix("torch.")))
        if None in codes or op not in (ast.Eq, ast.NotEq):
            return Opaque(f"a comparison of {describe(left)}")
        if codes[0] == codes[1] or all(code.startswith("at::k") for code in codes):
            return (codes[0] == codes[1]) == (op is ast.Eq)
        text = "==" if op is ast.Eq else "!="
        return Scalar(f"({codes[0]} {text} {codes[1]})", "bool", None)

    def same_items(self, op: type, left: Sequence, right: Sequence) -> bool:
        equal = len(left.items) == len(right.items) and all(
            self.truth(self.compare_two(ast.Eq, a, b))
            for a, b in zip(left.items, right.items, strict=False)
        )
        return equal == (op is ast.Eq)

    def scalar(self, value: Any) -> Scalar | None:
        """A number as C++; None if it is none."""
        match value:
            case Scalar():
                return value
            case bool():
                return Scalar("true" if value else "false", "bool", value)
            case int():
                if abs(value) >= 2**63:
                    raise Untranslatable(PYTHON, "a number with more than 64 bits")
                text = str(value) if abs(value) < 2**31 else f"{value}ll"
                return Scalar(text if value >= 0 else f"({text})", "int", value)
            case float():
                if math.isfinite(value):
                    text = repr(value)
                elif math.isnan(value):
                    text = "NAN"
                else:
                    text = "INFINITY" if value > 0 else "-INFINITY"
                return Scalar(text if value >= 0 else f"({text})", "float", value)
        return None

    def binary(self, op: type, left: Any, right: Any) -> Any:
        if op not in ARITHMETIC:
            raise Untranslatable(OPERATORS, "a product of tensors")
        text, function = ARITHMETIC[op]
        if isinstance(left, CONSTANTS) and isinstance(right, CONSTANTS):
            return self.fold(op, function, left, right)
        for value, other in ((left, right), (right, left)):
            if isinstance(value, (Tensor, Weight, Vector)):
                number = self.scalar(other)
                simple = text in "*+" or (text in "/-" and value is left)
                if isinstance(value, Weight) and not self.in_forward and simple and number:
                    steps = [*value.steps, (text, number)]
                    return Weight(value.shape, base=value.base or value, steps=steps)
                if not self.in_forward:
                    return Opaque("a weight that __init__ computes")
                raise Untranslatable(OPERATORS, f"{text} of tensors")
            if isinstance(value, Fresh):
                if self.scalar(other) or isinstance(other, Fresh):
                    return Fresh(value.shape, value.made_by)
                return Opaque(value.made_by)
        if isinstance(left, Sequence) or isinstance(right, Sequence):
            return self.sequences(op, left, right)
        if any(isinstance(v, Shape) for v in (left, right)) and op is ast.Add:
            return Sequence(self.listed(left) + self.listed(right))
        a, b = self.scalar(left), self.scalar(right)
        if a is None or b is None:
            return Opaque(describe(left if a is None else right))
        known = None
        if a.value is not None and b.value is not None:
            known = self.fold(op, function, a.value, b.value)
        kind = "float" if "float" in (a.kind, b.kind) or op is ast.Div else "int"
        if op is ast.Div:
            return Scalar(f"(static_cast<double>({a.text}) / {b.text})", "float", known)
        if op is ast.FloorDiv:
            cast = "double" if kind == "float" else "int64_t"
            code = f"kb::torch_names::floor_divide({cast}({a.text}), {cast}({b.text}))"
            return Scalar(code, kind, known)
        if op is ast.Pow:
            return Scalar(f"std::pow({a.text}, {b.text})", "float", known)
        if op is ast.Mod and kind == "float":
            return Scalar(f"std::fmod({a.text}, {b.text})", "float", known)
        return Scalar(f"({a.text} {text} {b.text})", kind, known)

    def fold(self, op: type, function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
        """The value of a constant expression, unless it is huge."""
        numbers = isinstance(left, (int, float)) and isinstance(right, (int, float))
        if op in (ast.Pow, ast.LShift) and not (numbers and abs(left) < 2**32 and abs(right) <= 64):
            raise Untranslatable(PYTHON, "a large power")
        if op is ast.Mult and not numbers:
            times = left if isinstance(left, int) else right
            if not isinstance(times, int) or times > 1000:
                raise Untranslatable(PYTHON, "a text that is repeated")
        if op is ast.Mod and isinstance(left, str):
            return Opaque("a text that is put together")
        return self.computed(function, left, right)

    def computed(self, function: Callable[..., Any], *values: Any) -> Any:
        try:
            return self.limited(function(*values))
        except (TypeError, ValueError, ArithmeticError) as e:
            raise Raised(str(e)) from None

    def limited(self, value: Any) -> Any:
        if isinstance(value, int) and value.bit_length() > 256:
            raise Untranslatable(PYTHON, "a number with more than 256 bits")
        if isinstance(value, str) and len(value) > 1_000_000:
            raise Untranslatable(PYTHON, "a text of more than 1 MB")
        if isinstance(value, complex):
            raise Untranslatable(PYTHON, "a complex number")
        return value

    def sequences(self, op: type, left: Any, right: Any) -> Any:
        if op is ast.Add:
            return Sequence(self.listed(left) + self.listed(right),
                            isinstance(left, Sequence) and left.is_list)  # fmt: skip
        if op is ast.Mult:
            times, items = (left, right) if isinstance(left, int) else (right, left)
            if isinstance(times, int) and 0 <= times * len(items.items) <= MOST_ITEMS:
                return Sequence(items.items * times, items.is_list)
        raise Untranslatable(PYTHON, "arithmetic with a list")

    def subscript(self, node: ast.Subscript, scope: dict[str, Any]) -> Any:
        owner = self.eval(node.value, scope)
        if isinstance(node.slice, ast.Slice):
            bounds = [None if b is None else self.eval(b, scope)
                      for b in (node.slice.lower, node.slice.upper, node.slice.step)]  # fmt: skip
            if isinstance(owner, str) and all(b is None or isinstance(b, int) for b in bounds):
                return owner[slice(*bounds)]
            if isinstance(owner, (Tensor, Weight)):
                raise Untranslatable(OPERATORS, "a part of a tensor")
            if all(b is None or isinstance(b, int) for b in bounds):
                return Sequence(self.listed(owner)[slice(*bounds)])
            raise Untranslatable(PYTHON, "a part of a list that depends on sizes")
        return self.item(owner, self.eval(node.slice, scope))

    def item(self, owner: Any, key: Any) -> Any:
        match owner:
            case dict():
                if isinstance(key, CONSTANTS) and key in owner:
                    return owner[key]
                if isinstance(key, CONSTANTS):
                    raise Raised("KeyError")
                raise Untranslatable(PYTHON, "a dictionary whose keys depend on sizes")
            case Sequence():
                if isinstance(key, int) and -len(owner.items) <= key < len(owner.items):
                    return owner.items[key]
                raise Untranslatable(PYTHON, "an index that depends on sizes or is out of bounds")
            case Shape():
                return self.size_of(owner.tensor, key)
            case Vector():
                if isinstance(key, int) and key >= 0:
                    part = f"std::get<{key}>({owner.text})"
                    return Tensor(part if owner.is_tuple else f"{owner.text}.at({key})")
                raise Untranslatable(PYTHON, "an index into what the extension returns")
            case Tensor() | Weight() | Fresh():
                raise Untranslatable(OPERATORS, "a part of a tensor")
            case Layer() | Instance():
                raise Untranslatable(OPERATORS, f"layers of {describe(owner)}")
            case str() if isinstance(key, int) and -len(owner) <= key < len(owner):
                return owner[key]
            case Library() if "triton" in owner.path:
                raise Untranslatable(TRITON, owner.path)
        return Opaque(f"an element of {describe(owner)}")
