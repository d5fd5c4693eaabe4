"""The promises of the heart, for DomainMapping and Route: whatever the objects are and however they came to be so."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from knative_objects import NETWORKING, SERVING, START, Raw, controlled_by, core_service, meta, network

from gatepost.objects.kinds import typed
from gatepost.objects.refs import ref_of
from gatepost.reconcilers import domainmapping, route
from gatepost.state.engine import Engine
from gatepost.writes.compare import wanted_object, wanted_status
from gatepost.writes.outcome import Outcome

RULES = {rule.name: rule for rule in (*domainmapping.RULES, *route.RULES)}
INDEXES = {index.name: index for index in (*domainmapping.INDEXES, *route.INDEXES)}

Objects = dict[Any, Raw]

NAMES = st.sampled_from(["a", "b"])
HOSTS = st.sampled_from(["a.shop.svc.cluster.local", "b.shop", "a.example.com"])
CONDITIONS = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["Ready", "Renewing", "IngressReady"]), "status": st.sampled_from(["True", "False"])}
    ),
    max_size=2,
    unique_by=lambda condition: condition["type"],
)
STATUS = {"observedGeneration": st.integers(0, 2), "conditions": CONDITIONS}
OWNERS = st.sampled_from(
    [[]]
    + [controlled_by({"apiVersion": SERVING, "kind": k, "metadata": meta(n)}) for k in ("Route",) for n in ("a", "b")]
)
PERCENTS = st.sampled_from([0, 1, 30, 70, 100])


def metadata(name: st.SearchStrategy[str] = NAMES, **more: Any) -> st.SearchStrategy[Raw]:
    known = {
        "owners": OWNERS,
        "labels": st.sampled_from(
            [{}, {"serving.knative.dev/route": "a"}, {"networking.knative.dev/visibility": "cluster-local"}]
        ),
        "annotations": st.sampled_from([{}, {"serving.knative.dev/rollout-duration": "60s"}]),
        "generation": st.integers(1, 2),
    }
    return st.builds(
        lambda name, owners, **rest: {**meta(name), "ownerReferences": owners, **rest}, name, **{**known, **more}
    )


def objects(api_version: str, kind: str, **parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Raw]:
    return st.fixed_dictionaries(
        {"apiVersion": st.just(api_version), "kind": st.just(kind), "metadata": metadata(), **parts}
    )


TRAFFIC = st.lists(
    st.one_of(
        st.fixed_dictionaries({"configurationName": NAMES, "percent": PERCENTS}, optional={"tag": NAMES}),
        st.fixed_dictionaries({"revisionName": NAMES}, optional={"tag": NAMES, "percent": PERCENTS}),
    ),
    max_size=3,
)
SPLIT = st.fixed_dictionaries({"serviceNamespace": st.just("shop"), "serviceName": NAMES, "servicePort": st.just(80)})
RULE = st.fixed_dictionaries(
    {"hosts": st.lists(HOSTS, max_size=2)},
    optional={
        "visibility": st.sampled_from(["ClusterLocal", "ExternalIP"]),
        "http": st.fixed_dictionaries(
            {"paths": st.lists(st.fixed_dictionaries({"splits": st.lists(SPLIT)}), max_size=2)}
        ),
    },
)
BALANCER = st.fixed_dictionaries(
    {
        "ingress": st.lists(
            st.sampled_from([{"ip": "192.0.2.1"}, {"domainInternal": "a.shop.svc.cluster.local"}, {"meshOnly": True}]),
            max_size=2,
        )
    }
)
ADDRESS = st.fixed_dictionaries({"url": HOSTS.map("http://{}".format)})
ANY = st.one_of(
    objects(SERVING, "Service", status=st.fixed_dictionaries({}, optional={"address": ADDRESS})),
    objects(
        SERVING,
        "Route",
        spec=st.fixed_dictionaries({"traffic": TRAFFIC}),
        status=st.fixed_dictionaries(STATUS, optional={"address": ADDRESS}),
    ),
    objects(SERVING, "Configuration", status=st.fixed_dictionaries({**STATUS, "latestReadyRevisionName": NAMES})),
    objects(SERVING, "Revision", status=st.fixed_dictionaries(STATUS)),
    objects(
        NETWORKING,
        "Ingress",
        spec=st.fixed_dictionaries({"rules": st.lists(RULE, max_size=3)}),
        status=st.fixed_dictionaries(
            STATUS, optional={"privateLoadBalancer": BALANCER, "publicLoadBalancer": BALANCER}
        ),
    ),
    objects(
        "v1",
        "Service",
        spec=st.sampled_from([{"type": "ExternalName"}, {"clusterIP": "None"}, {"clusterIP": "192.0.2.7"}]),
    ),
    objects(
        "serving.knative.dev/v1beta1",
        "DomainMapping",
        metadata=metadata(st.sampled_from(["a.example.com", "b.example.com", "single"])),
        spec=st.builds(
            lambda api_version, kind, name: {"ref": {"apiVersion": api_version, "kind": kind, "name": name}},
            st.sampled_from([SERVING, "v1"]),
            st.sampled_from(["Service", "Route"]),
            NAMES,
        ),
        status=st.fixed_dictionaries(STATUS),
    ),
    st.sampled_from([{}, {"external_domain_tls": "Enabled"}, {"http_protocol": "broken"}]).map(
        lambda data: network(autocreate_cluster_domain_claims="true", **data)
    ),
)


def engine_of(raws: list[Raw]) -> Engine:
    engine = Engine(RULES.values(), INDEXES.values(), START)
    for raw in raws:
        engine.put(typed(raw), ref_of(raw))
    engine.run_stale()
    assert not engine.failures, engine.failures
    return engine


def values_of(engine: Engine) -> Any:
    return {(rule.name, key): value for rule in engine.rules for key, value in engine.values(rule)}


@settings(max_examples=150, deadline=None)
@given(st.lists(ANY, max_size=10), st.randoms(use_true_random=False))
def test_order_of_events_does_not_matter(raws: list[Raw], shuffled: Any) -> None:
    last = list({ref_of(raw): raw for raw in raws}.values())
    other = list(last)
    shuffled.shuffle(other)
    assert values_of(engine_of(last)) == values_of(engine_of(other))


@settings(max_examples=150, deadline=None)
@given(st.lists(ANY, max_size=8), st.lists(st.tuples(ANY, st.booleans()), max_size=5))
def test_incremental_equals_from_scratch(raws: list[Raw], edits: list[tuple[Raw, bool]]) -> None:
    engine = engine_of(raws)
    now = {ref_of(raw): raw for raw in raws}
    for raw, stays in edits:
        if stays:
            now[ref_of(raw)] = raw
            engine.put(typed(raw), ref_of(raw))
        else:
            now.pop(ref_of(raw), None)
            engine.remove(ref_of(raw))
        engine.run_stale()
    assert not engine.failures, engine.failures
    assert values_of(engine) == values_of(engine_of(list(now.values())))


@settings(max_examples=100, deadline=None)
@given(st.lists(ANY, max_size=10))
def test_what_is_wanted_comes_to_rest_in_a_few_rounds(raws: list[Raw]) -> None:
    found = {ref_of(raw): raw for raw in raws}
    for _ in range(8):
        before = {ref: dict(raw) for ref, raw in found.items()}
        _carry_out(engine_of(list(found.values())), found)
        if found == before:
            return
    raise AssertionError("something is written in every round")


def _carry_out(engine: Engine, found: Objects) -> None:
    """Applies, deletes and statuses of all outcomes; a changed spec raises the generation."""
    for (name, key), outcome in values_of(engine).items():
        if not isinstance(outcome, Outcome):
            continue
        for apply in outcome.applies:
            current = found.get(apply.ref)
            wanted = wanted_object(apply, current)
            assert wanted is not None
            if current is None:
                wanted["metadata"] |= {"uid": f"made-{apply.ref}", "generation": 1}
            elif wanted.get("spec") != current.get("spec"):
                wanted["metadata"]["generation"] = current["metadata"].get("generation", 0) + 1
            found[apply.ref] = wanted
        for delete in outcome.deletes:
            found.pop(delete.ref, None)
        if key in found and outcome.status:
            status = wanted_status(outcome.status, found[key].get("status", {}), "2026-01-01T00:00:00Z")
            found[key] = {**found[key], "status": status}
        assert name in RULES


def test_pool_of_objects_reaches_an_ingress_of_a_route() -> None:
    """The random objects are of the kind that lead somewhere: a pool like theirs makes a KIngress."""
    raws = [
        network(),
        core_service("x"),
        {
            "apiVersion": SERVING,
            "kind": "Revision",
            "metadata": meta("a"),
            "status": {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}]},
        },
        {
            "apiVersion": SERVING,
            "kind": "Route",
            "metadata": meta("a"),
            "spec": {"traffic": [{"revisionName": "a", "percent": 100}]},
        },
    ]
    outcomes = [value for value in values_of(engine_of(raws)).values() if isinstance(value, Outcome)]
    assert [apply.fields["kind"] for outcome in outcomes for apply in outcome.applies] == ["Service", "Ingress"]
