"""What went wrong with a call over the network, in words: one line, the same each time that the same goes wrong."""

from __future__ import annotations

import html
import os
import re
import ssl

import aiohttp

LONGEST_OF_LIBRARIES = 2000
"""Characters of what a library says of a failure: it names the role, the action, the resource and the cause."""

_LONGEST = 200
_READ_BYTES = 20_000  # a page has its title near its beginning
_UNSEEN = re.compile(r"(?is)<(head|script|style)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)")
_TAG = re.compile(r"<[^<>]*>")
_TITLE = re.compile(r"(?is)<title\b[^>]*>(.*?)</title\s*>")


def reason_of(error: BaseException) -> str:
    """Why there was no answer. aiohttp's own words name inner parts of it, and addresses of memory.

    Args: error: what aiohttp, asyncio or ssl raised.
    """
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return reason_of(error.certificate_error)
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message or error})"
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"cannot connect to {error.host}:{error.port}: {reason_of_system(error.os_error)}"
    return _in_one_line(str(error)) or type(error).__name__


def reason_of_system(error: OSError) -> str:
    """What the system said, in its own words: asyncio puts the address there once more.

    The numbers of TLS and of names that are not found are not those of the system, so their texts stay.
    """
    if error.errno and error.errno > 0 and not isinstance(error, ssl.SSLError):
        return os.strerror(error.errno)
    return error.strerror or str(error) or type(error).__name__


def said_in(body: bytes, longest: int = _LONGEST) -> str:
    """What an answer says that is not of the kind that was asked for, such as the page of a proxy; "" if nothing.

    Of a page in HTML its title, else its text. One line without control characters.
    Args: longest: in characters; what is cut ends with three dots.
    """
    text = body[:_READ_BYTES].decode("utf-8", "replace")
    if "<" in text and _TAG.search(text) and re.match(r"\s*<", text):
        title = _TITLE.search(text)
        shown = title[1] if title is not None and title[1].strip() else _UNSEEN.sub(" ", text)
        text = html.unescape(_TAG.sub(" ", shown))
    line = _in_one_line(text)
    return line if len(line) <= longest else f"{line[: longest - 3]}..."


def _in_one_line(text: str) -> str:
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())
