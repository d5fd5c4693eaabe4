"""A Provider (see contract.py) of the hosted zones of an AWS account."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from typing import Any

from gatepost.dns.domain_filter import DomainFilter
from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey
from gatepost.dns.names import zone_of
from gatepost.providers.bundles import Bundle, bundles_of, halves
from gatepost.providers.contract import ProviderError, RecordResult
from gatepost.providers.embedded import RefusedError, canonical_name
from gatepost.providers.route53.batches import Package, batches_within, changes_of, package_of
from gatepost.providers.route53.calls import AnswerLost, CallRefused, Calls, Pause, require_boto3
from gatepost.providers.route53.hosted_zones import zone_ids_of
from gatepost.providers.route53.record_sets import AliasRules, RouteSet, adjusted, endpoint_of
from gatepost.providers.route53.settings import Route53Settings

log = logging.getLogger("gatepost.providers.route53")


class Route53Provider:
    """Reads and writes by the API of Route 53.

    Args:
        domains: which zones to read and write; those it leaves out stay as they are.
        client: a client of boto3 for route53; None to make one from the settings.
        pause: waits for so many seconds before a call is repeated.
    Raises: ValueError if something is wrong with the settings, a line for each, or boto3 is not installed.
    """

    def __init__(
        self,
        settings: Route53Settings,
        domains: DomainFilter | None = None,
        client: Any = None,
        pause: Pause = asyncio.sleep,
    ) -> None:
        wrong = settings.check()
        if wrong:
            raise ValueError("\n".join(wrong))
        require_boto3()
        self._settings = settings
        self._domains = domains or DomainFilter()
        self._calls = Calls(settings, client, pause)
        self._rules = self._rules_of({})
        self._present: dict[str, dict[EndpointKey, RouteSet]] = {}  # by the zones that could be read
        self._just_read: list[Endpoint] | None = None  # so that `zones` and then `records` speak of the same moment

    def _rules_of(self, zone_ids: dict[str, str]) -> AliasRules:
        return AliasRules(zone_ids, self._settings.aws_prefer_cname, self._settings.aws_evaluate_target_health)

    # Reading

    async def zones(self) -> Sequence[str]:
        """The zones in reach that could be read now. Raises: ProviderError if none can."""
        self._just_read = await self._read_all()
        return sorted(self._present)

    async def records(self) -> Sequence[Endpoint]:
        """See Provider.records. A zone that `zones` leaves out is left out here too."""
        read = self._just_read if self._just_read is not None else await self._read_all()
        self._just_read = None
        return read

    async def _read_all(self) -> list[Endpoint]:
        try:
            rules = self._rules_of(await zone_ids_of(self._calls, self._settings, self._domains))
        except (CallRefused, AnswerLost) as error:
            raise ProviderError(str(error)) from error
        endpoints: list[Endpoint] = []
        present: dict[str, dict[EndpointKey, RouteSet]] = {}
        # One zone after the other: an account has five calls a second, and each zone asked at once would wait for them.
        for zone, zone_id in rules.zone_ids.items():
            try:
                found = await self._read(zone_id, rules)
            except (CallRefused, AnswerLost, ValueError) as error:
                message = "a zone cannot be read, and its records stay as they are"
                log.warning(message, extra={"fields": {"zone": zone, "error": str(error)}})
                continue
            endpoints += [endpoint for endpoint, _ in found]
            present[zone] = {endpoint.key: record_set for endpoint, record_set in found}
        if rules.zone_ids and not present:
            raise ProviderError("Route 53 lets none of the hosted zones be read")
        self._rules, self._present = rules, present
        return endpoints

    async def _read(self, zone_id: str, rules: AliasRules) -> list[tuple[Endpoint, RouteSet]]:
        found: list[tuple[Endpoint, RouteSet]] = []
        async for record_set in self._calls.record_sets(zone_id):
            endpoint = endpoint_of(record_set, rules)
            if endpoint is not None:
                found.append((endpoint, record_set))
        return found

    def adjust(self, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        """See Provider.adjust. A CNAME to a load balancer of AWS becomes two: its aliases A and AAAA."""
        every = (listed for endpoint in endpoints for listed in adjusted(endpoint, self._rules))
        # Both A and AAAA, where they cannot be aliases, come down to one CNAME.
        return list({endpoint.key: endpoint for endpoint in every}.values())

    # Writing

    async def apply(self, changes: Changes) -> Sequence[RecordResult]:
        """See Provider.apply. All changes of one name are made, or none of them."""
        self._just_read = None
        if not self._present:
            await self._read_all()
        results: list[RecordResult] = []
        by_zone: dict[str, list[Package]] = {}
        for bundle in bundles_of(changes):
            try:
                zone = self._zone_for(bundle)
                package = package_of(bundle, self._present[zone], self._rules)
                by_zone.setdefault(zone, []).append(package)
            except ValueError as refusal:
                results += bundle.results(str(refusal))
        for zone, packages in by_zone.items():
            for batch in self._batches(packages):
                results += await self._send(zone, batch)
        return results

    def _batches(self, packages: Sequence[Package]) -> Iterator[list[Package]]:
        settings = self._settings
        yield from batches_within(packages, settings.aws_batch_change_size, settings.aws_batch_change_size_bytes)

    def _zone_for(self, bundle: Bundle) -> str:
        """Raises: ValueError if there is none for all of its records."""
        zone = zone_of(bundle.name, self._rules.zone_ids)
        if zone is None:
            raise RefusedError(f"{bundle.name}: the name is outside of all hosted zones that the filters let pass")
        if zone not in self._present:
            raise RefusedError(f"{bundle.name}: zone {zone} could not be read")
        for change in bundle.changes:
            if zone_of(canonical_name(change.record.dns_name), self._rules.zone_ids) != zone:
                raise RefusedError(
                    f"{bundle.name}: its ownership record {change.record.dns_name} lies outside of {zone}"
                )
        return zone

    async def _send(self, zone: str, batch: Sequence[Package]) -> list[RecordResult]:
        """Sends a batch; where it is refused, its halves, so that only the culprits are left out.

        Raises: ProviderError if it is not known what was made.
        """
        refused = ""
        changes = changes_of(batch)
        try:
            if changes:
                await self._calls.change(self._rules.zone_ids[zone], changes)
        except CallRefused as refusal:
            if len(batch) > 1 and not refusal.is_for_all:
                first, second = halves(batch)
                return [*await self._send(zone, first), *await self._send(zone, second)]
            refused = str(refusal)
        except AnswerLost as error:
            raise ProviderError(f"it is not known whether changes were made: {error}") from error
        else:
            self._take_note(zone, batch)
        return [result for package in batch for result in package.bundle.results(refused)]

    def _take_note(self, zone: str, batch: Sequence[Package]) -> None:
        """What was made is what later changes start from."""
        present = self._present[zone]
        for step in (step for package in batch for step in package.steps):
            if step.after is None:
                present.pop(step.key, None)
            else:
                present[step.key] = step.after
