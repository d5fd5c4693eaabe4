"""Go's own functions and the formats of printf, with values written by hand from the documentation of Go."""

from __future__ import annotations

from typing import Any

import pytest

from gatepost.gotemplate import Strings, Template, TemplateError

DATA: dict[str, Any] = {
    "name": "web",
    "nothing": None,
    "list": ["a", "b", "c"],
    "map": {"b": "2", "a": 1, "c": None},
    "labels": Strings({"x": "1"}),
    "deep": {"er": {"est": "found"}},
    "mixed": [1.0, [2.0, "x", None, True]],
    "unsafe": "a\"b'c<>&=\n",
    "wide": "héé",
}


def rendered(text: str) -> str:
    return Template.parse(text, name="t").execute(DATA)


LOGIC = [
    ("{{and 1 0 2}}", "0"),
    ("{{and 1 2}}", "2"),
    ('{{or 0 "" "x"}}', "x"),
    ('[{{or 0 ""}}]', "[]"),
    ("{{and false (index .list 9)}}", "false"),
    ("{{or true (index .list 9)}}", "true"),
    ("{{1 | and 2}} {{1 | or 0}}", "1 1"),
    ("{{not 0}} {{not .list}} {{not nil}} {{not .absent}}", "true false true true"),
]

COMPARISON = [
    ("{{eq 1 1}} {{eq 1 2}} {{eq 1 2 3 1}}", "true false true"),
    ('{{eq "a" "a"}} {{eq true true}} {{eq 1.5 1.5}}', "true true true"),
    ("{{eq .nothing nil}} {{eq .absent nil}} {{eq .name nil}}", "true true false"),
    ('{{ne 1 2}} {{ne "a" "a"}}', "true false"),
    ('{{lt 1 2}} {{lt 2 1}} {{lt "a" "b"}} {{lt 1.0 2.5}}', "true false true true"),
    ("{{le 1 1}} {{le 2 1}} {{gt 2 1}} {{gt 1 1}} {{ge 1 1}} {{ge 0 1}}", "true false true false true false"),
]

ACCESS = [
    ("{{index .list 1}}", "b"),
    ('{{index .map "a"}}', "1"),
    ('{{index .map "absent"}}', "<no value>"),
    ('{{index .deep "er" "est"}}', "found"),
    ("{{index .name 0}}", "119"),
    ("{{index .list}}", "[a b c]"),
    ("{{.name | index .labels | len}}", "0"),
    ("{{slice .name 1}} {{slice .name 0 1}} {{slice .name}}", "eb w web"),
    ("{{slice .list 1 2}} {{slice .list 0 1 2}}", "[b] [a]"),
    ("{{slice .wide 1 3}}", "é"),
    ("{{len .name}} {{len .list}} {{len .map}} {{len .wide}}", "3 3 3 5"),
]

PRINTING = [
    ("{{print}}", ""),
    ('{{print 1 2}} {{print "a" "b"}} {{print 1 "a" 2 3}}', "1 2 ab 1a2 3"),
    ("{{print nil true}}", "<nil> true"),
    ('{{println 1 "a"}}', "1 a\n"),
    ("{{println}}", "\n"),
    ("{{print 1.5 1e6 1e20 100000.0 123456789.0}}", "1.5 1e+06 1e+20 100000 1.23456789e+08"),
    ("{{print 0.0001 0.00001 -2.5 0.0}}", "0.0001 1e-05 -2.5 0"),
    ("{{print .map}}", "map[a:1 b:2 c:<nil>]"),
    ("{{print .mixed}}", "[1 [2 x <nil> true]]"),
]

ESCAPING = [
    ("{{html .unsafe}}", "a&#34;b&#39;c&lt;&gt;&amp;=\n"),
    ("{{js .unsafe}}", "a\\\"b\\'c\\u003C\\u003E\\u0026\\u003D\\u000A"),
    ("{{urlquery .unsafe}}", "a%22b%27c%3C%3E%26%3D%0A"),
    ('{{urlquery "a b" "é~._-"}}', "a+b%C3%A9~._-"),
    ("{{html nil}} {{html 1 2}}", "&lt;no value&gt; 1 2"),
]

FORMATS = [
    ('{{printf "%d" 3}}', "3"),
    ('{{printf "%5d|%-5d|%05d|%+d|% d" 42 42 42 42 42}}', "   42|42   |00042|+42| 42"),
    ('{{printf "%6d|%06d|%.5d|%8.5d" -42 -42 42 42}}', "   -42|-00042|00042|   00042"),
    ('{{printf "%x %X %#x %o %#o %b %O" 255 255 255 8 8 5 8}}', "ff FF 0xff 10 010 101 0o10"),
    ('{{printf "%c%c %U %#U" 65 233 65 65}}', "Aé U+0041 U+0041 'A'"),
    ('{{printf "%q %q %q" 65 10 39}}', "'A' '\\n' '\\''"),
    ('{{printf "%s|%5s|%-5s|%.1s|%5.1s" "ab" "ab" "ab" "ab" "ab"}}', "ab|   ab|ab   |a|    a"),
    ('{{printf "%q" "a\\"b\\n"}}', '"a\\"b\\n"'),
    ('{{printf "%+q %#q" "é" "a"}}', '"\\u00e9" `a`'),
    ('{{printf "%x %X % x %#x" "hi" "hi" "hi" "hi"}}', "6869 6869 68 69 0x6869"),
    ('{{printf "%t %v %5t" true false true}}', "true false  true"),
    (
        '{{printf "%f %.2f|%6.2f|%-6.2f|%06.2f|%+.1f" 1.5 1.5 1.5 1.5 1.5 1.5}}',
        "1.500000 1.50|  1.50|1.50  |001.50|+1.5",
    ),
    ('{{printf "%e %E %g %G" 1500.0 1500.0 1500.0 1e-10}}', "1.500000e+03 1.500000E+03 1500 1E-10"),
    ('{{printf "%.3g %g" 1234.5678 1e21}}', "1.23e+03 1e+21"),
    ('{{printf "%v %v %v" 1 "a" 2.5}}', "1 a 2.5"),
    (
        '{{printf "%v %s %d" .list .list .mixed}}',
        "[a b c] [a b c] [%!d(float64=1) [%!d(float64=2) %!d(string=x) <nil> %!d(bool=true)]]",
    ),
    ('{{printf "%T %T %T %T %T" 1 1.5 "s" true nil}}', "int float64 string bool <nil>"),
    ('{{printf "%T %T %T" .list .map .labels}}', "[]interface {} map[string]interface {} map[string]string"),
    ('{{printf "%#v %#v" .list .labels}}', '[]interface {}{"a", "b", "c"} map[string]string{"x":"1"}'),
    ('{{printf "%+v" .map}}', "map[a:1 b:2 c:<nil>]"),
    ('{{printf "%*d|%-*d|%.*f" 5 42 5 42 1 2.25}}', "   42|42   |2.2"),
    ('{{printf "%[2]d %[1]d" 1 2}}', "2 1"),
    ('{{printf "100%%"}}', "100%"),
    ('{{printf "%v|%5v|" nil nil}}', "<nil>|<nil>|"),
]

MISTAKES_IN_FORMATS = [
    ('{{printf "%d" "x"}}', "%!d(string=x)"),
    ('{{printf "%5d" "x"}}', "%!d(string=    x)"),
    ('{{printf "%s" 3}}', "%!s(int=3)"),
    ('{{printf "%t" 1}}', "%!t(int=1)"),
    ('{{printf "%d" 1.5}}', "%!d(float64=1.5)"),
    ('{{printf "%d" nil}}', "%!d(<nil>)"),
    ('{{printf "%z" 1}}', "%!z(int=1)"),
    ('{{printf "%d %d" 1}}', "1 %!d(MISSING)"),
    ('{{printf "%d" 1 2 "x"}}', "1%!(EXTRA int=2, string=x)"),
    ('{{printf "%"}}', "%!(NOVERB)"),
    ('{{printf "%[3]d" 1}}', "%!d(BADINDEX)"),
    ('{{printf "%*d" "x" 3}}', "%!(BADWIDTH)3"),
    ('{{printf "%.*d" -5 3}}', "%!(BADPREC)3"),
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [*LOGIC, *COMPARISON, *ACCESS, *PRINTING, *ESCAPING, *FORMATS, *MISTAKES_IN_FORMATS],
)
def test_function_gives_what_go_gives(text: str, expected: str) -> None:
    assert rendered(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{{index .list 3}}", "error calling index: index out of range: 3"),
        ("{{index .list -1}}", "error calling index: index out of range: -1"),
        ('{{index .list "a"}}', "error calling index: cannot index slice/array with type string"),
        ("{{index .list nil}}", "error calling index: cannot index slice/array with nil"),
        ("{{index .map 1}}", "error calling index: value has type int; should be string"),
        ("{{index nil 1}}", "error calling index: index of untyped nil"),
        ("{{index 1 1}}", "error calling index: can't index item of type int"),
        ("{{slice .list 2 1}}", "error calling slice: invalid slice index: 2 > 1"),
        ("{{slice .list 0 4}}", "error calling slice: index out of range: 4"),
        ("{{slice .name 0 1 2}}", "error calling slice: cannot 3-index slice a string"),
        ("{{slice .map 1}}", "error calling slice: can't slice item of type map[string]interface {}"),
        ("{{len 3}}", "error calling len: len of type int"),
        ('{{eq 1 "1"}}', "error calling eq: incompatible types for comparison: int and string"),
        ("{{eq 1 1.0}}", "error calling eq: incompatible types for comparison: int and float64"),
        (
            "{{eq .map .map}}",
            "error calling eq: non-comparable types: map[string]interface {} and map[string]interface {}",
        ),
        ("{{eq 1}}", "error calling eq: found one argument, wanted at least two to compare"),
        ('{{lt 1 "a"}}', "error calling lt: incompatible types for comparison: int and string"),
        ("{{lt true false}}", "error calling lt: invalid type for comparison: bool"),
        ("{{lt nil 1}}", "error calling lt: invalid type for comparison: <nil>"),
        ("{{not 1 2}}", "wrong number of args for not: want 1 got 2"),
        ("{{index}}", "wrong number of args for index: want at least 1 got 0"),
        ("{{and}}", "wrong number of args for and: want at least 1 got 0"),
        ("{{printf 1}}", "found a value of type int, wanted a string"),
        ("{{printf nil}}", "cannot assign nil to string"),
        ("{{printf .absent}}", "found no value, wanted a string"),
        ("{{call .name}}", "error calling call: found a string in .name, wanted a function"),
        ("{{call nil}}", "error calling call: found nil in nil, wanted a function"),
        ('{{printf "%p" .list}}', "error calling printf: %p: addresses are not shown"),
    ],
)
def test_call_that_cannot_be_is_an_error_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(TemplateError) as raised:
        rendered(text)
    assert raised.value.reason == reason
