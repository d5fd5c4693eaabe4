"""What the commands that read manifests share: reading, and telling what was wrong with the input."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime

import click
from msgspec import Struct

from gatepost.cli.exit_codes import DONE, INPUT_HAS_PROBLEMS
from gatepost.manifests import Manifest, Manifests, read_manifests
from gatepost.objects.kinds import TYPES, typed
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.problems import Problem, UnreadableObject
from gatepost.objects.refs import Ref
from gatepost.runtime.asked_kinds import kinds_read_whole
from gatepost.runtime.wiring import Wiring
from gatepost.state.engine import Engine


def read_input(paths: Sequence[str]) -> Manifests:
    """The objects in these files, folders or `-`. Raises: click.UsageError for a path that does not exist."""
    return read_manifests(
        paths,
        sys.stdin.buffer,
        known_versions={type_.KIND.group_kind: type_.KIND.versions for type_ in TYPES},
        cluster_scoped=[type_.KIND.group_kind for type_ in TYPES if not type_.KIND.namespaced],
    )


class InputReport:
    """Every problem of the input, told on stderr with file and line as far as they are known."""

    def __init__(self, manifests: Manifests) -> None:
        self._manifests = manifests
        self._by_ref: dict[Ref, Manifest] = {manifest.ref: manifest for manifest in manifests.objects}
        self._lines = [str(problem) for problem in manifests.problems]

    def problem(self, problem: Problem) -> None:
        self._at(problem.about, problem.field, str(problem))

    def tell(self) -> int:
        """Prints the problems. Returns: the exit code that they give."""
        for line in dict.fromkeys(self._lines):  # what keeps a ConfigMap from being read is told by its rule as well
            click.echo(line, err=True)
        return INPUT_HAS_PROBLEMS if self._lines else DONE

    def _at(self, ref: Ref, field: str, message: str) -> None:
        manifest = self._by_ref.get(ref)
        if manifest is None:
            self._lines.append(message)
        else:
            self._lines.append(f"{manifest.file}:{self._manifests.line_of(manifest, field)}: {message}")


class OverManifests(Struct, frozen=True):
    """The rules at rest over manifests, whose problems are told.

    Attributes:
        exit_code: that which these problems give.
        is_complete: no part of the input was left unread, in which there could be any object.
    """

    engine: Engine
    exit_code: int
    is_complete: bool


def over_manifests(paths: Sequence[str], wiring: Wiring, settings: Sequence[KubernetesObject] = ()) -> OverManifests:
    """Puts the objects in these files into an engine, without a model of what controllers make of them.

    Args: settings: objects for the store alone.
    Raises: click.UsageError for a path that does not exist.
    """
    manifests = read_input(paths)
    report = InputReport(manifests)
    engine = Engine(wiring.rules, wiring.indexes, datetime.now(UTC))
    whole = kinds_read_whole(wiring.rules)
    for setting in settings:
        engine.put(setting)
    for manifest in manifests.objects:
        try:
            engine.put(typed(manifest.raw, whole), manifest.ref)
        except UnreadableObject as error:
            report.problem(error.problem)
            engine.put_unreadable(error.problem)
    engine.run_stale()
    return OverManifests(engine, report.tell(), is_complete=not manifests.problems)
