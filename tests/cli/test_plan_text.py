"""How a plan is printed: on a narrow terminal, and with conflicts counted by name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gatepost.cli import plan_text
from gatepost.cli.plan_text import as_json, as_markdown, print_preview, summary
from gatepost.dns.endpoint import Endpoint
from gatepost.dns.plan import CREATE, DELETE, UPDATE, Cause, Held, Plan, PlannedChange
from gatepost.dns.served import UnreadZone
from gatepost.objects.gatewayapi import HTTPRoute
from gatepost.objects.problems import Problem
from gatepost.runtime.dns.preview import NameConflict, Preview

APP = HTTPRoute.KIND.ref("shop", "app")
OLD = Endpoint("a-name-that-is-rather-long.shop.example.com", "A", ("192.0.2.1", "192.0.2.2"), 300)
NEW = Endpoint("a-name-that-is-rather-long.shop.example.com", "A", ("192.0.2.3",), 60, "blue")
CHANGE = PlannedChange(
    UPDATE, OLD, NEW, (Cause("targets", "192.0.2.1, 192.0.2.2 -> 192.0.2.3", APP), Cause("ttl", "300 -> 60", APP))
)


def lost(route: str) -> Problem:
    ref = HTTPRoute.KIND.ref("shop", route)
    return Problem("DNSConflict", "app.example.com belongs to HTTPRoute shop/app, whose claim comes first", ref)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stdout is a terminal of 80 columns."""
    monkeypatch.setattr(plan_text, "_columns", lambda: 80)


@pytest.mark.usefixtures("terminal")
def test_a_table_that_does_not_fit_the_terminal_becomes_blocks(capsys: pytest.CaptureFixture[str]) -> None:
    held = Held(OLD, DELETE, Cause("doubtful", "Gateway infra/public: status.addresses: has no address yet", APP))
    print_preview(Preview(Plan((CHANGE,), (held,)), (), (), 1), "table")
    printed = capsys.readouterr().out
    assert printed.splitlines() == [
        "update A a-name-that-is-rather-long.shop.example.com set blue ttl 300 -> 60",
        "    192.0.2.1, 192.0.2.2 -> 192.0.2.3",
        "    targets: 192.0.2.1, 192.0.2.2 -> 192.0.2.3; ttl: 300 -> 60",
        "",
        "delete A a-name-that-is-rather-long.shop.example.com",
        "    192.0.2.1, 192.0.2.2",
        "    doubtful: Gateway infra/public: status.addresses: has no address yet",
        "",
        "Plan: 1 to update; 1 held back",
    ]


@pytest.mark.usefixtures("terminal")
def test_long_causes_are_wrapped_between_words(capsys: pytest.CaptureFixture[str]) -> None:
    many = Endpoint("app.example.com", "A", tuple(f"192.0.2.{number}" for number in range(1, 20)))
    print_preview(Preview(Plan((PlannedChange(CREATE, None, many, (Cause("new", "so " * 40),)),)), (), (), 0), "table")
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert all(line.startswith("    ") for line in lines[1:-2])


@pytest.mark.usefixtures("terminal")
def test_a_table_that_fits_stays_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    record = Endpoint("app.example.com", "A", ("192.0.2.1",))
    print_preview(Preview(Plan((PlannedChange(CREATE, None, record, (Cause("new", "why"),)),)), (), (), 0), "table")
    assert capsys.readouterr().out.splitlines()[:2] == [
        "CHANGE  NAME             TYPE  TARGETS    CAUSE",
        "create  app.example.com  A     192.0.2.1  new: why",
    ]


def test_a_name_that_several_objects_lost_is_one_conflict() -> None:
    several = Preview(Plan(), (NameConflict("app.example.com", "", (lost("b"), lost("c"))),), (), 0)
    assert summary(several) == "no changes; 1 conflict"
    printed: dict[str, Any] = json.loads(json.dumps(as_json(several)))
    assert printed["summary"]["conflicts"] == 1
    assert [(entry["name"], entry["object"]) for entry in printed["conflicts"]] == [
        ("app.example.com", "HTTPRoute shop/b"),
        ("app.example.com", "HTTPRoute shop/c"),
    ]
    assert as_markdown(several).count("- HTTPRoute shop/") == 2


def test_a_zone_that_could_not_be_read_is_in_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    partly = Preview(Plan(), (), (), 0, (UnreadZone("example.org", "ns1.example.net: REFUSED"),))
    print_preview(partly, "table")
    assert capsys.readouterr().out.splitlines() == [
        "Not read",
        "  zone example.org: ns1.example.net: REFUSED",
        "",
        "Plan: no changes; 1 zone not read",
    ]
    assert as_json(partly)["unread"] == [{"zone": "example.org", "why": "ns1.example.net: REFUSED"}]
    assert as_markdown(partly).splitlines() == [
        "**DNS plan**: no changes; 1 zone not read",
        "",
        "Not read:",
        "",
        "- zone example.org: ns1.example.net: REFUSED",
    ]


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("a`b|c", "`ab\\|c`"),
        ("*.example.com", "`*.example.com`"),
        ("a\n|b", "`a \\|b`"),
        ("<img src=x>", "`<img src=x>`"),
        ("a\\|b", "`a\\\\\\|b`"),
    ],
)
def test_no_name_leaves_its_cell(text: str, cell: str) -> None:
    change = PlannedChange(CREATE, None, Endpoint(text, "A", ("192.0.2.1",)), (Cause("new", "why"),))
    row = as_markdown(Preview(Plan((change,)), (), (), 0)).splitlines()[-1]
    assert row == f"| create | {cell} | A | `192.0.2.1` | new: why |"


def test_no_text_calls_people_or_issues() -> None:
    change = PlannedChange(CREATE, None, OLD, (Cause("new", "@everyone, see #1"),))
    row = as_markdown(Preview(Plan((change,)), (), (), 0)).splitlines()[-1]
    assert row.endswith("| new: @<!-- -->everyone, see #<!-- -->1 |")
