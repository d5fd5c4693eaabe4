"""From the text of a template to its tokens: texts, delimiters, and the words inside actions.

Trimming happens here: `{{- ` eats the blanks before it and ` -}}` those after it, so nothing later knows of either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from gatepost.gotemplate.errors import TemplateSyntaxError, position

LEFT, RIGHT = "{{", "}}"

_BLANKS = " \t\r\n"
_BLANK_RUN = re.compile(r"[ \t\r\n]+")
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(
    r"[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?|0[oO][0-7_]*|0[bB][01_]*"
    r"|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)i?"
)
_TEXT = re.compile(r'"(?:[^"\\\n]|\\[^\n])*"')
_RAW = re.compile(r"`[^`]*`")
_CHARACTER = re.compile(r"'(?:[^'\\\n]|\\[^\n])*'")


class Token(Enum):
    """The kinds of tokens; the value is what messages call them."""

    TEXT = "text"
    LEFT = "{{"
    RIGHT = "}}"
    END = "the end of the text"
    BLANK = "a blank"
    FIELD = "a field"
    VARIABLE = "a variable"
    WORD = "a word"
    KEYWORD = "a keyword"
    DOT = "a dot"
    NIL = "nil"
    BOOL = "true or false"
    NUMBER = "a number"
    CHARACTER = "a character"
    STRING = "a text in quotes"
    DECLARE = ":="
    ASSIGN = "="
    PIPE = "|"
    OPEN = "("
    CLOSE = ")"
    OTHER = "another character"


KEYWORDS = frozenset(("block", "break", "continue", "define", "else", "end", "if", "range", "template", "with"))
_SPECIAL_WORDS = {"nil": Token.NIL, "true": Token.BOOL, "false": Token.BOOL}
_SIGNS = {"=": Token.ASSIGN, "|": Token.PIPE, "(": Token.OPEN, ")": Token.CLOSE}


class Item(NamedTuple):
    """One token: its kind, its text as written, and where it starts."""

    token: Token
    text: str
    offset: int

    @property
    def shown(self) -> str:
        """How a message names it."""
        if self.token in (Token.STRING, Token.CHARACTER):
            return self.text  # has quotes of its own
        return self.token.value if self.token is Token.END else repr(self.text)


def tokens(name: str, text: str) -> Iterator[Item]:
    """The tokens of a text, END last, each found when it is asked for.

    Raises: TemplateSyntaxError
    """
    return _Lexer(name, text).run()


class _Lexer:
    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._text = text
        self._at = 0
        self._open = 0  # parentheses of this action
        self._action = 0  # where it starts

    def run(self) -> Iterator[Item]:
        text = self._text
        while True:
            start = self._at
            left = text.find(LEFT, start)
            plain = text[start:] if left < 0 else text[start:left]
            if left >= 0 and self._trims_before(left + len(LEFT)):
                plain = plain.rstrip(_BLANKS)
            if plain:
                yield Item(Token.TEXT, plain, start)
            if left < 0:
                yield Item(Token.END, "", len(text))
                return
            self._at = left + len(LEFT) + 2 * self._trims_before(left + len(LEFT))
            if text.startswith("/*", self._at):
                self._comment(left)
            else:
                yield Item(Token.LEFT, LEFT, left)
                self._action, self._open = left, 0
                yield from self._inside()

    def _inside(self) -> Iterator[Item]:
        """The tokens of one action, its right delimiter last."""
        while True:
            closing = self._right_delimiter()
            if closing is not None:
                if self._open:
                    raise self._refusal(self._at, repr(RIGHT), "')' for each '(' before it")
                item = Item(Token.RIGHT, RIGHT, self._at)
                self._after(closing)
                yield item
                return
            if self._at >= len(self._text):
                raise self._refusal(self._action, "an action without end", "'}}'")
            yield self._next()

    def _next(self) -> Item:
        start, text = self._at, self._text
        first = text[start]
        if first in _BLANKS:
            return self._blank()
        if first in _SIGNS:
            return self._sign(_SIGNS[first])
        if first == ":":
            if not text.startswith(":=", start):
                raise self._refusal(start, "':'", "':='")
            return self._take(Token.DECLARE, 2)
        if first in "\"`'":
            return self._quoted(first)
        if first in "+-" or _is_digit(first) or (first == "." and _is_digit(text[start + 1 : start + 2])):
            return self._number()
        if first in ".$":
            return self._name_after(first)
        if _WORD.match(first):
            return self._word()
        if " " < first < "\x7f":
            return self._take(Token.OTHER, 1)
        raise self._refusal(start, repr(first), "a word, a constant or '}}'")

    def _take(self, token: Token, length: int) -> Item:
        item = Item(token, self._text[self._at : self._at + length], self._at)
        self._at += length
        return item

    def _blank(self) -> Item:
        run = _BLANK_RUN.match(self._text, self._at)
        assert run is not None
        # The last blank before "-}}" belongs to the delimiter; a single one never gets here.
        length = len(run.group()) - self._text.startswith("-" + RIGHT, run.end())
        return self._take(Token.BLANK, length)

    def _sign(self, token: Token) -> Item:
        if token is Token.OPEN:
            self._open += 1
        elif token is Token.CLOSE:
            self._open -= 1
            if self._open < 0:
                raise self._refusal(self._at, "')'", "'(' before it")
        return self._take(token, 1)

    def _quoted(self, quote: str) -> Item:
        pattern, token = {
            '"': (_TEXT, Token.STRING),
            "`": (_RAW, Token.STRING),
            "'": (_CHARACTER, Token.CHARACTER),
        }[quote]
        matched = pattern.match(self._text, self._at)
        if matched is None:
            where = "" if quote == "`" else " on the same line"
            raise self._refusal(self._at, f"a constant that starts with {quote} and does not end", f"{quote}{where}")
        return self._take(token, len(matched.group()))

    def _number(self) -> Item:
        matched = _NUMBER.match(self._text, self._at)
        assert matched is not None
        after = self._text[matched.end() : matched.end() + 1]
        if after in ("+", "-") or _WORD.match(after) or matched.group() in ("+", "-"):
            found = matched.group() + after
            raise self._refusal(self._at, repr(found), "a number such as 42, 0x2a, 1_000 or 4.2e1")
        return self._take(Token.NUMBER, len(matched.group()))

    def _name_after(self, sign: str) -> Item:
        matched = _WORD.match(self._text, self._at + 1)
        length = 1 + (0 if matched is None else len(matched.group()))
        self._check_end_of_word(self._at + length)
        if sign == "$":
            return self._take(Token.VARIABLE, length)
        return self._take(Token.DOT if length == 1 else Token.FIELD, length)

    def _word(self) -> Item:
        matched = _WORD.match(self._text, self._at)
        assert matched is not None
        word = matched.group()
        self._check_end_of_word(matched.end())
        token = Token.KEYWORD if word in KEYWORDS else _SPECIAL_WORDS.get(word, Token.WORD)
        return self._take(token, len(word))

    def _check_end_of_word(self, end: int) -> None:
        after = self._text[end : end + 1]
        if after and after not in _BLANKS and after not in ".,|:()" and not self._text.startswith(RIGHT, end):
            raise self._refusal(end, repr(after), "a blank, '.', '|', ')' or '}}' after a name")

    def _comment(self, left: int) -> None:
        end = self._text.find("*/", self._at + 2)
        if end < 0:
            raise self._refusal(left, "a comment without end", "'*/}}'")
        self._at = end + 2
        closing = self._right_delimiter()
        if closing is None:
            raise self._refusal(self._at, repr(self._text[self._at : self._at + 1]), "'}}' or ' -}}' right after '*/'")
        self._after(closing)

    def _trims_before(self, at: int) -> bool:
        return self._text.startswith("-", at) and self._text[at + 1 : at + 2] in tuple(_BLANKS)

    def _right_delimiter(self) -> str | None:
        """The right delimiter that starts here, with its trim marker, None if there is none."""
        text, at = self._text, self._at
        if text.startswith(RIGHT, at):
            return RIGHT
        if text.startswith("-" + RIGHT, at + 1) and text[at] in _BLANKS:
            return text[at] + "-" + RIGHT
        return None

    def _after(self, closing: str) -> None:
        self._at += len(closing)
        if closing != RIGHT:
            run = _BLANK_RUN.match(self._text, self._at)
            self._at = self._at if run is None else run.end()

    def _refusal(self, offset: int, found: str, wanted: str) -> TemplateSyntaxError:
        return TemplateSyntaxError(self._name, *position(self._text, offset), found, wanted)


def _is_digit(text: str) -> bool:
    return text in tuple("0123456789")
