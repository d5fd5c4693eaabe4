"""The hash of a KIngress against the vectors that net-gateway-api and the conformance suite agree on."""

from __future__ import annotations

from typing import Any

import pytest

from gatepost.objects.kinds import typed
from gatepost.objects.networking import KIngress, KIngressSpec
from gatepost.reconcilers.gateway.version import version_of, with_defaults


def spec(raw: dict[str, Any]) -> KIngressSpec:
    kind = {"apiVersion": "networking.internal.knative.dev/v1alpha1", "kind": "Ingress"}
    kingress = typed({**kind, "metadata": {"name": "any", "namespace": "any"}, "spec": raw})
    assert isinstance(kingress, KIngress)
    return with_defaults(kingress.spec)


CART = {
    "rules": [
        {
            "hosts": ["cart.shop.example.com"],
            "visibility": "ExternalIP",
            "http": {
                "paths": [
                    {
                        "splits": [
                            {
                                "serviceNamespace": "shop",
                                "serviceName": "cart-00001",
                                "servicePort": 80,
                                "percent": 100,
                                "appendHeaders": {
                                    "Knative-Serving-Revision": "cart-00001",
                                    "Knative-Serving-Namespace": "shop",
                                },
                            }
                        ]
                    }
                ]
            },
        }
    ],
    "httpOption": "Enabled",
}

ESCAPED = {
    "rules": [
        {
            "hosts": ["a.example.com"],
            "http": {
                "paths": [
                    {
                        "splits": [{"serviceNamespace": "y", "serviceName": "s", "servicePort": 80}],
                        "appendHeaders": {"Q": "<&>"},
                    }
                ]
            },
        }
    ]
}


@pytest.mark.parametrize(
    ("raw", "namespace", "name", "expected"),
    [
        (CART, "shop", "cart", "cea7950cfbca7ae295f156b4785a7aff007b6de777151e52c311e2ec215624a3"),
        # Visibility and percent come from the defaults, and Go escapes the three characters.
        (ESCAPED, "y", "x", "3262e1468f517860b8c03ffc4e1c48c1db1be7fb41366da51ddfb38237dc0dca"),
    ],
    ids=["headers in another order", "characters that Go escapes"],
)
def test_hash_equals_the_published_vector(raw: dict[str, Any], namespace: str, name: str, expected: str) -> None:
    assert version_of(spec(raw), namespace, name) == expected


def test_lone_split_without_share_gets_all_and_one_of_two_keeps_none() -> None:
    lone = spec({"rules": [{"hosts": ["a"], "http": {"paths": [{"splits": [{"serviceName": "s", "percent": 0}]}]}}]})
    two = [{"serviceName": "s", "percent": 0}, {"serviceName": "t", "percent": 100}]
    both = spec({"rules": [{"hosts": ["a"], "http": {"paths": [{"splits": two}]}}]})
    assert lone.rules[0].http is not None
    assert both.rules[0].http is not None
    assert [s.percent for s in lone.rules[0].http.paths[0].splits] == [100]
    assert [s.percent for s in both.rules[0].http.paths[0].splits] == [0, 100]
    assert lone.rules[0].visibility == "ExternalIP"


def test_hosts_are_hashed_in_the_order_given() -> None:
    one, other = ({"rules": [{"hosts": hosts}]} for hosts in (["a", "b"], ["b", "a"]))
    assert version_of(spec(one), "n", "i") != version_of(spec(other), "n", "i")
