"""The names of Services, by the Kubernetes DNS specification."""

from __future__ import annotations

from typing import Any

import dns.asyncquery
import dns.message
import pytest
from dns.rcode import Rcode

from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.providers.embedded import EmbeddedProvider
from gatepost.standalone.dnsserver import ClusterZone, DnsServer
from gatepost.standalone.dnsserver.cluster_names import Records, records_of


def service(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x", "namespace": "shop"}, "spec": spec}


def slice_of(address_type: str, *endpoints: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "addressType": address_type,
        "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
        "endpoints": list(endpoints),
    }


READY = {"conditions": {"ready": True}}
PORTS = [{"name": "http", "port": 80}, {"name": "dns", "port": 53, "protocol": "UDP"}]
SLICES = [
    slice_of(
        "IPv4",
        {"addresses": ["127.0.1.2"], **READY},
        {"addresses": ["127.0.1.1"], "hostname": "first"},
        {"addresses": ["127.0.1.3"], "conditions": {"ready": False}},
    ),
    slice_of("IPv6", {"addresses": ["2001:db8::1"], **READY}),
    slice_of("FQDN", {"addresses": ["a.example.com"], **READY}),
]
SERVICES = {
    "plain": (service(clusterIP="10.0.0.1", ports=PORTS), []),
    "dual": (service(clusterIP="10.0.0.2", clusterIPs=["10.0.0.2", "2001:db8:1::2"]), []),
    "young": (service(ports=PORTS), []),
    "headless": (service(clusterIP="None", ports=PORTS), SLICES),
    "eager": (service(clusterIP="None", publishNotReadyAddresses=True), SLICES),
    "empty": (service(clusterIP="None"), []),
    "outside": (service(type="ExternalName", externalName="gw.example.org"), []),
}


def lookup(namespace: str, name: str) -> tuple[dict[str, Any], list[dict[str, Any]]] | None:
    return SERVICES.get(name) if namespace == "shop" else None


@pytest.mark.parametrize(
    ("name", "records"),
    [
        ("plain.shop.svc.cluster.local", {"A": ("10.0.0.1",)}),
        ("dual.shop.svc.cluster.local", {"A": ("10.0.0.2",), "AAAA": ("2001:db8:1::2",)}),
        ("young.shop.svc.cluster.local", {}),
        ("outside.shop.svc.cluster.local", {"CNAME": ("gw.example.org",)}),
        ("headless.shop.svc.cluster.local", {"A": ("127.0.1.1", "127.0.1.2"), "AAAA": ("2001:db8::1",)}),
        (
            "eager.shop.svc.cluster.local",
            {"A": ("127.0.1.1", "127.0.1.2", "127.0.1.3"), "AAAA": ("2001:db8::1",)},
        ),
        ("empty.shop.svc.cluster.local", {}),
        ("none.shop.svc.cluster.local", None),
        ("plain.other.svc.cluster.local", None),
        # one endpoint of a headless Service
        ("first.headless.shop.svc.cluster.local", {"A": ("127.0.1.1",)}),
        ("127-0-1-2.headless.shop.svc.cluster.local", {"A": ("127.0.1.2",)}),
        ("127-0-1-1.headless.shop.svc.cluster.local", None),  # it has a hostname instead
        ("127-0-1-3.headless.shop.svc.cluster.local", None),  # not ready
        ("first.plain.shop.svc.cluster.local", None),
        ("first.outside.shop.svc.cluster.local", None),
        # ports
        (
            "_http._tcp.plain.shop.svc.cluster.local",
            {"SRV": ("0 100 80 plain.shop.svc.cluster.local.",)},
        ),
        ("_dns._udp.plain.shop.svc.cluster.local", {"SRV": ("0 100 53 plain.shop.svc.cluster.local.",)}),
        ("_dns._tcp.plain.shop.svc.cluster.local", None),
        ("_tcp.plain.shop.svc.cluster.local", {}),
        (
            "_http._tcp.headless.shop.svc.cluster.local",
            {
                "SRV": (
                    "0 100 8080 127-0-1-2.headless.shop.svc.cluster.local.",
                    "0 100 8080 2001-db8--1.headless.shop.svc.cluster.local.",
                    "0 100 8080 first.headless.shop.svc.cluster.local.",
                )
            },
        ),
        ("_http._tcp.empty.shop.svc.cluster.local", None),
        # above the Services
        ("cluster.local", {}),
        ("svc.cluster.local", {}),
        ("shop.svc.cluster.local", {}),
        ("dns-version.cluster.local", {"TXT": ("1.1.0",)}),
        ("pod.cluster.local", None),
        ("a.b.c.plain.shop.svc.cluster.local", None),
    ],
)
def test_a_name_has_the_records_that_its_service_gives(name: str, records: Records | None) -> None:
    assert records_of(name, "cluster.local", lookup) == records


def test_a_domain_of_several_labels_is_cut_as_a_whole() -> None:
    assert records_of("plain.shop.svc.corp.example.com", "corp.example.com", lookup) == {"A": ("10.0.0.1",)}


async def ask(server: DnsServer, name: str, record_type: str = "A") -> dns.message.Message:
    query = dns.message.make_query(name, record_type)
    return await dns.asyncquery.udp(query, "127.0.0.1", timeout=5, port=server.port)


async def test_the_server_answers_for_services_beside_its_zones_and_follows_names_out_of_the_cluster() -> None:
    provider = EmbeddedProvider(["example.org"])
    await provider.apply(Changes(create=(Endpoint("gw.example.org", "A", ("192.0.2.1",)),)))
    async with DnsServer(provider, ClusterZone("cluster.local", lookup)) as server:
        response = await ask(server, "Outside.shop.svc.cluster.local")
        assert [rrset.to_text() for rrset in response.answer] == [
            "Outside.shop.svc.cluster.local. 5 IN CNAME gw.example.org.",
            "gw.example.org. 30 IN A 192.0.2.1",
        ]
        assert (await ask(server, "none.shop.svc.cluster.local")).rcode() == Rcode.NXDOMAIN
        missing = await ask(server, "plain.shop.svc.cluster.local", "AAAA")
        assert (missing.rcode(), missing.answer) == (Rcode.NOERROR, [])
        assert missing.authority[0].name.to_text() == "cluster.local."


async def test_a_changed_service_is_answered_at_once() -> None:
    ips = {"now": "10.0.0.1"}
    zone = ClusterZone("cluster.local", lambda namespace, name: (service(clusterIP=ips["now"]), []))
    async with DnsServer(EmbeddedProvider([]), zone) as server:
        assert (await ask(server, "x.shop.svc.cluster.local")).answer[0][0].to_text() == "10.0.0.1"
        ips["now"] = "10.0.0.2"
        assert (await ask(server, "x.shop.svc.cluster.local")).answer[0][0].to_text() == "10.0.0.2"
