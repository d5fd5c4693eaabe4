"""Regular expressions of RE2 in Python."""

from __future__ import annotations

import pytest

from gatepost.dns.expressions import BadExpression, compiled


@pytest.mark.parametrize(
    ("expression", "found", "not_found"),
    [
        (r"\.example\.(com|org)$", "a.example.org", "a.example.net"),
        (r"(?i)EXAMPLE", "a.example.com", "a.exampl.com"),
        (r"^a\.(?i)EXAMPLE", "a.example.com", "b.example.com"),
        (r"x(?i)A|B", "xa", "y"),
        (r"x(?i)A|B", "b", "A"),  # the flag holds for the second branch too, and not before it
        (r"^((?i)A)B$", "aB", "ab"),
        (r"^(?i:A)b$", "ab", "aB"),
        (r"^[[:alpha:]]+$", "abc", "ab1"),
        (r"^[^[:digit:].]+$", "abc", "a1"),
        (r"^[]a]+$", "]a", "b"),
        (r"^[a&&b|~[]+$", "a&b[", "c"),
        (r"^[\d_-]+$", "1_-", "a"),
        (r"^\w+$", "a_1", "ü"),
        (r"\.org\z", "a.org", "a.org.x"),
        (r"^\Qa.b(\E$", "a.b(", "aXb("),
        (r"^\Qa.b", "a.bc", "aXbc"),
        (r"^(?P<first>a)\.(?<second>b)$", "a.b", "b.a"),
        (r"^a{2,3}?$", "aa", "a"),
        (r"\bdev\b", "a.dev.x", "adevx"),
    ],
)
def test_an_expression_finds_what_it_finds_in_re2(expression: str, found: str, not_found: str) -> None:
    assert compiled(expression).search(found) is not None
    assert compiled(expression).search(not_found) is None


@pytest.mark.parametrize(
    "expression",
    [
        *("(", ")", "a)(", "[a", "*a", "\\", "(?x)a", "a(?#b)", "[[:nope:]]", r"\C", r"\pL", r"a\Z"),
        *("a(?=b)", "(?!a)", "(?<=a)b", "(?<!a)b", r"(a)\1", "(?P=a)", "(?(1)a)", "(?>a)"),
    ],
)
def test_what_re2_does_not_have_is_refused(expression: str) -> None:
    with pytest.raises(BadExpression):
        compiled(expression)
