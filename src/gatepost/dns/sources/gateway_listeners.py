"""The source gateway-listener: the hostname of each listener, whether a Route hangs on it or not."""

from __future__ import annotations

from gatepost.dns.records import Claim, Claimant, Claims
from gatepost.dns.sources.parents import Parent
from gatepost.objects.problems import Skipped
from gatepost.objects.refs import Ref
from gatepost.state.rule import Rule
from gatepost.state.view import View


class ListenerRule:
    """Claims of a Gateway or ListenerSet on the hostnames of its own listeners."""

    def __init__(self, parents: Rule[Parent]) -> None:
        self._parents = parents

    def __call__(self, ref: Ref, view: View) -> Claims:
        parent = view.value(self._parents, ref)
        terms = parent.terms
        if terms.nothing_because is not None:
            return Claims(skipped=(terms.nothing_because,), lagging=terms.unreadable)
        skipped = list(parent.remarks)
        found: dict[str, Skipped | None] = {}
        for listener in parent.listeners:
            if not listener.hostname:
                why = "has no hostname" if listener.hostname == "" else "has a hostname that is none"
                message = f"listener {listener.name!r} {why}"
                skipped.append(Skipped("NoHostname", message, ref, f"{listener.field}.hostname"))
                continue
            doubt = terms.doubt or terms.no_targets or listener.doubt
            if listener.hostname not in found or doubt is None:  # one listener that is in order is enough
                found[listener.hostname] = doubt
        skipped += sorted({doubt for doubt in found.values() if doubt is not None})
        claimant = Claimant(parent.created, ref)
        claims = tuple(
            Claim(name, "", terms.records if doubt is None else (), claimant, doubt) for name, doubt in found.items()
        )
        return Claims(claims, tuple(skipped))
