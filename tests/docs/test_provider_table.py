"""The table of what each provider can, against what the providers declare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gatepost.dns.capabilities import Capabilities
from gatepost.dns.choices import RECORD_TYPES
from gatepost.providers.contract import DeclaringProvider
from gatepost.runtime.dns.providers import SETTINGS, provider_named

TEXT = (Path(__file__).parents[2] / "docs" / "dns-providers.md").read_text()
GIVEN: dict[str, dict[str, Any]] = {
    "rfc2136": {"rfc2136_host": ("127.0.0.1",), "rfc2136_zone": ("example.com",), "rfc2136_insecure": True},
    "pdns": {"pdns_api_key": "key"},
    "aws": {},
    "cloudflare": {"cloudflare_api_token": "token"},
    "inmemory": {"inmemory_zone": ("example.com",)},
}


def table() -> dict[str, dict[str, str]]:
    """The cells, by row and provider."""
    part = TEXT.partition("## What each can\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if line[:1] == "|"]
    return {row[0]: dict(zip(rows[0][1:], row[1:], strict=True)) for row in rows[2:]}


def capabilities(name: str) -> Capabilities:
    given = GIVEN[name]
    try:
        settings = {type_: type_(**given) for type_ in SETTINGS if given and given.keys() <= {*type_.__struct_fields__}}
        provider = provider_named(name, settings)
    except ValueError as missing:
        pytest.skip(str(missing))
    assert isinstance(provider, DeclaringProvider)
    return provider.capabilities


@pytest.mark.parametrize("name", GIVEN)
def test_the_table_says_what_the_provider_declares(name: str) -> None:
    cells, declared = table(), capabilities(name)
    types = {"all ten": set(RECORD_TYPES), "all but DNAME": set(RECORD_TYPES) - {"DNAME"}}[cells["types"][name]]
    assert declared.types == types
    assert declared.set_identifiers == (cells["set identifiers"][name] != "no")
    # At Route 53 an alias is no CNAME: what is one still when this is asked cannot be at the apex.
    assert declared.apex_cname == (cells["CNAME at the apex"][name] != "no" and name != "aws")
    ttls = "any" if declared.ttls is None else "{} to {}, else the nearest".format(*declared.ttls)
    assert cells["TTL, in seconds"][name] == ttls
    listed = "all" if declared.properties is None else ", ".join(map(_spelled, sorted(declared.properties))) or "none"
    assert sorted(cells["properties that come back"][name].replace("`", "").split(", ")) == sorted(listed.split(", "))


def _spelled(name: str) -> str:
    return f"{name}..." if name.endswith("/") else name.rpartition("/")[2].removeprefix("cloudflare-")
