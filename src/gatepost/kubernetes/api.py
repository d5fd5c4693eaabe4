"""A Kubernetes API as a value: what is stored, what each write makes of it, and the changes in order. No I/O.

Every object given in or out is a copy: nobody can change what is stored but through the methods here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

from gatepost.kubernetes.apply import APPLY, ApplyConflict, applied
from gatepost.kubernetes.crds import CRD, resource_from_crd, with_established_status
from gatepost.kubernetes.defaults import NAMESPACE, SERVICE
from gatepost.kubernetes.deletion import Deletions, Propagation
from gatepost.kubernetes.errors import (
    ApiError,
    Cause,
    already_exists,
    bad_request,
    conflict,
    forbidden,
    not_found,
)
from gatepost.kubernetes.managed_fields import UPDATE, Manager, claimed_by, updated_managers, with_managers
from gatepost.kubernetes.merge import BadPatch, json_patched, merge_patched
from gatepost.kubernetes.resources import Resource, Resources, assumed_resource, in_version
from gatepost.kubernetes.schema import schema_of
from gatepost.kubernetes.selectors import BadSelector, field_matcher, label_matcher
from gatepost.kubernetes.store import Change, ObjectStore
from gatepost.kubernetes.strategic import strategic_patched
from gatepost.kubernetes.values import Raw, copy_of, list_at, mapping_at
from gatepost.kubernetes.writing import (
    FieldValidation,
    Write,
    check_identity,
    check_preconditions,
    check_uid,
    completed,
    is_unchanged,
    next_generation,
    served_version,
    split_status,
    with_generation,
    with_live_metadata,
    without_server_fields,
)
from gatepost.objects.refs import GroupKind, Ref, api_version_of, ref_of

PatchType: TypeAlias = Literal["merge", "strategic", "json", "apply"]
Objects: TypeAlias = list[Raw]
Changes: TypeAlias = list[Change]

_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


class Written(NamedTuple):
    """The result of a write: the object as stored (or as it would be, in a dry run).

    `changed` is False if there was nothing to store: no new version, no change to watch.
    """

    object: Raw
    created: bool
    changed: bool
    warnings: tuple[str, ...] = ()


class Deleted(NamedTuple):
    """The result of a deletion: the object's last state, and whether it is gone or waits for finalizers."""

    object: Raw
    gone: bool


class ApiModel:
    """The objects of one API, and what requests do to them.

    Args:
        resources: the kinds; CustomResourceDefinitions that are stored add theirs to it.
        now: the time for timestamps, RFC 3339 in UTC ("2026-01-02T03:04:05Z").
        new_uid: a uid for an object that is created; must not give one twice for objects that are there at once.
        namespaces_must_exist: refuse to create in a namespace that is not stored. Manifests often leave it out.
    """

    def __init__(
        self,
        resources: Resources,
        now: Callable[[], str],
        new_uid: Callable[[Ref], str],
        *,
        namespaces_must_exist: bool = False,
    ) -> None:
        self.resources = resources
        self._now = now
        self._new_uid = new_uid
        self._namespaces_must_exist = namespaces_must_exist
        self._store = ObjectStore()
        self._deletions = Deletions(self._store, resources, now)
        self._names_made = 0

    @property
    def resource_version(self) -> int:
        """The version of the latest change; lists and watches start from it."""
        return self._store.version

    # Reading

    def find(self, ref: Ref, version: str = "") -> Raw | None:
        """The object, or None; in the named version of its kind, or as it is stored."""
        found = self._store.find(ref)
        if found is None:
            return None
        return copy_of(in_version(found, ref.group, version) if version else found)  # type: ignore[no-any-return]

    def get(self, ref: Ref, version: str = "") -> Raw:
        """The object, as `find` gives it.

        Raises: ApiError (404)
        """
        found = self.find(ref, version)
        if found is None:
            raise not_found(ref.group, self._plural(ref), ref.name)
        return found

    def list(
        self,
        group_kind: GroupKind,
        namespace: str | None = None,
        label_selector: str = "",
        field_selector: str = "",
        version: str = "",
    ) -> Objects:
        """The objects of a kind by namespace and name; `namespace` None means all of them.

        Raises: ApiError (400) if a selector cannot be read.
        """
        try:
            labels, fields = label_matcher(label_selector), field_matcher(field_selector)
        except BadSelector as error:
            raise bad_request(str(error)) from error
        return [
            copy_of(in_version(raw, group_kind.group, version) if version else raw)
            for raw in self._store.of_kind(group_kind)
            if namespace is None or raw["metadata"].get("namespace", "") == namespace
            if not label_selector or labels(mapping_at(raw["metadata"], "labels"))
            if not field_selector or fields(raw)
        ]

    def take_changes(self, *, shared: bool = False) -> Changes:
        """What changed since this was last asked, in order.

        Args:
            shared: give the stored objects themselves, not copies: cheap, and the caller must not change them.
        """
        return self._store.take_changes(shared=shared)

    def stored(self) -> Iterator[Raw]:
        """Every object itself, not a copy: the caller must not change it."""
        for ref in self._store.refs():
            found = self._store.find(ref)
            if found is not None:
                yield found

    def reach_version(self, version: int) -> None:
        """Lets the counter of versions go on from there, if it is not beyond already: deleted objects had versions too."""
        self._store.reach_version(version)

    # Writing

    def load(self, raw: Raw, *, identify: bool = False, applied_by: str = "") -> Ref:
        """Stores an object as it was found, unchecked, without a change to watch and without a new version.

        Args:
            identify: give it a uid and a creationTimestamp if it has none, so that others can own or be owned.
            applied_by: take it as applied by that manager, if it has no managedFields: what the manager does not
                apply again later goes.
        Raises: KeyError if apiVersion, kind or metadata.name is missing; InvalidCrd for a CRD that cannot be served.
        """
        ref = ref_of(raw)
        loaded: Raw = copy_of(raw)
        if ref.group_kind == CRD:
            self.resources.replace(resource_from_crd(loaded))
        metadata = loaded["metadata"]
        if identify:
            metadata["uid"] = metadata.get("uid") or self._new_uid(ref)
            metadata["creationTimestamp"] = metadata.get("creationTimestamp") or self._now()
        if applied_by and not metadata.get("managedFields"):
            loaded = claimed_by(loaded, applied_by, self._schema_root(loaded), self._now())
        self._store.load(ref, loaded)
        return ref

    def create(
        self,
        raw: Raw,
        manager: str,
        *,
        dry_run: bool = False,
        field_validation: FieldValidation = "Warn",
    ) -> Written:
        """Stores a new object.

        Raises: ApiError: 400 malformed or unknown fields under Strict, 403 namespace is going, 404 no such namespace,
            409 AlreadyExists, 422 with a cause for each field.
        """
        resource = self._resource_of(raw)
        write = Write(manager, dry_run=dry_run, field_validation=field_validation)
        wanted = without_server_fields(self._named(copy_of(raw), resource))
        return self._create(wanted, resource, write)

    def replace(
        self,
        raw: Raw,
        manager: str,
        *,
        subresource: str = "",
        dry_run: bool = False,
        field_validation: FieldValidation = "Warn",
    ) -> Written:
        """Puts an object in the place of the stored one.

        Raises: ApiError: 400, 404, 409 Conflict if resourceVersion or uid are given and not those stored, 422.
        """
        resource = self._resource_of(raw)
        write = Write(manager, subresource, dry_run, field_validation)
        wanted = self._named(copy_of(raw), resource)
        live = self._live(ref_of(wanted))
        check_preconditions(wanted, live, resource)
        return self._update(wanted, live, resource, write)

    def patch(
        self,
        ref: Ref,
        body: Any,
        patch_type: PatchType,
        manager: str,
        *,
        subresource: str = "",
        force: bool = False,
        dry_run: bool = False,
        field_validation: FieldValidation = "Warn",
        version: str = "",
    ) -> Written:
        """Changes a part of an object; with type `apply` creates it if it is not there.

        Args:
            body: the decoded patch; a list for `json`.
            version: in which version of the kind the patch is meant; as stored if empty.
        Raises: ApiError: 400 the patch does not fit, 404, 409 Conflict (for `apply` with a cause for each field that
            another manager owns), 415 strategic on a custom kind, 422.
        """
        write = Write(manager, subresource, dry_run, field_validation, force)
        if patch_type == "apply":
            return self._apply(ref, body, write)
        live = self._live(ref)
        if version:
            live = in_version(live, ref.group, version)
        resource = self._resource_of(live)
        patched = self._patched(live, body, patch_type, resource)
        check_identity(patched, live)
        check_preconditions(patched, live, resource)
        return self._update(patched, live, resource, write)

    def delete(
        self,
        ref: Ref,
        uid: str | None = None,
        resource_version: str | None = None,
        propagation: Propagation = "Background",
        *,
        dry_run: bool = False,
    ) -> Deleted:
        """Deletes an object: at once, or when its finalizers are gone. What follows it goes with `collect_garbage`.

        Raises: ApiError: 404, 409 if it has another uid or resourceVersion.
        """
        live = self._live(ref)
        resource = self._resource_of(live)
        check_uid(uid, live, resource)
        if resource_version and resource_version != live["metadata"].get("resourceVersion"):
            raise conflict(ref.group, resource.plural, ref.name, "the object has been modified")
        left = self._deletions.marked(live, propagation) if dry_run else self._deletions.delete(ref, propagation)
        return Deleted(copy_of(left if left is not None else live), left is None)

    def collect_garbage(self, *, unknown_owners_are_gone: bool = False) -> None:
        """Removes what follows deletions: dependents, content of namespaces and kinds, waiting owners.

        Call it after deletions and after removed finalizers. An object whose owner was never stored stays, unless
        `unknown_owners_are_gone`.
        """
        self._deletions.collect(unknown_owners_are_gone=unknown_owners_are_gone)

    # Steps of a write

    def _create(self, wanted: Raw, resource: Resource, write: Write, managed: bool = False) -> Written:
        """`managed` says that managedFields are in `wanted` already (by an apply)."""
        ref = ref_of(wanted)
        self._check_namespace(ref, resource)
        version = served_version(resource, wanted["apiVersion"])
        wanted = split_status(wanted, None, version, write.subresource)
        ready = completed(wanted, None, resource, version, write, self._taken_ips(ref))
        if self._store.find(ref) is not None:
            raise already_exists(ref.group, resource.plural, ref.name)
        new = with_generation(ready.object, 1 if resource.has_generation else None)
        identity = {"uid": self._new_uid(ref), "creationTimestamp": self._now()}
        new = {**new, "metadata": {**new["metadata"], **identity}}
        if ref.group_kind == CRD:
            new = with_established_status(new, self._now())
        if not managed:
            new = with_managers(
                new, updated_managers(None, ready.stated, self._writer(new, write), schema_of(version).root)
            )
        new = in_version(new, ref.group, resource.storage_version.name)
        stored = self._stored(ref, new, write)
        return Written(self._answer(stored, wanted), True, True, ready.warnings)

    def _update(self, wanted: Raw, live: Raw, resource: Resource, write: Write, managed: Raw | None = None) -> Written:
        """`managed` is the object that holds the managedFields already (by an apply)."""
        ref = ref_of(live)
        version = served_version(resource, wanted["apiVersion"])
        new = with_live_metadata(split_status(wanted, live, version, write.subresource), live)
        ready = completed(new, live, resource, version, write, self._taken_ips(ref))
        new = with_generation(ready.object, next_generation(ready.object, live, resource, version))
        if ref.group_kind == CRD:
            new = with_established_status(new, self._now())
        if managed is not None:
            new = _with_managed_fields_of(new, managed)
        else:
            writer = self._writer(wanted, write)
            new = with_managers(new, updated_managers(live, ready.stated, writer, schema_of(version).root))
        new = in_version(new, ref.group, self._kept_version(live, resource))
        if is_unchanged(new, in_version(live, ref.group, self._kept_version(live, resource))):
            return Written(self._answer(live, wanted), False, False, ready.warnings)
        stored = self._stored(ref, new, write)
        return Written(self._answer(stored, wanted), False, True, ready.warnings)

    def _apply(self, ref: Ref, body: Any, write: Write) -> Written:
        stated = _applied_body(ref, body)
        resource = self._resource_of(stated)
        stated = self._named(stated, resource)
        live = self._store.find(ref)
        version = served_version(resource, stated["apiVersion"])
        if live is None and write.subresource:
            raise not_found(ref.group, resource.plural, ref.name)
        if live is not None:
            check_preconditions(stated, live, resource)
            live = in_version(live, ref.group, version.name)
        elif stated["metadata"].get("uid") or stated["metadata"].get("resourceVersion"):
            raise conflict(ref.group, resource.plural, ref.name, "it names a uid or version, but does not exist")
        applier = self._writer(stated, write, APPLY)
        schema, apart = schema_of(version).root, version.status_subresource
        try:
            new = applied(live, stated, applier, schema, force=write.force, status_apart=apart)
        except ApplyConflict as error:
            raise _conflict_error(ref, resource, error) from error
        if live is None:
            return self._create(new, resource, write, managed=True)
        return self._update(new, live, resource, write, managed=new)

    def _stored(self, ref: Ref, new: Raw, write: Write) -> Raw:
        """Stores the new state, unless nothing may be stored; an object that only waited for this goes instead."""
        if write.dry_run:
            return new
        metadata = new["metadata"]
        finished = metadata.get("deletionTimestamp") and not list_at(metadata, "finalizers")
        if finished and ref.group_kind not in (NAMESPACE, CRD):
            self._deletions.remove(ref)
            return new
        if ref.group_kind == CRD:
            self.resources.replace(resource_from_crd(new))
        return self._store.put(ref, new)

    def _patched(self, live: Raw, body: Any, patch_type: PatchType, resource: Resource) -> Raw:
        try:
            if patch_type == "json":
                patched = json_patched(live, body)
            elif patch_type == "strategic":
                if resource.custom:
                    raise _unsupported_strategic(resource)
                patched = strategic_patched(live, body, self._schema_root(live))
            elif isinstance(body, dict):
                patched = merge_patched(live, body)
            else:
                raise BadPatch("a merge patch of an object is a mapping")
        except BadPatch as error:
            raise bad_request(f"{ref_of(live)}: {error}") from error
        if not isinstance(patched, dict) or not isinstance(patched.get("metadata"), dict):
            raise bad_request(f"{ref_of(live)}: the patch leaves no object with metadata")
        return patched

    # Looking things up

    def _live(self, ref: Ref) -> Raw:
        live = self._store.find(ref)
        if live is None:
            raise not_found(ref.group, self._plural(ref), ref.name)
        return live

    def _resource_of(self, raw: Raw) -> Resource:
        """The kind of an object; one that is not in the table is believed to be as `assumed_resource` says."""
        _check_form(raw)
        assumed = assumed_resource(raw)
        return self.resources.of(assumed.group_kind) or assumed

    def _plural(self, ref: Ref) -> str:
        resource = self.resources.of(ref.group_kind)
        raw = {"apiVersion": api_version_of(ref.group, "v1"), "kind": ref.kind}
        return (resource or assumed_resource(raw)).plural

    def _schema_root(self, raw: Raw) -> Raw | None:
        resource = self._resource_of(raw)
        version = resource.version(raw["apiVersion"].rpartition("/")[2]) or resource.storage_version
        return schema_of(version).root

    def _kept_version(self, live: Raw, resource: Resource) -> str:
        """Objects stay in the version in which they are, while the kind serves it."""
        version = resource.version(live["apiVersion"].rpartition("/")[2])
        return version.name if version is not None and version.served else resource.storage_version.name

    def _writer(self, raw: Raw, write: Write, operation: str = UPDATE) -> Manager:
        return Manager(write.manager, operation, write.subresource, raw["apiVersion"], self._now(), frozenset())

    def _answer(self, stored: Raw, wanted: Raw) -> Raw:
        """A copy in the version in which the writer spoke."""
        return copy_of({**stored, "apiVersion": wanted["apiVersion"]})  # type: ignore[no-any-return]

    def _taken_ips(self, ref: Ref) -> frozenset[str]:
        """The cluster IPs of all Services but this one; empty for other kinds, which need none."""
        if ref.group_kind != SERVICE:
            return frozenset()
        others = (raw for raw in self._store.of_kind(SERVICE) if ref_of(raw) != ref)
        return frozenset(str(mapping_at(raw, "spec").get("clusterIP") or "") for raw in others) - {"", "None"}

    def _check_namespace(self, ref: Ref, resource: Resource) -> None:
        if not ref.namespace:
            return
        namespace = self._store.find(Ref("", "Namespace", "", ref.namespace))
        if namespace is None:
            if self._namespaces_must_exist:
                raise not_found("", "namespaces", ref.namespace)
            return
        if namespace["metadata"].get("deletionTimestamp"):
            why = f"unable to create new content in namespace {ref.namespace} because it is being terminated"
            cause = Cause(
                "metadata.namespace", "NamespaceTerminating", f"namespace {ref.namespace} is being terminated"
            )
            raise forbidden(ref.group, resource.plural, ref.name, why, [cause])

    def _named(self, raw: Raw, resource: Resource) -> Raw:
        """The object with its namespace and, from generateName, its name."""
        metadata = raw["metadata"]
        namespace = metadata.get("namespace") or ""
        if resource.namespaced:
            metadata["namespace"] = namespace or "default"
        elif namespace:
            raise bad_request(f"metadata.namespace: found {namespace!r}, {resource.kind} objects have no namespace")
        else:
            metadata.pop("namespace", None)
        if not metadata.get("name"):
            prefix = metadata.get("generateName")
            if not prefix:
                raise bad_request(f"{resource.kind}: metadata.name or metadata.generateName is required")
            metadata["name"] = self._generated_name(prefix, metadata.get("namespace", ""), resource)
        return raw

    def _generated_name(self, prefix: str, namespace: str, resource: Resource) -> str:
        """The prefix with five letters that no object of the kind has; the same requests give the same names."""
        while True:
            self._names_made += 1
            # A multiplier without a common factor with the number of words spreads the names; none comes twice.
            number = self._names_made * 7_368_787 % len(_SUFFIX_LETTERS) ** 5
            suffix = ""
            for _ in range(5):
                number, letter = divmod(number, len(_SUFFIX_LETTERS))
                suffix += _SUFFIX_LETTERS[letter]
            name = prefix[:58] + suffix
            if self._store.find(Ref(resource.group, resource.kind, namespace, name)) is None:
                return name


def _check_form(raw: Raw) -> None:
    """Raises: ApiError (400) if this is no object with apiVersion, kind and metadata."""
    if not isinstance(raw, dict):
        raise bad_request(f"found {type(raw).__name__}, wanted an object")
    for field in ("apiVersion", "kind"):
        if not isinstance(raw.get(field), str) or not raw[field]:
            raise bad_request(f"{field}: found {raw.get(field)!r}, wanted a text")
    if not isinstance(raw.get("metadata"), dict):
        raise bad_request(f"metadata: found {raw.get('metadata')!r}, wanted a mapping")


def _applied_body(ref: Ref, body: Any) -> Raw:
    _check_form(body)
    stated: Raw = copy_of(body)
    if stated["metadata"].get("managedFields"):
        raise bad_request(f"{ref}: metadata.managedFields must be nil in what is applied")
    for field, wanted in (("name", ref.name), ("namespace", ref.namespace)):
        found = stated["metadata"].setdefault(field, wanted)
        if found != wanted:
            raise bad_request(f"{ref}: metadata.{field}: found {found!r}, wanted {wanted!r}")
    if stated["kind"] != ref.kind:
        raise bad_request(f"{ref}: kind: found {stated['kind']!r}, wanted {ref.kind!r}")
    return stated


def _with_managed_fields_of(raw: Raw, managed: Raw) -> Raw:
    metadata = {key: value for key, value in raw["metadata"].items() if key != "managedFields"}
    if "managedFields" in managed["metadata"]:
        metadata["managedFields"] = managed["metadata"]["managedFields"]
    return {**raw, "metadata": metadata}


def _conflict_error(ref: Ref, resource: Resource, error: ApplyConflict) -> ApiError:
    causes = [Cause(found.field, "FieldManagerConflict", found.who) for found in error.conflicts]
    return ApiError(409, "Conflict", str(error), causes=causes, group=ref.group, kind=resource.plural, name=ref.name)


def _unsupported_strategic(resource: Resource) -> ApiError:
    wanted = "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
    message = f"{resource.kind} is a custom kind: it takes no strategic merge patch, only {wanted}"
    return ApiError(415, "UnsupportedMediaType", message)


__all__ = ["ApiError", "ApiModel", "Cause", "Change", "Deleted", "PatchType", "Propagation", "Written"]
