"""Which fields a template may read, told from its text."""

from __future__ import annotations

import pytest

from gatepost.gotemplate import Template

WANTED, HOLDERS = frozenset({"Rules"}), frozenset({"Spec"})


def may_read(text: str) -> bool:
    return Template.parse(text, name="given").may_read(WANTED, HOLDERS)


@pytest.mark.parametrize(
    "text",
    [
        "{{.Spec.Rules}}",
        "{{range .Spec.Rules}}{{.Name}}{{end}}",
        "{{range .Names}}{{len $.Spec.Rules}}{{end}}",
        "{{(index .Spec.Rules 0).Name}}",
        "{{if eq 1 (len .Spec.Rules)}}one{{end}}",
        "{{.}}",
        "{{print $}}",
        "{{with .}}{{.Spec.Names}}{{end}}",
        "{{$all := .}}{{$all.Name}}",
        "{{with .Spec}}{{.Names}}{{end}}",
        '{{index .Spec "Rules"}}',
        "{{range .Names}}{{$.Spec}}{{end}}",
        "{{range .Names}}{{else}}{{.}}{{end}}",
        '{{define "all"}}{{.}}{{end}}{{template "all" .}}',
        '{{define "rules"}}{{range .Rules}}{{end}}{{end}}{{range .Others}}{{template "rules" .}}{{end}}',
        '{{define "b"}}{{$}}{{end}}{{define "a"}}{{template "b" .}}{{end}}{{template "a" $}}',
    ],
)
def test_template_that_can_come_to_the_field_may_read_it(text: str) -> None:
    assert may_read(text)


@pytest.mark.parametrize(
    "text",
    [
        "plain.example.com",
        "{{.Name}}.{{.Spec.Names}}",
        "{{range .Spec.Names}}{{.}},{{end}}",
        "{{with .Labels}}{{.}}{{end}}",
        "{{range $i, $name := .Spec.Names}}{{$name}}{{end}}",
        '{{index .Labels "Rules"}}',
        '{{define "name"}}{{.Name}}{{end}}{{template "name" .}}',
        '{{define "one"}}{{.}}{{end}}{{range .Spec.Names}}{{template "one" .}}{{end}}',
        '{{define "never"}}{{.Rules}}{{end}}{{.Name}}',
        '{{define "loop"}}{{if .Name}}{{template "loop" .}}{{end}}{{end}}{{template "loop" .}}',
    ],
)
def test_template_that_cannot_come_to_the_field_does_not_read_it(text: str) -> None:
    assert not may_read(text)
