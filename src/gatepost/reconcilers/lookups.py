"""Names that must be resolved outside the rules. The keys of the rule are the names that somebody needs right now."""

from __future__ import annotations

from gatepost.objects.lookups import NameLookup, lookup_ref
from gatepost.state.rule import Rule
from gatepost.state.view import View


def addresses_of(name: str, view: View) -> tuple[str, ...] | None:
    """The addresses that DNS gave for a name, None while it has not been asked.

    One look-up serves all that ask for the name. Whoever resolves names takes the keys of this rule as the list of
    what to resolve, and puts each answer into the store.
    """
    found = view.get(NameLookup, lookup_ref(name))
    return found.addresses if found is not None else None


NAME_LOOKUPS: Rule[tuple[str, ...] | None] = Rule("name-lookups", addresses_of, rank=1)
