"""Records from files: zone files, transfers and lists of endpoints, whole or not at all."""

from __future__ import annotations

import pytest

from gatepost.dns.endpoint import Endpoint, Property
from gatepost.providers.listing import BadListing, Listing, listing_in

OWNERSHIP = '"heritage=external-dns,external-dns/owner=me"'
ZONE_FILE = """\
; made by hand
$ORIGIN example.com.
$TTL 300
@       IN SOA ns1 admin 1 3600 600 86400 60
@       IN NS  ns1
ns1     IN A   192.0.2.53
App  60 IN A   192.0.2.2
app  60 IN A   192.0.2.1
www     IN CNAME app
*.apps  IN AAAA 2001:db8::1
@       IN MX  10 mail.example.net.
a-app   IN TXT "heritage=external-dns," "external-dns/owner=me"
note    IN TXT "two" "strings"
_sip._tcp IN SRV 1 2 5060 sip.example.net.
"""
SOA = "example.com.\t\t300\tIN\tSOA\tns1.example.com. admin.example.com. 1 3600 600 86400 60\n"
TRANSFER = f"""\

; <<>> DiG 9.20.11 <<>> @127.0.0.1 example.com AXFR
; (1 server found)
;; global options: +cmd
{SOA}example.com.\t\t300\tIN\tNS\tns1.example.com.
app.example.com.\t60\tIN\tA\t192.0.2.1
{SOA};; Query time: 0 msec
;; XFR size: 4 records (messages 1, bytes 171)
"""


def test_a_zone_file_gives_record_sets_and_the_name_of_the_zone() -> None:
    found = listing_in(ZONE_FILE)
    assert found.zones == ("example.com",)
    assert {(e.dns_name, e.record_type): (e.targets, e.record_ttl) for e in found.endpoints} == {
        ("example.com", "NS"): (("ns1.example.com",), 300),
        ("example.com", "MX"): (("10 mail.example.net",), 300),
        ("ns1.example.com", "A"): (("192.0.2.53",), 300),
        ("app.example.com", "A"): (("192.0.2.1", "192.0.2.2"), 60),
        ("www.example.com", "CNAME"): (("app.example.com",), 300),
        ("*.apps.example.com", "AAAA"): (("2001:db8::1",), 300),
        ("a-app.example.com", "TXT"): ((OWNERSHIP,), 300),
        ("note.example.com", "TXT"): (('"two" "strings"',), 300),
        ("_sip._tcp.example.com", "SRV"): (("1 2 5060 sip.example.net.",), 300),
    }


def test_the_output_of_dig_is_a_zone() -> None:
    assert listing_in(TRANSFER) == Listing(
        (
            Endpoint("app.example.com", "A", ("192.0.2.1",), 60),
            Endpoint("example.com", "NS", ("ns1.example.com",), 300),
        ),
        ("example.com",),
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (TRANSFER[: TRANSFER.rindex("example.com.\t\t300")], "a transfer that breaks off"),
        ("; <<>> DiG 9.20.11 <<>> example.com AXFR\n; Transfer failed.\n", "a transfer that failed"),
        ("app.example.com. 60 IN A 192.0.2.1\n", "no SOA record"),
        ("@ 60 IN SOA ns1 admin 1 2 3 4 5\napp 60 IN A 192.0.2.1\n", r"a line `\$ORIGIN example.com.`"),
        (ZONE_FILE + "bad IN A 192.0.2\n", "no DNS zone"),
        (ZONE_FILE + "$INCLUDE /etc/hosts\n", "no DNS zone"),
        (ZONE_FILE + "www IN A 192.0.2.1\n", "no DNS zone"),
        ("", "a zone without any is the list"),
        ("[", "no YAML"),
        ('[{"dnsName":"a.example.com"}]', "no endpoint"),
        ("- dnsName: a.example.com\n  recordType: A\n  targets: 192.0.2.1\n", "no endpoint"),
    ],
)
def test_what_is_not_whole_is_refused(text: str, told: str) -> None:
    with pytest.raises(BadListing, match=told):
        listing_in(text)


APP = Endpoint("a.example.com", "A", ("192.0.2.1",), 60, "blue", {"resource": "crd/a/b"}, (Property("alias", "true"),))


@pytest.mark.parametrize(
    "text",
    [
        '[{"dnsName":"a.example.com","recordType":"A","targets":["192.0.2.1"],"recordTTL":60,"setIdentifier":"blue",'
        '"labels":{"resource":"crd/a/b"},"providerSpecific":[{"name":"alias","value":"true"}]}]',
        "dnsName: a.example.com\nrecordType: A\ntargets: [192.0.2.1]\nrecordTTL: 60\nsetIdentifier: blue\n"
        "labels: {resource: crd/a/b}\nproviderSpecific: [{name: alias, value: 'true'}]\n",
        "# the same\n- dnsName: a.example.com\n  recordType: A\n  targets: [192.0.2.1]\n  recordTTL: 60\n"
        "  setIdentifier: blue\n  labels: {resource: crd/a/b}\n  providerSpecific: [{name: alias, value: 'true'}]\n",
    ],
)
def test_json_and_yaml_hold_endpoints_as_they_are(text: str) -> None:
    assert listing_in(text) == Listing((APP,))


def test_an_empty_list_is_a_zone_without_records() -> None:
    assert listing_in("[]\n") == Listing(())
