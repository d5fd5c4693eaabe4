"""A table of DynamoDB in moto whose statements do what DynamoDB's do.

moto's own PartiQL takes no parameters in INSERT, inserts what is there already, and never fails a condition. So
statements are executed here, on moto's table, after the reference of PartiQL for DynamoDB: an INSERT of a key that is
there is a DuplicateItem; an UPDATE whose WHERE fits no item is a ConditionalCheckFailed; so is a DELETE where an item
of that key is there and the rest does not fit, while one without any item succeeds.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

boto3: Any = pytest.importorskip("boto3", reason="boto3 is not installed: pip install 'gatepost[aws]'")
moto: Any = pytest.importorskip("moto", reason="moto is not installed: pip install 'moto[dynamodb]'")

REGION = "eu-central-1"
HASH_K = ([{"AttributeName": "k", "KeyType": "HASH"}], [{"AttributeName": "k", "AttributeType": "S"}])

_INSERT = re.compile(r"""INSERT INTO "(?P<table>[^"]+)" VALUE \{'k':\?, 'o':\?, 'l':\?\}""")
_UPDATE = re.compile(r"""UPDATE "(?P<table>[^"]+)" SET "l"=\? WHERE "k"=\? AND "o"=\?""")
_DELETE = re.compile(r"""DELETE FROM "(?P<table>[^"]+)" WHERE "k"=\? AND "o"=\?""")

Item = dict[str, Any]
Error = dict[str, Any]


def item(key: str, owner: str, **labels: str) -> Item:
    """An item as external-dns writes it."""
    return {"k": {"S": key}, "o": {"S": owner}, "l": {"M": {name: {"S": text} for name, text in labels.items()}}}


class Table:
    """The table, and what goes wrong with the next batches of statements.

    Attributes:
        batches: how many statements came in each call.
        fault: called for each statement with its number in the batch; what it returns is its error, and it is not
            executed then.
        lose_answer: after how many statements the connection breaks, once; None for never.
    """

    def __init__(self, name: str = "external-dns", schema: Any = HASH_K) -> None:
        self.name = name
        self.batches: list[int] = []
        self.fault: Callable[[int], str | None] = lambda number: None
        self.lose_answer: int | None = None
        self.client = boto3.client("dynamodb", region_name=REGION)
        keys, attributes = schema
        self.client.create_table(
            TableName=name, KeySchema=keys, AttributeDefinitions=attributes, BillingMode="PAY_PER_REQUEST"
        )

    def put(self, *items: Item) -> None:
        for one in items:
            self.client.put_item(TableName=self.name, Item=one)

    def get(self, key: str) -> Item | None:
        found: Item | None = self.client.get_item(TableName=self.name, Key={"k": {"S": key}}).get("Item")
        return found

    def items(self) -> list[Item]:
        """All items, sorted by key."""
        return sorted(self.client.scan(TableName=self.name)["Items"], key=lambda one: str(one["k"]["S"]))

    def execute(self, statements: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """What DynamoDB does with a batch of statements."""
        if len(statements) > 25:
            raise AssertionError(f"{len(statements)} statements in one call, DynamoDB takes 25")
        self.batches.append(len(statements))
        answers: list[dict[str, Any]] = []
        for number, statement in enumerate(statements):
            if self.lose_answer == number:
                break
            code = self.fault(number)
            error = {"Code": code, "Message": "as the test wants it"} if code else self._execute_one(statement)
            answers.append({"TableName": self.name, **({"Error": error} if error else {})})
        if self.lose_answer is not None:
            self.lose_answer = None
            raise ConnectionResetError("the connection broke")
        return answers

    def _execute_one(self, statement: dict[str, Any]) -> Error | None:
        text, values = statement["Statement"], statement["Parameters"]
        if _INSERT.fullmatch(text):
            there = self.get(values[0]["S"])
            if there is None:
                self.put(dict(zip("kol", values, strict=True)))
            return None if there is None else {"Code": "DuplicateItem", "Message": "Duplicate primary key exists"}
        labels, key, owner = values if _UPDATE.fullmatch(text) else (None, *values)
        there = self.get(key["S"])
        if there is None and labels is None and _DELETE.fullmatch(text):
            return None
        if there is None or there["o"] != owner:
            failed: Error = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}
            if there is not None and statement.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD":
                failed["Item"] = there
            return failed
        if labels is not None:
            self.put({**there, "l": labels})
        else:
            assert _DELETE.fullmatch(text), text
            self.client.delete_item(TableName=self.name, Key={"k": key})
        return None


@contextmanager
def dynamodb(monkeypatch: pytest.MonkeyPatch, schema: Any = HASH_K) -> Iterator[Table]:
    """The table `external-dns` in a region of its own, reached by every client of boto3 in the block."""
    backend = importlib.import_module("moto.dynamodb.models").DynamoDBBackend
    broken = importlib.import_module("botocore.exceptions").ConnectionClosedError
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    with moto.mock_aws():
        table = Table(schema=schema)

        def execute(_: Any, statements: list[dict[str, Any]]) -> list[dict[str, Any]]:
            try:
                return table.execute(statements)
            except ConnectionResetError as error:
                raise broken(endpoint_url="https://dynamodb") from error

        monkeypatch.setattr(backend, "batch_execute_statement", execute)
        yield table
