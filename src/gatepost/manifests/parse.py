"""Parses one document, YAML or JSON, into a Tree."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

from gatepost.manifests.documents import Document, decoded
from gatepost.manifests.problems import Fault, Refused, shortened
from gatepost.manifests.scalars import WrongTag, plain_value, tagged_value, whole
from gatepost.manifests.tree import Tree

longest_text: Final = 4 * 1024 * 1024
"""Characters of one string. The API server's store takes objects of 1.5 MiB unless it was configured otherwise."""

json_start = re.compile(r"\s*\{\s*[\"}]")
# Only finds errors and the end: it keeps no values, and converts no numbers, which may be of any length.
grammar = json.JSONDecoder(object_pairs_hook=lambda pairs: None, parse_int=str, parse_float=str)
json_value = re.compile(r"\s*\S")
# Possessive: a backtracking point for each character of a long string would take gigabytes.
json_token = re.compile(r'[ \t\r\n]*+(?:("[^"\\]*+(?:\\.[^"\\]*+)*+")|([{}\[\],:])|([^\s{}\[\],:"]++))', re.DOTALL)
json_blanks: Final = " \t\r\n"
json_words: Final[dict[str, Any]] = {"true": True, "false": False, "null": None}
control = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Parsed(NamedTuple):
    """One value of a document, and the character at which it starts: JSON values may stand in a row."""

    tree: Tree
    start: int


def parse(document: Document, start: int = 0) -> Iterator[Parsed]:
    """The values of a document from a character on: one for YAML, any number for JSON.

    Yields: trees, with the value None for a document without content.
    Raises: Refused, with the first thing that makes the next value unreadable.
    """
    text = decoded(document)
    if not json_start.match(text, start):
        yield Parsed(parse_yaml(document, text), 0)
        return
    try:
        tree, end = parse_json(document, text, start)
    except Refused:
        # kubectl takes the first document as its hint for the whole file, so there JSON must be sound.
        if document.opens_file or document.file.endswith(".json"):
            raise
        yield Parsed(parse_yaml(document, text), 0)
        return
    yield Parsed(tree, start)
    while more := json_value.match(text, end):
        start = more.end() - 1
        tree, end = parse_json(document, text, start)
        yield Parsed(tree, start)


def parse_json(document: Document, text: str, start: int) -> tuple[Tree, int]:
    """The JSON value that starts at a character of the text, and the character after it. Raises: Refused."""
    start = len(text) - len(text[start:].lstrip()) if text[start].isspace() else start
    try:
        _, end = grammar.raw_decode(text, start)
    except RecursionError:
        end = len(text)  # the tree refuses it too, and knows the line
    except json.JSONDecodeError as error:
        raise Refused(_json_fault(error, document, text)) from error
    tree = Tree()
    _feed_json(document, text, start, end, tree)
    return tree, end


def _json_fault(error: json.JSONDecodeError, document: Document, text: str) -> Fault:
    """What json says, the same in every version of Python.

    Of a comma before a closing bracket Python 3.13 tells the comma, earlier ones the bracket, where a value is missed.
    """
    message, at = error.msg, error.pos
    if message.startswith("Illegal trailing comma"):
        at = len(text) - len(text[at + 1 :].lstrip(json_blanks))
        message = "Expecting property name enclosed in double quotes" if text[at] == "}" else "Expecting value"
    line = document.first_line + text.count("\n", 0, at)
    column = at - text.rfind("\n", 0, at)
    return Fault(line, f"text that is not JSON: {message[:1].lower()}{message[1:]}", "a JSON object", column)


def _feed_json(document: Document, text: str, start: int, end: int, tree: Tree) -> None:
    """Walks the tokens of a JSON value whose grammar is known to be right, for the lines that json itself drops."""
    line, counted = document.first_line + text.count("\n", 0, start), start
    line_start = text.rfind("\n", 0, start) + 1
    for token in json_token.finditer(text, start, end):
        kind = token.lastindex or 0
        at = token.start(kind)
        breaks = text.count("\n", counted, at)
        if breaks:
            line += breaks
            line_start = text.rfind("\n", counted, at) + 1
        counted = at
        column = at - line_start + 1
        word = token[kind]
        if kind == 1:
            value = _unescaped(word) if "\\" in word else word[1:-1]
            _check_length(value, line, column)
            tree.scalar(value, line, column)
        elif kind == 3:
            tree.scalar(_json_word(word, line, column), line, column)
        elif word in "{[":
            tree.open({} if word == "{" else [], line, column)
        elif word in "}]":
            tree.close()


def _unescaped(word: str) -> str:
    """The text of a JSON string; half a surrogate pair becomes U+FFFD as with kubectl, for no UTF-8 can hold it."""
    text: str = json.loads(word)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _json_word(word: str, line: int, column: int) -> Any:
    if word in json_words:
        return json_words[word]
    if word.lstrip("-")[:1].isdigit() and len(word) <= 400:
        number = float(word)
        if number - number == 0:
            integer = word.lstrip("-").isdigit() and -(2**63) <= int(word) < 2**63
            return int(word) if integer else whole(number)
    raise Refused(Fault(line, f"{shortened(word)}", "a number that a 64-bit float can hold", column))


def parse_yaml(document: Document, text: str) -> Tree:
    """The tree of one YAML document. Raises: Refused."""
    import yaml

    if bad := control.search(text):
        line = document.first_line + text.count("\n", 0, bad.start())
        found = f"the control character 0x{ord(bad[0]):02x} (is this a binary file?)"
        raise Refused(Fault(line, found, "YAML or JSON text"))
    tree = Tree()
    parser = _parser_class()(document.source)
    try:
        _feed_yaml(parser.get_event, document.first_line, tree)
    except yaml.YAMLError as error:
        raise Refused(_yaml_fault(error, document, text)) from error
    finally:
        parser.dispose()
    return tree


def _feed_yaml(next_event: Any, first_line: int, tree: Tree) -> None:
    from yaml import events

    values: dict[str, Any] = {}
    scalar, open_, close = tree.scalar, tree.open, tree.close
    documents = 0
    while True:
        event = next_event()
        kind = event.__class__
        if kind is events.ScalarEvent:
            mark = event.start_mark
            line, column = first_line + mark.line, mark.column + 1
            text = event.value
            if event.tag is not None:
                value = _tagged(event.tag, text, line, column)
            elif event.implicit[0]:
                value = values.get(text, values)
                if value is values:
                    value = plain_value(text)
                    if len(text) < 64:  # words repeat, and shared ones save most of the memory
                        values[text] = value
            else:
                value = text
            if len(text) > longest_text:
                _check_length(text, line, column)
            scalar(value, line, column, event.anchor)
        elif kind is events.MappingStartEvent or kind is events.SequenceStartEvent:
            mark = event.start_mark
            empty: Any = {} if kind is events.MappingStartEvent else []
            open_(empty, first_line + mark.line, mark.column + 1, event.anchor)
        elif kind is events.MappingEndEvent or kind is events.SequenceEndEvent:
            close()
        elif kind is events.AliasEvent:
            tree.alias(event.anchor, first_line + event.start_mark.line, event.start_mark.column + 1)
        elif kind is events.DocumentStartEvent:
            documents += 1
            if documents > 1:
                line = first_line + event.start_mark.line
                raise Refused(Fault(line, "a second document without --- before it", "--- on a line of its own"))
        elif kind is events.StreamEndEvent:
            return


def _tagged(tag: str, text: str, line: int, column: int) -> Any:
    try:
        return tagged_value(tag, text)
    except WrongTag as error:
        raise Refused(Fault(line, f'"{shortened(text)}"', str(error), column)) from error


def _check_length(text: str, line: int, column: int) -> None:
    if len(text) > longest_text:
        found = f"a string of {len(text)} characters"
        raise Refused(Fault(line, found, f"at most {longest_text} in one string", column))


def _yaml_fault(error: Any, document: Document, text: str) -> Fault:
    """A YAML error in words for the file's author, with the line in the file rather than in the document."""
    wanted = "a YAML document"
    if "{{" in text:
        wanted += " (is this a template that was not rendered yet?)"
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:
        position = getattr(error, "position", None) or 0
        line = document.first_line + document.source.count(b"\n", 0, position)
        return Fault(line, f"text that is not YAML: {getattr(error, 'reason', error)}", wanted)
    if _tab_at(text, mark):
        wanted = "spaces: YAML takes no tabs for indentation"
    # What is still open at the end is reported behind the end, where the next document starts.
    last = text.rstrip().count("\n")
    at, column = (mark.line, mark.column + 1) if mark.line <= last else (last, 0)
    since = ""
    if error.context and error.context_mark and error.context_mark.line != at:
        since = f" ({error.context}, which began on line {document.first_line + error.context_mark.line})"
    found = f"text that is not YAML: {error.problem}{since}"
    return Fault(document.first_line + at, found, wanted, column)


def _tab_at(text: str, mark: Any) -> bool:
    lines = text.split("\n", mark.line + 1)
    return bool(lines[mark.line : mark.line + 1]) and lines[mark.line].startswith("\t", mark.column)


@cache
def _parser_class() -> Any:
    """PyYAML's event parser: libyaml's where it was built with it, else the one in Python, 20 times slower."""
    import yaml

    if yaml.__with_libyaml__:
        return vars(yaml.cyaml)["CParser"]
    from yaml.parser import Parser
    from yaml.reader import Reader
    from yaml.scanner import Scanner

    class PythonParser(Reader, Scanner, Parser):
        def __init__(self, stream: bytes) -> None:
            Reader.__init__(self, stream)
            Scanner.__init__(self)
            Parser.__init__(self)

    return PythonParser
