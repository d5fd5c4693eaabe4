"""Objects to YAML and JSON text, and back without a change."""

from __future__ import annotations

import json
import shutil
import subprocess
from io import BytesIO, StringIO
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from gatepost.manifests import dump_yaml, read_manifests, to_yaml

kubectl = shutil.which("kubectl")

TYPED_WORDS = [
    "y",
    "Y",
    "n",
    "N",
    "yes",
    "no",
    "on",
    "off",
    "true",
    "False",
    "null",
    "~",
    "08",
    "0755",
    "0o755",
    "0x1F",
    "0b101",
    "1_000",
    "12e03",
    "1e3",
    "1.",
    ".5",
    ".inf",
    "-.INF",
    ".nan",
    "=",
    "<<",
    "-",
    "1:2",
    "22:30",
    "190:20:30",
    "2020-01-01",
    "2020-01-01T00:00:00Z",
    "1.0",
    "-0",
    "+1",
    "0",
    "0.",
    "1__0",
    "0x1p3",
    "1e400",
    "9223372036854775808",
    "Null",
    "NaN",
    "inf",
]
ODD_TEXTS = [
    "",
    " ",
    " a",
    "a ",
    "\n",
    "\n\n",
    "a\n",
    "a\nb",
    "a\n\n",
    "\na\n",
    " a\nb\n",
    "a\n  b\n\n c \n",
    "a \nb",
    "\ta\nb",
    "a\tb",
    "a: b",
    "a:",
    "a #b",
    "#a",
    "- a",
    "-",
    "---",
    "--- a",
    "...",
    "---\na",
    "a\n---\nb\n",
    "? a",
    "[a",
    "{a",
    "*a",
    "&a",
    "!a",
    "|",
    ">",
    "%a",
    "@a",
    "`a",
    "'a'",
    '"a"',
    "\\n",
    "a\rb",
    "a\r\nb",
    "\x00",
    "\x07\n",
    "\x7f",
    "\x85",
    "a\u2028b",
    "a\u2029\nb",
    "\ufeffa",
    "\ufffe",
    "\U0001f642 grün\n",
    "x" * 300 + " " + "y" * 300,
    ("word " * 100 + "\n") * 3,
]

text = st.one_of(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(TYPED_WORDS + ODD_TEXTS))
scalars = st.one_of(
    text, st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False)
)
# Null entries of mappings are left out by the reader, so they are not part of the promise; in lists they are.
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(st.one_of(inner, st.none()), max_size=5), st.dictionaries(text, inner, max_size=5)
    ),
    max_leaves=20,
)


def thing(value: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a"}, "value": value}


def read_back(written: str) -> list[Any]:
    manifests = read_manifests(["-"], BytesIO(written.encode()))
    assert [str(problem) for problem in manifests.problems] == []
    return [manifest.raw for manifest in manifests.objects]


def marked(value: Any) -> Any:
    """The value in a form in which true and 1 differ, as they do in JSON; 1 and 1.0 do not."""
    if isinstance(value, dict):
        return {key: marked(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [marked(item) for item in value]
    return str(value) + "!" if isinstance(value, bool) else value


@given(values)
@example("a\n---\nb\n")
@example({"<<": {"a": 1}, "=": "="})
def test_any_value_written_as_yaml_reads_back_equal(value: Any) -> None:
    (raw,) = read_back(to_yaml(thing(value)))
    assert marked(raw) == marked(thing(value))


@given(values)
def test_any_value_written_as_json_reads_back_equal(value: Any) -> None:
    (raw,) = read_back(json.dumps(thing(value)))
    assert marked(raw) == marked(thing(value))


@pytest.mark.parametrize("word", TYPED_WORDS + ODD_TEXTS)
def test_a_string_stays_a_string(word: str) -> None:
    (raw,) = read_back(to_yaml(thing({word: [word]})))
    assert raw["value"] == {word: [word]}
    assert yaml.safe_load(to_yaml(thing({word: [word]})))["value"] == {word: [word]}


@pytest.mark.skipif(kubectl is None, reason="kubectl is not installed")
def test_kubectl_reads_back_what_was_written() -> None:
    words = TYPED_WORDS + ODD_TEXTS
    value = {"words": words, "keys": dict.fromkeys(words, 1), "floats": [0.1, 1e22, 1e-7, -2.5], "null": [None]}
    command = [str(kubectl), "annotate", "--local", "-o", "json", "-f", "-", "read=yes"]
    done = subprocess.run(command, input=to_yaml(thing(value)).encode(), capture_output=True, check=True, timeout=30)
    assert json.loads(done.stdout)["value"] == value


def test_fields_stand_in_the_order_in_which_people_read_them() -> None:
    raw = {
        "status": {"b": 1, "a": 2},
        "other": 1,
        "spec": {"z": "y", "a": ["1", 1, True, None, 0.5]},
        "metadata": {"labels": {"b": "c"}, "namespace": "shop", "name": "web"},
        "kind": "Thing",
        "apiVersion": "example.com/v1",
    }
    assert (
        to_yaml(raw)
        == """\
apiVersion: example.com/v1
kind: Thing
metadata:
  name: web
  namespace: shop
  labels:
    b: c
spec:
  z: "y"
  a:
  - "1"
  - 1
  - true
  - null
  - 0.5
other: 1
status:
  b: 1
  a: 2
"""
    )


def test_texts_of_several_lines_are_block_scalars_and_long_lines_stay_whole() -> None:
    long = "word " * 60 + "end"
    assert to_yaml({"script": "set -e\nrun\n", "open": "a\nb", "long": long}) == (
        f"script: |\n  set -e\n  run\nopen: |-\n  a\n  b\nlong: {long}\n"
    )


def test_shared_parts_are_written_out() -> None:
    shared = {"a": [1]}
    assert to_yaml([shared, shared]) == "- a:\n  - 1\n- a:\n  - 1\n"


def test_documents_are_separated_and_no_objects_make_no_text() -> None:
    out = StringIO()
    dump_yaml([], out)
    assert out.getvalue() == ""
    dump_yaml([{"kind": "A"}, {"kind": "B"}], out)
    assert out.getvalue() == "kind: A\n---\nkind: B\n"


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
def test_numbers_that_json_cannot_hold_are_refused(number: float) -> None:
    with pytest.raises(ValueError, match="no form in JSON"):
        to_yaml({"a": number})


def test_the_writer_without_libyaml_writes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from gatepost.manifests import write

    fast = to_yaml(thing({"a": ["y", "b\nc\n", 1.5, None]}))
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    write._dumper_class.cache_clear()
    try:
        assert to_yaml(thing({"a": ["y", "b\nc\n", 1.5, None]})) == fast
    finally:
        write._dumper_class.cache_clear()
