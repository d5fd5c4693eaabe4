"""Which texts are hostnames, and where those of a listener and a Route meet."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepost.dns.names import hostname, intersection, record_name, unicode_name

# Gateway API: hostnames of a listener and of a route; "" is unset.
MEETINGS = [
    ("", "", None),
    ("", "www.example.com", "www.example.com"),
    ("", "*.example.com", "*.example.com"),
    ("www.example.com", "", "www.example.com"),
    ("*.example.com", "", "*.example.com"),
    ("www.example.com", "www.example.com", "www.example.com"),
    ("www.example.com", "api.example.com", None),
    ("*.example.com", "www.example.com", "www.example.com"),
    ("*.example.com", "a.b.c.example.com", "a.b.c.example.com"),
    ("*.example.com", "example.com", None),
    ("*.example.com", "notexample.com", None),
    ("www.example.com", "*.example.com", "www.example.com"),
    ("a.b.example.com", "*.example.com", "a.b.example.com"),
    ("example.com", "*.example.com", None),
    ("*.example.com", "*.example.com", "*.example.com"),
    ("*.com", "*.example.com", "*.example.com"),
    ("*.example.com", "*.com", "*.example.com"),
    ("*.example.com", "*.team.example.com", "*.team.example.com"),
    ("*.team.example.com", "*.example.com", "*.team.example.com"),
    ("*.team.example.com", "x.team.example.com", "x.team.example.com"),
    ("*.team.example.com", "team.example.com", None),
    ("*.a.example.com", "*.b.example.com", None),
]


@pytest.mark.parametrize(("of_listener", "of_route", "expected"), MEETINGS)
def test_a_listener_and_a_route_meet_in_the_more_specific_hostname(
    of_listener: str, of_route: str, expected: str | None
) -> None:
    assert intersection(of_listener, of_route) == expected


NAMES = [".".join(labels) for length in (1, 2, 3, 4) for labels in product("ab", repeat=length)]
any_hostname = st.sampled_from([*NAMES[:14], *(f"*.{name}" for name in NAMES[:14])])


def names_of(host: str | None) -> set[str]:
    """The names, among all of up to four labels a or b, that a hostname stands for."""
    if host is None:
        return set()
    return {name for name in NAMES if name == host or (host.startswith("*.") and name.endswith(host[1:]))}


@given(any_hostname, any_hostname)
def test_where_two_hostnames_meet_stands_for_the_names_that_both_stand_for(of_listener: str, of_route: str) -> None:
    met = intersection(of_listener, of_route)
    assert names_of(met) == names_of(of_listener) & names_of(of_route)
    assert intersection(of_route, of_listener) == met


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("app.example.com", "app.example.com"),
        ("App.Example.COM", "app.example.com"),
        ("app.example.com.", "app.example.com"),
        ("*.example.com", "*.example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("*.Bücher.example", "*.xn--bcher-kva.example"),
        ("i❤.example", "xn--i-7iq.example"),
        ("a" * 63 + ".example.com", "a" * 63 + ".example.com"),
        ("1.example.com", "1.example.com"),
    ],
)
def test_hostnames_have_one_form(text: str, canonical: str) -> None:
    assert hostname(text) == canonical


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "*",
        "*.",
        "192.0.2.1",
        "2001:db8::1",
        "a_b.example.com",
        "-a.example.com",
        "a-.example.com",
        "a..example.com",
        "a.*.example.com",
        "*.*.example.com",
        "a" * 64 + ".example.com",
        ".".join(["a" * 49] * 6),  # 299 characters
        "app.example.com/path",
        "two words.example.com",
        " app.example.com",
        "app.example.com\n",
        "a\u200db.example",  # a joiner between letters that do not join
    ],
)
def test_other_texts_are_no_hostnames(text: str) -> None:
    assert hostname(text) is None


def test_a_record_may_have_a_name_that_no_host_has() -> None:
    assert record_name("_SIP._tcp.example.com.") == "_sip._tcp.example.com"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("xn--bcher-kva.example", "bücher.example"),
        ("Bücher.example.", "bücher.example"),
        ("*.xn--bcher-kva.example", "*.bücher.example"),
        ("_dmarc.xn--bcher-kva.example", "_dmarc.bücher.example"),
        (".xn--bcher-kva.example", ".bücher.example"),
        ("xn--a.xn--bcher-kva.example", "xn--a.bücher.example"),  # the first label is no punycode
        ("plain.example", "plain.example"),
    ],
)
def test_each_international_label_of_a_name_has_its_unicode_form(text: str, expected: str) -> None:
    assert unicode_name(text) == expected
