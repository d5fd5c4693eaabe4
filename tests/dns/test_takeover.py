"""A zone goes from external-dns to gatepost and back: each finds what the other wrote, and changes nothing."""

from __future__ import annotations

import base64
import gzip
from pathlib import Path

import pytest
from click.testing import CliRunner
from external_dns_reader import record_behind
from hypothesis import given
from hypothesis import strategies as st

from gatepost.cli.commands import gatepost
from gatepost.dns.ownership.txt_format import OwnershipNames

LAYOUTS = [
    OwnershipNames(wildcard="any"),
    OwnershipNames(prefix="ext-", wildcard="any"),
    OwnershipNames(prefix="_edns.", wildcard="any"),
    OwnershipNames(prefix="x-%{record_type}.", wildcard="any"),
    OwnershipNames(prefix="%{record_type}-own-", wildcard="any"),
    OwnershipNames(suffix="-ext", wildcard="any"),
    OwnershipNames(suffix="-%{record_type}.own", wildcard="any"),
    OwnershipNames(suffix=".own", wildcard="any"),
]
label = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True)


@given(
    names=st.sampled_from(LAYOUTS),
    labels=st.lists(label, min_size=1, max_size=3),
    record_type=st.sampled_from(["A", "AAAA", "CNAME", "MX", "SRV", "PTR", "NS", "DNAME", "NAPTR"]),
)
def test_external_dns_finds_the_record_behind_what_gatepost_wrote(
    names: OwnershipNames, labels: list[str], record_type: str
) -> None:
    name = ".".join([*labels, "example.com"])
    written = names.for_record(name, record_type)
    assert record_behind(written, names.prefix, names.suffix) == (name, record_type)


@pytest.mark.parametrize("names", LAYOUTS)
def test_external_dns_finds_a_wildcard_under_its_replacement(names: OwnershipNames) -> None:
    written = names.for_record("*.example.com", "A")
    assert record_behind(written, names.prefix, names.suffix) == ("any.example.com", "A")


# Zones that external-dns made, written by hand after its rules

OURS = '"heritage=external-dns,external-dns/owner=prod,external-dns/resource=crd/shop/static"'
MANIFEST = """
apiVersion: externaldns.k8s.io/v1alpha1
kind: DNSEndpoint
metadata: {name: static, namespace: shop}
spec:
  endpoints:
    - {dnsName: app.example.com, recordType: A, targets: [192.0.2.1, 192.0.2.2], recordTTL: 60}
    - {dnsName: app.example.com, recordType: AAAA, targets: ["2001:db8::1"]}
    - {dnsName: www.example.com, recordType: CNAME, targets: [app.example.net]}
    - {dnsName: "*.wild.example.com", recordType: A, targets: [192.0.2.3]}
"""
RECORDS = """\
$ORIGIN example.com.
$TTL 300
@      IN SOA ns1 admin 1 3600 600 86400 60
@      IN NS  ns1.example.net.
app    60 IN A 192.0.2.1
app    60 IN A 192.0.2.2
app    IN AAAA 2001:db8::1
www    IN CNAME app.example.net.
*.wild IN A 192.0.2.3
by-hand IN A 203.0.113.1
"""
ZONES = {
    "no affix": ((), ("a-app", "aaaa-app", "cname-www", "a-_wildcard.wild")),
    "prefix": (("--txt-prefix", "ext-"), ("ext-a-app", "ext-aaaa-app", "ext-cname-www", "ext-a-_wildcard.wild")),
    "upper case": (("--txt-prefix", "EXT-"), ("ext-a-app", "ext-aaaa-app", "ext-cname-www", "ext-a-_wildcard.wild")),
    "prefix with type": (
        ("--txt-prefix", "x-%{record_type}.", "--txt-wildcard-replacement", "any"),
        ("x-a.app", "x-aaaa.app", "x-cname.www", "x-a.any.wild"),
    ),
    "suffix": (("--txt-suffix", "-ext"), ("a-app-ext", "aaaa-app-ext", "cname-www-ext", "a-_wildcard-ext.wild")),
    "suffix with type": (
        ("--txt-suffix", "-%{record_type}.own"),
        ("app-a.own", "app-aaaa.own", "www-cname.own", "_wildcard-a.own.wild"),
    ),
}
KEY = "0123456789abcdef0123456789abcdef"


def plan(tmp_path: Path, names: tuple[str, ...], *flags: str, text: str = OURS) -> tuple[int, str]:
    """Exit code of `gatepost plan` over that zone, and what it prints."""
    zone = tmp_path / "zone"
    zone.write_text(RECORDS + "".join(f"{name} IN TXT {text}\n" for name in names))
    manifest = tmp_path / "static.yaml"
    manifest.write_text(MANIFEST)
    arguments = ["plan", "--source", "crd", "--txt-owner-id", "prod", "--current", str(zone), *flags, str(manifest)]
    result = CliRunner().invoke(gatepost, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout


@pytest.mark.parametrize("layout", ZONES)
def test_a_zone_of_external_dns_is_taken_over_with_no_change(layout: str, tmp_path: Path) -> None:
    flags, names = ZONES[layout]
    assert plan(tmp_path, names, *flags) == (0, "Plan: no changes\n")


def test_without_its_flags_the_records_are_those_of_nobody(tmp_path: Path) -> None:
    code, printed = plan(tmp_path, ZONES["prefix"][1])
    assert code == 0
    assert printed.endswith("Plan: no changes; 4 refused\n")
    assert "app.example.com A belongs to nobody and is left as it is" in printed


def test_the_format_of_before_0_12_is_owned_and_gets_the_new_form_beside_it(tmp_path: Path) -> None:
    code, printed = plan(tmp_path, ("app", "_wildcard.wild", "aaaa-app"))  # a CNAME has no TXT beside it
    lines = [line.split() for line in printed.splitlines()]
    assert code == 4
    assert [line[:3] for line in lines if line and line[0] == "update"] == [
        ["update", "*.wild.example.com", "A"],
        ["update", "app.example.com", "A"],
    ]
    assert "ownership: its ownership record is written in an old form" in printed


def test_a_sealed_zone_is_taken_over_with_no_change(tmp_path: Path) -> None:
    aead = pytest.importorskip("cryptography.hazmat.primitives.ciphers.aead", reason="encryption is an extra")
    nonce = bytes(range(12))
    sealed = nonce + aead.AESGCM(KEY.encode()).encrypt(nonce, gzip.compress(OURS.strip('"').encode(), 9), None)
    text = f'"{base64.b64encode(sealed).decode()}"'
    flags = ("--txt-encrypt-enabled", "--txt-encrypt-aes-key", KEY)
    assert plan(tmp_path, ZONES["no affix"][1], *flags, text=text) == (0, "Plan: no changes\n")


def test_a_plain_zone_under_a_key_is_read_as_it_is(tmp_path: Path) -> None:
    flags = ("--txt-encrypt-enabled", "--txt-encrypt-aes-key", KEY)
    assert plan(tmp_path, ZONES["no affix"][1], *flags)[0] == 0
