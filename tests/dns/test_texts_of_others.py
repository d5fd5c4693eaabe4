"""A TXT record may hold an ownership text and texts of others; only the former is ours to write."""

from __future__ import annotations

import pytest

from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.dns.inventory import Inventory
from gatepost.dns.ownership.changes import changes_for
from gatepost.dns.ownership.registry import inventory
from gatepost.dns.planner import Planner
from gatepost.dns.records import Claimant, Record, RecordSet
from gatepost.dns.settings import DnsSettings
from gatepost.dns.standing import GONE, Standing
from gatepost.objects.gatewayapi import HTTPRoute

SETTINGS = DnsSettings(sources=("gateway-httproute",), txt_owner_id="me")
OURS = '"heritage=external-dns,external-dns/owner=me,external-dns/resource=httproute/shop/cart"'
OLD = '"heritage=external-dns,external-dns/owner=me,external-dns/resource=httproute/shop/old"'
SPF = '"v=spf1 -all"'
RECORD = Endpoint("app.example.com", "A", ("192.0.2.1",))
CART = Claimant("2026-01-01T00:00:00Z", HTTPRoute.KIND.ref("shop", "cart"))
WANTED = RecordSet("app.example.com", "", (Record("A", ("192.0.2.1",)),), (CART,))


def txt(*texts: str, name: str = "a-app.example.com") -> Endpoint:
    return Endpoint(name, "TXT", texts)


def changes(*held: Endpoint, wanted: RecordSet | None = None) -> tuple[Changes, Inventory]:
    there = inventory(SETTINGS, held, ["example.com"])
    planner = Planner(SETTINGS, lambda resource, key: Standing(GONE, f"{resource} is gone"))
    plan = planner.plan_all(there, [wanted] if wanted is not None else [])
    return changes_for(plan.allowed, there), there


@pytest.mark.parametrize("texts", [(OURS, SPF), (SPF, OURS)])
def test_a_record_that_goes_takes_its_own_text_along_and_no_other(texts: tuple[str, ...]) -> None:
    made, there = changes(RECORD, txt(*texts))
    assert [record.record_type for record in made.delete] == ["A"]
    assert [(record.dns_name, record.targets) for record in made.update_old] == [("a-app.example.com", texts)]
    assert [(record.dns_name, record.targets) for record in made.update_new] == [("a-app.example.com", (SPF,))]
    there.take(made)
    assert there.left_over([], ["A"]) == ()
    assert [holding.endpoint.targets for holding in there.row(("a-app.example.com", ""))] == [(SPF,)]
    assert there.claimed_by_others(("app.example.com", ""), "A") == ()


@pytest.mark.parametrize("texts", [(OLD, SPF), (SPF, OLD)])
def test_an_ownership_text_is_replaced_among_others(texts: tuple[str, ...]) -> None:
    made, there = changes(txt(*texts), wanted=WANTED)
    assert [record.targets for record in made.update_new] == [(OURS, SPF)]
    there.take(made)
    assert [holding.owner for holding in there.row(("app.example.com", ""))] == ["me"]


@pytest.mark.parametrize("texts", [(OURS, SPF), (SPF, OURS)])
def test_an_ownership_text_that_is_right_is_not_written_again(texts: tuple[str, ...]) -> None:
    assert changes(RECORD, txt(*texts), wanted=WANTED)[0] == Changes()


def test_a_left_over_of_the_old_format_is_no_reason_to_delete_the_texts_of_others() -> None:
    _, there = changes(txt(SPF, OURS, name="app.example.com"))
    assert there.left_over([], ["A"]) == ()
    _, there = changes(txt(OURS, name="app.example.com"))
    assert [record.dns_name for record in there.left_over([], ["A"])] == ["app.example.com"]
