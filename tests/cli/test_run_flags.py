"""The flags of `gatepost run`: how often it writes and lists, switches both ways, and what is wrong with them."""

from __future__ import annotations

import pytest
from click.testing import CliRunner, Result

from gatepost.cli.commands import gatepost
from gatepost.cli.run import command
from gatepost.runtime.dns.pace import Pace

NO_CLUSTER = ("--kubeconfig", "/no/such/kubeconfig")


def run(*arguments: str, **environment: str) -> Result:
    result = CliRunner(env=dict(environment)).invoke(gatepost, ["run", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def pace_of(*arguments: str) -> Pace:
    """The pace that the command is called with."""
    with command.make_context("run", list(arguments)) as ctx:
        return Pace(**{name: ctx.params[name] for name in Pace.__struct_fields__})


@pytest.mark.parametrize(
    ("arguments", "seconds"),
    [
        ((), 300.0),
        (("--interval", "1m"), 60.0),
        (("--interval", "90"), 90.0),
        (("--interval", "1m", "--txt-cache-interval", "1h30m"), 5400.0),
        (("--interval", "1m", "--provider-cache-time", "2m"), 120.0),
        (("--interval", "10m", "--txt-cache-interval", "1m", "--provider-cache-time", "2m"), 600.0),
        (("--interval", "1500ms"), 1.5),
    ],
)
def test_the_provider_is_listed_no_more_often_than_the_longest_of_interval_and_caches(
    arguments: tuple[str, ...], seconds: float
) -> None:
    assert pace_of(*arguments).comparison_seconds == seconds


@pytest.mark.parametrize(("text", "seconds"), [("5s", 5.0), ("250ms", 0.25), ("0", 0.0), ("0.5", 0.5)])
def test_the_shortest_time_between_writes_is_a_duration(text: str, seconds: float) -> None:
    assert pace_of("--min-event-sync-interval", text).min_event_sync_interval == seconds


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--interval", "500ms"), "--interval: found 0.5s, wanted at least 1 second"),
        (("--interval", "0"), "--interval: found 0s"),
        (("--interval", "soon"), "'--interval': found 'soon', wanted seconds or a duration like 1m30s"),
        (("--interval", "1d"), "found '1d'"),  # Go knows no days
        (("--txt-cache-interval", "-1m"), "--txt-cache-interval: found -60s, wanted 0 or more"),
        (("--provider-cache-time", "-1"), "--provider-cache-time: found -1s"),
        (("--min-event-sync-interval", "-5s"), "--min-event-sync-interval: found -5s"),
    ],
)
def test_a_time_that_makes_no_sense_is_wrong_use(arguments: tuple[str, ...], told: str) -> None:
    result = run(*arguments, *NO_CLUSTER)
    assert (result.exit_code, told in result.stderr) == (2, True), result.stderr


def test_a_time_comes_from_the_environment_too() -> None:
    assert "found 'never'" in run(*NO_CLUSTER, GATEPOST_TXT_CACHE_INTERVAL="never").stderr


@pytest.mark.parametrize("flag", ["once", "dry-run", "events", "create-ptr", "txt-encrypt-enabled", "allow"])
@pytest.mark.parametrize("form", ["--{}", "--no-{}"])
def test_a_switch_can_be_given_both_ways(flag: str, form: str) -> None:
    with command.make_context("run", [form.format(flag)]) as ctx:
        assert ctx.params[flag.replace("-", "_")] is (form == "--{}")
