"""What can go wrong between gatepost and a cluster. All of it belongs to the world: it is retried, not crashed on."""

from __future__ import annotations

import msgspec


class ClusterError(Exception):
    """The cluster could not be asked, or said no."""


class KubeconfigError(ClusterError):
    """The way to the cluster is not, or wrongly, described. Names the file and the key in it."""

    def __init__(self, file: str, key: str, problem: str) -> None:
        where = f"{file}: {key}" if file and key else file or key
        super().__init__(f"{where}: {problem}" if where else problem)
        self.file = file
        self.key = key


class CredentialError(ClusterError):
    """The credentials could not be obtained, or the cluster does not take them."""


class Unreachable(ClusterError):
    """No answer, or only a part of one."""


class WriteWithheld(ClusterError):
    """A writing call was held back because of `dry_run`."""


class NotLeading(ClusterError):
    """A writing call was held back because another replica may be the one that writes now."""


class ApiError(ClusterError):
    """The API server answered with an error.

    Attributes:
        code: the HTTP status.
        reason: the machine-readable reason of its Status, such as "Conflict" or "AlreadyExists"; "" if it gave none.
        retry_after_seconds: how long it asks to wait, None if it does not.
    """

    def __init__(self, code: int, reason: str, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(f"{code} {reason}: {message}" if reason else f"{code}: {message}")
        self.code = code
        self.reason = reason
        self.message = message
        self.retry_after_seconds = retry_after_seconds

    @property
    def is_conflict(self) -> bool:
        """Somebody else was first: read again and decide again."""
        return self.code == 409

    @property
    def is_not_found(self) -> bool:
        """The object does not exist. A path that is not served at all is a 404 as well, but without that reason."""
        return self.code == 404 and self.reason == "NotFound"

    @property
    def is_expired(self) -> bool:
        """The resourceVersion or continue token is too old: only a new list helps."""
        return self.code == 410 or self.reason == "Expired"


class StatusAnswer(msgspec.Struct, frozen=True):
    """The part of a metav1.Status that tells what went wrong."""

    code: int = 0
    reason: str = ""
    message: str = ""


_status_decoder = msgspec.json.Decoder(StatusAnswer)


def api_error(code: int, body: bytes, retry_after: str | None = None) -> ApiError:
    """The error that an answer tells, whether or not its body is a Status; its own code counts where `code` is 0."""
    try:
        status = _status_decoder.decode(body)
    except msgspec.DecodeError:
        text = body[:200].decode(errors="replace").strip()
        status = StatusAnswer(code, "", text or "no explanation given")
    return ApiError(code or status.code, status.reason, status.message or "no explanation given", _seconds(retry_after))


def _seconds(retry_after: str | None) -> float | None:
    """Retry-After in seconds. API servers send a number; a date (RFC 9110 10.2.3) is taken as "soon"."""
    if retry_after is None:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        return 1.0
