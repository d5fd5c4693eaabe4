"""The status of a DNSEndpoint: which generation has been read, whether it can be published, whether it is.

What can be no record, or does not count, is told in Warning events too.

| condition | True when                                       | else                                             |
| Accepted  | every entry can be a record                     | False: the entries that cannot, and why          |
| Ready     | all its names stand in DNS as it asks for       | False: a conflict, a filter, what is not there;  |
|           |                                                 | Unknown until DNS has been compared              |

Several instances may read one DNSEndpoint, for an inner and an outer zone. Who is the first to see a generation writes
its conditions, with its owner in the message of Ready; the others leave them alone, or they would overwrite each other
for ever.

The CustomResourceDefinition that external-dns publishes has no conditions, and a server drops what a definition does
not have. So they go along where the status is written anyway, for a new generation, and are kept up where they stayed.
Source: external-dns for `observedGeneration`; the conditions are gatepost's own.
"""

from __future__ import annotations

from msgspec.structs import replace

from gatepost.dns.records import Claims, RecordSet
from gatepost.dns.sources.filters import Filters
from gatepost.objects.dns_verdicts import DnsVerdict, dns_verdict_ref
from gatepost.objects.dnsendpoint import DNSEndpoint
from gatepost.objects.meta import Condition, condition_of
from gatepost.objects.problems import Skipped
from gatepost.objects.refs import Ref
from gatepost.state.rule import Rule
from gatepost.state.view import View
from gatepost.writes.outcome import Outcome, condition_fields

ENDPOINT_STATUS = "dns endpoint status"
ACCEPTED, READY = "Accepted", "Ready"

_NOT_COUNTED = frozenset(("InvalidTTL", "InvalidLabel"))
_REMARKS = frozenset(("InvalidAnnotation", "MisplacedAnnotation", *_NOT_COUNTED))
_INVALID = frozenset(("EmptyEntry", "InvalidName", "InvalidTarget", "InvalidRecord"))


class EndpointStatusRule:
    """Writes the status. It reads what `claims` and `record_sets` say of the object.

    Args: owner: who we are, "" where no registry knows owners.
    """

    def __init__(self, filters: Filters, claims: Rule[Claims], record_sets: Rule[RecordSet], owner: str) -> None:
        self._filters = filters
        self._signature = f"[owner: {owner}]" if owner else "[no owner]"
        self._claims = claims
        self._record_sets = record_sets

    def __call__(self, ref: Ref, view: View) -> Outcome:
        written = view.get(DNSEndpoint, ref)
        if written is None:
            return Outcome.none("gone")
        refused = self._filters.against_object(ref, written.metadata)
        if refused is not None:
            return Outcome.none(refused.message)
        outcome = Outcome.of(written)
        for skipped in view.value(self._claims, ref).skipped:
            if skipped.reason in _INVALID | _NOT_COUNTED:
                outcome.warn(skipped.reason, _words(skipped))
        generation = written.metadata.generation
        if generation:
            outcome.status["observedGeneration"] = generation
        are_kept = bool(written.status.conditions) and not self._are_of_others(written)
        if are_kept or generation != written.status.observed_generation:
            outcome.status["conditions"] = condition_fields(self._conditions(written, ref, view))
        return outcome

    def _conditions(self, written: DNSEndpoint, ref: Ref, view: View) -> list[Condition]:
        claims = view.value(self._claims, ref)
        others = [found for found in written.status.conditions if found.type not in (ACCEPTED, READY)]
        ready = self._ready(written, claims, view)
        if not ready.message.endswith(self._signature):
            ready = replace(ready, message=f"{ready.message} {self._signature}".lstrip())
        ours = [_accepted(claims), ready]
        generation = written.metadata.generation
        return [*others, *(replace(condition, observed_generation=generation) for condition in ours)]

    def _are_of_others(self, written: DNSEndpoint) -> bool:
        """Whether another instance has written the conditions of this generation."""
        ready = _ready_of_this_generation(written)
        return ready is not None and not ready.message.endswith(self._signature)

    def _ready(self, written: DNSEndpoint, claims: Claims, view: View) -> Condition:
        if not claims.claims:
            why = "; ".join(_words(skipped) for skipped in claims.skipped)
            return Condition(READY, "False", "NoRecords", why or "spec.endpoints: found no entry")
        left_out = [skipped for skipped in claims.skipped if skipped.reason not in _REMARKS]
        if left_out:
            return Condition(READY, "False", "NotPublished", "; ".join(_words(skipped) for skipped in left_out))
        for claim in claims.claims:
            settled = view.value(self._record_sets, claim.key)
            problem = next((problem for problem in settled.problems if problem.about == written.ref), None)
            if problem is not None:
                return Condition(READY, "False", problem.reason, problem.message)
            if not settled.records:
                why = str(settled.notes[0]) if settled.notes else f"{claim.name} is not published"
                return Condition(READY, "False", "NotPublished", why)
        verdict = view.get(DnsVerdict, dns_verdict_ref(written.ref))
        if verdict is None or not verdict.is_about(written):
            return _ready_of_this_generation(written) or Condition(
                READY, "Unknown", "Pending", "DNS has not been compared with it yet"
            )
        if verdict.missing:
            message = (
                f"{verdict.missing} is not in DNS as it is asked for here; events and the log of gatepost tell why"
            )
            return Condition(READY, "False", "NotPublished", message)
        return Condition(READY, "True", "Published")


def _ready_of_this_generation(written: DNSEndpoint) -> Condition | None:
    """What was written for it, by us or another instance, now or before a restart; None if nothing was."""
    found = condition_of(written.status.conditions, READY)
    return found if found is not None and found.observed_generation == written.metadata.generation else None


def _accepted(claims: Claims) -> Condition:
    invalid = [skipped for skipped in claims.skipped if skipped.reason in _INVALID]
    if not invalid:
        return Condition(ACCEPTED, "True", "Accepted")
    return Condition(ACCEPTED, "False", invalid[0].reason, "; ".join(_words(skipped) for skipped in invalid))


def _words(skipped: Skipped) -> str:
    return f"{skipped.field}: {skipped.message}" if skipped.field else skipped.message
