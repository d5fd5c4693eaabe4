"""How a plan is printed: a table for people, JSON for programs, Markdown for a pull request."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import click
import msgspec

from gatepost.cli.printing import print_json, table
from gatepost.dns.endpoint import Endpoint
from gatepost.dns.plan import CREATE, DELETE, UPDATE, Cause, Held, Plan, PlannedChange
from gatepost.objects.problems import Problem
from gatepost.runtime.dns.preview import Preview

OUTPUTS = ("table", "json", "markdown")

_CHANGES = ("CHANGE", "NAME", "TYPE", "SET", "TTL", "TARGETS", "CAUSE")
_HELD = ("HELD", "NAME", "TYPE", "SET", "TARGETS", "REASON")
_TITLES = {name: "TTL" if name == "TTL" else name.capitalize() for name in (*_CHANGES, *_HELD)}

Row = tuple[str, ...]


def print_preview(preview: Preview, output: str) -> None:
    """Prints a plan as one of `OUTPUTS`."""
    if output == "json":
        print_json(as_json(preview))
    elif output == "markdown":
        click.echo(as_markdown(preview), nl=False)
    else:
        _print_table(preview, _columns())


def _columns() -> int | None:
    """Of the terminal; None for a file or a pipe, where a line for a record matters more than its length."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def summary(preview: Preview) -> str:
    """One line: `2 to create, 1 to delete; 1 held back; 1 conflict`."""
    plan = preview.plan
    counts = {action: sum(change.action == action for change in plan.changes) for action in (CREATE, UPDATE, DELETE)}
    parts = [", ".join(f"{count} to {action}" for action, count in counts.items() if count) or "no changes"]
    parts += [f"{len(plan.held)} held back"] if plan.held else []
    parts += [_counted(len(preview.conflicts), "conflict")] if preview.conflicts else []
    parts += [f"{len(preview.refused)} refused"] if preview.refused else []
    parts += [f"{_counted(len(preview.unread), 'zone')} not read"] if preview.unread else []
    return ("stopped: " if plan.stopped is not None else "") + "; ".join(parts)


def _lists(preview: Preview) -> list[tuple[str, list[str]]]:
    """What is no table: a title, and a line for each."""
    found = [
        ("Conflicts", [str(problem) for conflict in preview.conflicts for problem in conflict.problems]),
        ("Refused", [str(problem) for problem in preview.refused]),
        ("Not read", [f"zone {zone.name}: {zone.why}" for zone in preview.unread]),
    ]
    return [(title, lines) for title, lines in found if lines]


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _change_row(change: PlannedChange) -> Row:
    record = change.record
    causes = "; ".join(f"{cause.kind}: {cause.message}" for cause in change.causes)
    was, now = change.old or record, change.new or record
    ttl = _arrow(_ttl(was), _ttl(now)) if now.record_ttl else _ttl(was)
    targets = _arrow(_targets(was), _targets(now))
    return (change.action, record.dns_name, record.record_type, record.set_identifier, ttl, targets, causes)


def _held_row(held: Held) -> Row:
    record = held.record
    reason = f"{held.cause.kind}: {held.cause.message}"
    return (held.action, record.dns_name, record.record_type, record.set_identifier, _targets(record), reason)


def _arrow(was: str, now: str) -> str:
    return now if was == now else f"{was or 'unset'} -> {now}"


def _ttl(record: Endpoint) -> str:
    return str(record.record_ttl or "")


def _targets(record: Endpoint) -> str:
    return ",".join(record.targets)


# For people


def _print_table(preview: Preview, columns: int | None) -> None:
    """Prints tables with a line for each record; blocks of lines where a table would not fit."""
    plan = preview.plan
    if plan.changes:
        always = ("CHANGE", "NAME", "TYPE", "TARGETS", "CAUSE")
        _print_rows(_CHANGES, [*map(_change_row, plan.changes)], always, columns)
    if plan.held:
        _print_rows(_HELD, [*map(_held_row, plan.held)], ("HELD", "NAME", "TYPE", "TARGETS", "REASON"), columns)
    for title, lines in _lists(preview):
        click.echo("".join([f"{title}\n", *(f"  {line}\n" for line in lines)]))
    click.echo(f"Plan: {summary(preview)}")


def _print_rows(heading: Row, rows: Sequence[Row], always: Row, columns: int | None) -> None:
    text = table(heading, rows, always=always)
    if columns is not None and any(len(line) > columns for line in text.splitlines()):
        text = "".join(_block(heading, row, columns) for row in rows)
    click.echo(text)


def _block(heading: Row, row: Row, columns: int) -> str:
    """A record over several lines: what happens to which record, its targets, and why."""
    cells = dict(zip(heading, row, strict=True))
    first = [cells[name] for name in (heading[0], "TYPE", "NAME")]
    first += [f"{label} {cells[name]}" for name, label in (("SET", "set"), ("TTL", "ttl")) if cells.get(name)]
    rest = (cells["TARGETS"].replace(",", ", "), cells[heading[-1]])
    lines = [line for text in rest for line in textwrap.wrap(text, columns - 4, break_on_hyphens=False)]
    return "\n    ".join([" ".join(first), *lines]) + "\n"


# For a pull request


def as_markdown(preview: Preview) -> str:
    """The plan as GitHub-flavoured Markdown: a line that sums up, then tables of what there is."""
    plan = preview.plan
    parts = [f"**DNS plan**: {summary(preview)}\n"]
    if plan.stopped is not None:
        parts.append(f"> **Stopped**: {_text(str(plan.stopped))}\n")
    if plan.changes:
        parts.append(_markdown_table(_CHANGES, map(_change_row, plan.changes)))
    if plan.held:
        parts.append("Held back:\n")
        parts.append(_markdown_table(_HELD, map(_held_row, plan.held)))
    for title, lines in _lists(preview):
        parts.append(f"{title}:\n")
        parts.append("".join(f"- {_text(line)}\n" for line in lines))
    return "\n".join(parts)


def _markdown_table(heading: Sequence[str], rows: Iterable[Row]) -> str:
    found = list(rows)
    columns = [
        index for index, name in enumerate(heading) if name not in ("SET", "TTL") or any(r[index] for r in found)
    ]
    lines = [
        "| " + " | ".join(_TITLES[heading[index]] for index in columns),
        "| " + " | ".join("---" for _ in columns),
        *("| " + " | ".join(_cell(heading[index], row[index]) for index in columns) for row in found),
    ]
    return "".join(f"{line} |\n" for line in lines)


def _cell(heading: str, text: str) -> str:
    """Names and targets as code, so that asterisks and underscores in them stay what they are."""
    if heading in ("NAME", "TARGETS", "SET") and text:
        # A backslash before a pipe would take the pipe's own escape away, so it is doubled, as zone files do.
        code = _one_line(text).replace("`", "").replace("\\", "\\\\")
        return f"`{code}`".replace("|", "\\|")
    return _text(text).replace("|", "\\|")


def _text(text: str) -> str:
    """Text that cannot turn into markup, nor call people: it may come from objects that others write."""
    escaped = "".join(f"\\{char}" if char in "\\`*_[]<>~" else char for char in _one_line(text))
    return escaped.replace("@", "@<!-- -->").replace("#", "#<!-- -->")


def _one_line(text: str) -> str:
    return " ".join(text.split())


# For programs


def as_json(preview: Preview) -> dict[str, Any]:
    """The plan in full. Records have the form in which `gatepost endpoints -o json` prints them."""
    plan = preview.plan
    return {
        "summary": _summary(preview),
        "stopped": _stopped(plan),
        "changes": [
            {
                "action": change.action,
                "old": msgspec.to_builtins(change.old),
                "new": msgspec.to_builtins(change.new),
                "causes": [_cause(cause) for cause in change.causes],
            }
            for change in plan.changes
        ],
        "held": [
            {"action": held.action, "record": msgspec.to_builtins(held.record), "cause": _cause(held.cause)}
            for held in plan.held
        ],
        "conflicts": [
            {"name": conflict.name, "setIdentifier": conflict.set_identifier, **_problem(problem)}
            for conflict in preview.conflicts
            for problem in conflict.problems
        ],
        "refused": [_problem(problem) for problem in preview.refused],
        "unread": [{"zone": zone.name, "why": zone.why} for zone in preview.unread],
    }


def _summary(preview: Preview) -> dict[str, int]:
    plan = preview.plan
    counts = {action: sum(change.action == action for change in plan.changes) for action in (CREATE, UPDATE, DELETE)}
    return {
        **counts,
        "held": len(plan.held),
        "conflicts": len(preview.conflicts),
        "refused": len(preview.refused),
        "own": preview.own_count,
    }


def _stopped(plan: Plan) -> dict[str, Any] | None:
    stop = plan.stopped
    if stop is None:
        return None
    return {
        "removed": stop.removed,
        "own": stop.own,
        "share": round(stop.share, 4),
        "limit": stop.limit,
        "message": str(stop),
    }


def _cause(cause: Cause) -> dict[str, Any]:
    return {"kind": cause.kind, "message": cause.message, **({"object": str(cause.at)} if cause.at is not None else {})}


def _problem(problem: Problem) -> dict[str, Any]:
    return {
        "reason": problem.reason,
        "object": str(problem.about),
        "field": problem.field,
        "message": problem.message,
        "hint": problem.hint,
    }
