"""What gatepost asks of the Kubernetes API, observed: the golden cases are run, one controller at a time.

What a kind needs:

| where the rules                        | verbs                                                          |
| ---                                    | ---                                                            |
| read it                                | list, watch                                                    |
| write to it                            | get too, for an object that was changed by others is read anew |
| create it                              | create, and patch for the next time                            |
| set it as an owner that holds deletion | update on its finalizers                                       |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy_manifests import Right
from gatepost.dns.settings import DnsSettings
from gatepost.kubernetes.api import ApiModel
from gatepost.objects.kinds import BY_GROUP_KIND, typed
from gatepost.objects.problems import UnreadableObject
from gatepost.objects.refs import GroupKind, Ref, group_of, ref_of
from gatepost.runtime import wiring
from gatepost.runtime.asked_kinds import NotingEngine, kinds_over
from gatepost.runtime.offline import model_writer, settle

CASES = Path(__file__).parents[1] / "cases"

NOT_IN_CASES: Mapping[str, Sequence[tuple[str, str]]] = {
    # Each needs a gateway with more listeners than fit, or an object that went after others had come.
    "gateway": (("ListenerSet", "create"), ("ListenerSet", "delete")),
    "route": (("EndpointSlice", "delete"),),
    "domainmapping": (),
}
"""Calls of a controller that no case makes, one at a time as they are run here."""

_NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Seen:
    """The kinds that were read, and the calls that were made, by kind."""

    def __init__(self, kinds: Iterable[GroupKind]) -> None:
        self.read = set(kinds)
        self.calls: set[tuple[GroupKind, str]] = set()

    def rights(self) -> set[Right]:
        found = {(group, resource, verb) for group, resource in map(_resource, self.read) for verb in ("list", "watch")}
        for group_kind, call in self.calls:
            group, resource = _resource(group_kind)
            verb, _, subresource = call.partition("/")
            found.add((group, f"{resource}/{subresource}" if subresource else resource, verb))
            if subresource != "finalizers":
                found.add((group, resource, "get"))
            if verb == "create":
                found.add((group, resource, "patch"))
        return found


class _Watched:
    """The model of the API server, with an eye on what is called."""

    def __init__(self, model: ApiModel, seen: Seen) -> None:
        self._model = model
        self._seen = seen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def create(self, raw: Any, **more: Any) -> Any:
        self._seen.calls.add((ref_of(raw).group_kind, "create"))
        for owner in raw["metadata"].get("ownerReferences", ()):
            if owner.get("blockOwnerDeletion"):
                kind = GroupKind(group_of(owner["apiVersion"]), owner["kind"])
                self._seen.calls.add((kind, "update/finalizers"))
        return self._model.create(raw, **more)

    def replace(self, raw: Any, *, subresource: str = "", **more: Any) -> Any:
        self._seen.calls.add((ref_of(raw).group_kind, f"patch/{subresource}" if subresource else "patch"))
        return self._model.replace(raw, subresource=subresource, **more)

    def delete(self, ref: Ref) -> Any:
        self._seen.calls.add((ref.group_kind, "delete"))
        return self._model.delete(ref)


def rights_of_controller(name: str, patch: pytest.MonkeyPatch) -> set[Right]:
    """What a controller needs, events and the kinds of others that a reference may name apart."""
    wired = wiring.reconcilers([name])
    seen = Seen(kinds_over(wired.rules, wired.indexes))

    class Writer(model_writer.ModelWriter):
        def __init__(self, model: Any, now: str) -> None:
            super().__init__(_Watched(model, seen), now)  # type: ignore[arg-type]

    patch.setattr(settle, "Engine", NotingEngine)
    patch.setattr(settle, "ModelWriter", Writer)
    for case in _cases("render"):
        settled = settle.settle(case["input"], wired.rules, wired.indexes, now=_NOW)
        assert isinstance(settled.engine, NotingEngine)
        seen.read.update(kind for kind in settled.engine.kinds_asked() if kind in BY_GROUP_KIND)
    for kind_name, call in NOT_IN_CASES[name]:
        kind = next(kind for kind in BY_GROUP_KIND if kind.kind == kind_name)
        seen.calls.add((kind, call))
    return seen.rights()


def rights_of_sources(*sources: str) -> set[Right]:
    """What DNS sources read, and the status that they write."""
    settings = DnsSettings(sources=sources, gateway_listener_sets=True, txt_owner_id="me")
    wired = wiring.dns_part(settings, writes_status=True)
    seen = Seen(kinds_over(wired.rules, wired.indexes))
    for case in _cases("endpoints"):
        engine = NotingEngine(wired.rules, wired.indexes, _NOW)
        for raw in case["input"]:
            if "metadata" not in raw:  # a List, of which other cases have the items alone
                continue
            try:
                engine.put(typed(raw))
            except UnreadableObject:
                continue
        engine.run_stale()
        seen.read.update(kind for kind in engine.kinds_asked() if kind in BY_GROUP_KIND)
    seen.calls.update((kind, "patch/status") for kind in wiring.written_kinds((), settings))
    return seen.rights()


def _resource(group_kind: GroupKind) -> tuple[str, str]:
    return group_kind.group, BY_GROUP_KIND[group_kind].KIND.plural


def _cases(command: str) -> list[Any]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    texts = (path.read_text() for path in sorted(CASES.rglob("*.yaml")))
    found = [
        yaml.load(text, Loader=loader)
        for text in texts
        if re.search(rf"^run:(?: \[|\n *- ){command}\b", text, re.MULTILINE)
    ]
    assert found, f"no case runs {command}"
    return found
