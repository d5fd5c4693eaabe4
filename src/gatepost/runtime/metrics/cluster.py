"""The cluster part: whether this replica leads, what it knows, what it wrote, and how the API server answers."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, SummaryMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from gatepost.runtime.controllers import Controllers
from gatepost.runtime.loop.kinds import KnownKinds
from gatepost.runtime.metrics.samples import with_samples


class ClusterCollector(Collector):
    """Reads controllers at work."""

    def __init__(self, controllers: Controllers) -> None:
        self._controllers = controllers

    def collect(self) -> Iterator[Metric]:
        controllers, loop = self._controllers, self._controllers.loop
        leads = controllers.leadership.is_held
        yield GaugeMetricFamily("gatepost_leading", "1 while this replica is the one that writes.", int(leads))
        yield _kinds(loop.kinds)
        runs = CounterMetricFamily("gatepost_rule_runs", "Runs of rules.", labels=["rule"])
        yield with_samples(runs, (((rule,), count) for rule, count in loop.engine.runs_of.items()))
        yield GaugeMetricFamily(
            "gatepost_rule_faults", "Keys whose rule fails: faults of gatepost.", len(loop.engine.faults)
        )
        writes = CounterMetricFamily(
            "gatepost_cluster_writes", "Writing calls to the cluster.", labels=["kind", "call", "result"]
        )
        yield with_samples(writes, controllers.writer.counts.items())
        yield GaugeMetricFamily(
            "gatepost_objects_waiting", "Objects to be looked at, now or when their time comes.", loop.workers.waiting
        )
        yield GaugeMetricFamily(
            "gatepost_objects_failing", "Objects whose last write failed.", len(loop.workers.failures)
        )
        yield CounterMetricFamily(
            "gatepost_events_dropped", "Kubernetes events that were not written.", controllers.recorder.dropped
        )
        yield self._durations()

    def _durations(self) -> Metric:
        labels = ["scheme", "host", "path", "method", "status"]
        family = SummaryMetricFamily(
            "external_dns_http_request_duration_seconds",
            "How long the Kubernetes API took until it began to answer.",
            labels=labels,
        )
        client = self._controllers.client
        scheme, host = client.url.scheme or "", client.url.host or ""
        for (resource, method, status), took in sorted(client.durations.items()):
            family.add_metric([scheme, host, resource, method, str(status)], took.count, took.seconds)
        return family


def _kinds(kinds: KnownKinds) -> Metric:
    states = {
        "unheard": len(kinds.unheard),
        "failing": len(kinds.failing),
        "missing": len(kinds.missing),
    }
    states["known"] = len(kinds.watched) - len(kinds.unheard | kinds.failing.keys() | kinds.missing)
    family = GaugeMetricFamily("gatepost_kinds", "Kinds that are watched, by how they are known.", labels=["state"])
    return with_samples(family, (((state,), count) for state, count in states.items()))
