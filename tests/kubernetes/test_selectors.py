"""Label and field selectors."""

from __future__ import annotations

import pytest

from gatepost.kubernetes.selectors import BadSelector, field_matcher, label_matcher, structured_matcher

LABELS = {"app": "web", "tier": "front", "example.com/size": "10", "empty": ""}


@pytest.mark.parametrize(
    ("selector", "met"),
    [
        ("", True),
        ("app=web", True),
        ("app==web", True),
        ("app=db", False),
        ("app!=web", False),
        ("owner!=helm", True),
        ("app in (web, db)", True),
        ("app in (db)", False),
        ("app notin (db,cache)", True),
        ("app notin (web)", False),
        ("owner notin (x)", True),
        ("app", True),
        ("owner", False),
        ("!owner", True),
        ("!app", False),
        ("app=web,tier in (front),!owner", True),
        ("app=web,tier=back", False),
        (" app = web , tier != back ", True),
        ("example.com/size>9", True),
        ("example.com/size<10", False),
        ("app>1", False),
        ("empty=", True),
        ("empty in ()", True),
        ("missing=", False),
    ],
)
def test_label_selector_text(selector: str, met: bool) -> None:
    assert label_matcher(selector)(LABELS) is met


@pytest.mark.parametrize(
    "selector",
    [
        "app=web,",
        ",app",
        "app in web",
        "app in (web",
        "=web",
        "app=we b",
        "a b",
        "-app",
        "app=-x",
        "app>x",
        "!",
        "a//b",
    ],
)
def test_a_label_selector_that_cannot_be_read_is_told_with_its_text(selector: str) -> None:
    with pytest.raises(BadSelector) as told:
        label_matcher(selector)
    assert repr(selector) in str(told.value)


@pytest.mark.parametrize(
    ("selector", "met"),
    [
        ({}, True),
        (None, False),
        ({"matchLabels": {"app": "web"}}, True),
        ({"matchLabels": {"app": "web", "tier": "back"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}, False),
        ({"matchExpressions": [{"key": "owner", "operator": "DoesNotExist"}]}, True),
        ({"matchExpressions": [{"key": "owner", "operator": "Exists"}]}, False),
        (
            {"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "owner", "operator": "Exists"}]},
            False,
        ),
    ],
)
def test_structured_label_selector(selector: dict[str, object] | None, met: bool) -> None:
    assert structured_matcher(selector)(LABELS) is met


@pytest.mark.parametrize(
    ("selector", "field"),
    [
        ({"matchExpressions": [{"key": "a", "operator": "Is"}]}, r"matchExpressions\[0\].operator"),
        ({"matchExpressions": [{"key": "a", "operator": "In"}]}, r"matchExpressions\[0\].values"),
        ({"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["x"]}]}, r"\[0\].values"),
        ({"matchExpressions": [{"operator": "Exists"}]}, r"matchExpressions\[0\].key"),
        ({"matchLabels": {"a": 1}}, r"matchLabels\[a\]"),
    ],
)
def test_a_structured_selector_that_is_wrong_is_told_with_its_field(selector: dict[str, object], field: str) -> None:
    with pytest.raises(BadSelector, match=field):
        structured_matcher(selector)


SECRET = {"metadata": {"name": "s", "namespace": "x"}, "type": "Opaque", "immutable": True, "spec": {"n": 3}}
SELECTABLE = ("metadata.name", "metadata.namespace", "type", "immutable", "spec.n", "status.phase")


@pytest.mark.parametrize(
    ("selector", "met"),
    [
        ("metadata.name=s", True),
        ("metadata.name==t", False),
        ("metadata.name!=t,metadata.namespace=x", True),
        ("type!=Opaque", False),
        ("immutable=true", True),
        ("spec.n=3", True),
        ("status.phase=", True),
        ("status.phase!=Running", True),
        ("metadata.name=a\\,b", False),
        ("", True),
    ],
)
def test_field_selector(selector: str, met: bool) -> None:
    assert field_matcher(selector, SELECTABLE)(SECRET) is met


def test_a_field_selector_without_operator_is_told() -> None:
    with pytest.raises(BadSelector, match=r"metadata\.name"):
        field_matcher("metadata.name", SELECTABLE)


@pytest.mark.parametrize("selector", ["metadata.nmae!=s", "metadata.name=s,data.k=v", "metadata=s"])
def test_a_field_that_cannot_be_asked_is_refused(selector: str) -> None:
    with pytest.raises(
        BadSelector, match=r"field label not supported: (metadata\.nmae|data\.k|metadata); wanted one of"
    ):
        field_matcher(selector, SELECTABLE)
