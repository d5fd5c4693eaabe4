"""Which fields a template could read, told from its text alone: so nobody keeps data that no template needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gatepost.gotemplate.nodes import Action, Body, Choice, Dot, Include, Node, Operand, Path, Pipeline, Range


def may_read(templates: Mapping[str, Body], main: str, names: frozenset[str], holders: frozenset[str]) -> bool:
    """Whether an execution could come to fields or keys of these names: by name, or by what holds them.

    What holds them is taken to be read whole wherever a path ends at it, since from there on (a variable, `index`, a
    print) the way of a value is not followed. The data itself holds them too, and may be handed to other templates.
    """
    search = _Search(names, holders)
    pending, seen = [(main, True)], set[tuple[str, bool]]()
    while pending:
        at = pending.pop()
        if at in seen:
            continue
        seen.add(at)
        name, has_data = at
        for operand in search.of_body(templates.get(name, ()), dot=has_data, dollar=has_data):
            if search.is_hit(operand):
                return True
        pending += search.take_included()
    return False


class _Data:
    """Stands for a use of the whole data."""


_Use = Operand | _Data


class _Search:
    def __init__(self, names: frozenset[str], holders: frozenset[str]) -> None:
        self._names = names
        self._holders = holders
        self._included: list[tuple[str, bool]] = []

    def is_hit(self, use: _Use) -> bool:
        if isinstance(use, _Data):
            return True
        if not isinstance(use, Path) or not use.names:
            return False
        return not self._names.isdisjoint(use.names) or use.names[-1] in self._holders

    def take_included(self) -> list[tuple[str, bool]]:
        """The templates that were met since, each with whether it is given the data."""
        included, self._included = self._included, []
        return included

    def of_body(self, body: Body, *, dot: bool, dollar: bool) -> Iterator[_Use]:
        """What is used in a body, in which dot and `$` are the data or are not."""
        for node in body:
            yield from self._of_node(node, dot=dot, dollar=dollar)

    def _of_node(self, node: Node, *, dot: bool, dollar: bool) -> Iterator[_Use]:
        match node:
            case Action():
                yield from _of_pipeline(node.pipeline, dot=dot, dollar=dollar)
            case Choice():
                for branch in node.branches:
                    yield from _of_pipeline(branch.condition, dot=dot, dollar=dollar)
                    yield from self.of_body(branch.body, dot=dot and not node.sets_dot, dollar=dollar)
                yield from self.of_body(node.otherwise, dot=dot, dollar=dollar)
            case Range():
                yield from _of_pipeline(node.pipeline, dot=dot, dollar=dollar)
                yield from self.of_body(node.body, dot=False, dollar=dollar)
                yield from self.of_body(node.otherwise, dot=dot, dollar=dollar)
            case Include():
                hands_on = node.pipeline is not None and _is_data(node.pipeline, dot=dot, dollar=dollar)
                self._included.append((node.name, hands_on))
                if node.pipeline is not None and not hands_on:
                    yield from _of_pipeline(node.pipeline, dot=dot, dollar=dollar)


def _is_data(pipeline: Pipeline, *, dot: bool, dollar: bool) -> bool:
    """Whether a pipeline is nothing but the data."""
    operands = [operand for command in pipeline.commands for operand in command.operands]
    return (
        len(operands) == 1 and not pipeline.variables and isinstance(_use(operands[0], dot=dot, dollar=dollar), _Data)
    )


def _of_pipeline(pipeline: Pipeline, *, dot: bool, dollar: bool) -> Iterator[_Use]:
    for command in pipeline.commands:
        for operand in command.operands:
            yield _use(operand, dot=dot, dollar=dollar)
            inner = operand.start if isinstance(operand, Path) else operand
            if isinstance(inner, Pipeline):
                yield from _of_pipeline(inner, dot=dot, dollar=dollar)


def _use(operand: Operand, *, dot: bool, dollar: bool) -> _Use:
    is_dot = dot and isinstance(operand, Dot)
    is_dollar = dollar and isinstance(operand, Path) and operand.start == "$" and not operand.names
    return _Data() if is_dot or is_dollar else operand
