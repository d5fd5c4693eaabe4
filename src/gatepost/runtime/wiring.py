"""Which rules and indexes there are: the one place that knows all of them."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from gatepost.state.rule import Rule
from gatepost.state.store import Index

CONTROLLERS: Mapping[str, str] = {
    "domainmapping": "gatepost.reconcilers.domainmapping",
    "route": "gatepost.reconcilers.route",
    "gateway": "gatepost.reconcilers.gateway",
}
"""Name of a controller, as on the command line -> its package, which exports RULES and INDEXES."""


class Wiring(Struct, frozen=True):
    """Rules and indexes that belong together, each once."""

    rules: tuple[Rule[Any], ...]
    indexes: tuple[Index, ...]


def reconcilers(names: Sequence[str] = tuple(CONTROLLERS)) -> Wiring:
    """The rules and indexes of these controllers. Raises: KeyError for a name that is none of `CONTROLLERS`."""
    packages = [
        importlib.import_module(CONTROLLERS[name]) for name in names if importlib.util.find_spec(CONTROLLERS[name])
    ]
    rules = {rule.name: rule for package in packages for rule in package.RULES}
    indexes = {index.name: index for package in packages for index in package.INDEXES}
    return Wiring(tuple(rules.values()), tuple(indexes.values()))
