"""Where a name of Knative leads to: the way from its object over the KIngress to addresses outside the cluster."""

from __future__ import annotations

from msgspec import Struct

from gatepost.configmaps.gateway import NAME as CONFIG_GATEWAY
from gatepost.configmaps.reading import config_map_ref
from gatepost.dns.annotations import Wishes
from gatepost.dns.names import hostname, is_address, record_name
from gatepost.dns.records import Record, Records
from gatepost.dns.sources.filters import Filters
from gatepost.dns.sources.knative_gateways import BALANCER_ADDRESSES, KNATIVE_GATEWAYS
from gatepost.dns.sources.parents import Parent
from gatepost.dns.targets import records_for, with_settings
from gatepost.objects.core import Service
from gatepost.objects.meta import KubernetesObject, is_controlled_by
from gatepost.objects.names import child_name
from gatepost.objects.networking import EXTERNAL_IP, KIngress
from gatepost.objects.problems import Problem, Skipped
from gatepost.objects.refs import Ref
from gatepost.objects.settings import Settings
from gatepost.state.rule import Rule
from gatepost.state.view import View

_INGRESS_FIELD = "status.publicLoadBalancer.ingress"


class Aim(Struct, frozen=True):
    """The records that the names of an object answer with; `lacking` says why there are none (yet)."""

    records: Records = ()
    lacking: Skipped | None = None


class KnativeTargets:
    """Finds the dns targets of DomainMappings and Routes. The first place that has any counts.

    | place                                                  | targets                                              |
    | annotation `target` of the object                      | as written                                           |
    | KIngress that it controls, `status.publicLoadBalancer` | `ip`, `domain`, balancer of Service `domainInternal` |
    | external Gateway of config-gateway                     | those of the Gateway, with its TTL and properties    |

    A name inside the cluster is no target: clients outside could not follow it.
    """

    def __init__(self, filters: Filters, parents: Rule[Parent]) -> None:
        self._filters = filters
        self._parents = parents

    def __call__(self, owner: KubernetesObject, wishes: Wishes, settings: Settings, view: View) -> Aim:
        if wishes.dns_targets:
            aim = self._aim(wishes.dns_targets, owner, "metadata.annotations[target]")
        else:
            aim = self._served(owner, settings, view)
        return Aim(with_settings(aim.records, wishes.ttl, wishes.properties), aim.lacking)

    def _served(self, owner: KubernetesObject, settings: Settings, view: View) -> Aim:
        ingress = _kingress_of(owner, view)
        if ingress is not None:
            targets = _balanced(ingress, settings.cluster_domain, view)
            if targets:
                return self._aim(targets, ingress, _INGRESS_FIELD)
        return self._of_gateway(owner, ingress, settings, view)

    def _aim(self, targets: tuple[str, ...], at: KubernetesObject, field: str) -> Aim:
        records = records_for(targets, self._filters.reach)
        if records:
            return Aim(records)
        message = f"has no target that passes {self._filters.of_targets}"
        return Aim(lacking=Skipped("OutOfReach", message, at.ref, field))

    def _of_gateway(self, owner: KubernetesObject, ingress: KIngress | None, settings: Settings, view: View) -> Aim:
        gateways = view.value(KNATIVE_GATEWAYS, config_map_ref(CONFIG_GATEWAY, view))
        if gateways is None:
            return Aim(lacking=_no_target(owner, ingress))
        if isinstance(gateways, Problem):
            return Aim(lacking=Skipped(gateways.reason, gateways.message, gateways.about, gateways.field))
        gateway = gateways.entry_for(EXTERNAL_IP, ingress.metadata.labels if ingress is not None else {}).gateway
        terms = view.value(self._parents, gateway).terms
        lacking = terms.nothing_because or terms.no_targets
        if lacking is not None:
            return Aim(lacking=lacking)
        records = tuple(filter(None, (_outside(record, settings.cluster_domain) for record in terms.records)))
        if records:
            return Aim(records)
        return Aim(lacking=Skipped("NoAddress", "has no address outside the cluster", gateway, "status.addresses"))


def is_cluster_local(name: str, cluster_domain: str) -> bool:
    """Whether only clients in the cluster know a name in canonical form: it ends with `svc` or the cluster domain."""
    return f".{name}".endswith((".svc", f".{cluster_domain.lower()}"))


def _kingress_of(owner: KubernetesObject, view: View) -> KIngress | None:
    ingress = view.named(KIngress, owner.metadata.namespace, child_name(owner.metadata.name))
    return ingress if ingress is not None and is_controlled_by(ingress, owner) else None


def _balanced(ingress: KIngress, cluster_domain: str, view: View) -> tuple[str, ...]:
    """The public addresses in the status of a KIngress."""
    balancer = ingress.status.public_load_balancer
    found: list[str] = []
    for entry in balancer.ingress if balancer is not None else ():
        found += [entry.ip, entry.domain]
        service = _service_named(entry.domain_internal, cluster_domain)
        if service is not None:
            addresses = view.value(BALANCER_ADDRESSES, service)
            found += addresses
    named = (target.removesuffix(".") for target in found)
    return tuple(target for target in named if is_address(target) or _is_outside(target, cluster_domain))


def _service_named(name: str, cluster_domain: str) -> Ref | None:
    """The Service of a name like `proxy.gateways.svc.cluster.local`; None if it is not the name of one."""
    labels = name.removesuffix(".").removesuffix(f".{cluster_domain}").split(".")
    return Service.KIND.ref(labels[1], labels[0]) if len(labels) == 3 and labels[2] == "svc" else None


def _is_outside(target: str, cluster_domain: str) -> bool:
    name = hostname(target)
    return name is not None and not is_cluster_local(name, cluster_domain)


def _outside(record: Record, cluster_domain: str) -> Record | None:
    """The record, unless it leads to a name inside the cluster."""
    is_inside = record.type == "CNAME" and is_cluster_local(record_name(record.targets[0]), cluster_domain)
    return None if is_inside else record


def _no_target(owner: KubernetesObject, ingress: KIngress | None) -> Skipped:
    if ingress is not None:
        return Skipped("NoAddress", "has no address outside the cluster yet", ingress.ref, _INGRESS_FIELD)
    ref = KIngress.KIND.ref(owner.metadata.namespace, child_name(owner.metadata.name))
    return Skipped("NoAddress", f"is not there, or {owner.ref} does not control it", ref, "metadata.ownerReferences")
