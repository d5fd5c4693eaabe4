"""The registry dynamodb, by boto3 against moto: items as external-dns writes them, and nobody else's touched."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from dynamodb_table import HASH_K, Table, dynamodb, item

from gatepost.dns.endpoint import Endpoint, EndpointKey
from gatepost.dns.ownership.stored import Entry
from gatepost.registries.contract import RegistryError
from gatepost.registries.dynamodb import DynamoDbStore
from gatepost.registries.dynamodb_calls import TableCalls
from gatepost.registries.settings import DynamoDbSettings

CART = "httproute/shop/cart"


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    with dynamodb(monkeypatch) as made:
        yield made


@pytest.fixture
def store(table: Table) -> DynamoDbStore:
    return DynamoDbStore(TableCalls(DynamoDbSettings()))


def entry(name: str, owner: str = "me", id_: str = "", resource: str = CART, set_identifier: str = "") -> Entry:
    labels = {"owner": owner, "resource": resource}
    return Entry(Endpoint(name, "A", ("192.0.2.1",), 60, set_identifier, labels), id_)


async def claimed(store: DynamoDbStore, *entries: Entry) -> list[tuple[str, bool]]:
    return [(result.error, result.is_new) for result in await store.claim(entries)]


# Reading


async def test_items_of_all_owners_are_read(table: Table, store: DynamoDbStore) -> None:
    table.put(
        item("app.example.com#A#", "me", resource=CART),
        item("b.example.com#CNAME#blue#1", "them"),
    )
    found = sorted(await store.read(), key=lambda one: one.key)
    assert [(one.key, one.owner, one.id) for one in found] == [
        (EndpointKey("app.example.com", "A"), "me", "app.example.com#A#"),
        (EndpointKey("b.example.com", "CNAME", "blue#1"), "them", "b.example.com#CNAME#blue#1"),
    ]
    assert found[0].record.labels == {"owner": "me", "resource": CART}


async def test_a_table_of_several_pages_is_read_whole(table: Table, store: DynamoDbStore) -> None:
    long = "x" * 90_000  # a page holds a megabyte
    table.put(*(item(f"n{number}.example.com#A#", "me", note=long) for number in range(25)))
    assert len(await store.read()) == 25


async def test_an_item_that_speaks_of_no_record_is_passed_over(
    table: Table, store: DynamoDbStore, caplog: pytest.LogCaptureFixture
) -> None:
    table.put({"k": {"S": "a note"}, "o": {"S": "me"}}, item("app.example.com#A#", "me"))
    assert [one.id for one in await store.read()] == ["app.example.com#A#"]
    assert "an item of the table speaks of no record" in caplog.messages


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        (
            (
                [{"AttributeName": "k", "KeyType": "HASH"}, {"AttributeName": "o", "KeyType": "RANGE"}],
                [{"AttributeName": "k", "AttributeType": "S"}, {"AttributeName": "o", "AttributeType": "S"}],
            ),
            r"k \(S, HASH\), o \(S, RANGE\)",
        ),
        (
            ([{"AttributeName": "id", "KeyType": "HASH"}], [{"AttributeName": "id", "AttributeType": "S"}]),
            r"id \(S, HASH\)",
        ),
        ((HASH_K[0], [{"AttributeName": "k", "AttributeType": "N"}]), r"k \(N, HASH\)"),
    ],
    ids=["range key", "another hash key", "another type"],
)
async def test_a_table_with_another_key_is_refused(monkeypatch: pytest.MonkeyPatch, schema: Any, found: str) -> None:
    with (
        dynamodb(monkeypatch, schema),
        pytest.raises(RegistryError, match=f"table external-dns has the key {found}, wanted the hash key k of type S"),
    ):
        await DynamoDbStore(TableCalls(DynamoDbSettings())).read()


async def test_a_table_that_is_not_there_is_told(table: Table) -> None:
    other = DynamoDbStore(TableCalls(DynamoDbSettings(dynamodb_table="nowhere")))
    with pytest.raises(RegistryError, match=r"table nowhere: ResourceNotFoundException.*--dynamodb-table"):
        await other.read()


async def test_an_unknown_region_is_told(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    with pytest.raises(RegistryError, match="give --dynamodb-region"):
        await DynamoDbStore(TableCalls(DynamoDbSettings())).read()


async def test_a_refusal_is_told_to_its_end() -> None:
    why = f"User: arn:aws:sts::1:assumed-role/{'r' * 200} may not perform dynamodb:Scan because no policy allows it"
    error_of_aws: Any = importlib.import_module("botocore.exceptions").ClientError
    denied = error_of_aws({"Error": {"Code": "AccessDeniedException", "Message": why}}, "Scan")
    client = SimpleNamespace(scan=Mock(side_effect=denied))
    with pytest.raises(RegistryError, match="because no policy allows it"):
        await TableCalls(DynamoDbSettings(), client).items()


async def test_the_region_is_that_of_the_flag(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    table.put(item("app.example.com#A#", "me"))
    there = DynamoDbStore(TableCalls(DynamoDbSettings(dynamodb_region="eu-central-1")))
    assert len(await there.read()) == 1


# Claiming


async def test_a_claim_is_an_item_as_external_dns_writes_it(table: Table, store: DynamoDbStore) -> None:
    assert await claimed(store, entry("app.example.com"), entry("app.example.com", set_identifier="blue")) == [
        ("", True),
        ("", True),
    ]
    labels = {"M": {"resource": {"S": "httproute/shop/cart"}}}
    assert table.items() == [
        {"k": {"S": "app.example.com#A#"}, "o": {"S": "me"}, "l": labels},
        {"k": {"S": "app.example.com#A#blue"}, "o": {"S": "me"}, "l": labels},
    ]


async def test_a_claim_on_what_another_owner_has_fails_alone(table: Table, store: DynamoDbStore) -> None:
    theirs = item("b.example.com#A#", "them", resource="httproute/their/own")
    table.put(theirs)
    results = await claimed(store, entry("a.example.com"), entry("b.example.com"), entry("c.example.com"))
    assert results == [("", True), ("its item b.example.com#A# in the table belongs to them", False), ("", True)]
    assert table.get("b.example.com#A#") == theirs


async def test_an_item_that_changed_hands_since_it_was_read_stays_as_it_is(table: Table, store: DynamoDbStore) -> None:
    theirs = item("a.example.com#A#", "them")
    table.put(theirs, item("b.example.com#A#", "me", resource="httproute/shop/old"))
    results = await claimed(
        store, entry("a.example.com", id_="a.example.com#A#"), entry("b.example.com", id_="b.example.com#A#")
    )
    assert results == [("its item a.example.com#A# in the table belongs to them", False), ("", False)]
    assert table.items() == [theirs, item("b.example.com#A#", "me", resource=CART)]


async def test_an_item_that_is_gone_since_it_was_read_is_made_anew(table: Table, store: DynamoDbStore) -> None:
    assert await claimed(store, entry("a.example.com", id_="a.example.com#A#")) == [("", True)]
    assert table.items() == [item("a.example.com#A#", "me", resource=CART)]


async def test_an_item_in_another_spelling_is_changed_under_its_own_key(table: Table, store: DynamoDbStore) -> None:
    table.put(item("App.example.com#A#", "me", resource="httproute/shop/old"))
    (read,) = await store.read()
    assert read.key == EndpointKey("app.example.com", "A")
    assert await claimed(store, entry("app.example.com", id_=read.id)) == [("", False)]
    assert table.items() == [item("App.example.com#A#", "me", resource=CART)]


async def test_an_unknown_attribute_of_an_item_is_kept(table: Table, store: DynamoDbStore) -> None:
    table.put({**item("a.example.com#A#", "me"), "note": {"S": "by hand"}})
    await claimed(store, entry("a.example.com", id_="a.example.com#A#"))
    assert table.items() == [{**item("a.example.com#A#", "me", resource=CART), "note": {"S": "by hand"}}]


async def test_claims_go_out_in_batches_of_25(table: Table, store: DynamoDbStore) -> None:
    results = await claimed(store, *(entry(f"n{number}.example.com") for number in range(60)))
    assert results == [("", True)] * 60
    assert table.batches == [25, 25, 10]
    assert len(table.items()) == 60


async def test_what_was_throttled_in_a_batch_fails_alone(table: Table, store: DynamoDbStore) -> None:
    table.fault = lambda number: "ThrottlingError" if number == 1 else None
    errors = [error for error, _ in await claimed(store, *(entry(f"{letter}.example.com") for letter in "abc"))]
    assert errors == [
        "",
        "its item b.example.com#A#: DynamoDB: ThrottlingError: as the test wants it",
        "",
    ]
    assert [one["k"]["S"] for one in table.items()] == ["a.example.com#A#", "c.example.com#A#"]


@pytest.mark.parametrize("made", range(4))
async def test_after_an_answer_was_lost_halfway_claiming_goes_on_where_it_stopped(
    table: Table, store: DynamoDbStore, made: int
) -> None:
    claims = [entry(f"{letter}.example.com") for letter in "abc"]
    table.lose_answer = made
    assert await claimed(store, *claims) == [("", number >= made) for number in range(3)]  # botocore asks again
    assert [one["k"]["S"] for one in table.items()] == ["a.example.com#A#", "b.example.com#A#", "c.example.com#A#"]


async def test_a_table_that_does_not_answer_raises(store: DynamoDbStore, table: Table) -> None:
    def broken(number: int) -> str | None:
        raise ConnectionResetError

    table.fault = broken
    with pytest.raises(RegistryError, match="DynamoDB gave no usable answer"):
        await store.claim([entry("a.example.com")])


async def test_of_two_owners_who_claim_at_once_one_gets_it(table: Table, store: DynamoDbStore) -> None:
    east = await claimed(store, entry("app.example.com", "east"))
    west = await claimed(DynamoDbStore(TableCalls(DynamoDbSettings())), entry("app.example.com", "west"))
    assert (east, west) == ([("", True)], [("its item app.example.com#A# in the table belongs to east", False)])
    assert table.items() == [item("app.example.com#A#", "east", resource=CART)]


# Releasing


async def test_a_release_deletes_our_items_alone(table: Table, store: DynamoDbStore) -> None:
    theirs = item("b.example.com#A#", "them")
    table.put(item("a.example.com#A#", "me"), theirs)
    gone = [entry(f"{letter}.example.com", id_=f"{letter}.example.com#A#") for letter in "abc"]
    assert [result.error for result in await store.release(gone)] == [
        "",
        "its item b.example.com#A# in the table belongs to them",
        "",
    ]
    assert table.items() == [theirs]
