"""What DNS is to answer with for a name: the record sets, and the claims that they were settled from."""

from __future__ import annotations

from collections.abc import Iterable

from gatepost.dns.claims import CLAIMS, RECORD_SETS
from gatepost.dns.records import Claim, Claims, RecordSet
from gatepost.dns.sources.hostnames import TEMPLATE_FAILED
from gatepost.explain.names import Asked
from gatepost.explain.values import DnsAnswer, DnsClaim
from gatepost.objects.refs import Ref
from gatepost.state.engine import Engine


def dns_answers(engine: Engine, asked: Asked) -> tuple[DnsAnswer, ...]:
    """The record sets of the name, one for each set identifier; if there is none, those of the nearest wildcard.

    Source: RFC 4592: a wildcard answers only for names that are not there themselves.
    """
    rules = {rule.name: rule for rule in engine.rules}
    if CLAIMS not in rules:
        return ()
    claims = [
        claim
        for _, value in engine.values(rules[CLAIMS])
        if isinstance(value, Claims)
        for claim in value.claims
        if asked.is_taken_in_by(claim.name)
    ]
    names = sorted({claim.name for claim in claims}, key=lambda name: (name.startswith("*."), -len(name), name))
    if not names:
        return ()
    nearest = [claim for claim in claims if claim.name == names[0]]
    keys = sorted({claim.key for claim in nearest})
    return tuple(
        _answer(engine.value(rules[RECORD_SETS], key), [claim for claim in nearest if claim.key == key]) for key in keys
    )


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
