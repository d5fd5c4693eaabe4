"""How migrations are printed: a table with the steps below each Service, or all of it for programs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from gatepost.cli.printing import print_objects
from gatepost.migration.values import Found, FoundEndpoints, Migration
from gatepost.objects.problems import Problem

if TYPE_CHECKING:
    from gatepost.objects.refs import Ref
    from gatepost.runtime.migrating import Carried

_HEADING = ("SERVICE", "ROUTE", "FOUND", "LEADS TO", "VISIBILITY", "ENDPOINTS", "SLICES", "STATE")


def print_migrations(migrations: Sequence[Migration], carried: Sequence[Carried] | None, output: str) -> None:
    """Prints migrations to stdout.

    Args:
        carried: how far those came that were due, None if nothing was to be written.
    """
    ends = {one.service: one for one in carried or ()}
    if output == "table":
        _print_table(migrations, ends, is_applied=carried is not None)
    else:
        print_objects([_in_full(migration, ends.get(migration.service)) for migration in migrations], output)


def _in_full(migration: Migration, end: Carried | None) -> dict[str, Any]:
    done = len(end.done) if end is not None else 0
    steps = [
        {"on": _named(step.on), "does": str(step), **({"isDone": number < done} if end is not None else {})}
        for number, step in enumerate(migration.steps)
    ]
    found = migration.found
    shown: dict[str, Any] = {
        "service": _named(migration.service),
        "route": found.route,
        "found": {
            "form": found.form,
            "leadsTo": found.leads_to,
            "visibility": found.visibility,
            "isControlledByRoute": found.is_controlled,
            "isHandedOver": migration.is_handed_over,
            "endpoints": msgspec.to_builtins(found.endpoints),
            "slices": msgspec.to_builtins(found.slices),
        },
        "steps": steps,
        "refused": [_problem(problem) for problem in migration.refused],
    }
    if end is not None:
        shown["stopped"] = _problem(end.stopped) if end.stopped is not None else None
    return shown


def _problem(problem: Problem) -> dict[str, str]:
    return {"reason": problem.reason, "about": str(problem.about), "message": str(problem)}


def _named(ref: Ref) -> str:
    return f"{ref.kind} {ref.namespace}/{ref.name}"


def _print_table(migrations: Sequence[Migration], ends: dict[Ref, Carried], *, is_applied: bool) -> None:
    if not migrations:
        return
    rows = [_row(migration, ends.get(migration.service)) for migration in migrations]
    columns = [
        index for index in range(len(_HEADING)) if index not in (4, 5, 6) or any(row[index] != "-" for row in rows)
    ]
    widths = [max(len(row[index]) for row in [_HEADING, *rows]) for index in columns]

    def line(row: Sequence[str]) -> str:
        cells = (row[index].ljust(width) for index, width in zip(columns, widths, strict=True))
        return "  ".join(cells).rstrip() + "\n"

    sys.stdout.write(line(_HEADING))
    for migration, row in zip(migrations, rows, strict=True):
        sys.stdout.write(line(row))
        for detail in _details(migration, ends.get(migration.service)):
            sys.stdout.write(f"    {detail}\n")
    if not is_applied and any(migration.is_due for migration in migrations):
        sys.stdout.write("\nNothing was written; --apply does it.\n")


def _row(migration: Migration, end: Carried | None) -> tuple[str, ...]:
    found = migration.found
    return (
        f"{migration.service.namespace}/{migration.service.name}",
        found.route if found.is_controlled else f"{found.route} (not its owner)",
        found.form,
        found.leads_to or "-",
        found.visibility or "-",
        _endpoints(found.endpoints),
        _slices(found),
        _state(migration, end),
    )


def _state(migration: Migration, end: Carried | None) -> str:
    if migration.refused:
        return "left alone"
    if not migration.steps:
        return "in order"
    if end is None:
        return f"{len(migration.steps)} steps"
    return "moved" if end.stopped is None else "stopped"


def _endpoints(found: FoundEndpoints | None) -> str:
    if found is None:
        return "-"
    text = ",".join(found.addresses) or "empty"
    return text if found.is_own else f"{text} (not the Route's)"


def _slices(found: Found) -> str:
    return ",".join(slice_.name for slice_ in found.slices) or "-"


def _details(migration: Migration, end: Carried | None) -> Iterator[str]:
    done = len(end.done) if end is not None else 0
    for number, step in enumerate(migration.steps, 1):
        mark = " (done)" if number <= done else ""
        yield f"{number}. {step}{mark}"
    for problem in (*migration.refused, *((end.stopped,) if end is not None and end.stopped is not None else ())):
        yield f"why not: {problem}  [{problem.reason}]"
