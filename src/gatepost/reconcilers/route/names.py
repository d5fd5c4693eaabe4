"""The names that a Route answers to: in public and inside the cluster, its own and those of its tags."""

from __future__ import annotations

from msgspec import Struct

from gatepost.configmaps.domain import current_domain_config
from gatepost.configmaps.features import current_features
from gatepost.configmaps.name_templates import TemplateFault, public_name, tagged_name
from gatepost.configmaps.network import NetworkConfig, current_network_config
from gatepost.objects.core import Service
from gatepost.objects.networking import VISIBILITY_LABEL
from gatepost.objects.problems import Problem
from gatepost.objects.serving import ROUTE_LABEL, Route
from gatepost.objects.settings import settings_in
from gatepost.reconcilers.hosts import cluster_local_hosts, cluster_name, domain_fault
from gatepost.reconcilers.route.conditions import ERROR_CONFIG
from gatepost.reconcilers.route.traffic import MAIN
from gatepost.state.view import View


class RouteSettings(Struct, frozen=True):
    """All settings that decide about one Route. `domain` is the one that its labels choose."""

    network: NetworkConfig
    domain: str
    cluster_domain: str
    tag_header_based_routing: bool


class TargetNames(Struct, frozen=True):
    """The names of one target of a Route.

    Attributes:
        label: the name of its Service, the first label of its names inside the cluster.
        public: its public name, "" if it has none.
    """

    tag: str
    label: str
    cluster: str
    local_hosts: tuple[str, ...]
    public: str

    @property
    def host(self) -> str:
        """The name that the Route tells its users."""
        return self.public or self.cluster

    def url(self, scheme: str) -> str:
        """Its URL. Names inside the cluster are reached by http, whatever the scheme outside is."""
        return f"{scheme}://{self.public}" if self.public else f"http://{self.cluster}"


def settings_for(route: Route, view: View) -> RouteSettings | Problem:
    """The settings for a Route, or the problem of a ConfigMap that cannot be read."""
    network = current_network_config(view)
    if isinstance(network, Problem):
        return network
    domains = current_domain_config(view)
    if isinstance(domains, Problem):
        return domains
    cluster_domain = settings_in(view).cluster_domain
    return RouteSettings(
        network=network,
        domain=domains.domain_for(route.metadata.labels, cluster_domain),
        cluster_domain=cluster_domain,
        tag_header_based_routing=current_features(view).tag_header_based_routing,
    )


def names_of(route: Route, tag: str, settings: RouteSettings, view: View) -> TargetNames | Problem:
    """The names of the target of a tag (MAIN for the Route itself).

    Returns: a problem with reason ErrorConfig if a template makes no domain of them.
    """
    name, namespace = route.metadata.name, route.metadata.namespace
    try:
        label = name if tag == MAIN else tagged_name(settings.network.tag_template, name=name, tag=tag)
        inside = cluster_name(label, namespace, settings.cluster_domain)
        public = _public_name(route, label, settings) if _is_public(route, label, settings, view) else ""
    except TemplateFault as fault:
        return _error_config(route, f"config-network: {fault}.")
    for made in (inside, public):
        fault_of_name = domain_fault(made) if made else ""
        if fault_of_name:
            return _error_config(route, f"found {made!r} as a name of the Route, wanted {fault_of_name}.")
    local_hosts = cluster_local_hosts(label, namespace, settings.cluster_domain)
    return TargetNames(tag, label, inside, local_hosts, public)


def _public_name(route: Route, label: str, settings: RouteSettings) -> str:
    metadata = route.metadata
    return public_name(
        settings.network.domain_template,
        name=label,
        namespace=metadata.namespace,
        domain=settings.domain,
        annotations=metadata.annotations,
        labels=metadata.labels,
    )


def _is_public(route: Route, label: str, settings: RouteSettings, view: View) -> bool:
    """Whether a target has a public name: not if the Route is cluster-local, nor if its Service has been made so."""
    if settings.domain == f"svc.{settings.cluster_domain}":
        return False
    service = view.named(Service, route.metadata.namespace, label)
    is_placeholder = service is not None and service.metadata.labels.get(ROUTE_LABEL) == route.metadata.name
    return not (is_placeholder and service is not None and service.metadata.labels.get(VISIBILITY_LABEL))


def _error_config(route: Route, message: str) -> Problem:
    hint = "Correct domain-template or tag-template in config-network, or rename the Route or its tag."
    return Problem(ERROR_CONFIG, message, route.ref, "metadata.name", hint)
