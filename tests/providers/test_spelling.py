"""Names and targets of records in their one spelling."""

from __future__ import annotations

import pytest

from gatepost.providers.contract import RefusedError
from gatepost.providers.spelling import canonical_name, rdata_of


def test_names_are_kept_in_one_spelling() -> None:
    assert canonical_name("WWW.Example.COM.") == "www.example.com"
    assert canonical_name("*.example.com") == "*.example.com"
    assert canonical_name("_edns.app.example.com") == "_edns.app.example.com"
    assert canonical_name("bücher.example.com") == "xn--bcher-kva.example.com"


def test_names_in_targets_are_absolute_with_and_without_final_dot() -> None:
    assert rdata_of("CNAME", "gw.example.org") == rdata_of("CNAME", "gw.example.org.")
    assert rdata_of("MX", "10 mail.example.org").to_text() == "10 mail.example.org."
    with pytest.raises(RefusedError):
        rdata_of("PTR", "a b")
