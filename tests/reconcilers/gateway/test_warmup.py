"""Probes as the rules see them: Ready only when they pass, and traffic moves only to backends that a gateway knows."""

from __future__ import annotations

from typing import Any

from gateway_world import (
    EDGE,
    INSIDE,
    PUBLIC,
    SERVED,
    config,
    gateway,
    ingress,
    parents,
    path,
    public_rule,
    route_of,
    tls,
    verdict,
)
from knative_objects import World, conditions

from gatepost.objects.meta import ObjectMeta
from gatepost.objects.probes import ProbeVerdict
from gatepost.objects.settings import Settings
from gatepost.reconcilers import gateway as controller
from gatepost.reconcilers.gateway.probes import PROBES, Endpoint, Probe
from gatepost.reconcilers.gateway.reconcile import KINGRESS
from published_crds import assert_valid

Raw = dict[str, Any]

HOST = "app.example.com"
WARMUP = f"{HOST}-warmup"


def probing_world(*raws: Raw) -> World:
    """A store where somebody sends probes."""
    found = World(KINGRESS, controller.RULES, (*controller.INDEXES, *controller.PROBING_INDEXES))
    found.engine.put(Settings(probe=True))
    found.put(*raws)
    return found


def app(*services: str, generation: int = 1, status: Raw | None = None, **more: Any) -> Raw:
    kingress = ingress("app", public_rule(HOST, path(*services)), metadata={"generation": generation}, **more)
    return {**kingress, "status": status or {"observedGeneration": generation}}


READY = {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}]}


def there(kingress: Raw, *services: str, name: str = HOST, **more: Any) -> Raw:
    """The route as the gateway serves it: to these backends, and for probes to another one."""
    found = route_of(kingress, name, hosts=[HOST], status=parents(verdict(*SERVED)), **more)
    probe = {"headers": [{"name": "K-Network-Hash", "value": "override"}]}
    found["spec"]["rules"] = [
        {"matches": [probe], "backendRefs": [{"name": "for-probes", "port": 80}]},
        {"backendRefs": [{"name": service, "port": 80} for service in services]},
    ]
    return found


def probes(found: World) -> list[Probe]:
    return [probe for probe, _ in found.engine.values(PROBES) if isinstance(probe, Probe)]


def answer(found: World, probe: Probe, *, passed: bool = True, why: str = "", is_lasting: bool = False) -> None:
    metadata = ObjectMeta(namespace=probe.route.namespace, name=probe.name)
    found.engine.put(ProbeVerdict(metadata=metadata, passed=passed, why=why, is_lasting=is_lasting))
    found.engine.run_stale()


def written(found: World, kingress: Raw) -> dict[str, list[str]]:
    """Name -> backends, of each rule's first, of the routes that are wanted."""
    outcome = found.outcome(kingress)
    for apply in outcome.applies:
        assert_valid(apply.fields)
    return {
        apply.fields["metadata"]["name"]: [rule["backendRefs"][0]["name"] for rule in apply.fields["spec"]["rules"]]
        for apply in outcome.applies
        if apply.fields["kind"] == "HTTPRoute"
    }


def ready(found: World, kingress: Raw) -> str:
    return conditions(found.outcome(kingress))["Ready"][0]


def test_accepted_route_is_ready_only_when_its_probe_has_passed() -> None:
    kingress = app("one")
    found = probing_world(*EDGE, kingress, there(kingress, "one"))
    assert ready(found, kingress) == "Unknown"
    assert conditions(found.outcome(kingress))["NetworkConfigured"][0] == "True"
    (probe,) = probes(found)
    assert [(url.host, url.path) for url in probe.urls] == [(HOST, "/")]
    answer(found, probe, passed=False, why="answered 404")
    assert ready(found, kingress) == "Unknown"
    assert "answered 404" in found.outcome(kingress).skipped[0].message
    answer(found, probe)
    assert ready(found, kingress) == "True"


def test_without_somebody_who_sends_probes_the_status_decides() -> None:
    kingress = app("one")
    found = World(KINGRESS, controller.RULES, controller.INDEXES, *EDGE, kingress, there(kingress, "one"))
    assert (ready(found, kingress), probes(found)) == ("True", [])


def test_route_that_is_not_accepted_is_not_probed() -> None:
    kingress = app("one")
    waiting = {**there(kingress, "one"), "status": parents(verdict(("Accepted", "False")))}
    assert probes(probing_world(*EDGE, kingress, waiting)) == []


def test_what_was_ready_is_not_asked_again() -> None:
    kingress = app("one", status=READY)
    found = probing_world(*EDGE, kingress, there(kingress, "one"))
    assert (ready(found, kingress), probes(found)) == ("True", [])


def test_backend_that_cannot_answer_probes_is_told_in_an_event() -> None:
    kingress = app("one")
    found = probing_world(*EDGE, kingress, there(kingress, "one"))
    answer(found, probes(found)[0], passed=False, why="answered 200 without K-Network-Hash", is_lasting=True)
    assert [e.reason for e in found.outcome(kingress).events if e.type == "Warning"] == ["ProbeWaiting"]


def test_challenges_are_not_probed() -> None:
    solver = path("solver", path="/.well-known/acme-challenge/token")
    kingress = {**ingress("app", public_rule(HOST, solver, path("one"))), "status": {"observedGeneration": 1}}
    (probe,) = probes(probing_world(*EDGE, kingress, there(kingress, "one", "solver")))
    assert [url.path for url in probe.urls] == ["/"]


def test_hosts_with_tls_are_probed_over_both() -> None:
    kingress = app("one", tls=[tls(HOST, "cert")])
    found = probing_world(config(https_port=8443), PUBLIC, INSIDE, kingress, there(kingress, "one"))
    by_tls = {probe.over_tls: probe for probe in probes(found)}
    assert set(by_tls) == {False}  # the second is asked once the first has passed
    answer(found, by_tls[False])
    secured = next(probe for probe in probes(found) if probe.over_tls)
    state = found.engine.value(PROBES, secured)
    assert state is not None
    assert state.endpoints == (Endpoint("192.0.2.10", 8443),)
    answer(found, secured)
    assert ready(found, kingress) == "True"


# Where to ask


def behind(name: str, *addresses: str, port: int = 8080, port_name: str = "http", ready: bool = True) -> Raw:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": name, "namespace": "edge", "labels": {"kubernetes.io/service-name": "public-lb"}},
        "addressType": "IPv4",
        "ports": [{"name": "metrics", "port": 9100}, {"name": port_name, "port": port}],
        "endpoints": [{"addresses": [address], "conditions": {"ready": ready}} for address in addresses],
    }


def endpoints(*raws: Raw) -> tuple[Endpoint, ...]:
    kingress = app("one")
    found = probing_world(config(service="edge/public-lb"), PUBLIC, INSIDE, kingress, there(kingress, "one"), *raws)
    (probe,) = probes(found)
    state = found.engine.value(PROBES, probe)
    assert state is not None
    return state.endpoints


def test_every_ready_address_behind_the_service_is_asked_on_its_port() -> None:
    found = endpoints(behind("a", "10.0.0.2", "10.0.0.1"), behind("b", "10.0.0.3", port=8000, port_name="http2"))
    assert found == (Endpoint("10.0.0.1", 8080), Endpoint("10.0.0.2", 8080), Endpoint("10.0.0.3", 8000))


def test_addresses_that_are_not_ready_are_not_asked() -> None:
    assert endpoints(behind("a", "10.0.0.1", ready=False)) == ()


def test_without_a_port_of_a_known_name_the_first_counts() -> None:
    assert endpoints(behind("a", "10.0.0.1", port_name="web")) == (Endpoint("10.0.0.1", 9100),)


def test_without_a_service_the_address_and_the_port_of_the_gateway_count() -> None:
    kingress = app("one")
    listener = {"name": "http", "port": 8000, "protocol": "HTTP"}
    public = gateway("public")
    public["spec"] = {**public["spec"], "listeners": [listener]}
    found = probing_world(config(), public, INSIDE, kingress, there(kingress, "one"))
    state = found.engine.value(PROBES, probes(found)[0])
    assert state is not None
    assert state.endpoints == (Endpoint("192.0.2.10", 8000),)


# Moves to a new Service


def test_route_stays_until_the_gateway_has_shown_that_it_knows_the_new_backend() -> None:
    kingress = app("two", generation=2)
    found = probing_world(*EDGE, kingress, there(kingress, "one"))
    assert written(found, kingress) == {WARMUP: ["two", "one"]}
    assert ready(found, kingress) == "Unknown"
    (probe,) = probes(found)
    assert (probe.version[:3], [url.path for url in probe.urls]) == (
        "ep-",
        ["/.well-known/knative/revision/shop/two"],
    )
    answer(found, probe, passed=False, why="answered 503")
    assert written(found, kingress) == {WARMUP: ["two", "one"]}
    answer(found, probe)
    assert written(found, kingress) == {WARMUP: ["two", "one"], HOST: ["two", "two"]}


def test_hidden_paths_stay_until_the_new_route_is_served() -> None:
    kingress = app("two", generation=2)
    hidden = there(kingress, name=WARMUP)
    found = probing_world(*EDGE, kingress, there(kingress, "two"), hidden)
    assert written(found, kingress) == {HOST: ["two", "two"]}
    assert found.outcome(kingress).deletes == []
    (probe,) = probes(found)
    answer(found, probe)
    assert [delete.ref.name for delete in found.outcome(kingress).deletes] == [WARMUP]
    assert ready(found, kingress) == "True"


def test_change_without_a_new_backend_is_written_at_once() -> None:
    kingress = app("one", "two", generation=2)
    found = probing_world(*EDGE, kingress, there(kingress, "two", "one", "three"))
    assert list(written(found, kingress)) == [HOST]


def test_first_route_of_a_host_is_written_at_once() -> None:
    assert list(written(probing_world(*EDGE, app("one")), app("one"))) == [HOST]


def test_without_probes_a_move_is_written_at_once() -> None:
    kingress = app("two", generation=2)
    found = World(KINGRESS, controller.RULES, controller.INDEXES, *EDGE, kingress, there(kingress, "one"))
    assert list(written(found, kingress)) == [HOST]


def test_seventeen_backends_are_shown_by_two_hidden_routes() -> None:
    services = [f"new-{number:02}" for number in range(9)]
    kingress = app(*services, generation=2)
    found = probing_world(*EDGE, kingress, there(kingress, *(f"old-{number}" for number in range(8))))
    assert {name: len(backends) for name, backends in written(found, kingress).items()} == {
        WARMUP: 16,
        f"{WARMUP}-02": 1,
    }
