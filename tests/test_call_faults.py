"""Faults of calls over the network in words: one short line, without what only a browser or a debugger wants."""

from __future__ import annotations

import socket

import aiohttp
import pytest

from gatepost.call_faults import reason_of, reason_of_system, said_in
from gatepost.standalone.ports import free_ports


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", ""),
        (b"zone is locked\n", "zone is locked"),
        (b"<html>\n<head><title>502 Bad Gateway</title></head>\n<body>nginx</body></html>", "502 Bad Gateway"),
        (
            b"<!doctype html><HTML><Head><Title></Title></Head><h1>Not&nbsp;here</h1><p>go &amp; look</p>",
            "Not here go & look",
        ),
        (b"<html><head><style>p {color: red}</style></head><body>gone<script>go()</script></body></html>", "gone"),
        (b"<html><body>gone<script>" + b"go(); " * 5000 + b"</script></body></html>", "gone"),
        (b"a < b and b > c", "a < b and b > c"),
        (b"\x1b[31mred\x1b[0m\x00\tend\xff", "[31mred [0m end\ufffd"),
        (b"x" * 500, "x" * 197 + "..."),
    ],
)
def test_an_answer_that_was_not_asked_for_is_told_in_one_line(body: bytes, expected: str) -> None:
    assert said_in(body) == expected


async def test_where_nobody_listens_the_address_and_the_reason_are_told() -> None:
    (port,) = free_ports(1, "127.0.0.1")
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientConnectorError) as raised:
            await session.get(f"http://127.0.0.1:{port}/")
    told = reason_of(raised.value)
    assert told == f"cannot connect to 127.0.0.1:{port}: Connection refused"


def test_an_error_without_words_is_told_by_its_name() -> None:
    assert reason_of(TimeoutError()) == "TimeoutError"


def test_a_library_whose_errors_explain_themselves_may_say_more() -> None:
    assert said_in(b"x" * 500, longest=1000) == "x" * 500


def test_a_name_that_is_not_found_keeps_its_own_text() -> None:
    assert reason_of_system(socket.gaierror(socket.EAI_NONAME, "Name or service not known")) == (
        "Name or service not known"
    )
