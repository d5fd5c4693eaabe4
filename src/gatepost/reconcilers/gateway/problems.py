"""The reasons and messages of this controller, and the exception by which a step says that nothing can be served."""

from __future__ import annotations

from gatepost.objects.networking import KIngress
from gatepost.objects.problems import UNREADABLE, Problem
from gatepost.objects.refs import Ref

HTTP_ROUTE_NOT_READY = "HTTPRouteNotReady"
UNINITIALIZED = "Uninitialized"
WAITING_FOR_LOAD_BALANCER = "Waiting for load balancer to be ready"
RECONCILE_FAILED = "ReconcileIngressFailed"
RECONCILE_FAILED_MESSAGE = "Ingress reconciliation failed"
GATEWAY_DOES_NOT_EXIST = "GatewayDoesNotExist"
GATEWAY_WITHOUT_ADDRESS = "GatewayWithoutAddress"
GATEWAY_MISSING = "GatewayMissing"
NOT_OWNED = "NotOwned"
HOSTNAME_CONFLICT = "HostnameConflict"
NO_ROOM = "NoRoomOnGateway"
GATEWAY_NOT_PROGRAMMED = "GatewayNotProgrammed"
LISTENER_NOT_READY = "ListenerNotReady"
LISTENER_NOT_PROGRAMMED = "ListenerNotProgrammed"
INCOMPLETE_RULE = "IncompleteRule"
UNKNOWN_PORT = "UnknownServicePort"
TOO_LARGE = "TooLargeForHTTPRoute"
NOT_EXPRESSIBLE = "NotExpressibleAsHTTPRoute"
EXTERNAL_NAME_BACKEND = "ExternalNameBackend"
NO_TLS_TO_REDIRECT_TO = "NoTLSToRedirectTo"
TLS_NOT_READY_TO_REDIRECT_TO = "TLSNotReadyToRedirectTo"
PROBE_WAITING = "ProbeWaiting"
BACKEND_NOT_WARM = "BackendNotWarm"

TOLD_IN_FULL = frozenset({INCOMPLETE_RULE, UNKNOWN_PORT, TOO_LARGE, NOT_EXPRESSIBLE, UNREADABLE})
"""Reasons that say what to mend in a KIngress or what it rests on: net-gateway-api has none of them."""


class CannotServe(Exception):
    """A KIngress as a whole cannot be turned into routes. What was configured for it before stays."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def gateway_missing(gateway: Ref, reason: str) -> Problem:
    """`reason` is GATEWAY_MISSING where a listener was to be put on it, else GATEWAY_DOES_NOT_EXIST."""
    return Problem(
        reason,
        f"could not find Gateway {gateway.namespace}/{gateway.name}",
        gateway,
        hint="Create it, or name another one in config-gateway.",
    )


def gateway_without_address(gateway: Ref) -> Problem:
    return Problem(
        GATEWAY_WITHOUT_ADDRESS,
        f"Gateway {gateway.namespace}/{gateway.name} has no address yet",
        gateway,
        "status.addresses",
        "Wait for its controller, or name the Service of its data plane in config-gateway.",
    )


def not_owned(taken: Ref, holder: str) -> Problem:
    """`holder` says who has the object instead."""
    return Problem(
        NOT_OWNED,
        f'{taken.kind} "{taken.name}" in namespace {taken.namespace} is wanted, but {holder}.',
        taken,
        "metadata.ownerReferences",
        "Remove it, or use another host.",
    )


def no_rules(kingress: KIngress) -> Problem:
    return Problem(INCOMPLETE_RULE, "found no rules; wanted at least one.", kingress.ref, "spec.rules")


def incomplete_rule(kingress: KIngress, index: int, part: str) -> Problem:
    """`part` is the field of the rule that is missing or empty."""
    return Problem(
        INCOMPLETE_RULE,
        f"rule {index} has no {part}; nothing can be routed.",
        kingress.ref,
        f"spec.rules[{index}].{part}",
    )
