"""The status of a Route: its URL, its address inside the cluster, and where its traffic goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from gatepost.reconcilers.passes import Pass
from gatepost.reconcilers.route.names import RouteSettings, TargetNames
from gatepost.reconcilers.route.rollout import Rollout
from gatepost.reconcilers.route.traffic import MAIN, RevisionShare, Traffic, merged_for_status


def report(
    traffic: Traffic,
    names: Mapping[str, TargetNames],
    settings: RouteSettings,
    run: Pass,
    *,
    schemes: Mapping[str, str] | None = None,
    rollout: Rollout | None = None,
) -> None:
    """Puts URL, address and traffic into the status.

    Args:
        schemes: host -> scheme, where a Certificate decides it.
        rollout: a rollout that is going on, so that the traffic is told as it is and not as it will be.
    """
    by_host = schemes or {}
    entries = traffic.entries
    if rollout is not None:
        entries = tuple(part for entry in entries for part in _as_it_is(entry, rollout))
    urls = {tag: _url(one, settings, by_host) for tag, one in names.items()}
    run.status["url"] = urls[MAIN]
    run.status["address"] = {"url": f"{by_host.get(names[MAIN].cluster, 'http')}://{names[MAIN].cluster}"}
    run.status["traffic"] = [_told(entry, urls) for entry in merged_for_status(entries)]


def _url(names: TargetNames, settings: RouteSettings, schemes: Mapping[str, str]) -> str:
    return names.url(schemes.get(names.public, settings.network.default_external_scheme))


def _told(entry: RevisionShare, urls: Mapping[str, str]) -> dict[str, Any]:
    tag = {"tag": entry.tag, "url": urls[entry.tag]} if entry.tag else {}
    return {
        "revisionName": entry.revision_name,
        "percent": entry.percent,
        "latestRevision": entry.latest_revision,
        **tag,
    }


def _as_it_is(entry: RevisionShare, rollout: Rollout) -> list[RevisionShare]:
    """The entry split as its configuration is split at the moment; whole percents that add up to its own."""
    revisions = rollout.revisions_of(MAIN, entry.configuration_name) if entry.latest_revision else ()
    total = sum(revision.percent for revision in revisions)
    if len(revisions) < 2 or not entry.percent:
        return [entry]
    parts = [entry.percent * revision.percent // total for revision in revisions]
    parts[-1] += entry.percent - sum(parts)
    return [
        structs.replace(entry, revision_name=revision.revision_name, percent=part)
        for revision, part in zip(revisions, parts, strict=True)
        if part
    ]
