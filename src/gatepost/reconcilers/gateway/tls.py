"""The TLS that a KIngress wants: a listener for each host, and a grant for each Secret.

The wish of a KIngress is a value of its own, so that the rule of a Gateway can join those of all its KIngresses.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from gatepost.objects.gatewayapi import Gateway, ReferenceGrant
from gatepost.objects.meta import controller_of, is_controlled_by, is_true, owner_reference
from gatepost.objects.names import child_name
from gatepost.objects.networking import EXTERNAL_IP, KIngress, KIngressSpec, KIngressTLS
from gatepost.objects.problems import Problem
from gatepost.objects.refs import Ref
from gatepost.reconcilers.config_gateway import GatewayEntry, current_gateway_config
from gatepost.reconcilers.gateway.ownership import Claim, claim_of, is_ours
from gatepost.reconcilers.gateway.problems import not_owned
from gatepost.reconcilers.gateway.version import with_defaults
from gatepost.state.rule import Rule
from gatepost.state.store import Index
from gatepost.state.view import View
from gatepost.writes.outcome import object_fields

Raw = dict[str, Any]

LISTENER_PREFIX = "kni-"


class ListenerWish(Struct, frozen=True):
    """One listener: it ends TLS for one host with the certificate in a Secret."""

    name: str
    hostname: str
    port: int
    secret: Ref


class TLSWish(Struct, frozen=True):
    """What one KIngress wants of the shared Gateway.

    Attributes:
        claim: who wants it.
        identity: the start of the names of its listeners, after the prefix.
        gateway: where the listeners go; None for a KIngress that is being deleted.
        listeners: () takes those away that are there.
        secrets: what the Gateway must be allowed to read.
        problem: why the wish cannot be fulfilled as it stands; what is on the Gateway then stays.
    """

    claim: Claim
    identity: str
    gateway: Ref | None = None
    listeners: tuple[ListenerWish, ...] = ()
    secrets: tuple[Ref, ...] = ()
    problem: Problem | None = None


def tls_wish(ref: Ref, view: View) -> TLSWish | None:
    """The wish of a KIngress. None leaves everything as it is: not ours, or config-gateway cannot be read."""
    kingress = view.get(KIngress, ref)
    if kingress is None or not is_ours(kingress):
        return None
    claim, identity = claim_of(kingress), identity_of(kingress)
    if kingress.metadata.deletion_timestamp is not None:
        return TLSWish(claim, identity)
    config = current_gateway_config(view)
    if isinstance(config, Problem):
        return None
    entry = config.entry_for(EXTERNAL_IP, kingress.metadata.labels)
    tls = public_tls(with_defaults(kingress.spec))
    secrets = tuple(dict.fromkeys(_secret_of(one) for one in tls))
    return TLSWish(
        claim,
        identity,
        entry.gateway,
        _listeners(identity, tls, entry),
        secrets,
        next(filter(None, (_foreign_grant(kingress, secret, entry.gateway, view) for secret in secrets)), None),
    )


def public_tls(spec: KIngressSpec) -> tuple[KIngressTLS, ...]:
    """The entries of spec.tls that cover all hosts of some public rule, each once.

    Source: knative.dev/networking, GetIngressTLSForVisibility: a public rule without hosts ends the search.
    """
    found: dict[KIngressTLS, None] = {}
    for rule in spec.rules:
        if rule.visibility != EXTERNAL_IP:
            continue
        if not rule.hosts:
            break
        found.update((tls, None) for tls in spec.tls if set(rule.hosts) <= set(tls.hosts))
    return tuple(found)


def identity_of(kingress: KIngress) -> str:
    """The UID; in manifests that never saw a cluster a hash of the names stands in.

    All UIDs are of one length, so none is the start of another's listener name.
    """
    metadata = kingress.metadata
    return metadata.uid or hashlib.sha256(f"{metadata.namespace}/{metadata.name}".encode()).hexdigest()[:32]


def _secret_of(tls: KIngressTLS) -> Ref:
    return Ref("", "Secret", tls.secret_namespace, tls.secret_name)


def _listeners(identity: str, tls: Iterable[KIngressTLS], entry: GatewayEntry) -> tuple[ListenerWish, ...]:
    """One for each host. The first has the name that net-gateway-api gives it, so that taking over changes nothing."""
    secrets: dict[str, Ref] = {}
    for one in tls:
        for host in one.hosts:
            secrets.setdefault(host, _secret_of(one))
    names = {host: "" if index == 0 else f"-{_short_hash(host)}" for index, host in enumerate(secrets)}
    return tuple(
        ListenerWish(f"{LISTENER_PREFIX}{identity}{names[host]}", host, entry.https_port, secret)
        for host, secret in secrets.items()
    )


def _short_hash(host: str) -> str:
    return hashlib.sha256(host.encode()).hexdigest()[:8]


def _foreign_grant(kingress: KIngress, secret: Ref, gateway: Ref, view: View) -> Problem | None:
    grant = view.named(ReferenceGrant, secret.namespace, grant_name(kingress, secret, gateway))
    if grant is None or is_controlled_by(grant, kingress):
        return None
    return not_owned(grant.ref, f"{kingress.ref} does not control the one that is there")


def grant_name(kingress: KIngress, secret: Ref, gateway: Ref) -> str:
    return child_name(kingress.metadata.name, f"-{secret.name}-{gateway.namespace}")


def reference_grant(kingress: KIngress, secret: Ref, gateway: Ref) -> Raw:
    """The grant in its raw form: from Gateways in the namespace of that one, to that one Secret."""
    return object_fields(
        ReferenceGrant,
        secret.namespace,
        grant_name(kingress, secret, gateway),
        owners=[owner_reference(kingress)],
        spec={
            "from": [{"group": gateway.group, "kind": gateway.kind, "namespace": gateway.namespace}],
            "to": [{"group": "", "kind": "Secret", "name": secret.name}],
        },
    )


TLS: Rule[TLSWish | None] = Rule("kingress-tls", tls_wish, rank=5, over=KIngress)

TLS_BY_GATEWAY = Index(
    "kingress-tls-by-gateway",
    TLS.name,
    lambda wish: [(wish.gateway, wish)] if wish.listeners and wish.problem is None else [],
)
"""Gateway -> the wishes for listeners on it that can be fulfilled."""

TLS_BY_IDENTITY = Index("kingress-tls-by-identity", TLS.name, lambda wish: [(wish.identity, wish)])
"""Identity -> the wish of the KIngress that has it; empty for listeners of KIngresses that we do not know."""

TLS_CLAIMS = Index(
    "kingress-tls-claims",
    TLS.name,
    lambda wish: [
        ((wish.gateway, listener.port, listener.hostname), wish.claim)
        for listener in wish.listeners
        if wish.problem is None
    ],
)
"""(Gateway, port, hostname) -> who claims that listener: a Gateway can have only one."""


def _listener_places(gateway: Gateway) -> Iterable[tuple[Any, str]]:
    for listener in gateway.spec.listeners:
        if listener.protocol == "HTTPS":
            yield (gateway.ref, listener.port, listener.hostname), listener.name


LISTENER_PLACES = Index("gateway-https-listeners", Gateway, _listener_places)
"""(Gateway, port, hostname) -> the name of the HTTPS listener that stands there."""


def _listener_trouble(gateway: Gateway) -> Iterable[tuple[Any, str]]:
    for listener in gateway.status.listeners:
        if listener.name.startswith(LISTENER_PREFIX):
            for condition in listener.conditions:
                if condition.type in ("Accepted", "ResolvedRefs", "Programmed") and condition.status == "False":
                    trouble = f"{condition.type} is False ({condition.reason}) {condition.message}".rstrip(". ")
                    yield (gateway.ref, listener.name), trouble


LISTENER_TROUBLE = Index("gateway-listener-trouble", Gateway, _listener_trouble)
"""(Gateway, listener) -> what its controller says against one of our listeners."""


def _programmed_listeners(gateway: Gateway) -> Iterable[tuple[Any, None]]:
    for listener in gateway.status.listeners:
        if listener.name.startswith(LISTENER_PREFIX) and is_true(listener.conditions, "Programmed"):
            yield (gateway.ref, listener.name), None


PROGRAMMED_LISTENERS = Index("gateway-programmed-listeners", Gateway, _programmed_listeners)
"""(Gateway, listener) -> not empty if its controller says that the listener answers."""


def _listeners_of_identity(gateway: Gateway) -> Iterable[tuple[Any, Ref]]:
    identities = {name for listener in gateway.spec.listeners for name in identities_in(listener.name)}
    for identity in identities:
        yield identity, gateway.ref


GATEWAYS_BY_IDENTITY = Index("gateways-by-kingress-identity", Gateway, _listeners_of_identity)
"""Identity of a KIngress -> the Gateways that have a listener of it."""


def _certificates(gateway: Gateway) -> Iterable[tuple[Any, str]]:
    for listener in gateway.spec.listeners:
        for certificate in (listener.tls or {}).get("certificateRefs") or []:
            namespace = certificate.get("namespace") or gateway.metadata.namespace
            yield (gateway.metadata.namespace, namespace, certificate.get("name", "")), listener.name


CERTIFICATES_IN_USE = Index("gateway-certificates", Gateway, _certificates)
"""(namespace of a Gateway, namespace and name of a Secret) -> the listeners there that end TLS with it."""


class Grant(Struct, frozen=True):
    """A grant that is there. `uses` are keys of CERTIFICATES_IN_USE: from which namespace to which Secret."""

    ref: Ref
    uid: str
    uses: tuple[tuple[str, str, str], ...]


def _grants(grant: ReferenceGrant) -> Iterable[tuple[str, Grant]]:
    controller = controller_of(grant)
    if controller is not None and controller.kind == KIngress.KIND.kind and controller.uid:
        uses = tuple(
            (source.get("namespace") or "", grant.metadata.namespace, secret.get("name") or "")
            for source in grant.spec.get("from") or []
            for secret in grant.spec.get("to") or []
        )
        yield controller.uid, Grant(grant.ref, grant.metadata.uid, uses)


GRANTS_BY_OWNER = Index("reference-grants-by-owner", ReferenceGrant, _grants)
"""UID of a KIngress -> its grants, in whatever namespace."""


def identities_in(listener_name: str) -> tuple[str, ...]:
    """The identities that a listener's name can stand for; () if it is none of ours."""
    if not listener_name.startswith(LISTENER_PREFIX):
        return ()
    rest = listener_name.removeprefix(LISTENER_PREFIX)
    return tuple(dict.fromkeys((rest, rest.rpartition("-")[0] or rest)))
