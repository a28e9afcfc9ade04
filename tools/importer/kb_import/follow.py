"""Follows a module of PyTorch through ast, without running any of it.

`Follower` goes through the module, ModelNew's __init__ and its forward, on values of `symbols`: numbers
of the source are numbers, sizes are C++, tensors are names of C++. Calls of the extension and what
prepares their arguments become statements of C++. Whatever it does not know raises Untranslatable.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from typing import Any

from kb_import.follow_calls import Calls
from kb_import.follow_expressions import Expressions
from kb_import.follow_state import PYTHON, Loop, Raised, Returned
from kb_import.follow_statements import Statements
from kb_import.follow_tensors import Tensors
from kb_import.follow_values import Values
from kb_import.symbols import (
    CONSTANTS,
    Bound,
    Class,
    Extension,
    Fresh,
    Function,
    Sequence,
    Untranslatable,
)


class Follower(Statements, Expressions, Values, Calls, Tensors):
    """One way through the source: `decisions` says which branches to take, then the first ones."""

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
            elif self.launch.upstream is not None:
                arguments = [self.of_upstream(a) for a in self.launch.upstream.arguments]
            instance = self.instantiate(model, arguments, {})
            self.in_forward = True
            return self.call(self.attribute(instance, "forward"), list(inputs), {})

    def of_upstream(self, argument: Any) -> Any:
        """An argument that upstream gives to __init__ of any model of the task."""
        if isinstance(argument, list):
            return Sequence([self.of_upstream(a) for a in argument])
        if not isinstance(argument, str):
            return argument
        value = self.launch.upstream.constants[argument]
        value = Sequence(list(value)) if isinstance(value, list) else value
        return self.sized(argument, value) if argument in self.sizes else value

    def accepted(self, model: Class, settings: dict[str, Any]) -> dict[str, Any]:
        """Those settings that __init__ has parameters for; sizes of the task by their names."""
        initialise = self.of_class(model, "__init__")
        if not isinstance(initialise, Function):
            return {}
        names = [a.arg for a in initialise.node.args.args[1:]]
        given = {n: v for n, v in settings.items() if n in names and isinstance(v, CONSTANTS)}
        return {n: self.sized(n, v) if n in self.sizes else v for n, v in given.items()}

    def inputs(self, module: ast.Module, sizes: dict[str, Any]) -> list[Any]:
        """What get_inputs returns, as far as it can be followed, or else upstream's."""
        self.sizes = sizes
        with self.guarded():
            self.module(module)
            make = self.globals.get("get_inputs")
            if isinstance(make, Function):
                return self.listed(self.call(make, [], {}))
        given = self.launch.upstream.inputs if self.launch.upstream is not None else []
        return [Fresh(v, "upstream") if isinstance(v, list) else v for v in given]

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
        except (ArithmeticError, IndexError, TypeError, ValueError) as e:
            # What the source asks for is done here, such as range(1, 5, 0).
            raise Untranslatable(PYTHON, f"it fails with {type(e).__name__}") from None
