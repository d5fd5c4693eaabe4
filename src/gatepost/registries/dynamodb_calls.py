"""Calls of the API of DynamoDB: in a thread, and what their failures mean."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from gatepost.call_faults import LONGEST_OF_LIBRARIES, said_in
from gatepost.registries.contract import RegistryError
from gatepost.registries.settings import DynamoDbSettings

_STATEMENTS_OF_ONE_CALL = 25
_TIMEOUT_SECONDS = 30
_ATTEMPTS = 5
_ADVICE = {
    "ResourceNotFoundException": "make it with the hash key k of type S, or name another with --dynamodb-table",
    "AccessDenied": "allow the actions dynamodb:DescribeTable, Scan, PartiQLInsert, PartiQLUpdate and PartiQLDelete",
    "UnrecognizedClientException": "check the keys, or AWS_PROFILE",
    "InvalidSignatureException": "check the keys, or AWS_PROFILE",
    "ExpiredToken": "the keys are too old",
}


class Statement(Struct, frozen=True):
    """A statement of PartiQL, with the values of its question marks as DynamoDB writes them."""

    text: str
    parameters: tuple[dict[str, Any], ...]


class TableCalls:
    """The calls that gatepost needs, on one table.

    Args: client: a client of boto3 for dynamodb; None to make one at the first call.
    Raises: ValueError if the library of AWS is not installed, or the table has no name.
    """

    def __init__(self, settings: DynamoDbSettings, client: Any = None) -> None:
        if importlib.util.find_spec("boto3") is None:
            raise ValueError(
                "--registry: dynamodb needs the package boto3, which is not installed; pip install 'gatepost[aws]'"
            )
        if not settings.dynamodb_table:
            raise ValueError("--dynamodb-table: found nothing, wanted the name of a table")
        self.table = settings.dynamodb_table
        self._region = settings.dynamodb_region
        self._client = client

    async def description(self) -> Mapping[str, Any]:
        """What the table is. Raises: RegistryError."""
        answer: dict[str, Any] = (await self._ask("describe_table", TableName=self.table))["Table"]
        return answer

    async def items(self) -> list[Mapping[str, Mapping[str, Any]]]:
        """All items, as they are now. Raises: RegistryError: half a table is none."""
        found: list[Mapping[str, Mapping[str, Any]]] = []
        page: dict[str, Any] = {}
        while True:
            answer = await self._ask("scan", TableName=self.table, ConsistentRead=True, **page)
            found += answer["Items"]
            if not answer.get("LastEvaluatedKey"):
                return found
            page = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}

    async def execute(self, statements: Sequence[Statement]) -> list[Mapping[str, Any] | None]:
        """Executes statements that write, each by itself. No two may be about one item.

        Returns: for each None, or its error with `Code`, `Message` and, for a condition, the `Item` that is there.
        Raises: RegistryError if it is not known which were executed.
        """
        errors: list[Mapping[str, Any] | None] = []
        for start in range(0, len(statements), _STATEMENTS_OF_ONE_CALL):
            batch = [_in_batch(statement) for statement in statements[start : start + _STATEMENTS_OF_ONE_CALL]]
            answer = await self._ask("batch_execute_statement", Statements=batch)
            errors += [response.get("Error") for response in answer["Responses"]]
        return errors

    async def _ask(self, method: str, **arguments: Any) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = await asyncio.to_thread(self._call, method, arguments)
            return answer
        except _failures() as error:
            raise RegistryError(_meaning(error, self.table)) from error

    def _call(self, method: str, arguments: dict[str, Any]) -> Any:
        """In a thread: boto3 blocks, and takes half a second to import."""
        if self._client is None:
            self._client = _new_client(self._region)
        return getattr(self._client, method)(**arguments)


def _in_batch(statement: Statement) -> dict[str, Any]:
    return {
        "Statement": statement.text,
        "Parameters": list(statement.parameters),
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",  # tells whose an item is that is not ours
    }


def _new_client(region: str) -> Any:
    boto3 = importlib.import_module("boto3")
    config = importlib.import_module("botocore.config").Config(
        connect_timeout=_TIMEOUT_SECONDS,
        read_timeout=_TIMEOUT_SECONDS,
        # Repeating is safe here, unlike with Route 53: each statement names what it expects to find.
        retries={"total_max_attempts": _ATTEMPTS, "mode": "standard"},
        user_agent_extra="gatepost",
    )
    return boto3.client("dynamodb", region_name=region or None, config=config)


def _failures() -> tuple[type[Exception], ...]:
    """What boto3 raises for failures of calls; asked for only when there is one, as boto3 may not be loaded before."""
    exceptions = importlib.import_module("botocore.exceptions")
    return (exceptions.ClientError, exceptions.BotoCoreError)


def _meaning(error: Exception, table: str) -> str:
    """What an exception of boto3 says about a call."""
    answer = getattr(error, "response", None)
    told = answer.get("Error", {}) if isinstance(answer, dict) else {}
    code = str(told.get("Code", ""))
    if code:
        advice = next((f"; {advice}" for start, advice in _ADVICE.items() if code.startswith(start)), "")
        said = said_in(str(told.get("Message", error)).encode(), LONGEST_OF_LIBRARIES)
        return f"DynamoDB: table {table}: {code}: {said}{advice}"
    if type(error).__name__ == "NoRegionError":
        return "DynamoDB cannot be asked: no region is known; give --dynamodb-region"
    return f"DynamoDB gave no usable answer: {said_in(str(error).encode(), LONGEST_OF_LIBRARIES)}"
