"""Which YAML words are strings: expectations were read off `kubectl annotate --local -o json` (kubectl 1.32)."""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
from io import BytesIO
from typing import Any

import pytest

from gatepost.manifests import read_manifests

kubectl = shutil.which("kubectl")

booleans = {
    **dict.fromkeys(["y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"], True),
    **dict.fromkeys(["n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"], False),
}
numbers = {
    "0755": 493,
    "0o755": 493,
    "0O755": 493,
    "-0755": -493,
    "+0o7": 7,
    "08": 8,
    "09": 9,
    "00": 0,
    "-0": 0,
    "0x1F": 31,
    "-0x1F": -31,
    "0x1f_f": 511,
    "0b101": 5,
    "-0b101": -5,
    "1_000": 1000,
    "1_": 1,
    "+_1": 1,
    "0_x1": 1,
    "1e3": 1000,
    "12e03": 12000,
    "1_0e1_0": 100_000_000_000,
    "1.0": 1,
    "5.": 5,
    ".5": 0.5,
    ".5_0": 0.5,
    "-.5": -0.5,
    "1e-3": 0.001,
    "1e-400": 0,
    "9223372036854775807": 9223372036854775807,
    "-9223372036854775808": -9223372036854775808,
    "9223372036854775808": 9223372036854775808.0,
    "0xFFFFFFFFFFFFFFFF": 18446744073709551616.0,
    "1e22": 1e22,
}
strings = [
    "yEs",
    "tRue",
    "nULL",
    "none",
    "inf",
    "nan",
    "22:30",
    "190:20:30",
    "1:2",
    "2020-01-01",
    "2020-01-01T00:00:00Z",
    "=",
    "--",
    "+",
    ".",
    "..",
    "---a",
    "_1",
    "._5",
    ".e3",
    "1e",
    "0b2",
    "0xG",
    "0x",
    "0b",
    "0o",
    "0.0.0",
    "1.2.3",
    "1,000",
    "1d",
    "0x1p3",
    "1p3",
    "1e400",
    "-1e400",
    "0x1FFFFFFFFFFFFFFFF",
    "-0x8000000000000001",
    "'yes'",
    '"0755"',
    "<<",
    "-1:2",
]
tagged = {
    "!!str 5": "5",
    "!!str yes": "yes",
    "!!str": "",
    "! yes": "yes",
    "!mine 5": "5",
    '!!int "0x10"': 16,
    "!!float 1": 1,
    '!!float "1.5"': 1.5,
    '!!bool "yes"': True,
    "!!timestamp 2020-01-01": "2020-01-01",
    "!!binary aGVsbG8=": "hello",
    "!!merge x": "x",
    "!mine {a: 1}": {"a": 1},
    "!!seq [yes]": [True],
}
expected: dict[str, Any] = {
    **booleans,
    **numbers,
    **{word: word.strip("'\"") for word in strings},
    **tagged,
}
keys = {
    "on": "true",
    "n": "false",
    "8080": "8080",
    "0755": "493",
    "1.5": "1.5",
    "1e3": "1000",
    "22:30": "22:30",
    "2020-01-01": "2020-01-01",
    '""': "",
    "'<<'": "<<",
    "!!str 5": "5",
}


def document_with(values: list[str]) -> bytes:
    lines = ["apiVersion: v1", "kind: Thing", "metadata: {name: a}", "words:", *(f"- {value}" for value in values)]
    return "\n".join(lines).encode() + b"\n"


def values_read(values: list[str]) -> Any:
    manifests = read_manifests(["-"], BytesIO(document_with(values)))
    assert [str(problem) for problem in manifests.problems] == []
    return manifests.objects[0].raw["words"]


@pytest.mark.parametrize("word", expected)
def test_a_word_reads_as_with_kubectl(word: str) -> None:
    value = values_read([word])[0]
    assert value == expected[word]
    assert isinstance(value, bool) == isinstance(expected[word], bool)


@pytest.mark.parametrize("word", ["~", "null", "Null", "NULL", "", "!!null ''"])
def test_null_stays_in_a_list(word: str) -> None:
    assert values_read([word]) == [None]


@pytest.mark.parametrize("key", keys)
def test_a_key_becomes_the_string_that_kubectl_makes_of_it(key: str) -> None:
    assert values_read([f"{key}: x"]) == [{keys[key]: "x"}]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (".inf", "<stdin>:5:3: words[0]: found the number inf, wanted a finite number: JSON has no other"),
        ("-.inf", "<stdin>:5:3: words[0]: found the number -inf, wanted a finite number: JSON has no other"),
        (".NaN", "<stdin>:5:3: words[0]: found the number nan, wanted a finite number: JSON has no other"),
        ("!!int x", '<stdin>:5:3: found "x", wanted a value that fits its tag !!int'),
        ("!!null x", '<stdin>:5:3: found "x", wanted a value that fits its tag !!null'),
        ("!!binary '%%%'", '<stdin>:5:3: found "%%%", wanted base64 text after !!binary'),
        ("~: x", "<stdin>:5:3: words[0]: found nothing as a key, wanted a string as the key"),
        (
            "{{ .Values.name }}",
            "<stdin>:5:4: words[0]: found a mapping as a key, "
            "wanted a string as the key (is this {{ template }} text that was not rendered?)",
        ),
    ],
)
def test_what_json_cannot_hold_is_a_problem(value: str, message: str) -> None:
    manifests = read_manifests(["-"], BytesIO(document_with([value])))
    assert [str(problem) for problem in manifests.problems] == [message]
    assert manifests.objects == ()


@pytest.mark.skipif(kubectl is None, reason="kubectl is not installed")
def test_kubectl_reads_every_sample_as_stated_here() -> None:
    assert kubectl_values(list(expected)) == list(expected.values())
    assert kubectl_values([f"{key}: x" for key in keys]) == [{key: "x"} for key in keys.values()]


def kubectl_values(values: list[str]) -> Any:
    command = [str(kubectl), "annotate", "--local", "-o", "json", "-f", "-", "read=yes"]
    done = subprocess.run(command, input=document_with(values), capture_output=True, check=True, timeout=30)
    # Beyond int64 they are floats, printed with only the digits that tell them apart.
    return json.loads(done.stdout, parse_int=lambda digits: int(digits) if int(digits) < 2**63 else float(digits))[
        "words"
    ]


def test_a_plain_letter_is_the_letter_where_only_strings_stand_and_a_boolean_elsewhere(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "letters.yaml"
    file.write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: n, annotations: {a: y, b: yes}}\n"
        "data: {agree: N}\nimmutable: y\n"
    )
    (problem,) = read_manifests([file]).problems
    assert "metadata.annotations.b: found the boolean true" in str(problem)
    file.write_text(file.read_text().replace("b: yes", "b: 'yes'"))
    (manifest,) = read_manifests([file]).objects
    assert manifest.raw["metadata"]["annotations"] == {"a": "y", "b": "yes"}
    assert manifest.raw["data"] == {"agree": "N"}
    assert manifest.raw["immutable"] is True


def test_a_plain_letter_is_the_letter_in_selectors_and_as_the_key_of_a_label(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "letters.yaml"
    file.write_text(
        "apiVersion: v1\nkind: T\nmetadata: {name: x, namespace: n, labels: {y: n}}\n"
        "spec: {selector: {matchExpressions: [{key: n, operator: In, values: [x, y]}]}, flags: [y], n: y}\n"
    )
    (manifest,) = read_manifests([file]).objects
    assert manifest.raw["metadata"]["labels"] == {"y": "n"}
    assert manifest.raw["spec"] == {
        "selector": {"matchExpressions": [{"key": "n", "operator": "In", "values": ["x", "y"]}]},
        "flags": [True],
        "false": True,
    }
