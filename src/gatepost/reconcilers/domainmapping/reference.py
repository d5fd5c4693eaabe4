"""From `spec.ref` to the host inside the cluster that answers for it."""

from __future__ import annotations

from typing import Any
from urllib.parse import SplitResult, urlsplit

import msgspec
from msgspec import Struct

from gatepost.objects.core import Service
from gatepost.objects.kinds import type_for
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.problems import Problem
from gatepost.objects.refs import Ref, group_of
from gatepost.objects.serving import Address, DomainMapping, KReference
from gatepost.objects.settings import settings_in
from gatepost.reconcilers.domainmapping.conditions import RESOLVE_FAILED
from gatepost.state.view import View


class Resolved(Struct, frozen=True):
    """What a reference stands for: the object, its host in the cluster, and the Service that the host names."""

    target: KubernetesObject
    host: str
    service_name: str


def resolve(mapping: DomainMapping, view: View) -> Resolved | Problem:
    """The host that `spec.ref` leads to: `<service>.<own namespace>.svc.<cluster domain>`, and nothing else.

    A core Service has that host by its name; everything else must say it in its address.
    Returns: a problem with reason ResolveFailed if any step fails.
    Source: the Addressable contract of Knative; its URI resolver.
    """
    settings = settings_in(view)
    reference = mapping.spec.ref
    incomplete = _incomplete(mapping)
    if incomplete is not None:
        return incomplete
    ref = target_ref(mapping)
    target = view.get(type_for(ref.group_kind), ref)
    if target is None:
        return _failed(
            mapping, "name", f'names {reference.kind} "{reference.name}", which namespace {ref.namespace!r} lacks.',
            "Create it, or let spec.ref name one that exists.",
        )  # fmt: skip
    if isinstance(target, Service):
        name = target.metadata.name
        return Resolved(target, f"{name}.{ref.namespace}.svc.{settings.cluster_domain}", name)
    url = _address_url(target, reference)
    if isinstance(url, str):
        return _host(target, url, mapping, settings.cluster_domain)
    return url


def target_ref(mapping: DomainMapping) -> Ref:
    """The Ref of what `spec.ref` names; it lies in the mapping's own namespace, whatever its version."""
    reference = mapping.spec.ref
    return Ref(group_of(reference.api_version), reference.kind, mapping.metadata.namespace, reference.name)


def _incomplete(mapping: DomainMapping) -> Problem | None:
    reference = mapping.spec.ref
    for field, value in (("apiVersion", reference.api_version), ("kind", reference.kind), ("name", reference.name)):
        if not value:
            return _failed(mapping, field, "is empty, wanted a value.", "Name the object that the domain is for.")
    if reference.namespace and reference.namespace != mapping.metadata.namespace:
        return _failed(
            mapping, "namespace", f"found {reference.namespace!r}, wanted {mapping.metadata.namespace!r}.",
            "A mapping serves only objects of its own namespace.",
        )  # fmt: skip
    return None


def _address_url(target: KubernetesObject, reference: KReference) -> str | Problem:
    """The URL of the address asked for by name, else of the first address."""
    status = getattr(target, "status", None)
    addresses = _as_addresses(getattr(status, "addresses", ()))
    single = next(iter(_as_addresses([getattr(status, "address", None)])), None)
    if reference.address:
        named = [address for address in addresses if address.name == reference.address]
        if not named:
            return _unaddressed(target, "status.addresses", f"has no address named {reference.address!r}.")
        field, address = "status.addresses", named[0]
    elif addresses:
        field, address = "status.addresses", addresses[0]
    elif single is not None:
        field, address = "status.address", single
    else:
        return _unaddressed(target, "status.address", "has no address yet.")
    if not address.url:
        return _unaddressed(target, f"{field}.url", "has an address without URL.")
    return address.url


def _as_addresses(found: Any) -> tuple[Address, ...]:
    """The addresses in a field of a status; what has another form there, as in a Gateway, is none with a URL."""
    try:
        return msgspec.convert(found, tuple[Address, ...], from_attributes=True)
    except msgspec.ValidationError:
        return ()


def _host(target: KubernetesObject, url: str, mapping: DomainMapping, cluster_domain: str) -> Resolved | Problem:
    namespace = mapping.metadata.namespace
    parts = _split(url)
    wanted = f"http://SERVICE.{namespace}.svc.{cluster_domain}"
    if parts is None or not parts.netloc or parts.path.removesuffix("/"):
        return _unaddressed(target, "status.address.url", f"is {url!r}, wanted {wanted} without a path.")
    names = parts.netloc.removesuffix(f".svc.{cluster_domain}").split(".")
    if not parts.netloc.endswith(f".svc.{cluster_domain}") or len(names) != 2 or names[1] != namespace or not names[0]:
        return _unaddressed(target, "status.address.url", f"is {url!r}, wanted {wanted}, a Service of this namespace.")
    return Resolved(target, parts.netloc, names[0])


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:
        return None


def _unaddressed(target: KubernetesObject, field: str, message: str) -> Problem:
    return Problem(RESOLVE_FAILED, message, target.ref, field, "A domain can be served once this names a Service.")


def _failed(mapping: DomainMapping, field: str, message: str, hint: str) -> Problem:
    return Problem(RESOLVE_FAILED, message, mapping.ref, f"spec.ref.{field}", hint)
