"""What people do with kubectl, done with the real one."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from apiserver.api_client import Kubectl, Write

# Everything that a server would fill in is written out, so that nothing is left for it to add.
SHOP = """
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {selector: {app: cart}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
data: {colour: blue}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: traefik}
spec: {controllerName: traefik.io/gateway-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: web, namespace: shop}
spec:
  gatewayClassName: traefik
  listeners:
  - {name: http, port: 8080, protocol: HTTP, allowedRoutes: {namespaces: {from: Same}}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: cart, namespace: shop}
spec:
  parentRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: web}]
  hostnames: [cart.example.com]
  rules:
  - matches: [{path: {type: PathPrefix, value: /}}]
    backendRefs: [{group: "", kind: Service, name: cart, port: 80, weight: 1}]
---
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: {name: secrets, namespace: shop}
spec:
  from: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: edge}]
  to: [{group: "", kind: Secret}]
---
apiVersion: serving.knative.dev/v1beta1
kind: DomainMapping
metadata: {name: app.example.com, namespace: shop}
spec: {ref: {kind: Service, name: cart, apiVersion: serving.knative.dev/v1}}
"""
KINDS = [
    "namespace/shop",
    "service/cart",
    "configmap/settings",
    "gatewayclass.gateway.networking.k8s.io/traefik",
    "gateway.gateway.networking.k8s.io/web",
    "httproute.gateway.networking.k8s.io/cart",
    "referencegrant.gateway.networking.k8s.io/secrets",
    "domainmapping.serving.knative.dev/app.example.com",
]
# The usual way to write a route: what has a default is left out.
SHORT_ROUTE = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: short, namespace: default}
spec:
  parentRefs: [{name: web}]
  hostnames: [short.example.com]
  rules: [{backendRefs: [{name: cart, port: 80}]}]
"""


@pytest.fixture
async def shop(kubectl: Kubectl, write: Write) -> str:
    file = write("shop.yaml", SHOP)
    await kubectl.ok("apply", "-f", file)
    return file


async def test_version_is_that_of_a_current_release(kubectl: Kubectl) -> None:
    shown = json.loads(await kubectl.ok("version", "-o", "json"))
    assert shown["serverVersion"]["major"] == "1"
    assert shown["serverVersion"]["minor"] == "34"


async def test_api_resources_lists_kinds_with_their_short_names(kubectl: Kubectl) -> None:
    rows = [line.split() for line in (await kubectl.ok("api-resources", "--no-headers")).splitlines()]
    assert ["domainmappings", "dm", "serving.knative.dev/v1beta1", "true", "DomainMapping"] in rows
    assert ["ingresses", "kingress,king", "networking.internal.knative.dev/v1alpha1", "true", "Ingress"] in rows
    assert [
        "clusterdomainclaims",
        "cdc",
        "networking.internal.knative.dev/v1alpha1",
        "false",
        "ClusterDomainClaim",
    ] in rows
    assert ["services", "svc", "v1", "true", "Service"] in rows


async def test_kinds_with_one_plural_are_told_apart_by_group(kubectl: Kubectl, shop: str) -> None:
    assert (await kubectl.ok("get", "services", "-n", "shop", "-o", "name")).split() == ["service/cart"]
    assert await kubectl.ok("get", "services.serving.knative.dev", "-n", "shop", "-o", "name") == ""


async def test_get_shows_the_columns_of_the_definition(kubectl: Kubectl, shop: str) -> None:
    route = (await kubectl.ok("get", "httproute", "-n", "shop")).splitlines()
    assert route[0].split() == ["NAME", "HOSTNAMES", "AGE"]
    assert route[1].split()[:2] == ["cart", '["cart.example.com"]']
    mapping = (await kubectl.ok("get", "dm", "-n", "shop")).splitlines()
    assert mapping[0].split() == ["NAME", "URL", "READY", "REASON"]
    gateway = (await kubectl.ok("get", "gtw", "-n", "shop", "--no-headers")).split()
    assert gateway[:3] == ["web", "traefik", "Unknown"]


async def test_get_wide_adds_columns_of_lower_priority(kubectl: Kubectl, shop: str) -> None:
    assert "SELECTOR" not in await kubectl.ok("get", "svc", "-n", "shop")
    assert (await kubectl.ok("get", "svc", "-n", "shop", "-o", "wide", "--no-headers")).split()[-1] == "app=cart"


async def test_get_yaml_shows_defaults(kubectl: Kubectl, write: Write) -> None:
    await kubectl.ok("apply", "-f", write("route.yaml", SHORT_ROUTE))
    route = json.loads(await kubectl.ok("get", "httproute", "short", "-o", "json"))
    assert route["spec"]["rules"] == [
        {
            "matches": [{"path": {"type": "PathPrefix", "value": "/"}}],
            "backendRefs": [{"group": "", "kind": "Service", "name": "cart", "port": 80, "weight": 1}],
        }
    ]
    assert route["spec"]["parentRefs"] == [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "web"}]
    assert route["metadata"]["generation"] == 1


async def test_get_by_label_and_field(kubectl: Kubectl, shop: str) -> None:
    await kubectl.ok("label", "configmap/settings", "-n", "shop", "tier=web")
    assert await kubectl.ok("get", "cm", "-A", "-l", "tier=web", "-o", "name") == "configmap/settings\n"
    assert await kubectl.ok("get", "cm", "-A", "-l", "tier notin (web)", "-o", "name") == ""
    found = await kubectl.ok("get", "svc", "-A", "--field-selector", "metadata.name=cart", "-o", "name")
    assert found == "service/cart\n"


async def test_second_apply_changes_nothing(kubectl: Kubectl, shop: str) -> None:
    assert (await kubectl.ok("apply", "-f", shop)).splitlines() == [f"{kind} unchanged" for kind in KINDS]


async def test_a_list_is_applied_like_its_items(kubectl: Kubectl, shop: str) -> None:
    listed = await kubectl.ok("get", "configmaps,services", "-n", "shop", "-o", "yaml")
    ran = await kubectl.ok("apply", "-f", "-", given=listed)
    assert [line.split()[0] for line in ran.splitlines()] == ["configmap/settings", "service/cart"]
    item = "{apiVersion: v1, kind: ConfigMap, metadata: {name: odd, nonsense: 1}}"
    refused = await kubectl("apply", "-f", "-", given=f"apiVersion: v1\nkind: List\nitems:\n- {item}\n")
    assert (refused.code, 'unknown field "metadata.nonsense"' in refused.err) == (1, True), refused.err


async def test_second_apply_of_a_short_manifest_stores_nothing(kubectl: Kubectl, write: Write) -> None:
    # kubectl says "configured" here, as with every server: the list it sends differs from the one with defaults.
    file = write("route.yaml", SHORT_ROUTE)
    await kubectl.ok("apply", "-f", file)
    before = json.loads(await kubectl.ok("get", "httproute", "short", "-o", "json"))
    await kubectl.ok("apply", "-f", file)
    assert json.loads(await kubectl.ok("get", "httproute", "short", "-o", "json")) == before


async def test_apply_changes_what_was_edited_and_removes_the_rest(kubectl: Kubectl, shop: str, write: Write) -> None:
    edited = SHOP.replace("cart.example.com", "basket.example.com").replace("data: {colour: blue}", "data: {size: s}")
    ran = (await kubectl.ok("apply", "-f", write("edited.yaml", edited))).splitlines()
    changed = [line for line in ran if line.endswith("configured")]
    assert changed == ["configmap/settings configured", "httproute.gateway.networking.k8s.io/cart configured"]
    settings = json.loads(await kubectl.ok("get", "cm", "settings", "-n", "shop", "-o", "json"))
    assert settings["data"] == {"size": "s"}
    route = json.loads(await kubectl.ok("get", "httproute", "cart", "-n", "shop", "-o", "json"))
    assert route["spec"]["hostnames"] == ["basket.example.com"]
    assert route["metadata"]["generation"] == 2


async def test_service_ports_are_merged_by_port(kubectl: Kubectl, shop: str) -> None:
    patch = '{"spec":{"ports":[{"port":443,"name":"https"}]}}'
    await kubectl.ok("patch", "svc", "cart", "-n", "shop", "--type", "strategic", "-p", patch)
    service = json.loads(await kubectl.ok("get", "svc", "cart", "-n", "shop", "-o", "json"))
    assert sorted(port["port"] for port in service["spec"]["ports"]) == [80, 443]


async def test_server_side_apply_conflicts_with_another_owner_until_forced(kubectl: Kubectl, write: Write) -> None:
    manifest = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {colour: %s}}"
    mine, theirs = write("mine.yaml", manifest % "blue"), write("theirs.yaml", manifest % "red")
    apply = ("apply", "--server-side", "-f")
    assert await kubectl.ok(*apply, mine, "--field-manager", "a") == "configmap/c serverside-applied\n"
    refused = await kubectl(*apply, theirs, "--field-manager", "b")
    assert refused.code == 1
    assert 'conflict with "a"' in refused.err
    assert ".data.colour" in refused.err
    await kubectl.ok(*apply, theirs, "--field-manager", "b", "--force-conflicts")
    assert await kubectl.ok("get", "cm", "c", "-o", "jsonpath={.data.colour}") == "red"


async def test_diff_shows_nothing_for_what_is_applied(kubectl: Kubectl, shop: str, write: Write) -> None:
    short = write("route.yaml", SHORT_ROUTE)
    await kubectl.ok("apply", "-f", short)
    for file in (shop, short):
        ran = await kubectl("diff", "-f", file)
        assert (ran.code, ran.out) == (0, "")


async def test_diff_shows_the_edited_line_and_stores_nothing(kubectl: Kubectl, shop: str, write: Write) -> None:
    edited = write("edited.yaml", SHOP.replace("cart.example.com", "basket.example.com"))
    ran = await kubectl("diff", "-f", edited)
    assert ran.code == 1
    changed = [line for line in ran.lines if line.startswith(("+ ", "- ")) and "generation" not in line]
    assert changed == ["-  - cart.example.com", "+  - basket.example.com"]
    hostnames = await kubectl.ok("get", "httproute", "cart", "-n", "shop", "-o", "jsonpath={.spec.hostnames[0]}")
    assert hostnames == "cart.example.com"


async def test_explain_knows_fields_of_custom_and_core_kinds(kubectl: Kubectl) -> None:
    rules = await kubectl.ok("explain", "httproute.spec.rules")
    for field in ("backendRefs", "filters", "matches", "timeouts"):
        assert field in rules
    assert "-required-" in await kubectl.ok("explain", "domainmapping.spec.ref")
    assert "ports" in await kubectl.ok("explain", "service.spec")
    assert "ownerReferences" in await kubectl.ok("explain", "gateway.metadata")
    assert "VERSION:    v1beta1" in await kubectl.ok(
        "explain", "referencegrant.spec.from", "--api-version", "gateway.networking.k8s.io/v1beta1"
    )


@pytest.mark.parametrize(
    ("type_", "patch"),
    [
        ("merge", '{"spec":{"hostnames":["x.example.com"]}}'),
        ("json", '[{"op":"replace","path":"/spec/hostnames/0","value":"x.example.com"}]'),
    ],
)
async def test_patch_of_a_custom_kind(kubectl: Kubectl, shop: str, type_: str, patch: str) -> None:
    await kubectl.ok("patch", "httproute", "cart", "-n", "shop", "--type", type_, "-p", patch)
    shown = await kubectl.ok("get", "httproute", "cart", "-n", "shop", "-o", "jsonpath={.spec.hostnames}")
    assert shown == '["x.example.com"]'


async def test_status_is_patched_through_its_subresource_only(kubectl: Kubectl, shop: str) -> None:
    status = '{"status":{"url":"http://app.example.com"}}'
    where = ("dm", "app.example.com", "-n", "shop")
    await kubectl.ok("patch", *where, "--type", "merge", "-p", status)
    assert await kubectl.ok("get", *where, "-o", "jsonpath={.status.url}") == ""
    await kubectl.ok("patch", *where, "--type", "merge", "--subresource", "status", "-p", status)
    assert await kubectl.ok("get", *where, "-o", "jsonpath={.status.url}") == "http://app.example.com"
    assert await kubectl.ok("get", *where, "-o", "jsonpath={.metadata.generation}") == "1"


async def test_label_and_annotate_add_and_remove(kubectl: Kubectl, shop: str) -> None:
    await kubectl.ok("label", "httproute", "cart", "-n", "shop", "tier=web")
    await kubectl.ok("annotate", "httproute", "cart", "-n", "shop", "note=a b")
    metadata = json.loads(await kubectl.ok("get", "httproute", "cart", "-n", "shop", "-o", "json"))["metadata"]
    assert metadata["labels"] == {"tier": "web"}
    assert metadata["annotations"]["note"] == "a b"
    await kubectl.ok("label", "httproute", "cart", "-n", "shop", "tier-")
    metadata = json.loads(await kubectl.ok("get", "httproute", "cart", "-n", "shop", "-o", "json"))["metadata"]
    assert "labels" not in metadata


async def test_edit_stores_what_the_editor_leaves(kubectl: Kubectl, shop: str, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i s/cart.example.com/edited.example.com/ "$1"\n')
    editor.chmod(0o755)
    await kubectl.ok("edit", "httproute", "cart", "-n", "shop", KUBE_EDITOR=str(editor))
    shown = await kubectl.ok("get", "httproute", "cart", "-n", "shop", "-o", "jsonpath={.spec.hostnames[0]}")
    assert shown == "edited.example.com"


async def test_replace_with_a_stale_version_is_a_conflict(kubectl: Kubectl, shop: str, write: Write) -> None:
    stale = json.loads(await kubectl.ok("get", "cm", "settings", "-n", "shop", "-o", "json"))
    await kubectl.ok("label", "cm", "settings", "-n", "shop", "a=b")
    ran = await kubectl("replace", "-f", write("stale.json", json.dumps(stale)))
    assert ran.code == 1
    assert "the object has been modified" in ran.err


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("hostnames: [UPPER.example.com]", "spec.hostnames[0]"),
        ("rules: [{backendRefs: [{port: 80}]}]", "spec.rules[0].backendRefs[0].name"),
        ("parentRefs: [{name: web, port: 70000}]", "spec.parentRefs[0].port"),
        ("hostNames: [a.example.com]", 'unknown field "spec.hostNames"'),
    ],
)
async def test_bad_object_is_refused_with_the_field(kubectl: Kubectl, write: Write, wrong: str, told: str) -> None:
    head = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: bad}\n"
    ran = await kubectl("create", "-f", write("bad.yaml", f"{head}spec: {{{wrong}}}\n"))
    assert ran.code == 1
    assert told in ran.err


async def test_unknown_field_is_only_a_warning_without_strict_validation(kubectl: Kubectl, write: Write) -> None:
    manifest = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, dada: {a: b}}"
    ran = await kubectl("create", "--validate=warn", "-f", write("c.yaml", manifest))
    assert ran.code == 0
    assert 'Warning: unknown field "dada"' in ran.err


async def test_watch_shows_each_change_as_a_row(kubectl: Kubectl, shop: str) -> None:
    process = await kubectl.start("get", "httproute", "-n", "shop", "-w", "-o", "wide")
    try:
        assert process.stdout is not None
        async with asyncio.timeout(20):
            assert (await process.stdout.readline()).split() == [b"NAME", b"HOSTNAMES", b"AGE"]
            assert (await process.stdout.readline()).split()[:2] == [b"cart", b'["cart.example.com"]']
            patch = '{"spec":{"hostnames":["x.example.com"]}}'
            await kubectl.ok("patch", "httproute", "cart", "-n", "shop", "--type", "merge", "-p", patch)
            assert (await process.stdout.readline()).split()[:2] == [b"cart", b'["x.example.com"]']
    finally:
        process.kill()
        await process.communicate()


async def test_wait_returns_when_the_condition_comes(kubectl: Kubectl, shop: str) -> None:
    waiting = await kubectl.start(
        "wait", "dm/app.example.com", "-n", "shop", "--for", "condition=Ready", "--timeout=20s"
    )
    ready = '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}'
    where = ("dm", "app.example.com", "-n", "shop")
    await kubectl.ok("patch", *where, "--type", "merge", "--subresource", "status", "-p", ready)
    out, _ = await waiting.communicate()
    assert out == b"domainmapping.serving.knative.dev/app.example.com condition met\n"


async def test_delete_waits_until_the_object_is_gone(kubectl: Kubectl, shop: str) -> None:
    out = await kubectl.ok("delete", "httproute", "cart", "-n", "shop")
    assert out.startswith('httproute.gateway.networking.k8s.io "cart" deleted')
    gone = await kubectl("get", "httproute", "cart", "-n", "shop")
    assert gone.code == 1
    assert 'httproutes.gateway.networking.k8s.io "cart" not found' in gone.err


async def test_delete_by_a_misspelt_field_deletes_nothing(kubectl: Kubectl, shop: str) -> None:
    refused = await kubectl("delete", "cm", "-n", "shop", "--field-selector", "metadata.nmae!=settings")
    assert refused.code == 1
    assert "field label not supported: metadata.nmae" in refused.err
    assert "configmap/settings" in await kubectl.ok("get", "cm", "-n", "shop", "-o", "name")


async def test_delete_waits_for_finalizers(kubectl: Kubectl, shop: str) -> None:
    hold = '{"metadata":{"finalizers":["example.com/hold"]}}'
    await kubectl.ok("patch", "cm", "settings", "-n", "shop", "--type", "merge", "-p", hold)
    deleting = await kubectl.start("delete", "cm", "settings", "-n", "shop")
    assert (await kubectl.ok("wait", "cm/settings", "-n", "shop", "--for=jsonpath={.metadata.deletionTimestamp}")) != ""
    await kubectl.ok(
        "patch", "cm", "settings", "-n", "shop", "--type", "merge", "-p", '{"metadata":{"finalizers":null}}'
    )
    await deleting.communicate()
    assert deleting.returncode == 0


async def test_delete_all_takes_every_object_of_the_namespace(kubectl: Kubectl, shop: str) -> None:
    await kubectl.ok("create", "configmap", "second", "-n", "shop")
    await kubectl.ok("delete", "configmap", "--all", "-n", "shop")
    assert await kubectl.ok("get", "configmap", "-n", "shop", "-o", "name") == ""


async def test_deleted_namespace_takes_its_content_along(kubectl: Kubectl, shop: str) -> None:
    await kubectl.ok("delete", "namespace", "shop")
    assert await kubectl.ok("get", "httproute,svc,dm", "-A", "-o", "name") == "service/kubernetes\n"


async def test_object_in_a_missing_namespace_is_refused(kubectl: Kubectl) -> None:
    ran = await kubectl("create", "configmap", "c", "-n", "nowhere")
    assert ran.code == 1
    assert 'namespaces "nowhere" not found' in ran.err


async def test_one_object_is_served_in_several_versions(kubectl: Kubectl, shop: str) -> None:
    kinds = ("referencegrants.v1.gateway.networking.k8s.io", "referencegrants.v1beta1.gateway.networking.k8s.io")
    shown = [
        json.loads(await kubectl.ok("get", kind, "secrets", "-n", "shop", "-o", "json", "--show-managed-fields"))
        for kind in kinds
    ]
    assert [raw.pop("apiVersion") for raw in shown] == [
        "gateway.networking.k8s.io/v1",
        "gateway.networking.k8s.io/v1beta1",
    ]
    assert shown[0] == shown[1]


async def test_objects_are_created_by_typed_commands(kubectl: Kubectl) -> None:
    await kubectl.ok("create", "namespace", "edge")
    await kubectl.ok("create", "configmap", "c", "-n", "edge", "--from-literal=colour=blue", "--from-literal=empty=")
    await kubectl.ok("create", "secret", "generic", "s", "-n", "edge", "--from-literal=password=xyz")
    await kubectl.ok("create", "service", "clusterip", "web", "-n", "edge", "--tcp=80:8080", "--tcp=443:https")
    await kubectl.ok("create", "serviceaccount", "robot", "-n", "edge")
    settings = json.loads(await kubectl.ok("get", "configmap", "c", "-n", "edge", "-o", "json"))
    assert settings["data"] == {"colour": "blue", "empty": ""}
    secret = json.loads(await kubectl.ok("get", "secret", "s", "-n", "edge", "-o", "json"))
    assert secret["data"] == {"password": "eHl6"}
    service = json.loads(await kubectl.ok("get", "service", "web", "-n", "edge", "-o", "json"))
    assert service["spec"]["selector"] == {"app": "web"}
    assert service["spec"]["ports"] == [
        {"name": "80-8080", "port": 80, "protocol": "TCP", "targetPort": 8080},
        {"name": "443-https", "port": 443, "protocol": "TCP", "targetPort": "https"},
    ]


async def test_everything_is_allowed(kubectl: Kubectl) -> None:
    assert await kubectl.ok("auth", "can-i", "create", "httproutes") == "yes\n"


async def test_get_all_shows_the_kinds_of_the_category(kubectl: Kubectl, shop: str) -> None:
    names = (await kubectl.ok("get", "all", "-n", "shop", "-o", "name")).split()
    assert names == ["service/cart", "domainmapping.serving.knative.dev/app.example.com"]


async def test_describe_shows_an_object(kubectl: Kubectl, shop: str) -> None:
    shown = await kubectl.ok("describe", "httproute", "cart", "-n", "shop")
    assert "cart.example.com" in shown


async def test_long_list_is_read_in_pages(kubectl: Kubectl, write: Write) -> None:
    many = "".join(
        f"---\n{{apiVersion: v1, kind: ConfigMap, metadata: {{name: c{number:03}}}}}\n" for number in range(120)
    )
    await kubectl.ok("create", "-f", write("many.yaml", many))
    names = (await kubectl.ok("get", "cm", "--chunk-size=50", "-o", "name")).split()
    assert names == [f"configmap/c{number:03}" for number in range(120)]


async def test_published_definition_takes_the_place_of_the_compact_one(kubectl: Kubectl, published_crds: Path) -> None:
    folder = published_crds / "gateway-api-standard"
    compact = "The requests that the rule is for"
    assert compact in await kubectl.ok("explain", "httproute.spec.rules.matches")
    await kubectl.ok("apply", "--server-side", "--force-conflicts", "-f", str(folder))
    await kubectl.ok("wait", "crd/httproutes.gateway.networking.k8s.io", "--for=condition=Established", "--timeout=10s")
    assert compact not in await kubectl.ok("explain", "httproute.spec.rules.matches")


async def test_published_definition_is_applied_over_the_compact_one_as_over_any_other(
    kubectl: Kubectl, published_crds: Path
) -> None:
    ran = await kubectl("apply", "-f", str(published_crds / "knative" / "domain-mapping.yaml"))
    name = "domainmappings.serving.knative.dev"
    assert (ran.out, ran.err) == (f"customresourcedefinition.apiextensions.k8s.io/{name} configured\n", "")
    annotations = json.loads(await kubectl.ok("get", "crd", name, "-o", "jsonpath={.metadata.annotations}"))
    assert "gatepost/definition" not in annotations
    again = await kubectl.ok("apply", "-f", str(published_crds / "knative" / "domain-mapping.yaml"))
    assert again == f"customresourcedefinition.apiextensions.k8s.io/{name} unchanged\n"


async def test_new_definition_takes_effect_and_its_objects_go_with_it(kubectl: Kubectl, published_crds: Path) -> None:
    file = str(published_crds / "external-dns" / "dnsrecords.yaml")
    record = "---\n{apiVersion: externaldns.k8s.io/v1alpha1, kind: DNSRecord, metadata: {name: r},\n"
    record += "spec: {endpoint: {dnsName: a.example.com, recordType: A, targets: [192.0.2.1]}}}"
    await kubectl.ok("create", "-f", file)
    await kubectl.ok("apply", "-f", "-", given=record)
    assert (await kubectl.ok("get", "dnsrecords")).splitlines()[0].split()[:3] == ["NAME", "DNS", "NAME"]
    await kubectl.ok("delete", "-f", file)
    assert (await kubectl("get", "dnsrecords")).code == 1
    await kubectl.ok("create", "-f", file)
    assert await kubectl.ok("get", "dnsrecords", "-o", "name") == ""
