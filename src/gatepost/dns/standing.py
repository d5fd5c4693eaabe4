"""Where the object behind a record stands now: what decides whether the record may be deleted."""

from __future__ import annotations

from collections.abc import Container, Mapping
from types import MappingProxyType

from msgspec import Struct

from gatepost.dns.claims import CLAIMS, RECORD_SETS
from gatepost.dns.conflicts import CONFLICT
from gatepost.dns.endpoint import NameKey
from gatepost.dns.records import Claims
from gatepost.dns.rules import ROUTE_SOURCES
from gatepost.objects.dnsendpoint import DNSEndpoint
from gatepost.objects.gatewayapi import Gateway, ListenerSet
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.problems import UNREADABLE, Problem, Skipped
from gatepost.objects.refs import Ref
from gatepost.objects.serving import DomainMapping, Route
from gatepost.state.engine import Engine
from gatepost.state.store import Index

GONE = "gone"
DETACHED = "detached"
DOUBTFUL = "doubtful"

_NAMED_BY_KIND: tuple[type[KubernetesObject], ...] = (
    Gateway,
    ListenerSet,
    DomainMapping,
    Route,
    *ROUTE_SOURCES.values(),
)
_TYPES: dict[str, type[KubernetesObject]] = {
    "crd": DNSEndpoint,
    **{type_.KIND.kind.lower(): type_ for type_ in _NAMED_BY_KIND},
}


class Standing(Struct, frozen=True, gc=False):
    """Why a record has no claim (any more).

    | kind     | the object behind the record                                                        |
    | gone     | does not exist any more                                                             |
    | detached | exists, and its spec does not ask for the name any more                             |
    | doubtful | may still want it: its status is incomplete or lags, or it could not be read at all |

    `is_of_another`: the doubt is about another object, which may ask for the name as well. `may_end`: the doubt is
    about the state of the object, which was read; so it may be given up after a time. That we cannot read or work out
    something says nothing about the object, however long it lasts.
    """

    kind: str
    message: str
    at: Ref | None = None
    may_end: bool = False
    is_of_another: bool = False


def may_end(doubt: Skipped) -> bool:
    """Whether a doubt may be given up after a time.

    A conflict is no state that passes: time must not decide who gets a name. Nor does it say anything of an object that
    cannot be read.
    """
    return doubt.reason not in (CONFLICT, UNREADABLE)


def object_behind(resource: str) -> Ref | None:
    """The object of a `resource` label such as `httproute/shop/cart`; None if it is of a kind that no source reads."""
    kind, _, place = resource.partition("/")
    namespace, _, name = place.partition("/")
    type_ = _TYPES.get(kind)
    return type_.KIND.ref(namespace, name) if type_ is not None and name else None


def unreadable_claimant(engine: Engine, namespace: str = "") -> Problem | None:
    """What is wrong with an object that may ask for names and whose present form cannot be read; the first of several.

    Args: namespace: the only one whose objects take part, "" for all.
    """
    read = _types_read(engine)
    kinds = {type_.KIND.group_kind for type_ in _TYPES.values() if type_ in read}
    return engine.store.any_unreadable(kinds, namespace)


def _types_read(engine: Engine) -> frozenset[object]:
    """The types of the objects that are asked for names."""
    over = engine.rule(CLAIMS).over
    return frozenset(over if isinstance(over, tuple) else (over,))


class Standings:
    """Answers where the objects behind records stand, from what an engine knows.

    Args:
        unreadable: kinds whose objects could not be read just now; what they claim is not known. It is asked each time
            and may change meanwhile.
        is_owner_known: the registry keeps owners. Without one, a record of which nobody ever saw an object may be
            anybody's.
        seen: the `resource` of names that were claimed at some time, for records that keep none themselves.
        namespace: the only one whose objects take part, "" for all.
    """

    def __init__(
        self,
        engine: Engine,
        unreadable: Container[str] = (),
        *,
        is_owner_known: bool = True,
        seen: Mapping[NameKey, str] = MappingProxyType({}),
        namespace: str = "",
    ) -> None:
        self._engine = engine
        self._unreadable = unreadable
        self._is_owner_known = is_owner_known
        self._seen = seen
        self._read = _types_read(engine)
        self._namespace = namespace

    def __call__(self, resource: str, key: NameKey) -> Standing:
        """Where the object of a `resource` label (`httproute/shop/cart`) stands towards a name that it once claimed.

        A label names one object, and others may have asked for the same. So while the present form of any object that
        may ask for names cannot be read, no record is known to be of no use.
        """
        standing = self._of_object(resource, key)
        if standing.kind == DOUBTFUL:
            return standing
        other = unreadable_claimant(self._engine, self._namespace)
        if other is None:
            return standing
        why = f"{standing.message}, and what {other.about} asks for is not known: {other.as_skipped()}"
        return Standing(DOUBTFUL, why, other.about, is_of_another=True)

    def _of_object(self, resource: str, key: NameKey) -> Standing:
        resource = resource or self._seen.get(key, "")
        if not resource and not self._is_owner_known:
            return Standing(DOUBTFUL, "no registry says whose it is, and no object here has asked for it")
        if not resource:
            return Standing(GONE, "no object is written down for it, and none claims it")
        kind, _, place = resource.partition("/")
        namespace, _, name = place.partition("/")
        type_ = _TYPES.get(kind)
        if type_ is None or type_ not in self._read:
            return Standing(DOUBTFUL, f"no --source here reads what {resource} stands for")
        ref = type_.KIND.ref(namespace, name)
        fault = next((failure for failure in self._engine.failures.values() if isinstance(failure.by, Index)), None)
        if fault is not None:
            # Who is missing from an index is missing from everything that is looked up there.
            return Standing(DOUBTFUL, f"{fault.key} could not be taken into an index, so a claim may be missing", ref)
        if type_.KIND.kind in self._unreadable:
            return Standing(DOUBTFUL, f"objects that {ref} may rest on cannot be read at present", ref)
        problem = self._engine.store.unreadable(ref)
        if problem is not None:
            return Standing(DOUBTFUL, str(problem.as_skipped()), ref)
        if self._engine.store.get(ref) is None:
            return Standing(GONE, f"{ref} is gone", ref)
        return self._of_claims(ref, key)

    def _of_claims(self, ref: Ref, key: NameKey) -> Standing:
        claims: Claims | None = self._engine.value(self._engine.rule(CLAIMS), ref)
        if claims is None or (CLAIMS, ref) in self._engine.failures or (RECORD_SETS, key) in self._engine.failures:
            return Standing(DOUBTFUL, f"what {ref} claims could not be worked out", ref)
        is_reverse = key[0].endswith(".arpa")  # asked for by an address of any of its names
        for claim in claims.claims:
            if claim.key == key or (is_reverse and claim.doubt is not None):
                why = str(claim.doubt) if claim.doubt is not None else f"{ref} still claims it"
                return Standing(DOUBTFUL, why, ref, may_end=claim.doubt is not None and may_end(claim.doubt))
        if claims.lagging is not None:
            return Standing(DOUBTFUL, str(claims.lagging), ref, may_end=may_end(claims.lagging))
        outdated = self._engine.store.outdated(ref)
        if outdated is not None:
            return Standing(DOUBTFUL, str(outdated.as_skipped()), ref)
        why = f"{ref} does not ask for it any more"
        return Standing(DETACHED, f"{why}: {claims.skipped[0]}" if claims.skipped and not claims.claims else why, ref)
