"""The DNS part: the names that external-dns has, so that its dashboards and alerts work, and those of gatepost.

Only the replica that leads has numbers here; the others would show how things stood when they last led.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from gatepost.dns.conflicts import CONFLICT
from gatepost.runtime.controllers import Controllers
from gatepost.runtime.dns.publisher import ZonePublisher
from gatepost.runtime.dns.zone_figures import RecordCounts, ZoneFigures
from gatepost.runtime.dns.zones import Zones
from gatepost.runtime.metrics.samples import with_samples


class DnsCollector(Collector):
    """Reads the publisher of some controllers; without one there are no metrics."""

    def __init__(self, controllers: Controllers) -> None:
        self._controllers = controllers
        self._counted_at = -1
        self._counts = RecordCounts()

    def collect(self) -> Iterator[Metric]:
        publisher = self._controllers.publisher
        if publisher is None or not self._controllers.leadership.is_held:
            return
        yield from _loop(publisher.zones.figures, self._controllers.loop.kinds.failures)
        yield from _records(self._count(publisher.zones), publisher.zones.owner)
        yield from _care(publisher)

    def _count(self, zones: Zones) -> RecordCounts:
        """The records; they are counted anew only after another plan, for there may be many."""
        if self._counted_at != zones.figures.plans:
            self._counted_at = zones.figures.plans
            self._counts = zones.count_records()
        return self._counts


def _loop(figures: ZoneFigures, source_failures: int) -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "external_dns_controller_last_reconcile_timestamp_seconds",
        "When the DNS provider was last called.",
        figures.attempted_at,
    )
    yield GaugeMetricFamily(
        "external_dns_controller_last_sync_timestamp_seconds",
        "When DNS was last written, or compared, with success.",
        figures.synced_at,
    )
    yield GaugeMetricFamily(
        "external_dns_controller_consecutive_soft_errors",
        "How often in a row the DNS provider could not be used.",
        figures.failures_in_a_row,
    )
    yield CounterMetricFamily(
        "external_dns_controller_no_op_runs",
        "Comparisons with all that the provider holds that found nothing to change.",
        figures.idle_comparisons,
    )
    yield CounterMetricFamily(
        "external_dns_registry_errors", "How often the DNS provider could not be used.", figures.failures
    )
    yield CounterMetricFamily(
        "external_dns_source_errors", "How often a kind of the cluster could not be read.", source_failures
    )


def _records(counts: RecordCounts, owner: str) -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "external_dns_source_endpoints_total", "Records that objects ask for.", counts.wanted.total()
    )
    yield GaugeMetricFamily(
        "external_dns_registry_endpoints_total", "Records that the provider holds.", counts.held.total()
    )
    yield _by_type("external_dns_source_records", "Records that objects ask for, by type.", counts.wanted)
    yield _by_type("external_dns_registry_records", "Records that the provider holds, by type.", counts.held)
    yield _by_type(
        "external_dns_controller_verified_records", "Records asked for, held and ours, by type.", counts.verified
    )
    skipped = GaugeMetricFamily(
        "external_dns_registry_skipped_records_owner_mismatch_per_sync",
        "Records asked for that another owner has.",
        labels=["record_type", "owner", "foreign_owner", "domain"],
    )
    yield with_samples(
        skipped, (((f.record_type, owner, f.owner, f.domain), count) for f, count in counts.foreign.items())
    )


def _by_type(name: str, meaning: str, counts: Counter[str]) -> Metric:
    family = GaugeMetricFamily(name, meaning, labels=["record_type"])
    return with_samples(family, (((record_type,), count) for record_type, count in counts.items()))


def _care(publisher: ZonePublisher) -> Iterator[Metric]:
    """What is held back for the sake of safety, and what waits."""
    zones, figures = publisher.zones, publisher.zones.figures
    held = GaugeMetricFamily("gatepost_dns_held_changes", "Changes that are held back.", labels=["action", "cause"])
    yield with_samples(held, figures.held().items())
    reasons = Counter(
        reason for problems in publisher.problems.values() for reason in {problem.reason for problem in problems}
    )
    yield GaugeMetricFamily(
        "gatepost_dns_names_in_conflict", "Names that several objects want in ways that differ.", reasons[CONFLICT]
    )
    troubled = GaugeMetricFamily(
        "gatepost_dns_names_with_problems", "Names of which a part cannot be served as asked.", labels=["reason"]
    )
    yield with_samples(troubled, (((reason,), count) for reason, count in reasons.items()))
    yield GaugeMetricFamily(
        "gatepost_dns_quarantined_names", "Names whose change was refused and waits for its time.", zones.quarantined
    )
    yield GaugeMetricFamily("gatepost_dns_unread_zones", "Zones that cannot be read.", len(zones.failures))
    yield GaugeMetricFamily(
        "gatepost_dns_plan_stopped", "1 while the plan removes more than it may.", int(figures.is_stopped)
    )
    yield CounterMetricFamily(
        "gatepost_dns_stopped_plans", "Plans that removed more than they may.", figures.plans_stopped
    )
    sent = CounterMetricFamily(
        "gatepost_dns_changes", "Changes that were sent.", labels=["action", "record_type", "result"]
    )
    yield with_samples(sent, figures.changes.items())
    if figures.comparisons:
        yield GaugeMetricFamily(
            "gatepost_dns_comparison_age_seconds",
            "Seconds since DNS was last compared with all that the provider holds.",
            max(0.0, time.time() - figures.compared_at),
        )
