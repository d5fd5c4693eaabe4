"""What is wrong with a template, and where: line and column from 1, what was found, what was wanted."""

from __future__ import annotations

from typing import Any

import pytest

from gatepost.gotemplate import Fields, Function, FunctionError, Strings, Template, TemplateError, TemplateSyntaxError

NUMBER = "a number such as 42, 0x2a, 1_000 or 4.2e1"
ESCAPE = r"an escape such as \n, \\, \x41, \101 or \u00e9"


@pytest.mark.parametrize(
    ("text", "line", "column", "found", "wanted"),
    [
        ("a {{.x", 1, 3, "an action without end", "'}}'"),
        ("{{", 1, 1, "an action without end", "'}}'"),
        ("a\n{{/* x", 2, 1, "a comment without end", "'*/}}'"),
        ("{{/* x */ }}", 1, 10, "' '", "'}}' or ' -}}' right after '*/'"),
        ("{{}}", 1, 3, "'}}'", "a value in an action"),
        ("{{if}}x{{end}}", 1, 5, "'}}'", "a value in {{if}}"),
        ("{{| .x}}", 1, 3, "'|'", "a value in an action"),
        ("{{.x ! 1}}", 1, 6, "'!'", "'|' or '}}' in an action"),
        ("{{.x §}}", 1, 6, "'§'", "a word, a constant or '}}'"),
        ("{{nope 1}}", 1, 3, "unknown function 'nope'", "one of and, call"),
        ("{{.x | nope}}", 1, 8, "unknown function 'nope'", "one of and, call"),
        ("x\ny {{$z}}", 2, 5, "undefined variable $z", "a variable that is declared before"),
        ("{{if $x := 1}}{{end}}{{$x}}", 1, 24, "undefined variable $x", "a variable that is declared before"),
        (
            '{{$x := 1}}{{define "a"}}{{$x}}{{end}}',
            1,
            28,
            "undefined variable $x",
            "a variable that is declared before",
        ),
        ("{{$x, $y := 1}}", 1, 3, "variables in an action", "at most two in {{range}}, one elsewhere"),
        (
            "{{range $x, $y, $z := .l}}{{end}}",
            1,
            13,
            "variables in {{range}}",
            "at most two in {{range}}, one elsewhere",
        ),
        ("{{range $x, 1}}{{end}}", 1, 13, "'1'", "a second variable and ':=' in {{range}}"),
        ("{{$x=1}}", 1, 5, "'='", "a blank, '.', '|', ')' or '}}' after a name"),
        ("{{.a-b}}", 1, 5, "'-'", "a blank, '.', '|', ')' or '}}' after a name"),
        ("{{:}}", 1, 3, "':'", "':='"),
        ("{{1 | 2}}", 1, 7, "'2'", "a function or a field after '|'"),
        ('{{.x | "a"}}', 1, 8, '"a"', "a function or a field after '|'"),
        ("{{print (1)2}}", 1, 12, "'2'", "a blank before it"),
        ("{{nil.x}}", 1, 3, "fields of nil", "fields of a variable, a field or parentheses only"),
        ('{{"a".x}}', 1, 3, 'fields of "a"', "fields of a variable, a field or parentheses only"),
        ("{{(.x}}", 1, 6, "'}}'", "')' for each '(' before it"),
        ("{{.x)}}", 1, 5, "')'", "'(' before it"),
        ("{{()}}", 1, 4, "')'", "a value in parentheses"),
        ('{{"open}}', 1, 3, 'a constant that starts with " and does not end', '" on the same line'),
        ("{{`open}}", 1, 3, "a constant that starts with ` and does not end", "`"),
        ("{{'a}}", 1, 3, "a constant that starts with ' and does not end", "' on the same line"),
        ("{{''}}", 1, 3, "''", "one character in single quotes"),
        ("{{'ab'}}", 1, 3, "'ab'", "one character in single quotes"),
        ('{{"\\q"}}', 1, 3, '"\\q"', ESCAPE),
        ('{{"\\ud800"}}', 1, 3, '"\\ud800"', ESCAPE),
        ("{{089}}", 1, 3, "'089'", NUMBER),
        ("{{1__0}}", 1, 3, "'1__0'", NUMBER),
        ("{{12ab}}", 1, 3, "'12a'", NUMBER),
        ("{{9223372036854775808}}", 1, 3, "'9223372036854775808'", "an integer of 64 bits"),
        ("{{1e999}}", 1, 3, "'1e999'", "a float of 64 bits"),
        ("{{2i}}", 1, 3, "'2i'", "an integer or a float; complex numbers are not supported"),
        ("x{{end}}", 1, 2, "{{end}}", "a block that it belongs to"),
        ("{{else}}", 1, 1, "{{else}}", "a block that it belongs to"),
        ("a\n {{if .x}}{{.y}}", 2, 2, "no {{end}} for {{if}}", "one before the end of the text"),
        ("{{range .x}}", 1, 1, "no {{end}} for {{range}}", "one before the end of the text"),
        ("{{if .x}}{{else}}{{else}}{{end}}", 1, 18, "a second {{else}}", "{{end}}"),
        ("{{if .x}}{{else with .y}}{{end}}", 1, 17, "'with'", "'}}'"),
        ("{{with .x}}{{else if .y}}{{end}}", 1, 19, "'if'", "'}}'"),
        ("{{if .x}}{{end .y}}", 1, 16, "'.y'", "'}}'"),
        ("{{break}}", 1, 1, "{{break}}", "a range around it"),
        ("{{range .x}}{{else}}{{continue}}{{end}}", 1, 21, "{{continue}}", "a range around it"),
        ('{{range .x}}{{block "a" .}}{{break}}{{end}}{{end}}', 1, 28, "{{break}}", "a range around it"),
        ('{{if .x}}{{define "a"}}{{end}}{{end}}', 1, 10, "{{define}} inside a block", "it outside of all blocks"),
        ("{{define a}}{{end}}", 1, 10, "'a'", "a text in quotes"),
        ('{{define "a" .}}{{end}}', 1, 14, "'.'", "'}}'"),
        ('{{define "a"}}1{{end}}{{define "a"}}2{{end}}', 1, 23, "a second template 'a'", "each name defined once"),
        ('{{define "a"}}{{else}}{{end}}', 1, 15, "{{else}} in {{define}}", "{{end}}"),
        ("{{template}}", 1, 11, "'}}'", "a text in quotes"),
        ('{{block "a"}}{{end}}', 1, 12, "'}}'", "a value in {{block}}"),
    ],
)
def test_text_that_is_no_template_is_refused_at_its_place(
    text: str, line: int, column: int, found: str, wanted: str
) -> None:
    with pytest.raises(TemplateSyntaxError) as raised:
        Template.parse(text, name="domain-template")
    error = raised.value
    assert (error.name, error.line, error.column, error.found) == ("domain-template", line, column, found)
    assert error.wanted == wanted or (
        wanted == "one of and, call" and error.wanted.startswith("one of and, call, eq, ")
    )
    assert str(error) == f"template domain-template:{line}:{column}: found {found}, wanted {error.wanted}"


SPEC = Fields("v1.Spec", {"Hostnames": ["a"]}, {"Rules": "they are not kept"})
DATA: dict[str, Any] = {"text": "x", "one": 1, "nothing": None, "labels": Strings({}), "spec": SPEC}


@pytest.mark.parametrize(
    ("text", "place", "action", "reason"),
    [
        ("{{.text.more}}", (1, 3), "{{.text.more}}", "can't evaluate field more in type string"),
        ("{{.nothing.more}}", (1, 3), "{{.nothing.more}}", "nil pointer evaluating interface {}.more"),
        ("{{.spec.Port}}", (1, 3), "{{.spec.Port}}", "can't evaluate field Port in type v1.Spec, which has Hostnames"),
        ("{{.spec.Rules}}", (1, 3), "{{.spec.Rules}}", "field Rules of v1.Spec is not available: they are not kept"),
        ("a\n é {{ len .one }}", (2, 7), "{{ len .one }}", "error calling len: len of type int"),
        (
            "{{if (eq .one .text)}}{{end}}",
            (1, 7),
            "{{if (eq .one .text)}}",
            "error calling eq: incompatible types for comparison: int and string",
        ),
        ("{{range .text}}{{end}}", (1, 9), "{{range .text}}", "range can't iterate over a string"),
        (
            "{{range $i, $j := 3}}{{end}}",
            (1, 19),
            "{{range $i, $j := 3}}",
            "can't use 3 to iterate over more than one variable",
        ),
        ("{{nil}}", (1, 3), "{{nil}}", "nil is not a command"),
        ("{{.text 1}}", (1, 3), "{{.text 1}}", "text has arguments but cannot be called"),
        ("{{1 2}}", (1, 3), "{{1 2}}", "can't give argument to non-function 1"),
        ("{{$x = 1}}", (1, 8), "{{$x = 1}}", "undefined variable: $x"),
        ('{{template "no" .}}', (1, 1), '{{template "no" .}}', "template 'no' is not defined"),
        ("{{printf .one}}", (1, 10), "{{printf .one}}", "found a value of type int, wanted a string"),
        ("{{.one | printf}}", (1, 10), "{{.one | printf}}", "found a value of type int, wanted a string"),
        (
            "{{print}}{{index .spec.Hostnames 1}}",
            (1, 12),
            "{{index .spec.Hostnames 1}}",
            "error calling index: index out of range: 1",
        ),
    ],
)
def test_failure_names_the_place_and_the_action(text: str, place: tuple[int, int], action: str, reason: str) -> None:
    with pytest.raises(TemplateError) as raised:
        Template.parse(text, name="t").execute(DATA)
    error = raised.value
    assert ((error.line, error.column), error.action, error.reason) == (place, action, reason)
    assert str(error) == f"template t:{place[0]}:{place[1]}: at {action}: {reason}"


def test_failure_in_a_nested_template_names_that_template() -> None:
    text = '{{define "inner"}}\n{{len .}}{{end}}{{template "inner" .one}}'
    with pytest.raises(TemplateError) as raised:
        Template.parse(text, name="outer").execute(DATA)
    assert (raised.value.name, raised.value.line, raised.value.action) == ("inner", 2, "{{len .}}")


@pytest.mark.parametrize("text", ["{{.absent}}", "{{.labels.absent}}", "{{if .absent.more}}{{end}}"])
def test_missing_key_is_an_error_if_it_is_asked_to_be(text: str) -> None:
    with pytest.raises(TemplateError, match='map has no entry for key "absent"'):
        Template.parse(text, name="t", missing_key="error").execute(DATA)


def test_nothing_at_all_has_no_fields_if_missing_keys_are_errors() -> None:
    assert Template.parse("{{.a.b}}", name="t").execute(None) == "<no value>"
    with pytest.raises(TemplateError, match='nil data; no entry for key "a"'):
        Template.parse("{{.a.b}}", name="t", missing_key="error").execute(None)


def _even(number: int) -> bool:
    if number < 0:
        raise FunctionError("found a negative number, wanted 0 or more")
    return number % 2 == 0


def _check_even(*constants: Any) -> None:
    if constants[0] == 13:
        raise FunctionError("any number but 13")


EVEN = {"even": Function(_even, ("int",), check=_check_even)}


def test_refusal_of_a_function_is_told_with_its_name() -> None:
    with pytest.raises(TemplateError) as raised:
        Template.parse("{{even -1}}", name="t", functions=EVEN).execute(None)
    assert raised.value.reason == "error calling even: found a negative number, wanted 0 or more"


def test_constants_that_a_function_can_never_take_are_refused_when_the_template_is_parsed() -> None:
    with pytest.raises(TemplateSyntaxError) as raised:
        Template.parse("{{if (even 13)}}{{end}}", name="t", functions=EVEN)
    assert (raised.value.column, raised.value.found, raised.value.wanted) == (7, "even 13", "any number but 13")
    assert Template.parse("{{even .}}", name="t", functions=EVEN).execute(12) == "true"


def test_long_pieces_are_cut_in_messages() -> None:
    with pytest.raises(TemplateSyntaxError) as raised:
        Template.parse("{{" + "1" * 1000 + "}}", name="t")
    assert raised.value.found == "'" + "1" * 79 + "…"
    with pytest.raises(TemplateError) as failed:
        Template.parse("{{len " + " " * 1000 + "1}}", name="t").execute(None)
    assert failed.value.action == "{{len " + " " * 74 + "…"
