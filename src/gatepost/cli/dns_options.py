"""The options of the DNS part, made from the fields of `DnsSettings`: for `endpoints`, `explain`, `run` and `plan`.

Each is a flag, the environment variable `GATEPOST_<FLAG>` and a key of the file that `--config` names; the flag comes
before the variable, the variable before the file, the file before the default.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

import click
import msgspec
from msgspec import inspect

from gatepost.cli.config_file import config_option
from gatepost.dns.annotations import duration_nanoseconds, duration_seconds
from gatepost.dns.rules import BadSettings
from gatepost.dns.settings import DnsSettings
from gatepost.runtime.wiring import Wiring, dns_part

ENVIRONMENT_PREFIX = "GATEPOST_"

_OF_SECONDS = ("-ttl", "-timeout", "-grace", "-interval", "-duration")

_DURATIONS = ("interval", "-time", "-timeout", "-duration", "-deadline", "-period")
_NUMBER = re.compile(r"-?[0-9]{1,12}(?:\.[0-9]{1,9})?")


def dns_options(*, without: Sequence[str] = ()) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Gives a command all options of the DNS part, and `--config`. The command gets them as one argument, `dns`.

    Args:
        without: fields whose flags the command needs for something else; they keep their defaults.
    """
    options = options_of(DnsSettings, "dns", without=without)

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        return config_option(options(command))

    return decorate


def options_of(
    type_: type[msgspec.Struct], argument: str, *, without: Sequence[str] = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Gives a command an option for each field of a struct whose fields are described as those of `DnsSettings`.

    Args: argument: the name under which the command gets the struct.
    """
    fields = {name: field for name, field in _fields(type_).items() if name not in without}

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def with_settings(*args: Any, **given: Any) -> Any:
            settings = type_(**{name: given.pop(name) for name in fields})
            return command(*args, **{argument: settings}, **given)

        decorated: Callable[..., Any] = with_settings
        for name, field in reversed(fields.items()):
            decorated = _option(name, field)(decorated)
        return decorated

    return decorate


def options_of_all(
    types: Sequence[type[msgspec.Struct]], argument: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Gives a command the options of several structs. It gets them as one argument: a mapping by their types."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def gathered(*args: Any, **given: Any) -> Any:
            settings = {type_: given.pop(type_.__name__) for type_ in types}
            return command(*args, **{argument: settings}, **given)

        decorated: Callable[..., Any] = gathered
        for type_ in reversed(types):
            decorated = options_of(type_, type_.__name__)(decorated)
        return decorated

    return decorate


def dns_wiring(settings: DnsSettings) -> Wiring:
    """The rules for these settings. Raises: click.UsageError with a line for each thing that is wrong with them."""
    try:
        return dns_part(refuse_wrong(settings))
    except BadSettings as error:
        raise click.UsageError(str(error)) from error


def refuse_wrong(settings: DnsSettings) -> DnsSettings:
    """The settings if they can be worked with; tells on stderr what in them does not count.

    Raises: click.UsageError with a line for each thing that is wrong.
    """
    wrong = settings.check()
    if wrong:
        raise click.UsageError("\n".join(wrong))
    for remark in settings.remarks():
        click.echo(f"gatepost: {remark}", err=True)
    return settings


def with_default_sources(settings: DnsSettings, sources: Sequence[str]) -> DnsSettings:
    """The settings with these sources if none was given."""
    return settings if settings.sources else msgspec.structs.replace(settings, sources=tuple(sources))


def flag_of(name: str, field: inspect.Field) -> str:
    """The flag of a field, without the leading hyphens."""
    extra = field.type.extra if isinstance(field.type, inspect.Metadata) else None
    return str((extra or {}).get("flag", name.replace("_", "-")))


def _fields(type_: type[msgspec.Struct]) -> dict[str, inspect.Field]:
    described = inspect.type_info(type_)
    assert isinstance(described, inspect.StructType)
    return {field.name: field for field in described.fields}


def _option(name: str, field: inspect.Field) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    described = field.type
    assert isinstance(described, inspect.Metadata)
    flag = flag_of(name, field)
    common: dict[str, Any] = {
        "default": field.default,
        "envvar": ENVIRONMENT_PREFIX + flag.upper().replace("-", "_"),
        "help": (described.extra_json_schema or {}).get("description", ""),
        "show_default": field.default not in ((), "", None, False),
    }
    if _is_duration(flag, described.type):
        common["default"] = f"{field.default:g}s"  # for the help; it is read as what is given
    if isinstance(described.type, inspect.BoolType):
        return click.option(f"--{flag}/--no-{flag}", name, **common)
    if isinstance(described.type, inspect.VarTupleType):
        return click.option(f"--{flag}", name, multiple=True, type=_Entry(), **common)
    return click.option(f"--{flag}", name, type=_type_of(described.type, flag), **common)


def _type_of(described: inspect.Type, flag: str) -> click.ParamType[Any]:
    if isinstance(described, inspect.IntType):
        return _Seconds() if flag.endswith(_OF_SECONDS) else click.INT
    if isinstance(described, inspect.FloatType):
        return _Duration() if _is_duration(flag, described) else click.FLOAT
    return click.STRING


def _is_duration(flag: str, described: inspect.Type) -> bool:
    return isinstance(described, inspect.FloatType) and flag.endswith(_DURATIONS)


class _Entry(click.types.StringParamType):
    """An entry of a repeatable flag; in an environment variable each line is one, since templates hold commas."""

    def split_envvar_value(self, rv: str) -> list[str]:
        return [line.strip() for line in rv.splitlines() if line.strip()]


class _Duration(click.ParamType[float]):
    """Seconds as a number, or a duration such as 1m30s or 500ms."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value)
        if _NUMBER.fullmatch(text):
            return float(text)
        nanoseconds = duration_nanoseconds(text)
        if nanoseconds is None:
            self.fail(f"found {text!r}, wanted seconds or a duration like 1m30s", param, ctx)
        return nanoseconds / 10**9


class _Seconds(click.ParamType[int]):
    """Seconds as a number, or a duration such as 5m."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value)
        seconds = int(text) if text.isascii() and text.removeprefix("-").isdecimal() else duration_seconds(text)
        if seconds is None:
            self.fail(f"found {text!r}, wanted seconds or a duration like 5m", param, ctx)
        return seconds
