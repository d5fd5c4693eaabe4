"""What an explanation consists of. The text is made from these values, and JSON prints them as they are."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from gatepost.dns.endpoint import Endpoint
from gatepost.objects.meta import Condition
from gatepost.objects.problems import Problem, Skipped
from gatepost.objects.refs import Ref

Verdict = Literal["served", "last known good", "not served", "unknown"]
"""| served          | requests for the name reach a backend                                                     |
| last known good | they do, but the configuration above is unusable: what was configured before still stands |
| not served      | they do not; the first reason says why                                                    |
| unknown         | nothing stands against it, but a Gateway has not answered yet                             |
"""

Why = Problem | Skipped


class Value(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Base of the values here: frozen, with the API's spelling in JSON, and without fields that say nothing."""


class Backend(Value, frozen=True, kw_only=True):
    """A share of the requests for a path.

    Attributes:
        path: a prefix; "" is everything.
        headers: `name: value` of the headers that a request must carry.
        service: `namespace/name:port`.
        percent: None where a route gives weights that are not known here.
    """

    path: str = ""
    headers: tuple[str, ...] = ()
    service: str
    percent: float | None = None


class Step(Value, frozen=True, kw_only=True):
    """An object on the way of a name, and what it makes of it.

    Attributes:
        host: the hostname in it that takes the name in, which may be a wildcard.
        field: where that hostname stands.
        says: what the object makes of the name, in a line.
        blocked: its reconciler stopped before the end.
        wants: the objects that it wants below it, as they should be; others that stand there are left from before.
        serves: requests for the name that reach this object are answered. None for objects that only configure others.
        waiting: nothing has answered for it yet.
        leads_to: the steps that come after it.
    """

    about: Ref
    exists: bool = True
    host: str = ""
    field: str = ""
    says: str = ""
    conditions: tuple[Condition, ...] = ()
    backends: tuple[Backend, ...] = ()
    problems: tuple[Problem, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    blocked: bool = False
    wants: tuple[Ref, ...] = ()
    serves: bool | None = None
    waiting: bool = False
    leads_to: tuple[Step, ...] = ()


class DnsClaim(Value, frozen=True, kw_only=True):
    """An object that wants a name in DNS. `doubt` says why its wish is not complete."""

    claimant: Ref
    since: str = ""
    won: bool = False
    doubt: Skipped | None = None


class DnsAnswer(Value, frozen=True, kw_only=True):
    """What DNS is to answer with for the name (or a wildcard above it), and who wanted what.

    Attributes:
        hold: why what is published now is neither changed nor taken away.
        notes: what the filters of names and record types have left out.
    """

    name: str
    set_identifier: str = ""
    records: tuple[Endpoint, ...] = ()
    claims: tuple[DnsClaim, ...] = ()
    problems: tuple[Problem, ...] = ()
    hold: Skipped | None = None
    notes: tuple[Skipped, ...] = ()


class Told(Value, frozen=True, kw_only=True):
    """A warning that `gatepost run` gave about an object. It may be mended since."""

    about: Ref
    reason: str
    message: str
    minutes_ago: int


class Explanation(Value, frozen=True, kw_only=True):
    """What serves a hostname, or why nothing does.

    Attributes:
        name: in canonical form.
        summary: the verdict in a line.
        reasons: why it is not served, or not from its present source; the one to look at first comes first.
        served_by: the routes that take requests for the name, and what they lead to.
        way: the steps from what names the host to the Gateway.
        near: other known names, for a name that nothing mentions.
        told: warnings of `gatepost run` that the rest does not give.
    """

    name: str
    verdict: Verdict
    summary: str
    reasons: tuple[Why, ...] = ()
    served_by: tuple[Ref, ...] = ()
    way: tuple[Step, ...] = ()
    dns: tuple[DnsAnswer, ...] = ()
    near: tuple[str, ...] = ()
    told: tuple[Told, ...] = ()

    @property
    def is_served(self) -> bool:
        return self.verdict in ("served", "last known good")


class Write(Value, frozen=True, kw_only=True):
    """An object that a rule wants written or deleted."""

    verb: Literal["apply", "delete"]
    about: Ref
    cause: str = ""
    is_there: bool = True


class Finding(Value, frozen=True, kw_only=True):
    """What one rule says of one object.

    Attributes:
        names: the names that it claims in DNS.
        reads: what the value rests on, in the order in which it was read.
    """

    rule: str
    note: str = ""
    blocked: bool = False
    problems: tuple[Problem, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    writes: tuple[Write, ...] = ()
    names: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()


class ObjectExplanation(Value, frozen=True, kw_only=True):
    """What the rules say of one object, what they read for it, and what reads it.

    `unreadable`: why nothing is known of it though it exists. `gone`: why it does not exist though it was given.
    """

    about: Ref
    exists: bool
    unreadable: Problem | None = None
    gone: Skipped | None = None
    conditions: tuple[Condition, ...] = ()
    findings: tuple[Finding, ...] = ()
    read_by: tuple[str, ...] = ()
    told: tuple[Told, ...] = ()

    @property
    def is_in_order(self) -> bool:
        """Whether it exists, and no rule and no condition says that something is wrong with it."""
        has_problems = any(finding.problems or finding.blocked for finding in self.findings)
        is_known = self.exists and self.unreadable is None
        return is_known and not has_problems and all(condition.status != "False" for condition in self.conditions)
