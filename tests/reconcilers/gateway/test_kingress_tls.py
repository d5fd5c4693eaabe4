"""TLS of KIngresses: grants for Secrets, listeners on the Gateway that they share, and who gets a listener."""

from __future__ import annotations

from typing import Any

import pytest
from gateway_world import (
    EDGE,
    INSIDE,
    PUBLIC,
    config,
    gateway,
    ingress,
    listener_names,
    public_rule,
    rendered,
    tls,
    world,
)
from knative_objects import applied, conditions, controlled_by, event_reasons, meta

from gatepost.objects.refs import Ref, ref_of

Raw = dict[str, Any]

HASH_OF_B = "cd59d56f"
"""The start of `printf b.example.com | sha256sum`."""


def secured(name: str, *hosts: str, **more: Any) -> Raw:
    """A KIngress with a rule and a Secret for each host."""
    entries = [tls(host, f"cert-{host[0]}") for host in hosts]
    return ingress(name, *(public_rule(host) for host in hosts), tls=entries, **more)


def listeners(objects: dict[Ref, Raw], name: str = "public") -> dict[str, str]:
    """Listener -> hostname of the HTTPS listeners of a rendered Gateway."""
    found = next(raw for ref, raw in objects.items() if ref.kind == "Gateway" and ref.name == name)
    return {one["name"]: one["hostname"] for one in found["spec"]["listeners"] if one["protocol"] == "HTTPS"}


def grants(objects: dict[Ref, Raw]) -> list[str]:
    return sorted(ref.name for ref in objects if ref.kind == "ReferenceGrant")


def standing(owner: Raw, host: str, secret: str = "cert-a") -> Raw:
    """A listener as it stands on a Gateway after an earlier run."""
    certificate = {"group": "", "kind": "Secret", "name": secret, "namespace": "shop"}
    return {
        "name": f"kni-{owner['metadata']['uid']}",
        "hostname": host,
        "port": 443,
        "protocol": "HTTPS",
        "tls": {"mode": "Terminate", "certificateRefs": [certificate]},
        "allowedRoutes": {
            "namespaces": {"from": "Selector", "selector": {"matchLabels": {"kubernetes.io/metadata.name": "shop"}}}
        },
    }


def test_each_host_gets_a_listener_and_the_first_has_the_known_name() -> None:
    objects = rendered(*EDGE, secured("app", "a.example.com", "b.example.com"))
    assert listeners(objects) == {
        "kni-uid-shop-app": "a.example.com",
        f"kni-uid-shop-app-{HASH_OF_B}": "b.example.com",
    }
    assert grants(objects) == ["app-cert-a-edge", "app-cert-b-edge"]


@pytest.mark.parametrize("uid", ["a_b", "UID", "u" * 250])
def test_a_uid_that_no_listener_name_can_hold_is_stood_in_for(uid: str) -> None:
    """No API server gives such a UID, but a manifest can have one, and a listener is refused with its whole Gateway."""
    kingress = ingress("app", public_rule("app.example.com"), uid=uid, tls=[tls("app.example.com", "cert")])
    _, name = listener_names(world(*EDGE, kingress), PUBLIC)
    assert (len(name), uid in name) == (len("kni-") + 32, False)


def test_all_hosts_of_one_entry_get_a_listener_with_its_secret() -> None:
    entry = {"hosts": ["a.example.com", "b.example.com"], "secretName": "both", "secretNamespace": "shop"}
    kingress = ingress("app", public_rule("a.example.com"), tls=[entry])
    objects = rendered(*EDGE, kingress)
    assert sorted(listeners(objects).values()) == ["a.example.com", "b.example.com"]
    assert grants(objects) == ["app-both-edge"]


def test_first_entry_with_a_host_gives_its_secret() -> None:
    two = [tls("a.example.com", "first"), tls("a.example.com", "second")]
    objects = rendered(*EDGE, ingress("app", public_rule("a.example.com"), tls=two))
    public = next(raw for ref, raw in objects.items() if ref.name == "public")
    (listener,) = [one for one in public["spec"]["listeners"] if one["protocol"] == "HTTPS"]
    assert [ref["name"] for ref in listener["tls"]["certificateRefs"]] == ["first"]


def test_several_kingresses_share_the_gateway() -> None:
    objects = rendered(*EDGE, secured("one", "a.example.com"), secured("two", "b.example.com"))
    assert listeners(objects) == {"kni-uid-shop-one": "a.example.com", "kni-uid-shop-two": "b.example.com"}


def test_listener_goes_when_tls_is_dropped_and_the_grant_after_it() -> None:
    before = rendered(*EDGE, secured("app", "a.example.com"))
    plain = ingress("app", public_rule("a.example.com"))
    after = rendered(*({**before, ref_of(plain): plain}).values())
    assert listeners(after) == {}
    assert grants(after) == []


def test_grant_stays_while_a_listener_still_needs_it() -> None:
    kingress = ingress("app", public_rule("a.example.com"))
    before = rendered(*EDGE, secured("app", "a.example.com"))
    grant = next(raw for ref, raw in before.items() if ref.kind == "ReferenceGrant")
    busy = gateway("public", standing(kingress, "a.example.com"))
    found = world(config(), busy, INSIDE, kingress, grant)
    assert found.outcome(kingress).deletes == []
    found.put(PUBLIC)
    assert [delete.ref.name for delete in found.outcome(kingress).deletes] == ["app-cert-a-edge"]


def test_grant_for_a_former_secret_goes_once_the_listener_has_the_new_one() -> None:
    before = rendered(*EDGE, secured("app", "a.example.com"))
    renewed = ingress("app", public_rule("a.example.com"), tls=[tls("a.example.com", "renewed")])
    after = rendered(*({**before, ref_of(renewed): renewed}).values())
    assert grants(after) == ["app-renewed-edge"]
    assert listeners(after) == {"kni-uid-shop-app": "a.example.com"}


def test_listener_of_a_kingress_that_is_not_known_here_stays() -> None:
    unknown = standing(secured("elsewhere", "z.example.com"), "z.example.com")
    objects = rendered(config(), gateway("public", unknown), INSIDE, secured("app", "a.example.com"))
    assert listeners(objects) == {"kni-uid-shop-elsewhere": "z.example.com", "kni-uid-shop-app": "a.example.com"}


def test_listener_moves_when_config_gateway_names_another_gateway() -> None:
    kingress = secured("app", "a.example.com")
    former = gateway("former", standing(kingress, "a.example.com"))
    objects = rendered(*EDGE, former, kingress)
    assert listeners(objects, "former") == {}
    assert listeners(objects, "public") == {"kni-uid-shop-app": "a.example.com"}


def test_listener_port_is_that_of_config_gateway() -> None:
    objects = rendered(config(https_port=8443), PUBLIC, INSIDE, secured("app", "a.example.com"))
    public = next(raw for ref, raw in objects.items() if ref.name == "public")
    assert [listener["port"] for listener in public["spec"]["listeners"]] == [80, 8443]


def test_finalizer_is_kept_until_the_listener_is_off_the_gateway() -> None:
    kingress = secured("app", "a.example.com")
    going = {"deletionTimestamp": "2026-03-01T10:00:00Z", "finalizers": ["ingresses.networking.internal.knative.dev"]}
    kingress["metadata"] |= going
    busy = gateway("public", standing(kingress, "a.example.com"))
    found = world(config(), busy, INSIDE, kingress)
    assert found.outcome(kingress).finalizers is None
    assert "Gateway edge/public" in found.outcome(kingress).note
    assert listener_names(found, busy) == ["http"]
    found.put(PUBLIC)
    assert found.outcome(kingress).finalizers == ()


# Only one can have a listener


def test_oldest_of_two_kingresses_gets_the_listener_and_the_other_is_told() -> None:
    old = secured("z-old", "a.example.com", metadata={"creationTimestamp": "2026-01-01T00:00:00Z"})
    new = secured("a-new", "a.example.com", namespace="media", metadata={"creationTimestamp": "2026-02-01T00:00:00Z"})
    found = world(*EDGE, new, old)
    assert listener_names(found, PUBLIC) == ["http", "kni-uid-shop-z-old"]
    assert conditions(found.outcome(new))["Ready"] == ("False", "HostnameConflict")
    assert "Ingress shop/z-old claimed it before" in found.outcome(new).problems[0].message
    assert found.outcome(old).problems == []
    found.remove(old)
    assert listener_names(found, PUBLIC) == ["http", "kni-uid-media-a-new"]
    assert found.outcome(new).problems == []


def test_listener_of_someone_else_on_that_host_is_not_doubled() -> None:
    by_hand = {"name": "by-hand", "hostname": "a.example.com", "port": 443, "protocol": "HTTPS"}
    kingress = secured("app", "a.example.com", "b.example.com")
    busy = gateway("public", by_hand)
    found = world(config(), busy, INSIDE, kingress)
    assert listener_names(found, busy) == ["http", "by-hand", f"kni-uid-shop-app-{HASH_OF_B}"]
    assert conditions(found.outcome(kingress))["NetworkConfigured"] == ("False", "HostnameConflict")
    assert 'listener "by-hand" has it' in found.outcome(kingress).problems[0].message


def test_same_host_on_another_port_is_no_conflict() -> None:
    by_hand = {"name": "by-hand", "hostname": "a.example.com", "port": 8443, "protocol": "HTTPS"}
    kingress = secured("app", "a.example.com")
    found = world(config(), gateway("public", by_hand), INSIDE, kingress)
    assert found.outcome(kingress).problems == []


def test_foreign_grant_leaves_the_listener_as_it_is() -> None:
    kingress = secured("app", "a.example.com")
    busy = gateway("public", standing(kingress, "a.example.com", secret="former"))
    foreign = {
        "apiVersion": "gateway.networking.k8s.io/v1beta1",
        "kind": "ReferenceGrant",
        "metadata": meta("app-cert-a-edge", ownerReferences=controlled_by(secured("someone", "x.example.com"))),
        "spec": {},
    }
    found = world(config(), busy, INSIDE, kingress, foreign)
    assert listener_names(found, busy) == ["http", "kni-uid-shop-app"]
    assert applied(found.outcome(kingress), "ReferenceGrant") is None
    assert [event.reason for event in found.outcome(kingress).events if event.type == "Warning"] == [
        "NotOwned",
        "InternalError",
    ]


# A Gateway has room for 64


def crowded(count: int) -> list[Raw]:
    """KIngresses of rising age, each with a host of its own."""
    return [
        secured(f"app-{n:02}", f"{n:02}.example.com", metadata={"creationTimestamp": f"2026-01-01T00:{n:02}:00Z"})
        for n in range(count)
    ]


def test_newest_kingress_beyond_the_limit_is_told_and_the_others_are_served() -> None:
    many = crowded(58)
    taken = [{"name": f"by-hand-{n}", "port": 9000 + n, "protocol": "TCP"} for n in range(6)]
    busy = gateway("public", *taken)  # with "http" that makes 7, so there is room for 57
    found = world(config(), busy, INSIDE, *many)
    names = listener_names(found, busy)
    assert len(names) == 64
    assert names[-1] == "kni-uid-shop-app-56"
    assert conditions(found.outcome(many[57]))["Ready"] == ("False", "NoRoomOnGateway")
    assert found.outcome(many[56]).problems == []
    found.take_ran()
    found.remove(many[0])
    assert "kni-uid-shop-app-57" in listener_names(found, busy)
    assert found.outcome(many[57]).problems == []


def test_wish_that_still_fits_reruns_no_other_kingress() -> None:
    first, second = crowded(2)
    found = world(*EDGE, first)
    found.take_ran()
    found.put(second)
    assert [ref.name for ref in found.take_ran()] == ["app-01"]


# What the Gateway says of a listener


def test_listener_that_the_gateway_refuses_is_told_and_keeps_the_kingress_from_being_ready() -> None:
    kingress = secured("app", "a.example.com")
    found = world(*EDGE, kingress)
    assert "ListenerNotReady" not in event_reasons(found.outcome(kingress))
    refused = {"type": "Accepted", "status": "False", "reason": "PortUnavailable", "message": "no such port."}
    others = {"name": "by-hand", "conditions": [refused]}
    own = {"name": "kni-uid-shop-app", "conditions": [refused, {"type": "ResolvedRefs", "status": "True"}]}
    found.put({**PUBLIC, "status": {**PUBLIC["status"], "listeners": [others, own]}})
    (told,) = [skipped for skipped in found.outcome(kingress).skipped if skipped.reason == "ListenerNotReady"]
    assert told.message == ("https for a.example.com is not served: Accepted is False (PortUnavailable) no such port.")
    assert conditions(found.outcome(kingress))["Ready"] == ("Unknown", "ListenerNotReady")
