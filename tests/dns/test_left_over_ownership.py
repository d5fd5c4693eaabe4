"""Ownership records that speak of nothing: which of them may go."""

from __future__ import annotations

import pytest

from gatepost.dns.endpoint import Endpoint
from gatepost.dns.ownership.registry import inventory
from gatepost.dns.settings import DnsSettings

SETTINGS = DnsSettings(sources=("gateway-httproute",), txt_owner_id="me")
KEY = ("app.example.com", "")
TYPES = ("A", "AAAA", "CNAME")


def ownership(name: str, owner: str = "me") -> Endpoint:
    return Endpoint(name, "TXT", (f'"heritage=external-dns,external-dns/owner={owner}"',))


def left_over(*records: Endpoint, claimed: tuple[tuple[str, str], ...] = ()) -> list[str]:
    held = inventory(SETTINGS, records, ["example.com"])
    return [record.dns_name for record in held.left_over(claimed, TYPES)]


def test_ours_without_a_record_may_go() -> None:
    assert left_over(ownership("a-app.example.com"), ownership("app.example.com")) == [
        "a-app.example.com",
        "app.example.com",
    ]


@pytest.mark.parametrize(
    "stays",
    [
        ownership("a-app.example.com", "them"),
        Endpoint(
            "a-app.example.com", "TXT", ('"heritage=external-dns"', '"heritage=external-dns,external-dns/owner=me"')
        ),
        Endpoint("a-app.example.com", "TXT", ('"v=spf1 -all"',)),
        Endpoint("a-app.example.com", "A", ("192.0.2.1",)),
    ],
)
def test_what_is_not_clearly_ours_stays(stays: Endpoint) -> None:
    assert left_over(stays) == []


def test_that_of_a_name_that_is_claimed_stays() -> None:
    assert left_over(ownership("cname-app.example.com"), claimed=(KEY,)) == []


@pytest.mark.parametrize("record_type", ["A", "AAAA", "CNAME", "MX"])
@pytest.mark.parametrize("name", ["app.example.com", "cname-app.example.com", "a-app.example.com"])
def test_what_external_dns_leaves_beside_a_record_stays(record_type: str, name: str) -> None:
    typed = ownership(f"{record_type.lower()}-app.example.com")
    assert left_over(Endpoint("app.example.com", record_type, ("x",)), typed, ownership(name)) == []


@pytest.mark.parametrize("record_type", ["TXT", "MX", "AAAA"])
def test_beside_what_is_not_ours_it_keeps_nobody_from_the_name(record_type: str) -> None:
    theirs = Endpoint("app.example.com", record_type, ("x",))
    assert left_over(theirs, ownership("a-app.example.com")) == ["a-app.example.com"]


def test_what_makes_a_record_ours_stays() -> None:
    assert left_over(Endpoint("app.example.com", "MX", ("x",)), ownership("app.example.com")) == []


def test_without_a_registry_there_is_none() -> None:
    held = inventory(DnsSettings(sources=("crd",), registry="noop"), [ownership("a-app.example.com")])
    assert held.left_over((), TYPES) == ()
