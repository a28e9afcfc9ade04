"""Weights, tensors and calls of the extension in a source that is followed."""

from __future__ import annotations

import ast
import math
from functools import partial
from typing import Any

from kb_import.follow_state import (
    ARITHMETIC,
    BINDING,
    DERIVED,
    LAYERS,
    LAYOUT,
    MOST_ITEMS,
    NEW,
    OPERATORS,
    PYTHON,
    SAME,
    TYPES,
    Raised,
    State,
    argument_of,
    kind_of,
    known_sizes,
)
from kb_import.symbols import (
    CONSTANTS,
    Bound,
    Extension,
    File,
    Fresh,
    Instance,
    Layer,
    Library,
    Opaque,
    Pointer,
    Scalar,
    Sequence,
    Shape,
    Tensor,
    Untranslatable,
    Vector,
    Weight,
    describe,
)


class Tensors(State):
    """What becomes statements of C++."""

    def parameter(self, value: Any) -> Any:
        match value:
            case Fresh():
                return Weight(value.shape, value=value.value, parameter=True)
            case Weight() | Opaque():
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
            shape = (
                f"kb_weight_shape{place}(s)" if argument.shape else self.shape_text(weight.shape)
            )
            code = f"kb::torch_names::tensor(kb_weight{place}, {shape})"
            if None not in (argument.rank, weight.shape) and argument.rank != len(weight.shape):
                raise Untranslatable(DERIVED, f"{path} has another number of dimensions")
        self.weights[path] = code
        name = "kb_w_" + path.replace(".", "_")
        if weight.shape is None:
            return Tensor(name, None, None, "float32", dense=True)
        sizes = known_sizes(weight.shape)
        return Tensor(name, len(sizes), sizes, "float32", dense=True)

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
        flat = [n for n in names if _flat(n) == _flat(weight.path)]
        if len(flat) == 1:
            return flat[0]
        drawn = [w for w in self.registered if w.value is None or w.parameter]
        if len(drawn) != len(names) or weight not in drawn:
            return None
        drawn_ends = [w.path.split(".")[-1] for w in drawn]
        if drawn_ends != [n.split(".")[-1] for n in names]:
            return None
        path = names[next(i for i, w in enumerate(drawn) if w is weight)]
        self.note(f"{weight.path} is upstream's {path}, by their order")
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
        if name not in NEW:
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
        kind = "float32"
        if "dtype" in keywords:
            kind = describe(keywords["dtype"]).removeprefix("torch.")
        kind = kind if kind in TYPES else None
        if shape is None:
            return self.keep(code, None, None, kind)
        return self.keep(code, len(shape), known_sizes(shape), kind)

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
        value = (
            f", {self.number(arguments[1])}" if name == "full_like" and len(arguments) > 1 else ""
        )
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
        found = TYPES.get(describe(kind).removeprefix("torch."))
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
        name = self.variable()
        self.statements.append(f"const at::Tensor {name} = {code};")
        return Tensor(name, rank, sizes, dtype, dense)

    def view(self, x: Tensor, name: str, arguments: list[Any]) -> Tensor:
        code = f"{x.text}.{name}({', '.join(map(self.number, arguments))})"
        return self.keep(code, x.rank, None, x.dtype, dense=x.dense and name == "unsqueeze")

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
                same = name in (*SAME, "fill_", "uniform_", "normal_", "zero_")
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
            raise Untranslatable(kind_of(what), what)
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
        return (
            self.item(Sequence(owner.shape), arguments[0]) if arguments else Sequence(owner.shape)
        )

    def weight_method(self, owner: Weight, name: str, arguments: list[Any], keywords: dict) -> Any:
        """A weight in __init__: what changes its values is no concern, the judge sets them."""
        self.layout(keywords)
        if owner.shape is not None and name in ("size", "dim", "numel"):
            return self.fresh_size(Fresh(owner.shape, "a weight"), name, arguments)
        if name in ("uniform_", "normal_", "fill_", "zero_", "requires_grad_", "cuda", "to", "float",
                    "contiguous", "clone", "detach"):  # fmt: skip
            return owner
        number = self.scalar(arguments[0]) if len(arguments) == 1 and not keywords else None
        of = {"mul": ast.Mult, "div": ast.Div, "add": ast.Add, "sub": ast.Sub}
        operator = of.get(name.removesuffix("_"))
        if operator is not None and number is not None:
            if not name.endswith("_"):
                return self.binary(operator, owner, arguments[0])
            owner.steps.append((ARITHMETIC[operator][0], number))
            return owner
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
            parts = arguments[0].items
            if all(isinstance(p, str) for p in parts):
                return self.limited(owner.join(parts))
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
                return self.rank_of(x)
            case "numel" | "nelement":
                known = None
                if x.sizes is not None and all(isinstance(v, int) for v in x.sizes):
                    known = math.prod(x.sizes)
                return Scalar(f"{x.text}.numel()", "int", known)
            case "stride":
                if arguments or "dim" in keywords:
                    dim = self.number(arguments[0] if arguments else keywords["dim"])
                    return Scalar(f"{x.text}.stride({dim})", "int")
                if x.rank is None:
                    raise Untranslatable(PYTHON, "strides of a tensor of unknown rank")
                return Sequence([Scalar(f"{x.text}.stride({i})", "int") for i in range(x.rank)])
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
            case "contiguous" if x.dense:
                return x
            case "contiguous" | "clone":
                return self.keep(f"{x.text}.{name}()", x.rank, x.sizes, x.dtype)
            case "cuda" | "detach" | "requires_grad_":
                return x
            case "float" | "double" | "half" | "int" | "long" | "bool":
                return self.to_type(x, name)
            case "to" | "type":
                return self.convert_tensor(x, arguments, keywords)
            case "view" | "reshape":
                return self.reshape(x, name, arguments)
            case "view_as" | "reshape_as" if arguments and isinstance(
                arguments[0], (Tensor, Weight)
            ):
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
                made.rank = None if x.rank is None or name == "squeeze" else x.rank + 1
                return made
            case "sum" | "mean" if not arguments and not keywords:
                return self.keep(f"{x.text}.{name}()", 0, (), x.dtype)
            case "zero_" | "fill_" if x.text.startswith("kb_t"):
                values = ", ".join(map(self.number, arguments))
                self.statements.append(f"{x.text}.{name}({values});")
                return x
        raise Untranslatable(OPERATORS, f"Tensor.{name}")

    def convert_tensor(self, x: Tensor, arguments: list[Any], keywords: dict[str, Any]) -> Tensor:
        for each in (*arguments, keywords.get("dtype")):
            what = describe(each).removeprefix("torch.")
            if what in TYPES:
                return self.to_type(x, what)
            if isinstance(each, Scalar) and each.kind == "type":
                return self.keep(f"{x.text}.to({each.text})", x.rank, x.sizes, None, x.dense)
            if isinstance(each, str) and not each.startswith("cuda"):
                raise Untranslatable(OPERATORS, f"to('{each}')")
        return x

    def to_type(self, x: Tensor, name: str) -> Tensor:
        """x with elements of another type, which only a tensor of that type can be."""
        if x.dtype is not None and TYPES.get(x.dtype) == TYPES[name]:
            return x
        if x.dtype is not None:
            raise Untranslatable(OPERATORS, f"Tensor.to({name})")
        return self.keep(f"{x.text}.to({TYPES[name]})", x.rank, x.sizes, name, x.dense)

    def reshape(self, x: Tensor, name: str, arguments: list[Any]) -> Tensor:
        if (
            len(arguments) == 1
            and isinstance(arguments[0], Shape)
            and arguments[0].tensor.rank is None
        ):
            return self.keep(f"{x.text}.{name}({arguments[0].tensor.text}.sizes())", None, None,
                             x.dtype)  # fmt: skip
        shape = self.shape_of(arguments, {})
        if shape is None:
            raise Untranslatable(PYTHON, f"{name}() to a shape that is not known")
        known = known_sizes(shape)
        code = f"{x.text}.{name}({self.shape_text(shape)})"
        return self.keep(code, len(shape), None if -1 in known else known, x.dtype)

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
        variable = self.variable()
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
        self.note(f"launches {name}(), which load_inline() does not bind")

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
                return (
                    '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
                )
            case Sequence():
                if value.items and all(isinstance(v, (Tensor, Weight)) for v in value.items):
                    return (
                        f"std::vector<at::Tensor>{{{', '.join(map(self.argument, value.items))}}}"
                    )
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


def _flat(path: str) -> str:
    """`conv_weight` of `conv.weight`."""
    return path.replace(".", "_")


def _layer_shapes(f: Tensors, made: Layer) -> dict[str, list[Any] | None]:
    """Weights of a layer and their shapes; a None is an attribute that is None."""
    kind, given = made.kind, partial(argument_of, made)
    if kind.startswith("Conv") and kind in LAYERS:
        kernel, count = given("kernel_size"), LAYERS[kind]
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
    if kind.startswith("InstanceNorm"):
        channels = [given("num_features")] if given("affine", False) is True else None
        made = {"weight": channels, "bias": channels}
        if given("track_running_stats", False) is False:
            made |= {"running_mean": None, "running_var": None}
        return made
    if kind == "LayerNorm" and given("elementwise_affine", True) is True:
        shape = given("normalized_shape")
        shape = list(shape.items) if isinstance(shape, Sequence) else [shape]
        return {"weight": shape, "bias": shape}
    return {}
