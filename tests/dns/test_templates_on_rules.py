"""--fqdn-template on the rules of Routes and on methods of Go, and when the rules are kept."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import published_crds
from gatepost.cluster.decoding import ObjectDecoder
from gatepost.dns.claims import CLAIMS
from gatepost.dns.fqdn_templates import FqdnTemplates
from gatepost.dns.route_rules_in_go import with_defaults
from gatepost.dns.rules import ROUTE_SOURCES, rules
from gatepost.dns.settings import DnsSettings
from gatepost.dns.sources.hostnames import TemplateFailed
from gatepost.objects.gatewayapi import GatewayRoute, GRPCRoute, HTTPRoute
from gatepost.objects.kinds import typed

SPECS: dict[str, list[dict[str, Any]]] = {
    "HTTPRoute": [
        {
            "name": "api",
            "matches": [
                {
                    "path": {"type": "Exact", "value": "/v1"},
                    "headers": [{"name": "team", "value": "red"}],
                    "queryParams": [{"name": "page", "value": "1", "type": "RegularExpression"}],
                    "method": "GET",
                }
            ],
            "filters": [
                {"type": "URLRewrite", "urlRewrite": {"hostname": "inner.example.com"}},
                {"type": "RequestRedirect", "requestRedirect": {"scheme": "https"}},
                {"type": "CORS", "cors": {"allowOrigins": ["*"]}},
            ],
            "backendRefs": [{"name": "web", "namespace": "other", "port": 80, "weight": 3}],
            "timeouts": {"request": "10s"},
        },
        {"backendRefs": [{"name": "rest", "port": 8080}]},
    ],
    "GRPCRoute": [
        {"matches": [{"method": {"service": "shop.Cart", "method": "Add"}}], "backendRefs": [{"name": "g", "port": 9}]}
    ],
    "TLSRoute": [{"name": "t", "backendRefs": [{"name": "tls", "port": 443}]}],
    "TCPRoute": [{"backendRefs": [{"name": "tcp", "port": 5432}]}],
    "UDPRoute": [{"backendRefs": [{"name": "udp", "port": 53}]}],
}
_BACKENDS = "Service 80 3,Service 8080 1,"
WHOLE = [type_.KIND.group_kind for type_ in ROUTE_SOURCES.values()]


def cart(kind: str, given: Any = None, whole: Any = WHOLE, **metadata: Any) -> GatewayRoute:
    raw = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "cart", "namespace": "shop", "uid": "6f2c", "generation": 3, **metadata},
        "spec": {"rules": SPECS[kind] if given is None else given},
    }
    found = typed(raw, whole)
    assert isinstance(found, GatewayRoute)
    return found


def made(text: str, route: GatewayRoute) -> str:
    source = f"gateway-{route.KIND.kind.lower()}"
    return FqdnTemplates((text,), (source,))(route, source)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{len .Spec.Rules}} {{range .Spec.Rules}}{{.Name}},{{end}}", "2 api,<nil>,"),
        (
            "{{range .Spec.Rules}}{{range .Matches}}{{.Path.Type}}{{.Path.Value}},{{end}}{{end}}",
            "Exact/v1,PathPrefix/,",
        ),
        ("{{with (index (index .Spec.Rules 0).Matches 0)}}{{.Method}} {{(index .Headers 0).Name}}{{end}}", "GET team"),
        ("{{range (index (index .Spec.Rules 0).Matches 0).Headers}}{{.Type}} {{.Value}}{{end}}", "Exact red"),
        ("{{range (index (index .Spec.Rules 0).Matches 0).QueryParams}}{{.Type}}{{end}}", "RegularExpression"),
        ("{{range (index .Spec.Rules 0).Filters}}{{.Type}},{{end}}", "URLRewrite,RequestRedirect,CORS,"),
        ("{{range (index .Spec.Rules 0).Filters}}{{with .URLRewrite}}{{.Hostname}}{{end}}{{end}}", "inner.example.com"),
        ("{{range (index .Spec.Rules 0).Filters}}{{with .RequestRedirect}}{{.StatusCode}}{{end}}{{end}}", "302"),
        ("{{range (index .Spec.Rules 0).Filters}}{{with .CORS}}{{.AllowOrigins}}{{end}}{{end}}", "[*]"),
        ("{{range .Spec.Rules}}{{range .BackendRefs}}{{.Name}}.{{.Namespace}},{{end}}{{end}}", "web.other,rest.<nil>,"),
        ("{{range .Spec.Rules}}{{range .BackendRefs}}{{.Kind}} {{.Port}} {{.Weight}},{{end}}{{end}}", _BACKENDS),
        ("{{(index (index .Spec.Rules 0).BackendRefs 0).BackendRef.BackendObjectReference.Name}}", "web"),
        ("{{range .Spec.Rules}}{{with .Timeouts}}{{.Request}} {{.BackendRequest}}{{end}}{{end}}", "10s <nil>"),
        ("{{range .Spec.Rules}}{{if .Retry}}again{{else}}once{{end}},{{end}}", "once,once,"),
        ("{{range .Spec.rules}}{{range .backendRefs}}{{.name}} {{.weight}},{{end}}{{end}}", "web 3,rest 1,"),
        ("{{range .Object.spec.rules}}{{range .matches}}{{.path.value}},{{end}}{{end}}", "/v1,/,"),
    ],
)
def test_template_sees_the_rules_of_an_httproute(text: str, expected: str) -> None:
    assert made(text, cart("HTTPRoute")) == expected


@pytest.mark.skipif(published_crds.folder() is None, reason=published_crds.WHY_ABSENT)
@pytest.mark.parametrize("kind", ["HTTPRoute", "GRPCRoute"])
def test_defaults_of_rules_are_those_of_the_published_definitions(kind: str) -> None:
    mirror = {
        "type": "RequestMirror",
        "requestMirror": {"backendRef": {"name": "m", "port": 1}, "fraction": {"numerator": 1}},
    }
    more = {"filters": [mirror], "backendRefs": [{"name": "m", "port": 1, "filters": [mirror]}]}
    for given in ([*SPECS[kind], more], None):
        spec = {} if given is None else {"rules": given}
        route = {"apiVersion": "gateway.networking.k8s.io/v1", "kind": kind, "metadata": {"name": "a"}, "spec": spec}
        assert with_defaults(given, kind) == published_crds.defaulted(route)["spec"].get("rules")


def test_pointer_that_is_set_is_true_whatever_it_points_to() -> None:
    route = cart("TCPRoute", [{"backendRefs": [{"name": "idle", "group": "", "weight": 0}]}])
    text = (
        "{{range (index .Spec.Rules 0).BackendRefs}}{{if .Weight}}set {{.Weight}}{{end}}{{with .Group}}<{{.}}>{{end}}"
    )
    assert made(text + "{{if .Namespace}}far{{else}}near{{end}}{{end}}", route) == "set 0<>near"
    assert made("{{eq 0 (index (index .Spec.Rules 0).BackendRefs 0).Weight}}", route) == "true"


def test_template_sees_methods_of_a_grpcroute() -> None:
    text = (
        "{{range .Spec.Rules}}{{range .Matches}}{{.Method.Service}}/{{.Method.Method}} {{.Method.Type}}{{end}}{{end}}"
    )
    assert made(text, cart("GRPCRoute")) == "shop.Cart/Add Exact"


@pytest.mark.parametrize(
    ("kind", "expected"), [("TLSRoute", "tls:443"), ("TCPRoute", "tcp:5432"), ("UDPRoute", "udp:53")]
)
def test_template_sees_backends_of_other_kinds(kind: str, expected: str) -> None:
    text = "{{range .Spec.Rules}}{{range .BackendRefs}}{{.Name}}:{{.Port}}{{end}}{{end}}"
    assert made(text, cart(kind)) == expected
    in_yaml = "{{range .Spec.rules}}{{range .backendRefs}}{{.name}}:{{.port}}{{end}}{{end}}"
    assert made(in_yaml, cart(kind)) == expected


def test_pointer_to_nothing_cannot_be_followed() -> None:
    text = "{{range .Spec.Rules}}{{.Timeouts.Request}}{{end}}"
    with pytest.raises(TemplateFailed, match=r"nil pointer evaluating interface \{\}\.Request"):
        made(text, cart("HTTPRoute"))


def test_field_that_a_rule_lacks_names_those_that_it_has() -> None:
    with pytest.raises(
        TemplateFailed, match=r"field Matches in type v1alpha2\.TCPRouteRule, which has Name, BackendRefs"
    ):
        made("{{range .Spec.Rules}}{{.Matches}}{{end}}", cart("TCPRoute"))


def test_rule_of_another_type_is_told_with_its_place() -> None:
    wrong = cart("TLSRoute", [{"backendRefs": [{"name": "a", "port": "https"}]}])
    with pytest.raises(TemplateFailed, match=r"spec\.rules\[0\]\.backendRefs\[0\]\.port: found 'https', wanted .* int"):
        made("{{len .Spec.Rules}}", wrong)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{.GetName}}.{{.GetNamespace}} {{.GetUID}} {{.GetGeneration}}", "cart.shop 6f2c 3"),
        ("{{.GetLabels.team}} {{.GetAnnotations.note}} {{.ObjectMeta.GetName}}", "red here cart"),
        ("{{.GetCreationTimestamp.Year}} {{.CreationTimestamp.Unix}}", "2026 1770109200"),
        ('{{.CreationTimestamp.Format "2006-01-02"}} {{.CreationTimestamp.Time.Hour}}', "2026-02-03 9"),
        ("{{.CreationTimestamp.IsZero}} {{.GetDeletionTimestamp}}", "false <nil>"),
        ("{{.GetObjectKind.GroupVersionKind.Kind}} {{.GroupVersionKind.Version}}", "TCPRoute v1"),
        ("{{.GroupVersionKind}}", "gateway.networking.k8s.io/v1, Kind=TCPRoute"),
    ],
)
def test_template_may_call_methods_of_the_metadata(text: str, expected: str) -> None:
    when = {"creationTimestamp": "2026-02-03T10:00:00+01:00"}
    route = cart("TCPRoute", labels={"team": "red"}, annotations={"note": "here"}, **when)
    assert made(text, route) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "{{.GetResourceVersion}}",
            "field GetResourceVersion of v1.TCPRoute is not available: gatepost does not keep it",
        ),
        ("{{.DeepCopy}}", "can't evaluate field DeepCopy in type v1.TCPRoute"),
        ('{{.GetName "x"}}', "wrong number of args for GetName: want 0 got 1"),
        ('{{.Name "x"}}', "Name has arguments but cannot be called"),
    ],
)
def test_method_that_is_not_there_is_told(text: str, reason: str) -> None:
    with pytest.raises(TemplateFailed) as told:
        made(text, cart("TCPRoute"))
    assert reason in str(told.value)


def kinds_read_whole(sources: tuple[str, ...], *templates: str) -> list[str]:
    found, _ = rules(DnsSettings(sources=sources, fqdn_template=templates))
    (claims,) = (rule for rule in found if rule.name == CLAIMS)
    return [type_.KIND.kind for type_ in claims.reads_whole]


def test_rules_are_wanted_only_by_a_template_that_may_read_them() -> None:
    sources = ("gateway-httproute", "gateway-grpcroute")
    assert kinds_read_whole(sources) == []
    assert kinds_read_whole(sources, "{{.Name}}.example.com", "{{range .Spec.Hostnames}}{{.}}{{end}}") == []
    assert kinds_read_whole(sources, "{{.Name}}.example.com", "{{len .Spec.rules}}") == ["HTTPRoute", "GRPCRoute"]
    assert kinds_read_whole(("gateway-tcproute",), "{{.Spec}}") == ["TCPRoute"]


def test_rules_that_nobody_reads_are_not_kept() -> None:
    without = cart("HTTPRoute", whole=())
    assert without == cart("HTTPRoute", [], whole=())
    with pytest.raises(TemplateFailed, match=r"field Rules of v1\.HTTPRouteSpec is not available"):
        made("{{.Spec.Rules}}", without)


def test_answer_of_a_cluster_gives_the_same_route_as_a_manifest() -> None:
    rule = {"name": "é", "backendRefs": [{"name": "web", "port": 80}]}
    raw = {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "GRPCRoute", "metadata": {"name": "cart"}}
    raw["spec"] = {"rules": [rule]}
    text = msgspec.json.encode(raw)
    _, decoded = ObjectDecoder(GRPCRoute.KIND.group_kind, GRPCRoute, whole=True).decode(text)
    assert decoded == typed(raw, WHOLE)
    assert type(decoded) is GRPCRoute
    assert made("{{range .Spec.Rules}}{{.Name}}{{end}}", decoded) == "é"
    _, plain = ObjectDecoder(GRPCRoute.KIND.group_kind, GRPCRoute).decode(text)
    assert plain == typed(raw)


def test_rules_for_probes_stay_beside_those_for_templates() -> None:
    labels = {"networking.internal.knative.dev/ingress": "cart"}
    found = cart("HTTPRoute", labels=labels)
    assert isinstance(found, HTTPRoute)
    assert found.spec.rules == cart("HTTPRoute", whole=(), labels=labels).spec.rules  # type: ignore[attr-defined]
    assert [backend.name for rule in found.spec.rules for backend in rule.backend_refs] == ["web", "rest"]
