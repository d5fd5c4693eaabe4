"""DNSEndpoints in manifests that do not have the form of their kind: told with file and line; the others count."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from gatepost.cli.commands import gatepost

GOOD = """\
apiVersion: externaldns.k8s.io/v1alpha1
kind: DNSEndpoint
metadata: {name: good, namespace: shop}
spec:
  endpoints:
    - {dnsName: good.example.com, recordType: A, targets: [192.0.2.1]}
---
"""
BAD = """\
apiVersion: externaldns.k8s.io/v1alpha1
kind: DNSEndpoint
metadata: {name: bad, namespace: shop}
spec:
  endpoints:
    - dnsName: app.example.com
      recordType: A
"""


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("      targets: 192.0.2.1", "spec.endpoints[0].targets: cannot be read: Expected `array`, got `str`"),
        (
            "      targets: [192.0.2.1, {a: b}]",
            "spec.endpoints[0].targets[1]: cannot be read: Expected `str`, got `object`",
        ),
        ('      recordTTL: "300"', "spec.endpoints[0].recordTTL: cannot be read: Expected `int`, got `str`"),
        ("      recordTTL: 1.5", "spec.endpoints[0].recordTTL: cannot be read: Expected `int`, got `float`"),
        ("      labels: [a]", "spec.endpoints[0].labels: cannot be read: Expected `object`, got `array`"),
        (
            "      providerSpecific: {alias: true}",
            "spec.endpoints[0].providerSpecific: cannot be read: Expected `array`, got `object`",
        ),
        (
            "      setIdentifier: {a: b}",
            "spec.endpoints[0].setIdentifier: cannot be read: Expected `str`, got `object`",
        ),
    ],
)
def test_a_field_of_another_type_is_told_with_file_and_line(line: str, told: str, tmp_path: Path) -> None:
    manifest = tmp_path / "records.yaml"
    manifest.write_text(f"{GOOD}{BAD}{line}\n")
    result = CliRunner().invoke(gatepost, ["endpoints", "--source", "crd", str(manifest)])
    assert result.exit_code == 1
    assert result.stderr == f"{manifest}:15: DNSEndpoint shop/bad: {told}\n"
    assert [row.split()[0] for row in result.stdout.splitlines()] == ["NAME", "good.example.com"]
