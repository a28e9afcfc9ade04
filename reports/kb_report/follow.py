"""Follows a module of PyTorch through ast, without running any of it.

`Follower` goes through the module, ModelNew's __init__ and its forward, on values of `symbols`: numbers
of the source are numbers, sizes are C++, tensors are names of C++. Calls of the extension and what
prepares their arguments become statements of C++. Whatever it does not know raises Untranslatable.
"""

from __future__ import annotations

import ast
import contextlib
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

from kb_report.launch import Launch
from kb_report.symbols import (
    CONSTANTS,
    Bound,
    Class,
    Extension,
    File,
    Fresh,
    Function,
    Instance,
    Layer,
    Library,
    Method,
    Opaque,
    Pointer,
    Scalar,
    Sequence,
    Shape,
    Super,
    Tensor,
    Untranslatable,
    Vector,
    Weight,
    describe,
)

OPERATORS = "uses torch operators"
DERIVED = "its weights are not upstream's"
PYTHON = "Python that is not understood"
LAYOUT = "keeps tensors channels-last"
STREAMS = "uses streams of its own"
NO_EXTENSION = "makes no extension of one CUDA source"
TRITON = "uses Triton"
AUTOTUNING = "chooses a kernel by measuring"
BINDING = "calls what the extension cannot bind"

_NOTHING = object()  # what a class without an attribute has

MOST_STEPS = 200_000
MOST_DEPTH = 60
MOST_ITEMS = 256

_LAYERS = {
    "Conv1d": 1, "Conv2d": 2, "Conv3d": 3,
    "ConvTranspose1d": 1, "ConvTranspose2d": 2, "ConvTranspose3d": 3,
    "Linear": 0, "BatchNorm1d": 0, "BatchNorm2d": 0, "BatchNorm3d": 0,
    "GroupNorm": 0, "LayerNorm": 0, "InstanceNorm1d": 0, "InstanceNorm2d": 0, "InstanceNorm3d": 0,
}  # fmt: skip
_CREATE = ("empty", "zeros", "ones", "full", "rand", "randn")
_CREATE_LIKE = ("empty_like", "zeros_like", "ones_like", "full_like")
_NEW = {"empty", "zeros", "ones", "full"}
_TYPES = {
    "float32": "at::kFloat", "float": "at::kFloat", "float64": "at::kDouble",
    "double": "at::kDouble", "int32": "at::kInt", "int": "at::kInt", "int64": "at::kLong",
    "long": "at::kLong", "bool": "at::kBool", "float16": "at::kHalf", "half": "at::kHalf",
    "bfloat16": "at::kBFloat16", "uint8": "at::kByte", "int8": "at::kChar",
}  # fmt: skip
_EXISTING = {"torch.cuda.amp", "torch.channels_last", "torch.channels_last_3d", "torch.compile",
             "torch.backends.cudnn", "torch.backends.cuda", "torch.cuda.synchronize"}  # fmt: skip
_PROPERTIES = {"multi_processor_count": "multiProcessorCount", "major": "major", "minor": "minor",
               "max_threads_per_multi_processor": "maxThreadsPerMultiProcessor",
               "shared_memory_per_block": "sharedMemPerBlock"}  # fmt: skip
_LOADERS = ("load_inline", "load")
_SAME = ("contiguous", "cuda", "float", "detach", "to", "clone", "type", "requires_grad_", "data")
_ARITHMETIC: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add), ast.Sub: ("-", operator.sub), ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv), ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod), ast.Pow: ("**", operator.pow),
    ast.LShift: ("<<", operator.lshift), ast.RShift: (">>", operator.rshift),
    ast.BitAnd: ("&", operator.and_), ast.BitOr: ("|", operator.or_),
    ast.BitXor: ("^", operator.xor),
}  # fmt: skip
_COMPARISONS: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Eq: ("==", operator.eq), ast.NotEq: ("!=", operator.ne), ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le), ast.Gt: (">", operator.gt), ast.GtE: (">=", operator.ge),
}  # fmt: skip


class Returned(Exception):
    """A return statement with its value."""

    def __init__(self, value: Any):
        self.value = value


class Raised(Exception):
    """A raise statement of the source."""


class Loop(Exception):
    """break, or continue if `again`."""

    def __init__(self, again: bool):
        self.again = again


class Follower:
    """One way through the source: `decisions` says which branches to take, then the first ones."""

    def __init__(
        self, launch: Launch, signatures: Callable[[Extension], Any], decisions: list[bool]
    ):
        self.launch = launch
        self.signatures = signatures
        self.given = decisions
        self.taken: list[tuple[Scalar, bool, int]] = []
        """Conditions, which branch, and how many statements came before."""
        self.statements: list[str] = []
        self.known: dict[str, bool] = {}
        self.weights: dict[str, str] = {}
        """Paths of the weights that are used -> C++ that makes them tensors."""
        self.extensions: list[Extension] = []
        self.called: set[str] = set()
        self.files: dict[str, str] = {}
        self.registered: list[Weight] = []
        """Weights in the order in which the model gets them."""
        self.notes: list[str] = []
        self.globals: dict[str, Any] = {}
        self.in_forward = False
        self.steps = 0
        self.depth = 0
        self.names = 0

    # The program

    def follow(
        self,
        module: ast.Module,
        sizes: dict[str, Any],
        inputs: list[Any],
        extension: Extension | None = None,
        settings: dict[str, Any] | None = None,
    ) -> Any:
        """What forward returns. Raises Untranslatable.

        extension: of robust-kbench, whose forward gets the function as `fn`, and whose __init__ has
        `settings`.
        """
        self.sizes = sizes
        with self.guarded():
            self.module(module)
            name = "ModelNew" if extension is None else "Model"
            model = self.globals.get(name)
            if not isinstance(model, Class):
                raise Untranslatable(PYTHON, f"there is no class {name}")
            if extension is not None:
                self.extensions.append(extension)
                instance = self.instantiate(model, [], self.accepted(model, settings or {}))
                self.in_forward = True
                forward = self.attribute(instance, "forward")
                return self.call(forward, list(inputs), {"fn": Bound(extension, "forward")})
            arguments: list[Any] = []
            if isinstance(make := self.globals.get("get_init_inputs"), Function):
                arguments = self.listed(self.call(make, [], {}))
                if len(arguments) == 2 and isinstance(arguments[1], dict):
                    arguments = self.listed(arguments[0])
            instance = self.instantiate(model, arguments, {})
            self.in_forward = True
            return self.call(self.attribute(instance, "forward"), list(inputs), {})

    def accepted(self, model: Class, settings: dict[str, Any]) -> dict[str, Any]:
        """Those settings that __init__ has parameters for; sizes of the task by their names."""
        initialise = self.of_class(model, "__init__")
        if not isinstance(initialise, Function):
            return {}
        names = [a.arg for a in initialise.node.args.args[1:]]
        given = {n: v for n, v in settings.items() if n in names and isinstance(v, CONSTANTS)}
        return {n: self.sized(n, v) if n in self.sizes else v for n, v in given.items()}

    def inputs(self, module: ast.Module, sizes: dict[str, Any]) -> list[Any]:
        """What get_inputs returns, as far as it can be followed; [] if there is none."""
        self.sizes = sizes
        with self.guarded():
            self.module(module)
            make = self.globals.get("get_inputs")
            return self.listed(self.call(make, [], {})) if isinstance(make, Function) else []

    def module(self, module: ast.Module) -> None:
        self.globals["__name__"] = "source"
        for statement in module.body:
            self.statement(statement, self.globals)

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Turns whatever else ends the source into Untranslatable."""
        try:
            yield
        except (Raised, Returned, Loop) as e:
            what = f"it raises {e}" if isinstance(e, Raised) else "a statement in a wrong place"
            raise Untranslatable(PYTHON, what) from None
        except RecursionError:
            raise Untranslatable(PYTHON, "it is nested too deeply") from None

    def tick(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Untranslatable(PYTHON, f"more than {MOST_STEPS} steps")

    # Statements

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
                raise Raised(ast.unparse(node.exc)[:60] if node.exc else "again")
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
            name = ast.unparse(each.func if isinstance(each, ast.Call) else each)
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
            case Sequence():
                pass

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
        elif isinstance(owner, Sequence) and isinstance(key, int) and -len(owner.items) <= key < len(
            owner.items
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

    # Expressions

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
                return {
                    k: self.eval(v, scope) for k, v in zip(keys, node.values, strict=True)
                }
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
            if part.format_spec is not None or part.conversion != -1 or not isinstance(value, (int, str)):
                return Opaque("a text that is put together")
            parts.append(str(value))
        return self.limited("".join(parts))

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp, scope: dict[str, Any]) -> Sequence:
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
            case bool() | int() | float() | str() | None:
                return bool(value)
            case Scalar():
                return self.decide(value)
            case Sequence():
                return bool(value.items)
            case dict():
                return bool(value)
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
            if not isinstance(left, (*CONSTANTS,)) or not isinstance(right, (*CONSTANTS,)):
                same = left is right
            else:
                same = left is right or (left == right and type(left) is type(right))
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
        text, function = _COMPARISONS[op]
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
            codes.append(code or _TYPES.get(describe(each).removeprefix("torch.")))
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
        if op not in _ARITHMETIC:
            raise Untranslatable(OPERATORS, "a product of tensors")
        text, function = _ARITHMETIC[op]
        if isinstance(left, CONSTANTS) and isinstance(right, CONSTANTS):
            return self.fold(op, function, left, right)
        for value, other in ((left, right), (right, left)):
            if isinstance(value, (Tensor, Weight, Vector)):
                number = self.scalar(other)
                if isinstance(value, Weight) and not self.in_forward and number is not None:
                    if text in "*+" or (text in "/-" and value is left):
                        steps = [*value.steps, (text, number)]
                        return Weight(value.shape, base=value.base or value, steps=steps)
                if not self.in_forward:
                    return Opaque("a weight that __init__ computes")
                raise Untranslatable(OPERATORS, f"{text} of tensors")
            if isinstance(value, Fresh):
                return Fresh(value.shape, value.made_by) if self.scalar(other) or isinstance(
                    other, Fresh
                ) else Opaque(value.made_by)
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
        try:
            return self.limited(function(left, right))
        except (TypeError, ValueError, ArithmeticError) as e:
            raise Raised(str(e)) from None

    def limited(self, value: Any) -> Any:
        if isinstance(value, int) and value.bit_length() > 256:
            raise Untranslatable(PYTHON, "a number with more than 256 bits")
        if isinstance(value, str) and len(value) > 20_000_000:
            raise Untranslatable(PYTHON, "a text of more than 20 MB")
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
                    code = f"std::get<{key}>({owner.text})" if owner.is_tuple else f"{owner.text}.at({key})"
                    return Tensor(code)
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

    # Attributes

    def attribute(self, owner: Any, name: str) -> Any:
        match owner:
            case Library(path="torch.the_device") if name in ("type", "index"):
                return "cuda" if name == "type" else 0
            case Library():
                return Library(f"{owner.path}.{name}")
            case Instance():
                return self.of_instance(owner, name)
            case Class():
                found = self.of_class(owner, name)
                if found is not _NOTHING:
                    return found
                if name == "apply" and isinstance(self.of_class(owner, "forward"), Function):
                    context = Instance(owner)  # of an autograd.Function
                    return Method(self.of_class(owner, "forward"), context)
                return Opaque(f"{owner.node.name}.{name}")
            case Extension():
                return Bound(owner, name)
            case Layer():
                return self.of_layer(owner, name)
            case Tensor():
                return self.of_tensor(owner, name)
            case Weight():
                if name == "shape" and owner.shape is not None:
                    return Sequence(list(owner.shape))
                if name == "device":
                    return Library("torch.the_device")
                if name == "dtype" and not self.in_forward:
                    return Library("torch.float32")
                if self.in_forward:
                    return self.of_tensor(self.use(owner), name)
                return owner if name == "data" else Bound(owner, name)
            case Super():
                for base in owner.of.bases:
                    if isinstance(base, Class) and (found := self.of_class(base, name)) is not _NOTHING:
                        return Method(found, owner.self) if isinstance(found, Function) else found
                return Library(f"torch.nn.Module.{name}")
        if isinstance(owner, Opaque) and owner.what == "the device's properties":
            if name in _PROPERTIES:
                code = f"at::cuda::getCurrentDeviceProperties()->{_PROPERTIES[name]}"
                return Scalar(f"static_cast<int64_t>({code})", "int")
        return Bound(owner, name)

    def of_class(self, owner: Class, name: str) -> Any:
        if name in owner.attributes:
            return owner.attributes[name]
        for base in owner.bases:
            if isinstance(base, Class) and (found := self.of_class(base, name)) is not _NOTHING:
                return found
        return _NOTHING

    def of_instance(self, owner: Instance, name: str) -> Any:
        if name in owner.attributes:
            return owner.attributes[name]
        if name == "__class__":
            return owner.of
        found = self.of_class(owner.of, name)
        if isinstance(found, Function):
            decorators = {ast.unparse(d) for d in getattr(found.node, "decorator_list", [])}
            if "staticmethod" in decorators:
                return found
            if "property" in decorators:
                return self.call(Method(found, owner), [], {})
            return Method(found, owner.of if "classmethod" in decorators else owner)
        if found is not _NOTHING:
            return found
        if name == "training":
            return True
        return Bound(owner, name)

    def of_layer(self, owner: Layer, name: str) -> Any:
        if name in owner.weights:
            return owner.weights[name]
        parameters = _PARAMETERS.get(owner.kind, ())
        if name in parameters:
            place = parameters.index(name)
            if place < len(owner.arguments):
                value = owner.arguments[place]
            else:
                value = owner.keywords.get(name, _DEFAULTS.get(name, Opaque(name)))
            several = _LAYERS.get(owner.kind, 0)
            if several and name in ("kernel_size", "stride", "padding", "dilation", "output_padding"):
                if not isinstance(value, (Sequence, str, Opaque)):
                    value = Sequence([value] * several)
            return value
        return Bound(owner, name)

    def of_tensor(self, owner: Tensor, name: str) -> Any:
        match name:
            case "shape":
                if owner.rank is None:
                    return Shape(owner)
                return Sequence([self.size_of(owner, i) for i in range(owner.rank)])
            case "is_cuda":
                return True
            case "requires_grad":
                return False
            case "is_leaf":
                return True
            case "device":
                return Library("torch.the_device")
            case "dtype":
                if owner.dtype is not None:
                    return Library(f"torch.{owner.dtype}")
                return Scalar(f"{owner.text}.scalar_type()", "type")
            case "ndim":
                return owner.rank if owner.rank is not None else Scalar(f"{owner.text}.dim()", "int")
            case "data":
                return owner
            case "T":
                return self.view(owner, "t", [])
        return Bound(owner, name)

    def size_of(self, tensor: Tensor, index: Any) -> Any:
        if not isinstance(index, int):
            raise Untranslatable(PYTHON, "an index of a shape that depends on sizes")
        known = None
        if tensor.sizes is not None and -len(tensor.sizes) <= index < len(tensor.sizes):
            known = tensor.sizes[index]
            if tensor.rank is not None and index < 0:
                index += tensor.rank
        return Scalar(f"{tensor.text}.size({index})", "int", known)

    # Calls

    def call_node(self, node: ast.Call, scope: dict[str, Any]) -> Any:
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            place = scope
            while "self of" not in place and "enclosing" in place:
                place = place["enclosing"]
            if "self of" not in place:
                raise Untranslatable(PYTHON, "super() outside of a method")
            return Super(*place["self of"])
        function = self.eval(node.func, scope)
        arguments: list[Any] = []
        for each in node.args:
            if isinstance(each, ast.Starred):
                arguments += self.listed(self.eval(each.value, scope))
            else:
                arguments.append(self.eval(each, scope))
        keywords: dict[str, Any] = {}
        for each in node.keywords:
            value = self.eval(each.value, scope)
            if each.arg is not None:
                keywords[each.arg] = value
            elif isinstance(value, dict):
                keywords |= {str(k): v for k, v in value.items()}
            else:
                raise Untranslatable(PYTHON, "keywords that are not known")
        return self.call(function, arguments, keywords)

    def call(self, function: Any, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        match function:
            case Function():
                return self.enter(function, arguments, keywords)
            case Method():
                return self.enter(function.function, [function.self, *arguments], keywords)
            case Class():
                return self.instantiate(function, arguments, keywords)
            case Library():
                return self.library(function.path, arguments, keywords)
            case Bound():
                return self.method(function, arguments, keywords)
            case Instance():
                method = self.of_instance(function, "forward")
                if isinstance(found := self.of_class(function.of, "__call__"), Function):
                    method = Method(found, function)
                return self.call(method, arguments, keywords)
            case Layer():
                raise Untranslatable(OPERATORS, f"nn.{function.kind}")
            case Opaque():
                if self.holds_tensor(arguments) or self.in_forward:
                    raise Untranslatable(_kind_of(function.what), function.what)
                return Opaque(function.what)
        raise Untranslatable(PYTHON, f"a call of {describe(function)}")

    def enter(self, function: Function, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise Untranslatable(PYTHON, "calls nest too deeply")
        parameters = function.node.args
        scope: dict[str, Any] = {"enclosing": function.scope}
        names = [p.arg for p in (*parameters.posonlyargs, *parameters.args)]
        defaults = dict(zip(reversed(names), reversed(parameters.defaults), strict=False))
        if len(arguments) > len(names) and parameters.vararg is None:
            raise Untranslatable(PYTHON, "more arguments than parameters")
        for name, value in zip(names, arguments, strict=False):
            scope[name] = value
        if parameters.vararg is not None:
            scope[parameters.vararg.arg] = Sequence(arguments[len(names) :])
        only = [p.arg for p in parameters.kwonlyargs]
        for name, default in zip(only, parameters.kw_defaults, strict=True):
            if default is not None:
                defaults[name] = default
        rest = {}
        for name, value in keywords.items():
            if name in names or name in only:
                scope[name] = value
            else:
                rest[name] = value
        if parameters.kwarg is not None:
            scope[parameters.kwarg.arg] = rest
        elif rest:
            raise Untranslatable(PYTHON, f"no parameter is called {next(iter(rest))}")
        for name in (*names, *only):
            if name not in scope:
                if name not in defaults:
                    raise Untranslatable(PYTHON, f"no value for the parameter {name}")
                scope[name] = self.eval(defaults[name], function.scope)
        if not self.in_forward and function.of is self.globals.get("ModelNew", self):
            for name in (*names, *only):
                scope[name] = self.renamed(name, scope[name])
        if function.of is not None and names:
            scope["self of"] = (scope[names[0]], function.of)
        try:
            if isinstance(function.node, ast.Lambda):
                return self.eval(function.node.body, scope)
            self.block(function.node.body, scope)
        except Returned as result:
            return result.value
        finally:
            self.depth -= 1
        return None

    def renamed(self, name: str, value: Any) -> Any:
        """A number that a parameter of the model gets is a size of the task with name and value."""
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return value
        return self.sized(name, value) if self.launch.defaults.get(name) == value else value

    def instantiate(self, of: Class, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        if not self.is_module(of) and self.in_forward and self.holds_tensor(arguments):
            raise Untranslatable(PYTHON, f"an object of {of.node.name}")
        made = Instance(of)
        initialise = self.of_class(of, "__init__")
        if isinstance(initialise, Function):
            self.enter(initialise, [made, *arguments], keywords)
        return made

    def is_module(self, of: Class) -> bool:
        return any(
            self.is_module(b) if isinstance(b, Class) else describe(b).endswith("Module")
            for b in of.bases
        )

    def holds_tensor(self, values: Any) -> bool:
        match values:
            case list():
                return any(self.holds_tensor(v) for v in values)
            case Sequence():
                return any(self.holds_tensor(v) for v in values.items)
            case dict():
                return any(self.holds_tensor(v) for v in values.values())
        return isinstance(values, (Tensor, Vector, Weight))

    def library(self, path: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        root, _, rest = path.partition(".")
        last = path.split(".")[-1]
        if root == "builtins":
            return self.builtin(rest, arguments, keywords)
        if "triton" in path:
            if self.in_forward:
                raise Untranslatable(TRITON, path)
            return Opaque(path)
        if last in _LOADERS and "cpp_extension" in path:
            return self.load(last, arguments, keywords)
        if root == "math":
            return self.mathematics(rest, arguments)
        if root in ("os", "tempfile", "pathlib", "hashlib", "shutil", "uuid", "time"):
            return self.system(path, arguments, keywords)
        if root == "cupy":
            return self.cupy(path, last, arguments, keywords)
        if root == "torch":
            return self.torch(path, last, arguments, keywords)
        if self.holds_tensor(arguments) or self.holds_tensor(keywords):
            raise Untranslatable(OPERATORS, path)
        return Opaque(path)

    def cupy(self, path: str, last: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        """CuPy's kernels: their source, and calls with grid, block and arguments."""
        code = arguments[0] if arguments else keywords.get("code")
        name = arguments[1] if len(arguments) > 1 else keywords.get("name")
        if last in ("RawKernel", "RawModule") and isinstance(code, str):
            made = Extension(code, "", [name] if isinstance(name, str) else None)
            self.extensions.append(made)
            return Bound(made, name) if last == "RawKernel" and isinstance(name, str) else made
        if last in ("asarray", "from_dlpack", "fromDlpack") and arguments:
            value = self.use(code) if isinstance(code, Weight) and self.in_forward else code
            if isinstance(value, Tensor):
                return Pointer(value)
        return Opaque(path)

    def torch(self, path: str, last: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        if path == "torch.cuda.is_available":
            return True
        if path in ("torch.is_grad_enabled", "torch.is_autocast_enabled"):
            return False
        if path == "torch.is_tensor":
            return isinstance(arguments[0], (Tensor, Weight)) if arguments else False
        if path.startswith("torch.nn.Module."):
            return None
        if path == "torch.Size" and arguments:
            return Sequence(self.listed(arguments[0]))
        if path in ("torch.nn.Parameter", "torch.nn.parameter.Parameter"):
            return self.parameter(arguments[0] if arguments else keywords.get("data"))
        if path.startswith("torch.nn.") and last[:1].isupper() and ".functional." not in path:
            return self.layer(last, arguments, keywords)
        if path in ("torch.numel",) and arguments:
            return self.call(self.attribute(arguments[0], "numel"), [], {})
        if path == "torch.cuda.get_device_properties":
            return Opaque("the device's properties")
        if path == "torch.cuda.get_device_capability":
            of = "at::cuda::getCurrentDeviceProperties()"
            return Sequence([Scalar(f"{of}->major", "int"), Scalar(f"{of}->minor", "int")])
        if path in ("torch.Tensor", "torch.FloatTensor", "torch.cuda.FloatTensor", "torch.tensor"):
            lone = arguments[0] if arguments else None
            if not arguments or (isinstance(lone, Sequence) and not lone.items):
                return self.keep("at::empty(std::vector<int64_t>{0})", 1, (0,), "float32")
            if last != "tensor" and not self.in_forward:
                return Fresh(self.shape_of(arguments, {}), path)
        if path in [f"torch.{n}" for n in _CREATE]:
            return self.create(last, arguments, keywords)
        if path in [f"torch.{n}" for n in _CREATE_LIKE] and arguments:
            return self.create_like(last, arguments, keywords)
        if path == "torch.cuda.synchronize" or path.startswith("torch.cuda.nvtx"):
            return None
        if last in ("transpose", "permute", "reshape", "flatten", "squeeze", "unsqueeze", "clone",
                    "numel", "t") and path == f"torch.{last}" and arguments:  # fmt: skip
            return self.call(self.attribute(arguments[0], last), arguments[1:], keywords)
        if path.startswith(("torch.cuda.Stream", "torch.cuda.CUDAGraph", "torch.cuda.Event")):
            return Opaque(path)
        if self.holds_tensor(arguments) or self.holds_tensor(keywords):
            if not self.in_forward:
                return Opaque(f"{path} in __init__")
            raise Untranslatable(OPERATORS, path)
        if path in ("torch.tensor", "torch.arange", "torch.eye", "torch.linspace", "torch.from_numpy"):
            if self.in_forward:
                raise Untranslatable(OPERATORS, path)
            return Fresh(None, path)
        return Opaque(path)

    def load(self, how: str, arguments: list[Any], keywords: dict[str, Any]) -> Extension:
        """What load_inline() or load() makes. Nothing is compiled here."""
        names = ("name", "cpp_sources", "cuda_sources", "functions")
        if how == "load":
            names = ("name", "sources")
        given = dict(zip(names, arguments, strict=False)) | keywords
        if how == "load":
            texts = []
            for source in self.source_list(given.get("sources")):
                if not isinstance(source, str) or source not in self.files:
                    raise Untranslatable(NO_EXTENSION, "load() of a file that it does not write")
                texts.append(self.files[source])
            if not texts:
                raise Untranslatable(NO_EXTENSION, "load() without sources")
            made = Extension("\n".join(texts), "", None)
        else:
            pieces = []
            for key in ("cuda_sources", "cpp_sources"):
                sources = self.source_list(given.get(key))
                if not all(isinstance(s, str) for s in sources):
                    raise Untranslatable(NO_EXTENSION, "its source is put together while it runs")
                pieces.append("\n".join(sources))
            functions = given.get("functions")
            if isinstance(functions, str):
                functions = Sequence([functions])
            listed = None
            if isinstance(functions, (Sequence, dict)):
                listed = [f for f in self.listed(functions) if isinstance(f, str)]
            made = Extension(pieces[0], pieces[1], listed)
        self.extensions.append(made)
        return made

    def source_list(self, value: Any) -> list[Any]:
        if value is None:
            return []
        return self.listed(value) if isinstance(value, Sequence) else [value]

    def system(self, path: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        """Paths are texts; nothing is looked up."""
        if path == "os.path.join" and all(isinstance(a, str) for a in arguments):
            return "/".join(arguments)
        if path in ("os.path.dirname", "os.path.abspath", "os.path.realpath", "os.path.expanduser"):
            return arguments[0] if arguments and isinstance(arguments[0], str) else "folder"
        if path in ("os.getpid", "time.time", "time.perf_counter", "os.cpu_count"):
            if self.in_forward and path.startswith("time"):
                raise Untranslatable(AUTOTUNING, path)
            return Opaque(path)
        if path in ("tempfile.mkdtemp", "tempfile.gettempdir", "os.getcwd"):
            self.names += 1
            return f"folder{self.names}"
        if path == "tempfile.TemporaryDirectory":
            self.names += 1
            return f"folder{self.names}"
        if path == "tempfile.NamedTemporaryFile":
            self.names += 1
            return File(f"file{self.names}")
        return Opaque(path)

    def mathematics(self, name: str, arguments: list[Any]) -> Any:
        if name in ("inf", "pi", "e"):
            return getattr(math, name)
        function = getattr(math, name, None)
        if function is None or name in ("factorial", "comb", "perm"):
            raise Untranslatable(PYTHON, f"math.{name}")
        if all(isinstance(a, (int, float)) for a in arguments):
            try:
                return self.limited(function(*arguments))
            except (TypeError, ValueError, ArithmeticError) as e:
                raise Raised(str(e)) from None
        scalars = [self.scalar(a) for a in arguments]
        if None in scalars:
            return Opaque(f"math.{name}")
        known = None
        if all(x.value is not None for x in scalars):
            try:
                known = function(*(x.value for x in scalars))
            except (TypeError, ValueError, ArithmeticError) as e:
                raise Raised(str(e)) from None
        text = ", ".join(x.text for x in scalars)
        if name in ("ceil", "floor"):
            return Scalar(f"static_cast<int64_t>(std::{name}({text}))", "int", known)
        if name in ("sqrt", "log", "log2", "exp", "pow", "tanh", "fabs"):
            return Scalar(f"std::{name}({text})", "float", known)
        return Opaque(f"math.{name}")

    def builtin(self, name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        first = arguments[0] if arguments else None
        match name:
            case "print" | "setattr" | "warn":
                if name == "setattr" and len(arguments) == 3 and isinstance(arguments[1], str):
                    self.set_attribute(first, arguments[1], arguments[2])
                return None
            case "len":
                return self.length(first)
            case "range":
                if not all(isinstance(a, int) for a in arguments):
                    raise Untranslatable(PYTHON, "a loop whose end depends on sizes")
                numbers = range(*arguments)
                if len(numbers) > MOST_ITEMS:
                    raise Untranslatable(PYTHON, "a long loop")
                return Sequence(list(numbers), True)
            case "int" | "float" | "bool":
                return self.convert(name, first)
            case "str" | "repr":
                return str(first) if isinstance(first, CONSTANTS) else Opaque("a text")
            case "min" | "max":
                items = self.listed(first) if len(arguments) == 1 else arguments
                return self.extreme(name, items)
            case "abs" | "round" | "sum" if name != "sum" and isinstance(first, (int, float)):
                return abs(first) if name == "abs" else round(first)
            case "tuple" | "list":
                items = [] if first is None else list(self.listed(first))
                return Sequence(items, name == "list")
            case "dict":
                return dict(keywords) if first is None else Opaque("a dictionary")
            case "enumerate":
                pairs = enumerate(self.listed(first))
                return Sequence([Sequence([i, v]) for i, v in pairs], True)
            case "zip":
                rows = zip(*(self.listed(a) for a in arguments), strict=False)
                return Sequence([Sequence(list(row)) for row in rows], True)
            case "isinstance":
                return self.is_instance(*arguments[:2])
            case "hasattr":
                return self.has_attribute(first, arguments[1] if len(arguments) > 1 else None)
            case "getattr":
                has = self.has_attribute(*arguments[:2]) if len(arguments) > 2 else True
                if has is True and isinstance(arguments[1], str):
                    return self.attribute(first, arguments[1])
                return arguments[2] if has is False else Opaque("getattr")
            case "delattr":
                if isinstance(first, Instance) and isinstance(arguments[1], str):
                    first.attributes.pop(arguments[1], None)
                return None
            case "callable":
                return isinstance(first, (Function, Method, Bound, Class))
            case "open":
                mode = arguments[1] if len(arguments) > 1 else keywords.get("mode", "r")
                if isinstance(first, str) and isinstance(mode, str) and "w" in mode:
                    return File(first)
                return Opaque("a file")
            case "super" | "id" | "type" | "hash":
                return Opaque(name)
        if self.holds_tensor(arguments):
            raise Untranslatable(PYTHON, f"{name}() of a tensor")
        if name in ("exec", "eval", "compile", "__import__"):
            raise Untranslatable(PYTHON, f"{name}()")
        return Opaque(f"{name}()")

    def length(self, value: Any) -> Any:
        match value:
            case str():
                return len(value)
            case Shape():
                return Scalar(f"{value.tensor.text}.dim()", "int")
            case Tensor():
                return self.size_of(value, 0)
        return len(self.listed(value))

    def convert(self, name: str, value: Any) -> Any:
        if isinstance(value, CONSTANTS):
            try:
                return {"int": int, "float": float, "bool": bool}[name](value)
            except (TypeError, ValueError, OverflowError):
                raise Raised("ValueError") from None
        if isinstance(value, Scalar):
            cast = {"int": "int64_t", "float": "double", "bool": "bool"}[name]
            known = value.value
            if known is not None:
                known = {"int": int, "float": float, "bool": bool}[name](known)
            return Scalar(f"static_cast<{cast}>({value.text})", name, known)
        if isinstance(value, (Tensor, Weight)):
            raise Untranslatable(OPERATORS, f"{name}() of a tensor")
        return Opaque(describe(value))

    def extreme(self, name: str, items: list[Any]) -> Any:
        if items and all(isinstance(i, (int, float)) for i in items):
            return min(items) if name == "min" else max(items)
        scalars = [self.scalar(i) for i in items]
        if not scalars or None in scalars:
            return Opaque(name)
        kind = "float" if any(x.kind == "float" for x in scalars) else "int"
        cast = "double" if kind == "float" else "int64_t"
        known = None
        if all(x.value is not None for x in scalars):
            known = (min if name == "min" else max)(x.value for x in scalars)
        text = scalars[0].text
        for x in scalars[1:]:
            text = f"std::{name}<{cast}>({text}, {x.text})"
        return Scalar(text, kind, known)

    def is_instance(self, value: Any, of: Any) -> Any:
        wanted = [describe(v) for v in (of.items if isinstance(of, Sequence) else [of])]
        if isinstance(value, (Tensor, Weight, Fresh)):
            return any(w.endswith(("Tensor", "Parameter")) for w in wanted)
        if isinstance(value, Sequence):
            return f"builtins.{'list' if value.is_list else 'tuple'}" in wanted
        if isinstance(value, (bool, int, float, str)):
            return f"builtins.{type(value).__name__}" in wanted
        if isinstance(value, Scalar):
            return f"builtins.{value.kind}" in wanted
        return Opaque("isinstance()")

    def has_attribute(self, owner: Any, name: Any) -> Any:
        if not isinstance(name, str):
            return Opaque("hasattr()")
        match owner:
            case Instance():
                known = name in owner.attributes or self.of_class(owner.of, name) is not _NOTHING
                return known or name in ("training",)
            case Class():
                return self.of_class(owner, name) is not _NOTHING
            case Extension():
                return owner.functions is None or name in owner.functions
            case None:
                return False
        if isinstance(owner, Library) and f"{owner.path}.{name}" in _EXISTING:
            return True
        if isinstance(owner, Opaque) and owner.what == "the device's properties":
            return True
        return Opaque("hasattr()")

    # Weights and tensors

    def parameter(self, value: Any) -> Any:
        match value:
            case Fresh():
                return Weight(value.shape, value=value.value, parameter=True)
            case Weight():
                return value
            case Opaque():
                return value
        return Opaque("a parameter made of something else")

    def layer(self, kind: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        made = Layer(kind, arguments, keywords)
        shapes = _layer_shapes(self, made)
        for name, shape in shapes.items():
            value = {"running_mean": 0, "running_var": 1}.get(name)
            made.weights[name] = None if shape is None else Weight(shape, value=value)
        return made

    def use(self, weight: Weight) -> Tensor:
        """A weight as a tensor of launch(), after what __init__ does to it."""
        root = weight.base or weight
        if weight.base is not None and root.steps:
            raise Untranslatable(DERIVED, "one is computed from another that changes")
        made = self.use_as_it_is(root)
        for sign, number in weight.steps:
            if made.dtype != "float32":
                raise Untranslatable(DERIVED, "__init__ computes with whole numbers")
            code = f"kb::torch_names::compute({made.text}, '{sign}', {number.text})"
            made = self.keep(code, made.rank, made.sizes, made.dtype)
        return made

    def use_as_it_is(self, weight: Weight) -> Tensor:
        if weight.changed is not None:
            raise Untranslatable(DERIVED, weight.changed)
        if weight.path is None:
            raise Untranslatable(DERIVED, "one is no attribute of the model")
        path = self.upstream_name(weight)
        # What upstream's model does not have keeps its first value; the judge sets all others.
        constant = weight.value is not None and not (weight.parameter and self.launch.of("weight"))
        if path is None and constant and weight.shape is not None:
            sizes = self.shape_text(weight.shape)
            return self.keep(f"at::full({sizes}, {self.number(weight.value)})", len(weight.shape),
                             None, "float32")  # fmt: skip
        if path is None:
            have = ", ".join(a.state or "" for a in self.launch.of("weight")) or "none"
            raise Untranslatable(DERIVED, f"{weight.path} is not among those of the task ({have})")
        if self.launch.by_name:
            code = f'kb::torch_names::weight(kb_weights, "{path}")'
        else:
            place = [a.state for a in self.launch.of("weight")].index(path)
            argument = self.launch.of("weight")[place]
            if argument.shape is None and weight.shape is None:
                raise Untranslatable(DERIVED, f"the shape of {path} is not known")
            shape = f"kb_weight_shape{place}(s)" if argument.shape else self.shape_text(weight.shape)
            code = f"kb::torch_names::tensor(kb_weight{place}, {shape})"
            if None not in (argument.rank, weight.shape) and argument.rank != len(weight.shape):
                raise Untranslatable(DERIVED, f"{path} has another number of dimensions")
        self.weights[path] = code
        sizes = None
        if weight.shape is not None:
            sizes = tuple(x.value if isinstance(x, Scalar) else x for x in weight.shape)
        rank = len(sizes) if sizes is not None else None
        return Tensor(_variable(path), rank, sizes, "float32", dense=True)

    def constant(self, value: Fresh) -> Tensor:
        """A tensor of __init__ whose elements are all the same."""
        if value.value is None or value.shape is None:
            raise Untranslatable(DERIVED, f"a tensor that __init__ makes with {value.made_by}")
        code = f"at::full({self.shape_text(value.shape)}, {self.number(value.value)})"
        return self.keep(code, len(value.shape), None, "float32")

    def upstream_name(self, weight: Weight) -> str | None:
        """The state_dict's name of a weight in the task.

        KernelBench gives both models the same weights by drawing them from the same seed, so where a
        source has as many as the task, with the same last parts of their names, their order counts.
        """
        names = [a.state for a in self.launch.of("weight")]
        if self.launch.by_name or weight.path in names:
            return weight.path
        drawn = [w for w in self.registered if w.value is None or w.parameter]
        if len(drawn) != len(names) or weight not in drawn:
            return None
        drawn_ends = [w.path.split(".")[-1] for w in drawn]
        if drawn_ends != [n.split(".")[-1] for n in names]:
            return None
        path = names[next(i for i, w in enumerate(drawn) if w is weight)]
        note = f"{weight.path} is upstream's {path}, by their order"
        if note not in self.notes:
            self.notes.append(note)
        return path

    def shape_text(self, shape: list[Any]) -> str:
        texts = []
        for each in shape:
            scalar = self.scalar(each)
            if scalar is None or scalar.kind == "float":
                raise Untranslatable(PYTHON, "a shape that is not known")
            texts.append(scalar.text)
        return f"std::vector<int64_t>{{{', '.join(texts)}}}"

    def shape_of(self, arguments: list[Any], keywords: dict[str, Any]) -> list[Any] | None:
        if "size" in keywords:
            arguments = [keywords["size"]]
        if len(arguments) == 1 and isinstance(arguments[0], (Sequence, Shape)):
            if isinstance(arguments[0], Shape) and arguments[0].tensor.rank is None:
                return None
            return self.listed(arguments[0])
        if all(self.scalar(a) for a in arguments):
            return arguments
        return None

    def create(self, name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        filled = None
        if name == "full":
            filled = keywords.get("fill_value", arguments[1] if len(arguments) > 1 else None)
            arguments = arguments[:1]
        shape = self.shape_of(arguments, keywords)
        if not self.in_forward:
            value = {"zeros": 0, "ones": 1, "full": filled}.get(name)
            return Fresh(shape, f"torch.{name}", value)
        if name not in _NEW:
            raise Untranslatable(OPERATORS, f"torch.{name}")
        lone = arguments[0] if len(arguments) == 1 else None
        if shape is None and isinstance(lone, Shape):
            sizes = f"{lone.tensor.text}.sizes()"
        elif shape is None:
            raise Untranslatable(PYTHON, "a shape that is not known")
        else:
            sizes = self.shape_text(shape)
        value = f", {self.number(filled)}" if name == "full" else ""
        code = f"at::{name}({sizes}{value}, {self.type_text(keywords)})"
        known = None
        if shape is not None:
            known = tuple(x.value if isinstance(x, Scalar) else x for x in shape)
        kind = describe(keywords["dtype"]).removeprefix("torch.") if "dtype" in keywords else "float32"
        return self.keep(code, len(shape) if shape is not None else None, known,
                         kind if kind in _TYPES else None)  # fmt: skip

    def create_like(self, name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        like = arguments[0]
        if isinstance(like, Weight) and self.in_forward:
            like = self.use(like)
        if not isinstance(like, Tensor):
            if isinstance(like, (Fresh, Weight)):
                value = {"zeros_like": 0, "ones_like": 1}.get(name)
                return Fresh(like.shape, f"torch.{name}", value)
            return Opaque(f"torch.{name}")
        self.layout(keywords)
        value = f", {self.number(arguments[1])}" if name == "full_like" and len(arguments) > 1 else ""
        code = f"at::{name}({like.text}{value})"
        if "dtype" in keywords and name in ("empty_like", "zeros_like"):
            code = f"at::{name}({like.text}, {self.type_text(keywords)})"
        return self.keep(code, like.rank, like.sizes, None if "dtype" in keywords else like.dtype)

    def number(self, value: Any) -> str:
        scalar = self.scalar(value)
        if scalar is None:
            raise Untranslatable(PYTHON, "a number that is not known")
        return scalar.text

    def type_text(self, keywords: dict[str, Any]) -> str:
        self.layout(keywords)
        kind = keywords.get("dtype")
        if kind is None:
            return "at::kFloat"
        if isinstance(kind, Scalar) and kind.kind == "type":
            return kind.text
        found = _TYPES.get(describe(kind).removeprefix("torch."))
        if found is None:
            raise Untranslatable(PYTHON, f"the element type {describe(kind)}")
        return found

    def layout(self, keywords: dict[str, Any]) -> None:
        if "channels_last" in describe(keywords.get("memory_format")):
            raise Untranslatable(LAYOUT)
        if describe(keywords.get("device")) == "cpu" or keywords.get("device") == "cpu":
            raise Untranslatable(OPERATORS, "tensors in the host's memory")

    def keep(
        self,
        code: str,
        rank: int | None,
        sizes: tuple[Any, ...] | None = None,
        dtype: str | None = None,
        dense: bool = True,
    ) -> Tensor:
        """A new variable for a tensor."""
        name = f"kb_t{self.names}"
        self.names += 1
        self.statements.append(f"const at::Tensor {name} = {code};")
        return Tensor(name, rank, sizes, dtype, dense)

    def view(self, x: Tensor, name: str, arguments: list[Any]) -> Tensor:
        code = f"{x.text}.{name}({', '.join(map(self.number, arguments))})"
        return self.keep(code, x.rank, None, x.dtype, dense=x.dense and name == "unsqueeze")

    # Methods of tensors, files, extensions, texts

    def method(self, bound: Bound, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        owner, name = bound.value, bound.name
        match owner:
            case Extension():
                return self.extension(owner, name, arguments, keywords)
            case Weight() if self.in_forward:
                return self.tensor_method(self.use(owner), name, arguments, keywords)
            case Weight():
                return self.weight_method(owner, name, arguments, keywords)
            case Tensor():
                return self.tensor_method(owner, name, arguments, keywords)
            case Fresh() if self.in_forward and owner.value is not None:
                return self.tensor_method(self.constant(owner), name, arguments, keywords)
            case Fresh():
                if name in ("size", "dim", "numel"):
                    return self.fresh_size(owner, name, arguments)
                same = name in (*_SAME, "fill_", "uniform_", "normal_", "zero_")
                return owner if same else Opaque(f"{owner.made_by}().{name}()")
            case Instance():
                return self.module_method(owner, name, arguments)
            case Layer():
                if name in ("to", "cuda", "float", "eval", "train", "requires_grad_", "contiguous"):
                    self.layout(keywords)
                    return owner
                return Opaque(f"nn.{owner.kind}.{name}")
            case File():
                if name == "write" and arguments:
                    content = arguments[0]
                    if isinstance(content, str):
                        self.files[owner.path] = self.files.get(owner.path, "") + content
                    return None
                return owner.path if name == "name" else None
            case str():
                return self.text_method(owner, name, arguments, keywords)
            case dict():
                if name == "get" and arguments and isinstance(arguments[0], CONSTANTS):
                    return owner.get(arguments[0], arguments[1] if len(arguments) > 1 else None)
                if name in ("items", "values", "keys"):
                    rows = [Sequence([k, v]) for k, v in owner.items()]
                    part = {"items": rows, "values": list(owner.values()), "keys": list(owner)}
                    return Sequence(part[name], True)
                return Opaque("a dictionary")
            case Sequence():
                if name == "append" and len(owner.items) < MOST_ITEMS:
                    owner.items.append(arguments[0])
                    return None
                if name == "numel":
                    return self.product(owner.items)
            case Shape():
                if name == "numel":
                    return Scalar(f"{owner.tensor.text}.numel()", "int")
            case Vector():
                raise Untranslatable(OPERATORS, f"{name}() of several tensors")
            case Scalar():
                if name == "item":
                    return owner
        if self.holds_tensor(arguments) and self.in_forward:
            what = describe(bound)
            raise Untranslatable(_kind_of(what), what)
        return Opaque(describe(bound))

    def product(self, items: list[Any]) -> Any:
        result: Any = 1
        for each in items:
            result = self.binary(ast.Mult, result, each) if result != 1 else each
        return result

    def fresh_size(self, owner: Fresh, name: str, arguments: list[Any]) -> Any:
        if owner.shape is None:
            return Opaque(owner.made_by)
        if name == "dim":
            return len(owner.shape)
        if name == "numel":
            return self.product(owner.shape)
        return self.item(Sequence(owner.shape), arguments[0]) if arguments else Sequence(owner.shape)

    def weight_method(self, owner: Weight, name: str, arguments: list[Any], keywords: dict) -> Any:
        """A weight in __init__: what changes its values is no concern, the judge sets them."""
        self.layout(keywords)
        if owner.shape is not None and name in ("size", "dim", "numel"):
            return self.fresh_size(Fresh(owner.shape, "a weight"), name, arguments)
        if name in ("uniform_", "normal_", "fill_", "zero_", "requires_grad_", "cuda", "to", "float",
                    "contiguous", "clone", "detach"):  # fmt: skip
            return owner
        signs = {"mul_": "*", "div_": "/", "add_": "+", "sub_": "-"}
        number = self.scalar(arguments[0]) if len(arguments) == 1 and not keywords else None
        if name in signs and number is not None:
            owner.steps.append((signs[name], number))
            return owner
        if name.removesuffix("_") in ("mul", "div", "add", "sub") and number is not None:
            return self.binary(
                {"mul": ast.Mult, "div": ast.Div, "add": ast.Add, "sub": ast.Sub}[name], owner, arguments[0]
            )
        if name.endswith("_"):
            owner.changed = f"__init__ changes its values with {name}()"
            return owner
        return Opaque(f"a weight's {name}() in __init__")

    def module_method(self, owner: Instance, name: str, arguments: list[Any]) -> Any:
        if name in ("register_buffer", "register_parameter") and len(arguments) >= 2:
            value = arguments[1]
            if isinstance(value, Fresh):
                value = Weight(value.shape, value=value.value)
            if isinstance(arguments[0], str):
                self.set_attribute(owner, arguments[0], value)
            return None
        if name in ("to", "cuda", "eval", "train", "float", "requires_grad_"):
            return owner
        if name == "add_module" and len(arguments) == 2 and isinstance(arguments[0], str):
            self.set_attribute(owner, arguments[0], arguments[1])
            return None
        if name in ("save_for_backward", "mark_non_differentiable", "set_materialize_grads"):
            return None
        if name in ("parameters", "modules", "children", "named_parameters", "named_modules"):
            if self.in_forward:
                raise Untranslatable(PYTHON, f"{name}() in forward")
            return Sequence([], True)  # they are there to draw weights, which the judge sets
        if name == "apply" and self.in_forward:
            raise Untranslatable(PYTHON, "apply() of a model")
        return Opaque(f"{owner.of.node.name}.{name}()")

    def text_method(self, owner: str, name: str, arguments: list[Any], keywords: dict) -> Any:
        if name in ("replace", "strip", "lower", "upper", "startswith", "endswith", "split", "encode",
                    "rstrip", "lstrip") and all(isinstance(a, CONSTANTS) for a in arguments):  # fmt: skip
            if name == "encode":
                return owner
            try:
                result = getattr(owner, name)(*arguments)
            except (TypeError, ValueError):
                raise Raised("ValueError") from None
            return Sequence(result, True) if isinstance(result, list) else self.limited(result)
        if name == "join" and arguments and isinstance(arguments[0], Sequence):
            if all(isinstance(i, str) for i in arguments[0].items):
                return self.limited(owner.join(arguments[0].items))
        return Opaque("a text that is put together")

    def tensor_method(self, x: Tensor, name: str, arguments: list[Any], keywords: dict) -> Any:
        self.layout(keywords)
        for each in arguments:
            self.layout({"memory_format": each})
        match name:
            case "size":
                if not arguments and "dim" not in keywords:
                    return self.of_tensor(x, "shape")
                return self.size_of(x, arguments[0] if arguments else keywords["dim"])
            case "dim" | "ndimension":
                return x.rank if x.rank is not None else Scalar(f"{x.text}.dim()", "int")
            case "numel" | "nelement":
                known = None
                if x.sizes is not None and all(isinstance(v, int) for v in x.sizes):
                    known = math.prod(x.sizes)
                return Scalar(f"{x.text}.numel()", "int", known)
            case "stride":
                return Scalar(f"{x.text}.stride({self.number(arguments[0])})", "int")
            case "is_contiguous":
                return True if x.dense else Scalar(f"{x.text}.is_contiguous()", "bool", True)
            case "data_ptr":
                return Pointer(x)
            case "element_size":
                return Scalar(f"{x.text}.element_size()", "int")
            case "is_floating_point":
                return Scalar(f"{x.text}.is_floating_point()", "bool")
            case "get_device":
                return 0
            case "contiguous":
                if x.dense:
                    return x
                return self.keep(f"{x.text}.contiguous()", x.rank, x.sizes, x.dtype)
            case "clone":
                return self.keep(f"{x.text}.clone()", x.rank, x.sizes, x.dtype)
            case "cuda" | "detach" | "requires_grad_":
                return x
            case "float" | "double" | "half" | "int" | "long" | "bool":
                return self.to_type(x, name)
            case "to" | "type":
                return self.convert_tensor(x, arguments, keywords)
            case "view" | "reshape":
                return self.reshape(x, name, arguments)
            case "view_as" | "reshape_as" if arguments and isinstance(arguments[0], (Tensor, Weight)):
                other = arguments[0] if isinstance(arguments[0], Tensor) else self.use(arguments[0])
                return self.keep(f"{x.text}.view({other.text}.sizes())", other.rank, other.sizes,
                                 x.dtype)  # fmt: skip
            case "flatten":
                code = f"{x.text}.flatten({', '.join(map(self.number, arguments))})"
                return self.keep(code, None, None, x.dtype)
            case "permute":
                items = self.shape_of(arguments, {}) or []
                code = f"{x.text}.permute({self.shape_text(items)})"
                return self.keep(code, x.rank, None, x.dtype, dense=False)
            case "transpose" | "t":
                return self.view(x, name, arguments)
            case "squeeze" | "unsqueeze":
                made = self.view(x, name, arguments)
                step = 1 if name == "unsqueeze" else -1
                made.rank = x.rank + 1 if x.rank is not None and step == 1 else None
                return made
            case "zero_" | "fill_" if x.text.startswith("kb_t"):
                values = ", ".join(map(self.number, arguments))
                self.statements.append(f"{x.text}.{name}({values});")
                return x
        raise Untranslatable(OPERATORS, f"Tensor.{name}")

    def convert_tensor(self, x: Tensor, arguments: list[Any], keywords: dict[str, Any]) -> Tensor:
        for each in (*arguments, keywords.get("dtype")):
            what = describe(each).removeprefix("torch.")
            if what in _TYPES:
                return self.to_type(x, what)
            if isinstance(each, Scalar) and each.kind == "type":
                return self.keep(f"{x.text}.to({each.text})", x.rank, x.sizes, None, x.dense)
            if isinstance(each, str) and not each.startswith("cuda"):
                raise Untranslatable(OPERATORS, f"to('{each}')")
        return x

    def to_type(self, x: Tensor, name: str) -> Tensor:
        """x with elements of another type, which only a tensor of that type can be."""
        if x.dtype is not None and _TYPES.get(x.dtype) == _TYPES[name]:
            return x
        if x.dtype is not None:
            raise Untranslatable(OPERATORS, f"Tensor.to({name})")
        return self.keep(f"{x.text}.to({_TYPES[name]})", x.rank, x.sizes, name, x.dense)

    def reshape(self, x: Tensor, name: str, arguments: list[Any]) -> Tensor:
        if len(arguments) == 1 and isinstance(arguments[0], Shape) and arguments[0].tensor.rank is None:
            return self.keep(f"{x.text}.{name}({arguments[0].tensor.text}.sizes())", None, None,
                             x.dtype)  # fmt: skip
        shape = self.shape_of(arguments, {})
        if shape is None:
            raise Untranslatable(PYTHON, f"{name}() to a shape that is not known")
        known = tuple(v.value if isinstance(v, Scalar) else v for v in shape)
        if -1 in known:
            known = None
        code = f"{x.text}.{name}({self.shape_text(shape)})"
        return self.keep(code, len(shape), known, x.dtype)

    def extension(self, owner: Extension, name: str, arguments: list[Any], keywords: dict) -> Any:
        """A call of the extension becomes one of C++."""
        if name == "get_function" and len(arguments) == 1 and isinstance(arguments[0], str):
            return Bound(owner, arguments[0])  # of CuPy's module
        found = self.signatures(owner).get(name)
        if found is None:
            raise Untranslatable(BINDING, f"'{name}', which its source does not define")
        if found.is_kernel:
            return self.kernel(found, name, arguments, keywords)
        if keywords:
            raise Untranslatable(BINDING, f"'{name}' with names of arguments")
        if not self.in_forward:
            return Opaque(f"a call of {name}() in __init__")
        texts = [self.argument(a) for a in arguments]
        call = f"::{found.function}({', '.join(texts)})"
        self.called.add(name)
        returned = found.returns
        if returned == "void":
            self.statements.append(f"{call};")
            return None
        variable = f"kb_t{self.names}"
        self.names += 1
        if returned in ("torch::Tensor", "at::Tensor", "Tensor"):
            self.statements.append(f"const at::Tensor {variable} = {call};")
            return Tensor(variable)
        self.statements.append(f"const auto {variable} = {call};")
        if "vector" in returned or "tuple" in returned or "pair" in returned:
            return Vector(variable, "vector" not in returned)
        if returned in ("int", "int64_t", "bool", "float", "double"):
            kind = {"bool": "bool", "float": "float", "double": "float"}.get(returned, "int")
            return Scalar(variable, kind)
        raise Untranslatable(BINDING, f"'{name}', which returns {returned}")

    def kernel(self, found: Any, name: str, arguments: list[Any], keywords: dict) -> None:
        """A launch that names grid, block and arguments, as CuPy and PyCUDA write it.

        load_inline() binds no __global__ function, but such a call leaves nothing open.
        """
        given = dict(keywords)
        grid = given.pop("grid", given.pop("blocks", None))
        block = given.pop("block", given.pop("threads", None))
        shared: Any = 0
        for key in ("shared_mem", "shared", "smem", "shared_memory", "shared_mem_bytes"):
            shared = given.pop(key, shared)
        given.pop("stream", None)
        if "args" in given:
            rest = self.listed(given.pop("args"))
        elif grid is None and len(arguments) in (3, 4) and isinstance(arguments[-1], Sequence):
            grid, block, *more, last = arguments  # grid, block, [bytes,] arguments
            shared, rest, arguments = (more[0] if more else 0), last.items, []
        else:
            rest, arguments = arguments, []
        if grid is None or block is None or given or arguments:
            raise Untranslatable(BINDING, f"'{name}', which is a __global__ function")
        if len(rest) != len(found.parameters):
            raise Untranslatable(BINDING, f"'{name}' with {len(rest)} arguments")
        if not self.in_forward:
            return
        values = [f"static_cast<{of}>({self.kernel_argument(v, of)})"
                  for v, of in zip(rest, found.parameters, strict=True)]  # fmt: skip
        where = f"{self.extent(grid)}, {self.extent(block)}, {self.number(shared)}"
        stream = "kb::torch_names::stream()"
        self.statements.append(f"::{found.function}<<<{where}, {stream}>>>({', '.join(values)});")
        self.called.add(name)
        note = f"launches {name}(), which load_inline() does not bind"
        if note not in self.notes:
            self.notes.append(note)

    def extent(self, value: Any) -> str:
        items = value.items if isinstance(value, Sequence) else [value]
        if not 1 <= len(items) <= 3:
            raise Untranslatable(BINDING, "a grid or block that is not known")
        parts = [f"static_cast<unsigned>({self.number(i)})" for i in items]
        return f"dim3({', '.join(parts)})"

    def kernel_argument(self, value: Any, of: str) -> str:
        if isinstance(value, Weight):
            value = self.use(value)
        if isinstance(value, Pointer):
            value = value.tensor
        if value is None and "*" in of:
            return "nullptr"
        if isinstance(value, Tensor) and "*" in of:
            return f"{value.text}.data_ptr()"
        if "*" in of or isinstance(value, Tensor):
            raise Untranslatable(BINDING, f"an argument of type {of}")
        return self.argument(value)

    def argument(self, value: Any) -> str:
        match value:
            case Weight():
                return self.use(value).text
            case Tensor():
                return value.text
            case None:
                return "{}"
            case str():
                return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
            case Sequence():
                if value.items and all(isinstance(v, (Tensor, Weight)) for v in value.items):
                    return f"std::vector<at::Tensor>{{{', '.join(map(self.argument, value.items))}}}"
                return self.shape_text(value.items)
            case Shape():
                return f"{value.tensor.text}.sizes().vec()"
            case Fresh():
                return self.constant(value).text
            case Pointer():
                raise Untranslatable(BINDING, "a function with data_ptr() of tensors")
            case Opaque() | Library():
                what = describe(value)
                if "weight" in what or "in __init__" in what or "copy" in what:
                    raise Untranslatable(DERIVED, what)
                raise Untranslatable(PYTHON, f"an argument that depends on {what}")
            case Vector():
                return value.text
        scalar = self.scalar(value)
        if scalar is None:
            raise Untranslatable(PYTHON, f"an argument that is {describe(value)}")
        return scalar.text


class _ClassScope(dict):
    """Names of a class body, which sees those around it."""

    def __init__(self, scope: dict[str, Any]):
        super().__init__()
        self.around = scope

    def __missing__(self, key: str) -> Any:
        return self.around[key]

    def __contains__(self, key: object) -> bool:
        return dict.__contains__(self, key) or key in self.around


_CONV = ("in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation", "groups",
         "bias")  # fmt: skip
_CONV_TRANSPOSED = ("in_channels", "out_channels", "kernel_size", "stride", "padding",
                    "output_padding", "groups", "bias", "dilation")  # fmt: skip
_PARAMETERS = {
    **{f"Conv{n}d": _CONV for n in (1, 2, 3)},
    **{f"ConvTranspose{n}d": _CONV_TRANSPOSED for n in (1, 2, 3)},
    "Linear": ("in_features", "out_features", "bias"),
    **{f"BatchNorm{n}d": ("num_features", "eps", "momentum", "affine") for n in (1, 2, 3)},
    **{f"InstanceNorm{n}d": ("num_features", "eps", "momentum", "affine") for n in (1, 2, 3)},
    "GroupNorm": ("num_groups", "num_channels", "eps", "affine"),
    "LayerNorm": ("normalized_shape", "eps", "elementwise_affine", "bias"),
}
_DEFAULTS = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1, "output_padding": 0, "eps": 1e-5,
             "momentum": 0.1}  # fmt: skip


def _layer_shapes(f: Follower, made: Layer) -> dict[str, list[Any] | None]:
    """Weights of a layer and their shapes; a None is an attribute that is None."""

    def given(name: str, default: Any = None) -> Any:
        names = _PARAMETERS.get(made.kind, ())
        if name in made.keywords:
            return made.keywords[name]
        if name in names and names.index(name) < len(made.arguments):
            return made.arguments[names.index(name)]
        return default

    kind = made.kind
    if kind.startswith("Conv") and kind in _LAYERS:
        kernel, count = given("kernel_size"), _LAYERS[kind]
        window = kernel.items if isinstance(kernel, Sequence) else [kernel] * count
        inputs, outputs, groups = given("in_channels"), given("out_channels"), given("groups", 1)
        first, second = (inputs, outputs) if "Transpose" in kind else (outputs, inputs)
        part = second if groups == 1 else f.binary(ast.FloorDiv, second, groups)
        bias = [outputs] if given("bias", True) is not False else None
        return {"weight": [first, part, *window], "bias": bias}
    if kind == "Linear":
        bias = [given("out_features")] if given("bias", True) is not False else None
        return {"weight": [given("out_features"), given("in_features")], "bias": bias}
    if kind.startswith("BatchNorm") and given("affine", True) is True:
        channels = [given("num_features")]
        return {
            "weight": channels, "bias": channels, "running_mean": channels, "running_var": channels
        }  # fmt: skip
    if kind == "GroupNorm":
        channels = [given("num_channels")] if given("affine", True) is True else None
        return {"weight": channels, "bias": channels}
    if kind.startswith("InstanceNorm") and given("affine", False) is False:
        return {"weight": None, "bias": None}
    if kind == "LayerNorm" and given("elementwise_affine", True) is True:
        shape = given("normalized_shape")
        shape = list(shape.items) if isinstance(shape, Sequence) else [shape]
        return {"weight": shape, "bias": shape}
    return {}


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


def _variable(path: str) -> str:
    return "kb_w_" + path.replace(".", "_")


def _kind_of(what: str) -> str:
    """Under which heading something counts that launch() cannot do."""
    if "triton" in what:
        return TRITON
    if "cupy" in what:
        return NO_EXTENSION
    if "cuda.Stream" in what or "CUDAGraph" in what or "cuda.Event" in what:
        return STREAMS
    if what.startswith("torch.") and ("jit" in what or "_C" in what):
        return NO_EXTENSION
    return OPERATORS if what.startswith(("torch", "nn.")) else PYTHON
