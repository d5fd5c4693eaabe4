"""Of which kinds an object that is not there need not be gone."""

from __future__ import annotations

from gatepost.objects.dnsendpoint import DNSEndpoint
from gatepost.objects.gatewayapi import Gateway, HTTPRoute, TLSRoute
from gatepost.runtime.loop.kinds import kinds_in_doubt

ROUTES, TLS, GATEWAYS, RECORDS = (type_.KIND.group_kind for type_ in (HTTPRoute, TLSRoute, Gateway, DNSEndpoint))
ALL = [ROUTES, TLS, GATEWAYS, RECORDS]
NAMES = {"HTTPRoute", "TLSRoute", "Gateway", "DNSEndpoint"}


def test_none_while_all_are_known() -> None:
    assert kinds_in_doubt(ALL, unknown=[], missing=[]) == set()


def test_all_while_one_is_unknown() -> None:
    assert kinds_in_doubt(ALL, unknown=[TLS], missing=[]) == NAMES


def test_a_kind_that_is_not_served_only_itself() -> None:
    assert kinds_in_doubt(ALL, unknown=[], missing=[TLS]) == {"TLSRoute"}
    assert kinds_in_doubt(ALL, unknown=[], missing=[GATEWAYS]) == {"Gateway"}
