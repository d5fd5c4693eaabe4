"""The names of a Route and its tags, and which of them are public."""

from __future__ import annotations

import pytest
from knative_objects import Raw, applied, conditions, config_map, event_reasons, network, the
from route_world import (
    LOCAL,
    PUBLIC,
    configuration,
    hosts_of,
    latest,
    pinned,
    placeholder,
    revision,
    route,
    route_world,
)

VISIBILITY = "networking.knative.dev/visibility"


def test_public_route_has_a_local_rule_and_a_public_one() -> None:
    seen = route()
    outcome = route_world(seen).outcome(seen)
    assert hosts_of(the(outcome, "Ingress")) == [("ClusterLocal", LOCAL), ("ExternalIP", [PUBLIC])]
    assert outcome.status["url"] == f"http://{PUBLIC}"
    assert outcome.status["address"] == {"url": "http://web.shop.svc.cluster.local"}


@pytest.mark.parametrize(
    ("settings", "labels"),
    [
        (config_map("config-domain", **{"example.com": ""}), {VISIBILITY: "cluster-local"}),
        (config_map("config-domain", **{"svc.cluster.local": ""}), {}),
        (config_map("config-domain"), {}),
        (
            config_map("config-domain", **{"example.com": "", "svc.cluster.local": "selector: {app: secret}"}),
            {"app": "secret"},
        ),
    ],
    ids=["label", "domain of the cluster", "no domain", "selector"],
)
def test_private_route_has_only_names_in_the_cluster(settings: Raw, labels: Raw) -> None:
    seen = route(labels=labels)
    outcome = route_world(settings, network(default_external_scheme="https"), seen).outcome(seen)
    assert hosts_of(the(outcome, "Ingress")) == [("ClusterLocal", LOCAL)]
    assert outcome.status["url"] == "http://web.shop.svc.cluster.local"


def test_route_label_of_another_value_does_not_make_it_private() -> None:
    seen = route(labels={VISIBILITY: "local"})
    assert len(hosts_of(the(route_world(seen).outcome(seen), "Ingress"))) == 2


def test_any_visibility_on_the_service_of_a_tag_makes_that_tag_private() -> None:
    seen = route(latest(), pinned("web-00001", 0, tag="old"))
    service = placeholder(seen, "old-web", labels={VISIBILITY: "whatever"})
    outcome = route_world(seen, service).outcome(seen)
    assert hosts_of(the(outcome, "Ingress")) == [
        ("ClusterLocal", LOCAL),
        ("ExternalIP", [PUBLIC]),
        ("ClusterLocal", ["old-web.shop", "old-web.shop.svc", "old-web.shop.svc.cluster.local"]),
    ]
    assert outcome.status["traffic"][1]["url"] == "http://old-web.shop.svc.cluster.local"
    annotations = the(outcome, "Ingress")["metadata"]["annotations"]
    assert annotations["networking.internal.knative.dev/tag-to-host"] == '{"old":["old-web.shop.svc.cluster.local"]}'


def test_service_without_the_label_of_the_route_says_nothing_about_its_visibility() -> None:
    seen = route()
    service = placeholder(seen, labels={VISIBILITY: "cluster-local", "serving.knative.dev/route": "api"})
    assert len(hosts_of(the(route_world(seen, service).outcome(seen), "Ingress"))) == 2


def test_tags_are_sorted_and_their_hosts_listed_in_an_annotation() -> None:
    seen = route(latest(), latest(percent=0, tag="next"), pinned("web-00001", 0, tag="a"))
    ingress = the(route_world(seen).outcome(seen), "Ingress")
    assert [hosts[0] for _, hosts in hosts_of(ingress)] == [
        "web.shop",
        PUBLIC,
        "a-web.shop",
        "a-web.shop.example.com",
        "next-web.shop",
        "next-web.shop.example.com",
    ]
    assert ingress["metadata"]["annotations"]["networking.internal.knative.dev/tag-to-host"] == (
        '{"a":["a-web.shop.svc.cluster.local","a-web.shop.example.com"],'
        '"next":["next-web.shop.svc.cluster.local","next-web.shop.example.com"]}'
    )


@pytest.mark.parametrize(
    ("settings", "metadata", "public"),
    [
        ({"domain_template": "{{.Name}}.{{.Domain}}"}, {}, "web.example.com"),
        ({"domain_template": "{{ .Name -}}  .{{.Domain}}"}, {}, "web.example.com"),
        (
            {"domain_template": '{{.Name}}.{{index .Annotations "sub"}}.{{.Domain}}'},
            {"annotations": {"sub": "eu"}},
            "web.eu.example.com",
        ),
        (
            {"domain_template": "{{.Name}}{{range $key, $value := .Labels}}.{{$value}}{{end}}.{{.Domain}}"},
            {"labels": {"b": "2", "a": "1"}},
            "web.1.2.example.com",
        ),
        (
            {"domain_template": '{{if eq .Namespace "shop"}}{{.Name}}-s{{else}}{{.Name}}{{end}}.{{.Domain}}'},
            {},
            "web-s.example.com",
        ),
    ],
)
def test_domain_template_shapes_the_public_name_alone(settings: dict[str, str], metadata: Raw, public: str) -> None:
    seen = route(**metadata)
    ingress = the(route_world(network(**settings), seen).outcome(seen), "Ingress")
    assert hosts_of(ingress) == [("ClusterLocal", LOCAL), ("ExternalIP", [public])]


@pytest.mark.parametrize(
    "settings",
    [
        {"domain_template": "{{.Name}}"},
        {"domain_template": "{{.Name}}_.{{.Domain}}"},
        {"domain_template": "{{.Name}}" + "x" * 62 + ".{{.Domain}}"},
        {"domain_template": "{{.Name}}.{{index .Annotations `absent`}}.{{.Domain}}"},
        {"domain_template": '{{if eq .Namespace "shop"}}-{{end}}{{.Name}}.{{.Domain}}'},
        {"domain_template": '{{if eq .Namespace "shop"}}{{slice .Name 9}}{{end}}{{.Name}}.{{.Domain}}'},
    ],
)
def test_template_that_makes_no_domain_stops_the_route_with_the_reason(settings: dict[str, str]) -> None:
    seen = route()
    outcome = route_world(network(**settings), seen).outcome(seen)
    assert outcome.applies == []
    assert conditions(outcome)["AllTrafficAssigned"] == ("False", "ErrorConfig")
    assert conditions(outcome)["Ready"] == ("False", "ErrorConfig")
    assert event_reasons(outcome) == ["InternalError"]


def test_tag_template_that_makes_no_domain_stops_the_route() -> None:
    seen = route(latest(), pinned("web-00001", 0, tag="old"))
    outcome = route_world(network(tag_template="{{.Tag}}_{{.Name}}"), seen).outcome(seen)
    assert applied(outcome, "Ingress") is None
    assert conditions(outcome)["AllTrafficAssigned"] == ("False", "ErrorConfig")


def test_host_that_ends_in_a_number_is_left_out() -> None:
    seen = route(pinned("web-1", 100))
    seen["metadata"]["namespace"] = "2024"
    made = [revision("web-1"), configuration("web")]
    for one in made:
        one["metadata"]["namespace"] = "2024"
    ingress = the(route_world(seen, *made).outcome(seen), "Ingress")
    assert hosts_of(ingress)[0] == ("ClusterLocal", ["web.2024.svc", "web.2024.svc.cluster.local"])


def test_namespace_with_a_dash_is_no_number() -> None:
    seen = route(pinned("web-1", 100))
    made = [revision("web-1"), configuration("web")]
    for one in (seen, *made):
        one["metadata"]["namespace"] = "20-24"
    ingress = the(route_world(seen, *made).outcome(seen), "Ingress")
    assert hosts_of(ingress)[0][1][0] == "web.20-24"


def test_domain_with_most_fitting_labels_is_chosen_and_the_first_of_several() -> None:
    domains = config_map(
        "config-domain",
        **{
            "example.com": "",
            "b.test": "selector: {env: dev}",
            "a.test": "selector: {env: dev}",
            "pay.test": "selector: {env: dev, app: pay}",
        },
    )
    for labels, domain in [
        ({"env": "dev", "app": "pay"}, "pay.test"),
        ({"env": "dev"}, "a.test"),
        ({"env": "prod"}, "example.com"),
    ]:
        seen = route(labels=labels)
        assert route_world(domains, seen).outcome(seen).status["url"] == f"http://web.shop.{domain}"


def test_config_domain_that_does_not_parse_leaves_the_route_as_it_is() -> None:
    seen = route()
    broken = config_map("config-domain", **{"example.com": "selector: [env]"})
    outcome = route_world(broken, seen).outcome(seen)
    assert outcome.applies == []
    assert outcome.status == {}
    assert [problem.field for problem in outcome.problems] == ["data.example.com"]
