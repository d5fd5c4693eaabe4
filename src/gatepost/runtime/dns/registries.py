"""Registries by the names that `--registry` takes, each with the struct whose fields are its flags.

The registries txt and noop have no store: ownership is in the zone itself, or nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from gatepost.dns.ownership.stored import Entry
from gatepost.dns.rules import BadSettings
from gatepost.objects.dnsrecord import DNSRecord
from gatepost.objects.meta import KubernetesObject
from gatepost.registries.contract import OwnershipStore
from gatepost.registries.record_objects import entry_of
from gatepost.registries.settings import CrdRegistrySettings, DynamoDbSettings

if TYPE_CHECKING:
    from gatepost.cluster.client import Client


class RegistryNotUsable(BadSettings):
    """The registry lacks a setting, a library or a cluster; the text says what was found and wanted."""


def _dynamodb(settings: DynamoDbSettings, client: Client | None) -> OwnershipStore:
    from gatepost.registries.dynamodb import DynamoDbStore
    from gatepost.registries.dynamodb_calls import TableCalls

    return DynamoDbStore(TableCalls(settings))


def _crd(settings: CrdRegistrySettings, client: Client | None) -> OwnershipStore:
    from gatepost.registries.dnsrecords import DnsRecordStore

    if client is None:
        raise ValueError("--registry: crd keeps ownership in a cluster, and there is none here")
    namespace = settings.crd_registry_namespace or client.connection.namespace  # that of the Pod, or of the context
    return DnsRecordStore(client, namespace, lambda: datetime.now(UTC))


class _Kind(Struct, frozen=True):
    """A kind of registry with a store. `make` raises ValueError for what it cannot be used with."""

    settings: type[Struct]
    make: Callable[..., OwnershipStore]


_KINDS: Mapping[str, _Kind] = {
    "dynamodb": _Kind(DynamoDbSettings, _dynamodb),
    "crd": _Kind(CrdRegistrySettings, _crd),
}

SETTINGS: tuple[type[Struct], ...] = tuple(kind.settings for kind in _KINDS.values())
"""The structs whose fields are the flags of the registries."""

RegistrySettings = Mapping[type[Struct], Struct]
"""The settings of all registries, by their types; those of a type that is missing are its defaults."""


def store_named(name: str, settings: RegistrySettings, client: Client | None = None) -> OwnershipStore | None:
    """The store of a registry, None for one that has none.

    Args: client: the cluster, for a registry that is in it.
    Raises: RegistryNotUsable
    """
    kind = _KINDS.get(name)
    if kind is None:
        return None
    try:
        return kind.make(settings.get(kind.settings) or kind.settings(), client)
    except ValueError as error:
        raise RegistryNotUsable(str(error)) from error


def entries_among(objects: Iterable[KubernetesObject], namespace: str) -> tuple[Entry, ...]:
    """What the DNSRecords among objects say; those of all namespaces for ""."""
    return tuple(
        entry_of(obj) for obj in objects if isinstance(obj, DNSRecord) and namespace in ("", obj.metadata.namespace)
    )
