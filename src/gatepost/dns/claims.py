"""Claims on names: an index of them, and the rule that settles what one name holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gatepost.dns.conflicts import settle
from gatepost.dns.endpoint import NameKey
from gatepost.dns.records import Claim, Claims, RecordSet
from gatepost.state.store import Index
from gatepost.state.view import View

CLAIMS = "dns claims"
RECORD_SETS = "dns record sets"


def _entries(claims: Claims) -> Iterable[tuple[NameKey, Claim]]:
    return [((claim.name, claim.set_identifier), claim) for claim in claims.claims]


CLAIMS_BY_NAME = Index("dns claims by name", CLAIMS, _entries)


class RecordSetRule:
    """Settles one name: one record set from all claims on it.

    | claims                                 | record set                                                     |
    | one, or several that agree             | their records; settings of the oldest that sets them           |
    | several that differ                    | as --conflict says; losers get a Problem that names the winner |
    | only doubtful ones                     | none, and what is published now is held                        |

    Args:
        conflict: the choice of --conflict.
        finish: the steps that follow (`wrappers`).
    """

    def __init__(self, conflict: str, finish: Callable[[RecordSet], RecordSet]) -> None:
        self._conflict = conflict
        self._finish = finish

    def __call__(self, key: NameKey, view: View) -> RecordSet:
        claims: Sequence[Claim] = view.select(CLAIMS_BY_NAME, key)
        if len(claims) == 1:
            claim = claims[0]
            settled = RecordSet(claim.name, claim.set_identifier, claim.records, (claim.claimant,), (), claim.doubt)
        else:
            settled = settle(key, claims, self._conflict)
        return self._finish(settled)
