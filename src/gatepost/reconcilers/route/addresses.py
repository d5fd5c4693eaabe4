"""Where the name of a Route inside the cluster leads: the addresses of the gateway that its KIngress reports."""

from __future__ import annotations

import ipaddress
from collections.abc import Hashable, Iterable
from typing import Any

from msgspec import Struct

from gatepost.configmaps.gateway import CONFIG_GATEWAY
from gatepost.configmaps.gateway import NAME as CONFIG_GATEWAY_NAME
from gatepost.configmaps.reading import config_map_ref
from gatepost.objects.core import ConfigMap, EndpointSlice, Service, SlicePort
from gatepost.objects.networking import KIngress, LoadBalancerIngress
from gatepost.objects.problems import Problem
from gatepost.objects.settings import settings_in
from gatepost.reconcilers.lookups import NAME_LOOKUPS
from gatepost.state.store import Index
from gatepost.state.view import View

H2C_APP_PROTOCOL = "kubernetes.io/h2c"
HTTP_PORT = SlicePort(port=80, name="http2", protocol="TCP", app_protocol=H2C_APP_PROTOCOL)
HTTPS_PORT = SlicePort(port=443, name="https", protocol="TCP")

SLICE_SERVICE_LABEL = "kubernetes.io/service-name"

# Ours: Knative has no condition or reason for this, and leaves the Service as it is in silence.
NO_ADDRESS = "GatewayAddressUnknown"

# Ours too: DNS has had no address for long enough to believe it. What was known is then no longer true.
ADDRESS_GONE = "GatewayAddressGone"


class Landing(Struct, frozen=True):
    """Where a name leads: `addresses` of one family or both. With `is_mesh_only` there are none, and the mesh knows."""

    addresses: tuple[str, ...] = ()
    ports: tuple[SlicePort, ...] = (HTTP_PORT,)
    is_mesh_only: bool = False

    def of_family(self, address_type: str) -> tuple[str, ...]:
        """The addresses for a slice of that type, IPv4 or IPv6."""
        return tuple(address for address in self.addresses if family_of(address) == address_type)


def family_of(address: str) -> str:
    """The `addressType` of a slice that holds the address."""
    return f"IPv{ipaddress.ip_address(address).version}"


def _by_service(slice_: EndpointSlice) -> Iterable[tuple[Hashable, Any]]:
    service = slice_.metadata.labels.get(SLICE_SERVICE_LABEL)
    if service:
        yield (slice_.metadata.namespace, service), (slice_.address_type, slice_.endpoints, slice_.ports)


SLICES_OF_SERVICE = Index("endpointslices-by-service", EndpointSlice, _by_service)


def landing_of(
    kingress: KIngress, cluster_domain: str, *, is_private: bool, is_translated: bool, has_tls: bool, view: View
) -> Landing | Problem:
    """Where a name leads, by the status of the KIngress.

    The private load balancer goes first; a name that is private has no other. Of its fields the first that is set
    counts: ip, domainInternal, domain, meshOnly.

    Args:
        is_translated: whether the name has a cluster IP of its own, which cannot be forwarded to another cluster IP.
        has_tls: whether names inside the cluster are served over TLS too.
    Returns: a problem while nothing usable is reported. What is there then stays as it is, but with reason
        ADDRESS_GONE: then the addresses that it once had are to be taken back.
    """
    entry = entry_of(kingress, is_private=is_private)
    if isinstance(entry, Problem):
        return entry
    ports = (HTTP_PORT, HTTPS_PORT) if is_translated and has_tls else (HTTP_PORT,)
    if entry.ip:
        return _usable(kingress, (entry.ip,), ports, view)
    name = entry.domain_internal or entry.domain
    if not name:
        return Landing(is_mesh_only=True) if entry.mesh_only else _unknown(kingress, "reports no address.")
    labels = name.removesuffix(f".svc.{cluster_domain}").split(".")
    if entry.domain_internal and name.endswith(f".svc.{cluster_domain}") and len(labels) == 2:
        return _of_service(kingress, labels[1], labels[0], name, ports, is_translated=is_translated, view=view)
    return _resolved(kingress, name, ports, view)


def entry_of(kingress: KIngress, *, is_private: bool) -> LoadBalancerIngress | Problem:
    """The one entry of the load balancer that serves the cluster's own traffic."""
    private, public = kingress.status.private_load_balancer, kingress.status.public_load_balancer
    chosen = private if is_private or (private is not None and private.ingress) else public
    entries = chosen.ingress if chosen is not None else ()
    if len(entries) == 1:
        return entries[0]
    if not entries:
        return _unknown(kingress, "reports no load balancer for the cluster's own traffic.")
    return _unknown(kingress, f"reports {len(entries)} entries of one load balancer, wanted one.")


def _of_service(
    kingress: KIngress,
    namespace: str,
    service_name: str,
    name: str,
    ports: tuple[SlicePort, ...],
    *,
    is_translated: bool,
    view: View,
) -> Landing | Problem:
    refused = _refused_namespace(kingress, namespace, view)
    if refused is not None:
        return refused
    service = view.named(Service, namespace, service_name)
    if service is None:
        return _unknown(kingress, f"names Service {namespace}/{service_name}, which does not exist.")
    has_cluster_ip = service.spec.type != "ExternalName" and service.spec.cluster_ip not in ("", "None")
    if has_cluster_ip and not is_translated:
        return _usable(kingress, service.spec.cluster_ips or (service.spec.cluster_ip,), ports, view)
    mirrored = _mirrored(service, view, needs_port_80=not is_translated)
    if mirrored is not None:
        return mirrored
    if is_translated and has_cluster_ip:
        return _unknown(kingress, f"names Service {namespace}/{service_name}, which has no ready endpoint.")
    return _resolved(kingress, name, ports, view)


def _mirrored(service: Service, view: View, *, needs_port_80: bool) -> Landing | None:
    """The ready endpoints behind port 80 of a Service, with the port that they listen on; None if there are none.

    Without translation a client connects to the port that it chose, so only endpoints that listen there will do.
    """
    name = next((port.name for port in service.spec.ports if port.port == HTTP_PORT.port), None)
    found: dict[int, set[str]] = {}
    for _, endpoints, ports in view.select(SLICES_OF_SERVICE, (service.metadata.namespace, service.metadata.name)):
        number = next((port.port for port in ports if port.name == name), 0)
        ready = [one.addresses[0] for one in endpoints if one.addresses and one.conditions.ready is not False]
        if number and ready:
            found.setdefault(number, set()).update(ready)
    numbers = [number for number in sorted(found) if not needs_port_80 or number == HTTP_PORT.port]
    if not numbers:
        return None
    # A slice has one port number: where endpoints differ, those of the most common one serve.
    number = max(numbers, key=lambda one: (len(found[one]), -one))
    port = SlicePort(port=number, name=HTTP_PORT.name, protocol="TCP", app_protocol=H2C_APP_PROTOCOL)
    addresses = tuple(sorted(address for address in found[number] if _is_usable(address, view)))
    return Landing(addresses, (port,)) if addresses else None


def _resolved(kingress: KIngress, name: str, ports: tuple[SlicePort, ...], view: View) -> Landing | Problem:
    addresses = view.value(NAME_LOOKUPS, name)
    if addresses is None:
        return _unknown(kingress, f"reports the name {name}, which has not been resolved yet.")
    if not addresses:
        hint = "The Service of the Route answers with no address until DNS has one."
        return Problem(
            ADDRESS_GONE, f"reports the name {name}, which has no address in DNS.", kingress.ref, "status", hint
        )
    return _usable(kingress, addresses, ports, view)


def _usable(
    kingress: KIngress, addresses: Iterable[str], ports: tuple[SlicePort, ...], view: View
) -> Landing | Problem:
    usable = tuple(sorted({address for address in addresses if _is_usable(address, view)}))
    if not usable:
        return _unknown(kingress, f"leads to {', '.join(addresses)}, none of which may be the address of a gateway.")
    return Landing(usable, ports)


def _is_usable(text: str, view: View) -> bool:
    """Not what a slice may not hold, nor what would lead into the node itself, such as its metadata service."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if address.is_loopback:
        return settings_in(view).loopback_gateways
    return not (address.is_link_local or address.is_multicast or address.is_unspecified)


def _refused_namespace(kingress: KIngress, namespace: str, view: View) -> Problem | None:
    """A status may lead only into namespaces of configured gateways, where it is configured which there are."""
    config_map = config_map_ref(CONFIG_GATEWAY_NAME, view)
    if view.get(ConfigMap, config_map) is None:
        return None
    config = view.value(CONFIG_GATEWAY, config_map)
    if isinstance(config, Problem):
        return config
    entries = (*config.external, *config.local)
    allowed = {entry.gateway.namespace for entry in entries} | {one.service.namespace for one in entries if one.service}
    if namespace in allowed:
        return None
    return _unknown(kingress, f"names a Service of namespace {namespace}, in which config-gateway has no gateway.")


def _unknown(kingress: KIngress, message: str) -> Problem:
    hint = "The Service of the Route stays as it is until that changes."
    return Problem(NO_ADDRESS, message, kingress.ref, "status", hint)
