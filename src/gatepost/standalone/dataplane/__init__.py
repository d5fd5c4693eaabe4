"""The gateway of the standalone mode: Traefik as a child process that reads routes from the embedded Kubernetes API.

In: the address of the API server and the ports to listen on. Out: a running gateway, its log, and word of its end.
Never: a route or a Service; Traefik reads those from the API like any other Gateway API implementation.
Read `process.py` first; `traefik.py` has what Traefik is told, `gateway_objects.py` what the API must hold for it.
"""

from gatepost.standalone.dataplane.gateway_objects import gateway_objects
from gatepost.standalone.dataplane.process import Dataplane, Exit
from gatepost.standalone.dataplane.traefik import DataplanePorts

__all__ = ["Dataplane", "DataplanePorts", "Exit", "gateway_objects"]
