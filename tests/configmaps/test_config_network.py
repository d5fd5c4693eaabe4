"""What config-network says, key by key, with its older spellings."""

from __future__ import annotations

from typing import Any

import pytest

from gatepost.configmaps.network import NetworkConfig, parse
from gatepost.configmaps.values import UnreadableValue
from gatepost.objects.problems import Problem
from gatepost.objects.refs import Ref


def test_empty_map_gives_the_defaults_of_knative() -> None:
    config = parse({"_example": "ingress-class: other"})
    assert config == NetworkConfig()
    assert config.ingress_class == "istio.ingress.networking.knative.dev"
    assert config.certificate_class == "cert-manager.certificate.networking.knative.dev"
    assert config.domain_template == "{{.Name}}.{{.Namespace}}.{{.Domain}}"
    assert config.tag_template == "{{.Tag}}-{{.Name}}"
    assert config.rollout_duration_seconds == 0
    assert config.autocreate_cluster_domain_claims is False
    assert config.default_external_scheme == "http"
    assert config.http_protocol == "enabled"
    assert config.external_domain_tls is False
    assert config.cluster_local_domain_tls is False
    assert config.system_internal_tls is False


@pytest.mark.parametrize(
    ("data", "field", "value"),
    [
        ({"ingress-class": " kourier "}, "ingress_class", "kourier"),
        ({"ingress.class": "old"}, "ingress_class", "old"),
        ({"ingress.class": "old", "ingress-class": "new"}, "ingress_class", "new"),
        ({"certificate.class": "old"}, "certificate_class", "old"),
        ({"domainTemplate": "{{.Name}}.{{.Domain}}"}, "domain_template", "{{.Name}}.{{.Domain}}"),
        (
            {"domain-template": "{{if .Labels.a}}a.{{end}}{{.Domain}}"},
            "domain_template",
            "{{if .Labels.a}}a.{{end}}{{.Domain}}",
        ),
        ({"domain-template": "{{.Name}}.{{.Domain}}/"}, "domain_template", "{{.Name}}.{{.Domain}}/"),
        ({"tagTemplate": "{{.Name}}-{{.Tag}}"}, "tag_template", "{{.Name}}-{{.Tag}}"),
        ({"rollout-duration": "120"}, "rollout_duration_seconds", 120),
        ({"rolloutDuration": "60"}, "rollout_duration_seconds", 60),
        ({"autocreate-cluster-domain-claims": "T"}, "autocreate_cluster_domain_claims", True),
        ({"autocreateClusterDomainClaims": "1"}, "autocreate_cluster_domain_claims", True),
        ({"autocreate-cluster-domain-claims": "FALSE"}, "autocreate_cluster_domain_claims", False),
        ({"default-external-scheme": "https"}, "default_external_scheme", "https"),
        ({"defaultExternalScheme": "https"}, "default_external_scheme", "https"),
        ({"http-protocol": "Redirected"}, "http_protocol", "redirected"),
        ({"httpProtocol": "DISABLED"}, "http_protocol", "disabled"),
        ({"external-domain-tls": "enabled"}, "external_domain_tls", True),
        ({"external-domain-tls": "true"}, "external_domain_tls", False),
        ({"auto-tls": "ENABLED"}, "external_domain_tls", True),
        ({"autoTLS": "Enabled"}, "external_domain_tls", True),
        ({"external-domain-tls": "Disabled", "auto-tls": "Enabled"}, "external_domain_tls", False),
        ({"auto-tls": "", "autoTLS": "Enabled"}, "external_domain_tls", False),
        ({"cluster-local-domain-tls": "Enabled"}, "cluster_local_domain_tls", True),
        ({"system-internal-tls": "enabled"}, "system_internal_tls", True),
        ({"system-internal-tls": "disabled", "internal-encryption": "true"}, "system_internal_tls", True),
        ({"internal-encryption": "false"}, "system_internal_tls", False),
    ],
)
def test_key_is_read_in_all_its_spellings(data: dict[str, str], field: str, value: Any) -> None:
    assert getattr(parse(data), field) == value


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("http-protocol", "off"),
        ("httpProtocol", "sometimes"),
        ("rollout-duration", "-1"),
        ("rollout-duration", "10s"),
        ("rollout-duration", "1.5"),
        ("autocreate-cluster-domain-claims", "yes"),
        ("cluster-local-domain-tls", "on"),
        ("system-internal-tls", "on"),
        ("domain-template", "{{.Name}}.{{.Region}}.{{.Domain}}"),
        ("domain-template", "{{.Name}}.{{.Labels}}.{{.Domain}}"),
        ("domain-template", "{{.Name}}.{{.Domain"),
        ("domain-template", "{{.Name}}.{{.Labels.team}}.{{.Domain}}"),
        ("domain-template", "{{if .Labels.a}}x{{end}}"),
        ("domain-template", "{{.Domain}}/{{.Name}}"),
        ("domain-template", ""),
        ("tag-template", "{{.Tag}}-{{.Namespace}}"),
        ("tag-template", "{{.Tag}}/{{.Name}}"),
        ("tag-template", "/"),
        ("tagTemplate", ""),
        ("namespace-wildcard-cert-selector", "matchLabels: [a]"),
        ("namespace-wildcard-cert-selector", "{"),
        ("namespace-wildcard-cert-selector", "2026-13-45"),
    ],
)
def test_value_that_cannot_be_understood_refuses_the_map_and_names_the_key(key: str, value: str) -> None:
    with pytest.raises(UnreadableValue) as raised:
        parse({key: value})
    config_map = Ref("", "ConfigMap", "knative-serving", "config-network")
    problem = raised.value.as_problem(config_map)
    assert isinstance(problem, Problem)
    assert (problem.about, problem.field) == (config_map, f"data.{key}")
    assert repr(value) in problem.message


def test_a_wildcard_selector_is_a_label_selector_in_yaml_and_decides_nothing_here() -> None:
    text = "matchExpressions:\n- {key: team, operator: NotIn, values: [guest]}\nmatchLabels: {tier: gold}\n"
    assert parse({"namespace-wildcard-cert-selector": text}) == parse({})
