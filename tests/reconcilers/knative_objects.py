"""Objects of Knative in their raw form, and a small world in which one reconciler looks at them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from gatepost.objects.kinds import typed
from gatepost.objects.refs import Ref, ref_of
from gatepost.state.engine import Engine
from gatepost.state.rule import Rule
from gatepost.state.store import Index
from gatepost.state.view import View
from gatepost.writes.compare import wanted_object, wanted_status
from gatepost.writes.outcome import Outcome

Raw = dict[str, Any]

NAMESPACE = "shop"
START = datetime(2026, 1, 1, tzinfo=UTC)
GATEWAY_CLASS = "gateway-api.ingress.networking.knative.dev"

SERVING = "serving.knative.dev/v1"
MAPPINGS = "serving.knative.dev/v1beta1"
NETWORKING = "networking.internal.knative.dev/v1alpha1"


class World:
    """A store with one reconciler on it. `ran` are the keys that it was run for since the last `take_ran`."""

    def __init__(self, rule: Rule[Outcome], rules: Iterable[Rule[Any]], indexes: Iterable[Index], *raws: Raw) -> None:
        self.ran: list[Ref] = []

        def recorded(key: Ref, view: View) -> Outcome:
            self.ran.append(key)
            return rule.run(key, view)

        self._rule = Rule(rule.name, recorded, rank=rule.rank, over=rule.over)
        others = [other for other in rules if other is not rule]
        self.engine = Engine([*others, self._rule], indexes, START)
        self.raws: dict[Ref, Raw] = {}
        self.put(*raws)

    def put(self, *raws: Raw) -> None:
        for raw in raws:
            self.raws[ref_of(raw)] = raw
            self.engine.put(typed(raw), ref_of(raw))
        self._run()

    def remove(self, raw: Raw) -> None:
        del self.raws[ref_of(raw)]
        self.engine.remove(ref_of(raw))
        self._run()

    def take_ran(self) -> list[Ref]:
        ran, self.ran = sorted(self.ran), []
        return ran

    def outcome(self, raw: Raw) -> Outcome:
        found = self.engine.value(self._rule, ref_of(raw))
        assert found is not None, f"nothing ran for {ref_of(raw)}"
        return found

    def carry_out(self, raw: Raw) -> None:
        """Writes what the outcome of this object wants; a changed spec raises the generation."""
        outcome = self.outcome(raw)
        for apply in outcome.applies:
            current = self.raws.get(apply.ref)
            wanted = wanted_object(apply, current)
            assert wanted is not None
            if current is None:
                wanted["metadata"] |= {"uid": f"made-{apply.ref}", "generation": 1}
            elif wanted.get("spec") != current.get("spec"):
                wanted["metadata"]["generation"] += 1
            self.put(wanted)
        own = self.raws[ref_of(raw)]
        status = wanted_status(outcome.status, own.get("status", {}), "2026-01-01T00:00:00Z")
        metadata = dict(own["metadata"])
        if outcome.finalizers is not None:
            metadata["finalizers"] = list(outcome.finalizers)
        self.put({**own, "metadata": metadata, "status": status})

    def _run(self) -> None:
        self.engine.run_stale()
        assert not self.engine.failures, self.engine.failures


def meta(name: str, namespace: str = NAMESPACE, **more: Any) -> Raw:
    return {"name": name, "namespace": namespace, "uid": f"uid-{namespace}-{name}", "generation": 1, **more}


def controlled_by(owner: Raw) -> list[Raw]:
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"]}
    return [{**reference, "uid": owner["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}]


def config_map(name: str, **data: str) -> Raw:
    """A ConfigMap of Knative; underscores in the keys stand for dashes."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "knative-serving"},
        "data": {key.replace("_", "-"): value for key, value in data.items()},
    }


def network(**data: str) -> Raw:
    return config_map("config-network", **{"ingress_class": GATEWAY_CLASS, **data})


def knative_service(name: str, url: str | None = None) -> Raw:
    url = url if url is not None else f"http://{name}.{NAMESPACE}.svc.cluster.local"
    status = {"address": {"url": url}} if url else {}
    return {"apiVersion": SERVING, "kind": "Service", "metadata": meta(name), "status": status}


def route(name: str, owner: Raw | None = None) -> Raw:
    metadata = meta(name, uid=f"uid-route-{name}", ownerReferences=controlled_by(owner) if owner else [])
    address = {"url": f"http://{name}.{NAMESPACE}.svc.cluster.local"}
    return {"apiVersion": SERVING, "kind": "Route", "metadata": metadata, "status": {"address": address}}


def local_hosts(name: str) -> list[str]:
    return [f"{name}.{NAMESPACE}", f"{name}.{NAMESPACE}.svc", f"{name}.{NAMESPACE}.svc.cluster.local"]


def split(service: str, percent: int = 100, port: int = 80, **headers: str) -> Raw:
    backend = {"serviceNamespace": NAMESPACE, "serviceName": service, "servicePort": port, "percent": percent}
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    return {**backend, "appendHeaders": named} if named else backend


def rule(hosts: list[str], *paths: Raw, visibility: str = "ClusterLocal") -> Raw:
    return {"hosts": hosts, "visibility": visibility, "http": {"paths": list(paths)}}


def kingress(name: str, owner: Raw | None, *rules: Raw, **status: Any) -> Raw:
    metadata = meta(name, uid=f"uid-ingress-{name}", ownerReferences=controlled_by(owner) if owner else [])
    return {
        "apiVersion": NETWORKING,
        "kind": "Ingress",
        "metadata": metadata,
        "spec": {"rules": list(rules)},
        "status": status,
    }


def ready_status(generation: int = 1) -> Raw:
    return {"observedGeneration": generation, "conditions": [{"type": "Ready", "status": "True"}]}


def core_service(name: str, namespace: str = NAMESPACE, **spec: Any) -> Raw:
    return {"apiVersion": "v1", "kind": "Service", "metadata": meta(name, namespace), "spec": spec}


def conditions(outcome: Outcome) -> dict[str, tuple[str, str]]:
    """Type -> (status, reason) of the conditions in an outcome's status."""
    found = outcome.status["conditions"]
    return {condition["type"]: (condition["status"], condition.get("reason", "")) for condition in found}


def told_if_refused(outcome: Outcome, kind: str) -> dict[str, tuple[str, str]]:
    """As `conditions`, for the status that is told while the server refuses the one object of that kind."""
    [status] = [status for ref, status in outcome.status_if_refused.items() if ref.kind == kind]
    return {c["type"]: (c["status"], c.get("reason", "")) for c in status["conditions"]}


def applied(outcome: Outcome, kind: str) -> Raw | None:
    """The one object of that kind that is to be applied, None if there is none."""
    found = [apply.fields for apply in outcome.applies if apply.fields["kind"] == kind]
    assert len(found) <= 1, [apply.ref for apply in outcome.applies]
    return json.loads(json.dumps(found[0])) if found else None  # tuples are lists on the wire


def the(outcome: Outcome, kind: str) -> Raw:
    found = applied(outcome, kind)
    assert found is not None, f"no {kind} is wanted, but {[str(apply.ref) for apply in outcome.applies]}"
    return found


def event_reasons(outcome: Outcome) -> list[str]:
    return [event.reason for event in outcome.events]
