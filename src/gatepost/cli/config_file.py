"""`--config FILE`: options of a command from a YAML file, whose keys are the names of the flags."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click

from gatepost.cli.external_dns_flags import instead_of
from gatepost.objects.plain_yaml import NotYaml, lines_of_keys, read_yaml


def config_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the option `--config`. What the file says counts as the default of the other options."""
    return click.option(
        "--config",
        type=click.Path(exists=True, dir_okay=False, allow_dash=True),
        envvar="GATEPOST_CONFIG",
        is_eager=True,  # before the options whose defaults it gives
        expose_value=False,
        callback=_read_config,
        metavar="FILE",
        help="YAML file with options: their names without the leading hyphens are its keys.",
    )(command)


def _read_config(ctx: click.Context, parameter: click.Parameter, path: str | None) -> None:
    if path is None:
        return
    try:
        with click.open_file(path, encoding="utf-8") as file:
            text = file.read()
        found = read_yaml(text)
    except (NotYaml, UnicodeDecodeError) as error:
        raise click.UsageError(f"--config {path}: is no YAML: {error}") from error
    if found is None:
        found = {}
    if not isinstance(found, Mapping):
        raise click.UsageError(f"--config {path}: found {type(found).__name__}, wanted a mapping of options")
    ctx.default_map = {**(ctx.default_map or {}), **_defaults(ctx, _places(path, text), found)}


def _places(path: str, text: str) -> dict[str, str]:
    """Where each key stands. Raises: click.UsageError for one that stands there twice."""
    places: dict[str, str] = {}
    for key, line in lines_of_keys(text):
        place = f"--config {path}:{line}: {key}"
        if key in places:
            raise click.UsageError(f"{place}: is there twice, wanted once")
        places[key] = place
    return places


def _defaults(ctx: click.Context, places: Mapping[str, str], found: Mapping[Any, Any]) -> dict[str, Any]:
    options = _options(ctx.command)
    defaults: dict[str, Any] = {}
    for key, value in found.items():
        where = places.get(str(key), f"--config: {key}")
        option = options.get(str(key))
        if option is not None and option.name is not None:
            if value is not None:
                defaults[option.name] = _as_given(option, value, where)
                _check(ctx, option, defaults[option.name], where)
        elif str(key) not in _options_of_other_commands():  # one file may serve several commands
            raise click.UsageError(f"{where}: there is no such option{_hint(str(key), options)}")
    return defaults


def _hint(key: str, options: Iterable[str]) -> str:
    instead = instead_of(key)
    if instead is not None:
        return f": {instead}"
    near = difflib.get_close_matches(key, options, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _as_given(option: click.Option, value: Any, where: str) -> Any:
    """The value in the form that click takes for a default; a single value may stand for a list of one."""
    if isinstance(value, Mapping) or (isinstance(value, list) and not option.multiple):
        wanted = "a list of values" if option.multiple else "one value"
        raise click.UsageError(f"{where}: found a {type(value).__name__}, wanted {wanted}")
    if option.is_flag and not isinstance(value, bool):
        raise click.UsageError(f"{where}: found {value!r}, wanted true or false")
    if option.multiple:
        return [str(entry) for entry in value] if isinstance(value, list) else [str(value)]
    return value


def _check(ctx: click.Context, option: click.Option, value: Any, where: str) -> None:
    """Raises: click.UsageError if a value is none for the option, which click would tell without file and line."""
    if option.is_flag:
        return
    for entry in value if option.multiple else [value]:
        try:
            option.type.convert(entry, option, ctx)
        except click.BadParameter as error:
            raise click.UsageError(f"{where}: {error.message}") from error


def _options(command: click.Command) -> dict[str, click.Option]:
    return {
        name.removeprefix("--"): parameter
        for parameter in command.params
        if isinstance(parameter, click.Option) and parameter.name != "config"
        for name in parameter.opts
        if name.startswith("--")
    }


def _options_of_other_commands() -> set[str]:
    from gatepost.cli.commands import COMMANDS

    known: set[str] = set()
    for module, _ in COMMANDS.values():
        if importlib.util.find_spec(module) is not None:
            known.update(_options(importlib.import_module(module).command))
    return known
