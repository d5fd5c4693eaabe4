"""A target of octoDNS, blocking: its zones, what they hold, and plans that hold our changes alone."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Collection, Sequence
from typing import Any

from msgspec import Struct

from gatepost.dns.choices import RECORD_TYPES
from gatepost.dns.domain_filter import DomainFilter
from gatepost.dns.endpoint import Endpoint
from gatepost.dns.names import record_name
from gatepost.dns.ownership.txt_format import OwnershipNames
from gatepost.dns.targets import same_targets
from gatepost.log_fields import fields
from gatepost.providers.as_planned import Key, key_of, require_as_planned
from gatepost.providers.bundles import Bundle
from gatepost.providers.contract import RecordResult, RefusedError
from gatepost.providers.octodns.records import endpoint_of, key_of_record, put_into, records_by_key
from gatepost.providers.octodns.settings import OctodnsSettings
from gatepost.providers.reach import is_in_reach
from gatepost.providers.spelling import listed_form

log = logging.getLogger("gatepost.providers.octodns")

PLANS_IN_ONE_WRITE = 16
"""How often a zone is planned anew to find the culprits of a failure; each plan reads the zone twice."""


class TargetError(Exception):
    """octoDNS, or the service behind it, failed."""


class _Zone(Struct, frozen=True):
    """A zone of octoDNS with its records as endpoints; None where a record cannot be read as one."""

    zone: Any
    records: dict[Key, Any]

    def endpoint(self, key: Key) -> Endpoint | None:
        record = self.records.get(key)
        return None if record is None else endpoint_of(record)


class Target:
    """One provider of a file of octoDNS.

    Raises: ValueError if octoDNS is not installed, or the file names no such provider or cannot be used.
    """

    def __init__(self, settings: OctodnsSettings, domains: DomainFilter) -> None:
        self._config, self._target = _loaded(settings)
        self._target.root_ns_warnings = False  # what is wanted is made from what is there, name servers included
        self._name = settings.octodns_provider
        self._domains = domains
        for ability in ("populate", "plan", "apply"):
            if not hasattr(self._target, ability):
                raise ValueError(f"--octodns-provider: {self._name} can only be read from, wanted one to write to")

    @property
    def has_alias(self) -> bool:
        return "ALIAS" in self._target.SUPPORTS

    @property
    def types(self) -> frozenset[str]:
        """The record types that gatepost knows and the target holds."""
        return frozenset(RECORD_TYPES) & frozenset(self._target.SUPPORTS)

    def zones(self) -> list[str]:
        """Zones in reach: those of the file that name this target, else those that it lists, else the domain filter.

        Raises: TargetError if they cannot be listed, or nothing says which there are.
        """
        names = self._configured()
        if not names and hasattr(self._target, "list_zones"):
            names = _told(f"{self._name} of octoDNS cannot list its zones", self._target.list_zones)
        elif not names:
            names = [domain for domain in self._domains.include if not domain.startswith(".")]
            if not names:
                raise TargetError(
                    f"{self._name} of octoDNS cannot list zones; name them under `zones` of --octodns-config, "
                    f"with {self._name} as a target, or by --domain-filter"
                )
        zones = {record_name(name) for name in names}
        return sorted(zone for zone in zones if is_in_reach(zone, self._domains))

    def _configured(self) -> list[str]:
        zones = self._config.get("zones") or {}
        return [
            name
            for name, zone in zones.items()
            if not name.startswith("*") and self._name in ((zone or {}).get("targets") or ())
        ]

    def records(self, zone: str) -> list[Endpoint] | None:
        """The record sets of a zone that gatepost knows; None if the target has no such zone. Raises: TargetError"""
        read = self._read(zone)
        if read is None:
            return None
        found = (_told(f"{key[1]} {key[0]} cannot be read", read.endpoint, key) for key in read.records)
        return sorted((endpoint for endpoint in found if endpoint is not None), key=lambda endpoint: endpoint.key)

    def _read(self, name: str) -> _Zone | None:
        zone = importlib.import_module("octodns.zone").Zone(f"{name}.", set())
        exists = _told(f"{self._name} of octoDNS", self._target.populate, zone, target=True, lenient=True)
        return None if exists is False else _Zone(zone, records_by_key(zone))

    def write(self, zone: str, bundles: Sequence[Bundle], names: OwnershipNames | None) -> list[RecordResult]:
        """Makes the changes of a zone. A plan that fails is looked at, and what is still missing tried in halves.

        Raises: TargetError if it is not known what was made.
        """
        results: list[RecordResult] = []
        waiting: list[Sequence[Bundle]] = [bundles]
        plans = 0
        while waiting:
            batch = waiting.pop()
            done, failed, reason = self._try(zone, batch, names)
            plans += 1
            results += done
            if len(failed) > 1 and plans + len(waiting) < PLANS_IN_ONE_WRITE:
                middle = len(failed) // 2
                waiting += [failed[middle:], failed[:middle]]
            else:
                results += [result for bundle in failed for result in bundle.results(reason)]
        return results

    def _try(
        self, zone: str, bundles: Sequence[Bundle], names: OwnershipNames | None
    ) -> tuple[list[RecordResult], list[Bundle], str]:
        """Plans and applies. Returns: results of what is settled, what the target did not take, and why not."""
        refused = f"{self._name} of octoDNS has no zone {zone}"
        present = None
        try:
            present = self._read(zone)
        except TargetError as error:
            refused = str(error)
        if present is None:  # and nothing was changed yet
            return [result for bundle in bundles for result in bundle.results(refused)], [], ""
        desired = self._copy(present.zone)
        fitting, results = self._put_into(desired, bundles, present, names)
        try:
            planned = self._apply(desired, {key for bundle in fitting for key in _keys(bundle)}) if fitting else set()
        except Exception as error:  # providers of octoDNS raise what their libraries raise
            log.warning("a plan of octoDNS failed", extra=fields(zone=zone, error=repr(error)))
            reason = f"{self._name} of octoDNS failed: {' '.join(str(error).split()) or type(error).__name__}"
            made, missing = self._looked_at(zone, fitting)
            return results + made, missing, reason
        for bundle in fitting:
            is_whole = all(key in planned for key in _keys(bundle)) or _is_made(bundle, present)
            results += bundle.results("" if is_whole else f"{self._name} of octoDNS leaves it out of its plan")
        return results, [], ""

    def _put_into(
        self, desired: Any, bundles: Sequence[Bundle], present: _Zone, names: OwnershipNames | None
    ) -> tuple[list[Bundle], list[RecordResult]]:
        """Makes the changes in the zone as it is to be. Returns: the bundles that fit, and results of the others."""
        fitting: list[Bundle] = []
        refused: list[RecordResult] = []
        for bundle in bundles:
            try:
                require_as_planned(bundle, present.endpoint, names)
                put_into(desired, bundle, present.records, self._target)
                fitting.append(bundle)
            except RefusedError as refusal:
                refused += bundle.results(str(refusal))
        return fitting, refused

    def _copy(self, zone: Any) -> Any:
        """The zone as it is to be: a copy, without the name servers where the target keeps them to itself."""
        desired = zone.copy()
        if not self._target.SUPPORTS_ROOT_NS and desired.root_ns is not None:
            desired.remove_record(desired.root_ns)
        return desired

    def _apply(self, desired: Any, ours: Collection[Key]) -> set[Key]:
        """Plans and makes the changes that are ours. Returns: which records they are."""
        if getattr(self._target, "apply_disabled", False):
            raise TargetError("apply_disabled is set for it in the file of octoDNS")
        plan = self._target.plan(desired)
        if plan is None:
            return set()
        plan.changes = [change for change in plan.changes if key_of_record(change.record) in ours]
        if plan.changes:
            self._target.apply(plan)
        return {key_of_record(change.record) for change in plan.changes}

    def _looked_at(self, zone: str, bundles: Sequence[Bundle]) -> tuple[list[RecordResult], list[Bundle]]:
        """What of a failed plan was made after all, by what the zone holds now: octoDNS itself does not say.

        Returns: results of bundles that were made, and the others.
        Raises: TargetError if the zone cannot be read.
        """
        now = self._read(zone)
        made = [bundle for bundle in bundles if now is not None and _is_made(bundle, now)]
        return [result for bundle in made for result in bundle.results()], [b for b in bundles if b not in made]


def _keys(bundle: Bundle) -> list[Key]:
    return [key_of(change.record) for change in bundle.changes]


def _is_made(bundle: Bundle, now: _Zone) -> bool:
    """Whether a zone holds what a bundle wants. TTLs are not compared: many services round them, or know only some."""
    wanted: dict[Key, Endpoint | None] = {key_of(change.record): change.new for change in bundle.changes}
    for key, new in wanted.items():
        there = _told(f"{key[1]} {key[0]} cannot be read", now.endpoint, key)
        if new is None or there is None:
            if new is not there:
                return False
        elif not same_targets(there.targets, listed_form(new).targets):
            return False
    return True


def _told(subject: str, call: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """What a call gives. Raises: TargetError for whatever octoDNS, or the library under it, raises."""
    try:
        return call(*given, **named)
    except Exception as error:
        raise TargetError(f"{subject}: {' '.join(str(error).split()) or type(error).__name__}") from error


def _loaded(settings: OctodnsSettings) -> tuple[dict[str, Any], Any]:
    """The file of octoDNS as it reads it, and the provider in it."""
    try:
        manager_module = importlib.import_module("octodns.manager")
    except ImportError as error:
        raise ValueError(
            "--provider: octodns needs octoDNS, which is missing; pip install gatepost[octodns]"
        ) from error
    try:
        manager = manager_module.Manager(settings.octodns_config)
    except KeyError as error:
        raise ValueError(f"--octodns-config: {settings.octodns_config} has no {error}") from error
    except Exception as error:  # the constructors of all providers in the file run here
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"--octodns-config: {settings.octodns_config} cannot be used: {reason}") from error
    if settings.octodns_provider not in manager.providers:
        known = ", ".join(sorted(manager.providers))
        raise ValueError(f"--octodns-provider: found {settings.octodns_provider!r}, wanted one of {known}")
    return manager.config, manager.providers[settings.octodns_provider]
