"""What DNS is to answer with for a name: the record sets, and the claims that they were settled from."""

from __future__ import annotations

from collections.abc import Iterable

from gatepost.dns.claims import CLAIMS, RECORD_SETS
from gatepost.dns.endpoint import NameKey
from gatepost.dns.records import Claim, Claims, RecordSet
from gatepost.dns.sources.hostnames import TEMPLATE_FAILED
from gatepost.explain.names import Asked
from gatepost.explain.values import DnsAnswer, DnsClaim
from gatepost.objects.refs import Ref
from gatepost.state.engine import Engine


def dns_answers(engine: Engine, asked: Asked) -> tuple[DnsAnswer, ...]:
    """The record sets of the name, one for each set identifier; without a record also those of the nearest wildcard.

    Source: RFC 4592: a wildcard answers only for names that are not there themselves.
    """
    rules = {rule.name: rule for rule in engine.rules}
    if CLAIMS not in rules:
        return ()
    claims: dict[NameKey, list[Claim]] = {}
    for _, value in engine.values(rules[CLAIMS]):
        for claim in value.claims if isinstance(value, Claims) else ():
            if asked.is_taken_in_by(claim.name):
                claims.setdefault(claim.key, []).append(claim)
    found: dict[str, list[DnsAnswer]] = {}
    for key in sorted(claims, key=lambda key: (key[0].startswith("*."), -len(key[0]), key)):
        found.setdefault(key[0], []).append(_answer(engine.value(rules[RECORD_SETS], key), claims[key]))
    return _down_to_the_first_record(found)


def _down_to_the_first_record(found: dict[str, list[DnsAnswer]]) -> tuple[DnsAnswer, ...]:
    """The answers of the nearest name, and of those after it down to the first that has a record, if one has."""
    passed: list[DnsAnswer] = []
    for answers in found.values():
        passed += answers
        if any(answer.records for answer in answers):
            return tuple(passed)
    return tuple(next(iter(found.values()), ()))


def failed_templates(engine: Engine) -> tuple[Ref, ...]:
    """The Routes whose names from --fqdn-template nobody knows, since it fails on them; sorted."""
    return tuple(
        sorted(
            why.at
            for rule in engine.rules
            if rule.name == CLAIMS
            for _, value in engine.values(rule)
            if isinstance(value, Claims)
            for why in value.skipped
            if why.reason == TEMPLATE_FAILED
        )
    )


def _answer(settled: RecordSet | None, claims: Iterable[Claim]) -> DnsAnswer:
    oldest_first = sorted(claims, key=lambda claim: claim.claimant.age)
    winners = {claimant.ref for claimant in settled.claimants} if settled is not None and settled.records else set()
    return DnsAnswer(
        name=oldest_first[0].name,
        set_identifier=oldest_first[0].set_identifier,
        records=settled.endpoints if settled is not None else (),
        claims=tuple(
            DnsClaim(
                claimant=claim.claimant.ref,
                since=claim.claimant.created,
                won=bool(claim.records) and claim.claimant.ref in winners,
                doubt=claim.doubt,
            )
            for claim in oldest_first
        ),
        problems=settled.problems if settled is not None else (),
        hold=settled.hold if settled is not None else None,
        notes=settled.notes if settled is not None else (),
    )
