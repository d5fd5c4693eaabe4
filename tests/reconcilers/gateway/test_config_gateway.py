"""config-gateway as it is written, and which Gateway it gives a KIngress."""

from __future__ import annotations

import pytest
from gateway_world import EDGE, config, ingress, public_rule, rendered, world
from knative_objects import config_map

from gatepost.objects.core import Service
from gatepost.objects.gatewayapi import Gateway
from gatepost.reconcilers.config_gateway import CONFIG_GATEWAY, parse
from gatepost.reconcilers.configmaps import UnreadableValue


def test_missing_lists_fall_back_to_istio_each_for_itself() -> None:
    found = parse({"local-gateways": "- {class: eg, gateway: a/b, service: c/d}"})
    assert found.external[0].gateway == Gateway.KIND.ref("istio-system", "knative-gateway")
    assert found.external[0].service == Service.KIND.ref("istio-system", "istio-ingressgateway")
    assert found.external[0].supported_features == ("HTTPRouteRequestTimeout",)
    assert found.local[0].gateway == Gateway.KIND.ref("a", "b")
    assert found.local[0].service == Service.KIND.ref("c", "d")


@pytest.mark.parametrize("text", ["", "[]", "~", "# nothing yet"])
def test_empty_list_counts_as_missing(text: str) -> None:
    assert parse({"external-gateways": text}) == parse({})


def test_unknown_keys_of_an_entry_play_no_part_and_json_is_yaml() -> None:
    found = parse({"external-gateways": '[{"class": "eg", "gateway": "a/b", "colour": "red", "service": null}]'})
    assert found.external[0].gateway == Gateway.KIND.ref("a", "b")
    assert found.external[0].service is None


@pytest.mark.parametrize(
    "entry",
    [
        "{class: eg, gateway: b}",
        "{class: eg, gateway: a/b/c}",
        "{class: eg, gateway: a.x/b}",
        "{class: eg, gateway: a/B}",
        "{class: eg, gateway: a/}",
        "{class: ' ', gateway: a/b}",
        "{gateway: a/b}",
        "{class: eg}",
        "{class: eg, gateway: a/b, service: lb}",
        "{class: eg, gateway: a/b, supported-features: HTTPRouteRequestTimeout}",
        "{class: eg, gateway: a/b, proxy-protocol-enabled: 'true'}",
        "{class: eg, gateway: a/b, https-port: 0}",
        "{class: eg, gateway: a/b, section-name: Plain}",
        "{class: eg, gateway: a/b, selector: {tier: gold}}",
        "{class: eg, gateway: a/b}\n- {class: eg, gateway: a/c}",
        "{class: [",
        "2026-13-45",
    ],
)
def test_entry_that_cannot_be_understood_is_refused_with_its_key(entry: str) -> None:
    with pytest.raises(UnreadableValue) as refused:
        parse({"local-gateways": f"- {entry}"})
    assert refused.value.key == "local-gateways"


def test_entry_with_most_fitting_labels_serves_and_the_one_without_serves_the_others() -> None:
    found = parse(
        {
            "external-gateways": """
- {class: eg, gateway: a/rest}
- {class: eg, gateway: a/gold, selector: {tier: gold}}
- {class: eg, gateway: a/team, selector: {tier: gold, team: x}}
"""
        }
    )

    def gateway_for(**labels: str) -> str:
        return found.entry_for("ExternalIP", labels).gateway.name

    assert gateway_for() == "rest"
    assert gateway_for(team="x") == "rest"
    assert gateway_for(tier="gold") == "gold"
    assert gateway_for(tier="gold", team="x") == "team"


def test_anything_but_cluster_local_is_external() -> None:
    found = parse({})
    assert found.entry_for("ClusterLocal", {}).gateway.name == "knative-local-gateway"
    assert found.entry_for("", {}).gateway.name == "knative-gateway"


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
