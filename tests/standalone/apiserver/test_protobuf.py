"""Protobuf bodies: the few that are known, and everything else refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apiserver.api_client import Client
from gatepost.standalone.apiserver.protobuf import UnreadableProtobuf, object_from_protobuf

PROTOBUF = "application/vnd.kubernetes.protobuf"
# Written by hand: envelope {1: {1: "v1", 2: KIND}, 2: object}, object {1: metadata {1: "shop"}, ...}.
NAMESPACE = b"k8s\x00\n\x0f\n\x02v1\x12\tNamespace\x12\x08\n\x06\n\x04shop"
# data {"k": "", "t": "v"} (field 2), immutable false (4); metadata with creationTimestamp {} (8), generateName "" (2)
CONFIG_MAP = (
    b"k8s\x00\n\x0f\n\x02v1\x12\tConfigMap"
    b"\x12\x1a\n\x07\n\x01a\x12\x00B\x00\x12\x05\n\x01k\x12\x00\x12\x06\n\x01t\x12\x01v \x00"
)


def test_kind_and_fields_are_read() -> None:
    assert object_from_protobuf(NAMESPACE) == {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}


def test_empty_fields_are_left_out_and_empty_values_kept() -> None:
    assert object_from_protobuf(CONFIG_MAP) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a"},
        "data": {"k": "", "t": "v"},
        "immutable": False,
    }


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{}", "magic bytes"),
        (NAMESPACE[:-1], "ends in the middle"),
        (NAMESPACE.replace(b"Namespace", b"PodPreset"), "kind 'PodPreset' of 'v1' is read as JSON only"),
        (NAMESPACE.replace(b"\x12\x08\n\x06\n\x04shop", b"\x12\x03\x7a\x01x"), "field 15 of Namespace is not known"),
        (NAMESPACE.replace(b"\n\x04shop", b"\n\x04sh\xff\xff"), "not UTF-8"),
        (NAMESPACE.replace(b"\n\x06\n\x04shop", b"\x08\x01\x08\x01\x08\x01\x08\x01"), "a number stands where"),
    ],
)
def test_anything_else_is_refused_with_the_reason(content: bytes, told: str) -> None:
    with pytest.raises(UnreadableProtobuf, match=told):
        object_from_protobuf(content)


@given(st.binary(max_size=60), st.integers(0, 40))
def test_no_bytes_do_more_than_be_refused(noise: bytes, at: int) -> None:
    try:
        object_from_protobuf(NAMESPACE[:at] + noise + NAMESPACE[at:])
    except UnreadableProtobuf:
        return


async def test_body_that_is_not_known_is_a_415(client: Client) -> None:
    body = NAMESPACE.replace(b"Namespace", b"PodPreset")
    answer = await client("POST", "/api/v1/namespaces", body, content_type=PROTOBUF)
    assert (answer.status, answer.body["reason"]) == (415, "UnsupportedMediaType")
    assert (await client("POST", "/api/v1/namespaces", NAMESPACE, content_type=PROTOBUF)).status == 201
