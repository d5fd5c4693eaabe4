"""Whether the records that DNSEndpoints ask for are in DNS, told to the rule that writes their status."""

from __future__ import annotations

from collections.abc import Callable, Collection

from gatepost.dns.claims import CLAIMS
from gatepost.dns.desired import record_set_at
from gatepost.dns.endpoint import NameKey
from gatepost.dns.records import Claims
from gatepost.dns.sources.endpoint_status import ENDPOINT_STATUS
from gatepost.objects.dns_verdicts import DnsVerdict, dns_verdict_ref
from gatepost.objects.dnsendpoint import DNSEndpoint
from gatepost.objects.meta import ObjectMeta
from gatepost.objects.refs import Ref
from gatepost.state.engine import Engine


class DnsVerdicts:
    """Looks after each write which DNSEndpoints stand in DNS as they ask for.

    Args:
        is_published: whether DNS holds a name as it is wanted, as far as is known.
        put: takes each verdict that differs from the one before.
        drop: hears of each verdict on an object that is gone.
    """

    def __init__(
        self,
        engine: Engine,
        is_published: Callable[[NameKey], bool],
        put: Callable[[DnsVerdict], None],
        drop: Callable[[Ref], None],
    ) -> None:
        self._engine = engine
        self._is_published = is_published
        self._put = put
        self._drop = drop
        self._judged: set[Ref] = set()
        self._rules = frozenset(rule.name for rule in engine.rules)

    def note_written(self, names: Collection[NameKey]) -> None:
        """These names have been planned, and what was allowed of it was made."""
        if ENDPOINT_STATUS not in self._rules:  # nobody asks
            return
        for ref in sorted({ref for name in names for ref in self._behind(name)}):
            verdict = self._verdict_on(ref)
            if verdict is not None and verdict != self._engine.store.get(dns_verdict_ref(ref)):
                self._judged.add(ref)
                self._put(verdict)
        for ref in sorted(ref for ref in self._judged if self._engine.store.get(ref) is None):
            self._judged.discard(ref)
            self._drop(dns_verdict_ref(ref))

    def forget(self) -> None:
        """Others may write from here on: no verdict holds any more."""
        for ref in sorted(self._judged):
            self._drop(dns_verdict_ref(ref))
        self._judged.clear()

    def _verdict_on(self, ref: Ref) -> DnsVerdict | None:
        endpoint = self._engine.store.get(ref)
        claims: Claims | None = self._engine.value(self._engine.rule(CLAIMS), ref)
        if endpoint is None or claims is None:
            return None
        missing = next((claim.name for claim in claims.claims if not self._is_published(claim.key)), "")
        metadata = ObjectMeta(name=ref.name, namespace=ref.namespace, uid=endpoint.metadata.uid)
        return DnsVerdict(metadata=metadata, generation=endpoint.metadata.generation, missing=missing)

    def _behind(self, name: NameKey) -> list[Ref]:
        wanted = record_set_at(self._engine, name)
        kind = DNSEndpoint.KIND.group_kind
        return [c.ref for c in wanted.claimants if c.ref.group_kind == kind] if wanted is not None else []
