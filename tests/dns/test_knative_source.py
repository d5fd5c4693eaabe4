"""The source knative: what only holds a record and what deletes it, and what a change wakes."""

from __future__ import annotations

from typing import Any

import pytest
from dns_objects import START, answers, endpoints_of, engine_of, gateway, value_at

from gatepost.dns.claims import CLAIMS
from gatepost.dns.desired import desired_endpoints, record_sets
from gatepost.dns.ownership.changes import changes_for
from gatepost.dns.ownership.registry import inventory
from gatepost.dns.plan import Plan
from gatepost.dns.planner import Planner
from gatepost.dns.rules import rules
from gatepost.dns.settings import DnsSettings
from gatepost.dns.standing import Standings
from gatepost.objects.kinds import typed
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.refs import Ref
from gatepost.objects.settings import Settings
from gatepost.state.engine import Engine

KNATIVE = DnsSettings(sources=("knative",))
LOCAL = {"networking.knative.dev/visibility": "cluster-local"}
SERVING = "serving.knative.dev"


def status_of(url: str, ready: str, observed: int, traffic: tuple[dict[str, str], ...] = ()) -> dict[str, Any]:
    conditions = [{"type": "Ready", "status": ready}]
    return {"url": url, "conditions": conditions, "observedGeneration": observed, "traffic": list(traffic)}


def knative_route(
    host: str = "cart.shop.example.com",
    *,
    name: str = "cart",
    ready: str = "True",
    generation: int = 1,
    observed: int = 1,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    tags: tuple[dict[str, str], ...] = (),
) -> KubernetesObject:
    metadata = {
        "name": name,
        "namespace": "shop",
        "uid": f"uid-{name}",
        "generation": generation,
        "labels": labels or {},
        "annotations": annotations or {},
    }
    url = f"http://{host}" if host else ""
    return typed(
        {
            "apiVersion": f"{SERVING}/v1",
            "kind": "Route",
            "metadata": metadata,
            "status": status_of(url, ready, observed, tags),
        }
    )


def mapping(name: str = "app.example.com", *, ready: str = "True") -> KubernetesObject:
    return typed(
        {
            "apiVersion": f"{SERVING}/v1beta1",
            "kind": "DomainMapping",
            "metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}", "generation": 1},
            "status": status_of(f"http://{name}", ready, 1),
        }
    )


def kingress(*balancers: dict[str, str], name: str = "cart", uid: str = "", **labels: str) -> KubernetesObject:
    owner = {"apiVersion": f"{SERVING}/v1", "kind": "Route", "name": name, "uid": uid or f"uid-{name}"}
    return typed(
        {
            "apiVersion": "networking.internal.knative.dev/v1alpha1",
            "kind": "Ingress",
            "metadata": {
                "name": name,
                "namespace": "shop",
                "labels": labels,
                "ownerReferences": [{**owner, "controller": True}],
            },
            "status": {"publicLoadBalancer": {"ingress": list(balancers)}},
        }
    )


def proxy(*balancers: dict[str, str], labels: dict[str, str] | None = None) -> KubernetesObject:
    return typed(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "proxy", "namespace": "infra", "labels": labels or {}},
            "status": {"loadBalancer": {"ingress": list(balancers)}},
        }
    )


def config_gateway(external: str) -> KubernetesObject:
    return typed(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "config-gateway", "namespace": "knative-serving"},
            "data": {"external-gateways": external},
        }
    )


IP = {"ip": "192.0.2.1"}
THROUGH_PROXY = {"domainInternal": "proxy.infra.svc.cluster.local"}
THROUGH_CORP = {"domainInternal": "proxy.infra.svc.corp.internal"}
BY_LABEL = """
- {class: any, gateway: infra/edge}
- {class: any, gateway: infra/blue, selector: {color: blue}}
"""


# Held or gone


def plan_after(*changed: KubernetesObject, gone: tuple[Ref, ...] = ()) -> Plan:
    """The plan for a Route and a DomainMapping that were published before these objects changed."""
    engine = engine_of(KNATIVE, knative_route(), kingress(IP), mapping(), kingress(IP, name="app.example.com"))
    there = inventory(KNATIVE, [], ["example.com"])
    planner = Planner(KNATIVE, Standings(engine))
    there.take(changes_for(planner.plan_all(there, record_sets(engine), allow=True).allowed, there))
    assert planner.plan_all(there, record_sets(engine), allow=True) == Plan()
    for obj in changed:
        engine.put(obj)
    for ref in gone:
        engine.remove(ref)
    engine.run_stale()
    return planner.plan_all(there, record_sets(engine), allow=True)


def deletions(plan: Plan) -> list[tuple[str, str]]:
    deleted = [change for change in plan.changes if change.action == "delete"]
    return sorted((change.record.dns_name, cause.kind) for change in deleted for cause in change.causes)


DOUBTS = {
    "the Route is not Ready any more": knative_route(ready="False"),
    "the status of the Route lags": knative_route(generation=2),
    "the Route is not Ready and tells no URL": knative_route("", ready="Unknown"),
    "the Route is not Ready and tells another URL": knative_route("new.shop.example.com", ready="Unknown"),
    "the DomainMapping is not Ready any more": mapping(ready="Unknown"),
    "the KIngress lost its address": kingress(),
    "the KIngress is that of another object": kingress(IP, uid="uid-of-another"),
}
FACTS = {
    "the Route has another name": knative_route("new.shop.example.com", generation=2, observed=2),
    "the Route is cluster-local": knative_route(labels=LOCAL),
    "the Route is cluster-local by its name": knative_route("cart.shop.svc.cluster.local"),
    "the Route is for another controller": knative_route(
        annotations={"external-dns.kubernetes.io/controller": "other"}
    ),
}


@pytest.mark.parametrize("changed", DOUBTS.values(), ids=DOUBTS.keys())
def test_a_doubt_deletes_nothing(changed: KubernetesObject) -> None:
    plan = plan_after(changed)
    assert plan.changes == ()
    assert [held.cause.kind for held in plan.held] == ["doubtful"]


@pytest.mark.parametrize("changed", FACTS.values(), ids=FACTS.keys())
def test_a_fact_deletes(changed: KubernetesObject) -> None:
    plan = plan_after(changed)
    assert deletions(plan) == [("cart.shop.example.com", "detached")]


def test_objects_that_are_gone_take_their_names_along() -> None:
    plan = plan_after(gone=(knative_route().ref, mapping().ref))
    assert deletions(plan) == [("app.example.com", "gone"), ("cart.shop.example.com", "gone")]


# Where names lead to


def test_labels_of_the_kingress_choose_the_gateway() -> None:
    gateways = (config_gateway(BY_LABEL), gateway("edge", ["192.0.2.7"]), gateway("blue", ["192.0.2.8"]))
    name = ("cart.shop.example.com", "A")
    assert answers(endpoints_of(KNATIVE, knative_route(), kingress(), *gateways)) == {name: ("192.0.2.7",)}
    assert answers(endpoints_of(KNATIVE, knative_route(), kingress(color="blue"), *gateways)) == {name: ("192.0.2.8",)}


@pytest.mark.parametrize("text", ["", "{", "- {class: any}", "- {class: any, gateway: edge}", "5", "- null"])
def test_a_config_gateway_that_cannot_be_read_gives_no_target(text: str) -> None:
    assert endpoints_of(KNATIVE, knative_route(), config_gateway(text), gateway()) == ()


def test_what_is_wrong_with_config_gateway_is_told_at_its_field() -> None:
    engine = engine_of(KNATIVE, knative_route(), kingress(), config_gateway("{"), gateway())
    [skipped] = value_at(engine, CLAIMS, knative_route().ref).skipped
    assert skipped.at == Ref("", "ConfigMap", "knative-serving", "config-gateway")
    assert skipped.field == "data.external-gateways"
    assert skipped.message.startswith("found '{', wanted a list of entries with class and gateway")


def test_an_odd_url_is_no_name() -> None:
    for url in ("", "[", "192.0.2.1", "a_b.example.com"):
        assert endpoints_of(KNATIVE, knative_route(url), kingress(IP)) == ()


def test_the_cluster_domain_is_that_of_the_settings() -> None:
    inside, outside = mapping("app.corp.internal"), mapping("app.cluster.local")
    balancers = (kingress(IP, name=inside.metadata.name), kingress(THROUGH_CORP, name=outside.metadata.name))
    found = endpoints_of(
        KNATIVE, Settings(cluster_domain="corp.internal"), inside, outside, *balancers, proxy({"ip": "192.0.2.5"})
    )
    assert answers(found) == {("app.cluster.local", "A"): ("192.0.2.5",)}


# What reran


def recorded(*objects: KubernetesObject) -> tuple[Engine, list[Ref]]:
    """An engine at rest, and a list that gets the Refs whose claims are worked out from now on."""
    found, indexes = rules(KNATIVE)
    claims = next(rule for rule in found if rule.name == CLAIMS)
    run, ran = claims.run, []

    def noting(key: Any, view: Any) -> Any:
        ran.append(key)
        return run(key, view)

    claims.run = noting
    engine = Engine(found, indexes, START)
    for obj in objects:
        engine.put(obj)
    engine.run_stale()
    ran.clear()
    return engine, ran


def test_an_address_of_a_balancer_wakes_what_leads_there_and_nothing_else_of_the_service_does() -> None:
    others = (knative_route("menu.shop.example.com", name="menu"), kingress(IP, name="menu"))
    engine, ran = recorded(knative_route(), kingress(THROUGH_PROXY), proxy(IP), *others)
    engine.put(proxy(IP, labels={"team": "edge"}))
    assert engine.run_stale() == []
    assert ran == []
    engine.put(proxy({"hostname": "lb.example.net"}))
    engine.run_stale()
    assert ran == [Ref(SERVING, "Route", "shop", "cart")]
    assert answers(desired_endpoints(engine)) == {
        ("cart.shop.example.com", "CNAME"): ("lb.example.net",),
        ("menu.shop.example.com", "A"): ("192.0.2.1",),
    }


def test_a_kingress_wakes_the_object_of_its_name_only() -> None:
    others = (mapping(), kingress(IP, name="app.example.com"))
    engine, ran = recorded(knative_route(), kingress(IP), *others)
    engine.put(kingress({"ip": "192.0.2.9"}))
    engine.run_stale()
    assert ran == [Ref(SERVING, "Route", "shop", "cart")]
