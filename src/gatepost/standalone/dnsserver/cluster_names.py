"""The names that a cluster gives to its Services, as the Kubernetes DNS specification (version 1.1.0) writes them.

<service>.<namespace>.svc.<domain>                    A, AAAA; CNAME for an ExternalName
<endpoint>.<service>.<namespace>.svc.<domain>         A, AAAA of one endpoint of a headless Service
_<port>._<protocol>.<service>.<namespace>.svc.<domain>  SRV
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gatepost.dns.endpoint import Endpoint
from gatepost.providers.contract import RefusedError
from gatepost.providers.embedded import RecordSets, record_set_of

RawObject = Mapping[str, Any]
ServiceLookup = Callable[[str, str], tuple[RawObject, Sequence[RawObject]] | None]
"""Gives, for a namespace and a name, the Service and its EndpointSlices in raw form; None where there is no Service."""

Records = Mapping[str, tuple[str, ...]]
"""DNS targets by record type."""

_RECORD_TYPE_OF_SLICE = {"IPv4": "A", "IPv6": "AAAA"}


class ClusterZone:
    """A zone for the DNS server whose records follow from the Services and EndpointSlices at the time of the query.

    Args:
        domain: such as "cluster.local".
        lookup: see ServiceLookup; called in the thread of the server, so it should answer from memory.
    """

    serial = 1

    def __init__(self, domain: str, lookup: ServiceLookup, ttl_seconds: int = 5) -> None:
        self.name = domain.lower().rstrip(".")
        self._lookup = lookup
        self._ttl_seconds = ttl_seconds

    def record_sets(self, name: str) -> RecordSets | None:
        """See Zone.record_sets. A target that DNS cannot hold counts as no data."""
        records = records_of(name, self.name, self._lookup)
        if records is None:
            return None
        sets = {}
        for record_type, targets in records.items():
            try:
                sets[record_type] = (record_set_of(Endpoint(name, record_type, targets, self._ttl_seconds)),)
            except RefusedError:
                continue
        return sets


def records_of(name: str, domain: str, lookup: ServiceLookup) -> Records | None:
    """The DNS records of a name in the cluster's domain.

    Args:
        name: lower case, without final dot, in `domain`.
    Returns: empty for a name that exists without data, such as a Service whose endpoints are not ready; None for a name
        that does not exist.
    Source: Kubernetes DNS-Based Service Discovery, sections 2.2 to 2.4.
    """
    labels = name.removesuffix(domain).rstrip(".").split(".")
    match labels:
        case [""] | ["svc"] | [_, "svc"]:
            return {}  # a name above those of Services; whether the namespace exists is not looked up
        case ["dns-version"]:
            return {"TXT": ("1.1.0",)}
        case [*head, service_name, namespace, "svc"] if len(head) <= 2:
            found = lookup(namespace, service_name)
            if found is None:
                return None
            service_domain = f"{service_name}.{namespace}.svc.{domain}"
            return _records_of_service(head, service_domain, *found)
    return None


def _records_of_service(
    head: Sequence[str], service_domain: str, service: RawObject, slices: Sequence[RawObject]
) -> Records | None:
    spec = service.get("spec") or {}
    if spec.get("type") == "ExternalName":
        return {"CNAME": (spec["externalName"],)} if not head and spec.get("externalName") else None if head else {}
    match head:
        case []:
            return _by_family(slices, spec) if _is_headless(spec) else _cluster_ips(spec)
        case [protocol] if protocol in ("_tcp", "_udp", "_sctp"):
            return {}
        case [endpoint] if _is_headless(spec):
            return _by_family(slices, spec, endpoint) or None
        case [port, protocol] if port.startswith("_") and protocol.startswith("_"):
            return _port_records(port[1:], protocol[1:], service_domain, spec, slices)
    return None


def _is_headless(spec: RawObject) -> bool:
    return spec.get("clusterIP") == "None"


def _cluster_ips(spec: RawObject) -> Records:
    """The cluster IPs; none are there before the API server has given them out."""
    ips = spec.get("clusterIPs") or [spec.get("clusterIP")]
    return _without_empty(
        {
            "A": tuple(ip for ip in ips if ip and ":" not in ip),
            "AAAA": tuple(ip for ip in ips if ip and ":" in ip),
        }
    )


def _by_family(slices: Sequence[RawObject], spec: RawObject, hostname: str | None = None) -> Records:
    """The addresses of the endpoints that are ready, or of the one with that hostname."""
    addresses: dict[str, set[str]] = {"A": set(), "AAAA": set()}
    for record_type, _, endpoint in _served_endpoints(slices, spec):
        for address in endpoint.get("addresses") or ():
            if hostname in (None, _hostname(endpoint, address)):
                addresses[record_type].add(address)
    return _without_empty({record_type: tuple(sorted(found)) for record_type, found in addresses.items()})


def _port_records(
    port_name: str, protocol: str, service_domain: str, spec: RawObject, slices: Sequence[RawObject]
) -> Records | None:
    def is_asked(port: RawObject) -> bool:
        return port.get("name") == port_name and (port.get("protocol") or "TCP").lower() == protocol

    if not _is_headless(spec):
        numbers = [port["port"] for port in spec.get("ports") or () if is_asked(port)]
        return {"SRV": tuple(f"0 100 {number} {service_domain}." for number in numbers)} if numbers else None
    found = {
        f"0 100 {port['port']} {_hostname(endpoint, address)}.{service_domain}."
        for _, slice_, endpoint in _served_endpoints(slices, spec)
        for port in slice_.get("ports") or ()
        if is_asked(port) and port.get("port")
        for address in endpoint.get("addresses") or ()
    }
    return {"SRV": tuple(sorted(found))} if found else None


def _served_endpoints(slices: Sequence[RawObject], spec: RawObject) -> Iterator[tuple[str, RawObject, RawObject]]:
    """Record type, slice and endpoint of each endpoint that DNS publishes."""
    for slice_ in slices:
        record_type = _RECORD_TYPE_OF_SLICE.get(slice_.get("addressType", ""))
        if record_type is None:
            continue  # type FQDN: the specification gives it no records
        for endpoint in slice_.get("endpoints") or ():
            # An unknown readiness counts as ready (EndpointConditions of discovery.k8s.io/v1).
            ready = (endpoint.get("conditions") or {}).get("ready") is not False
            if ready or spec.get("publishNotReadyAddresses"):
                yield record_type, slice_, endpoint


def _hostname(endpoint: RawObject, address: str) -> str:
    """The first label of an endpoint's own name: its hostname, or its address with dashes, as CoreDNS does."""
    hostname: str = endpoint.get("hostname") or address.replace(".", "-").replace(":", "-")
    return hostname


def _without_empty(records: Records) -> Records:
    return {record_type: targets for record_type, targets in records.items() if targets}
