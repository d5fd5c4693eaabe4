"""The metrics, in the text format of Prometheus, read from the parts at work whenever somebody asks.

In: the controllers, or a webhook server. Out: bytes. Never: a count of its own; what happens is counted where it
happens, as plain numbers, and nothing but this package knows what Prometheus is.
docs/metrics.md has a line for each. Read `dns.py` and `cluster.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest

from gatepost.providers.webhook.server import WebhookServer
from gatepost.runtime.controllers import Controllers
from gatepost.runtime.metrics.cluster import ClusterCollector
from gatepost.runtime.metrics.dns import DnsCollector
from gatepost.runtime.metrics.process import BuildCollector
from gatepost.runtime.metrics.webhook import WebhookClientCollector, WebhookServerCollector


def metrics_of(controllers: Controllers) -> Callable[[], bytes]:
    """What gives the metrics of controllers at work."""
    registry = _registry()
    registry.register(ClusterCollector(controllers))
    registry.register(DnsCollector(controllers))
    registry.register(WebhookClientCollector(controllers))
    return lambda: generate_latest(registry)


def metrics_of_webhook(server: WebhookServer) -> Callable[[], bytes]:
    """What gives the metrics of `gatepost webhook`."""
    registry = _registry()
    registry.register(WebhookServerCollector(server))
    return lambda: generate_latest(registry)


def _registry() -> CollectorRegistry:
    # Not the global one, which everything that is imported may add to. Nothing is collected while it is put together.
    registry = CollectorRegistry(auto_describe=False)
    registry.register(BuildCollector())
    ProcessCollector(registry=registry)
    return registry
