"""What the DNS server answers, asked over UDP."""

from __future__ import annotations

from collections.abc import AsyncIterator

import dns.asyncquery
import dns.flags
import dns.message
import dns.rdataclass
import pytest
from dns.rcode import Rcode

from gatepost.dns.endpoint import Changes, Endpoint, Property
from gatepost.providers.embedded import EmbeddedProvider
from gatepost.standalone.dnsserver import DnsServer

RECORDS = (
    Endpoint("app.example.com", "A", ("192.0.2.1", "192.0.2.2"), 300),
    Endpoint("app.example.com", "AAAA", ("2001:db8::1",)),
    Endpoint("a-app.example.com", "TXT", ('"heritage=external-dns,external-dns/owner=me"',)),
    Endpoint("*.apps.example.com", "A", ("192.0.2.3",)),
    Endpoint("x.host.apps.example.com", "A", ("192.0.2.4",)),
    Endpoint("*.names.example.com", "CNAME", ("app.example.com",)),
    Endpoint("www.example.com", "CNAME", ("other.example.org",)),
    Endpoint("other.example.org", "CNAME", ("app.example.com",)),
    Endpoint("away.example.com", "CNAME", ("gw.example.net",)),
    Endpoint("dangling.example.com", "CNAME", ("none.example.org",)),
    Endpoint("loop-a.example.com", "CNAME", ("loop-b.example.com",)),
    Endpoint("loop-b.example.com", "CNAME", ("loop-a.example.com",)),
    Endpoint("sub.example.com", "NS", ("ns.sub.example.com", "ns.example.net")),
    Endpoint("ns.sub.example.com", "A", ("192.0.2.53",)),
    Endpoint("_sip._tcp.example.com", "SRV", ("10 5 5060 sip.example.com.",)),
    Endpoint("example.com", "MX", ("10 mail.example.com",)),
    Endpoint("1.2.0.192.in-addr.arpa", "PTR", ("app.example.com",)),
)


@pytest.fixture
async def provider() -> EmbeddedProvider:
    provider = EmbeddedProvider(["example.com", "example.org", "2.0.192.in-addr.arpa"])
    results = await provider.apply(Changes(create=RECORDS))
    assert [result.error for result in results if result.error] == []
    return provider


@pytest.fixture
async def server(provider: EmbeddedProvider) -> AsyncIterator[DnsServer]:
    async with DnsServer(provider) as server:
        yield server


async def ask(server: DnsServer, name: str, record_type: str = "A") -> dns.message.Message:
    query = dns.message.make_query(name, record_type)
    return await dns.asyncquery.udp(query, "127.0.0.1", timeout=5, port=server.port)


def lines(section: list[dns.rrset.RRset]) -> list[str]:
    return [line for rrset in section for line in rrset.to_text().splitlines()]


SOA_COM = "example.com. 5 IN SOA localhost. hostmaster.localhost. 2 3600 600 86400 5"
SOA_ORG = "example.org. 5 IN SOA localhost. hostmaster.localhost. 2 3600 600 86400 5"


@pytest.mark.parametrize(
    ("name", "record_type", "rcode", "answer", "authority"),
    [
        (
            "app.example.com",
            "A",
            Rcode.NOERROR,
            ["app.example.com. 300 IN A 192.0.2.1", "app.example.com. 300 IN A 192.0.2.2"],
            [],
        ),
        ("app.example.com", "AAAA", Rcode.NOERROR, ["app.example.com. 30 IN AAAA 2001:db8::1"], []),
        (
            "a-app.example.com",
            "TXT",
            Rcode.NOERROR,
            ['a-app.example.com. 30 IN TXT "heritage=external-dns,external-dns/owner=me"'],
            [],
        ),
        (
            "_sip._tcp.example.com",
            "SRV",
            Rcode.NOERROR,
            ["_sip._tcp.example.com. 30 IN SRV 10 5 5060 sip.example.com."],
            [],
        ),
        ("example.com", "MX", Rcode.NOERROR, ["example.com. 30 IN MX 10 mail.example.com."], []),
        (
            "1.2.0.192.in-addr.arpa",
            "PTR",
            Rcode.NOERROR,
            ["1.2.0.192.in-addr.arpa. 30 IN PTR app.example.com."],
            [],
        ),
        ("example.com", "NS", Rcode.NOERROR, ["example.com. 30 IN NS localhost."], []),
        ("example.com", "SOA", Rcode.NOERROR, [SOA_COM.replace(" 5 IN", " 30 IN")], []),
        # the two kinds of no
        ("app.example.com", "MX", Rcode.NOERROR, [], [SOA_COM]),
        ("none.example.com", "A", Rcode.NXDOMAIN, [], [SOA_COM]),
        ("example.com", "A", Rcode.NOERROR, [], [SOA_COM]),
        ("_tcp.example.com", "A", Rcode.NOERROR, [], [SOA_COM]),  # exists: it has a name below it
        ("a.app.example.com", "A", Rcode.NXDOMAIN, [], [SOA_COM]),
        # wildcards
        ("one.apps.example.com", "A", Rcode.NOERROR, ["one.apps.example.com. 30 IN A 192.0.2.3"], []),
        ("one.two.apps.example.com", "A", Rcode.NOERROR, ["one.two.apps.example.com. 30 IN A 192.0.2.3"], []),
        ("one.apps.example.com", "AAAA", Rcode.NOERROR, [], [SOA_COM]),
        ("apps.example.com", "A", Rcode.NOERROR, [], [SOA_COM]),
        ("host.apps.example.com", "A", Rcode.NOERROR, [], [SOA_COM]),
        ("y.host.apps.example.com", "A", Rcode.NXDOMAIN, [], [SOA_COM]),
        ("*.apps.example.com", "A", Rcode.NOERROR, ["*.apps.example.com. 30 IN A 192.0.2.3"], []),
        # aliases
        (
            "www.example.com",
            "A",
            Rcode.NOERROR,
            [
                "www.example.com. 30 IN CNAME other.example.org.",
                "other.example.org. 30 IN CNAME app.example.com.",
                "app.example.com. 300 IN A 192.0.2.1",
                "app.example.com. 300 IN A 192.0.2.2",
            ],
            [],
        ),
        (
            "www.example.com",
            "CNAME",
            Rcode.NOERROR,
            ["www.example.com. 30 IN CNAME other.example.org."],
            [],
        ),
        (
            "any.names.example.com",
            "AAAA",
            Rcode.NOERROR,
            [
                "any.names.example.com. 30 IN CNAME app.example.com.",
                "app.example.com. 30 IN AAAA 2001:db8::1",
            ],
            [],
        ),
        ("away.example.com", "A", Rcode.NOERROR, ["away.example.com. 30 IN CNAME gw.example.net."], []),
        (
            "dangling.example.com",
            "A",
            Rcode.NXDOMAIN,
            ["dangling.example.com. 30 IN CNAME none.example.org."],
            [SOA_ORG],
        ),
        (
            "loop-a.example.com",
            "A",
            Rcode.NOERROR,
            [
                "loop-a.example.com. 30 IN CNAME loop-b.example.com.",
                "loop-b.example.com. 30 IN CNAME loop-a.example.com.",
            ],
            [],
        ),
        # ANY
        ("app.example.com", "ANY", Rcode.NOERROR, ['app.example.com. 30 IN HINFO "RFC8482" ""'], []),
        (
            "www.example.com",
            "ANY",
            Rcode.NOERROR,
            ["www.example.com. 30 IN CNAME other.example.org."],
            [],
        ),
        ("apps.example.com", "ANY", Rcode.NOERROR, [], [SOA_COM]),
        ("none.example.com", "ANY", Rcode.NXDOMAIN, [], [SOA_COM]),
    ],
)
async def test_a_question_in_a_zone_is_answered_with_authority(
    server: DnsServer, name: str, record_type: str, rcode: Rcode, answer: list[str], authority: list[str]
) -> None:
    response = await ask(server, name, record_type)
    assert (response.rcode(), lines(response.answer), lines(response.authority)) == (rcode, answer, authority)
    assert response.flags & dns.flags.AA
    assert not response.flags & dns.flags.RA


@pytest.mark.parametrize("name", ["example.net", "badexample.com", "com", "."])
async def test_a_name_outside_of_all_zones_is_refused(server: DnsServer, name: str) -> None:
    response = await ask(server, name)
    assert response.rcode() == Rcode.REFUSED
    assert not response.flags & dns.flags.AA
    assert (response.answer, response.authority) == ([], [])


@pytest.mark.parametrize("name", ["sub.example.com", "deep.below.sub.example.com", "ns.sub.example.com"])
async def test_a_delegated_name_is_referred_with_glue(server: DnsServer, name: str) -> None:
    response = await ask(server, name)
    assert response.rcode() == Rcode.NOERROR
    assert not response.flags & dns.flags.AA
    assert response.answer == []
    assert sorted(lines(response.authority)) == [
        "sub.example.com. 30 IN NS ns.example.net.",
        "sub.example.com. 30 IN NS ns.sub.example.com.",
    ]
    assert lines(response.additional) == ["ns.sub.example.com. 30 IN A 192.0.2.53"]


async def test_the_question_is_matched_without_case_and_goes_back_with_its_case(server: DnsServer) -> None:
    response = await ask(server, "aPP.ExamPLE.com")
    assert response.question[0].name.to_text() == "aPP.ExamPLE.com."
    assert lines(response.answer)[0] == "aPP.ExamPLE.com. 300 IN A 192.0.2.1"


async def test_a_change_is_answered_at_once(server: DnsServer, provider: EmbeddedProvider) -> None:
    assert (await ask(server, "new.example.com")).rcode() == Rcode.NXDOMAIN
    new = Endpoint("new.example.com", "A", ("192.0.2.9",))
    await provider.apply(Changes(create=(new,)))
    assert lines((await ask(server, "new.example.com")).answer) == ["new.example.com. 30 IN A 192.0.2.9"]
    await provider.apply(Changes(delete=(new,)))
    gone = await ask(server, "new.example.com")
    assert gone.rcode() == Rcode.NXDOMAIN
    assert lines(gone.authority) == [SOA_COM.replace(" 2 3600", " 4 3600")]


async def test_weighted_record_sets_are_chosen_by_their_weight(server: DnsServer, provider: EmbeddedProvider) -> None:
    def weighted(identifier: str, address: str, weight: str) -> Endpoint:
        properties = (Property("aws/weight", weight),)
        return Endpoint("w.example.com", "A", (address,), set_identifier=identifier, provider_specific=properties)

    await provider.apply(Changes(create=(weighted("blue", "192.0.2.10", "3"), weighted("green", "192.0.2.11", "0"))))
    never = {lines((await ask(server, "w.example.com")).answer)[0] for _ in range(50)}
    assert never == {"w.example.com. 30 IN A 192.0.2.10"}
    await provider.apply(
        Changes(
            update_old=(weighted("green", "192.0.2.11", "0"),),
            update_new=(weighted("green", "192.0.2.11", "3"),),
        )
    )
    # 200 tosses all on one side would come about once in 10^60 runs.
    both = {lines((await ask(server, "w.example.com")).answer)[0] for _ in range(200)}
    assert both == {"w.example.com. 30 IN A 192.0.2.10", "w.example.com. 30 IN A 192.0.2.11"}


async def test_other_classes_and_zone_transfers_are_refused(server: DnsServer) -> None:
    chaos = dns.message.make_query("version.bind", "TXT", dns.rdataclass.CH)
    assert (await dns.asyncquery.udp(chaos, "127.0.0.1", timeout=5, port=server.port)).rcode() == (Rcode.REFUSED)
    transfer = dns.message.make_query("example.com", "AXFR")
    assert (await dns.asyncquery.tcp(transfer, "127.0.0.1", timeout=5, port=server.port)).rcode() == (Rcode.REFUSED)
