"""Promises over any text: what is no action stays as it is, nothing but the two errors is ever raised, and all ends."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gatepost.gotemplate import Fields, Strings, Template, TemplateError, TemplateSyntaxError

unhurried = settings(deadline=None)  # a busy machine is no failure; a hang meets the timeout of the suite
many = settings(deadline=None, max_examples=300)

DATA: dict[str, Any] = {
    "s": "text",
    "n": 3,
    "f": 1.5,
    "l": ["a", None, 2],
    "m": {"k": "v", "z": None},
    "labels": Strings({"a": "b"}),
    "nothing": None,
    "spec": Fields("Spec", {"Hosts": ["h"]}),
}

WORDS = st.sampled_from(
    (
        *(
            "{{",
            "}}",
            "{{- ",
            " -}}",
            "(",
            ")",
            "|",
            " ",
            ":=",
            "=",
            ",",
            ".",
            "$",
            "$x",
            '"',
            "`",
            "'",
            "\\",
            "\n",
            "%",
        ),
        *("if", "else", "end", "range", "with", "define", "template", "block", "break", "continue", "/*", "*/"),
        *("and", "or", "not", "eq", "lt", "index", "slice", "len", "print", "printf", "html", "call", "nil", "true"),
        *(".s", ".n", ".l", ".m", ".labels", ".nothing", ".spec.Hosts", ".no.where", "1", "-2", "3.5", "0x", "1e9"),
        *('"a"', '"%d %s"', '"%*v"', '"%[2]q"', "`b`", "'c'"),
    )
)
LIKE_TEMPLATES = st.lists(WORDS, max_size=30).map("".join) | st.lists(WORDS, max_size=30).map(" ".join)

COMMANDS = st.recursive(
    st.sampled_from((".s", ".n", ".f", ".l", ".m", ".labels.a", ".nothing", ".spec", "$", "1", '"x"', "nil", "true")),
    lambda inner: st.tuples(
        st.sampled_from(("and", "or", "eq", "ne", "lt", "index", "slice", "len", "print", "println", "html", "js")),
        st.lists(inner, max_size=3),
    ).map(lambda call: f"({' '.join([call[0], *call[1]])})"),
    max_leaves=6,
)
FORMATS = st.text(alphabet="%+-# 0123456789.*[]vdsqxXUcteEfgGTbo", max_size=12)


def outcome(text: str) -> str | type[Exception]:
    """What comes out, or which of the two errors. Any other error is a failure of the test."""
    try:
        return Template.parse(text, name="any").execute(DATA)
    except (TemplateSyntaxError, TemplateError) as error:
        return type(error)


@unhurried
@given(st.text().filter(lambda text: "{{" not in text))
def test_text_without_actions_renders_as_itself(text: str) -> None:
    assert outcome(text) == text


@many
@given(st.text() | LIKE_TEMPLATES)
def test_any_text_is_a_template_or_refused_with_its_place(text: str) -> None:
    refused: TemplateSyntaxError | None = None
    try:
        Template.parse(text, name="any")
    except TemplateSyntaxError as error:
        refused = error
    if refused is not None:
        lines = text.split("\n")
        assert 1 <= refused.line <= len(lines)
        assert 1 <= refused.column <= len(lines[refused.line - 1]) + 1
        assert refused.found
        assert refused.wanted


@many
@given(LIKE_TEMPLATES | COMMANDS.map(lambda command: "{{" + command + "}}"))
def test_whatever_is_executed_gives_text_or_one_error(text: str) -> None:
    assert isinstance(outcome(text), str | type)


@unhurried
@given(COMMANDS)
def test_same_template_and_data_give_the_same(command: str) -> None:
    text = "{{" + command + "}}"
    assert outcome(text) == outcome(text)


@unhurried
@given(COMMANDS)
def test_not_and_if_agree_about_truth(command: str) -> None:
    by_if = outcome("{{if and " + command + "}}yes{{else}}no{{end}}")
    by_not = outcome("{{if not " + command + "}}no{{else}}yes{{end}}")
    assert by_if == by_not


@many
@given(FORMATS, st.lists(st.sampled_from((".s", ".n", ".f", ".l", ".m", "nil", "true", "-7", "2000")), max_size=3))
def test_any_format_prints_or_is_refused(format_: str, arguments: list[str]) -> None:
    outcome("{{printf " + " ".join([f"`{format_}`", *arguments]) + "}}")


@unhurried
@given(st.text(), st.text())
def test_values_come_out_as_they_are(key: str, value: str) -> None:
    template = Template.parse("{{range $k, $v := .}}{{$k}}={{$v}}{{end}}", name="t")
    assert template.execute(Strings({key: value})) == f"{key}={value}"


@unhurried
@given(st.text())
def test_quoted_text_reads_back_as_itself(text: str) -> None:
    quoted = Template.parse('{{printf "%q" .}}', name="t").execute(text)
    assert Template.parse("{{" + quoted + "}}", name="t").execute(None) == text


@unhurried
@given(st.integers(-(2**63), 2**63 - 1))
def test_integers_read_back_as_themselves(number: int) -> None:
    shown = Template.parse("{{.}} {{printf `%#x` .}}", name="t").execute(number)
    decimal, hexadecimal = shown.split()
    assert Template.parse("{{" + decimal + "}} {{" + hexadecimal + "}}", name="t").execute(None) == f"{number} {number}"


@unhurried
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_are_printed_with_all_their_digits(number: float) -> None:
    assert float(Template.parse("{{.}}", name="t").execute(number)) == number
