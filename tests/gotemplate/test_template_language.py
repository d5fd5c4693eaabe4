"""Actions, blocks, variables and nested templates, as the documentation of Go's text/template has them."""

from __future__ import annotations

from typing import Any

import pytest

from gatepost.gotemplate import Fields, Function, Strings, Template

DATA: dict[str, Any] = {
    "name": "web",
    "empty": "",
    "zero": 0,
    "three": 3,
    "half": 0.5,
    "yes": True,
    "no": False,
    "nothing": None,
    "list": ["a", "b", "c"],
    "none": [],
    "map": {"b": "2", "a": 1},
    "no_map": {},
    "labels": Strings({"team": "red", "app.example.com/part": "api"}),
    "deep": {"er": {"est": "found"}},
    "places": [{"host": "x"}, {"host": "y"}],
}


def rendered(text: str, data: Any = DATA, **options: Any) -> str:
    return Template.parse(text, name="t", **options).execute(data)


TEXTS_AND_TRIMMING = [
    ("", ""),
    ("no action", "no action"),
    ("} }} {", "} }} {"),
    ("{{.name}}", "web"),
    ("a {{.name}} b", "a web b"),
    ("a {{- .name -}} b", "awebb"),
    ("a \t\r\n {{- .name}} b", "aweb b"),
    ("a {{.name -}} \n\n b", "a webb"),
    ("{{3 -}} < {{- 45}}", "3<45"),
    ("a {{-3}}", "a -3"),
    ("a {{- -3}}", "a-3"),
    ("{{/* nothing */}}x", "x"),
    ("a {{- /* nothing */ -}} b", "ab"),
    ("a {{/* two\nlines */}} b", "a  b"),
    ("{{\n.name\n}}", "web"),
    ("{{.name}}\n", "web\n"),
    ("{{.name}}}}", "web}}"),
    ("{{'{'}}", "123"),
    ('{{"}}"}}', "}}"),
]

CONSTANTS = [
    ("{{true}} {{false}}", "true false"),
    ("{{1}} {{-1}} {{+1}}", "1 -1 1"),
    ("{{0x1F}} {{0b101}} {{0o17}} {{017}}", "31 5 15 15"),
    ("{{1_000}} {{0x_ff}}", "1000 255"),
    ("{{9223372036854775807}}", "9223372036854775807"),
    ("{{-9223372036854775808}}", "-9223372036854775808"),
    ("{{1.5}} {{.5}} {{1.}}", "1.5 0.5 1"),
    ("{{1e3}} {{1e6}} {{25e-1}}", "1000 1e+06 2.5"),
    ("{{0x1p4}}", "16"),
    ('{{"a\\tb\\n"}}', "a\tb\n"),
    ('{{"\\x41\\101\\u00e9\\U0001F600\\\\\\""}}', 'AAé😀\\"'),
    ("{{`raw\\n`}}", "raw\\n"),
    ("{{`two\r\nlines`}}", "two\nlines"),
    ("{{'a'}} {{'\\n'}} {{'\\''}} {{'é'}}", "97 10 39 233"),
]

DATA_AND_FIELDS = [
    ("{{.three}} {{.half}} {{.yes}}", "3 0.5 true"),
    ("{{.deep.er.est}}", "found"),
    ("{{(.deep).er.est}}", "found"),
    ('{{(index .deep "er").est}}', "found"),
    ("{{$.name}}", "web"),
    ("{{.absent}}", "<no value>"),
    ("{{.absent.of.all}}", "<no value>"),
    ("{{.nothing}}", "<no value>"),
    ("{{print .nothing}}", "<nil>"),
    ("{{.list}} {{.map}} {{.labels}}", "[a b c] map[a:1 b:2] map[app.example.com/part:api team:red]"),
    ("{{.none}}{{.no_map}}", "[]map[]"),
    ("{{.labels.team}}", "red"),
    ('{{index .labels "app.example.com/part"}}', "api"),
    ('[{{index .labels "absent"}}]', "[]"),
    ("{{.labels.absent}}", "<no value>"),
]

PIPELINES = [
    ("{{.name | print}}", "web"),
    ('{{"x" | printf "%s-%s" .name}}', "web-x"),
    ("{{.name | len | printf `%03d`}}", "003"),
    ("{{print (print 1 2) (print 3)}}", "1 23"),
    ("{{print 1|print}}", "1"),
    ("{{(.list)}}", "[a b c]"),
    ("{{((.name))}}", "web"),
    ("{{true | not}}", "false"),
    ("{{.list | len | eq 3}}", "true"),
]

CONDITIONS = [
    ("{{if .name}}y{{end}}", "y"),
    ("{{if .empty}}y{{end}}", ""),
    ("{{if .empty}}y{{else}}n{{end}}", "n"),
    ("{{if .zero}}a{{else if .three}}b{{else}}c{{end}}", "b"),
    ("{{if .zero}}a{{else if .no}}b{{else if .nothing}}c{{else}}d{{end}}", "d"),
    ("{{if .yes}}1{{end}}{{if .half}}2{{end}}{{if .list}}3{{end}}{{if .map}}4{{end}}", "1234"),
    ("{{if .none}}1{{end}}{{if .no_map}}2{{end}}{{if .absent}}3{{end}}{{if 0.0}}4{{end}}", ""),
    ("{{if and .name .three}}y{{end}}", "y"),
    ("{{with .name}}<{{.}}>{{end}}", "<web>"),
    ("{{with .empty}}<{{.}}>{{else}}{{.name}}{{end}}", "web"),
    ("{{with .empty}}a{{else with .deep}}{{.er.est}}{{else}}c{{end}}", "found"),
    ("{{with .deep}}{{with .er}}{{.est}}{{$.name}}{{end}}{{end}}", "foundweb"),
    ("{{if .zero}}{{else}}{{end}}x", "x"),
]

RANGES = [
    ("{{range .list}}<{{.}}>{{end}}", "<a><b><c>"),
    ("{{range $e := .list}}{{$e}}{{.}}{{end}}", "aabbcc"),
    ("{{range $i, $e := .list}}{{$i}}{{$e}}{{end}}", "0a1b2c"),
    ("{{range .map}}{{.}},{{end}}", "1,2,"),
    ("{{range $k, $v := .map}}{{$k}}={{$v}};{{end}}", "a=1;b=2;"),
    ("{{range $k, $v := .labels}}{{$k}}={{$v}};{{end}}", "app.example.com/part=api;team=red;"),
    ("{{range .places}}{{.host}}.{{$.name}},{{end}}", "x.web,y.web,"),
    ("{{range .three}}{{.}}{{end}}", "012"),
    ("{{range $i := 2}}{{$i}}{{end}}", "01"),
    ("{{range 0}}x{{else}}none{{end}}", "none"),
    ("{{range .none}}x{{else}}none{{end}}", "none"),
    ("{{range .no_map}}x{{else}}none{{end}}", "none"),
    ("{{range .nothing}}x{{else}}none{{end}}", "none"),
    ("{{range .absent}}x{{end}}", ""),
    ('{{range .list}}{{if eq . "b"}}{{break}}{{end}}{{.}}{{end}}', "a"),
    ('{{range .list}}{{if eq . "b"}}{{continue}}{{end}}{{.}}{{end}}', "ac"),
    ("{{range .list}}{{range $.list}}{{break}}{{end}}{{.}}{{end}}", "abc"),
    ("{{range .list}}{{range $.none}}{{else}}{{continue}}{{end}}{{.}}{{end}}", ""),
    ("{{range .list}}{{.}}{{else}}none{{end}}", "abc"),
]

VARIABLES = [
    ("{{$x := 1}}{{$x}}", "1"),
    ("{{$x:=1}}{{$x}}", "1"),
    ("{{$x := 1}}{{$x = 2}}{{$x}}", "2"),
    ("{{$x := 1}}{{if true}}{{$x := 2}}{{$x}}{{end}}{{$x}}", "21"),
    ("{{$x := 1}}{{if true}}{{$x = 2}}{{end}}{{$x}}", "2"),
    ("{{$x := .deep}}{{$x.er.est}}", "found"),
    ("{{$x := 1}}{{range .list}}{{$x = .}}{{end}}{{$x}}", "c"),
    ("{{$i := 0}}{{$e := 0}}{{range $i, $e = .list}}{{end}}{{$i}}{{$e}}", "2c"),
    ("{{with $x := .name}}{{$x}}{{.}}{{end}}", "webweb"),
    ("{{if $x := .empty}}{{else if $y := .name}}{{$y}}[{{$x}}]{{end}}", "web[]"),
    ("{{$x := .nothing}}{{$x.any}}", "<no value>"),
    ("{{$ö1_ := 7}}{{$ö1_}}", "7"),
]

NESTED_TEMPLATES = [
    ('{{define "a"}}[{{.}}]{{end}}{{template "a" .name}}', "[web]"),
    ('{{template "a" .name}}{{define "a"}}[{{.}}{{$}}]{{end}}', "[webweb]"),
    ('{{define "a"}}[{{.}}]{{end}}{{template "a"}}', "[<no value>]"),
    ('{{block "a" .name}}<{{.}}>{{end}}{{template "a" .three}}', "<web><3>"),
    ('{{define "a"}}{{template "b" .}}!{{end}}{{define "b"}}{{.}}{{end}}{{template "a" 1}}', "1!"),
    ('{{define "a"}} {{end}}{{define "a"}}x{{end}}{{template "a"}}', "x"),
    ('{{define "down"}}{{if .}}{{len .}}{{template "down" (slice . 1)}}{{end}}{{end}}{{template "down" .list}}', "321"),
    ("{{range .list}}{{template `a` .}}{{end}}{{define `a`}}{{.}}.{{end}}", "a.b.c."),
    ('{{template "a" $x := 3}}{{define "a"}}{{.}}{{end}}', "3"),
    ('{{define "unused"}}x{{end}}', ""),
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *TEXTS_AND_TRIMMING,
        *CONSTANTS,
        *DATA_AND_FIELDS,
        *PIPELINES,
        *CONDITIONS,
        *RANGES,
        *VARIABLES,
        *NESTED_TEMPLATES,
    ],
)
def test_template_gives_what_the_language_says(text: str, expected: str) -> None:
    assert rendered(text) == expected


@pytest.mark.parametrize(
    ("missing_key", "text", "expected"),
    [
        ("zero", "[{{.labels.absent}}]", "[]"),
        ("zero", "{{.absent}}", "<no value>"),
        ("zero", '{{eq .labels.absent ""}}', "true"),
        ("default", "{{.labels.absent}}", "<no value>"),
        ("error", "{{.labels.team}}", "red"),
        ("error", '[{{index .labels "absent"}}]', "[]"),
    ],
)
def test_missing_key_is_what_the_option_says(missing_key: str, text: str, expected: str) -> None:
    assert rendered(text, missing_key=missing_key) == expected


def test_fields_are_read_by_name_and_printed_in_their_order() -> None:
    spec = Fields("v1.Spec", {"Hostnames": ["a", "b"], "Port": None})
    route = Fields("v1.Route", {"Name": "web", "Labels": Strings({"a": "b"}), "Spec": spec})
    assert rendered("{{.Name}} {{index .Spec.Hostnames 1}} {{len .Labels}}", route) == "web b 1"
    assert rendered("{{.}}", route) == "{web map[a:b] {[a b] <nil>}}"
    assert rendered('{{printf "%+v" .Spec}}', route) == "{Hostnames:[a b] Port:<nil>}"
    assert rendered('{{printf "%T" .}}', route) == "v1.Route"


def test_functions_of_the_caller_may_be_called_and_may_replace_those_of_go() -> None:
    functions = {
        "twice": Function(lambda text: text * 2, ("string",)),
        "len": Function(lambda value: -1, ("any",)),
        "half": Function(lambda number: number / 2, ("float64",)),
        "joined": Function(lambda by, *parts: by.join(parts), ("string",), more="string"),
        "now": Function(lambda: "noon"),
    }
    text = '{{twice .name}} {{.name | twice | twice}} {{len .name}} {{half 3}} {{joined "-" "a" .name}} {{now}}'
    assert rendered(text, functions=functions) == "webweb webwebwebweb -1 1.5 a-web noon"


def test_functions_in_the_data_are_called_by_call() -> None:
    data = {"shout": Function(str.upper, ("string",)), "word": "hey"}
    assert rendered("{{call .shout .word}}{{.word | call .shout}}", data) == "HEYHEY"


def test_a_template_is_executed_any_number_of_times() -> None:
    template = Template.parse("{{$x := .}}{{range .}}{{$x = .}}{{end}}{{$x}}", name="t")
    assert [template.execute([1, 2]), template.execute([3]), template.execute([1, 2])] == ["2", "3", "2"]


def test_data_of_a_type_that_no_template_knows_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(TypeError, match="found a set"):
        rendered("{{len .}}", {1, 2})


def test_bytes_that_are_no_text_come_out_as_the_replacement_character() -> None:
    assert rendered('{{"a\\xffb"}}{{slice "é" 0 1}}') == "a�b�"
