"""Warnings of `gatepost run` in an explanation: those of the name, and only what is not said anyway."""

from __future__ import annotations

from explain_world import explained, settled, step

from gatepost.explain.hostname import explain_hostname
from gatepost.explain.one_object import explain_object
from gatepost.explain.text import hostname_lines, object_lines, plain
from gatepost.explain.told import objects_in, with_hostname_told, with_object_told
from gatepost.explain.values import Told
from gatepost.objects.refs import Ref

GATEWAY_API = "gateway.networking.k8s.io"
ROUTE = Ref(GATEWAY_API, "HTTPRoute", "shop", "app")
RAW_ROUTE = {
    "apiVersion": f"{GATEWAY_API}/v1",
    "kind": "HTTPRoute",
    "metadata": {"name": "app", "namespace": "shop", "uid": "uid-app"},
    "spec": {"parentRefs": [{"name": "public"}], "hostnames": ["app.example.com", "www.example.net", "*.example.org"]},
}


def warned(message: str, minutes_ago: int = 3, reason: str = "NoZone") -> Told:
    return Told(about=ROUTE, reason=reason, message=message, minutes_ago=minutes_ago)


def messages_told(name: str, *told: Told) -> list[str]:
    engine = settled(RAW_ROUTE).engine
    return [one.message for one in with_hostname_told(explain_hostname(engine, name), told, engine).told]


def test_objects_on_the_way_are_those_that_warnings_are_asked_for() -> None:
    found = explained("app.example.com", RAW_ROUTE)
    assert step(found, "HTTPRoute shop/app").exists
    assert objects_in(found) == (ROUTE,), "the Gateway does not exist, so nothing is told about it"


def test_a_warning_about_another_hostname_of_the_object_is_left_out() -> None:
    ours, theirs = "app.example.com is in no zone of BIND", "www.example.net is in no zone of BIND"
    assert messages_told("app.example.com", warned(ours), warned(theirs)) == [ours]


def test_a_warning_that_names_no_hostname_is_for_all() -> None:
    zone = "zone example.com cannot be read: REFUSED"
    assert messages_told("app.example.com", warned(zone, reason="ZoneUnreadable")) == [zone]


def test_a_warning_about_the_wildcard_that_takes_the_name_in_stays() -> None:
    wildcard = "*.example.org is in no zone of BIND"
    assert messages_told("any.example.org", warned(wildcard)) == [wildcard]
    assert messages_told("app.example.com", warned(wildcard)) == []


def test_what_the_explanation_says_itself_is_not_told_twice() -> None:
    engine = settled(RAW_ROUTE).engine
    explanation = explain_hostname(engine, "app.example.com")
    said = explanation.reasons[0].message
    assert with_hostname_told(explanation, [warned(f"status: {said}")], engine).told == ()


def test_text_marks_warnings_and_puts_the_latest_first() -> None:
    engine = settled(RAW_ROUTE).engine
    told = [warned("older", 61), warned("middle", 1, "RecordError"), warned("newest", 0)]
    text = plain(hostname_lines(with_hostname_told(explain_hostname(engine, "app.example.com"), told, engine)))
    assert text.endswith(
        "Told by gatepost run (it may be mended since)\n"
        "  less than a minute ago, HTTPRoute shop/app: newest  [NoZone]\n"
        "  1 minute ago, HTTPRoute shop/app: middle  [RecordError]\n"
        "  61 minutes ago, HTTPRoute shop/app: older  [NoZone]\n"
    )


def test_one_object_is_shown_with_its_warnings() -> None:
    explanation = explain_object(settled(RAW_ROUTE).engine, ROUTE)
    assert objects_in(explanation) == (ROUTE,)
    lines = plain(object_lines(with_object_told(explanation, [warned("www.example.net is in no zone")]))).splitlines()
    assert "  3 minutes ago, HTTPRoute shop/app: www.example.net is in no zone  [NoZone]" in lines


def test_nothing_is_asked_about_an_object_that_does_not_exist() -> None:
    assert objects_in(explain_object(settled(RAW_ROUTE).engine, Ref(GATEWAY_API, "HTTPRoute", "shop", "other"))) == ()
