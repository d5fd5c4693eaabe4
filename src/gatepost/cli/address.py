"""Addresses to serve at, as flags."""

from __future__ import annotations

import click

Address = tuple[str, int]

_LARGEST_PORT = 65535


class AddressType(click.ParamType[Address]):
    """HOST:PORT; an IPv6 address stands in brackets, and no host stands for all addresses of this machine."""

    name = "host:port"

    def convert(self, value: str | Address, param: click.Parameter | None, ctx: click.Context | None) -> Address:
        if isinstance(value, tuple):
            return value
        host, colon, port = value.rpartition(":")
        if not colon or not port.isdecimal() or int(port) > _LARGEST_PORT:
            self.fail(f"found {value!r}, wanted HOST:PORT like 127.0.0.1:8888", param, ctx)
        return host.strip("[]"), int(port)


class OptionalAddressType(click.ParamType[Address | None]):
    """As `AddressType`; nothing, or 0, stands for nowhere."""

    name = "host:port"

    def convert(
        self, value: str | int | Address, param: click.Parameter | None, ctx: click.Context | None
    ) -> Address | None:
        given = str(value) if isinstance(value, int) else value  # a file may have the number
        return None if given in ("", "0") else AddressType().convert(given, param, ctx)
