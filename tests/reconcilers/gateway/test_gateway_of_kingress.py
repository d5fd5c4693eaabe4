"""Which Gateway config-gateway gives a KIngress."""

from __future__ import annotations

from gateway_world import EDGE, config, ingress, public_rule, rendered, world
from knative_objects import config_map

from gatepost.configmaps.gateway import CONFIG_GATEWAY, parse


def test_while_the_config_cannot_be_read_everything_stays_as_it_is() -> None:
    kingress = ingress("app", public_rule("app.example.com"))
    found = world(config_map("config-gateway", external_gateways="- {class: t}"), *EDGE[1:], kingress)
    outcome = found.outcome(kingress)
    assert [problem.reason for problem in outcome.problems] == ["ConfigMapUnreadable"]
    assert (outcome.applies, outcome.deletes, outcome.status, outcome.finalizers) == ([], [], {}, None)


def test_config_of_that_name_elsewhere_is_not_knatives() -> None:
    foreign = config_map("config-gateway", external_gateways="[[[")
    foreign["metadata"]["namespace"] = "shop"
    found = world(foreign)
    assert [value for _, value in found.engine.values(CONFIG_GATEWAY)] == [parse({})]


def test_labels_of_the_kingress_choose_the_gateway_of_its_route() -> None:
    entries = "- {class: t, gateway: edge/public}\n- {class: t, gateway: edge/gold, selector: {tier: gold}}"
    two = config_map("config-gateway", external_gateways=entries, local_gateways="- {class: t, gateway: edge/inside}")
    gold = ingress("app", public_rule("app.example.com"), metadata={"labels": {"tier": "gold"}})
    plain = ingress("other", public_rule("other.example.com"))
    objects = rendered(two, *EDGE[1:], gold, plain)
    routes = {ref.name: raw["spec"] for ref, raw in objects.items() if ref.kind == "HTTPRoute"}
    assert routes["app.example.com"]["parentRefs"][0]["name"] == "gold"
    assert routes["other.example.com"]["parentRefs"][0]["name"] == "public"


def test_config_helper_writes_what_it_says() -> None:
    found = parse(config(https_port=8443)["data"])
    assert (found.external[0].https_port, found.local[0].https_port) == (8443, 443)
