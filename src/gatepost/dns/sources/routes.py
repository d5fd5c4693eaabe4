"""The sources gateway-httproute, -grpcroute, -tlsroute, -tcproute and -udproute: what a Route claims.

The hostnames of a Route meet those of the listeners that it is attached to; each name that comes out is a claim on it,
with the records of all parents that serve it.
Source: spec of Gateway API (hostname intersection), external-dns (annotations, order of names).
"""

from __future__ import annotations

from collections.abc import Mapping

from gatepost.dns.annotations import NO_WISHES, Wishes
from gatepost.dns.names import intersection
from gatepost.dns.records import Claim, Claimant, Claims, Records, first_set
from gatepost.dns.settings import DnsSettings
from gatepost.dns.sources.attachment import Attachment, attachments
from gatepost.dns.sources.filters import Filters, against_controller
from gatepost.dns.sources.hostnames import LISTENER_HOSTNAME, HostnameRule, Template
from gatepost.dns.sources.offers import Offer, OpenListener
from gatepost.dns.targets import joined, records_for, reduced, with_settings
from gatepost.dns.wrappers.reach import Reach
from gatepost.objects.gatewayapi import GatewayRoute
from gatepost.objects.problems import Skipped
from gatepost.objects.refs import Ref
from gatepost.state.rule import Rule
from gatepost.state.view import View

_NO_CLAIMS = Claims()


class RouteRule:
    """Claims of the Routes of one kind."""

    def __init__(
        self,
        type_: type[GatewayRoute],
        settings: DnsSettings,
        filters: Filters,
        offers: Rule[Offer],
        namespace_offers: Rule[Offer],
        template: Template | None,
    ) -> None:
        self._type = type_
        self._fallback = settings.listener_hostname_fallback
        self._filters = filters
        self._offers = offers
        self._namespace_offers = namespace_offers
        self._hostnames = HostnameRule(type_.KIND.kind, settings, template)

    def __call__(self, ref: Ref, view: View) -> Claims:
        route = view.get(self._type, ref)
        if route is None:
            return _NO_CLAIMS
        wishes = self._filters.reader.read(route.metadata.annotations)
        refused = self._filters.against_object(ref, route.metadata) or against_controller(ref, wishes)
        if refused is not None:
            return Claims(skipped=(refused,))
        skipped = [] if wishes is NO_WISHES else list(wishes.remarks(ref))
        hostnames = self._hostnames(route, ref, wishes, skipped)
        meeting = Meeting(hostnames.fields, self._fallback, skipped)
        asked, lagging = attachments(route, ref, skipped)
        for attachment in asked:
            self._meet(meeting, attachment, ref, view, skipped)
        meeting.finish(ref)
        claims = meeting.claims(Claimant(route.metadata.creation_timestamp or "", ref), wishes, self._filters.reach)
        unserved = (*hostnames.passed_over, *meeting.unserved)
        return Claims(claims, tuple(skipped), _lag(ref) if lagging else meeting.unreadable, unserved)

    def _meet(self, meeting: Meeting, attachment: Attachment, ref: Ref, view: View, skipped: list[Skipped]) -> None:
        offer = view.value(self._offers, (attachment.parent, ref.kind))
        if offer.terms.unreadable is not None:
            meeting.meet_unreadable(offer.terms.unreadable)
            return
        if offer.depends_on_namespace:
            offer = view.value(self._namespace_offers, (attachment.parent, ref.kind, ref.namespace))
        if attachment.section or attachment.port:
            offer = offer.section(attachment.section, attachment.port)
            if not offer.listeners and not offer.closed and offer.terms.refused is None:
                skipped.append(_no_section(attachment.section, attachment.port, attachment.parent))
        meeting.meet(offer, attachment.doubt)


class Meeting:
    """The hostnames of one Route on their way past its parents: which names come out, and from whom.

    Args:
        hostnames: in canonical form, "" for those of the listeners, each with the field that it comes from.
        fallback: which hostnames of listeners "" stands for: all or exact.
        skipped: gets a line for each parent, listener and hostname that gives nothing.

    Attributes:
        unreadable: why nothing is known of one of the parents, which may give any name; None if all are known.
    """

    __slots__ = ("_doubts", "_exact_only", "_found", "_hostnames", "_met", "_skipped", "unreadable")

    def __init__(self, hostnames: Mapping[str, str], fallback: str, skipped: list[Skipped]) -> None:
        self._hostnames = hostnames
        self._exact_only = fallback == "exact"
        self._skipped = skipped
        self._found: dict[str, tuple[Offer, ...]] = {}
        self._doubts: dict[str, Skipped] = {}
        self._met: set[str] = set()
        self.unreadable: Skipped | None = None

    def meet_unreadable(self, why: Skipped) -> None:
        """Takes in a parent of which nothing is known: it may serve every hostname, so all of them are held."""
        self._skipped.append(why)
        self.unreadable = self.unreadable or why
        for host in filter(None, self._hostnames):
            self._met.add(host)
            self._doubts.setdefault(host, why)

    def meet(self, offer: Offer, doubt: Skipped | None) -> None:
        """Takes in one parent; with a doubt its names are held rather than published."""
        skipped = self._skipped
        if offer.terms.refused is not None:
            skipped.append(offer.terms.refused)
            return
        doubt = doubt or offer.terms.doubt
        if doubt is not None:
            skipped.append(doubt)
        for closed in offer.closed:
            skipped.append(closed.why)
        alone = (offer,)
        for listener in offer.listeners:
            names = self._names_at(listener)
            if listener.doubt is not None:
                skipped.append(listener.doubt)
            elif not names and self._hostnames:
                skipped.append(self._why_none(listener))
            why = doubt or listener.doubt
            if why is None:
                self._serve(names, alone)
                continue
            for name in names:
                self._doubts.setdefault(name, why)

    def _why_none(self, listener: OpenListener) -> Skipped:
        """Why no name comes out at a listener: no hostname meets it, or all it has is a wildcard that is not taken."""
        none = listener.no_match
        if (
            not self._exact_only
            or not listener.hostname.startswith("*.")
            or set(self._hostnames) != {LISTENER_HOSTNAME}
        ):
            return none
        message = f"{listener.hostname} is a wildcard, and --listener-hostname-fallback exact takes none"
        return Skipped("WildcardHostname", message, none.at, none.field)

    def _names_at(self, listener: OpenListener) -> list[str]:
        """What the hostnames come to at a listener."""
        names: list[str] = []
        for host in self._hostnames:
            name = intersection(listener.hostname, host)
            if name is not None and (host or name[0] != "*" or not self._exact_only):
                self._met.add(host)
                names.append(name)
        return names

    def _serve(self, names: list[str], alone: tuple[Offer, ...]) -> None:
        """Notes that one more offer serves these names; a name that several listeners of it give counts once."""
        found = self._found
        for name in names:
            before = found.get(name)
            if before is None:
                found[name] = alone
            elif before[-1] is not alone[0]:
                found[name] = (*before, *alone)

    def finish(self, ref: Ref) -> None:
        """Notes the hostnames that met no listener."""
        if len(self._met) < len(self._hostnames):
            self._skipped.extend(
                Skipped("NoMatchingListener", f"hostname {host!r} meets no listener of its parents", ref, field)
                for host, field in self._hostnames.items()
                if host and host not in self._met
            )

    @property
    def unserved(self) -> tuple[str, ...]:
        """The hostnames that no parent serves as they are, nor may serve."""
        return tuple(host for host in self._hostnames if host and host not in self._found and host not in self._doubts)

    def claims(self, claimant: Claimant, wishes: Wishes, reach: Reach | None) -> tuple[Claim, ...]:
        """The claims on all names that came out, doubtful ones too.

        Args:
            reach: what the targets of the Route itself have to pass.
        """
        claims: list[Claim] = []
        last: tuple[Offer, ...] | None = None
        records: Records = ()
        lacking: Skipped | None = None
        for name, offers in self._found.items():
            if offers is not last:  # most Routes have one parent, whose records all their names share
                last = offers
                records, lacking = _records(offers, wishes, reach)
                if lacking is not None:
                    self._skipped.append(lacking)
            doubt = lacking or self._doubts.get(name)
            claims.append(Claim(name, wishes.set_identifier, records, claimant, doubt))
        for name, doubt in self._doubts.items():
            if name not in self._found:
                claims.append(Claim(name, wishes.set_identifier, (), claimant, doubt))
        return tuple(claims)


def _records(offers: tuple[Offer, ...], wishes: Wishes, reach: Reach | None) -> tuple[Records, Skipped | None]:
    """The records of a name that these parents serve, and what is missing from them.

    Targets of the Route come before those of its parents, and its settings before their defaults.
    """
    if wishes is NO_WISHES and len(offers) == 1:
        return offers[0].terms.records, offers[0].terms.no_targets
    given = [offer.terms for offer in offers]
    ttl = wishes.ttl or next((terms.ttl for terms in given if terms.ttl), 0)
    properties = first_set([wishes.properties, *(terms.properties for terms in given)])
    if wishes.dns_targets:
        return with_settings(records_for(wishes.dns_targets, reach), ttl, properties), None
    records = reduced(joined([terms.records for terms in given]))
    lacking = next((terms.no_targets for terms in given if terms.no_targets is not None), None)
    return with_settings(records, ttl, properties), lacking


def _no_section(section: str, port: int, parent: Ref) -> Skipped:
    asked = " and ".join([f"name {section!r}"] * bool(section) + [f"port {port}"] * bool(port))
    return Skipped("NoMatchingParent", f"has no listener with {asked}", parent, "spec.listeners")


def _lag(ref: Ref) -> Skipped:
    message = "its controller has not answered to the newest generation yet"
    return Skipped("StatusLags", message, ref, "status.parents[].conditions[Accepted].observedGeneration")
