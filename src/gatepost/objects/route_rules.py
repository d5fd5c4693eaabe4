"""The rules of a Route in full, kept only for those who say that they read them.

A large cluster's rules are most of its bytes, so a Route is read without them (see `gatewayapi.GatewayRoute`). Where a
rule of ours declares that it reads Routes whole (`state.rule.Rule`), whoever decodes a Route adds them here.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from gatepost.objects.gatewayapi import GatewayRoute, HTTPRouteSpec

RouteT = TypeVar("RouteT", bound=GatewayRoute)


class WholeRouteSpec(HTTPRouteSpec, frozen=True):
    """The spec of a Route of any kind with all of its rules.

    Attributes:
        rules_json: the text that the API server or manifest gave, which is far smaller than what it would decode to.
    """

    rules_json: str = ""


class _Spec(Struct, frozen=True):
    rules: msgspec.Raw = msgspec.Raw(b"null")


class _Whole(Struct, frozen=True):
    spec: _Spec = _Spec()


_decoder = msgspec.json.Decoder(_Whole)


def with_rules(route: RouteT, raw: bytes | msgspec.Raw) -> RouteT:
    """The Route with its rules kept.

    Args: raw: the JSON that the Route was decoded from.
    """
    spec = route.spec
    rules_json = bytes(_decoder.decode(raw).spec.rules).decode(errors="replace")
    typed_rules = spec.rules if isinstance(spec, HTTPRouteSpec) else ()
    whole = WholeRouteSpec(spec.parent_refs, spec.hostnames, typed_rules, rules_json)
    return msgspec.structs.replace(route, spec=whole)


def rules_in(route: GatewayRoute) -> Any:
    """All rules as the API gives them, in their raw form; None if there are none.

    Raises: LookupError if they were not kept.
    """
    spec = route.spec
    if not isinstance(spec, WholeRouteSpec):
        raise LookupError(f"the rules of {route.ref} were not kept")
    return msgspec.json.decode(spec.rules_json)


def has_rules_kept(route: GatewayRoute) -> bool:
    """Whether `rules_in` can tell the rules."""
    return isinstance(route.spec, WholeRouteSpec)
