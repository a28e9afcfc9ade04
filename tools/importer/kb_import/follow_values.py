"""Attributes and methods of values of a source that is followed."""

from __future__ import annotations

from typing import Any

from kb_import.follow_state import (
    DEFAULTS,
    LAYERS,
    NOTHING,
    PARAMETERS,
    PROPERTIES,
    PYTHON,
    State,
    argument_of,
)
from kb_import.symbols import (
    Bound,
    Class,
    Extension,
    Function,
    Instance,
    Layer,
    Library,
    Method,
    Opaque,
    Scalar,
    Sequence,
    Shape,
    Super,
    Tensor,
    Untranslatable,
    Weight,
)


class Values(State):
    """What values have and can do, other than tensors."""

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
                if found is not NOTHING:
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
                found = self.of_bases(owner.of, name)
                if found is not NOTHING:
                    return Method(found, owner.self) if isinstance(found, Function) else found
                return Library(f"torch.nn.Module.{name}")
        if owner == Opaque("the device's properties") and name in PROPERTIES:
            code = f"at::cuda::getCurrentDeviceProperties()->{PROPERTIES[name]}"
            return Scalar(f"static_cast<int64_t>({code})", "int")
        return Bound(owner, name)

    def of_class(self, owner: Class, name: str) -> Any:
        return owner.attributes[name] if name in owner.attributes else self.of_bases(owner, name)

    def of_bases(self, owner: Class, name: str) -> Any:
        for base in owner.bases:
            if isinstance(base, Class) and (found := self.of_class(base, name)) is not NOTHING:
                return found
        return NOTHING

    def of_instance(self, owner: Instance, name: str) -> Any:
        if name in owner.attributes:
            return owner.attributes[name]
        if name == "__class__":
            return owner.of
        found = self.of_class(owner.of, name)
        if isinstance(found, Function):
            decorators = {getattr(d, "id", "") for d in getattr(found.node, "decorator_list", [])}
            if "staticmethod" in decorators:
                return found
            if "property" in decorators:
                return self.call(Method(found, owner), [], {})
            return Method(found, owner.of if "classmethod" in decorators else owner)
        if found is not NOTHING:
            return found
        if name == "training":
            return True
        return Bound(owner, name)

    def of_layer(self, owner: Layer, name: str) -> Any:
        if name in owner.weights:
            return owner.weights[name]
        if name in PARAMETERS.get(owner.kind, ()):
            value = argument_of(owner, name, DEFAULTS.get(name, Opaque(name)))
            several = LAYERS.get(owner.kind, 0)
            each = name in ("kernel_size", "stride", "padding", "dilation", "output_padding")
            if several and each and not isinstance(value, (Sequence, str, Opaque)):
                value = Sequence([value] * several)
            return value
        return Bound(owner, name)

    def of_tensor(self, owner: Tensor, name: str) -> Any:
        match name:
            case "shape":
                if owner.rank is None:
                    return Shape(owner)
                return Sequence([self.size_of(owner, i) for i in range(owner.rank)])
            case "is_cuda" | "is_leaf":
                return True
            case "requires_grad":
                return False
            case "device":
                return Library("torch.the_device")
            case "dtype":
                if owner.dtype is not None:
                    return Library(f"torch.{owner.dtype}")
                return Scalar(f"{owner.text}.scalar_type()", "type")
            case "ndim":
                return self.rank_of(owner)
            case "data":
                return owner
            case "T":
                return self.view(owner, "t", [])
        return Bound(owner, name)

    def rank_of(self, tensor: Tensor) -> Any:
        return Scalar(f"{tensor.text}.dim()", "int") if tensor.rank is None else tensor.rank

    def size_of(self, tensor: Tensor, index: Any) -> Any:
        if not isinstance(index, int):
            raise Untranslatable(PYTHON, "an index of a shape that depends on sizes")
        known = None
        if tensor.sizes is not None and -len(tensor.sizes) <= index < len(tensor.sizes):
            known = tensor.sizes[index]
            if tensor.rank is not None and index < 0:
                index += tensor.rank
        return Scalar(f"{tensor.text}.size({index})", "int", known)
