"""From the bytes of a file to its documents, each with the line on which it starts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from gatepost.manifests.problems import Fault, Refused

utf8_bom = b"\xef\xbb\xbf"
# YAML 1.2, 9.1.2: at the start of a line, these followed by white space are markers whatever surrounds them, inside
# quotes and block scalars too. So a broken document cannot swallow the next one.
marker = re.compile(rb"^(?:\xef\xbb\xbf)?(?:---|\.\.\.)(?=[ \t\r\n]|\Z)", re.MULTILINE)
only_directives = re.compile(rb"(?:[ \t]*(?:#[^\n]*)?(?:\n|\Z)|\.\.\.[ \t\r]*\n|%[^\n]*\n)*\Z")

blank = (b"", b"---", b"...")


class Document(Struct, frozen=True):
    """One YAML document or one or more JSON values in a row: UTF-8 text that can be parsed without the rest."""

    file: str
    first_line: int
    source: bytes
    opens_file: bool = True


def documents_of(file: str, content: bytes) -> Iterator[Document]:
    """The documents of a file in order; most of those without content are left out.

    Args:
        file: the label that messages use.
        content: UTF-8 with or without byte order mark, or UTF-16 with one (as kubectl accepts).
    Raises: Refused, if UTF-16 content cannot be decoded.
    """
    content = _in_utf8(content)
    start, line, opens_file = 0, 1, True
    for mark in marker.finditer(content):
        piece = content[start : mark.start()]
        # Directives (%YAML, %TAG) belong to the document after the marker.
        if b"%" in piece and only_directives.match(piece):
            continue
        if piece.strip() not in blank:
            yield Document(file, line, _bare(piece), opens_file)
            opens_file = False
        line += piece.count(b"\n")
        start = mark.start()
    yield Document(file, line, _bare(content[start:]), opens_file)


def _in_utf8(content: bytes) -> bytes:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            content = content.decode("utf-16").encode("utf-8")
        except UnicodeError as error:
            wanted = "UTF-8 or UTF-16 text"
            raise Refused(Fault(1, "a UTF-16 byte order mark before bytes that are not UTF-16", wanted)) from error
    # A lone carriage return ends a line in YAML as well, and so it does in editors.
    return re.sub(rb"\r(?!\n)", b"\n", content) if b"\r" in content else content


def _bare(piece: bytes) -> bytes:
    """Without the end marker of the document before, and without byte order marks at starts of lines.

    Files joined by `cat` carry such a mark in front of each document.
    """
    if utf8_bom in piece:
        piece = re.sub(rb"^\xef\xbb\xbf", b"", piece, flags=re.MULTILINE)
    return piece.removeprefix(b"...") if marker.match(piece) else piece


def decoded(document: Document) -> str:
    """The text of a document. Raises: Refused at the first byte that is not UTF-8."""
    try:
        return document.source.decode("utf-8")
    except UnicodeDecodeError as error:
        line = document.first_line + document.source.count(b"\n", 0, error.start)
        found = f"the byte 0x{document.source[error.start]:02x}, which is not UTF-8 (is this a binary file?)"
        raise Refused(Fault(line, found, "YAML or JSON text")) from error
