"""A hand on the Kubernetes API of `gatepost up`: Services of backends, KIngresses, and what became of them."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncGenerator, Iterable
from contextlib import AsyncExitStack, aclosing
from typing import Any

import aiohttp
import trustme

from knative_ingress.backends import Backend

Raw = dict[str, Any]

NAMESPACE = "serving-tests"
INGRESS_CLASS = "gateway-api.ingress.networking.knative.dev"
CLASS_ANNOTATION = "networking.knative.dev/ingress.class"
READY_SECONDS = 30.0

_PLACES = {
    "Namespace": ("v1", "namespaces"),
    "Service": ("v1", "services"),
    "Secret": ("v1", "secrets"),
    "EndpointSlice": ("discovery.k8s.io/v1", "endpointslices"),
    "Ingress": ("networking.internal.knative.dev/v1alpha1", "ingresses"),
    "HTTPRoute": ("gateway.networking.k8s.io/v1", "httproutes"),
    "Gateway": ("gateway.networking.k8s.io/v1", "gateways"),
    "ListenerSet": ("gateway.networking.k8s.io/v1", "listenersets"),
    "ReferenceGrant": ("gateway.networking.k8s.io/v1beta1", "referencegrants"),
}


class Cluster:
    """What a scenario uses of the cluster. It removes at the end what was made through it."""

    def __init__(self, addresses: dict[str, str], http: aiohttp.ClientSession, exits: AsyncExitStack) -> None:
        self.addresses = addresses
        self._http = http
        self._exits = exits

    # Objects

    async def create(self, kind: str, name: str, **fields: Any) -> Raw:
        """Creates an object, which is deleted at the end of the scenario."""
        metadata = {"name": name, **fields.pop("metadata", {})}
        body = {"apiVersion": _PLACES[kind][0], "kind": kind, "metadata": metadata, **fields}
        created = await self.call("POST", path(kind), body)
        self._exits.push_async_callback(self.delete, kind, name)
        return created

    async def get(self, kind: str, name: str) -> Raw:
        return await self.call("GET", path(kind, name))

    async def list(self, kind: str, namespace: str = NAMESPACE) -> list[Raw]:
        items: list[Raw] = (await self.call("GET", path(kind, namespace=namespace)))["items"]
        return [{"apiVersion": _PLACES[kind][0], "kind": kind, **item} for item in items]

    async def delete(self, kind: str, name: str) -> None:
        async with self._http.delete(self.addresses["api"] + path(kind, name)) as answer:
            assert answer.status in (200, 202, 404), await answer.text()

    async def call(self, method: str, url: str, body: Any = None, content_type: str = "application/json") -> Raw:
        data = None if body is None else json.dumps(body)
        headers = {"Content-Type": content_type}
        async with self._http.request(method, self.addresses["api"] + url, data=data, headers=headers) as answer:
            found: Raw = await answer.json()
            assert answer.status < 300, f"{method} {url}: {answer.status} {found.get('message')}"
            return found

    async def watch(self, kind: str, name: str, seconds: float) -> AsyncGenerator[Raw, None]:
        """The object as it is, and again after each change, until the time is up."""
        query = f"?watch=true&fieldSelector=metadata.name={name}&timeoutSeconds={seconds:.0f}"
        async with self._http.get(self.addresses["api"] + path(kind) + query) as answer:
            assert answer.status == 200, await answer.text()
            async for line in answer.content:
                event = json.loads(line)
                if event["type"] in ("ADDED", "MODIFIED"):
                    yield event["object"]

    # What a scenario needs

    async def service(self, name: str, *backends: Backend) -> str:
        """Starts servers and puts a Service in front of them. Returns: its name."""
        for backend in backends:
            await backend.start()
            self._exits.push_async_callback(backend.stop)
        first = backends[0]
        port: Raw = {"name": first.port_name, "port": 80, "protocol": "TCP"}
        if first.app_protocol:
            port["appProtocol"] = first.app_protocol
        await self.create("Service", name, spec={"ports": [port]})
        for number, backend in enumerate(backends):
            await self.create(
                "EndpointSlice",
                f"{name}-{number}",
                metadata={"labels": {"kubernetes.io/service-name": name}},
                addressType="IPv4",
                ports=[{**port, "port": backend.port}],
                endpoints=[{"addresses": [backend.address], "conditions": {"ready": True}}],
            )
        return name

    async def secret(self, name: str, certificate: trustme.LeafCert) -> str:
        """A Secret with a certificate and its key. Returns: its name."""
        chain = b"".join(blob.bytes() for blob in certificate.cert_chain_pems)
        data = {"tls.crt": chain, "tls.key": certificate.private_key_pem.bytes()}
        encoded = {key: base64.b64encode(value).decode() for key, value in data.items()}
        await self.create("Secret", name, type="kubernetes.io/tls", data=encoded)
        return name

    async def kingress(self, name: str, *rules: Raw, ingress_class: str | None = INGRESS_CLASS, **spec: Any) -> Raw:
        annotations = {} if ingress_class is None else {CLASS_ANNOTATION: ingress_class}
        spec = {"httpOption": "Enabled", **spec, "rules": list(rules)}
        return await self.create("Ingress", name, metadata={"annotations": annotations}, spec=spec)

    async def change(self, name: str, *rules: Raw) -> None:
        """Puts other rules into a KIngress."""
        patch = {"spec": {"rules": list(rules)}}
        await self.call("PATCH", path("Ingress", name), patch, "application/merge-patch+json")

    async def ready(self, name: str) -> Raw:
        """The KIngress as soon as it is Ready in the generation that it has now."""
        latest: Raw = {}
        async with aclosing(self.watch("Ingress", name, READY_SECONDS)) as versions:
            async for latest in versions:
                if is_ready(latest):
                    return latest
        raise AssertionError(f"{name} is not Ready after {READY_SECONDS:g} s: {latest.get('status')}")

    async def ready_kingress(self, name: str, *rules: Raw, **spec: Any) -> Raw:
        await self.kingress(name, *rules, **spec)
        return await self.ready(name)


def path(kind: str, name: str = "", namespace: str = NAMESPACE) -> str:
    version, plural = _PLACES[kind]
    root = f"/api/{version}" if version == "v1" else f"/apis/{version}"
    scope = "" if kind == "Namespace" else f"/namespaces/{namespace}"
    return f"{root}{scope}/{plural}" + (f"/{name}" if name else "")


def is_ready(kingress: Raw) -> bool:
    status = kingress.get("status", {})
    conditions = {c["type"]: c["status"] for c in status.get("conditions", ())}
    is_current = status.get("observedGeneration") == kingress["metadata"]["generation"]
    return is_current and conditions.get("Ready") == "True"


# Parts of a KIngress


def split(service: str, percent: int = 100, port: int | str = 80, headers: dict[str, str] | None = None) -> Raw:
    fields = {"serviceNamespace": NAMESPACE, "serviceName": service, "servicePort": port, "percent": percent}
    return {**fields, "appendHeaders": headers} if headers else fields


def path_to(*splits: Raw, **fields: Any) -> Raw:
    """A path with these splits; `fields` are `path`, `headers`, `appendHeaders`, `rewriteHost`."""
    return {**fields, "splits": list(splits)}


def public(hosts: str | Iterable[str], *paths: Raw) -> Raw:
    return _rule(hosts, "ExternalIP", paths)


def private(hosts: str | Iterable[str], *paths: Raw) -> Raw:
    return _rule(hosts, "ClusterLocal", paths)


def _rule(hosts: str | Iterable[str], visibility: str, paths: Iterable[Raw]) -> Raw:
    return {
        "hosts": [hosts] if isinstance(hosts, str) else list(hosts),
        "visibility": visibility,
        "http": {"paths": list(paths)},
    }
