"""Calls of the API of Route 53: in a thread, repeated where they came too fast, and what their failures mean."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
from collections.abc import AsyncIterator, Sequence
from typing import Any

from gatepost.call_faults import LONGEST_OF_LIBRARIES, said_in
from gatepost.providers.listed_zones import AnswerLost
from gatepost.providers.rate_limiter import RateLimiter, TryAgain
from gatepost.providers.refusals import Refusal
from gatepost.providers.route53.client import new_client
from gatepost.providers.route53.record_sets import RouteSet
from gatepost.providers.route53.settings import Route53Settings

_TAGS_OF_ONE_CALL = 10
_RECORD_SETS_OF_ONE_PAGE = "300"
_TOO_FAST = ("Throttling", "ThrottlingException", "TooManyRequestsException", "RequestLimitExceeded", "SlowDown")
# A change is still on its way: the call was refused before anything happened.
_TOO_FAST_FOR_CHANGES = ("PriorRequestNotComplete",)
_FOR_ONE_RECORD = ("InvalidChangeBatch", "InvalidInput", "ValidationError")
_ADVICE = {
    "AccessDenied": "allow the actions route53:ListHostedZones, ListResourceRecordSets and ChangeResourceRecordSets",
    "NoSuchHostedZone": "the zone is gone, or belongs to another account",
    "InvalidClientTokenId": "check the keys, or --aws-profile",
    "SignatureDoesNotMatch": "check the keys, or --aws-profile",
    "ExpiredToken": "the keys are too old",
}


def require_boto3() -> None:
    """Raises: ValueError if the library of AWS is not installed."""
    if importlib.util.find_spec("boto3") is None:
        raise ValueError("--provider: aws needs the package boto3, which is not installed; pip install 'gatepost[aws]'")


class Calls:
    """The calls that gatepost needs.

    Args:
        client: a client of boto3 for route53; None to make one at the first call.
        limiter: stands before every call.
    """

    def __init__(self, settings: Route53Settings, client: Any, limiter: RateLimiter) -> None:
        self._settings = settings
        self._client = client
        self._limiter = limiter

    async def zones(self) -> list[dict[str, Any]]:
        """All hosted zones of the account. Raises: Refusal, AnswerLost."""
        found: list[dict[str, Any]] = []
        page: dict[str, Any] = {}
        while True:
            answer = await self._read("list_hosted_zones", **page)
            found += answer["HostedZones"]
            if not answer.get("IsTruncated"):
                return found
            page = {"Marker": answer["NextMarker"]}

    async def tags(self, zone_ids: Sequence[str]) -> dict[str, dict[str, str]]:
        """The tags of zones, by their ids. Raises: Refusal, AnswerLost."""
        found: dict[str, dict[str, str]] = {}
        for start in range(0, len(zone_ids), _TAGS_OF_ONE_CALL):
            some = list(zone_ids[start : start + _TAGS_OF_ONE_CALL])
            answer = await self._read("list_tags_for_resources", ResourceType="hostedzone", ResourceIds=some)
            for tags in answer["ResourceTagSets"]:
                found[tags["ResourceId"]] = {tag["Key"]: tag.get("Value", "") for tag in tags["Tags"]}
        return found

    async def record_sets(self, zone_id: str) -> AsyncIterator[RouteSet]:
        """All record sets of a zone, page after page. Raises: Refusal, AnswerLost: then what came is incomplete."""
        page: dict[str, Any] = {"HostedZoneId": zone_id, "MaxItems": _RECORD_SETS_OF_ONE_PAGE}
        while True:
            answer = await self._read("list_resource_record_sets", **page)
            for record_set in answer["ResourceRecordSets"]:
                yield record_set
            if not answer.get("IsTruncated"):
                return
            starts = {"StartRecordName": "NextRecordName", "StartRecordType": "NextRecordType"}
            starts["StartRecordIdentifier"] = "NextRecordIdentifier"
            following = {start: answer[next_] for start, next_ in starts.items() if answer.get(next_)}
            if not following or following.items() <= page.items():
                raise AnswerLost(f"Route 53 says that zone {zone_id} goes on, but not where")
            page = {"HostedZoneId": zone_id, "MaxItems": _RECORD_SETS_OF_ONE_PAGE, **following}

    async def change(self, zone_id: str, changes: Sequence[dict[str, Any]]) -> None:
        """Makes changes, all or none. Raises: Refusal, AnswerLost."""
        await self._repeated(
            "change_resource_record_sets",
            is_reading=False,
            HostedZoneId=zone_id,
            ChangeBatch={"Changes": list(changes)},
        )

    async def _read(self, method: str, **arguments: Any) -> dict[str, Any]:
        return await self._repeated(method, is_reading=True, **arguments)

    async def _repeated(self, method: str, *, is_reading: bool, **arguments: Any) -> dict[str, Any]:
        async def once() -> dict[str, Any]:
            try:
                answer: dict[str, Any] = await asyncio.to_thread(self._call, method, arguments)
            except _failures() as error:
                meaning = _meaning(error, is_reading=is_reading)
                if _is_worth_another_try(error, is_reading=is_reading):
                    raise TryAgain(meaning, is_too_fast=_code_of(error) in _TOO_FAST) from error
                raise meaning from error
            return answer

        return await self._limiter.call(once, self._settings.aws_api_retries + 1)

    def _call(self, method: str, arguments: dict[str, Any]) -> Any:
        """In a thread: boto3 blocks, and takes half a second to import."""
        if self._client is None:
            self._client = new_client(self._settings)
        return getattr(self._client, method)(**arguments)


def _failures() -> tuple[type[Exception], ...]:
    """What boto3 raises for failures of calls; asked for only when there is one, as boto3 may not be loaded before."""
    exceptions = importlib.import_module("botocore.exceptions")
    return (exceptions.ClientError, exceptions.BotoCoreError)


def _is_worth_another_try(error: Exception, *, is_reading: bool) -> bool:
    code, status = _code_of(error), _status_of(error)
    if code in _TOO_FAST or code in _TOO_FAST_FOR_CHANGES:
        return True
    return is_reading and (status >= 500 or _is_of_the_network(error))


def _meaning(error: Exception, *, is_reading: bool) -> Exception:
    """What an exception of boto3 says about the call."""
    exceptions = importlib.import_module("botocore.exceptions")
    code, status = _code_of(error), _status_of(error)
    if code and (status < 500 or code in (*_TOO_FAST, *_TOO_FAST_FOR_CHANGES)):
        said = f"Route 53: {code}: {_message_of(error)}"
        advice = next((advice for start, advice in _ADVICE.items() if code.startswith(start)), "")
        return Refusal(f"{said}; {advice}" if advice else said, is_for_all=code not in _FOR_ONE_RECORD)
    if isinstance(error, exceptions.ParamValidationError):  # boto3 itself found it wrong, and sent nothing
        return Refusal(f"Route 53: {error}", is_for_all=False)
    unsent = (exceptions.EndpointConnectionError, exceptions.ConnectTimeoutError)
    no_keys = (
        exceptions.NoCredentialsError,
        exceptions.ProfileNotFound,
        exceptions.PartialCredentialsError,
        exceptions.CredentialRetrievalError,
    )
    if isinstance(error, (*unsent, *no_keys)):
        return Refusal(f"Route 53 cannot be asked: {error}", is_for_all=True)
    return AnswerLost(f"Route 53 gave no usable answer: {said_in(str(error).encode(), LONGEST_OF_LIBRARIES)}")


def _is_of_the_network(error: Exception) -> bool:
    exceptions = importlib.import_module("botocore.exceptions")
    return isinstance(error, (exceptions.HTTPClientError, exceptions.ConnectionError))


def _answer_of(error: Exception) -> dict[str, Any]:
    answer = getattr(error, "response", None)
    return answer if isinstance(answer, dict) else {}


def _code_of(error: Exception) -> str:
    return str(_answer_of(error).get("Error", {}).get("Code", ""))


def _message_of(error: Exception) -> str:
    return str(_answer_of(error).get("Error", {}).get("Message", "")) or str(error)


def _status_of(error: Exception) -> int:
    return int(_answer_of(error).get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
