"""The provider octodns against octoDNS' own provider of YAML files: what it writes is read from the files."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace
from record_changes import errors

from gatepost.dns.domain_filter import DomainFilter, domain_filter
from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey, Property
from gatepost.dns.ownership.txt_format import OwnershipNames
from gatepost.providers.contract import ProviderError
from gatepost.providers.octodns.provider import OctodnsProvider
from gatepost.providers.octodns.settings import OctodnsSettings

pytest.importorskip("octodns", reason="the extra `octodns` is not installed")

ALIAS = (Property("alias", "true"),)
CONFIG = """
providers:
  files:
    class: %(class_)s
    directory: %(directory)s
    default_ttl: 3600
    enforce_order: false
    escaped_semicolons: %(escaped)s
zones: %(zones)s
"""


class Files:
    """A folder with zones as YAML files, and the file of octoDNS that names it."""

    def __init__(self, folder: Path) -> None:
        self.zones = folder / "zones"
        self.zones.mkdir()
        self.config = folder / "octodns.yaml"
        self.configure()

    def configure(
        self, zones: str = "{}", *, class_: str = "octodns.provider.yaml.YamlProvider", escaped: str = "true"
    ) -> None:
        values = {"directory": self.zones, "zones": zones, "class_": class_, "escaped": escaped}
        self.config.write_text(CONFIG % values)

    def put(self, zone: str, text: str = "{}") -> None:
        (self.zones / f"{zone}.yaml").write_text(textwrap.dedent(text))

    def held(self, zone: str) -> Any:
        return yaml.safe_load((self.zones / f"{zone}.yaml").read_text())

    def provider(self, domains: DomainFilter | None = None) -> OctodnsProvider:
        return OctodnsProvider(
            OctodnsSettings(octodns_config=str(self.config), octodns_provider="files"), domains
        )  # fmt: skip


@pytest.fixture
def files(tmp_path: Path) -> Files:
    started = Files(tmp_path)
    started.put("example.com")
    return started


def a(name: str, *targets: str, ttl: int = 300) -> Endpoint:
    return Endpoint(name, "A", targets or ("192.0.2.1",), ttl)


async def test_it_lists_the_record_sets_of_files(files: Files) -> None:
    files.put(
        "example.com",
        r"""
        '':
          - {type: NS, values: [ns1.example.com., ns2.example.com.]}
          - {type: CAA, value: {flags: 0, tag: issue, value: ca.example.net}}
        app: {type: A, ttl: 60, values: [192.0.2.2, 192.0.2.1]}
        t: {type: TXT, value: 'v=DKIM1\; k=rsa'}
        """,
    )
    provider = files.provider()
    assert await provider.zones() == ["example.com"]
    assert await provider.records() == [
        a("app.example.com", "192.0.2.1", "192.0.2.2", ttl=60),
        Endpoint("example.com", "NS", ("ns1.example.com", "ns2.example.com"), 3600),
        Endpoint("t.example.com", "TXT", ('"v=DKIM1; k=rsa"',), 3600),
    ]


async def test_records_of_every_type_are_in_the_file_and_read_back_as_they_were_wanted(files: Files) -> None:
    wanted = (
        a("app.example.com", "192.0.2.1", "192.0.2.2"),
        Endpoint("app.example.com", "AAAA", ("2001:db8::1",), 300),
        Endpoint("www.example.com", "CNAME", ("app.example.com",), 300),
        Endpoint("example.com", "MX", ("10 mail.example.com",), 300),
        Endpoint("_sip._tcp.example.com", "SRV", ("1 2 5060 sip.example.com.",), 300),
        Endpoint("team.example.com", "NS", ("ns1.example.net",), 300),
        Endpoint("1.example.com", "PTR", ("host.example.net",), 300),
        Endpoint("n.example.com", "NAPTR", ('100 50 "S" "http" "!^.*$!http://x/!" .',), 300),
        Endpoint("t.example.com", "TXT", ('"heritage=external-dns;a=b"',), 300),
    )
    provider = files.provider()
    assert await errors(provider, Changes(create=wanted)) == [""] * 9
    held = files.held("example.com")
    assert held["app"] == [
        {"ttl": 300, "type": "A", "values": ["192.0.2.1", "192.0.2.2"]},
        {"ttl": 300, "type": "AAAA", "value": "2001:db8::1"},
    ]
    assert held["www"] == {"ttl": 300, "type": "CNAME", "value": "app.example.com."}
    assert held[""]["value"] == {"exchange": "mail.example.com.", "preference": 10}
    assert held["_sip._tcp"]["value"] == {"port": 5060, "priority": 1, "target": "sip.example.com.", "weight": 2}
    assert held["t"]["value"] == r"heritage=external-dns\;a=b"
    assert sorted(await provider.records(), key=lambda e: e.key) == sorted(
        provider.adjust(wanted), key=lambda e: e.key
    )  # fmt: skip


async def test_a_text_is_read_back_the_same_where_semicolons_are_not_escaped(files: Files) -> None:
    files.configure(escaped="false")
    text = Endpoint("t.example.com", "TXT", ('"heritage=external-dns;a=b"',), 300)
    provider = files.provider()
    assert await errors(provider, Changes(create=(text,))) == [""]
    assert files.held("example.com")["t"]["value"] == "heritage=external-dns;a=b"
    assert await provider.records() == [text]


async def test_only_the_changes_that_were_asked_for_are_made(files: Files) -> None:
    files.put(
        "example.com",
        """
        '': {type: NS, values: [ns1.example.com., ns2.example.com.]}
        app: {type: A, ttl: 60, value: 192.0.2.1, octodns: {lenient: true}}
        gone: {type: A, value: 192.0.2.1}
        other: {type: CAA, value: {flags: 0, tag: issue, value: ca.example.net}}
        """,
    )
    provider = files.provider()
    found = {record.dns_name: record for record in await provider.records()}
    old = found["app.example.com"]
    changes = Changes(
        create=(a("new.example.com", ttl=0),),
        update_old=(old,),
        update_new=(replace(old, targets=("192.0.2.9",), record_ttl=0),),
        delete=(found["gone.example.com"],),
    )
    assert await errors(provider, changes) == ["", "", ""]
    assert files.held("example.com") == {
        "": {"type": "NS", "values": ["ns1.example.com.", "ns2.example.com."]},
        "app": {"octodns": {"lenient": True}, "ttl": 60, "type": "A", "value": "192.0.2.9"},
        "new": {"ttl": 300, "type": "A", "value": "192.0.2.1"},
        "other": {"type": "CAA", "value": {"flags": 0, "tag": "issue", "value": "ca.example.net"}},
    }


async def test_a_change_of_type_is_one_plan(files: Files) -> None:
    files.put("example.com", "app: {type: A, value: 192.0.2.1}")
    provider = files.provider()
    [old] = await provider.records()
    alias = Endpoint("app.example.com", "CNAME", ("x.example.net",), 300)
    assert await errors(provider, Changes(create=(alias,), delete=(old,))) == ["", ""]
    assert files.held("example.com") == {"app": {"ttl": 300, "type": "CNAME", "value": "x.example.net."}}


async def test_a_cname_at_the_apex_is_an_alias(files: Files) -> None:
    provider = files.provider()
    await provider.zones()
    [wanted] = provider.adjust([Endpoint("example.com", "CNAME", ("x.example.net",), 300)])
    assert wanted.provider_specific == ALIAS
    assert await errors(provider, Changes(create=(wanted,))) == [""]
    assert files.held("example.com")[""]["type"] == "ALIAS"
    assert await provider.records() == [wanted]


async def test_each_refused_record_says_why_and_the_others_are_made(files: Files) -> None:
    files.put("example.com", "www: {type: CNAME, value: x.example.net.}")
    created = (
        a("app.example.com"),
        Endpoint("blue.example.com", "A", ("192.0.2.1",), set_identifier="blue"),
        a("www.example.com"),
        a("bad.example.com", "nonsense"),
        a("badexample.com"),
    )
    found = {r.key: r.error for r in await files.provider().apply(Changes(create=created))}
    assert found[EndpointKey("app.example.com", "A")] == ""
    assert found[EndpointKey("blue.example.com", "A", "blue")] == (
        "A blue.example.com: octoDNS has no set identifiers; found 'blue'"
    )
    assert found[EndpointKey("www.example.com", "A")] == (
        "A www.example.com: the name has CNAME records; a CNAME allows no other beside it (RFC 1034, 3.6.2)"
    )
    assert '"nonsense" is no A target' in found[EndpointKey("bad.example.com", "A")]
    assert found[EndpointKey("badexample.com", "A")] == "badexample.com: the name is outside of all zones of files"
    assert files.held("example.com") == {
        "app": {"ttl": 300, "type": "A", "value": "192.0.2.1"},
        "www": {"type": "CNAME", "value": "x.example.net."},
    }


async def test_a_rule_of_octodns_is_told_on_its_record(files: Files) -> None:
    service = Endpoint("sip.example.com", "SRV", ("1 2 5060 host.example.com.",))
    found = {
        r.key.dns_name: r.error for r in await files.provider().apply(Changes(create=(service, a("a.example.com"))))
    }
    assert found["sip.example.com"].startswith("SRV sip.example.com: octoDNS refuses it: Invalid record")
    assert "invalid name for SRV record" in found["sip.example.com"]
    assert found["a.example.com"] == ""


async def test_a_record_with_pools_is_left_as_it_is(files: Files) -> None:
    files.put(
        "example.com",
        """
        app:
          type: A
          value: 192.0.2.1
          dynamic: {pools: {one: {values: [{value: 192.0.2.7}]}}, rules: [{pool: one}]}
        """,
    )
    provider = files.provider()
    [old] = await provider.records()
    assert await errors(provider, Changes(delete=(old,))) == [
        "A app.example.com: it has dynamic values, which gatepost would lose"
    ]
    assert "dynamic" in files.held("example.com")["app"]


async def test_what_somebody_else_changed_meanwhile_is_left_as_it_is(files: Files) -> None:
    files.put("example.com", "app: {type: A, value: 192.0.2.1}")
    provider = files.provider()
    [old] = await provider.records()
    files.put("example.com", "app: {type: A, value: 198.51.100.7}")
    assert await errors(provider, Changes(delete=(old,))) == [
        "A app.example.com: found 198.51.100.7, wanted 192.0.2.1: somebody else has changed it; it was left as it is"
    ]
    assert files.held("example.com") == {"app": {"type": "A", "value": "198.51.100.7"}}


async def test_a_record_that_another_owner_took_meanwhile_is_left_as_it_is(files: Files) -> None:
    text = "heritage=external-dns,external-dns/owner=theirs"
    files.put("example.com", f"app: {{type: A, value: 192.0.2.1}}\na-app: {{type: TXT, value: '{text}'}}\n")
    provider = files.provider()
    provider.guard(OwnershipNames())
    old = next(record for record in await provider.records() if record.record_type == "A")
    found = await errors(provider, Changes(delete=(replace(old, labels={"owner": "ours"}),)))
    assert found == ["A app.example.com: it belongs to theirs by now, not ours"]
    assert "app" in files.held("example.com")


async def test_a_broken_zone_is_left_out_and_the_others_are_kept(files: Files) -> None:
    files.put("example.org", "app: [not, a, record")
    provider = files.provider()
    assert await provider.zones() == ["example.com"]
    [error] = await errors(provider, Changes(create=(a("app.example.org"),)))
    assert error.startswith("app.example.org: zone example.org cannot be read: files of octoDNS: while parsing")
    files.put("example.org", "app: {type: A, value: 192.0.2.1, ttl: 60}\n")
    assert await provider.read_again("example.org") == [a("app.example.org", ttl=60)]
    assert provider.unread() == []


async def test_if_no_zone_can_be_read_there_is_no_listing(files: Files) -> None:
    files.put("example.com", "app: [not, a, record")
    with pytest.raises(ProviderError, match="files of octoDNS: while parsing"):
        await files.provider().records()


@pytest.mark.parametrize(
    ("zones", "domains", "expected"),
    [
        ("{}", (), ["example.com", "example.org"]),
        ("{}", ("example.org",), ["example.org"]),
        ("{example.com.: {sources: [x], targets: [files]}, '*': {targets: [files]}}", (), ["example.com"]),
        ("{example.com.: {sources: [x], targets: [another]}}", (), ["example.com", "example.org"]),
    ],
)
async def test_zones_are_those_of_the_file_within_the_domain_filter(
    files: Files, zones: str, domains: tuple[str, ...], expected: list[str]
) -> None:
    files.put("example.org")
    files.configure(zones)
    assert await files.provider(domain_filter(domains)).zones() == expected


async def test_of_a_plan_that_fails_halfway_each_record_is_told_as_it_went(files: Files) -> None:
    files.configure(class_="octodns_targets.HalfwayProvider")
    names = ["n1", "n2", "stop", "n4"]
    created = tuple(a(f"{name}.example.com") for name in names)
    found = {r.key.dns_name: r.error for r in await files.provider().apply(Changes(create=created))}
    assert found == {
        "n1.example.com": "",
        "n2.example.com": "",
        "n4.example.com": "",
        "stop.example.com": "files of octoDNS failed: the service does not want stop",
    }
    assert sorted(files.held("example.com")) == ["n1", "n2", "n4"]


async def test_a_type_that_the_target_lacks_is_refused_for_its_record(files: Files) -> None:
    files.configure(class_="octodns_targets.AddressesOnlyProvider")
    text = Endpoint("t.example.com", "TXT", ("x",))
    found = {
        r.key.dns_name: r.error for r in await files.provider().apply(Changes(create=(a("app.example.com"), text)))
    }
    assert found == {
        "app.example.com": "",
        "t.example.com": "TXT t.example.com: files of octoDNS has no TXT records",
    }


async def test_a_target_that_may_not_apply_is_told_on_each_record(files: Files) -> None:
    files.config.write_text(files.config.read_text().replace("enforce_order: false", "apply_disabled: true"))
    assert await errors(files.provider(), Changes(create=(a("app.example.com"),))) == [
        "files of octoDNS failed: apply_disabled is set for it in the file of octoDNS"
    ]
    assert files.held("example.com") == {}


async def test_a_change_that_octodns_leaves_out_of_its_plan_does_not_count_as_made(files: Files) -> None:
    files.configure(class_="octodns_targets.ForgetfulProvider")
    found = {
        r.key.dns_name: r.error
        for r in await files.provider().apply(Changes(create=(a("app.example.com"), a("left-out.example.com"))))
    }
    assert found == {
        "app.example.com": "",
        "left-out.example.com": "files of octoDNS leaves it out of its plan",
    }


async def test_a_foreign_change_that_a_plan_would_undo_is_taken_out_of_it(files: Files) -> None:
    files.configure(class_="octodns_targets.RacedProvider")
    assert await errors(files.provider(), Changes(create=(a("app.example.com"),))) == [""]
    assert set(files.held("example.com")) == {"app", "raced"}


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (OctodnsSettings(), "--octodns-config: none was given"),
        (OctodnsSettings(octodns_config="gone.yaml", octodns_provider="x"), "gone.yaml cannot be used"),
    ],
)
def test_settings_that_cannot_work_are_told_with_their_flags(settings: OctodnsSettings, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        OctodnsProvider(settings)


def test_a_provider_that_the_file_lacks_is_told_with_those_that_it_has(files: Files) -> None:
    settings = OctodnsSettings(octodns_config=str(files.config), octodns_provider="another")
    with pytest.raises(ValueError, match="--octodns-provider: found 'another', wanted one of files"):
        OctodnsProvider(settings)
