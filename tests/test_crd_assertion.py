"""The shared assertion itself: it knows the schemas and the rules of the published Gateway API."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import published_crds
from published_crds import assert_valid, problems

Raw = dict[str, Any]

pytestmark = pytest.mark.skipif(published_crds.folder() is None, reason=published_crds.WHY_ABSENT)

ROUTE: Raw = {
    "apiVersion": "gateway.networking.k8s.io/v1",
    "kind": "HTTPRoute",
    "metadata": {"name": "app.example.com", "namespace": "shop"},
    "spec": {
        "parentRefs": [{"name": "public"}],
        "hostnames": ["app.example.com"],
        "rules": [
            {
                "matches": [{"path": {"type": "PathPrefix", "value": "/foo"}}],
                "backendRefs": [{"group": "", "kind": "Service", "name": "app", "port": 80}],
            }
        ],
    },
}


def changed(**rule: Any) -> Raw:
    route = copy.deepcopy(ROUTE)
    route["spec"]["rules"][0] |= rule
    return route


def test_what_an_api_server_takes_is_valid() -> None:
    assert_valid(ROUTE)


def test_an_unknown_field_is_named() -> None:
    assert problems(changed(foo=1)) == ["spec.rules[0].foo: the schema has no such field"]


def test_a_limit_of_the_schema_is_named() -> None:
    route = copy.deepcopy(ROUTE)
    route["spec"]["rules"] *= 17
    assert problems(route) == ["spec.rules: Too many: 17: must have at most 16 items"]


def test_a_broken_cel_rule_is_named() -> None:
    path = {"type": "PathPrefix", "value": "/a//b"}
    wanted = "spec.rules[0].matches[0].path: must not contain '//' when type one of ['Exact', 'PathPrefix']"
    assert problems(changed(matches=[{"path": path}])) == [wanted]
    redirect = {"type": "RequestRedirect", "requestRedirect": {"scheme": "https"}}
    wanted = "spec.rules[0]: RequestRedirect filter must not be used together with backendRefs"
    assert problems(changed(filters=[redirect])) == [wanted]


def test_a_label_that_is_too_long_is_named() -> None:
    route = {**ROUTE, "metadata": {**ROUTE["metadata"], "labels": {"a": "x" * 64}}}
    assert problems(route) == [f"metadata.labels: a cannot be '{'x' * 64}'"]


def test_the_assertion_names_the_object() -> None:
    with pytest.raises(AssertionError, match=r"HTTPRoute shop/app\.example\.com: spec\.rules\[0\]\.foo"):
        assert_valid(changed(foo=1))
