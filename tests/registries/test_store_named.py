"""Which registries have a store, and what is said of one that cannot be used."""

from __future__ import annotations

import importlib.util

import pytest

from gatepost.dns.settings import DnsSettings
from gatepost.registries.settings import DynamoDbSettings
from gatepost.runtime.dns.registries import RegistryNotUsable, store_named


@pytest.mark.parametrize("name", ["txt", "noop"])
def test_a_registry_in_the_zone_or_nowhere_has_no_store(name: str) -> None:
    assert store_named(name, {}) is None


@pytest.mark.parametrize("name", ["txt", "noop", "dynamodb", "crd"])
def test_the_settings_take_every_registry(name: str) -> None:
    assert DnsSettings(sources=("crd",), registry=name, txt_owner_id="me").check() == ()


def test_the_table_needs_the_library_of_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RegistryNotUsable, match=r"pip install 'gatepost\[aws\]'"):
        store_named("dynamodb", {})


def test_the_table_needs_a_name() -> None:
    with pytest.raises(RegistryNotUsable, match="--dynamodb-table: found nothing, wanted the name of a table"):
        store_named("dynamodb", {DynamoDbSettings: DynamoDbSettings(dynamodb_table="")})


def test_objects_need_a_cluster() -> None:
    with pytest.raises(RegistryNotUsable, match="--registry: crd keeps ownership in a cluster"):
        store_named("crd", {})
