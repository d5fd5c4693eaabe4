"""Which domain config-domain chooses for a set of labels."""

from __future__ import annotations

import pytest

from gatepost.configmaps.domain import DomainConfig, DomainEntry, parse
from gatepost.configmaps.values import UnreadableValue


def test_entries_are_domains_with_the_labels_that_they_ask_for() -> None:
    config = parse({"b.test": "selector:\n  app: pay\n  env: dev\n", "a.test": "type: x\n", "_example": "{{{"})
    assert config == DomainConfig((DomainEntry("a.test"), DomainEntry("b.test", (("app", "pay"), ("env", "dev")))))


@pytest.mark.parametrize(
    "text",
    [
        "2026-13-45",
        "selector: {a: 2026-13-45, b: 1}",
        "selector: [a]",
        "selector: {a: 1}",
        "selector: {a: {b: c}}",
        "- a",
        "{",
    ],
)
def test_value_that_is_no_flat_selector_is_refused(text: str) -> None:
    with pytest.raises(UnreadableValue) as raised:
        parse({"a.test": text})
    assert raised.value.key == "a.test"


@pytest.mark.parametrize(
    ("labels", "domain"),
    [
        ({}, "default.test"),
        ({"app": "pay"}, "default.test"),
        ({"env": "dev"}, "first.test"),
        ({"env": "dev", "app": "pay"}, "pay.test"),
        ({"env": "dev", "app": "pay", "networking.knative.dev/visibility": "cluster-local"}, "svc.cluster.local"),
        ({"env": "dev", "networking.knative.dev/visibility": "other"}, "first.test"),
    ],
)
def test_most_labels_win_then_the_name_and_the_visibility_label_before_all(labels: dict[str, str], domain: str) -> None:
    config = parse(
        {
            "default.test": "",
            "second.test": "selector: {env: dev}",
            "first.test": "selector: {env: dev}",
            "pay.test": "selector: {env: dev, app: pay}",
        }
    )
    assert config.domain_for(labels, "cluster.local") == domain


def test_without_a_default_the_domain_of_the_cluster_is_the_default() -> None:
    config = parse({"dev.test": "selector: {env: dev}"})
    assert config.domain_for({}, "example.internal") == "svc.example.internal"
    assert config.domain_for({"env": "dev"}, "example.internal") == "dev.test"
    assert DomainConfig().domain_for({}, "cluster.local") == "svc.cluster.local"
