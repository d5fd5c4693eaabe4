"""Moments as Go has them: printed, asked for their parts, written in a layout such as "2006-01-02".

Only UTC: a server that Go runs on has no other zone unless it was given one. Source: documentation of Go's time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from gatepost.gotemplate.values import Fields, Function

NO_TIME = datetime(1, 1, 1, tzinfo=UTC)
"""The moment that Go's time.Time is before it is set."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PRINTED = "2006-01-02 15:04:05.999999999 -0700 MST"
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_WITHHELD = {"Month": 'use Format "01" or Format "January"', "Weekday": 'use Format "Monday"'}

_PARTS: Mapping[str, Callable[[datetime], str]] = {
    "January": lambda at: _MONTHS[at.month - 1],
    "Jan": lambda at: _MONTHS[at.month - 1][:3],
    "Monday": lambda at: _WEEKDAYS[at.weekday()],
    "Mon": lambda at: _WEEKDAYS[at.weekday()][:3],
    "MST": lambda at: "UTC",
    "2006": lambda at: f"{at.year:04}",
    "06": lambda at: f"{at.year % 100:02}",
    "01": lambda at: f"{at.month:02}",
    "1": lambda at: f"{at.month}",
    "002": lambda at: f"{_year_day(at):03}",
    "__2": lambda at: f"{_year_day(at):3}",
    "02": lambda at: f"{at.day:02}",
    "_2": lambda at: f"{at.day:2}",
    "2": lambda at: f"{at.day}",
    "15": lambda at: f"{at.hour:02}",
    "03": lambda at: f"{at.hour % 12 or 12:02}",
    "3": lambda at: f"{at.hour % 12 or 12}",
    "04": lambda at: f"{at.minute:02}",
    "4": lambda at: f"{at.minute}",
    "05": lambda at: f"{at.second:02}",
    "5": lambda at: f"{at.second}",
    "PM": lambda at: "PM" if at.hour >= 12 else "AM",
    "pm": lambda at: "pm" if at.hour >= 12 else "am",
}
_PART = re.compile(
    r"January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|2006|002|0[1-6]|15|__2|_2(?!006)|PM|pm"
    r"|-07:00:00|-070000|-07:00|-0700|-07|Z07:00:00|Z070000|Z07:00|Z0700|Z07"
    r"|[.,](?:0+|9+)(?!\d)|[1-5]"
)


def time_fields(at: datetime, type_name: str = "time.Time", values: Mapping[str, Fields] | None = None) -> Fields:
    """A moment in UTC as a value of a template, with the methods of time.Time.

    Args:
        type_name: of a struct that embeds time.Time, with its fields in `values`.
    """
    seconds = (at - _EPOCH).days * 86_400 + (at - _EPOCH).seconds
    parts: dict[str, int | bool | str] = {
        "Year": at.year,
        "Day": at.day,
        "Hour": at.hour,
        "Minute": at.minute,
        "Second": at.second,
        "Nanosecond": at.microsecond * 1000,
        "YearDay": _year_day(at),
        "Unix": seconds,
        "UnixMilli": seconds * 1000 + at.microsecond // 1000,
        "IsZero": at == NO_TIME,
        "String": written(at, _PRINTED),
    }
    methods = {name: _giving(value) for name, value in parts.items()}
    methods["Format"] = Function(lambda layout: written(at, layout), ("string",))
    methods["UTC"] = Function(lambda: time_fields(at))
    return Fields(type_name, values or {}, _WITHHELD, methods=methods, text=str(parts["String"]))


def written(at: datetime, layout: str) -> str:
    """A moment in UTC in Go's layout: the moment 2006-01-02 15:04:05 as it is to be written."""
    return _PART.sub(lambda part: _written_part(at, part.group()), layout)


def _written_part(at: datetime, part: str) -> str:
    if part in _PARTS:
        return _PARTS[part](at)
    if part[0] == "Z":
        return "Z"
    if part[0] == "-":
        return "+" + part[1:].replace("7", "0")
    digits = f"{at.microsecond * 1000:09}".ljust(len(part) - 1, "0")[: len(part) - 1]
    digits = digits.rstrip("0") if part[1] == "9" else digits
    return part[0] + digits if digits else ""


def _year_day(at: datetime) -> int:
    return at.timetuple().tm_yday


def _giving(value: int | bool | str) -> Function:  # noqa: FBT001 - it is a value, no choice
    return Function(lambda: value)
