"""The text of explanations: what a person reads, line by line."""

from __future__ import annotations

from explain_world import (
    KNATIVE,
    core_service,
    domain_mapping,
    explained,
    gateway,
    http_route,
    knative_service,
    settled,
    standing_domain,
)

from gatepost.explain.one_object import explain_object
from gatepost.explain.text import hostname_lines, object_lines, plain
from gatepost.objects.refs import Ref


def test_served_name_reads_as_verdict_way_and_dns() -> None:
    text = plain(hostname_lines(explained("app.example.com", gateway(), http_route("app", "app.example.com"))))
    assert text == (
        "app.example.com: served\n"
        "  by HTTPRoute shop/app on Gateway infra/public; DNS: A 192.0.2.1\n"
        "The way of the name\n"
        "  HTTPRoute shop/app\n"
        "    spec.hostnames has app.example.com\n"
        "    /: 100 % to shop/web:80\n"
        "    Gateway infra/public  Programmed=True\n"
        "      listener http (HTTP 80); address 192.0.2.1\n"
        "DNS\n"
        "  app.example.com: A 192.0.2.1\n"
        "    has it: HTTPRoute shop/app\n"
    )


def test_unserved_name_reads_as_the_reason_first_with_what_to_do_and_the_condition() -> None:
    found = explained("shop.example.com", *KNATIVE, domain_mapping("shop.example.com", "cart"))
    assert plain(hostname_lines(found)).splitlines()[:3] == [
        "shop.example.com: not served",
        "  DomainMapping shop/shop.example.com: spec.ref.name: names Service \"cart\", which namespace 'shop' lacks.",
        "    Create it, or let spec.ref name one that exists. [ReferenceResolved=False, ResolveFailed]",
    ]


def test_last_known_good_is_said_in_these_words_with_the_reason() -> None:
    found = explained(
        "app.example.com",
        *KNATIVE,
        knative_service("website"),
        domain_mapping("app.example.com", "website"),
        *standing_domain("app.example.com", ("website-00001", 100)),
    )
    assert plain(hostname_lines(found)).splitlines()[:4] == [
        "app.example.com: served from the last known good configuration",
        "  by HTTPRoute shop/app.example.com on Gateway infra/public; DNS: A 192.0.2.1",
        "  What it was made from cannot be used, so what was configured before stays:",
        "  Route shop/website: the Route of the Service does not exist yet.",
    ]


def test_share_of_a_route_is_not_repeated_below_a_kingress_that_says_the_same() -> None:
    mapping = domain_mapping("app.example.com", "web", api_version="v1")
    standing = standing_domain("app.example.com", ("web", 100))
    text = plain(hostname_lines(explained("app.example.com", *KNATIVE, core_service("web"), mapping, *standing)))
    assert text.count("100 % to shop/web:80") == 1
    assert "    KIngress shop/app.example.com  Ready=True\n" in text


def test_unknown_name_reads_with_near_ones() -> None:
    text = plain(hostname_lines(explained("ap.example.com", gateway(), http_route("app", "app.example.com"))))
    assert text.splitlines() == [
        "ap.example.com: not served",
        "  no DomainMapping, Route, KIngress, Gateway API route or DNSEndpoint mentions ap.example.com",
        "  known names near it: app.example.com",
    ]


def test_object_reads_as_its_rules_say() -> None:
    engine = settled(gateway(), http_route("app", "app.example.com")).engine
    ref = Ref("gateway.networking.k8s.io", "HTTPRoute", "shop", "app")
    lines = plain(object_lines(explain_object(engine, ref))).splitlines()
    assert lines[:3] == ["HTTPRoute shop/app", "Rule dns claims", "  claims in DNS: app.example.com"]
    assert lines[3].startswith("  reads: HTTPRoute shop/app, dns offers of Gateway infra/public HTTPRoute")


def test_long_list_of_readers_is_cut_in_the_text() -> None:
    routes = [http_route(f"app-{number:02}", f"app-{number:02}.example.com") for number in range(30)]
    engine = settled(gateway(), *routes).engine
    found = explain_object(engine, Ref("gateway.networking.k8s.io", "Gateway", "infra", "public"))
    lines = plain(object_lines(found)).splitlines()
    assert len(found.read_by) == 30
    assert lines[-2:] == ["  dns claims of HTTPRoute shop/app-19", "  and 10 more; -o json has all of them"]
