"""config-gateway as it is written, and which entry serves which labels."""

from __future__ import annotations

import pytest

from gatepost.configmaps.gateway import parse
from gatepost.configmaps.values import UnreadableValue
from gatepost.objects.core import Service
from gatepost.objects.gatewayapi import Gateway


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
