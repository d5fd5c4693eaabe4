"""Templates: parsed once, executed for each object."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from gatepost.gotemplate.errors import TemplateSyntaxError
from gatepost.gotemplate.execute import Execution, Program
from gatepost.gotemplate.fields import MissingKey
from gatepost.gotemplate.functions import SPECIAL, builtins
from gatepost.gotemplate.limits import Limits
from gatepost.gotemplate.parser import parse
from gatepost.gotemplate.reading import may_read
from gatepost.gotemplate.values import Function

_NO_FUNCTIONS: Mapping[str, Function] = MappingProxyType({})
_LIMITS = Limits()


class Template:
    """A template in the language of Go's text/template. Make one with `Template.parse`."""

    __slots__ = ("_program",)

    def __init__(self, program: Program) -> None:
        self._program = program

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        name: str,
        functions: Mapping[str, Function] = _NO_FUNCTIONS,
        missing_key: MissingKey = "default",
        limits: Limits = _LIMITS,
    ) -> Template:
        """The template of a text.

        Args:
            name: what messages call it: the flag or key that it comes from.
            functions: those that it may call besides Go's own, which they may replace.
            missing_key: what a key gives that a map lacks; "zero" makes it "" in Strings and nil in a dict.
        Raises: TemplateSyntaxError
        """
        if len(text) > limits.text:
            raise TemplateSyntaxError(name, 1, 1, f"{len(text)} characters", f"at most {limits.text}")
        known = {**builtins(limits), **functions}
        templates = parse(name, text, {**known, **dict.fromkeys(SPECIAL)})
        return cls(Program(name, text, templates, known, missing_key, limits))

    def may_read(self, names: frozenset[str], holders: frozenset[str]) -> bool:
        """Whether an execution could come to fields or keys of these names; sometimes true though none ever does.

        Args:
            holders: the fields and keys that hold them, perhaps deeper down, besides the data itself.
        """
        return may_read(self._program.templates, self._program.name, names, holders)

    def execute(self, data: Any) -> str:
        """The text that the template gives for this data.

        Args:
            data: made of the types in values.py.
        Raises: TemplateError if it cannot be executed with this data, or goes beyond its limits.
        """
        return Execution(self._program, data).run()
