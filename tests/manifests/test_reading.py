"""Files, folders and stdin to objects, each with its place."""

from __future__ import annotations

import json
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from gatepost.manifests import Manifests, read_manifests
from gatepost.objects.refs import GroupKind, Ref

ROUTES = {
    GroupKind("gateway.networking.k8s.io", "HTTPRoute"): ("v1", "v1beta1"),
    GroupKind("gateway.networking.k8s.io", "GatewayClass"): ("v1",),
}


def read(text: str | bytes, **options: Any) -> Manifests:
    return read_manifests(["-"], BytesIO(text.encode() if isinstance(text, str) else text), **options)


def sound(text: str | bytes, **options: Any) -> list[tuple[str, int]]:
    """Name and line of each object of an input without problems."""
    manifests = read(text, **options)
    assert [str(problem) for problem in manifests.problems] == []
    return [(manifest.ref.name, manifest.line) for manifest in manifests.objects]


def thing(name: str, more: str = "") -> str:
    return f"apiVersion: v1\nkind: Thing\nmetadata: {{name: {name}}}\n{more}"


def test_import_does_not_load_the_yaml_library() -> None:
    check = "import sys, gatepost.manifests; sys.exit('yaml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False, timeout=60).returncode == 0


def test_each_document_has_the_line_of_its_first_field() -> None:
    text = f"# head\n---\n{thing('a')}---\n---\n# only a comment\n---\n\n{thing('b')}--- # c\n{thing('c')}"
    assert sound(text) == [("a", 3), ("b", 11), ("c", 15)]


def test_empty_input_has_no_objects_and_no_problems() -> None:
    for text in ("", "\n", "---\n---\n", "# nothing\n", "---\nnull\n", "...\n", "\ufeff", "  \n\t\n---"):
        assert sound(text) == []


def test_the_end_marker_ends_a_document_and_directives_belong_to_the_next() -> None:
    text = f"%YAML 1.1\n---\n{thing('a')}...\n# and\n%TAG !y! tag:yaml.org,2002:\n---\n{thing('b', 'spec: !y!str 5')}\n"
    assert sound(text) == [("a", 3), ("b", 10)]
    assert read(text).objects[1].raw["spec"] == "5"
    assert sound(f"{thing('a')}...\n{thing('b')}") == [("a", 1), ("b", 5)]


def test_dashes_inside_a_block_scalar_are_text_unless_they_start_the_line() -> None:
    text = thing("a", "text: |\n  ---\n  ----\nother: a\n --- b\n") + "---\n" + thing("b")
    assert sound(text) == [("a", 1), ("b", 10)]
    assert read(text).objects[0].raw["text"] == "---\n----\n"


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le-sig", "utf-16-be-sig"])
def test_encodings_and_line_endings_do_not_matter(ending: str, encoding: str) -> None:
    text = (thing("a", "text: grün 🙂\n") + "---\n" + thing("b")).replace("\n", ending)
    if encoding.startswith("utf-16-"):
        content = ("\ufeff" + text).encode(encoding.removesuffix("-sig"))
    else:
        content = text.encode(encoding)
    assert sound(content) == [("a", 1), ("b", 6)]
    assert read(content).objects[0].raw["text"] == "grün 🙂"


def test_byte_order_marks_of_joined_files_are_skipped() -> None:
    assert sound(f"\ufeff{thing('a')}\ufeff---\n\ufeff{thing('b')}---\n\ufeff{thing('c')}") == [
        ("a", 1),
        ("b", 5),
        ("c", 9),
    ]


def test_tabs_may_separate_but_not_indent() -> None:
    assert read(thing("a", "spec:\n  a:\t1\t\n")).objects[0].raw["spec"] == {"a": 1}


def test_a_list_gives_its_items_with_their_own_lines() -> None:
    text = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Thing\n  metadata:\n    name: a\n-\n  " + (
        "kind: Thing\n  apiVersion: v1\n  metadata: {name: b}\n"
        "- {apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Thing, metadata: {name: c}}]}\n"
    )
    assert sound(text) == [("a", 4), ("b", 9), ("c", 12)]


def test_items_of_a_typed_list_take_their_kind_from_it() -> None:
    text = (
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRouteList\nitems:\n- metadata: {name: a, namespace: b}\n"
    )
    assert [manifest.ref for manifest in read(text).objects] == [
        Ref("gateway.networking.k8s.io", "HTTPRoute", "b", "a")
    ]
    assert sound("apiVersion: v1\nkind: PodList\nitems: []\n") == []
    assert sound("apiVersion: v1\nkind: List\nitems: null\n") == []


def test_a_kind_that_ends_with_list_and_has_no_items_is_an_object() -> None:
    assert sound("apiVersion: example.com/v1\nkind: AllowList\nmetadata: {name: a}\n") == [("a", 1)]
    assert sound("apiVersion: example.com/v1\nkind: AllowList\nmetadata: {name: a}\nitems: {b: c}\n") == [("a", 1)]


def test_json_is_known_by_its_content_and_may_come_in_a_row() -> None:
    first = json.dumps(
        {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a"}, "text": "\U0001f642/"}, indent=1
    )
    second = '{"apiVersion":"v1","kind":"Thing","metadata":{"name":"b"},"text":"\\ud83d \\/"}'
    manifests = read(f"\n{first}\n\n {second}{second}\n---\n{thing('d')}")
    assert [manifest.raw.get("text") for manifest in manifests.objects] == ["🙂/", "\ufffd /", None]
    assert [(manifest.ref.name, manifest.line) for manifest in manifests.objects] == [("a", 2), ("b", 11), ("d", 13)]
    assert [problem.line for problem in manifests.problems] == [11]
    assert manifests.line_of(manifests.objects[0], "metadata.name") == 6


def test_json_numbers_are_whole_where_they_have_no_fraction() -> None:
    text = '{"apiVersion":"v1","kind":"T","metadata":{"name":"a"},"n":[1.0,1e3,-0,0.5,9223372036854775808,-5]}'
    numbers = read(text).objects[0].raw["n"]
    assert numbers == [1, 1000, 0, 0.5, 9223372036854775808.0, -5]
    assert [type(number) for number in numbers] == [int, int, int, float, float, int]


def test_null_entries_are_dropped_at_any_depth_but_list_items_stay() -> None:
    raw = read(thing("a", "spec: {a: null, b: [null, {c: ~}], d: }\nstatus:\n")).objects[0].raw
    assert raw == {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {"b": [None, {}]}}


def test_aliases_and_merge_keys_read_as_with_kubectl() -> None:
    text = thing(
        "a",
        "base: &base {a: 1, b: 2}\nother: &other {b: 5, c: 6}\nalias: *base\nafter: {<<: *base, b: 3}\n"
        "before: {b: 3, <<: *base}\nlist: {<<: [*base, *other]}\nquoted: {'<<': *base}\nagain: [&base 1, *base]\n",
    )
    raw = read(text).objects[0].raw
    assert raw["alias"] == {"a": 1, "b": 2}
    assert raw["after"] == {"a": 1, "b": 3}
    assert raw["before"] == {"a": 1, "b": 2}
    assert raw["list"] == {"a": 1, "b": 2, "c": 6}
    assert raw["quoted"] == {"<<": {"a": 1, "b": 2}}
    assert raw["again"] == [1, 1]


def test_folders_are_walked_in_order_without_hidden_names(tmp_path: Path) -> None:
    for name in ("b.yaml", "a/t.yml", "a/s.json", "c.txt", ".hidden.yaml", ".git/x.yaml"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(thing(file.name.strip(".").partition(".")[0]))
    manifests = read_manifests([tmp_path, tmp_path / "b.yaml", str(tmp_path / "c.txt")])
    assert [(manifest.ref.name, manifest.file) for manifest in manifests.objects] == [
        ("s", f"{tmp_path}/a/s.json"),
        ("t", f"{tmp_path}/a/t.yml"),
        ("b", f"{tmp_path}/b.yaml"),
        ("c", f"{tmp_path}/c.txt"),
    ]
    assert manifests.problems == ()


def test_known_namespaced_kinds_get_the_default_namespace_and_others_keep_theirs() -> None:
    group = "gateway.networking.k8s.io"
    head = f"apiVersion: {group}/v1\nkind: "
    documents = [
        f"{head}HTTPRoute\nmetadata: {{name: a}}\n",
        f"{head}HTTPRoute\nmetadata: {{name: b, namespace: shop}}\n",
        f"{head}GatewayClass\nmetadata: {{name: c, namespace: shop}}\n",
        f"{head}FooRoute\nmetadata: {{name: d}}\n",
    ]
    cluster_scoped = [GroupKind(group, "GatewayClass")]
    manifests = read("---\n".join(documents), known_versions=ROUTES, cluster_scoped=cluster_scoped)
    assert [manifest.ref for manifest in manifests.objects] == [
        Ref(group, "HTTPRoute", "default", "a"),
        Ref(group, "HTTPRoute", "shop", "b"),
        Ref(group, "GatewayClass", "", "c"),
        Ref(group, "FooRoute", "", "d"),
    ]
    assert [manifest.raw["metadata"].get("namespace") for manifest in manifests.objects] == [
        "default",
        "shop",
        None,
        None,
    ]


ROUTE = """\
# a route
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: web
  annotations:
    external-dns.kubernetes.io/ttl: "60"
spec:
  parentRefs:
  - namespace: infra
    name: public

  -
    name: private
  rules: &rules
  - matches: [{path: {value: /}},
              {path: {value: /x}}]
  more: *rules
  merged:
    <<: {a: 1,
         b: 2}
"""


@pytest.mark.parametrize(
    ("field", "line"),
    [
        ("", 2),
        ("kind", 3),
        ("metadata", 4),
        ("metadata.annotations.external-dns.kubernetes.io/ttl", 7),
        ('metadata.annotations["external-dns.kubernetes.io/ttl"]', 7),
        ("metadata.annotations[external-dns.kubernetes.io/ttl]", 7),
        ("metadata.annotations.absent", 6),
        ("spec.parentRefs", 9),
        ("spec.parentRefs[0]", 10),
        ("spec.parentRefs[0].name", 11),
        ("spec.parentRefs[1]", 14),
        ("spec.parentRefs[1].name", 14),
        ("spec.parentRefs[7].name", 9),
        ("spec.rules[0].matches[1].path.value", 17),
        ("spec.more[0].matches[1]", 17),
        ("spec.merged.b", 21),
        ("spec.absent.deeper", 8),
        ("status.conditions[0]", 2),
    ],
)
def test_a_field_has_the_line_of_its_key_or_of_its_nearest_parent(field: str, line: int) -> None:
    manifests = read(ROUTE)
    assert manifests.line_of(manifests.objects[0], field) == line


def test_lines_are_right_in_later_documents_and_list_items() -> None:
    indented = ROUTE.replace("\n", "\n  ").rstrip(" ")
    text = f"{thing('first')}---\napiVersion: v1\nkind: List\nitems:\n-\n  {indented}"
    manifests = read(text)
    assert [manifest.line for manifest in manifests.objects] == [1, 10]
    assert manifests.line_of(manifests.objects[1], "spec.parentRefs[0].name") == 19
    assert manifests.line_of(manifests.objects[1], ("spec", "parentRefs", 0, "name")) == 19
    assert manifests.line_of(manifests.objects[0], "kind") == 2


def test_the_parser_without_libyaml_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    import yaml

    from gatepost.manifests import parse

    fast = read(ROUTE)
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    parse._parser_class.cache_clear()
    try:
        slow = read(ROUTE)
        assert slow.line_of(slow.objects[0], "spec.parentRefs[0].name") == 11
        assert str(read("a: b: c").problems[0]).startswith("<stdin>:1:5: found text that is not")
    finally:
        parse._parser_class.cache_clear()
    assert slow.objects[0].raw == fast.objects[0].raw
