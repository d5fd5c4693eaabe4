"""Kubeconfig files: reading, merging, and choosing the way to a cluster.

Source: the loading rules of client-go (clientcmd): the first file that says something counts, key by key for
`current-context`, entry by entry for clusters, users and contexts; paths are relative to the file that names them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, field

from gatepost.cluster.errors import KubeconfigError
from gatepost.objects.plain_yaml import NotYaml, read_yaml


class ClusterEntry(Struct, frozen=True, rename="kebab"):
    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""


class ExecEnv(Struct, frozen=True):
    name: str
    value: str


class ExecEntry(Struct, frozen=True, rename="camel"):
    api_version: str = ""
    command: str = ""
    args: tuple[str, ...] | None = ()
    env: tuple[ExecEnv, ...] | None = ()
    install_hint: str = ""
    interactive_mode: str = ""
    provide_cluster_info: bool = False


class UserEntry(Struct, frozen=True, rename="kebab"):
    token: str = ""
    token_file: str = field(default="", name="tokenFile")
    username: str = ""
    password: str = ""
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    exec: ExecEntry | None = None
    auth_provider: dict[str, Any] | None = None
    as_: str = field(default="", name="as")
    as_uid: str = ""
    as_groups: tuple[str, ...] | None = ()
    as_user_extra: dict[str, tuple[str, ...]] | None = None

    def __repr__(self) -> str:
        return "UserEntry(...)"  # no secrets in logs


class ContextEntry(Struct, frozen=True, rename="kebab"):
    cluster: str = ""
    user: str = ""
    namespace: str = ""


EntryT = TypeVar("EntryT", ClusterEntry, UserEntry, ContextEntry)


class Place(Struct, frozen=True):
    """Where an entry stands: for messages, and for the paths in it."""

    file: Path
    key: str

    def error(self, field_name: str, problem: str) -> KubeconfigError:
        return KubeconfigError(str(self.file), f"{self.key}.{field_name}" if field_name else self.key, problem)

    def path(self, written: str) -> Path:
        return self.file.parent / Path(written).expanduser()


class Kubeconfig(Struct):
    """Several files seen as one."""

    files: list[Path] = field(default_factory=list)
    clusters: dict[str, tuple[ClusterEntry, Place]] = field(default_factory=dict)
    users: dict[str, tuple[UserEntry, Place]] = field(default_factory=dict)
    contexts: dict[str, tuple[ContextEntry, Place]] = field(default_factory=dict)
    current_context: str = ""

    @property
    def described(self) -> str:
        return ", ".join(map(str, self.files))


class ChosenContext(Struct, frozen=True):
    """One context with all that it names."""

    name: str
    namespace: str
    cluster: ClusterEntry
    cluster_place: Place
    user_name: str
    user: UserEntry
    user_place: Place


def kubeconfig_files(explicit: str | None, environment: Mapping[str, str]) -> list[Path]:
    """The files to read: the explicit one alone, else those of $KUBECONFIG, else ~/.kube/config; may be empty.

    Raises: KubeconfigError if the explicit file does not exist. Missing files of the list are passed over.
    """
    if explicit:
        path = Path(explicit).expanduser()
        if not path.is_file():
            raise KubeconfigError(explicit, "", "--kubeconfig names a file that does not exist")
        return [path]
    listed = [part for part in environment.get("KUBECONFIG", "").split(os.pathsep) if part]
    if listed:
        return [path for part in listed if (path := Path(part).expanduser()).is_file()]
    home = environment.get("HOME", "")
    default = Path(home, ".kube", "config")
    return [default] if home and default.is_file() else []


def read_kubeconfig(files: list[Path]) -> Kubeconfig:
    """The merged content of files. Raises: KubeconfigError with file and key of the first thing that is wrong."""
    merged = Kubeconfig(files=list(files))
    for file in files:
        content = _content(file)
        _merge(merged.clusters, _entries(file, content, "clusters", "cluster", ClusterEntry))
        _merge(merged.users, _entries(file, content, "users", "user", UserEntry))
        _merge(merged.contexts, _entries(file, content, "contexts", "context", ContextEntry))
        current = content.get("current-context")
        if current is not None and not isinstance(current, str):
            raise KubeconfigError(str(file), "current-context", f"expected a name, found {current!r}")
        merged.current_context = merged.current_context or current or ""
    return merged


def choose_context(config: Kubeconfig, wanted: str | None) -> ChosenContext:
    """The context to use, complete. Raises: KubeconfigError if it, or what it names, does not exist."""
    name = wanted or config.current_context
    if not name:
        problem = "names no context, and --context was not given"
        raise KubeconfigError(config.described, "current-context", problem + _known(config.contexts))
    if name not in config.contexts:
        key = "--context" if wanted else "current-context"
        raise KubeconfigError(config.described, key, f"there is no context {name!r}" + _known(config.contexts))
    context, place = config.contexts[name]
    if context.cluster not in config.clusters:
        raise place.error("cluster", f"there is no cluster {context.cluster!r}" + _known(config.clusters))
    cluster, cluster_place = config.clusters[context.cluster]
    if context.user and context.user not in config.users:
        raise place.error("user", f"there is no user {context.user!r}" + _known(config.users))
    user, user_place = config.users.get(context.user, (UserEntry(), place))
    return ChosenContext(name, context.namespace, cluster, cluster_place, context.user, user, user_place)


def _known(entries: Mapping[str, object]) -> str:
    return f" (there are: {', '.join(sorted(entries))})" if entries else " (there are none)"


def _content(file: Path) -> dict[str, Any]:
    try:
        content = read_yaml(file.read_bytes())
    except OSError as error:
        raise KubeconfigError(str(file), "", f"cannot be read: {error.strerror}") from error
    except NotYaml as error:
        where = f"line {error.line}" if error.line else ""
        raise KubeconfigError(str(file), where, f"is no YAML: {error.problem}") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise KubeconfigError(str(file), "", f"expected a mapping, found {type(content).__name__}")
    return content


def _entries(
    file: Path, content: dict[str, Any], section: str, inner: str, type_: type[EntryT]
) -> dict[str, tuple[EntryT, Place]]:
    listed = content.get(section)
    if listed is None:
        return {}
    if not isinstance(listed, list):
        raise KubeconfigError(str(file), section, f"expected a list, found {type(listed).__name__}")
    found: dict[str, tuple[EntryT, Place]] = {}
    for position, item in enumerate(listed):
        if not isinstance(item, dict) or not isinstance(item.get("name"), str):
            raise KubeconfigError(str(file), f"{section}[{position}].name", "is missing or no text")
        place = Place(file, f"{section}[{item['name']}].{inner}")
        found.setdefault(item["name"], (_entry(item.get(inner) or {}, type_, place), place))
    return found


def _entry(raw: Any, type_: type[EntryT], place: Place) -> EntryT:
    if isinstance(raw, dict):
        raw = {key: value for key, value in raw.items() if value is not None}
    try:
        return msgspec.convert(raw, type_)
    except msgspec.ValidationError as error:
        problem, _, path = str(error).partition(" - at `$")
        raise place.error(path.rstrip("`").lstrip("."), problem) from error


def _merge(merged: dict[str, tuple[EntryT, Place]], more: Mapping[str, tuple[EntryT, Place]]) -> None:
    for name, entry in more.items():
        merged.setdefault(name, entry)
