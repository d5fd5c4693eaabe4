"""Logs: a constant message and fields, one line each."""

from __future__ import annotations

import json
import logging

from gatepost.log_fields import fields
from gatepost.objects.refs import Ref
from gatepost.runtime.logs import JsonFormatter, TextFormatter

REF = Ref("", "Service", "shop", "cart")


def record(**values: object) -> logging.LogRecord:
    made = logging.LogRecord("gatepost.writes", logging.INFO, "file.py", 1, "wrote an object", (), None)
    made.created = 1_772_323_200.5  # 2026-03-01T00:00:00.500Z
    made.fields = fields(**values)["fields"]
    return made


def test_text_quotes_what_has_spaces_and_leaves_out_what_is_empty() -> None:
    line = TextFormatter().format(record(ref=REF, call="apply", subresource="", targets=["a", "b"]))
    assert line == (
        '2026-03-01T00:00:00.500Z INFO wrote an object ref="Service shop/cart" call=apply targets=["a","b"]'
    )


def test_a_line_break_in_a_value_does_not_make_a_second_line() -> None:
    assert "\n" not in TextFormatter().format(record(error="one\ntwo"))


def test_json_has_the_fields_beside_the_message() -> None:
    assert json.loads(JsonFormatter().format(record(ref=REF, seconds=1.5))) == {
        "time": "2026-03-01T00:00:00.500Z",
        "level": "INFO",
        "logger": "gatepost.writes",
        "message": "wrote an object",
        "ref": "Service shop/cart",
        "seconds": 1.5,
    }
