"""How the Kubernetes API is called: flags that external-dns has too."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta, Struct


class ApiSettings(Struct, frozen=True, kw_only=True):
    """The flags, described as the fields of `DnsSettings` are.

    external-dns reads a little, no more than 5 times a second. gatepost writes as well, and the API server tells it
    when to wait; so there is no limit unless one is set.
    """

    kube_api_request_timeout: Annotated[
        float, Meta(description="How long the API server may be silent within one answer; watches wait longer.")
    ] = 30.0
    kube_api_qps: Annotated[
        float, Meta(description="The most calls in a second; watches and the Lease do not count.")
    ] = math.inf
    kube_api_burst: Annotated[
        int, Meta(description="How many calls may come at once where --kube-api-qps sets a limit.")
    ] = 10

    def check(self) -> tuple[str, ...]:
        """What is wrong with these settings, a line for each."""
        return tuple(self._wrong())

    def _wrong(self) -> Iterator[str]:
        if not 0 < self.kube_api_request_timeout < math.inf:
            yield f"--kube-api-request-timeout: found {self.kube_api_request_timeout:g}s, wanted more than 0"
        if not self.kube_api_qps > 0:
            yield f"--kube-api-qps: found {self.kube_api_qps:g}, wanted more than 0"
        if self.kube_api_burst < 1:
            yield f"--kube-api-burst: found {self.kube_api_burst}, wanted 1 or more"
