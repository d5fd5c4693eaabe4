"""Names and texts of ownership records: those of external-dns, to the byte, and where they must differ."""

from __future__ import annotations

import pytest

from gatepost.dns.ownership.txt_format import OwnershipNames, labels_in, ownership_text

APP, APEX, WILDCARD = ("app.example.com", "A"), ("example.com", "CNAME"), ("*.example.com", "A")

# Observed with external-dns 0.22.
VECTORS = [
    (OwnershipNames(), APP, "a-app.example.com"),
    (OwnershipNames(), APEX, "cname-example.com"),
    (OwnershipNames(), WILDCARD, "a-*.example.com"),
    (OwnershipNames(prefix="ext-"), APP, "ext-a-app.example.com"),
    (OwnershipNames(prefix="ext-"), APEX, "ext-cname-example.com"),
    (OwnershipNames(prefix="ext-"), WILDCARD, "ext-a-*.example.com"),
    (OwnershipNames(prefix="_edns."), APP, "_edns.a-app.example.com"),
    (OwnershipNames(prefix="_edns."), APEX, "_edns.cname-example.com"),
    (OwnershipNames(prefix="_edns."), WILDCARD, "_edns.a-*.example.com"),
    (OwnershipNames(prefix="x-%{record_type}."), APP, "x-a.app.example.com"),
    (OwnershipNames(prefix="x-%{record_type}."), APEX, "x-cname.example.com"),
    (OwnershipNames(prefix="x-%{record_type}."), WILDCARD, "x-a.*.example.com"),
    (OwnershipNames(suffix="-ext"), APP, "a-app-ext.example.com"),
    (OwnershipNames(suffix="-ext"), APEX, "cname-example-ext.com"),
    (OwnershipNames(suffix="-ext"), WILDCARD, "a-*-ext.example.com"),
    (OwnershipNames(suffix="-%{record_type}.own"), APP, "app-a.own.example.com"),
    (OwnershipNames(suffix="-%{record_type}.own"), APEX, "example-cname.own.com"),
    (OwnershipNames(suffix="-%{record_type}.own"), WILDCARD, "*-a.own.example.com"),
    (OwnershipNames(wildcard="any"), APP, "a-app.example.com"),
    (OwnershipNames(wildcard="any"), WILDCARD, "a-any.example.com"),
    (OwnershipNames(prefix="EXT-"), APP, "ext-a-app.example.com"),
]


@pytest.mark.parametrize(("names", "record", "expected"), VECTORS)
def test_ownership_is_written_where_external_dns_writes_it(
    names: OwnershipNames, record: tuple[str, str], expected: str
) -> None:
    assert names.for_record(*record) == expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (OwnershipNames(zones=("example.com",)), "cname-_apex.example.com"),
        (OwnershipNames(prefix="_edns.", zones=("example.com",)), "_edns.cname-_apex.example.com"),
        (OwnershipNames(suffix="-ext", zones=("example.com",)), "cname-_apex-ext.example.com"),
        (OwnershipNames(prefix="x-%{record_type}.", zones=("example.com",)), "x-cname.example.com"),
    ],
)
def test_the_ownership_of_an_apex_stays_in_its_zone(names: OwnershipNames, expected: str) -> None:
    assert names.for_record(*APEX) == expected


def test_a_name_in_the_inner_of_two_zones_counts_to_the_inner() -> None:
    names = OwnershipNames(zones=("example.com", "dev.example.com"))
    assert names.for_record("dev.example.com", "A") == "a-_apex.dev.example.com"


def test_ownership_is_read_where_older_versions_wrote_it() -> None:
    names = OwnershipNames(prefix="ext-", wildcard="any")
    assert list(names.to_read("app.example.com", "A")) == ["ext-a-app.example.com", "ext-app.example.com"]
    assert list(names.to_read("app.example.com", "AAAA")) == ["ext-aaaa-app.example.com"]
    assert list(names.to_read("app.example.com", "A", is_alias=True)) == [
        "ext-a-app.example.com",
        "ext-cname-app.example.com",
        "ext-app.example.com",
    ]
    assert list(names.to_read("*.example.com", "AAAA")) == ["ext-aaaa-any.example.com", "ext-aaaa-*.example.com"]


def test_an_ownership_record_that_does_not_fit_is_refused() -> None:
    names = OwnershipNames()
    assert names.refusal("a" * 61 + ".example.com", "A") is None  # "a-" and 61 characters are 63
    refused = names.refusal("a" * 62 + ".example.com", "A")
    assert refused is not None
    assert "64 characters" in refused


def test_a_text_lists_its_labels_in_order() -> None:
    text = ownership_text({"resource": "httproute/shop/cart", "owner": "me"})
    assert text == '"heritage=external-dns,external-dns/owner=me,external-dns/resource=httproute/shop/cart"'
    assert labels_in(text) == {"owner": "me", "resource": "httproute/shop/cart"}


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("heritage=external-dns,external-dns/owner=me", {"owner": "me"}),
        ('"heritage=external-dns,external-dns/owner=a=b"', {"owner": "a=b"}),
        ('"heritage=other,external-dns/owner=me"', None),
        ("v=spf1 -all", None),
        ("", None),
    ],
)
def test_only_texts_of_that_heritage_are_ownership(text: str, labels: dict[str, str] | None) -> None:
    assert labels_in(text) == labels


def test_a_text_that_a_provider_lists_in_several_strings_is_one() -> None:
    text = '"heritage=external-dns,external-dns/owner=me,external-dns/reso" "urce=httproute/shop/cart"'
    assert labels_in(text) == {"owner": "me", "resource": "httproute/shop/cart"}
