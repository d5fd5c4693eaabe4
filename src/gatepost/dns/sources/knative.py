"""The source knative: the names of DomainMappings and of Knative's Routes, without a look at what serves them.

| object        | names                                                     |
| DomainMapping | `metadata.name`                                           |
| Route         | the hosts of `status.url` and of `status.traffic[].url`   |

A name inside the cluster is never claimed. While an object is not Ready, or its status is of an older generation, its
names are held and not published: that is a no from status, which may pass.
Source: Knative Serving, API specification (status of Routes; Ready speaks of `observedGeneration`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from gatepost.dns.names import hostname
from gatepost.dns.records import Claim, Claimant, Claims
from gatepost.dns.sources.filters import Filters, against_controller
from gatepost.dns.sources.knative_targets import Aim, KnativeTargets, is_cluster_local
from gatepost.objects.core import Service
from gatepost.objects.meta import condition_of
from gatepost.objects.networking import CLUSTER_LOCAL_VISIBILITY, VISIBILITY_LABEL
from gatepost.objects.problems import Skipped
from gatepost.objects.refs import Ref
from gatepost.objects.serving import ROUTE_LABEL, DomainMapping, Route
from gatepost.objects.settings import settings_in
from gatepost.state.view import View

_VISIBILITY_FIELD = f"metadata.labels[{VISIBILITY_LABEL}]"
_WITHOUT_EFFECT = ("hostname", "gateway-hostname-source")


class KnativeRule:
    """Claims of the objects of one of the two kinds."""

    def __init__(self, type_: type[DomainMapping] | type[Route], filters: Filters, dns_targets: KnativeTargets) -> None:
        self._type = type_
        self._filters = filters
        self._dns_targets = dns_targets

    def __call__(self, ref: Ref, view: View) -> Claims:
        obj: DomainMapping | Route | None = view.get(self._type, ref)
        if obj is None:
            return Claims()
        wishes = self._filters.reader.read(obj.metadata.annotations)
        refused = (
            self._filters.against_object(ref, obj.metadata)
            or against_controller(ref, wishes)
            or (_is_made_local(obj) if isinstance(obj, Route) else None)
        )
        if refused is not None:
            return Claims(skipped=(refused,))
        settings = settings_in(view)
        skipped = list(wishes.remarks(ref, _WITHOUT_EFFECT))
        written = _written_in_route(obj, view, skipped) if isinstance(obj, Route) else [(ref.name, "metadata.name")]
        names = _public(written, ref, settings.cluster_domain, skipped)
        doubt = _doubt(obj)
        aim = Aim(lacking=doubt) if doubt is not None or not names else self._dns_targets(obj, wishes, settings, view)
        if aim.lacking is not None:
            skipped.append(aim.lacking)
        claimant = Claimant(obj.metadata.creation_timestamp or "", ref)
        claims = tuple(Claim(name, wishes.set_identifier, aim.records, claimant, aim.lacking) for name in names)
        return Claims(claims, tuple(skipped), doubt)


def _is_made_local(route: Route) -> Skipped | None:
    """Why a Route has no name outside: a fact of its labels, whatever its status still says."""
    if route.metadata.labels.get(VISIBILITY_LABEL) != CLUSTER_LOCAL_VISIBILITY:
        return None
    return Skipped("ClusterLocal", "is visible in the cluster only", route.ref, _VISIBILITY_FIELD)


def _written_in_route(route: Route, view: View, skipped: list[Skipped]) -> Iterator[tuple[str, str]]:
    """The names that the status of a Route tells, each with its field; not those whose Service is made private."""
    written = [("", route.status.url, "status.url")]
    written += [
        (target.tag, target.url, f"status.traffic[{index}].url") for index, target in enumerate(route.status.traffic)
    ]
    for tag, url, field in written:
        if not url:
            continue
        # The Service of a tag as the default tag-template names it. With another template the URL alone tells.
        service = view.named(Service, route.metadata.namespace, "-".join(filter(None, (tag, route.metadata.name))))
        if service is not None and _is_private(service, route):
            skipped.append(Skipped("ClusterLocal", "is visible in the cluster only", service.ref, _VISIBILITY_FIELD))
        else:
            yield _host(url), field


def _is_private(service: Service, route: Route) -> bool:
    labels = service.metadata.labels
    return labels.get(ROUTE_LABEL) == route.metadata.name and labels.get(VISIBILITY_LABEL) == CLUSTER_LOCAL_VISIBILITY


def _host(url: str) -> str:
    """The host of a URL, or what stands there instead of one."""
    try:
        return urlsplit(url).hostname or url
    except ValueError:
        return url


def _public(written: Iterable[tuple[str, str]], ref: Ref, cluster_domain: str, skipped: list[Skipped]) -> list[str]:
    """The names that DNS outside the cluster may hold, in canonical form, each once."""
    names: list[str] = []
    for text, field in written:
        name = hostname(text)
        if name is None:
            skipped.append(Skipped("InvalidHostname", f"found {text!r}, wanted a DNS name", ref, field))
        elif is_cluster_local(name, cluster_domain):
            skipped.append(Skipped("ClusterLocal", f"{name} is a name inside the cluster", ref, field))
        elif name not in names:
            names.append(name)
    return names


def _doubt(obj: DomainMapping | Route) -> Skipped | None:
    """What the status lacks for the names to be published."""
    status = obj.status
    if status.observed_generation != obj.metadata.generation:
        message = "its controller has not answered to the newest generation yet"
        return Skipped("StatusLags", message, obj.ref, "status.observedGeneration")
    ready = condition_of(status.conditions, "Ready")
    if ready is not None and ready.status == "True":
        return None
    found = "is missing" if ready is None else f"is {ready.status} ({ready.reason})"
    return Skipped("NotReady", f"condition Ready {found}, wanted True", obj.ref, "status.conditions")
