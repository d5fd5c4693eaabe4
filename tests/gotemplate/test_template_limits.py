"""However a template is written, it ends soon and stays small, and says which limit it met."""

from __future__ import annotations

from typing import Any

import pytest

from gatepost.gotemplate import Function, Limits, Template, TemplateError, TemplateSyntaxError

STEPS = "needs more than 100000 steps, the limit of one execution"
TEXT = "makes a text of more than 262144 characters, the limit"
OUTPUT = "gives more than 262144 characters, the limit of the output"
DEPTH = "nests deeper than 100 templates, blocks and parentheses, the limit"
WIDTH = "formats with a width or precision of more than 1000, the limit"

TWICE_EACH = (
    '{{define "a"}}{{if .}}{{template "a" slice . 1}}{{template "a" slice . 1}}{{end}}{{end}}{{template "a" .}}'
)


def deep(levels: int) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for _ in range(levels):
        data = {"a": data}
    return data


@pytest.mark.parametrize(
    ("text", "data", "reason"),
    [
        ("{{range 9223372036854775807}}{{end}}", None, STEPS),
        ("{{range .}}{{range $}}{{range $}}{{end}}{{end}}{{end}}", [0] * 100, STEPS),
        ("{{range 1000}}{{range $}}{{break}}{{end}}{{end}}", {str(key): 1 for key in range(50_000)}, STEPS),
        ("{{range 1000000}}{{$x := slice $ 1}}{{end}}", ["a"] * 50_000, STEPS),
        (
            "{{range 1000000}}{{$x := len $}}{{end}}",
            "a" * 100_000,
            STEPS,
        ),
        ('{{define "a"}}{{template "a"}}{{end}}{{template "a"}}', None, DEPTH),
        (
            '{{define "a"}}{{if 1}}{{template "b"}}{{end}}{{end}}{{define "b"}}{{template "a"}}{{end}}{{template "a"}}',
            None,
            DEPTH,
        ),
        (TWICE_EACH, [0] * 40, STEPS),
        ('{{$x := "ab"}}{{range 100}}{{$x = print $x $x}}{{end}}', None, TEXT),
        ('{{$x := "<>"}}{{range 100}}{{$x = html $x}}{{$x = print $x $x}}{{end}}', None, TEXT),
        ("{{$x := print .}}", ["x" * 100_000] * 3, TEXT),
        ("{{range 10}}{{$}}{{end}}", "x" * 100_000, OUTPUT),
        ("{{range 1000}}" + "x" * 1000 + "{{end}}", None, OUTPUT),
        ('{{printf "%1000000000d" 1}}', None, WIDTH),
        ('{{printf "%.1001f" 1.5}}', None, WIDTH),
        ('{{printf "%*d" 1001 1}}', None, WIDTH),
        ('{{printf "%-*d" -1001 1}}', None, WIDTH),
        ('{{printf "%99999999999999999999s" "a"}}', None, WIDTH),
        ("{{print .}}", deep(100_000), "goes deeper into templates or data than can be followed"),
    ],
)
def test_execution_without_bound_ends_at_its_limit(text: str, data: Any, reason: str) -> None:
    with pytest.raises(TemplateError) as raised:
        Template.parse(text, name="t").execute(data)
    assert raised.value.reason == reason


def test_what_is_just_within_the_limits_is_done() -> None:
    assert Template.parse('{{printf "%1000d" 1}}', name="t").execute(None) == " " * 999 + "1"
    assert Template.parse("{{.}}", name="t").execute("x" * 262_144) == "x" * 262_144
    assert Template.parse("{{range 30000}}{{end}}done", name="t").execute(None) == "done"
    nested = "{{if 1}}" * 50 + "x" + "{{end}}" * 50
    assert Template.parse(nested, name="t").execute(None) == "x"


def test_limits_may_be_narrower() -> None:
    limits = Limits(steps=10, text=40, depth=2, width=3)
    for text, reason in (
        ("{{range 20}}{{end}}", "needs more than 10 steps, the limit of one execution"),
        ('{{$x := printf "%3d%3d" 1 (print .)}}', "makes a text of more than 40 characters, the limit"),
        ("{{print (print (print 1))}}x", None),
        ("{{if 1}}{{if 1}}{{if 1}}{{end}}", "refused"),
        ('{{printf "%4d" 1}}', "formats with a width or precision of more than 3, the limit"),
    ):
        if reason is None:
            assert Template.parse(text, name="t", limits=limits).execute(None) == "1x"
        elif reason == "refused":
            with pytest.raises(TemplateSyntaxError):
                Template.parse(text, name="t", limits=limits)
        else:
            with pytest.raises(TemplateError) as raised:
                Template.parse(text, name="t", limits=limits).execute("y" * 40)
            assert raised.value.reason == reason


def test_text_that_a_function_of_the_caller_makes_counts_too() -> None:
    functions = {"flood": Function(lambda: "x" * 300_000)}
    with pytest.raises(TemplateError) as raised:
        Template.parse("{{$x := flood}}", name="t", functions=functions).execute(None)
    assert raised.value.reason == TEXT


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{{" + "(" * 51 + "1" + ")" * 51 + "}}", "more than 50 blocks and parentheses inside one another"),
        ("{{if 1}}" * 51 + "{{end}}" * 51, "more than 50 blocks and parentheses inside one another"),
        ("{{" + "(" * 100_000, "more than 50 blocks and parentheses inside one another"),
        ("{{with 1}}" * 20_000, "more than 50 blocks and parentheses inside one another"),
        ("x" * 262_145, "262145 characters"),
    ],
)
def test_template_nested_too_deep_or_too_long_is_refused(text: str, found: str) -> None:
    with pytest.raises(TemplateSyntaxError) as raised:
        Template.parse(text, name="t")
    assert raised.value.found == found


def test_chain_of_else_if_is_not_nesting() -> None:
    text = "{{if 0}}" + "{{else if 0}}" * 500 + "{{else}}last{{end}}"
    assert Template.parse(text, name="t").execute(None) == "last"
