"""What went wrong with a call over HTTP, in words: one short line, the same each time that the same goes wrong."""

from __future__ import annotations

import html
import re
import ssl

import aiohttp

_LONGEST = 200
_UNSEEN = re.compile(r"(?is)<(head|script|style)\b.*?</\1\s*>|<!--.*?-->")
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
        return f"cannot connect to {error.host}:{error.port}: {error.os_error.strerror or error.os_error}"
    return _in_one_line(str(error)) or type(error).__name__


def text_in(body: bytes) -> str:
    """What an answer says that is not of the kind that was asked for, such as the page of a proxy; "" if nothing.

    Of a page in HTML its title, else its text. One line without control characters, 200 characters at most.
    """
    text = body[: 100 * _LONGEST].decode("utf-8", "replace")
    if "<" in text and _TAG.search(text) and re.match(r"\s*<", text):
        title = _TITLE.search(text)
        shown = title[1] if title is not None and title[1].strip() else _UNSEEN.sub(" ", text)
        text = html.unescape(_TAG.sub(" ", shown))
    line = _in_one_line(text)
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."


def _in_one_line(text: str) -> str:
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())
