"""Names that may be mapped, claims on them, and the finalizer that releases a claim."""

from __future__ import annotations

import pytest
from domain_world import CORE_SERVICE, DOMAIN, FINALIZER, claim, domain_world, mapping, ready_before
from knative_objects import NETWORKING, applied, conditions, core_service, event_reasons, network, the, told_if_refused

from gatepost.objects.refs import Ref

WEB = core_service("web")
AUTOCREATE = network(autocreate_cluster_domain_claims="true")
CLAIM_REF = Ref("networking.internal.knative.dev", "ClusterDomainClaim", "", DOMAIN)


@pytest.mark.parametrize(
    "name",
    [
        "intranet",
        "*.example.com",
        "App.example.com",
        "app..example.com",
        "app.example.com.",
        "-app.example.com",
        "under_score.example.com",
        f"{'a' * 64}.example.com",
        f"{'a.' * 125}com.org",
        "web.shop.svc.cluster.local",
        "app.cluster.local",
    ],
)
def test_name_that_admission_would_refuse_gets_neither_claim_nor_ingress(name: str) -> None:
    seen = mapping(CORE_SERVICE, name)
    outcome = domain_world(AUTOCREATE, WEB, seen).outcome(seen)
    assert outcome.applies == []
    assert conditions(outcome)["DomainClaimed"] == ("False", "DomainNameInvalid")
    assert conditions(outcome)["Ready"] == ("False", "DomainNameInvalid")
    assert [problem.field for problem in outcome.problems] == ["metadata.name"]


@pytest.mark.parametrize(
    "name", ["a.b", "xn--bcher-kva.example", f"{'a' * 63}.example.com", "cluster.local.example.com"]
)
def test_name_of_a_domain_gets_claim_and_ingress(name: str) -> None:
    seen = mapping(CORE_SERVICE, name)
    world = domain_world(AUTOCREATE, WEB, seen)
    assert the(world.outcome(seen), "ClusterDomainClaim")["metadata"] == {"name": name}
    world.carry_out(seen)
    assert the(world.outcome(seen), "Ingress")["spec"]["rules"][0]["hosts"] == [name]


def test_generated_name_is_refused() -> None:
    seen = mapping(CORE_SERVICE, "app.example.comx7k2p", metadata={"generateName": "app.example.com"})
    outcome = domain_world(AUTOCREATE, WEB, seen).outcome(seen)
    assert outcome.applies == []
    assert [problem.field for problem in outcome.problems] == ["metadata.generateName"]


def test_claim_is_made_for_the_namespace_where_that_is_left_to_us() -> None:
    seen = mapping(CORE_SERVICE)
    outcome = domain_world(AUTOCREATE, WEB, seen).outcome(seen)
    assert the(outcome, "ClusterDomainClaim") == {
        "apiVersion": NETWORKING,
        "kind": "ClusterDomainClaim",
        "metadata": {"name": DOMAIN},
        "spec": {"namespace": "shop"},
    }


def test_nothing_is_made_or_said_before_the_claim_has_been_seen() -> None:
    seen = mapping(CORE_SERVICE)
    settings = network(autocreate_cluster_domain_claims="true", external_domain_tls="Enabled")
    world = domain_world(settings, WEB, seen)
    outcome = world.outcome(seen)
    assert [apply.ref for apply in outcome.applies] == [CLAIM_REF]
    assert [apply.announce for apply in outcome.applies] == [outcome.about]  # a refusal is told to the mapping
    assert outcome.status == {}
    world.carry_out(seen)
    assert conditions(world.outcome(seen))["DomainClaimed"] == ("True", "")
    assert {apply.ref.kind for apply in world.outcome(seen).applies} == {"Certificate", "Ingress"}


def test_claim_that_the_server_refuses_leaves_open_whose_the_domain_is() -> None:
    seen = mapping(CORE_SERVICE, status=ready_before())
    outcome = domain_world(AUTOCREATE, WEB, seen).outcome(seen)
    told = told_if_refused(outcome, "ClusterDomainClaim")
    assert told["DomainClaimed"] == told["Ready"] == ("Unknown", "DomainClaimFailed")
    assert told["IngressReady"] == ("True", "")
    assert outcome.status_if_refused[CLAIM_REF]["url"] == f"http://{DOMAIN}"


def test_claim_of_another_namespace_stops_before_certificate_and_ingress() -> None:
    seen = mapping(CORE_SERVICE)
    settings = network(autocreate_cluster_domain_claims="true", external_domain_tls="Enabled")
    outcome = domain_world(settings, WEB, claim(namespace="rival"), seen).outcome(seen)
    assert outcome.applies == []
    assert conditions(outcome)["DomainClaimed"] == ("False", "DomainAlreadyClaimed")
    assert event_reasons(outcome) == ["InternalError"]
    assert [(problem.about, problem.field) for problem in outcome.problems] == [(CLAIM_REF, "spec.namespace")]


def test_missing_claim_without_autocreation_says_how_to_get_one() -> None:
    seen = mapping(CORE_SERVICE)
    outcome = domain_world(network(), WEB, seen).outcome(seen)
    assert outcome.applies == []
    assert conditions(outcome)["DomainClaimed"] == ("False", "DomainAlreadyClaimed")
    assert "autocreate-cluster-domain-claims" in outcome.problems[0].hint


def test_url_is_reported_although_the_claim_is_refused() -> None:
    seen = mapping(CORE_SERVICE)
    outcome = domain_world(network(default_external_scheme="https"), WEB, seen).outcome(seen)
    assert outcome.status["url"] == f"https://{DOMAIN}"
    assert outcome.status["address"] == {"url": f"https://{DOMAIN}"}


@pytest.mark.parametrize(
    ("shop_since", "winner"), [("2026-01-02T00:00:00Z", "rival"), ("2025-12-31T00:00:00Z", "shop")]
)
def test_oldest_of_two_mappings_of_one_name_makes_the_claim(shop_since: str, winner: str) -> None:
    ours = mapping(CORE_SERVICE, metadata={"creationTimestamp": shop_since})
    theirs = mapping(CORE_SERVICE, namespace="rival", metadata={"creationTimestamp": "2026-01-01T00:00:00Z"})
    world = domain_world(AUTOCREATE, WEB, core_service("web", "rival"), ours, theirs)
    makers = [seen["metadata"]["namespace"] for seen in (ours, theirs) if world.outcome(seen).applies]
    assert makers == [winner]


def test_mapping_that_is_being_deleted_does_not_contend_for_the_claim() -> None:
    going = mapping(
        CORE_SERVICE,
        metadata={"creationTimestamp": "2020-01-01T00:00:00Z", "deletionTimestamp": "2026-01-01T00:00:00Z"},
    )
    staying = mapping(CORE_SERVICE, namespace="rival", metadata={"creationTimestamp": "2026-01-01T00:00:00Z"})
    world = domain_world(AUTOCREATE, core_service("web", "rival"), going, staying)
    assert the(world.outcome(staying), "ClusterDomainClaim")["spec"] == {"namespace": "rival"}


def test_finalizer_goes_behind_those_of_others_and_is_told() -> None:
    seen = mapping(CORE_SERVICE)
    seen["metadata"]["finalizers"] = ["z.example.com", "a.example.com"]
    outcome = domain_world(AUTOCREATE, WEB, seen).outcome(seen)
    assert outcome.finalizers == ("z.example.com", "a.example.com", FINALIZER)
    assert event_reasons(outcome) == ["FinalizerUpdate"]


def test_finalizer_that_is_there_is_left_alone() -> None:
    seen = mapping(CORE_SERVICE)
    outcome = domain_world(AUTOCREATE, WEB, seen).outcome(seen)
    assert outcome.finalizers is None
    assert event_reasons(outcome) == []


GOING = {
    "deletionTimestamp": "2026-01-01T00:00:00Z",
}


def test_deletion_releases_the_claim_of_the_namespace_and_touches_nothing_else() -> None:
    seen = mapping(CORE_SERVICE, metadata=GOING)
    seen["metadata"]["finalizers"] = ["z.example.com", FINALIZER, "a.example.com"]
    outcome = domain_world(AUTOCREATE, WEB, claim(), seen).outcome(seen)
    assert [(delete.ref, delete.uid) for delete in outcome.deletes] == [(CLAIM_REF, f"uid-claim-{DOMAIN}")]
    assert outcome.finalizers == ("a.example.com", "z.example.com")
    assert outcome.applies == []
    assert outcome.status == {}


def test_deletion_leaves_a_claim_of_another_namespace() -> None:
    seen = mapping(CORE_SERVICE, metadata=GOING)
    outcome = domain_world(AUTOCREATE, claim(namespace="rival"), seen).outcome(seen)
    assert outcome.deletes == []
    assert outcome.finalizers == ()


def test_deletion_leaves_claims_that_administrators_make() -> None:
    seen = mapping(CORE_SERVICE, metadata=GOING)
    outcome = domain_world(network(), claim(), seen).outcome(seen)
    assert outcome.deletes == []
    assert outcome.finalizers == ()


def test_deletion_without_our_finalizer_does_nothing() -> None:
    seen = mapping(CORE_SERVICE, metadata=GOING)
    seen["metadata"]["finalizers"] = ["z.example.com"]
    outcome = domain_world(AUTOCREATE, claim(), seen).outcome(seen)
    assert outcome.deletes == []
    assert outcome.finalizers is None


def test_config_network_that_does_not_parse_leaves_everything_as_it_is() -> None:
    seen = mapping(CORE_SERVICE)
    outcome = domain_world(network(http_protocol="maybe"), WEB, claim(), seen).outcome(seen)
    assert outcome.applies == []
    assert outcome.status == {}
    assert outcome.finalizers is None
    assert [problem.field for problem in outcome.problems] == ["data.http-protocol"]
    assert applied(outcome, "Ingress") is None
