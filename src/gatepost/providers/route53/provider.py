"""A Provider (see contract.py) of the hosted zones of an AWS account."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gatepost.dns.capabilities import Capabilities, Rate
from gatepost.dns.choices import RECORD_TYPES
from gatepost.dns.domain_filter import DomainFilter
from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey
from gatepost.dns.served import UnreadZone
from gatepost.providers.contract import ProviderError, RecordResult
from gatepost.providers.listed_zones import AnswerLost, ListedZones
from gatepost.providers.rate_limiter import RateLimiter
from gatepost.providers.refusals import Refusal, send_in_halves
from gatepost.providers.route53.batches import Package, batches_within, changes_of, package_of
from gatepost.providers.route53.calls import Calls, require_boto3
from gatepost.providers.route53.hosted_zones import HostedZones, hosted_zones
from gatepost.providers.route53.record_sets import AliasRules, RouteSet, adjusted, endpoint_of
from gatepost.providers.route53.settings import Route53Settings

CAPABILITIES = Capabilities(
    provider="Route 53",
    types=frozenset(RECORD_TYPES) - {"DNAME"},
    apex_cname=False,  # an alias there is a record of type A or AAAA, which it has become when this is asked
    properties=("alias", "aws/"),
    rate=Rate(calls=4, seconds=1.0, burst=2),  # an account has five calls a second, for all that it does
)


class Route53Provider(ListedZones):
    """Reads and writes by the API of Route 53.

    Args:
        domains: which zones to read and write; those it leaves out stay as they are.
        client: a client of boto3 for route53; None to make one from the settings.
        limiter: stands before every call.
    Raises: ValueError if something is wrong with the settings, a line for each, or boto3 is not installed.
    """

    def __init__(
        self,
        settings: Route53Settings,
        domains: DomainFilter | None = None,
        client: Any = None,
        limiter: RateLimiter | None = None,
    ) -> None:
        super().__init__()
        wrong = settings.check()
        if wrong:
            raise ValueError("\n".join(wrong))
        require_boto3()
        self._settings = settings
        self._domains = domains or DomainFilter()
        self._limiter = limiter or RateLimiter(CAPABILITIES.rate)
        self._calls = Calls(settings, client, self._limiter)
        self._hosted: HostedZones | None = None
        self._hosted_until = 0.0
        self._rules = self._rules_of({})
        self._present: dict[str, dict[EndpointKey, RouteSet]] = {}  # by zone

    @property
    def capabilities(self) -> Capabilities:
        return CAPABILITIES

    def _rules_of(self, zone_ids: dict[str, str]) -> AliasRules:
        return AliasRules(zone_ids, self._settings.aws_prefer_cname, self._settings.aws_evaluate_target_health)

    # Reading

    async def _read_all(self) -> list[Endpoint]:
        found = await self._hosted_zones()
        self._rules = self._rules_of(found.ids)
        # One zone after the other: an account has five calls a second, and each zone asked at once would wait for them.
        read: dict[str, Sequence[Endpoint] | UnreadZone] = {zone: await self._read_one(zone) for zone in found.ids}
        return self._sorted_out(read | found.ambiguous)

    async def _hosted_zones(self) -> HostedZones:
        """The zones in reach, for --aws-zones-cache-duration those of the last time. Raises: ProviderError."""
        now = self._limiter.clock.now()
        if self._hosted is None or now >= self._hosted_until:
            try:
                self._hosted = await hosted_zones(self._calls, self._settings, self._domains)
            except (Refusal, AnswerLost) as error:
                raise ProviderError(str(error)) from error
            self._hosted_until = now + self._settings.aws_zones_cache_duration
        return self._hosted

    async def _read_one(self, zone: str) -> Sequence[Endpoint] | UnreadZone:
        rules = self._rules
        if zone not in rules.zone_ids:
            return self._unread.get(zone) or UnreadZone(zone, "Route 53 has no such hosted zone any more")
        present: dict[EndpointKey, RouteSet] = {}
        endpoints: list[Endpoint] = []
        try:
            async for record_set in self._calls.record_sets(rules.zone_ids[zone]):
                endpoint = endpoint_of(record_set, rules)
                if endpoint is not None:
                    endpoints.append(endpoint)
                    present[endpoint.key] = record_set
        except (Refusal, AnswerLost, ValueError) as error:
            return UnreadZone(zone, str(error))
        self._present[zone] = present
        return endpoints

    def adjust(self, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        """See Provider.adjust. A CNAME to a load balancer of AWS becomes two: its aliases A and AAAA."""
        every = (listed for endpoint in endpoints for listed in adjusted(endpoint, self._rules))
        # Both A and AAAA, where they cannot be aliases, come down to one CNAME.
        return list({endpoint.key: endpoint for endpoint in every}.values())

    # Writing

    async def apply(self, changes: Changes) -> Sequence[RecordResult]:
        """See Provider.apply. All changes of one name are made, or none of them."""
        self._just_read = None
        if not self._rules.zone_ids:
            await self._read_all()
        known = {*self._rules.zone_ids, *self._unread}
        bundles, results = self._by_zone(changes, known, "of Route 53 that the filters let pass")
        packages: dict[str, list[Package]] = {}
        for zone, of_zone in bundles.items():
            for bundle in of_zone:
                try:
                    packages.setdefault(zone, []).append(package_of(bundle, self._present[zone], self._rules))
                except ValueError as refusal:
                    results += bundle.results(str(refusal))
        return await self._written({zone: self._write(zone, found) for zone, found in packages.items()}, results)

    async def _write(self, zone: str, packages: Sequence[Package]) -> list[RecordResult]:
        """Raises: AnswerLost if it is not known what was made."""
        sent = 0

        async def send(batch: Sequence[Package]) -> None:
            nonlocal sent
            changes = changes_of(batch)
            if changes:
                if sent and self._settings.aws_batch_change_interval:
                    await self._limiter.clock.sleep(self._settings.aws_batch_change_interval)
                sent += 1
                await self._calls.change(self._rules.zone_ids[zone], changes)
            self._take_note(zone, batch)

        return await send_in_halves(self._batches(packages), send, lambda package, error: package.bundle.results(error))

    def _batches(self, packages: Sequence[Package]) -> Iterator[list[Package]]:
        settings = self._settings
        yield from batches_within(packages, settings.aws_batch_change_size, settings.aws_batch_change_size_bytes)

    def _take_note(self, zone: str, batch: Sequence[Package]) -> None:
        """What was made is what later changes start from."""
        present = self._present[zone]
        for step in (step for package in batch for step in package.steps):
            if step.after is None:
                present.pop(step.key, None)
            else:
                present[step.key] = step.after
