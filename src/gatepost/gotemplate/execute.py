"""One execution of a template: walks its parts and writes the output.

Source: documentation of Go's text/template.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, NamedTuple

from gatepost.gotemplate.errors import Fault, FunctionError, LimitExceeded, TemplateError, position
from gatepost.gotemplate.evaluate import Evaluator, Variables
from gatepost.gotemplate.fields import MissingKey
from gatepost.gotemplate.formatting import Printer, sorted_keys
from gatepost.gotemplate.limits import Budget, Limits
from gatepost.gotemplate.nodes import Action, Body, Choice, Include, Leave, Node, Pipeline, Range, Text
from gatepost.gotemplate.values import MISSING, Function, Kind, clean, is_true, kind_of, type_name

_NO_VALUE = "<no value>"


class _Flow(Enum):
    """How a body ended."""

    ON = "on"
    BREAK = "break"
    CONTINUE = "continue"


class Program(NamedTuple):
    """A parsed template with all that its executions share.

    Attributes:
        name: what messages call it, and the template that is executed.
        templates: the bodies by name.
        functions: all but and, or and call.
    """

    name: str
    text: str
    templates: Mapping[str, Body]
    functions: Mapping[str, Function]
    missing_key: MissingKey
    limits: Limits


class Execution:
    """The state of one execution; used once."""

    def __init__(self, program: Program, data: Any) -> None:
        self._name = program.name
        self._text = program.text
        self._templates = program.templates
        self._dot = MISSING if data is None else data
        self._budget = Budget(program.limits)
        self._printer = Printer(program.limits)
        self._values = Evaluator(program.functions, program.missing_key, self._budget, self._dot)
        self._out: list[str] = []
        self._action = ""

    def run(self) -> str:
        """The output. Raises: TemplateError"""
        try:
            self._walk(self._templates[self._name], self._dot)
        except (Fault, FunctionError, LimitExceeded) as error:
            raise self._error(str(error)) from error
        except RecursionError as error:  # data within data, or a caller that stands deep already
            raise self._error("goes deeper into templates or data than can be followed") from error
        return clean("".join(self._out))

    def _error(self, reason: str) -> TemplateError:
        return TemplateError(self._name, *position(self._text, self._values.offset), self._action, reason)

    def _write(self, text: str) -> None:
        self._budget.spend_output(text)
        self._out.append(text)

    def _at(self, offset: int, source: str) -> None:
        self._values.offset, self._action = offset, source

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
                value = self._values.pipeline(node.pipeline, dot)
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
            self._write(_NO_VALUE)
        elif isinstance(value, str):
            self._write(value)
        else:
            self._values.offset = action.offset
            self._write(self._printer.print(value))

    def _choose(self, choice: Choice, dot: Any) -> _Flow:
        mark = self._values.variables.mark()
        with self._budget.deeper():
            flow = self._first_true(choice, dot)
        self._values.variables.forget(mark)
        return flow

    def _first_true(self, choice: Choice, dot: Any) -> _Flow:
        for branch in choice.branches:
            self._budget.spend()
            self._at(branch.offset, branch.source)
            value = self._values.pipeline(branch.condition, dot)
            if is_true(value):
                return self._walk(branch.body, value if choice.sets_dot else dot)
        return self._walk(choice.otherwise, dot)

    def _range(self, node: Range, dot: Any) -> _Flow:
        variables = self._values.variables
        before = variables.mark()
        self._at(node.offset, node.source)
        any_round = False
        with self._budget.deeper():
            value = self._values.pipeline(node.pipeline, dot)
            for key, element in self._rounds(value, len(node.pipeline.variables)):
                any_round = True
                self._budget.spend()
                mark = variables.mark()
                self._put_round(node.pipeline, key, element)
                flow = self._walk(node.body, element)
                variables.forget(mark)
                if flow is _Flow.BREAK:
                    break
                self._at(node.offset, node.source)
            variables.forget(before)
            # break and continue are of this range; those after its else are of the one around it
            return _Flow.ON if any_round else self._walk(node.otherwise, dot)

    def _rounds(self, value: Any, variables: int) -> Iterable[tuple[Any, Any]]:
        """Key and element of each round over a value. Raises: Fault if there can be none."""
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
                self._budget.spend_size(len(value))  # they are sorted first, however early the range is left
                return ((key, value[key]) for key in sorted_keys(value))
        raise Fault(f"range can't iterate over a {type_name(value)}")

    def _put_round(self, pipeline: Pipeline, key: Any, element: Any) -> None:
        """A single variable of a range is the element, of two the first is its key."""
        names = pipeline.variables
        values = (element,) if len(names) == 1 else (key, element)
        for name, value in zip(names, values, strict=False):
            self._values.put(pipeline, name, value)

    def _include(self, node: Include, dot: Any) -> None:
        self._at(node.offset, node.source)
        body = self._templates.get(node.name)
        if body is None:
            raise Fault(f"template {node.name!r} is not defined")
        value = MISSING if node.pipeline is None else self._values.pipeline(node.pipeline, dot)
        name, self._name = self._name, node.name
        variables = self._values.variables
        self._values.variables = Variables(value, self._budget)
        with self._budget.deeper():
            self._walk(body, value)
        self._name, self._values.variables = name, variables
