"""The webhook protocol: calls to a provider behind it, and calls that `gatepost webhook` answers."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from gatepost.providers.webhook.client import WebhookProvider
from gatepost.providers.webhook.server import WebhookServer
from gatepost.runtime.controllers import Controllers
from gatepost.runtime.metrics.samples import with_samples

_CALLS = ("records", "applychanges", "adjustendpoints")


class WebhookClientCollector(Collector):
    """The calls of a provider of kind webhook; gauges, for that is what they are in external-dns."""

    def __init__(self, controllers: Controllers) -> None:
        self._provider = controllers.provider

    def collect(self) -> Iterator[Metric]:
        if not isinstance(self._provider, WebhookProvider):
            return
        for call in _CALLS:
            name = f"external_dns_webhook_provider_{call}"
            requests, errors = self._provider.requests[call], self._provider.errors[call]
            yield GaugeMetricFamily(f"{name}_requests_total", f"Calls of {call}.", requests)
            yield GaugeMetricFamily(f"{name}_errors_total", f"Calls of {call} that failed.", errors)


class WebhookServerCollector(Collector):
    """The answers of `gatepost webhook`."""

    def __init__(self, server: WebhookServer) -> None:
        self._server = server

    def collect(self) -> Iterator[Metric]:
        family = CounterMetricFamily(
            "gatepost_webhook_answers", "Answers to calls of the protocol.", labels=["call", "status"]
        )
        answers = self._server.answers.items()
        yield with_samples(family, (((call, str(status)), count) for (call, status), count in answers))
