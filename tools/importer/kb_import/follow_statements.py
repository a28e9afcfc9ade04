"""Statements of a source that is followed; the rest of `follow.Follower` is beside it."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Any

from kb_import.follow_state import (
    DERIVED,
    MOST_ITEMS,
    OPERATORS,
    PYTHON,
    STREAMS,
    Loop,
    Raised,
    Returned,
    State,
)
from kb_import.symbols import (
    CONSTANTS,
    Class,
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

# A loop may come to the same long expression in each of its steps.
_unparsed = lru_cache(64)(ast.unparse)


class Statements(State):
    """What statements do to the names of a source."""

    def block(self, body: list[ast.stmt], scope: dict[str, Any]) -> None:
        for statement in body:
            self.statement(statement, scope)

    def statement(self, node: ast.stmt, scope: dict[str, Any]) -> None:
        self.tick()
        match node:
            case ast.Expr():
                self.eval(node.value, scope)
            case ast.Assign():
                value = self.eval(node.value, scope)
                for target in node.targets:
                    self.assign(target, value, scope)
            case ast.AnnAssign():
                if node.value is not None:
                    self.assign(node.target, self.eval(node.value, scope), scope)
            case ast.AugAssign():
                load = ast.copy_location(_loaded(node.target), node.target)
                old, new = self.eval(load, scope), self.eval(node.value, scope)
                self.assign(node.target, self.binary(type(node.op), old, new), scope)
            case ast.Return():
                raise Returned(None if node.value is None else self.eval(node.value, scope))
            case ast.If():
                self.branch(node, scope)
            case ast.For():
                self.loop(node, scope)
            case ast.While():
                self.while_loop(node, scope)
            case ast.With():
                self.with_block(node, scope)
            case ast.Try():
                self.try_block(node, scope)
            case ast.FunctionDef():
                scope[node.name] = self.decorated(node, scope)
            case ast.ClassDef():
                self.define(node, scope)
            case ast.Import():
                for alias in node.names:
                    top = alias.name if alias.asname else alias.name.split(".")[0]
                    scope[alias.asname or top] = Library(top)
            case ast.ImportFrom():
                for alias in node.names:
                    scope[alias.asname or alias.name] = Library(f"{node.module}.{alias.name}")
            case ast.Raise():
                raise Raised(_unparsed(node.exc)[:60] if node.exc else "again")
            case ast.Break() | ast.Continue():
                raise Loop(isinstance(node, ast.Continue))
            case ast.Pass() | ast.Global() | ast.Nonlocal() | ast.Assert() | ast.Delete():
                pass
            case _:
                raise Untranslatable(PYTHON, type(node).__name__)
        if isinstance(node, ast.Global):
            scope.setdefault("global names", set()).update(node.names)

    def decorated(self, node: ast.FunctionDef, scope: dict[str, Any]) -> Any:
        """A function as its decorators leave it."""
        function = Function(node, scope)
        for each in node.decorator_list:
            name = _unparsed(each.func if isinstance(each, ast.Call) else each)
            if "triton" in name:
                return Library(f"triton.{node.name}")
            if "jit" in name or name.startswith("numba"):
                return Opaque(f"{node.name} under {name}")
        return function

    def branch(self, node: ast.If, scope: dict[str, Any]) -> None:
        condition = self.eval(node.test, scope)
        if isinstance(condition, (Opaque, Library)) and not self.in_forward and self.harmless(node):
            return
        if self.truth(condition):
            self.block(node.body, scope)
        else:
            self.block(node.orelse, scope)

    def harmless(self, node: ast.AST) -> bool:
        """Whether a branch does nothing but call libraries and set their switches."""
        for each in ast.walk(node):
            if isinstance(each, ast.Return):
                return False
            targets = each.targets if isinstance(each, ast.Assign) else []
            for target in targets:
                root = target
                while isinstance(root, (ast.Attribute, ast.Subscript)):
                    root = root.value
                if not (isinstance(root, ast.Name) and root.id in ("torch", "os")):
                    return False
        return True

    def loop(self, node: ast.For, scope: dict[str, Any]) -> None:
        for item in self.listed(self.eval(node.iter, scope)):
            self.assign(node.target, item, scope)
            try:
                self.block(node.body, scope)
            except Loop as how:
                if not how.again:
                    return
        self.block(node.orelse, scope)

    def while_loop(self, node: ast.While, scope: dict[str, Any]) -> None:
        for _ in range(MOST_ITEMS):
            condition = self.eval(node.test, scope)
            if not isinstance(condition, CONSTANTS):
                raise Untranslatable(PYTHON, "a loop whose end depends on sizes")
            if not condition:
                return
            try:
                self.block(node.body, scope)
            except Loop as how:
                if not how.again:
                    return
        raise Untranslatable(PYTHON, "a long loop")

    def with_block(self, node: ast.With, scope: dict[str, Any]) -> None:
        for item in node.items:
            value = self.eval(item.context_expr, scope)
            what = describe(value)
            if what.endswith(("cuda.stream", "cuda.graph")) and self.in_forward:
                raise Untranslatable(STREAMS, what)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value, scope)
        self.block(node.body, scope)

    def try_block(self, node: ast.Try, scope: dict[str, Any]) -> None:
        try:
            try:
                self.block(node.body, scope)
            except Raised:
                if not node.handlers:
                    raise
                self.block(node.handlers[0].body, scope)
            else:
                self.block(node.orelse, scope)
        finally:
            self.block(node.finalbody, scope)

    def define(self, node: ast.ClassDef, scope: dict[str, Any]) -> None:
        new = Class(node, scope, [self.eval(base, scope) for base in node.bases])
        scope[node.name] = new
        names = _ClassScope(scope)
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef):
                made = self.decorated(statement, scope)
                if isinstance(made, Function):
                    made.of = new
                names[statement.name] = made
            else:
                self.statement(statement, names)
        new.attributes = dict(names)

    def assign(self, target: ast.expr, value: Any, scope: dict[str, Any]) -> None:
        match target:
            case ast.Name():
                if target.id in scope.get("global names", ()):
                    scope = self.globals
                elif scope is self.globals and target.id in self.sizes:
                    value = self.sized(target.id, value)
                scope[target.id] = value
            case ast.Tuple() | ast.List():
                if isinstance(value, (Tensor, Shape)) and any(
                    isinstance(t, ast.Starred) for t in target.elts
                ):
                    raise Untranslatable(PYTHON, "sizes of a tensor of unknown rank")
                items = self.unpack(value, len(target.elts), target.elts)
                for each, item in zip(target.elts, items, strict=True):
                    if isinstance(each, ast.Starred):
                        each = each.value
                    self.assign(each, item, scope)
            case ast.Attribute():
                self.set_attribute(self.eval(target.value, scope), target.attr, value)
            case ast.Subscript():
                self.set_item(self.eval(target.value, scope), self.eval(target.slice, scope), value)
            case _:
                raise Untranslatable(PYTHON, f"assignment to {type(target).__name__}")

    def sized(self, name: str, value: Any) -> Any:
        """A constant of the source that is one of the task's sizes."""
        kind = self.launch.sizes[name]
        if kind in ("int64_t", "double"):
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                return value
            return Scalar(f"s.{name}", "int" if kind == "int64_t" else "float", value)
        if kind.startswith("std::array") and isinstance(value, Sequence):
            count = int(kind.rstrip(">").split(",")[1])
            if len(value.items) == count and all(isinstance(v, int) for v in value.items):
                items = [Scalar(f"s.{name}[{i}]", "int", v) for i, v in enumerate(value.items)]
                return Sequence(items, value.is_list)
        return value

    def unpack(self, value: Any, count: int, targets: list[ast.expr]) -> list[Any]:
        match value:
            case Shape():
                return [self.size_of(value.tensor, i) for i in range(count)]
            case Vector():
                return [self.item(value, i) for i in range(count)]
            case Opaque() | Library():
                return [value] * count
        items = self.listed(value)
        starred = [i for i, t in enumerate(targets) if isinstance(t, ast.Starred)]
        if starred:
            first, rest = starred[0], count - starred[0] - 1
            middle = items[first : len(items) - rest]
            items = [*items[:first], Sequence(middle, True), *items[len(items) - rest :]]
        if len(items) != count:
            raise Untranslatable(PYTHON, f"{count} names for {len(items)} values")
        return items

    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        if isinstance(owner, (Library, Opaque)):
            return  # switches of libraries
        if isinstance(owner, (Instance, Class)):
            owner.attributes[name] = value
            if isinstance(owner, Instance):
                self.place(value, f"{owner.path}{name}")
            return
        if isinstance(owner, (Layer, Weight, Tensor)):
            if name in ("requires_grad", "training"):
                return
            if isinstance(owner, Layer) and name in ("weight", "bias"):
                owner.weights[name] = value
                self.place(value, f"{owner.path}.{name}" if owner.path else None)
                return
            if name == "data" and value is owner:
                return
            raise Untranslatable(DERIVED, f"{name} of {describe(owner)} is set")
        raise Untranslatable(PYTHON, f"attribute {name} of {describe(owner)} is set")

    def place(self, value: Any, path: str | None) -> None:
        """Gives layers, weights and models their names in the state_dict."""
        if path is None:
            return
        match value:
            case Layer():
                if value.path is None:
                    value.path = path
                    for name, each in value.weights.items():
                        self.place(each, f"{path}.{name}")
            case Weight():
                root = value.base or value
                if root.path is None:
                    root.path = path
                    self.registered.append(root)
                if value.path is None:
                    value.path = path
            case Instance():
                if not value.path:
                    value.path = path + "."
                    for name, each in value.attributes.items():
                        self.replace(each, path + "." + name)

    def replace(self, value: Any, path: str) -> None:
        """Places anew what was placed before its owner had a path."""
        if isinstance(value, Layer):
            value.path = path
            for name, each in value.weights.items():
                if isinstance(each, Weight):
                    each.path = f"{path}.{name}"
        elif isinstance(value, Weight):
            value.path = path
        elif isinstance(value, Instance):
            value.path = ""
            self.place(value, path)

    def set_item(self, owner: Any, key: Any, value: Any) -> None:
        if isinstance(owner, dict) and isinstance(key, CONSTANTS):
            owner[key] = value
        elif (
            isinstance(owner, Sequence)
            and isinstance(key, int)
            and -len(owner.items) <= key < len(owner.items)
        ):
            owner.items[key] = value
        elif isinstance(owner, (Library, Opaque)):
            return
        elif isinstance(owner, (Tensor, Fresh, Weight)):
            raise Untranslatable(OPERATORS, "assignment to elements of a tensor")
        elif isinstance(owner, dict):
            raise Untranslatable(PYTHON, "a dictionary whose keys depend on sizes")
        else:
            raise Untranslatable(PYTHON, f"an element of {describe(owner)} is set")


class _ClassScope(dict):
    """Names of a class body, which sees those around it."""

    def __init__(self, scope: dict[str, Any]):
        super().__init__()
        self.around = scope

    def __missing__(self, key: str) -> Any:
        return self.around[key]

    def __contains__(self, key: object) -> bool:
        return dict.__contains__(self, key) or key in self.around


def _loaded(target: ast.expr) -> ast.expr:
    """The target of an augmented assignment, as an expression that reads it."""
    match target:
        case ast.Name():
            return ast.Name(target.id, ast.Load())
        case ast.Attribute():
            return ast.Attribute(target.value, target.attr, ast.Load())
        case ast.Subscript():
            return ast.Subscript(target.value, target.slice, ast.Load())
    return target
