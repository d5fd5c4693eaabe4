"""Who gets a name that several objects claim. The order in which they came never matters."""

from __future__ import annotations

from itertools import permutations

import pytest
from dns_objects import START, answers, dns_endpoint, engine_of, gateway, parent, route, unhurried, value_at
from hypothesis import given
from hypothesis import strategies as st

from gatepost.dns.claims import RECORD_SETS
from gatepost.dns.desired import desired_endpoints, record_sets
from gatepost.dns.records import RecordSet
from gatepost.dns.rules import rules
from gatepost.dns.settings import DnsSettings
from gatepost.objects.meta import KubernetesObject
from gatepost.state.engine import Engine

NAME = "www.example.com"
EAST, WEST = gateway("east", ["192.0.2.1"]), gateway("west", ["198.51.100.2"])
CLOUD = gateway("cloud", ["lb.example.net"])


def settings(choice: str, *sources: str) -> DnsSettings:
    return DnsSettings(sources=("gateway-httproute", "crd", *sources), conflict=choice)


def claim(name: str, on: str, year: int, **fields: object) -> KubernetesObject:
    return route(name, [NAME], [parent(on)], created=f"{year}-01-01T00:00:00Z", **fields)  # type: ignore[arg-type]


def settled(choice: str, *objects: KubernetesObject) -> RecordSet:
    found = value_at(engine_of(settings(choice), EAST, WEST, CLOUD, *objects), RECORD_SETS, (NAME, ""))
    assert isinstance(found, RecordSet)
    return found


def targets(found: RecordSet) -> list[str]:
    return [target for record in found.records for target in record.targets]


def test_the_oldest_claim_wins_and_the_loser_hears_who_won() -> None:
    young, old = claim("young", "east", 2026), claim("old", "west", 2020)
    found = settled("oldest", young, old)
    assert targets(found) == ["198.51.100.2"]
    assert found.endpoints[0].labels == {"resource": "httproute/shop/old"}
    assert [(problem.reason, problem.about) for problem in found.problems] == [("DNSConflict", young.ref)]
    assert "HTTPRoute shop/old" in found.problems[0].message


def test_of_equal_age_the_smaller_namespace_and_name_wins() -> None:
    first, second = claim("b", "east", 2026, namespace="a"), claim("a", "west", 2026, namespace="b")
    assert targets(settled("oldest", second, first)) == ["192.0.2.1"]


def test_an_object_without_age_is_the_youngest() -> None:
    draft = route("a-draft", [NAME], [parent("east")], created="")
    assert targets(settled("oldest", draft, claim("old", "west", 2026))) == ["198.51.100.2"]


def test_refuse_publishes_nobody_holds_what_is_there_and_tells_all() -> None:
    one, other = claim("one", "east", 2026), claim("other", "west", 2020)
    found = settled("refuse", one, other)
    assert found.records == ()
    assert found.hold is not None
    assert {problem.about for problem in found.problems} == {one.ref, other.ref}


def test_merge_joins_addresses() -> None:
    found = settled("merge", claim("one", "east", 2026), claim("other", "west", 2020))
    assert targets(found) == ["192.0.2.1", "198.51.100.2"]
    assert found.problems == ()


def test_merge_prefers_addresses_to_a_name_whatever_the_age() -> None:
    named = claim("named", "cloud", 2020)
    found = settled("merge", named, claim("addressed", "east", 2026))
    assert targets(found) == ["192.0.2.1"]
    assert [problem.about for problem in found.problems] == [named.ref]


def test_merge_of_two_names_keeps_that_of_the_older() -> None:
    other = gateway("other", ["a.example.net"])
    engine = engine_of(settings("merge"), CLOUD, other, claim("young", "other", 2026), claim("old", "cloud", 2020))
    assert answers(desired_endpoints(engine)) == {(NAME, "CNAME"): ("lb.example.net",)}


@pytest.mark.parametrize("choice", ["oldest", "refuse", "merge"])
def test_equal_targets_agree_and_settings_come_from_the_oldest_that_sets_them(choice: str) -> None:
    prefix = "external-dns.kubernetes.io/"
    oldest = claim("oldest", "east", 2020, annotations={prefix + "aws-weight": "1"})
    middle = claim("middle", "east", 2021, annotations={prefix + "aws-weight": "2", prefix + "ttl": "60"})
    youngest = claim("youngest", "east", 2022, annotations={prefix + "ttl": "90", prefix + "scw-ratio": "3"})
    found = settled(choice, youngest, middle, oldest)
    (endpoint,) = found.endpoints
    assert endpoint.record_ttl == 60
    assert [(item.name, item.value) for item in endpoint.provider_specific] == [("aws/weight", "1"), ("scw/ratio", "3")]
    assert endpoint.labels["resource"] == "httproute/shop/oldest"
    assert found.problems == ()


def test_long_and_short_ipv6_agree() -> None:
    long, short = gateway("long", ["2001:db8:0:0:0:0:0:1"]), gateway("short", ["2001:db8::1"])
    engine = engine_of(settings("refuse"), long, short, claim("one", "long", 2020), claim("other", "short", 2021))
    assert list(answers(desired_endpoints(engine))) == [(NAME, "AAAA")]


def test_a_claim_that_is_not_alive_neither_wins_nor_hides_the_others() -> None:
    dead = claim("dead", "west", 2019, answers=[(parent("west"), "False")])
    found = settled("oldest", dead, claim("alive", "east", 2026))
    assert targets(found) == ["192.0.2.1"]
    assert found.problems == ()


def test_a_mail_record_and_an_address_do_not_fight_over_a_name() -> None:
    mail = dns_endpoint("mail", {"dnsName": NAME, "recordType": "MX", "targets": ["10 mx.example.net"]})
    types = (*DnsSettings().managed_record_types, "MX")
    chosen = DnsSettings(sources=("gateway-httproute", "crd"), conflict="refuse", managed_record_types=types)
    engine = engine_of(chosen, EAST, mail, claim("site", "east", 2020))
    assert {(e.record_type, e.labels["resource"]) for e in desired_endpoints(engine)} == {
        ("A", "httproute/shop/site"),
        ("MX", "crd/shop/mail"),
    }


def test_an_older_name_keeps_a_younger_mail_record_away_as_a_cname_stands_alone() -> None:
    mail = dns_endpoint(
        "mail", {"dnsName": NAME, "recordType": "MX", "targets": ["10 mx.example.net"]}, created="2026-01-01T00:00:00Z"
    )
    types = (*DnsSettings().managed_record_types, "MX")
    chosen = DnsSettings(sources=("gateway-httproute", "crd"), managed_record_types=types)
    engine = engine_of(chosen, CLOUD, mail, claim("site", "cloud", 2020))
    assert answers(desired_endpoints(engine)) == {(NAME, "CNAME"): ("lb.example.net",)}
    assert [problem.about for problem in next(record_sets(engine)).problems] == [mail.ref]
    younger = engine_of(chosen, CLOUD, mail, claim("site", "cloud", 2027))
    assert answers(desired_endpoints(younger)) == {(NAME, "MX"): ("10 mx.example.net",)}


@pytest.mark.parametrize("choice", ["oldest", "refuse", "merge"])
def test_the_order_of_events_does_not_matter(choice: str) -> None:
    objects = [EAST, WEST, claim("a", "east", 2021), claim("b", "west", 2020), claim("c", "east", 2019)]
    found = set()
    for order in permutations(objects):
        engine = Engine(*rules(settings(choice)), START)
        for obj in order:
            engine.put(obj)
            engine.run_stale()
        found.add(tuple(record_sets(engine)))
    assert len(found) == 1


CLAIMS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c", "d"]),
        st.sampled_from(["east", "west", "cloud"]),
        st.integers(2019, 2022),
        st.sampled_from(["True", "False"]),
    ),
    max_size=8,
)


@unhurried
@given(CLAIMS, st.sampled_from(["oldest", "refuse", "merge"]))
def test_edits_one_by_one_give_what_a_fresh_start_gives(edits: list[tuple[str, str, int, str]], choice: str) -> None:
    engine = engine_of(settings(choice), EAST, WEST, CLOUD)
    last: dict[str, KubernetesObject] = {}
    for name, on, year, status in edits:
        last[name] = claim(name, on, year, answers=[(parent(on), status)])
        engine.put(last[name])
        engine.run_stale()
    fresh = engine_of(settings(choice), *last.values(), CLOUD, WEST, EAST)
    assert tuple(record_sets(engine)) == tuple(record_sets(fresh))
