"""The provider that holds its zones in memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from record_changes import a

from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey, Property
from gatepost.providers.contract import Provider, RecordResult
from gatepost.providers.embedded import EmbeddedProvider
from gatepost.providers.spelling import rdata_of


async def created(provider: EmbeddedProvider, *endpoints: Endpoint) -> list[str]:
    return [result.error for result in await provider.apply(Changes(create=endpoints))]


@pytest.fixture
def provider() -> EmbeddedProvider:
    return EmbeddedProvider(["example.com"])


async def test_it_is_a_provider_of_its_zones() -> None:
    provider: Provider = EmbeddedProvider(["Example.org.", "example.com"])
    assert await provider.zones() == ["example.com", "example.org"]
    assert await provider.records() == []


async def test_a_created_record_set_is_reported_without_its_labels(provider: EmbeddedProvider) -> None:
    weighted = Endpoint(
        "App.Example.com.",
        "A",
        ("192.0.2.2", "192.0.2.1"),
        300,
        "blue",
        {"owner": "me"},
        (Property("aws/weight", "10"), Property("aws/evaluate-target-health", "true")),
    )
    assert await provider.apply(Changes(create=(weighted,))) == [
        RecordResult(EndpointKey("App.Example.com.", "A", "blue"))
    ]
    assert await provider.records() == [
        Endpoint(
            "app.example.com",
            "A",
            ("192.0.2.2", "192.0.2.1"),
            300,
            "blue",
            {},
            (Property("aws/evaluate-target-health", "true"), Property("aws/weight", "10")),
        )
    ]


async def test_adjust_gives_the_form_that_records_reports_but_keeps_labels(provider: EmbeddedProvider) -> None:
    wanted = Endpoint("App.Example.com.", "A", ("192.0.2.1",), labels={"owner": "me"})
    assert provider.adjust([wanted]) == [Endpoint("app.example.com", "A", ("192.0.2.1",), labels={"owner": "me"})]


async def test_one_refused_record_does_not_stop_the_others(provider: EmbeddedProvider) -> None:
    await created(provider, a("old.example.com"))
    results = await provider.apply(
        Changes(
            create=(a("old.example.com"), a("new.example.com")),
            update_old=(a("none.example.com"),),
            update_new=(a("none.example.com", "192.0.2.9"),),
            delete=(a("gone.example.com"),),
        )
    )
    assert [bool(result.error) for result in results] == [True, False, True, True]
    assert results[0].error == (
        "A old.example.com: there is already a record set of this name, type and set identifier"
    )
    assert results[2].error == (
        "A none.example.com: there is no record set of this name, type and set identifier to change or delete"
    )
    assert [e.dns_name for e in await provider.records()] == ["new.example.com", "old.example.com"]


async def test_an_update_replaces_targets_and_ttl(provider: EmbeddedProvider) -> None:
    before, after = a("app.example.com"), a("app.example.com", "192.0.2.7", ttl=60)
    await created(provider, before)
    results = await provider.apply(Changes(update_old=(before,), update_new=(after,)))
    assert results == [RecordResult(EndpointKey("app.example.com", "A"))]
    assert await provider.records() == [after]


async def test_a_refused_update_leaves_the_old_record_set(provider: EmbeddedProvider) -> None:
    before = a("app.example.com")
    await created(provider, before)
    [result] = await provider.apply(Changes(update_old=(before,), update_new=(a("app.example.com", "192.0.2.300"),)))
    assert '"192.0.2.300" is no A target' in result.error
    [moved] = await provider.apply(Changes(update_old=(before,), update_new=(a("app.example.org"),)))
    assert moved.error == ("A app.example.org: the name is outside of all zones of this provider (example.com)")
    assert await provider.records() == [before]


async def test_updates_that_are_no_pairs_change_nothing(provider: EmbeddedProvider) -> None:
    with pytest.raises(ValueError, match="shorter"):
        await provider.apply(Changes(create=(a("app.example.com"),), update_old=(a("x.example.com"),)))
    assert await provider.records() == []


async def test_a_change_of_type_in_one_batch_is_no_conflict(provider: EmbeddedProvider) -> None:
    await created(provider, a("app.example.com"))
    cname = Endpoint("app.example.com", "CNAME", ("gw.example.org",))
    results = await provider.apply(Changes(create=(cname,), delete=(a("app.example.com"),)))
    assert [result.error for result in results] == ["", ""]
    assert await provider.records() == [cname]


async def test_a_cname_and_another_type_refuse_each_other(provider: EmbeddedProvider) -> None:
    cname = Endpoint("www.example.com", "CNAME", ("gw.example.org",))
    await created(provider, a("app.example.com"), cname)
    [beside_a, beside_cname] = await created(
        provider, Endpoint("app.example.com", "CNAME", ("x.example.org",)), a("www.example.com")
    )
    assert beside_a == (
        "CNAME app.example.com: the name has A records; a CNAME allows no other beside it (RFC 1034, 3.6.2)"
    )
    assert beside_cname == (
        "A www.example.com: the name has a CNAME record, which allows no other beside it (RFC 1034, 3.6.2)"
    )


async def test_weighted_cnames_of_one_name_stand_beside_each_other(provider: EmbeddedProvider) -> None:
    blue = Endpoint("app.example.com", "CNAME", ("b.example.org",), set_identifier="blue")
    green = Endpoint("app.example.com", "CNAME", ("g.example.org",), set_identifier="green")
    assert await created(provider, green, blue) == ["", ""]
    assert await provider.records() == [blue, green]
    assert [r.error for r in await provider.apply(Changes(delete=(blue,)))] == [""]
    assert await provider.records() == [green]


async def test_a_cname_at_the_apex_is_refused(provider: EmbeddedProvider) -> None:
    [error] = await created(provider, Endpoint("example.com", "CNAME", ("gw.example.org",)))
    assert error == ("CNAME example.com: the apex of a zone has SOA and NS records, which allow no CNAME beside them")


async def test_a_name_belongs_to_the_longest_zone_by_label() -> None:
    provider = EmbeddedProvider(["example.com", "apps.example.com"])
    errors = await created(provider, a("x.apps.example.com"), a("xapps.example.com"), a("badexample.com"), a("com"))
    assert errors == [
        "",
        "",
        "A badexample.com: the name is outside of all zones of this provider (apps.example.com, example.com)",
        "A com: the name is outside of all zones of this provider (apps.example.com, example.com)",
    ]
    zone = provider.zone_of("x.apps.example.com")
    assert zone is not None
    assert zone.name == "apps.example.com"
    assert [r.endpoint.dns_name for r in zone] == ["x.apps.example.com"]
    assert provider.zone_of("badexample.com") is None


@pytest.mark.parametrize(
    ("record_type", "targets", "part"),
    [
        ("A", ("2001:db8::1",), '"2001:db8::1" is no A target'),
        ("AAAA", ("192.0.2.1",), '"192.0.2.1" is no AAAA target'),
        ("A", ("gw.example.org",), '"gw.example.org" is no A target'),
        ("A", (), "it has no target"),
        ("CNAME", ("a.example.org", "b.example.org"), "a CNAME has one target, this has 2"),
        ("CNAME", ("a..example.org",), '"a..example.org" is no CNAME target'),
        ("MX", ("mail.example.org",), '"mail.example.org" is no MX target'),
        ("SRV", ("1 2 70000 a.example.org",), '"1 2 70000 a.example.org" is no SRV target'),
        ("DNAME", ("example.org",), "records of this type are not served"),
        ("TXT", ('"never closed\\"',), "is no TXT target"),
    ],
)
async def test_a_target_that_cannot_be_served_is_refused(
    provider: EmbeddedProvider, record_type: str, targets: tuple[str, ...], part: str
) -> None:
    [error] = await created(provider, Endpoint("app.example.com", record_type, targets))
    assert part in error
    assert await provider.records() == []


@pytest.mark.parametrize("name", ["", ".", "a..example.com", "a" * 64 + ".example.com"])
async def test_a_name_that_is_none_is_refused(provider: EmbeddedProvider, name: str) -> None:
    [error] = await created(provider, a(name))
    assert f'"{name}" is no DNS name' in error


async def test_a_ttl_out_of_range_is_refused(provider: EmbeddedProvider) -> None:
    [error] = await created(provider, a("app.example.com", ttl=2147483648))
    assert error == "A app.example.com: a TTL is between 0 and 2147483647 seconds, this is 2147483648"


@pytest.mark.parametrize(
    ("target", "strings"),
    [
        ('"heritage=external-dns,external-dns/owner=me"', (b"heritage=external-dns,external-dns/owner=me",)),
        ("v=spf1 -all", (b"v=spf1 -all",)),
        ('"one" "two"', (b"one", b"two")),
        ('say "hi"', (b'say "hi"',)),
        ('"a\\"b;c"', (b'a"b;c',)),
        ('""', (b"",)),
        ("x" * 300, (b"x" * 255, b"x" * 45)),
        ('"' + "y" * 256 + '"', (b"y" * 255, b"y")),
        ("zürich", ("zürich".encode(),)),
    ],
)
async def test_a_txt_value_comes_back_byte_for_byte_and_is_served_as_its_strings(
    provider: EmbeddedProvider, target: str, strings: tuple[bytes, ...]
) -> None:
    endpoint = Endpoint("a-app.example.com", "TXT", (target,))
    assert await created(provider, endpoint) == [""]
    assert await provider.records() == [endpoint]
    assert rdata_of("TXT", target).to_wire() == b"".join(bytes([len(s)]) + s for s in strings)


async def test_the_serial_rises_only_in_the_zone_that_changed() -> None:
    provider = EmbeddedProvider(["example.com", "example.org"])
    com, org = provider.zone_of("example.com"), provider.zone_of("example.org")
    assert com is not None
    assert org is not None
    before = com.serial, org.serial, provider.version
    await created(provider, a("app.example.com"), a("b.example.com"))
    assert (com.serial, org.serial, provider.version) == (before[0] + 1, before[1], before[2] + 1)
    await created(provider, a("app.example.com"))  # refused: nothing changed
    assert (com.serial, provider.version) == (before[0] + 1, before[2] + 1)


async def test_the_serial_goes_from_the_highest_to_one(provider: EmbeddedProvider) -> None:
    zone = provider.zone_of("example.com")
    assert zone is not None
    zone.serial = 4294967295
    await created(provider, a("app.example.com"))
    assert zone.serial == 1


async def test_a_name_with_names_below_it_exists_without_data_until_the_last_one_goes(
    provider: EmbeddedProvider,
) -> None:
    zone = provider.zone_of("example.com")
    assert zone is not None
    await created(provider, a("x.deep.example.com"), a("y.deep.example.com"))
    assert zone.record_sets("deep.example.com") == {}
    assert zone.record_sets("other.example.com") is None
    await provider.apply(Changes(delete=(a("x.deep.example.com"),)))
    assert zone.record_sets("deep.example.com") == {}
    await provider.apply(Changes(delete=(a("y.deep.example.com"),)))
    assert zone.record_sets("deep.example.com") is None
    assert zone.record_sets("example.com") == {}


def test_a_zone_whose_name_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r'"a\.\.b" is no DNS name'):
        EmbeddedProvider(["a..b"])


NAMES = st.sampled_from(["example.com", "a.example.com", "b.a.example.com", "c.b.a.example.com", "*.a.example.com"])
RECORD_TYPES = st.sampled_from(["A", "CNAME", "TXT"])
TARGETS = {"A": "192.0.2.1", "CNAME": "gw.example.org", "TXT": "text"}


@st.composite
def record_sets(draw: st.DrawFn) -> Endpoint:
    record_type = draw(RECORD_TYPES)
    return Endpoint(draw(NAMES), record_type, (TARGETS[record_type],), draw(st.integers(0, 2)))


@given(st.lists(st.tuples(st.sampled_from(["create", "update", "delete"]), record_sets()), max_size=30))
async def test_after_any_changes_the_zone_holds_what_was_not_refused_and_only_names_above_it(
    edits: list[tuple[str, Endpoint]],
) -> None:
    provider = EmbeddedProvider(["example.com"])
    held: dict[EndpointKey, Endpoint] = {}
    for kind, endpoint in edits:
        others = {key.record_type for key in held if key.dns_name == endpoint.dns_name} - {endpoint.record_type}
        alone = not others and endpoint.dns_name != "example.com"
        if kind == "create":
            changes = Changes(create=(endpoint,))
            fits = alone if endpoint.record_type == "CNAME" else "CNAME" not in others
            fits = fits and endpoint.key not in held
        else:
            fits = endpoint.key in held
            changes = (
                Changes(delete=(endpoint,))
                if kind == "delete"
                else Changes(update_old=(endpoint,), update_new=(endpoint,))
            )
        [result] = await provider.apply(changes)
        assert (result.error == "") is fits
        if fits:
            held[endpoint.key] = endpoint
            if kind == "delete":
                del held[endpoint.key]
    assert {endpoint.key: endpoint for endpoint in await provider.records()} == held
    zone = provider.zone_of("example.com")
    assert zone is not None
    for name in ("a.example.com", "b.a.example.com", "c.b.a.example.com", "*.a.example.com", "d.example.com"):
        exists = any(key.dns_name == name or key.dns_name.endswith("." + name) for key in held)
        assert (zone.record_sets(name) is not None) is exists
