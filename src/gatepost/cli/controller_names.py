"""The controllers that a `--controllers` option names."""

from __future__ import annotations

from collections.abc import Iterable

import click

from gatepost.runtime.wiring import CONTROLLERS


def controllers_in(texts: Iterable[str]) -> tuple[str, ...]:
    """The names in these comma-separated texts, in their order.

    Raises: click.BadParameter for a name that is no controller's.
    """
    names = tuple(name.strip() for text in texts for name in text.split(",") if name.strip())
    for name in names:
        if name not in CONTROLLERS:
            known = ", ".join(CONTROLLERS)
            raise click.BadParameter(f"there is no controller {name!r}; there are: {known}", param_hint="--controllers")
    return names
