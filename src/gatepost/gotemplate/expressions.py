"""Inside an action: pipelines, commands and operands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from gatepost.gotemplate.errors import FunctionError, TemplateSyntaxError, position
from gatepost.gotemplate.lexer import Item, Token, tokens
from gatepost.gotemplate.literals import BadLiteral, character, number, text_in_quotes
from gatepost.gotemplate.nodes import Command, Dot, Literal, Nil, Operand, Path, Pipeline, Word
from gatepost.gotemplate.values import Function

_OPERANDS = frozenset(
    (
        Token.BOOL,
        Token.CHARACTER,
        Token.DOT,
        Token.FIELD,
        Token.WORD,
        Token.NUMBER,
        Token.NIL,
        Token.STRING,
        Token.VARIABLE,
        Token.OPEN,
    )
)


class TokenStream:
    """The tokens of a text, one after another. Blanks are skipped unless they are asked for."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self._source = tokens(name, text)
        self._ahead: list[Item] = []
        self.taken = Item(Token.END, "", 0)

    def peek(self) -> Item:
        """The next token that is no blank."""
        while (item := self.peek_raw()).token is Token.BLANK:
            self._ahead.pop(0)
        return item

    def peek_raw(self) -> Item:
        """The next token, which may be a blank."""
        if not self._ahead:
            self._ahead.append(next(self._source))
        return self._ahead[0]

    def next(self) -> Item:
        """Takes the next token that is no blank."""
        self.taken = self.peek()
        self._ahead.pop(0)
        return self.taken

    def put_back(self, *items: Item) -> None:
        """Gives back tokens that were taken, in the order of the text."""
        self._ahead[:0] = items

    def expect(self, token: Token) -> Item:
        """Takes a token of that kind. Raises: TemplateSyntaxError if the next one is of another."""
        item = self.next()
        if item.token is not token:
            raise self.refusal(item, token.value if token is Token.STRING else repr(token.value))
        return item

    def refusal(self, item: Item, wanted: str, found: str = "") -> TemplateSyntaxError:
        return TemplateSyntaxError(self.name, *position(self.text, item.offset), found or item.shown, wanted)


class ExpressionParser:
    """Reads pipelines; knows which variables and functions there are."""

    def __init__(self, stream: TokenStream, functions: Mapping[str, Function | None], max_nesting: int) -> None:
        self._stream = stream
        self._functions = functions
        self._max_nesting = max_nesting
        self._nesting = 0
        self._variables = ["$"]

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Variables that are declared within are gone afterwards."""
        before = len(self._variables)
        yield
        del self._variables[before:]

    @contextmanager
    def fresh_variables(self) -> Iterator[None]:
        before, self._variables = self._variables, ["$"]
        yield
        self._variables = before

    @contextmanager
    def deeper(self, offset: int) -> Iterator[None]:
        """One level more of nesting. Raises: TemplateSyntaxError beyond the limit"""
        self._nesting += 1
        if self._nesting > self._max_nesting:
            found = f"more than {self._max_nesting} blocks and parentheses inside one another"
            raise self._stream.refusal(Item(Token.OPEN, "", offset), "a simpler template", found)
        yield
        self._nesting -= 1

    def pipeline(self, what: str, end: Token, *, is_range: bool = False) -> Pipeline:
        """A pipeline up to `end`, which is taken too.

        Args:
            what: the action that it belongs to, for messages.
        """
        first = self._stream.peek()
        variables, assigns = self._declarations(what, is_range=is_range)
        commands: list[Command] = []
        while self._stream.peek().token is not end:
            item = self._stream.peek()
            if item.token not in _OPERANDS:
                raise self._stream.refusal(item, f"a value in {what}")
            commands.append(self._command(is_first=not commands))
            if self._stream.peek().token is Token.PIPE:
                self._stream.next()  # with nothing after it, as Go has it, it does no harm
            elif self._stream.peek().token is not end:
                raise self._stream.refusal(self._stream.peek(), f"'|' or {end.value!r} in {what}")
        closing = self._stream.next()
        if not commands:
            raise self._stream.refusal(closing, f"a value in {what}")
        text = self._stream.text[first.offset : closing.offset].strip()
        return Pipeline(first.offset, text, variables, assigns, tuple(commands))

    def _declarations(self, what: str, *, is_range: bool) -> tuple[tuple[str, ...], bool]:
        """The variables before := or =, if there are any, and whether they are assigned to rather than declared."""
        names: list[str] = []
        while (variable := self._stream.peek()).token is Token.VARIABLE:
            self._stream.next()
            directly_after = self._stream.peek_raw()
            sign = self._stream.peek()
            if sign.token in (Token.DECLARE, Token.ASSIGN):
                self._stream.next()
                names.append(variable.text)
                self._variables.extend(names)
                return tuple(names), sign.token is Token.ASSIGN
            if sign.text != ",":
                blank = (directly_after,) if directly_after.token is Token.BLANK else ()
                self._stream.put_back(variable, *blank)
                break
            self._stream.next()
            names.append(variable.text)
            if not is_range or len(names) > 1:
                raise self._stream.refusal(variable, "at most two in {{range}}, one elsewhere", f"variables in {what}")
        if names:
            raise self._stream.refusal(self._stream.peek(), f"a second variable and ':=' in {what}")
        return (), False

    def _command(self, *, is_first: bool) -> Command:
        first = self._stream.peek()
        operands = [self._operand()]
        if not is_first and isinstance(operands[0], Literal | Dot | Nil):
            raise self._stream.refusal(first, "a function or a field after '|'")
        while self._stream.peek_raw().token is Token.BLANK and self._stream.peek().token in _OPERANDS:
            operands.append(self._operand())
        if self._stream.peek_raw().token in _OPERANDS:
            raise self._stream.refusal(self._stream.peek_raw(), "a blank before it")
        self._check_constants(first, operands)
        return Command(first.offset, tuple(operands))

    def _check_constants(self, first: Item, operands: list[Operand]) -> None:
        """Lets a function refuse constants that it can never take."""
        function = self._functions.get(first.text) if isinstance(operands[0], Word) else None
        constants = [operand.value for operand in operands[1:] if isinstance(operand, Literal)]
        if function is None or function.check is None or len(constants) < max(1, len(operands) - 1):
            return
        try:
            function.check(*constants)
        except FunctionError as error:
            found = " ".join([first.text, *(operand.text for operand in operands[1:] if isinstance(operand, Literal))])
            raise self._stream.refusal(first, str(error), found) from error

    def _operand(self) -> Operand:
        """A term and the fields that are asked of it."""
        item = self._stream.peek()
        term = self._term()
        names: list[str] = []
        while self._stream.peek_raw().token is Token.FIELD:
            names.append(self._stream.next().text[1:])
        if not names:
            return term
        if isinstance(term, Literal | Nil | Dot):
            raise self._stream.refusal(
                item, "fields of a variable, a field or parentheses only", f"fields of {item.text}"
            )
        text = self._stream.text[item.offset : self._stream.taken.offset] + self._stream.taken.text
        if isinstance(term, Path):
            return Path(item.offset, text, term.start, (*term.names, *names))
        return Path(item.offset, text, term, tuple(names))

    def _term(self) -> Operand:
        item = self._stream.next()
        match item.token:
            case Token.DOT:
                return Dot(item.offset)
            case Token.NIL:
                return Nil(item.offset)
            case Token.FIELD:
                return Path(item.offset, item.text, None, (item.text[1:],))
            case Token.BOOL:
                return Literal(item.offset, item.text, item.text == "true")
            case Token.STRING:
                return Literal(item.offset, item.text, self.text(item))
            case Token.NUMBER | Token.CHARACTER:
                return self._number(item)
            case Token.VARIABLE if item.text not in self._variables:
                raise self._stream.refusal(
                    item, "a variable that is declared before", f"undefined variable {item.text}"
                )
            case Token.VARIABLE:
                return Path(item.offset, item.text, item.text, ())
            case Token.WORD if item.text not in self._functions:
                known = ", ".join(sorted(self._functions))
                raise self._stream.refusal(item, f"one of {known}", f"unknown function {item.text!r}")
            case Token.WORD:
                return Word(item.offset, item.text)
        with self.deeper(item.offset):
            return self.pipeline("parentheses", Token.CLOSE)

    def _number(self, item: Item) -> Literal:
        read = number if item.token is Token.NUMBER else character
        try:
            return Literal(item.offset, item.text, read(item.text))
        except BadLiteral as error:
            raise self._stream.refusal(item, str(error)) from error

    def text(self, item: Item) -> str:
        """The text of a token in quotes."""
        try:
            return text_in_quotes(item.text)
        except BadLiteral as error:
            raise self._stream.refusal(item, str(error)) from error
