"""One execution of a template: walks its parts, evaluates pipelines, writes the output.

Source: documentation of Go's text/template.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from typing import Any, NoReturn

from gatepost.gotemplate.errors import Fault, FunctionError, LimitExceeded, TemplateError, position
from gatepost.gotemplate.fields import NOTHING, MissingKey, field_of
from gatepost.gotemplate.formatting import Printer, sorted_keys
from gatepost.gotemplate.limits import Budget, Limits
from gatepost.gotemplate.nodes import (
    Action,
    Body,
    Choice,
    Command,
    Dot,
    Include,
    Leave,
    Literal,
    Nil,
    Node,
    Operand,
    Path,
    Pipeline,
    Range,
    Text,
    Word,
)
from gatepost.gotemplate.values import (
    MISSING,
    Function,
    Kind,
    argument,
    clean,
    is_true,
    kind_of,
    type_name,
)

_LONGEST_ACTION = 80


class _Flow(Enum):
    """How a body ended."""

    ON = "on"
    BREAK = "break"
    CONTINUE = "continue"


class Execution:
    """The state of one execution; used once.

    Args:
        templates: the bodies by name.
        functions: all but and, or and call.
    """

    def __init__(
        self,
        name: str,
        text: str,
        templates: Mapping[str, Body],
        functions: Mapping[str, Function],
        missing_key: MissingKey,
        limits: Limits,
    ) -> None:
        self._name = name
        self._text = text
        self._templates = templates
        self._functions = functions
        self._missing_key = missing_key
        self._budget = Budget(limits)
        self._printer = Printer(limits)
        self._out: list[str] = []
        self._variables: list[tuple[str, Any]] = []
        self._offset = 0  # of what is evaluated right now
        self._action = ""

    def run(self, data: Any) -> str:
        """The output. Raises: TemplateError"""
        dot = MISSING if data is None else data
        self._variables = [("$", dot)]
        try:
            self._walk(self._templates[self._name], dot)
        except FunctionError as error:
            self._fail(str(error))
        except (Fault, LimitExceeded) as error:
            self._fail(str(error))
        except RecursionError:  # data within data, or a caller that stands deep already
            self._fail("goes deeper into templates or data than can be followed")
        return clean("".join(self._out))

    def _fail(self, reason: str) -> NoReturn:
        action = self._action if len(self._action) <= _LONGEST_ACTION else self._action[:_LONGEST_ACTION] + "…"
        raise TemplateError(self._name, *position(self._text, self._offset), action, reason) from None

    def _write(self, text: str) -> None:
        self._budget.spend_output(text)
        self._out.append(text)

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self._budget.enter()
        yield
        self._budget.leave()

    def _at(self, offset: int, source: str) -> None:
        self._offset, self._action = offset, source

    def _walk(self, body: Body, dot: Any) -> _Flow:
        for node in body:
            self._budget.spend()
            flow = self._step(node, dot)
            if flow is not _Flow.ON:
                return flow
        return _Flow.ON

    def _step(self, node: Node, dot: Any) -> _Flow:
        match node:
            case Text():
                self._write(node.text)
            case Action():
                self._at(node.offset, node.source)
                value = self._pipeline(node.pipeline, dot)
                if not node.pipeline.variables:
                    self._print(value, node)
            case Choice():
                return self._choose(node, dot)
            case Range():
                return self._range(node, dot)
            case Include():
                self._include(node, dot)
            case Leave():
                return _Flow.BREAK if node.is_break else _Flow.CONTINUE
        return _Flow.ON

    def _print(self, value: Any, action: Action) -> None:
        if value is MISSING:
            self._write("<no value>")
        elif isinstance(value, str):
            self._write(value)
        else:
            self._offset = action.offset
            self._write(self._printer.print(value))

    def _choose(self, choice: Choice, dot: Any) -> _Flow:
        before = len(self._variables)
        with self._deeper():
            flow = self._first_true(choice, dot)
        del self._variables[before:]
        return flow

    def _first_true(self, choice: Choice, dot: Any) -> _Flow:
        for branch in choice.branches:
            self._budget.spend()
            self._at(branch.offset, branch.source)
            value = self._pipeline(branch.condition, dot)
            if is_true(value):
                return self._walk(branch.body, value if choice.sets_dot else dot)
        return self._walk(choice.otherwise, dot)

    def _range(self, node: Range, dot: Any) -> _Flow:
        before = len(self._variables)
        self._at(node.offset, node.source)
        with self._deeper():
            value = self._pipeline(node.pipeline, dot)
            rounds = self._rounds(value, len(node.pipeline.variables))
            any_round = False
            flow = _Flow.ON
            for key, element in rounds:
                any_round = True
                self._budget.spend()
                mark = len(self._variables)
                self._set_range_variables(node.pipeline, key, element)
                flow = self._walk(node.body, element)
                del self._variables[mark:]
                if flow is _Flow.BREAK:
                    break
                self._at(node.offset, node.source)
            del self._variables[before:]
            # break and continue are of this range; those after its else are of the one around it
            return _Flow.ON if any_round else self._walk(node.otherwise, dot)

    def _rounds(self, value: Any, variables: int) -> Iterable[tuple[Any, Any]]:
        """Key and element of each round over a value."""
        match kind_of(value):
            case Kind.INVALID:
                return ()
            case Kind.INT if variables > 1:
                raise Fault(f"can't use {value} to iterate over more than one variable")
            case Kind.INT:
                return ((MISSING, number) for number in range(value))
            case Kind.LIST:
                return enumerate(value)
            case Kind.MAP:
                return ((key, value[key]) for key in sorted_keys(value))
        raise Fault(f"range can't iterate over a {type_name(value)}")

    def _set_range_variables(self, pipeline: Pipeline, key: Any, element: Any) -> None:
        names = pipeline.variables
        for name, value in zip(names, (element,) if len(names) == 1 else (key, element), strict=False):
            self._set(name, value, is_new=not pipeline.assigns)

    def _include(self, node: Include, dot: Any) -> None:
        self._at(node.offset, node.source)
        body = self._templates.get(node.name)
        if body is None:
            raise Fault(f"template {node.name!r} not defined")
        value = MISSING if node.pipeline is None else self._pipeline(node.pipeline, dot)
        name, self._name = self._name, node.name
        variables, self._variables = self._variables, [("$", value)]
        with self._deeper():
            self._walk(body, value)
        self._name, self._variables = name, variables

    def _set(self, name: str, value: Any, *, is_new: bool) -> None:
        if is_new:
            self._variables.append((name, value))
            return
        for index in range(len(self._variables) - 1, -1, -1):
            if self._variables[index][0] == name:
                self._variables[index] = (name, value)
                return
        raise Fault(f"undefined variable: {name}")

    def _variable(self, name: str) -> Any:
        for known, value in reversed(self._variables):
            if known == name:
                return value
        raise Fault(f"undefined variable: {name}")

    def _pipeline(self, pipeline: Pipeline, dot: Any) -> Any:
        """The value of a pipeline, put into its variables too. nil counts as no value from here on, as in Go."""
        value: Any = NOTHING
        for command in pipeline.commands:
            self._budget.spend()
            value = self._command(command, dot, value)
            if value is None:
                value = MISSING
        for name in pipeline.variables:
            self._set(name, value, is_new=not pipeline.assigns)
        return value

    def _command(self, command: Command, dot: Any, piped: Any) -> Any:
        first, *arguments = command.operands
        self._offset = first.offset
        if isinstance(first, Word):
            return self._call(first.text, tuple(arguments), dot, piped)
        has_arguments = bool(arguments) or piped is not NOTHING
        if has_arguments and isinstance(first, Path) and first.names:
            raise Fault(f"{first.names[-1]} has arguments but cannot be called")
        if has_arguments:
            raise Fault(f"can't give argument to non-function {first.text}")
        if isinstance(first, Nil):
            raise Fault("nil is not a command")
        return self._operand(first, dot)

    def _operand(self, operand: Operand, dot: Any) -> Any:
        self._offset = operand.offset
        match operand:
            case Dot():
                return dot
            case Literal():
                return operand.value
            case Path():
                value = self._start(operand.start, dot)
                self._offset = operand.offset
                for name in operand.names:
                    value = field_of(value, name, self._missing_key)
                return value
            case Pipeline():
                with self._deeper():
                    return self._pipeline(operand, dot)
            case Word():
                return self._call(operand.text, (), dot, NOTHING)
        return None

    def _start(self, start: str | Pipeline | Word | None, dot: Any) -> Any:
        if start is None:
            return dot
        return self._variable(start) if isinstance(start, str) else self._operand(start, dot)

    def _call(self, name: str, operands: tuple[Operand, ...], dot: Any, piped: Any) -> Any:
        offset = self._offset
        count = len(operands) + (piped is not NOTHING)
        if name in ("and", "or"):
            self._check_count(name, Function(bool, ("any",), more="any"), count)
            return self._and_or(operands, dot, piped, stops_at=name == "or")
        if name == "call":
            self._check_count(name, Function(bool, ("any",), more="any"), count)
            return self._call_value(operands, dot, piped)
        function = self._functions[name]
        self._check_count(name, function, count)
        values = self._arguments(function, operands, dot, piped)
        self._offset = offset
        return self._result(name, function, values)

    def _arguments(self, function: Function, operands: tuple[Operand, ...], dot: Any, piped: Any) -> list[Any]:
        takes, values = function.takes, []
        for index, operand in enumerate(operands):
            wanted = takes[index] if index < len(takes) else function.more
            if isinstance(operand, Nil) and wanted not in ("any", "map[string]string"):
                raise Fault(f"cannot assign nil to {wanted}")
            values.append(self._argument(self._operand(operand, dot), wanted, operand))
        if piped is not NOTHING:
            values.append(argument(piped, takes[len(values)] if len(values) < len(takes) else function.more))
        return values

    def _argument(self, value: Any, wanted: str, operand: Operand) -> Any:
        if isinstance(operand, Literal) and wanted == "float64" and type(value) is int:
            return float(value)  # a constant without a point fits where a float is wanted
        self._offset = operand.offset
        return argument(value, wanted)

    def _and_or(self, operands: tuple[Operand, ...], dot: Any, piped: Any, *, stops_at: bool) -> Any:
        """The first argument with that truth, else the last; those after it are not evaluated."""
        value: Any = MISSING
        for operand in operands:
            value = self._operand(operand, dot)
            if is_true(value) is stops_at:
                return value
        return value if piped is NOTHING else piped

    def _call_value(self, operands: tuple[Operand, ...], dot: Any, piped: Any) -> Any:
        values = [self._operand(operand, dot) for operand in operands]
        values += [] if piped is NOTHING else [piped]
        function, *arguments = values
        shown = operands[0].text if operands else "the piped value"
        if not isinstance(function, Function):
            found = "nil" if kind_of(function) is Kind.INVALID else f"a {type_name(function)}"
            raise Fault(f"error calling call: found {found} in {shown}, wanted a function")
        self._check_count(shown, function, len(arguments))
        takes = function.takes
        typed = [
            argument(value, takes[index] if index < len(takes) else function.more)
            for index, value in enumerate(arguments)
        ]
        return self._result(shown, function, typed)

    def _check_count(self, name: str, function: Function, count: int) -> None:
        least = len(function.takes)
        if count < least or (count > least and not function.more):
            wanted = f"at least {least}" if function.more else str(least)
            raise Fault(f"wrong number of args for {name}: want {wanted} got {count}")

    def _result(self, name: str, function: Function, values: list[Any]) -> Any:
        try:
            result = function.call(*values)
        except FunctionError as error:
            raise Fault(f"error calling {name}: {error}") from error
        if isinstance(result, str):
            self._budget.spend_text(result)
        return result
