"""Moments in templates: layouts, and the methods that a moment has. Vectors: documentation of Go's time.Layout."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gatepost.gotemplate import Template, TemplateError
from gatepost.gotemplate.times import NO_TIME, time_fields, written

AT = datetime(2026, 2, 3, 9, 5, 7, 120_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ("2006-01-02T15:04:05Z07:00", "2026-02-03T09:05:07Z"),
        ("Mon, 02 Jan 2006 15:04:05 MST", "Tue, 03 Feb 2026 09:05:07 UTC"),
        ("Monday, 02-Jan-06 15:04:05 -0700", "Tuesday, 03-Feb-26 09:05:07 +0000"),
        ("January _2 __2 002", "February  3  34 034"),
        ("1/2 3:4:5pm", "2/3 9:5:7am"),
        ("05.000 05.999999", "07.120 07.12"),
        ("20060102", "20260203"),
        ("_2006", "_2026"),
        ("Janus Monk", "Janus Monk"),
        ("-07:00 -07", "+00:00 +00"),
    ],
)
def test_layout_is_the_reference_moment(layout: str, expected: str) -> None:
    assert written(AT, layout) == expected


def test_twelve_hours_have_no_zero() -> None:
    assert written(datetime(2026, 2, 3, tzinfo=UTC), "03 3 PM") == "12 12 AM"
    assert written(datetime(2026, 2, 3, 12, tzinfo=UTC), "03 3 PM") == "12 12 PM"


def test_trailing_zeros_of_a_second_are_left_out_with_nines() -> None:
    assert written(datetime(2026, 2, 3, tzinfo=UTC), "05.999 05.00") == "00 00.00"


def made(text: str, at: datetime = AT) -> str:
    return Template.parse(text, name="at").execute({"At": time_fields(at)})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{.At}}", "2026-02-03 09:05:07.12 +0000 UTC"),
        (
            '{{printf "%s %q" .At.UTC .At.String}}',
            '2026-02-03 09:05:07.12 +0000 UTC "2026-02-03 09:05:07.12 +0000 UTC"',
        ),
        ("{{.At.Year}} {{.At.Day}} {{.At.Hour}} {{.At.Minute}} {{.At.Second}}", "2026 3 9 5 7"),
        ("{{.At.Unix}} {{.At.UnixMilli}} {{.At.Nanosecond}} {{.At.YearDay}}", "1770109507 1770109507120 120000000 34"),
        ('{{.At.Format "Jan 2"}} {{"2006" | .At.Format}}', "Feb 3 2026"),
        ("{{.At.IsZero}}", "false"),
    ],
)
def test_moment_has_the_methods_of_go(text: str, expected: str) -> None:
    assert made(text) == expected


def test_moment_before_it_is_set_is_zero() -> None:
    assert made("{{.At}} {{.At.IsZero}} {{.At.Unix}}", NO_TIME) == "0001-01-01 00:00:00 +0000 UTC true -62135596800"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{{.At.Format}}", "wrong number of args for Format: want 1 got 0"),
        ('{{.At.Format "06" "01"}}', "wrong number of args for Format: want 1 got 2"),
        ("{{.At.Format 6}}", "found a value of type int, wanted a string"),
        ("{{.At.Year 1}}", "wrong number of args for Year: want 0 got 1"),
        ("{{.At.Month}}", 'field Month of time.Time is not available: use Format "01" or Format "January"'),
        ('{{printf "%d" .At}}', "error calling printf: %d of a time.Time is not supported"),
    ],
)
def test_wrong_use_of_a_moment_is_told(text: str, reason: str) -> None:
    with pytest.raises(TemplateError) as told:
        made(text)
    assert told.value.reason == reason
