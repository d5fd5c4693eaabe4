"""While the spec of a KIngress cannot be served, what was configured for it stays, and its conditions say why."""

from __future__ import annotations

from typing import Any

import pytest
from gateway_world import (
    EDGE,
    PUBLIC,
    SERVED,
    ingress,
    listener_names,
    parents,
    path,
    public_rule,
    route_of,
    seen,
    tls,
    verdict,
    world,
)
from knative_objects import World

from gatepost.objects.refs import ref_of
from gatepost.reconcilers.gateway.listeners import LISTENERS

Raw = dict[str, Any]

HOST = "app.example.com"
CERTIFICATE = tls(HOST, "cert")
GOOD = ingress("app", public_rule(HOST), tls=[CERTIFICATE])


def split(**fields: Any) -> Raw:
    return {"splits": [{"serviceNamespace": "shop", "serviceName": "app-00001", "servicePort": 80, **fields}]}


def rule(host: str = HOST, **path_fields: Any) -> Raw:
    return public_rule(host, path("app-00001", **path_fields))


UNUSABLE = {
    "no rules": ([], "spec.rules"),
    "no hosts": ([{**public_rule(HOST), "hosts": []}], "spec.rules[0].hosts"),
    "no http": ([{"hosts": [HOST]}], "spec.rules[0].http"),
    "no paths": ([{"hosts": [HOST], "http": {"paths": []}}], "spec.rules[0].http.paths"),
    "no splits": ([public_rule(HOST, {"splits": []})], "spec.rules[0].http.paths[].splits"),
    "second rule": ([public_rule(HOST), public_rule("Two.example.com")], "spec.rules[1].hosts"),
    "host in capitals": ([public_rule("APP.example.com")], "spec.rules[0].hosts"),
    "wildcard inside a host": ([public_rule("app.*.example.com")], "spec.rules[0].hosts"),
    "host too long": ([public_rule(f"*.{'a.' * 125}com")], "spec.rules[0].hosts"),
    "port 0": ([public_rule(HOST, split(servicePort=0))], "spec.rules[0].http.paths[].splits[].servicePort"),
    "port too high": ([public_rule(HOST, split(servicePort=65536))], "spec.rules[0].http.paths[].splits[].servicePort"),
    "no Service": ([public_rule(HOST, split(serviceName=""))], "spec.rules[0].http.paths[].splits[].serviceName"),
    "Service name too long": (
        [public_rule(HOST, split(serviceName="a" * 254))],
        "spec.rules[0].http.paths[].splits[].serviceName",
    ),
    "share below 0": ([public_rule(HOST, split(percent=-1))], "spec.rules[0].http.paths[].splits[].percent"),
    "share too high": ([public_rule(HOST, split(percent=1_000_001))], "spec.rules[0].http.paths[].splits[].percent"),
    "path without slash": ([rule(path="app")], "spec.rules[0].http.paths[].path"),
    "path with //": ([rule(path="/a//b")], "spec.rules[0].http.paths[].path"),
    "path too long": ([rule(path=f"/{'a' * 1024}")], "spec.rules[0].http.paths[].path"),
    "header name": ([rule(appendHeaders={"X Y": "v"})], "spec.rules[0].http.paths[].appendHeaders"),
    "header value": ([rule(headers={"X": {"exact": "v" * 4097}})], "spec.rules[0].http.paths[].headers[X]"),
    "rewrite to a wildcard": ([rule(rewriteHost="*.example.com")], "spec.rules[0].http.paths[].rewriteHost"),
    "too many headers": (
        [rule(headers={f"X-{n}": {"exact": "v"} for n in range(16)})],
        "spec.rules[0].http.paths[].headers",
    ),
}
"""What is asked for -> the rules that ask for it, and the field that is told."""


def served() -> tuple[Raw, ...]:
    """The Gateways and the route as they are once the good KIngress is served, with TLS."""
    found = world(*EDGE, GOOD)
    listeners = found.engine.value(LISTENERS, ref_of(PUBLIC))
    assert listeners is not None
    (apply,) = listeners.applies
    (https,) = apply.entries[0].entries
    public = {**PUBLIC, "spec": {**PUBLIC["spec"], "listeners": [*PUBLIC["spec"]["listeners"], dict(https)]}}
    config, _, inside = EDGE
    return config, public, inside, route_of(GOOD, HOST, status=parents(verdict(*SERVED)))


def conditions(found: World, kingress: Raw) -> dict[str, Raw]:
    return {one["type"]: one for one in found.outcome(kingress).status["conditions"]}


@pytest.mark.parametrize(("rules", "field"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_spec_that_cannot_be_served_leaves_routes_and_listeners(rules: list[Raw], field: str) -> None:
    objects = served()
    changed = seen(ingress("app", *rules, tls=[CERTIFICATE]))
    found = world(*objects, changed)
    outcome = found.outcome(changed)
    assert (outcome.applies, outcome.deletes) == ([], [])
    assert listener_names(found, objects[1]) == ["http", "kni-uid-shop-app"]
    (problem,) = outcome.problems
    assert (problem.about, problem.field) == (ref_of(GOOD), field)


def test_the_condition_says_what_is_wrong_with_the_spec() -> None:
    changed = seen(ingress("app", public_rule("APP.example.com")))
    ready = conditions(world(*served(), changed), changed)["Ready"]
    assert (ready["status"], ready["reason"]) == ("Unknown", "ReconcileIngressFailed")
    assert "spec.rules[0].hosts: found 'APP.example.com'" in ready["message"]


def test_a_spec_without_rules_is_not_ready() -> None:
    changed = seen(ingress("app"))
    told = conditions(world(*served(), changed), changed)
    assert (told["Ready"]["status"], told["LoadBalancerReady"]["status"]) == ("Unknown", "Unknown")


@pytest.mark.parametrize(
    ("certificate", "field"),
    [
        (tls(HOST, ""), "spec.tls[].secretName"),
        (tls(HOST, "No_Name"), "spec.tls[].secretName"),
        (tls(HOST, "cert", ""), "spec.tls[].secretNamespace"),
        (tls(HOST, "cert", "a.b"), "spec.tls[].secretNamespace"),
    ],
)
def test_a_certificate_that_no_listener_can_name_leaves_the_listener_that_is_there(
    certificate: Raw, field: str
) -> None:
    objects = served()
    changed = ingress("app", public_rule(HOST), tls=[certificate])
    found = world(*objects, changed)
    assert listener_names(found, objects[1]) == ["http", "kni-uid-shop-app"]
    assert [problem.field for problem in found.outcome(changed).problems] == [field]


def test_a_certificate_that_no_rule_uses_plays_no_part() -> None:
    kingress = ingress("app", public_rule(HOST), tls=[CERTIFICATE, tls("other.example.com", "")])
    assert world(*EDGE, kingress).outcome(kingress).problems == []


def test_a_spec_that_can_be_served_again_is_served() -> None:
    found = world(*served(), ingress("app"))
    found.put(ingress("app", public_rule("new.example.com")))
    outcome = found.outcome(GOOD)
    assert [apply.ref.name for apply in outcome.applies if apply.ref.kind == "HTTPRoute"] == ["new.example.com"]
    assert [delete.ref.name for delete in outcome.deletes] == [HOST]


def test_a_tag_that_is_no_label_is_left_out() -> None:
    annotations = {
        "networking.knative.dev/ingress.class": GOOD["metadata"]["annotations"]["networking.knative.dev/ingress.class"],
        "networking.internal.knative.dev/tag-to-host": '{"a tag": ["app.example.com"]}',
    }
    kingress = ingress("app", public_rule(HOST), metadata={"annotations": annotations})
    (route,) = [one.fields for one in world(*EDGE, kingress).outcome(kingress).applies]
    assert "networking.knative.dev/tag" not in route["metadata"]["labels"]
