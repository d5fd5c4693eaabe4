"""Samples of a metric with labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

FamilyT = TypeVar("FamilyT", GaugeMetricFamily, CounterMetricFamily)


def with_samples(family: FamilyT, samples: Iterable[tuple[Sequence[str], float]]) -> FamilyT:
    """The family with a sample for each set of labels, sorted."""
    for labels, value in sorted(samples):
        family.add_metric(labels, value)
    return family
