"""Input that is wrong: each problem has file, line, found and wanted; the other objects still count."""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatepost.manifests import read_manifests
from gatepost.objects.refs import GroupKind

MEBIBYTE = 1024 * 1024


def thing(name: str, more: str = "") -> str:
    return f"apiVersion: v1\nkind: Thing\nmetadata: {{name: {name}}}\n{more}"


def between(broken: str) -> str:
    """A broken document with four lines before it and a sound document on each side."""
    return f"{thing('before')}---\n{broken}\n---\n{thing('after')}"


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (
            "kind: Thing\n  a: b: c",
            "6:4: found text that is not YAML: mapping values are not allowed in this context, wanted a YAML document",
        ),
        (
            "a: [1\nb: 2",
            "6:2: found text that is not YAML: did not find expected ',' or ']' (while parsing a flow sequence, "
            "which began on line 5), wanted a YAML document",
        ),
        (
            'a: "open',
            "5: found text that is not YAML: found unexpected end of stream, wanted a YAML document",
        ),
        (
            "a:\n\tb: 1",
            "6:1: found text that is not YAML: found character that cannot start any token, "
            "wanted spaces: YAML takes no tabs for indentation",
        ),
        ("a: *gone", "5:4: a: found the alias *gone without an anchor, wanted &gone earlier in this document"),
        (
            "a: &self\n  b: *self",
            "6:6: a.b: found the alias *self inside the value that it stands for, "
            "wanted an end of &self (line 5) before its alias",
        ),
        ("<<: text", '5:5: <<: found the string "text" after <<, wanted a mapping, or a list of mappings'),
        ("a: '\x01'", "5: found the control character 0x01 (is this a binary file?), wanted YAML or JSON text"),
        (
            "just words",
            '5: found the string "just words", wanted an object: a mapping with apiVersion, kind and metadata',
        ),
        ("- a", "5: found a list, wanted an object: a mapping with apiVersion, kind and metadata"),
        ("metadata: {name: x}\napiVersion: v1", "5: kind: found nothing, wanted a string such as HTTPRoute"),
        (
            "kind: Thing\nmetadata: {name: x}",
            "5: Thing x: apiVersion: found nothing, wanted a string such as gateway.networking.k8s.io/v1",
        ),
        (
            "apiVersion: v1\nkind: 8\nmetadata: {name: x}",
            "6: kind: found the number 8, wanted a string such as HTTPRoute",
        ),
        (
            "apiVersion: a/b/c\nkind: T\nmetadata: {name: x}",
            '5: T x: apiVersion: found the string "a/b/c", '
            "wanted GROUP/VERSION such as gateway.networking.k8s.io/v1, or v1",
        ),
        ("apiVersion: v1\nkind: T", "5: T: metadata: found nothing, wanted a mapping with the object's name"),
        (
            "apiVersion: v1\nkind: T\nmetadata: [a]",
            "7: T: metadata: found a list, wanted a mapping with the object's name",
        ),
        (
            "apiVersion: v1\nkind: T\nmetadata:\n  generateName: x-",
            "7: T: metadata.name: found nothing, wanted the object's name, a string",
        ),
        (
            "apiVersion: v1\nkind: T\nmetadata:\n  name: 12e03",
            "8: T: metadata.name: found the number 12000, wanted the object's name, a string",
        ),
        (
            "apiVersion: v1\nkind: T\nmetadata:\n  name: x\n  namespace: yes",
            "9: T x: metadata.namespace: found the boolean true, wanted a string",
        ),
        (
            "apiVersion: v1\nkind: T\nmetadata:\n  name: x\n  labels:\n    b: c\n    a.b/c: 1",
            '11: T x: metadata.labels["a.b/c"]: found the number 1, wanted a string; write it in quotes',
        ),
        (
            "apiVersion: v1\nkind: T\nmetadata:\n  name: x\n  annotations:\n    a: {b: c}",
            "10: T x: metadata.annotations.a: found a mapping, wanted a string",
        ),
        (
            "apiVersion: v1\nkind: T\nmetadata:\n  name: x\n  labels: [a]",
            "9: T x: metadata.labels: found a list, wanted a mapping of strings to strings",
        ),
        (
            "apiVersion: v1\nkind: List\nitems:\n- null",
            "8: items[0]: found nothing, wanted an object: a mapping with apiVersion, kind and metadata",
        ),
        ("apiVersion: v1\nkind: List\nitems: 5", "7: List: items: found the number 5, wanted a list of objects"),
        (
            "apiVersion: v1\nkind: PodList\nmetadata: {}\nitems: {a: b}",
            "8: PodList: items: found a mapping, wanted a list of objects",
        ),
    ],
)
def test_a_broken_document_has_its_line_and_the_others_count(broken: str, message: str) -> None:
    manifests = read_manifests(["-"], BytesIO(between(broken).encode()))
    assert [str(problem) for problem in manifests.problems] == [f"<stdin>:{message}"]
    assert [manifest.ref.name for manifest in manifests.objects] == ["before", "after"]


def test_unknown_bytes_in_one_document_leave_the_others() -> None:
    content = (
        thing("a").encode() + b"---\n" + thing("b", "t: 'x\xff'").encode("latin-1") + b"\n---\n" + thing("c").encode()
    )
    manifests = read_manifests(["-"], BytesIO(content))
    assert [str(problem) for problem in manifests.problems] == [
        "<stdin>:8: found the byte 0xff, which is not UTF-8 (is this a binary file?), wanted YAML or JSON text"
    ]
    assert [manifest.ref.name for manifest in manifests.objects] == ["a", "c"]


@pytest.mark.parametrize(
    ("text", "line", "column", "found"),
    [
        ('{\n "kind": "T",\n}\n', 3, 1, "expecting property name enclosed in double quotes"),
        ('{\n "kind": "T" ,\n \t}\n', 3, 3, "expecting property name enclosed in double quotes"),
        ('{"items": [\n 1,\n ]}', 3, 2, "expecting value"),
        ('{"items": [1,\n ,2]}', 2, 2, "expecting value"),
        ('{\n "kind" "T"}', 2, 9, "expecting ':' delimiter"),
    ],
)
def test_broken_json_has_line_and_column(tmp_path: Path, text: str, line: int, column: int, found: str) -> None:
    file = tmp_path / "a.json"
    file.write_text(text)
    (problem,) = read_manifests([file]).problems
    assert (problem.file, problem.wanted) == (str(file), "a JSON object")
    assert (problem.line, problem.column, problem.found) == (line, column, f"text that is not JSON: {found}")


def test_numbers_that_no_json_reader_agrees_on_are_refused() -> None:
    for number in ("NaN", "Infinity", "-Infinity", "1e999", "9" * 5000):
        content = b'{"apiVersion":"v1","kind":"T","metadata":{"name":"a"},\n"n":' + number.encode() + b"}"
        (problem,) = read_manifests(["-"], BytesIO(content)).problems
        assert (problem.line, problem.wanted) == (2, "a number that a 64-bit float can hold")


def test_a_repeated_key_is_told_with_both_lines_and_the_last_one_counts() -> None:
    text = "kind: List\napiVersion: v1\nitems:\n- apiVersion: v1\n  kind: T\n  metadata:\n    name: a\n"
    text += "  spec:\n    a: 1\n    a: 2\n"
    manifests = read_manifests(["-"], BytesIO(text.encode()))
    assert [str(problem) for problem in manifests.problems] == [
        '<stdin>:10:5: T a: spec.a: found the key "a" a second time (first on line 9; the last one counts), '
        "wanted each key once"
    ]
    assert manifests.objects[0].raw["spec"] == {"a": 2}
    as_json = b'{"apiVersion":"v1","kind":"T","metadata":{"name":"a"},\n"1":1,\n"1":2}'
    manifests = read_manifests(["-"], BytesIO(as_json))
    assert [(problem.line, problem.field) for problem in manifests.problems] == [(3, "1")]
    assert manifests.objects[0].raw["1"] == 2


def test_keys_that_become_the_same_string_are_repeated_keys() -> None:
    manifests = read_manifests(["-"], BytesIO(thing("a", "on: 1\n'true': 2\n").encode()))
    assert [problem.line for problem in manifests.problems] == [5]


def test_of_two_objects_with_one_name_the_first_counts(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("---\n" + thing("web", "from: a"))
    (tmp_path / "b.yaml").write_text(thing("other") + "---\n" + thing("web", "from: b").replace("v1", "v2"))
    manifests = read_manifests([tmp_path])
    assert [str(problem) for problem in manifests.problems] == [
        f"{tmp_path}/b.yaml:5: Thing web: found a second object of this name, "
        f"wanted one; the first, at {tmp_path}/a.yaml:2, counts"
    ]
    assert [manifest.raw.get("from") for manifest in manifests.objects] == ["a", None]


def test_an_unknown_version_of_a_known_kind_names_the_known_ones() -> None:
    group = "gateway.networking.k8s.io"
    known = {GroupKind(group, "HTTPRoute"): ("v1", "v1beta1")}
    documents = [
        f"kind: HTTPRoute\napiVersion: {group}/v9\nmetadata: {{name: a, namespace: b}}\n",
        f"kind: HttpRoute\napiVersion: {group}/v1\nmetadata: {{name: a}}\n",
        f"kind: NewRoute\napiVersion: {group}/v9\nmetadata: {{name: a}}\n",
        "kind: HTTPRoute\napiVersion: other.example.com/v9\nmetadata: {name: a}\n",
    ]
    manifests = read_manifests(["-"], BytesIO("---\n".join(documents).encode()), known_versions=known)
    assert [str(problem) for problem in manifests.problems] == [
        f"<stdin>:2: HTTPRoute b/a: apiVersion: found the unknown version {group}/v9, "
        f"wanted {group}/v1 or {group}/v1beta1",
        '<stdin>:5: HttpRoute a: kind: found the string "HttpRoute", wanted HTTPRoute, in this spelling',
    ]
    assert [str(manifest.ref) for manifest in manifests.objects] == ["NewRoute a", "HTTPRoute a"]


def test_files_that_cannot_be_read_are_problems_and_the_others_count(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "good.yaml").write_text(thing("a"))
    (tmp_path / "large.yaml").write_text(thing("b") + "# " + "x" * 200)
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "dangling.yaml").symlink_to(tmp_path / "nowhere")
    (tmp_path / "itself.yaml").symlink_to(tmp_path / "itself.yaml")
    manifests = read_manifests([tmp_path / "gone.yaml", tmp_path / "empty", tmp_path, "-"], None, size_limit=200)
    assert [str(problem) for problem in manifests.problems] == [
        f"{tmp_path}/gone.yaml: found no such file or directory, wanted a file that can be read",
        f"{tmp_path}/empty: found a folder without manifests, wanted files that end with .yaml, .yml, .json",
        f"{tmp_path}/dangling.yaml: found no such file or directory, wanted a file that can be read",
        f"{tmp_path}/itself.yaml: found too many levels of symbolic links, wanted a file that can be read",
        f"{tmp_path}/large.yaml: found more than 200 bytes, wanted a smaller file, or a higher size limit",
        "<stdin>: found no standard input, wanted objects on it, as - was given",
    ]
    assert [manifest.ref.name for manifest in manifests.objects] == ["a"]


def test_undecodable_utf16_is_a_problem() -> None:
    (problem,) = read_manifests(["-"], BytesIO(b"\xff\xfea")).problems
    assert (problem.line, problem.wanted) == (1, "UTF-8 or UTF-16 text")


# fmt: off
WORDS = [
    "a", "b:", "c", "kind:", "List", "items:", "-", "[", "]", "{", "}", ",", "?", ":", "&", "*", "&x", "*x", "<<:",
    "|", ">", "'", '"', "#", "%", "!", "!!int", "5", "~", "yes", "---", "...", "\t", "\\", "\n", "\n  ", "\n- ",
    "\n---\n", '{"a":', "\ufeff", "\u2028", "apiVersion: v1\nkind: T\nmetadata: {name: a}\n",
]
# fmt: on
yaml_like = st.lists(st.sampled_from(WORDS), max_size=40).map(lambda words: " ".join(words).encode())


@given(st.one_of(yaml_like, st.binary(max_size=200)))
@settings(max_examples=300)
def test_no_input_raises_and_each_problem_is_one_line_inside_the_file(content: bytes) -> None:
    manifests = read_manifests(["-"], BytesIO(content))
    last_line = len(re.findall(rb"[\r\n]|\xc2\x85|\xe2\x80[\xa8\xa9]", content)) + 1
    for problem in manifests.problems:
        assert 1 <= problem.line <= last_line
        assert str(problem).isprintable()
    for manifest in manifests.objects:
        assert 1 <= manifests.line_of(manifest, "metadata.name") <= last_line


def test_names_that_would_garble_a_terminal_are_escaped() -> None:
    text = 'apiVersion: v1\nkind: T\nmetadata: {name: "a\\n\\e[2J", labels: {a: 1}}\n'
    (problem,) = read_manifests(["-"], BytesIO(text.encode())).problems
    assert problem.object == "T a\\n\\x1b[2J"


LAUGHS = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"] + [
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, 12)
]
MERGED_LAUGHS = ["a0: &a0 {x: 1}"] + [
    f"a{level}: &a{level} {{<<: [{', '.join([f'*a{level - 1}'] * 10)}]}}" for level in range(1, 12)
]


@pytest.mark.parametrize("lines", [LAUGHS, MERGED_LAUGHS], ids=["lists", "merges"])
def test_an_alias_bomb_is_refused(lines: list[str]) -> None:
    (problem,) = read_manifests(["-"], BytesIO("\n".join(lines).encode())).problems
    assert problem.found == "aliases that stand for more than 400000 values"
    assert problem.wanted == "the values written out"


def test_aliases_of_long_texts_count_by_their_length() -> None:
    text = f"a: &a {'x' * 1_000_000}\nb: [{', '.join(['*a'] * 100)}]\n"
    (problem,) = read_manifests(["-"], BytesIO(text.encode())).problems
    assert (problem.line, problem.found) == (2, "aliases that stand for more than 400000 values")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("".join(f"{' ' * level}a:\n" for level in range(300)), 201),
        ("[" * 100_000, 1),
        ("- " * 100_000, 1),
        ('{"a":\n' * 300 + "1" + "}" * 300, 201),
        ('{"a":' * 100_000, 1),
    ],
    ids=["mappings", "flow lists", "lists", "JSON", "endless JSON"],
)
def test_deep_nesting_is_refused(text: str, line: int) -> None:
    (problem,) = read_manifests(["-"], BytesIO(text.encode())).problems
    assert problem.line == line
    assert "nest" in problem.found
    assert len(str(problem)) < 400


def test_nesting_as_in_real_objects_is_read() -> None:
    text = thing("a", "spec: " + "[" * 190 + "]" * 190)
    assert read_manifests(["-"], BytesIO(text.encode())).problems == ()


JUNK: dict[str, tuple[Callable[[], bytes], int]] = {
    "random bytes": (lambda: random.Random(1).randbytes(50 * MEBIBYTE), 1),
    "zeros": (lambda: bytes(50 * MEBIBYTE), 1),
    "one word": (lambda: b"x" * 50 * MEBIBYTE, 1),
    "one block scalar": (lambda: thing("a", "data: |\n").encode() + b"  xxxxxxxxxxxxxx\n" * 3 * MEBIBYTE, 4),
    "one JSON string": (lambda: b'{\n"a":"' + b"x" * 50 * MEBIBYTE + b'"}', 2),
    "one number": (lambda: b'{\n"a":' + b"9" * 50 * MEBIBYTE + b"}", 2),
    "open quote": (lambda: b'a: "' + b"x" * 50 * MEBIBYTE, 1),
    "repeated keys": (lambda: b"{" + b'"a":1,' * 8 * MEBIBYTE + b'"a":1}', 1),
}


@pytest.mark.parametrize("name", JUNK)
def test_fifty_megabytes_of_junk_are_refused_at_once(name: str) -> None:
    make, line = JUNK[name]
    content = make()
    start = time.process_time()
    (problem,) = read_manifests(["-"], BytesIO(content)).problems
    assert problem.line == line
    assert len(str(problem)) < 400
    assert time.process_time() - start < 10


@pytest.mark.parametrize("piece", [b"---\nx\n", b"{}", b'{"kind":"List","items":[' + b"1," * 5000 + b"1]}"])
def test_reading_stops_after_a_thousand_problems_of_one_file(piece: bytes, tmp_path: Path) -> None:
    (tmp_path / "junk.yaml").write_bytes(piece * (20 * MEBIBYTE // len(piece)))
    (tmp_path / "sound.yaml").write_text(thing("a"))
    manifests = read_manifests([tmp_path])
    assert 1000 < len(manifests.problems) < 1010
    assert manifests.problems[-1].found == "1000 problems up to here; the rest was not read"
    assert [manifest.ref.name for manifest in manifests.objects] == ["a"]


def test_a_large_sound_file_is_read_in_time_and_memory(tmp_path: Path) -> None:
    document = thing("NAME", "spec:\n" + "".join(f"  field{n}: {{name: value{n}, port: {n}}}\n" for n in range(100)))
    file = tmp_path / "large.yaml"
    file.write_text("---\n".join(document.replace("NAME", f"t{n}") for n in range(1000)))
    start = time.process_time()
    manifests = read_manifests([file])
    assert len(manifests.objects) == 1000
    assert manifests.line_of(manifests.objects[999], "spec.field99.port") == 999 * 105 + 104
    assert time.process_time() - start < 20


OWNER = '{"apiVersion": "v1", "kind": "T", "name": "o"'


@pytest.mark.parametrize(
    ("field", "problems"),
    [
        ("uid: [1]", ["uid: found a list, wanted a string"]),
        ("uid: 5", ["uid: found the number 5, wanted a string"]),
        ('finalizers: "x"', ['finalizers: found the string "x", wanted a list of strings']),
        ("finalizers: [a, 1]", ["finalizers[1]: found the number 1, wanted a string"]),
        ("labels: {commit: 1e2}", ["labels.commit: found the number 100, wanted a string; write it in quotes"]),
        ("annotations: {month: 09}", ["annotations.month: found the number 9, wanted a string; write it in quotes"]),
        ('generation: "1"', ['generation: found the string "1", wanted a whole number']),
        ("generation: true", ["generation: found the boolean true, wanted a whole number"]),
        ("generation: 1.5", ["generation: found the number 1.5, wanted a whole number"]),
        (
            "creationTimestamp: 5",
            ['creationTimestamp: found the number 5, wanted a time such as "2026-03-01T00:00:00Z", a string'],
        ),
        (
            'creationTimestamp: "2026-02-30T00:00:00Z"',
            [
                'creationTimestamp: found the string "2026-02-30T00:00:00Z", '
                'wanted a time such as "2026-03-01T00:00:00Z", a string'
            ],
        ),
        (
            "deletionTimestamp: true",
            ['deletionTimestamp: found the boolean true, wanted a time such as "2026-03-01T00:00:00Z", a string'],
        ),
        ("generateName: {}", ["generateName: found a mapping, wanted a string"]),
        ("resourceVersion: 7", ["resourceVersion: found the number 7, wanted a string; write it in quotes"]),
        ("managedFields: [x]", ['managedFields[0]: found the string "x", wanted a mapping']),
        ("ownerReferences: {}", ["ownerReferences: found a mapping, wanted a list of references"]),
        (
            "ownerReferences: [x]",
            ['ownerReferences[0]: found the string "x", wanted a mapping with apiVersion, kind, name and uid'],
        ),
        (
            'ownerReferences: [{"kind": 1, "name": ""}]',
            [
                "ownerReferences[0].apiVersion: found nothing, wanted a string",
                "ownerReferences[0].kind: found the number 1, wanted a string",
                "ownerReferences[0].name: found an empty string, wanted a string",
            ],
        ),
        (f'ownerReferences: [{OWNER}, "uid": [1]}}]', ["ownerReferences[0].uid: found a list, wanted a string"]),
        (
            f'ownerReferences: [{OWNER}, "controller": "yes"}}]',
            ['ownerReferences[0].controller: found the string "yes", wanted true or false'],
        ),
    ],
)
def test_metadata_of_a_wrong_type_is_told_with_line_and_field(field: str, problems: list[str]) -> None:
    text = f"apiVersion: v1\nkind: T\nmetadata:\n  name: x\n  {field}\n---\n{thing('good')}"
    manifests = read_manifests(["-"], BytesIO(text.encode()))
    assert [manifest.ref.name for manifest in manifests.objects] == ["good"]
    found = [str(problem) for problem in manifests.problems]
    assert [re.sub(r"^<stdin>:5: ", "", one) for one in found] == [f"T x: metadata.{problem}" for problem in problems]


@pytest.mark.parametrize(
    "field",
    [
        "labels: null",
        "uid: null",
        "ownerReferences: null",
        "finalizers: []",
        "generation: 3",
        "creationTimestamp: 2026-02-03T00:00:00.5+02:00",
        f"ownerReferences: [{OWNER}}}]",
    ],
)
def test_metadata_that_is_null_empty_or_sound_is_taken(field: str) -> None:
    text = f"apiVersion: v1\nkind: T\nmetadata:\n  name: x\n  {field}\n"
    manifests = read_manifests(["-"], BytesIO(text.encode()))
    assert manifests.problems == ()
    assert [manifest.ref.name for manifest in manifests.objects] == ["x"]
