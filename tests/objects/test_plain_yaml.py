"""Which values a YAML text has, and that nothing in it raises anything but NotYaml."""

from __future__ import annotations

from typing import Any

import pytest

from gatepost.objects.plain_yaml import NotYaml, read_all_yaml, read_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("a: [1, true, x, null]", {"a": [1, True, "x", None]}),
        ("2026-01-02", "2026-01-02"),
        ("2026-13-45", "2026-13-45"),
        ("- 2026-01-02T25:61:61Z", ["2026-01-02T25:61:61Z"]),
        ("!!timestamp 2026-13-45", "2026-13-45"),
        ("- 1.5\n- 0x10\n", [1.5, 16]),
    ],
)
def test_a_date_is_a_string(text: str, value: Any) -> None:
    assert read_yaml(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "a: b: c",
        "--- 1\n--- 2\n",
        "!!int one",
        "!!int ''",
        "!!bool maybe",
        "9" * 5000,
        "[" * 5000,
        "\x00",
        "!!python/object:os.system {}",
        "? [a, b]\n: 1",
    ],
)
def test_whatever_is_wrong_is_no_yaml(text: str) -> None:
    with pytest.raises(NotYaml):
        read_yaml(text)


def test_the_line_of_a_mistake_is_told() -> None:
    with pytest.raises(NotYaml) as raised:
        read_yaml("a: 1\nb: 2\nc: ]\n")
    assert raised.value.line == 3


def test_all_documents_of_a_text_are_read() -> None:
    assert read_all_yaml("a\n---\nb\n") == ["a", "b"]
