"""From tokens to the parts of a template, with all templates that the text defines.

Source: grammar in the documentation of Go's text/template.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from gatepost.gotemplate.errors import TemplateSyntaxError, position
from gatepost.gotemplate.expressions import ExpressionParser, TokenStream
from gatepost.gotemplate.lexer import RIGHT, Token
from gatepost.gotemplate.nodes import (
    Action,
    Body,
    Branch,
    Choice,
    Include,
    Leave,
    Node,
    Pipeline,
    Range,
    Text,
    is_blank,
)
from gatepost.gotemplate.values import Function

MAX_NESTING = 50
"""Blocks and parentheses inside one another; names of hosts need three."""


def parse(name: str, text: str, functions: Mapping[str, Function | None]) -> dict[str, Body]:
    """All templates of a text by name; `name` is that of the text outside of definitions.

    Args:
        functions: those that may be called; None for one that is no function of its arguments alone.
    Raises: TemplateSyntaxError
    """
    parser = _Parser(name, text, functions)
    try:
        return parser.parse()
    except RecursionError:  # the caller stands deep already
        raise TemplateSyntaxError(name, *position(text, 0), "blocks nested too deep", "a simpler template") from None


class _Parser:
    def __init__(self, name: str, text: str, functions: Mapping[str, Function | None]) -> None:
        self._name = name
        self._text = text
        self._stream = TokenStream(name, text)
        self._expressions = ExpressionParser(self._stream, functions, MAX_NESTING)
        self._templates: dict[str, Body] = {}
        self._ranges = 0  # around the current place, in the same template
        self._action = 0  # where the current action starts

    def parse(self) -> dict[str, Body]:
        body: list[Node] = []
        while (token := self._stream.peek()).token is not Token.END:
            if token.token is Token.TEXT:
                body.append(Text(self._stream.next().text))
                continue
            word = self._open_action()
            if word == "define":
                self._define()
            elif word in ("end", "else"):
                raise self._refusal(f"{{{{{word}}}}}", "a block that it belongs to")
            else:
                body.append(self._control(word))
        self._add(self._name, tuple(body), len(self._text))
        return self._templates

    def _open_action(self) -> str:
        """Takes the left delimiter and a keyword after it. Returns: the keyword, "" if there is none."""
        self._action = self._stream.expect(Token.LEFT).offset
        if self._stream.peek().token is Token.KEYWORD:
            return self._stream.next().text
        return ""

    def _control(self, word: str) -> Node:
        """What an action is that starts with this keyword; "" is a pipeline."""
        match word:
            case "":
                pipeline = self._expressions.pipeline("an action", Token.RIGHT)
                return Action(self._action, self._source(), pipeline)
            case "if" | "with":
                return self._choice(word)
            case "range":
                return self._range()
            case "template":
                return self._include()
            case "block":
                return self._block()
            case "break" | "continue":
                self._stream.expect(Token.RIGHT)
                if not self._ranges:
                    raise self._refusal(f"{{{{{word}}}}}", "a range around it")
                return Leave(word == "break")
        raise self._refusal(f"{{{{{word}}}}} inside a block", "it outside of all blocks")

    def _body(self, opened: str, at: int) -> tuple[Body, str]:
        """The parts up to the `end` or `else` that belongs to a block. Returns: them, and that keyword."""
        body: list[Node] = []
        while (token := self._stream.peek()).token is not Token.END:
            if token.token is Token.TEXT:
                body.append(Text(self._stream.next().text))
                continue
            word = self._open_action()
            if word in ("end", "else"):
                return tuple(body), word
            body.append(self._control(word))
        raise self._refusal(f"no {{{{end}}}} for {{{{{opened}}}}}", "one before the end of the text", at)

    def _choice(self, word: str) -> Choice:
        branches: list[Branch] = []
        at = self._action
        with self._block_of_its_own():
            while True:
                start = self._action
                condition = self._expressions.pipeline(f"{{{{{word}}}}}", Token.RIGHT)
                source = self._source()
                body, closing = self._body(word, at)
                branches.append(Branch(start, source, condition, body))
                if closing == "else" and self._stream.peek().text == word:
                    self._stream.next()  # "else if" goes on with another branch of the same block
                    continue
                return Choice(word == "with", tuple(branches), self._otherwise(word, closing, at))

    def _range(self) -> Range:
        at = self._action
        with self._block_of_its_own():
            pipeline = self._expressions.pipeline("{{range}}", Token.RIGHT, is_range=True)
            source = self._source()
            self._ranges += 1
            body, closing = self._body("range", at)
            self._ranges -= 1
            return Range(at, source, pipeline, body, self._otherwise("range", closing, at))

    def _otherwise(self, word: str, closing: str, at: int) -> Body:
        """What stands after `else`, empty without it, with the `end` of the block."""
        self._stream.expect(Token.RIGHT)
        if closing == "end":
            return ()
        body, closing = self._body(word, at)
        if closing != "end":
            raise self._refusal("a second {{else}}", "{{end}}")
        self._stream.expect(Token.RIGHT)
        return body

    def _include(self) -> Include:
        at = self._action
        name = self._template_name()
        if self._stream.peek().token is Token.RIGHT:
            self._stream.next()
            return Include(at, self._source(), name, None)
        pipeline = self._expressions.pipeline("{{template}}", Token.RIGHT)
        return Include(at, self._source(), name, pipeline)

    def _block(self) -> Include:
        at = self._action
        name = self._template_name()
        pipeline: Pipeline = self._expressions.pipeline("{{block}}", Token.RIGHT)
        source = self._source()
        self._definition("block", name, at)
        return Include(at, source, name, pipeline)

    def _define(self) -> None:
        at = self._action
        name = self._template_name()
        self._stream.expect(Token.RIGHT)
        self._definition("define", name, at)

    def _definition(self, word: str, name: str, at: int) -> None:
        """The body of a template of its own: it sees no variables and no range from around it."""
        ranges, self._ranges = self._ranges, 0
        with self._block_of_its_own(), self._expressions.fresh_variables():
            body, closing = self._body(word, at)
        self._ranges = ranges
        if closing != "end":
            raise self._refusal(f"{{{{else}}}} in {{{{{word}}}}}", "{{end}}")
        self._stream.expect(Token.RIGHT)
        self._add(name, body, at)

    def _add(self, name: str, body: Body, at: int) -> None:
        before = self._templates.get(name)
        if before is None or is_blank(before):
            self._templates[name] = body
        elif not is_blank(body):
            raise self._refusal(f"a second template {name!r}", "each name defined once", at)

    def _template_name(self) -> str:
        return self._expressions.text(self._stream.expect(Token.STRING))

    @contextmanager
    def _block_of_its_own(self) -> Iterator[None]:
        with self._expressions.deeper(self._action), self._expressions.scope():
            yield

    def _source(self) -> str:
        """The text of the action that was just read to its end."""
        return self._text[self._action : self._stream.taken.offset] + RIGHT

    def _refusal(self, found: str, wanted: str, at: int | None = None) -> TemplateSyntaxError:
        offset = self._action if at is None else at
        return TemplateSyntaxError(self._name, *position(self._text, offset), found, wanted)
