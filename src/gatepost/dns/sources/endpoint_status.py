"""The status of a DNSEndpoint: that its newest generation has been read."""

from __future__ import annotations

from gatepost.dns.sources.filters import Filters
from gatepost.objects.dnsendpoint import DNSEndpoint
from gatepost.objects.refs import Ref
from gatepost.state.view import View
from gatepost.writes.outcome import Outcome

ENDPOINT_STATUS = "dns endpoint status"


class EndpointStatusRule:
    """Writes `status.observedGeneration`, the only field of the status that the published CRD has."""

    def __init__(self, filters: Filters) -> None:
        self._filters = filters

    def __call__(self, ref: Ref, view: View) -> Outcome:
        written = view.get(DNSEndpoint, ref)
        if written is None:
            return Outcome.none("gone")
        refused = self._filters.against_object(ref, written.metadata)
        if refused is not None:
            return Outcome.none(refused.message)
        outcome = Outcome.of(written)
        if written.metadata.generation:
            outcome.status["observedGeneration"] = written.metadata.generation
        return outcome
