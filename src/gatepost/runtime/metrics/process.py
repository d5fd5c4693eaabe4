"""What program this is."""

from __future__ import annotations

import platform
from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from gatepost import __version__


class BuildCollector(Collector):
    """`build_info` as external-dns has it; what is particular to Go stays empty."""

    def collect(self) -> Iterator[Metric]:
        labels = {
            "version": f"gatepost-{__version__}",
            "revision": "",
            "go_version": "",
            "os": platform.system().lower(),
            "arch": platform.machine(),
        }
        family = GaugeMetricFamily("external_dns_build_info", "What is running; always 1.", labels=list(labels))
        family.add_metric(list(labels.values()), 1)
        yield family
