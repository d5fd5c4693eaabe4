"""The commands of pages on DNS and of the README over examples print what the page says they print."""

from __future__ import annotations

import pathlib
import re
import shlex

import pytest
from click.testing import CliRunner, Result

from gatepost.cli.commands import gatepost

ROOT = pathlib.Path(__file__).parents[2]
FENCED = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS, PLAN_BLOCKS = (
    FENCED.findall((ROOT / "docs" / page).read_text()) for page in ("dns-conflicts.md", "dns-plan.md")
)
"""The text between fences: `$ ` and a command, then what it prints; `$ echo $?` shows the exit code of the last one."""


def run(command: str) -> Result:
    program, *arguments = shlex.split(command)
    assert program == "gatepost"
    return CliRunner().invoke(gatepost, arguments)


def steps(block: str) -> list[tuple[str, str]]:
    """The commands of a block, each with what the page says that it prints."""
    first, *rest = re.split(r"^\$ ", block, flags=re.MULTILINE)
    assert first == ""
    return [(command, printed) for command, _, printed in (step.partition("\n") for step in rest)]


@pytest.mark.parametrize("block", [*BLOCKS, *PLAN_BLOCKS])
def test_commands_of_the_page_print_what_it_says(block: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    exit_code = 0
    for command, printed in steps(block):
        if command == "echo $?":
            assert printed == f"{exit_code}\n"
            continue
        result = run(command)
        exit_code = result.exit_code
        assert result.stdout + result.stderr == printed


def test_the_page_shows_every_way_to_settle_a_conflict() -> None:
    assert (len(BLOCKS), len(PLAN_BLOCKS)) == (6, 1)
    commands = [command for block in BLOCKS for command, _ in steps(block)]
    assert {choice for command in commands for choice in re.findall(r"--conflict (\w+)", command)} == {
        "merge",
        "refuse",
    }


def test_the_readme_commands_over_the_example_of_two_gateways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    readme = (ROOT / "README.md").read_text()
    commands = [
        f"gatepost {line.partition('#')[0].strip()}"
        for line in re.findall(r"^    gatepost (\w+ .*examples/gateway.*)$", readme, re.MULTILINE)
    ]
    assert commands == ["gatepost endpoints examples/gateway", "gatepost explain www.example.com examples/gateway"]
    endpoints, explanation = map(run, commands)
    assert endpoints.stdout.splitlines() == [
        "NAME              TYPE  TARGETS     RESOURCE",
        "shop.example.com  A     192.0.2.10  httproute/shop/shop",
        "www.example.com   A     192.0.2.10  httproute/shop/www",
    ]
    assert (explanation.exit_code, explanation.stdout.splitlines()[0]) == (0, "www.example.com: served")


def test_a_name_of_the_example_that_is_not_served_says_what_keeps_it_from_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = run("gatepost explain admin.example.com examples/gateway")
    assert (result.exit_code, result.stdout.splitlines()[0]) == (1, "admin.example.com: not served")
    assert "spec.listeners[0].allowedRoutes.namespaces.from: takes objects of namespace infra only" in result.stdout
