"""Regular expressions of RE2 in Python."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
        (r"\bdev\B", "a.devx", "a.dev.x"),
        (r"\bé", "xé", "é"),  # words are ASCII
        (r"^\D+$", "aü", "a1"),
        (r"^[\W\d]+$", "1.ü", "a"),
        (r"^\S$", "ü", " "),
        (r"^a{,2}$", "a{,2}", "aa"),  # no repetition without a first number
        (r"^a{2}b{1,}$", "aabb", "ab"),
        (r"^(a|b*)*c?$", "abbac", "d"),
        (r"^[[:^alpha:]]+$", "1.2", "a"),
        (r"^[^]a]$", "b", "]"),
        (r"^[a-]$", "-", "b"),
        (r"^\x61\x{62}\143$", "abc", "abd"),
        (r"(?U)^a+$", "aa", "b"),
        (r"(?s)^a.b$", "a\nb", "ab"),
        (r"^a.b$", "axb", "a\nb"),
        (r"(?m)^b$", "a\nb", "ab"),
        (r"^\Qa.\E+$", "a...", "a.a."),
        (r"^\pL+$", "aü", "a1"),
    ],
)
def test_an_expression_finds_what_it_finds_in_re2(expression: str, found: str, not_found: str) -> None:
    assert compiled(expression).search(found)
    assert not compiled(expression).search(not_found)


@pytest.mark.parametrize(
    "expression",
    [
        *("(", ")", "a)(", "[a", "*a", "\\", "(?x)a", "a(?#b)", "[[:nope:]]", r"a\Z"),
        *("a(?=b)", "(?!a)", "(?<=a)b", "(?<!a)b", r"(a)\1", "(?P=a)", "(?(1)a)", "(?>a)"),
        *("a++", "a*+", "a?+", "a**", "a{2}{3}", "a{1001}", "a{3,2}", "[b-a]", r"\é", "{2}"),
        *("((a{1000}){1000})", r"\x{110000}", "[a\\", "(?", "(?i", "(?P<a"),
    ],
)
def test_what_re2_does_not_have_is_refused(expression: str) -> None:
    with pytest.raises(BadExpression):
        compiled(expression)


@pytest.mark.parametrize("expression", ["^([a-z]+-?)+$", "^(a|a)*$", "^(a*)*$", "(a?){60}a{60}b", "(.*)*(.*)*=$"])
def test_no_name_takes_for_ever(expression: str) -> None:
    assert not compiled(expression).search("a" * 240 + ".")


def test_the_empty_expression_is_in_everything() -> None:
    assert compiled("").search("")
    assert compiled("a|").search("b")


@settings(deadline=None)
@given(
    st.recursive(
        st.sampled_from(["a", "b", ".", "[ab]", "[^a]", "^", "$", r"\b", "ab"]),
        lambda inner: st.one_of(
            st.tuples(inner, inner).map("".join),
            st.tuples(inner, inner).map("|".join),
            st.tuples(inner, st.sampled_from(["*", "+", "?", "{1,2}", "*?"])).map(lambda part: f"({part[0]}){part[1]}"),
        ),
        max_leaves=6,
    ),
    st.text("ab.", max_size=6),
)
def test_what_python_finds_too_is_found(expression: str, text: str) -> None:
    assert (compiled(expression).search(text) is not None) == (re.search(expression, text) is not None)
