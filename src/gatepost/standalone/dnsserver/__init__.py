"""An authoritative DNS server on loopback: answers from the zones of the embedded provider and for cluster-local names.

In: zones, read in place at each query, so that a change is served at once. Out: answers over UDP and TCP on one port.
Never: recursion, zone transfers, updates over DNS; the zones change through their provider only.
Read `answer.py` first: what is answered. `message.py` puts it into DNS messages, `server.py` into sockets;
`cluster_names.py` holds the names that Kubernetes gives to Services.
"""

from gatepost.standalone.dnsserver.cluster_names import ClusterZone
from gatepost.standalone.dnsserver.server import DnsServer

__all__ = ["ClusterZone", "DnsServer"]
