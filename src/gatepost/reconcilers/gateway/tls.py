"""The TLS that a KIngress wants: a listener for each host, and leave to read each Secret.

The wish of a KIngress is a value of its own, so that the rule of a Gateway can join those of all its KIngresses.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from msgspec import Struct

from gatepost.configmaps.gateway import GatewayConfig, GatewayEntry, current_gateway_config
from gatepost.configmaps.network import NAME as CONFIG_NETWORK
from gatepost.configmaps.network import network_config
from gatepost.configmaps.reading import config_map_ref
from gatepost.objects.gatewayapi import ListenerSet
from gatepost.objects.names import child_name
from gatepost.objects.networking import CLUSTER_LOCAL, EXTERNAL_IP, KIngress, KIngressSpec, KIngressTLS
from gatepost.objects.problems import Problem
from gatepost.objects.refs import Ref
from gatepost.reconcilers.gateway.backends import served_rules
from gatepost.reconcilers.gateway.fronts import FRONT, takes_listener_sets
from gatepost.reconcilers.gateway.grants import GrantWish, foreign_grant
from gatepost.reconcilers.gateway.limits import is_hostname, is_namespace, is_object_name
from gatepost.reconcilers.gateway.ownership import Claim, claim_of, is_ours
from gatepost.reconcilers.gateway.problems import NOT_EXPRESSIBLE, CannotServe
from gatepost.reconcilers.gateway.standing import LISTENER_PREFIX
from gatepost.reconcilers.gateway.version import with_defaults
from gatepost.state.rule import Rule
from gatepost.state.store import Index
from gatepost.state.view import View


class ListenerWish(Struct, frozen=True):
    """One listener: it ends TLS for one host with the certificate in a Secret.

    Attributes:
        gateway: the Gateway that shall have it, itself or in a ListenerSet.
        in_set: it goes into the KIngress's own ListenerSet, though the Gateway may have room.
        may_be_in_set: the Gateway takes ListenerSets of the KIngress's namespace.
    """

    name: str
    hostname: str
    port: int
    secret: Ref
    gateway: Ref
    in_set: bool = False
    may_be_in_set: bool = False


class TLSWish(Struct, frozen=True):
    """What one KIngress wants of the shared Gateways.

    Attributes:
        claim: who wants it.
        identity: the start of the names of its listeners, after the prefix.
        listeners: () takes those away that are there.
        grants: what Gateways must be allowed to read.
        problem: why the wish cannot be fulfilled as it stands; what is on the Gateways then stays.
    """

    claim: Claim
    identity: str
    listeners: tuple[ListenerWish, ...] = ()
    grants: tuple[GrantWish, ...] = ()
    problem: Problem | None = None

    def on(self, gateway: Ref) -> tuple[ListenerWish, ...]:
        """Its listeners for one Gateway that are to stand on the Gateway itself, if there is room."""
        return tuple(one for one in self.listeners if one.gateway == gateway and not one.in_set)


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
    wanted = _entries(kingress, config, view)
    unusable = wanted if isinstance(wanted, Problem) else _why_unusable(kingress, wanted, view)
    if isinstance(wanted, Problem) or unusable is not None:
        return TLSWish(claim, identity, problem=unusable)
    listeners: list[ListenerWish] = []
    grants: dict[GrantWish, None] = {}
    for entry, tls in wanted:
        listeners += _listeners(kingress, tls, entry, view)
        grants.update((GrantWish(_secret_of(one), entry.gateway), None) for one in tls)
    problem = next(filter(None, (foreign_grant(kingress, grant, view) for grant in grants)), None)
    return TLSWish(claim, identity, tuple(listeners), tuple(grants), problem)


def _entries(
    kingress: KIngress, config: GatewayConfig, view: View
) -> list[tuple[GatewayEntry, tuple[KIngressTLS, ...]]] | Problem:
    """Which certificates are for which Gateway. Cluster-local names get TLS only where config-network asks for it."""
    spec, labels = with_defaults(kingress.spec), kingress.metadata.labels
    wanted = [(config.entry_for(EXTERNAL_IP, labels), tls_for(spec, EXTERNAL_IP))]
    local = tls_for(spec, CLUSTER_LOCAL)
    if local:
        # Straight from the ConfigMap: most KIngresses have no use for it, and then its faults are none of ours.
        network = network_config(config_map_ref(CONFIG_NETWORK, view), view)
        if isinstance(network, Problem):
            return network
        if network.cluster_local_domain_tls:
            wanted.append((config.entry_for(CLUSTER_LOCAL, labels), local))
    return wanted


def _why_unusable(
    kingress: KIngress, wanted: Iterable[tuple[GatewayEntry, tuple[KIngressTLS, ...]]], view: View
) -> Problem | None:
    """What keeps the spec from being served, so that the listeners stay as long as the routes do.

    A listener that the API refuses would take those of all other KIngresses on the Gateway with it.
    """
    try:
        served_rules(kingress, view)
    except CannotServe as stop:
        return stop.problem
    for _, entries in wanted:
        for tls in entries:
            if not is_object_name(tls.secret_name):
                return _not_a_name(kingress, "secretName", tls.secret_name, "Secret")
            if not is_namespace(tls.secret_namespace):
                return _not_a_name(kingress, "secretNamespace", tls.secret_namespace, "Namespace")
    return None


def _not_a_name(kingress: KIngress, field: str, found: str, kind: str) -> Problem:
    message = f"found {found!r}; wanted the name of a {kind}."
    return Problem(NOT_EXPRESSIBLE, message, kingress.ref, f"spec.tls[].{field}")


def tls_for(spec: KIngressSpec, visibility: str) -> tuple[KIngressTLS, ...]:
    """The entries of spec.tls that cover all hosts of some rule of that visibility, each once.

    Source: knative.dev/networking, GetIngressTLSForVisibility: such a rule without hosts ends the search.
    """
    found: dict[KIngressTLS, None] = {}
    for rule in spec.rules:
        if rule.visibility != visibility:
            continue
        if not rule.hosts:
            break
        found.update((tls, None) for tls in spec.tls if set(rule.hosts) <= set(tls.hosts))
    return tuple(found)


def identity_of(kingress: KIngress) -> str:
    """The UID; in manifests that never saw a cluster, where it can be none or odd, a hash of the names stands in.

    All UIDs are of one length, so none is the start of another's listener name.
    """
    metadata = kingress.metadata
    if metadata.uid and is_object_name(f"{LISTENER_PREFIX}{metadata.uid}-{'0' * 8}"):
        return metadata.uid
    return hashlib.sha256(f"{metadata.namespace}/{metadata.name}".encode()).hexdigest()[:32]


def listener_set_ref(kingress: KIngress, gateway: Ref) -> Ref:
    """The ListenerSet of a KIngress for one Gateway."""
    name = child_name(kingress.metadata.name, f"-{gateway.namespace}-{gateway.name}")
    return ListenerSet.KIND.ref(kingress.metadata.namespace, name)


def set_grant(kingress: KIngress, listener: ListenerWish) -> GrantWish | None:
    """Leave for the ListenerSet of a KIngress to read a certificate; None is needed in its own namespace."""
    if listener.secret.namespace == kingress.metadata.namespace:
        return None
    return GrantWish(listener.secret, listener_set_ref(kingress, listener.gateway))


def _secret_of(tls: KIngressTLS) -> Ref:
    return Ref("", "Secret", tls.secret_namespace, tls.secret_name)


def _listeners(
    kingress: KIngress, tls: Iterable[KIngressTLS], entry: GatewayEntry, view: View
) -> Iterable[ListenerWish]:
    """One for each host. The first has the name that net-gateway-api gives it, so that taking over changes nothing."""
    secrets: dict[str, Ref] = {}
    for one in tls:
        for host in filter(is_hostname, one.hosts):  # one that is none would have the whole Gateway refused
            secrets.setdefault(host, _secret_of(one))
    if not secrets:
        return ()
    identity, front = identity_of(kingress), view.value(FRONT, entry)
    may_be_in_set = takes_listener_sets(front, entry.gateway, kingress.metadata.namespace, view)
    names = {host: "" if index == 0 else f"-{_short_hash(host)}" for index, host in enumerate(secrets)}
    return tuple(
        ListenerWish(
            f"{LISTENER_PREFIX}{identity}{names[host]}",
            host,
            entry.https_port,
            secret,
            entry.gateway,
            in_set=may_be_in_set and front.prefers_listener_sets,
            may_be_in_set=may_be_in_set,
        )
        for host, secret in secrets.items()
    )


def _short_hash(host: str) -> str:
    return hashlib.sha256(host.encode()).hexdigest()[:8]


TLS: Rule[TLSWish | None] = Rule("kingress-tls", tls_wish, rank=5, over=KIngress)

TLS_BY_GATEWAY = Index(
    "kingress-tls-by-gateway",
    TLS.name,
    lambda wish: (
        [(gateway, wish) for gateway in dict.fromkeys(one.gateway for one in wish.listeners)]
        if wish.problem is None
        else []
    ),
)
"""Gateway -> the wishes for listeners on it that can be fulfilled."""

TLS_BY_IDENTITY = Index("kingress-tls-by-identity", TLS.name, lambda wish: [(wish.identity, wish)])
"""Identity -> the wish of the KIngress that has it; empty for listeners of KIngresses that we do not know."""

TLS_CLAIMS = Index(
    "kingress-tls-claims",
    TLS.name,
    lambda wish: [
        ((listener.gateway, listener.port, listener.hostname), wish.claim)
        for listener in wish.listeners
        if wish.problem is None
    ],
)
"""(Gateway, port, hostname) -> who claims that listener: a Gateway can have only one."""
