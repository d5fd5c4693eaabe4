"""Child names, against the vectors that Knative's own function gives."""

from __future__ import annotations

import pytest

from gatepost.objects.names import child_name

LONG = "checkout.europe-west.production.customers.a-rather-long-company-name.example.com"


@pytest.mark.parametrize(
    ("parent", "suffix", "name"),
    [
        ("app.example.com", "", "app.example.com"),
        ("a" * 31 + "." + "b" * 20 + ".example.com", "", "a" * 31 + "3be0d9ad2f86d7014db6881e2445e4c2"),
        (LONG, "", "checkout.europe-west.productionf105f07f46a184704bcd5d673dd5dd13"),
        ("p" * 59, "-abc", "p" * 59 + "-abc"),
        ("p" * 60, "-abc", "p" * 27 + "51076b2116168bdcb39555728ba31f04-abc"),
        ("p" * 40, "q" * 30, "p92d2a910411dfdc344478c1a890a7a4f" + "q" * 30),
        ("p" * 40, "q" * 31, "p" * 31 + "70c195496e45a4167e68b72490fc5fa9"),
        ("short", "z" * 70, "short3d61301a74d8deee450a33f76d6491bb" + "z" * 26),
        ("ab", "m" * 28 + "-" + "n" * 40, "abca479f396e1f7844116db0a9081ddc67" + "m" * 28),
    ],
)
def test_child_name_is_that_of_knative(parent: str, suffix: str, name: str) -> None:
    assert child_name(parent, suffix) == name
