"""--fqdn-template: what a template sees of a Route, its functions, and what happens to one that fails."""

from __future__ import annotations

from typing import Any

import pytest
from dns_objects import START, engine_of, gateway, route, value_at

from gatepost.dns.claims import CLAIMS
from gatepost.dns.fqdn_templates import FqdnTemplates
from gatepost.dns.rules import BadSettings, rules
from gatepost.dns.settings import DnsSettings
from gatepost.dns.sources.hostnames import TemplateFailed
from gatepost.objects.gatewayapi import GatewayRoute
from gatepost.objects.kinds import typed
from gatepost.state.engine import Engine

HTTP, TCP = "gateway-httproute", "gateway-tcproute"


def cart(kind: str = "HTTPRoute", **metadata: Any) -> GatewayRoute:
    """A Route as a cluster has it, with two parents that have answered."""
    parent = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "namespace": "infra", "name": "edge"}
    accepted = {"type": "Accepted", "status": "True", "reason": "Accepted", "message": "", "observedGeneration": 3}
    found = typed(
        {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": kind,
            "metadata": {
                "name": "cart",
                "namespace": "shop",
                "uid": "6f2c",
                "generation": 3,
                "creationTimestamp": "2026-02-03T09:00:00Z",
                "labels": {"team": "Red_One", "public": "", "app.example.com/part": "api"},
                "annotations": {"names": '[{"host":"one"},{"host":"two"}]', "limit": '{"n":1000000,"bad":NaN}'},
                **metadata,
            },
            "spec": {
                "hostnames": ["a.example.com", "b.example.com"],
                "parentRefs": [parent, {"name": "side", "sectionName": "web", "port": 8080}],
            },
            "status": {"parents": [{"parentRef": parent, "controllerName": "x/y", "conditions": [accepted]}]},
        }
    )
    assert isinstance(found, GatewayRoute)
    return found


def made(*texts: str, source: str = HTTP, of: GatewayRoute | None = None) -> str:
    return FqdnTemplates(texts, (HTTP, TCP))(of or cart(), source)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{.Name}}.{{.Namespace}}", "cart.shop"),
        ("{{.Kind}} {{.APIVersion}} {{.UID}}", "HTTPRoute gateway.networking.k8s.io/v1 6f2c"),
        ("{{.CreationTimestamp}}", "2026-02-03 09:00:00 +0000 UTC"),
        ("{{.ObjectMeta.Name}} {{.TypeMeta.Kind}}", "cart HTTPRoute"),
        ("{{range .Spec.Hostnames}}m-{{.}},{{end}}", "m-a.example.com,m-b.example.com,"),
        ("{{len .Spec.ParentRefs}} {{(index .Spec.ParentRefs 0).Name}}", "2 edge"),
        ("{{(index .Spec.ParentRefs 1).SectionName}} {{(index .Spec.ParentRefs 1).Port}}", "web 8080"),
        ("{{if (index .Spec.ParentRefs 1).Namespace}}far{{else}}near{{end}}", "near"),
        ("{{range .Status.Parents}}{{.ControllerName}} {{.ParentRef.Name}}{{end}}", "x/y edge"),
        ("{{(index (index .Status.Parents 0).Conditions 0).Type}}", "Accepted"),
        ("{{.Labels.team}}", "Red_One"),
        ("[{{.Labels.absent}}].example.com", "[].example.com"),
        ('{{index .Labels "app.example.com/part"}}', "api"),
        ("{{range $k, $v := .Labels}}{{$k}}={{$v}};{{end}}", "app.example.com/part=api;public=;team=Red_One;"),
    ],
)
def test_template_sees_the_route_as_go_has_it(text: str, expected: str) -> None:
    assert made(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{range .Spec.hostnames}}{{.}},{{end}}", "a.example.com,b.example.com,"),
        ("{{(index .Spec.parentRefs 1).kind}}", "Gateway"),
        ("{{.Metadata.uid}} {{.Object.metadata.name}} {{.Object.kind}}", "6f2c cart HTTPRoute"),
        ("{{(index .Status.parents 0).controllerName}} {{.Labels.team}} {{.Name}}", "x/y Red_One cart"),
    ],
)
def test_template_that_fails_there_sees_the_route_as_yaml_has_it(text: str, expected: str) -> None:
    assert made(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{{.Name | trimPrefix "never"}}', "never"),
        ('{{trimPrefix .Name "ca"}} {{trimSuffix .Name "rt"}} {{trim "  x\\t"}}', "rt ca x"),
        ('{{.Labels.team | toLower | replace "_" "-"}}', "red-one"),
        ('{{contains .Name "ar"}} {{contains .Name "z"}}', "true false"),
        ('{{hasKey .Labels "public"}} {{hasKey .Labels "absent"}}', "true false"),
        ('{{isIPv4 "192.0.2.1"}} {{isIPv4 "::1"}} {{isIPv4 "a.b"}}', "true false false"),
        ('{{isIPv6 "2001:db8::1"}} {{isIPv6 "::ffff:192.0.2.1"}} {{isIPv6 "192.0.2.1"}}', "true true false"),
        (
            "{{range (index .Annotations `names` | fromJson)}}{{.host}}.example.com,{{end}}",
            "one.example.com,two.example.com,",
        ),
        ('{{(fromJson `{"n":1000000}`).n}}', "1e+06"),
        ("{{print (fromJson .Annotations.limit)}} {{range fromJson `no`}}{{else}}none{{end}}", "<nil> none"),
        ('{{isSource "Gateway-HTTPRoute"}} {{isSource "gateway-tcproute"}} {{isSource "ingress"}}', "true false false"),
    ],
)
def test_functions_of_external_dns_are_there(text: str, expected: str) -> None:
    assert made(text) == expected


def test_several_templates_are_joined_by_commas() -> None:
    assert made("{{.Name}}.a", '{{define "n"}}{{.Name}}{{end}}{{template "n" .}}.b') == "cart.a,cart.b"


def test_template_knows_for_which_source_it_is_executed() -> None:
    text = '{{if isSource "gateway-tcproute"}}tcp{{end}}'
    assert (made(text), made(text, source=TCP, of=cart("TCPRoute"))) == ("", "tcp")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "{{index .Spec.Hostnames 2}}",
            "1:3: at {{index .Spec.Hostnames 2}}: error calling index: index out of range: 2; "
            'with the keys of YAML instead: map has no entry for key "Hostnames"',
        ),
        (
            "{{.Spec.Rules}}",
            "1:3: at {{.Spec.Rules}}: field Rules of v1.HTTPRouteSpec is not available: gatepost does not keep it; "
            'with the keys of YAML instead: map has no entry for key "Rules"',
        ),
        (
            "{{range 1000000}}{{end}}",
            "1:1: at {{range 1000000}}: needs more than 100000 steps, the limit of one execution; "
            "with the keys of YAML instead: needs more than 100000 steps, the limit of one execution",
        ),
    ],
)
def test_template_that_fails_on_both_says_why(text: str, message: str) -> None:
    with pytest.raises(TemplateFailed) as raised:
        made(text)
    assert str(raised.value) == message


def test_text_that_replace_would_make_is_bounded() -> None:
    with pytest.raises(TemplateFailed, match="makes a text of 400000 characters, the limit is 262144"):
        made("{{replace `0` (printf `%0400d` 0) (printf `%01000d` 0)}}")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (("{{.Name}.example.com",), "--fqdn-template: line 1, column 8: found '}', wanted "),
        (("{{nope}}",), "--fqdn-template: line 1, column 3: found unknown function 'nope', wanted one of and, call, "),
        (
            ('{{define "a"}}1{{end}}', '{{define "a"}}2{{end}}'),
            "--fqdn-template: line 1, column 24: found a second template",
        ),
        (("{{if .Name}}", "x{{end}}"), "--fqdn-template: line 1, column 1: found no {{end}} for {{if}}, wanted "),
        (
            ('{{isSource "gateway"}}',),
            '--fqdn-template: line 1, column 3: found isSource "gateway", wanted one of the ',
        ),
    ],
)
def test_text_that_is_no_template_is_refused_at_the_start(texts: tuple[str, ...], message: str) -> None:
    with pytest.raises(BadSettings) as raised:
        rules(DnsSettings(sources=(HTTP,), fqdn_template=texts))
    assert str(raised.value).startswith(message)


def test_template_that_fails_on_one_route_names_the_others() -> None:
    settings = DnsSettings(
        sources=(HTTP,), fqdn_template=("{{index .Spec.Hostnames 1}}.m.example.org",), combine_fqdn_annotation=True
    )
    one, two = route("one", ["a.example.com", "b.example.com"]), route("two", ["c.example.com"])
    engine = engine_of(settings, gateway(), one, two)
    names = [[claim.name for claim in value_at(engine, CLAIMS, obj.ref).claims] for obj in (one, two)]
    assert names == [["a.example.com", "b.example.com", "b.example.com.m.example.org"], ["c.example.com"]]
    assert [why.reason for why in value_at(engine, CLAIMS, two.ref).skipped] == ["TemplateFailed"]


def test_blank_template_is_none() -> None:
    engine = Engine(*rules(DnsSettings(sources=(HTTP,), fqdn_template=(" ", ""))), START)
    engine.put(gateway())
    engine.put(one := route(hostnames=[]))
    engine.run_stale()
    assert value_at(engine, CLAIMS, one.ref).claims == ()
