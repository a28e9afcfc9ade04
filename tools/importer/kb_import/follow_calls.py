"""Calls of functions, classes and libraries in a source that is followed."""

from __future__ import annotations

import ast
import math
from typing import Any

from kb_import.follow_state import (
    AUTOTUNING,
    CREATE,
    CREATE_LIKE,
    EXISTING,
    LOADERS,
    MOST_DEPTH,
    MOST_ITEMS,
    MOST_STEPS_OF_SIZES,
    N_TUPLES,
    NO_EXTENSION,
    NOTHING,
    OPERATORS,
    PYTHON,
    TRITON,
    Raised,
    Returned,
    State,
    kind_of,
)
from kb_import.symbols import (
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


class Calls(State):
    """Functions of the source are entered, those of libraries are known or stand in the way."""

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
                    raise Untranslatable(kind_of(function.what), function.what)
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
        if last in LOADERS and "cpp_extension" in path:
            return self.load(last, arguments, keywords)
        if root == "math":
            return self.mathematics(rest, arguments)
        if root in ("os", "tempfile", "pathlib", "hashlib", "shutil", "uuid", "time"):
            return self.system(path, arguments, keywords)
        if path == "itertools.repeat" and len(arguments) == 2:
            count = arguments[1] if isinstance(arguments[1], int) else MOST_ITEMS + 1
            return Sequence([arguments[0]] * count) if count <= MOST_ITEMS else Opaque(path)
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
        if path == "torch.nn.init._calculate_fan_in_and_fan_out" and arguments:
            return self.fans(arguments[0])
        if path.startswith("torch.nn.modules.utils._") and last in N_TUPLES and arguments:
            if isinstance(arguments[0], Sequence):
                return Sequence(self.listed(arguments[0]))
            return Sequence([arguments[0]] * N_TUPLES[last])
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
            if not self.in_forward and self.scalar(lone) is not None:
                return Fresh([], path, lone)
        if path in [f"torch.{n}" for n in CREATE]:
            return self.create(last, arguments, keywords)
        if path in [f"torch.{n}" for n in CREATE_LIKE] and arguments:
            return self.create_like(last, arguments, keywords)
        if path == "torch.cuda.synchronize" or path.startswith("torch.cuda.nvtx"):
            return None
        if last in ("transpose", "permute", "reshape", "flatten", "squeeze", "unsqueeze", "clone",
                    "numel", "t", "sum", "mean") and path == f"torch.{last}" and arguments:  # fmt: skip
            return self.call(self.attribute(arguments[0], last), arguments[1:], keywords)
        if path.startswith(("torch.cuda.Stream", "torch.cuda.CUDAGraph", "torch.cuda.Event")):
            return Opaque(path)
        if self.holds_tensor(arguments) or self.holds_tensor(keywords):
            if not self.in_forward:
                return Opaque(f"{path} in __init__")
            raise Untranslatable(OPERATORS, path)
        if path in (
            "torch.tensor",
            "torch.arange",
            "torch.eye",
            "torch.linspace",
            "torch.from_numpy",
        ):
            if self.in_forward:
                raise Untranslatable(OPERATORS, path)
            return Fresh(None, path)
        return Opaque(path)

    def fans(self, weight: Any) -> Any:
        """How many inputs and outputs an element of a weight has, which are never 0."""
        shape = getattr(weight, "shape", None)
        if not isinstance(shape, list) or len(shape) < 2:
            return Opaque("torch.nn.init._calculate_fan_in_and_fan_out")
        found = [self.product(shape[1:]), self.product([shape[0], *shape[2:]])]
        for each in found:
            if isinstance(each, Scalar):
                self.known |= {f"({each.text} {sign} 0)": True for sign in ("!=", ">")}
        return Sequence(found)

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
        if path in ("tempfile.mkdtemp", "tempfile.gettempdir", "os.getcwd",
                    "tempfile.TemporaryDirectory"):  # fmt: skip
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
            return self.computed(function, *arguments)
        scalars = [self.scalar(a) for a in arguments]
        if None in scalars:
            return Opaque(f"math.{name}")
        known = None
        if all(x.value is not None for x in scalars):
            known = self.computed(function, *(x.value for x in scalars))
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
                if len(arguments) == 1 and isinstance(first, Scalar):
                    return self.counted(first)
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
            case "abs" | "round" if isinstance(first, (int, float)):
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

    def counted(self, end: Scalar) -> Sequence:
        """0 to a number that depends on sizes: each step is a branch of launch()."""
        for count in range(MOST_STEPS_OF_SIZES):
            if not self.decide(self.compare_two(ast.Gt, end, count)):
                return Sequence(list(range(count)), True)
        raise Untranslatable(PYTHON, "a loop whose end depends on sizes")

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
                known = name in owner.attributes or self.of_class(owner.of, name) is not NOTHING
                return known or name in ("training",)
            case Class():
                return self.of_class(owner, name) is not NOTHING
            case Extension():
                return owner.functions is None or name in owner.functions
            case None:
                return False
        if isinstance(owner, Library) and f"{owner.path}.{name}" in EXISTING:
            return True
        if isinstance(owner, Opaque) and owner.what == "the device's properties":
            return True
        return Opaque("hasattr()")
