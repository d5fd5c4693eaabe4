"""The values of pipelines: variables, fields, calls of functions.

Source: documentation of Go's text/template.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gatepost.gotemplate.errors import Fault, FunctionError
from gatepost.gotemplate.fields import NOTHING, MissingKey, check_count, field_of, method_of
from gatepost.gotemplate.limits import Budget
from gatepost.gotemplate.nodes import Command, Dot, Literal, Nil, Operand, Path, Pipeline, Word
from gatepost.gotemplate.values import MISSING, Function, Kind, argument, is_true, kind_of, type_name

_SIZED = (Kind.STRING, Kind.LIST, Kind.MAP)
_ANY = Function(bool, ("any",), more="any")  # how many arguments `and`, `or` and `call` take


class Variables:
    """The variables of one template, the newest last: of two with one name the newer one hides the older."""

    __slots__ = ("_budget", "_stack")

    def __init__(self, dollar: Any, budget: Budget) -> None:
        self._stack: list[tuple[str, Any]] = [("$", dollar)]
        self._budget = budget

    def mark(self) -> int:
        """How many there are, for `forget`."""
        return len(self._stack)

    def forget(self, mark: int) -> None:
        """Drops those that were declared since."""
        del self._stack[mark:]

    def declare(self, name: str, value: Any) -> None:
        self._stack.append((name, value))

    def assign(self, name: str, value: Any) -> None:
        """Raises: Fault if there is none of that name."""
        self._stack[self._find(name)] = (name, value)

    def value(self, name: str) -> Any:
        """Raises: Fault if there is none of that name."""
        return self._stack[self._find(name)][1]

    def _find(self, name: str) -> int:
        last = len(self._stack) - 1
        for index in range(last, -1, -1):
            if self._stack[index][0] == name:
                self._budget.spend_size(last - index)
                return index
        raise Fault(f"undefined variable: {name}")


class Evaluator:
    """Evaluates pipelines.

    Attributes:
        variables: those of the template that is executed.
        offset: in the text, of what is evaluated right now; where an error is when one is raised.
    """

    def __init__(self, functions: Mapping[str, Function], missing_key: MissingKey, budget: Budget, dollar: Any) -> None:
        self._functions = functions
        self._missing_key = missing_key
        self._budget = budget
        self.variables = Variables(dollar, budget)
        self.offset = 0

    def pipeline(self, pipeline: Pipeline, dot: Any) -> Any:
        """The value of a pipeline, put into its variables too. nil counts as no value from here on, as in Go.

        Raises: Fault, LimitExceeded
        """
        value: Any = NOTHING
        for command in pipeline.commands:
            self._budget.spend()
            value = self._command(command, dot, value)
            if value is None:
                value = MISSING
        for name in pipeline.variables:
            self.put(pipeline, name, value)
        return value

    def put(self, pipeline: Pipeline, name: str, value: Any) -> None:
        """Puts a value into a variable as the pipeline has it: a new one, or one that exists."""
        if pipeline.assigns:
            self.variables.assign(name, value)
        else:
            self.variables.declare(name, value)

    def _command(self, command: Command, dot: Any, piped: Any) -> Any:
        first, *arguments = command.operands
        self.offset = first.offset
        if isinstance(first, Word):
            return self._call(first.text, arguments, dot, piped)
        has_arguments = bool(arguments) or piped is not NOTHING
        if has_arguments and isinstance(first, Path) and first.names:
            return self._call_method(first, arguments, dot, piped)
        if has_arguments:
            raise Fault(f"can't give argument to non-function {first.text}")
        if isinstance(first, Nil):
            raise Fault("nil is not a command")
        return self._operand(first, dot)

    def _operand(self, operand: Operand, dot: Any) -> Any:
        self.offset = operand.offset
        match operand:
            case Dot():
                return dot
            case Literal():
                return operand.value
            case Path():
                return self._follow(operand, operand.names, dot)
            case Pipeline():
                with self._budget.deeper():
                    return self.pipeline(operand, dot)
            case Word():
                return self._call(operand.text, [], dot, NOTHING)
        return None

    def _follow(self, path: Path, names: tuple[str, ...], dot: Any) -> Any:
        """What the first `names` of a path lead to."""
        value = self._start(path.start, dot)
        self.offset = path.offset
        for name in names:
            value = field_of(value, name, self._missing_key)
        return value

    def _start(self, start: str | Pipeline | Word | None, dot: Any) -> Any:
        if start is None:
            return dot
        return self.variables.value(start) if isinstance(start, str) else self._operand(start, dot)

    def _call(self, name: str, operands: list[Operand], dot: Any, piped: Any) -> Any:
        offset = self.offset
        count = len(operands) + (piped is not NOTHING)
        function = self._functions.get(name, _ANY)
        check_count(name, function, count)
        if function is not _ANY:
            values = self._arguments(function, operands, dot, piped)
        elif name == "call":
            return self._call_value(operands, dot, piped)
        else:
            return self._and_or(operands, dot, piped, stops_at=name == "or")
        self.offset = offset
        return self._result(name, function, values)

    def _arguments(self, function: Function, operands: list[Operand], dot: Any, piped: Any) -> list[Any]:
        takes, values = function.takes, []
        for index, operand in enumerate(operands):
            wanted = takes[index] if index < len(takes) else function.more
            if isinstance(operand, Nil) and wanted not in ("any", "map[string]string"):
                raise Fault(f"cannot assign nil to {wanted}")
            value = self._operand(operand, dot)
            if isinstance(operand, Literal) and wanted == "float64" and type(value) is int:
                value = float(value)  # a constant without a point fits where a float is wanted
            self.offset = operand.offset
            values.append(argument(value, wanted))
        if piped is not NOTHING:
            values.append(argument(piped, takes[len(values)] if len(values) < len(takes) else function.more))
        return values

    def _and_or(self, operands: list[Operand], dot: Any, piped: Any, *, stops_at: bool) -> Any:
        """The first argument with that truth, else the last; those after it are not evaluated."""
        value: Any = MISSING
        for operand in operands:
            value = self._operand(operand, dot)
            if is_true(value) is stops_at:
                return value
        return value if piped is NOTHING else piped

    def _call_method(self, path: Path, operands: list[Operand], dot: Any, piped: Any) -> Any:
        name = path.names[-1]
        method = method_of(self._follow(path, path.names[:-1], dot), name)
        if method is None:
            raise Fault(f"{name} has arguments but cannot be called")
        check_count(name, method, len(operands) + (piped is not NOTHING))
        values = self._arguments(method, operands, dot, piped)
        self.offset = path.offset
        return self._result(name, method, values)

    def _call_value(self, operands: list[Operand], dot: Any, piped: Any) -> Any:
        """What a function gives that is a value, such as a field."""
        values = [self._operand(operand, dot) for operand in operands]
        values += [] if piped is NOTHING else [piped]
        function, *arguments = values
        shown = operands[0].text if operands else "the piped value"
        if not isinstance(function, Function):
            found = "nil" if kind_of(function) is Kind.INVALID else f"a {type_name(function)}"
            raise Fault(f"error calling call: found {found} in {shown}, wanted a function")
        check_count(shown, function, len(arguments))
        takes = function.takes
        typed = [
            argument(value, takes[index] if index < len(takes) else function.more)
            for index, value in enumerate(arguments)
        ]
        return self._result(shown, function, typed)

    def _result(self, name: str, function: Function, values: list[Any]) -> Any:
        self._budget.spend_size(sum(len(value) for value in values if kind_of(value) in _SIZED))
        try:
            result = function.call(*values)
        except FunctionError as error:
            raise Fault(f"error calling {name}: {error}") from error
        if isinstance(result, str):
            self._budget.spend_text(result)
        return result
