"""The paths of a rule as the data plane shall serve them: ports as numbers, placeholder Services replaced."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct, structs

from gatepost.objects.core import Service
from gatepost.objects.meta import controller_of
from gatepost.objects.networking import CLUSTER_LOCAL, KIngress, KIngressPath, KIngressRule, KIngressSplit
from gatepost.objects.problems import Problem, Skipped
from gatepost.objects.refs import Ref, group_of
from gatepost.objects.serving import GROUP as SERVING
from gatepost.objects.settings import settings_in
from gatepost.reconcilers.gateway.limits import check_rule
from gatepost.reconcilers.gateway.problems import (
    EXTERNAL_NAME_BACKEND,
    UNKNOWN_PORT,
    CannotServe,
    incomplete_rule,
    no_rules,
)
from gatepost.reconcilers.gateway.version import with_defaults
from gatepost.state.store import Index
from gatepost.state.view import View


class LocalPaths(Struct, frozen=True):
    """The paths of a cluster-local rule, and the KIngress that has it."""

    source: Ref
    paths: tuple[KIngressPath, ...]


def _local_paths(kingress: KIngress) -> Iterable[tuple[Any, LocalPaths]]:
    if kingress.metadata.deletion_timestamp is not None:
        return
    for rule in with_defaults(kingress.spec).rules:
        if rule.visibility == CLUSTER_LOCAL and rule.http is not None:
            for host in rule.hosts:
                yield (kingress.metadata.namespace, host), LocalPaths(kingress.ref, rule.http.paths)


LOCAL_PATHS = Index("cluster-local-paths", KIngress, _local_paths)
"""(namespace, host) -> the paths that serve this host inside the cluster."""


EXTERNAL_NAMES = Index(
    "external-name-services",
    Service,
    lambda service: [(service.ref, None)] if service.spec.type == "ExternalName" else [],
)


def external_names(kingress: KIngress, paths: Iterable[KIngressPath], view: View) -> list[Skipped]:
    """A warning for each backend that is an ExternalName Service: many data planes refuse those, in silence.

    Source: CVE-2021-25740; Envoy Gateway answers 503 while all its conditions are True.
    """
    names = sorted({split.service_name for path in paths for split in path.splits})
    refs = [Service.KIND.ref(kingress.metadata.namespace, name) for name in names]
    why = "is of type ExternalName, which Gateway API implementations need not serve; requests to it may fail."
    return [
        Skipped(EXTERNAL_NAME_BACKEND, f"{ref} {why}", ref, "spec.type")
        for ref in refs
        if view.select(EXTERNAL_NAMES, ref)
    ]


def served_rules(kingress: KIngress, view: View) -> list[tuple[KIngressRule, tuple[KIngressPath, ...]]]:
    """All rules with their paths, ready for HTTPRoutes: no placeholder in front, ports as numbers, nothing unsayable.

    Raises: CannotServe if there is none, or if one is incomplete (which admission normally prevents), names a port
        that is not there, or asks for what no HTTPRoute can say. Half of a spec is never served.
    """
    rules = with_defaults(kingress.spec).rules
    if not rules:
        raise CannotServe(no_rules(kingress))
    served = []
    for index, rule in enumerate(rules):
        paths = _served_paths(kingress, index, rule, view)
        check_rule(kingress, index, rule.hosts, paths)
        served.append((rule, paths))
    return served


def _served_paths(kingress: KIngress, index: int, rule: KIngressRule, view: View) -> tuple[KIngressPath, ...]:
    if not rule.hosts:
        raise CannotServe(incomplete_rule(kingress, index, "hosts"))
    if rule.http is None:
        raise CannotServe(incomplete_rule(kingress, index, "http"))
    if not rule.http.paths or any(not path.splits for path in rule.http.paths):
        raise CannotServe(
            incomplete_rule(kingress, index, "http.paths" if not rule.http.paths else "http.paths[].splits")
        )
    paths = tuple(served for path in rule.http.paths for served in _spliced(kingress, path, view))
    return tuple(_with_port_numbers(kingress, path, view) for path in paths)


def _spliced(kingress: KIngress, path: KIngressPath, view: View) -> tuple[KIngressPath, ...]:
    """The path itself, or in its place the paths of the Route whose placeholder Service is its backend.

    A placeholder leads back to a Gateway, by an ExternalName that many data planes refuse (CVE-2021-25740). The paths
    behind it are those of the Route's own KIngress, so they are taken as Knative's DomainMapping would after its
    change: without rewrite, and with the headers of the domain on each of them.
    Source: knative/serving pull request 16685.
    """
    if not path.rewrite_host or len(path.splits) != 1:
        return (path,)
    split = path.splits[0]
    namespace = kingress.metadata.namespace
    settings = settings_in(view)
    short = f"{split.service_name}.{namespace}"
    if path.rewrite_host not in (short, f"{short}.svc", f"{short}.svc.{settings.cluster_domain}"):
        return (path,)
    sources = view.select(LOCAL_PATHS, (namespace, path.rewrite_host))
    behind = next((source for source in sources if source.source != kingress.ref), None)
    if behind is None or not _may_be_placeholder(view.named(Service, namespace, split.service_name)):
        return (path,)
    joined = ((source, _common_prefix(source, path)) for source in behind.paths if source.splits)
    found = tuple(_behind_placeholder(source, path, split, prefix) for source, prefix in joined if prefix is not None)
    return found or (path,)


def _may_be_placeholder(service: Service | None) -> bool:
    """Whether a Route made the Service. An ordinary Service of that name is a backend like any other."""
    if service is None or service.spec.type == "ExternalName":
        return True
    controller = controller_of(service)
    return controller is not None and controller.kind == "Route" and group_of(controller.api_version) == SERVING


def _common_prefix(source: KIngressPath, path: KIngressPath) -> str | None:
    """The prefix of what both take, None if no request is taken by both."""
    if any(path.headers.get(name, match) != match for name, match in source.headers.items()):
        return None
    longer, shorter = sorted((source.path, path.path.rstrip("/") and path.path), key=len, reverse=True)
    return longer if longer.startswith(shorter) else None


def _behind_placeholder(source: KIngressPath, path: KIngressPath, split: KIngressSplit, prefix: str) -> KIngressPath:
    return structs.replace(
        source,
        path=prefix,
        headers={**source.headers, **path.headers},
        rewrite_host="",
        append_headers={**source.append_headers, **path.append_headers},
        splits=tuple(
            structs.replace(behind, append_headers={**behind.append_headers, **split.append_headers})
            for behind in source.splits
        ),
    )


def _with_port_numbers(kingress: KIngress, path: KIngressPath, view: View) -> KIngressPath:
    if all(isinstance(split.service_port, int) for split in path.splits):
        return path
    splits = (structs.replace(split, service_port=_port_number(kingress, split, view)) for split in path.splits)
    return structs.replace(path, splits=tuple(splits))


def _port_number(kingress: KIngress, split: KIngressSplit, view: View) -> int:
    """Gateway API knows ports by number only, so a name is looked up in the Service."""
    wanted = split.service_port
    if isinstance(wanted, int):
        return wanted
    if wanted.isdecimal():
        return int(wanted)
    service = view.named(Service, kingress.metadata.namespace, split.service_name)
    for port in service.spec.ports if service is not None else ():
        if port.name == wanted:
            return port.port
    about = Service.KIND.ref(kingress.metadata.namespace, split.service_name)
    found = "no such Service exists" if service is None else "the Service has no port of that name"
    raise CannotServe(
        Problem(
            UNKNOWN_PORT,
            f'{kingress.ref} wants port "{wanted}" of {about}, but {found}.',
            about,
            "spec.ports" if service is not None else "",
            "Name a port that exists, or give its number.",
        )
    )
