"""A Kubernetes API as a value: what is stored, what each write makes of it, and the changes in order. No I/O.

Every object given in or out is a copy: nobody can change what is stored but through the methods here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from gatepost.kubernetes.admission import check_kind_is_free, check_namespace, taken_ips
from gatepost.kubernetes.apply import ApplyConflict, applied
from gatepost.kubernetes.crds import CRD, resource_from_crd, with_established_status
from gatepost.kubernetes.defaults import NAMESPACE
from gatepost.kubernetes.deletion import Deletions, Propagation
from gatepost.kubernetes.errors import (
    ApiError,
    Cause,
    already_exists,
    bad_request,
    conflict,
    not_found,
)
from gatepost.kubernetes.managed_fields import (
    APPLY,
    UPDATE,
    Manager,
    claimed_by,
    updated_managers,
    with_managers,
)
from gatepost.kubernetes.naming import NameMaker, with_namespace
from gatepost.kubernetes.patching import PatchType, applied_body, apply_conflict, check_form, patched
from gatepost.kubernetes.resources import Resource, Resources, Version, in_version
from gatepost.kubernetes.schema import schema_of
from gatepost.kubernetes.selectors import BadSelector, label_matcher
from gatepost.kubernetes.store import Change, ObjectStore
from gatepost.kubernetes.values import Raw, copy_of, list_at, mapping_at
from gatepost.kubernetes.writing import (
    Completed,
    FieldValidation,
    Write,
    check_preconditions,
    check_uid,
    completed,
    is_unchanged,
    kept_version,
    next_generation,
    pruned,
    served_version,
    split_status,
    with_generation,
    with_live_metadata,
    without_server_fields,
)
from gatepost.objects.refs import GroupKind, Ref, ref_of, version_of

Objects: TypeAlias = list[Raw]
Changes: TypeAlias = list[Change]


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
        self._names = NameMaker(lambda ref: self._store.find(ref) is not None)

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
            raise not_found(ref.group, self.resources.plural_of(ref.group_kind), ref.name)
        return found

    def list(
        self,
        group_kind: GroupKind,
        namespace: str | None = None,
        label_selector: str = "",
        version: str = "",
    ) -> Objects:
        """The objects of a kind by namespace and name; `namespace` None means all of them.

        Raises: ApiError (400) if the selector cannot be read.
        """
        try:
            labels = label_matcher(label_selector)
        except BadSelector as error:
            raise bad_request(str(error)) from error
        return [
            copy_of(in_version(raw, group_kind.group, version) if version else raw)
            for raw in self._store.of_kind(group_kind)
            if namespace is None or raw["metadata"].get("namespace", "") == namespace
            if not label_selector or labels(mapping_at(raw["metadata"], "labels"))
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
        """Lets the counter of versions go on from there, if it is not beyond already: deleted objects had some too."""
        self._store.reach_version(version)

    # Writing

    def load(self, raw: Raw, *, identify: bool = False, applied_by: str = "") -> Ref:
        """Stores an object as it was found, unchecked, without a change to watch and without a new version.

        Args:
            identify: give it a uid, a creationTimestamp and a generation if it has none, so that it can own, be owned,
                and that its status can be told to be of an older spec: manifests that never saw a cluster have none.
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
            if self.resources.of_object(loaded).has_generation:
                metadata["generation"] = metadata.get("generation") or 1
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
        check_form(raw)
        resource = self.resources.of_object(raw)
        write = Write(manager, dry_run=dry_run, field_validation=field_validation)
        wanted = self._names.with_name(with_namespace(copy_of(raw), resource), resource)
        return self._create(without_server_fields(wanted), resource, write)

    def replace(
        self,
        raw: Raw,
        manager: str,
        *,
        subresource: str = "",
        dry_run: bool = False,
        field_validation: FieldValidation = "Warn",
    ) -> Written:
        """Puts an object in the place of the stored one; whatever its version if it names no resourceVersion.

        Raises: ApiError: 400, 404, 409 Conflict if resourceVersion or uid are given and not those stored, 422.
        """
        check_form(raw)
        resource = self.resources.of_object(raw)
        write = Write(manager, subresource, dry_run, field_validation)
        wanted = with_namespace(copy_of(raw), resource)
        if not wanted["metadata"].get("name"):
            raise bad_request(f"{resource.kind}: metadata.name is required")
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
        if patch_type == "apply":
            return self._apply(
                ref, body, Write(manager, subresource, dry_run, field_validation, apply=True, force=force)
            )
        live = self._live(ref)
        if version:
            live = in_version(live, ref.group, version)
        resource = self.resources.of_object(live)
        changed = patched(live, body, patch_type, resource, self._schema_root(live))
        check_preconditions(changed, live, resource)
        return self._update(changed, live, resource, Write(manager, subresource, dry_run, field_validation))

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
        resource = self.resources.of_object(live)
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

    def _create(self, wanted: Raw, resource: Resource, write: Write) -> Written:
        ref = ref_of(wanted)
        check_namespace(ref, resource, self._store, must_exist=self._namespaces_must_exist)
        version = served_version(resource, wanted["apiVersion"], "")
        wanted = split_status(wanted, None, version, "")
        ready = self._completed(wanted, None, resource, version, write)
        if self._store.find(ref) is not None:
            raise already_exists(ref.group, resource.plural, ref.name)
        identity = {"uid": self._new_uid(ref), "creationTimestamp": self._now()}
        new = {**ready.object, "metadata": {**ready.object["metadata"], **identity}}
        new = with_generation(new, 1 if resource.has_generation else None)
        if not write.apply:
            writer = self._writer(wanted, write)
            new = with_managers(new, updated_managers(None, ready.stated, writer, schema_of(version).root))
        stored = self._stored(ref, in_version(new, ref.group, resource.storage_version.name), write)
        return Written(_answer(stored, wanted), created=True, changed=True, warnings=ready.warnings)

    def _update(self, wanted: Raw, live: Raw, resource: Resource, write: Write) -> Written:
        ref = ref_of(live)
        version = served_version(resource, wanted["apiVersion"], write.subresource)
        new = split_status(wanted, live, version, write.subresource)
        new = with_live_metadata(new, live, wanted if write.apply else live)
        ready = self._completed(new, live, resource, version, write)
        new = with_generation(ready.object, next_generation(ready.object, live, resource, version))
        if not write.apply:
            writer = self._writer(wanted, write)
            new = with_managers(new, updated_managers(live, ready.stated, writer, schema_of(version).root))
        kept = kept_version(self._store.find(ref) or live, resource)
        new = in_version(new, ref.group, kept)
        if is_unchanged(new, in_version(live, ref.group, kept)):
            return Written(_answer(live, wanted), created=False, changed=False, warnings=ready.warnings)
        stored = self._stored(ref, new, write)
        return Written(_answer(stored, wanted), created=False, changed=True, warnings=ready.warnings)

    def _apply(self, ref: Ref, body: Any, write: Write) -> Written:
        stated = applied_body(ref, body)
        resource = self.resources.of_object(stated)
        version = served_version(resource, stated["apiVersion"], write.subresource)
        # Before the merge: an unknown field must not be owned.
        stated, warnings = pruned(with_namespace(stated, resource), resource, version, write)
        live = self._store.find(ref)
        if live is not None:
            check_preconditions(stated, live, resource)
            live = in_version(live, ref.group, version.name)
        elif write.subresource:
            raise not_found(ref.group, resource.plural, ref.name)
        elif stated["metadata"].get("uid") or stated["metadata"].get("resourceVersion"):
            raise conflict(ref.group, resource.plural, ref.name, "it names a uid or version, but does not exist")
        applier, apart = self._writer(stated, write), version.status_subresource
        try:
            new = applied(live, stated, applier, schema_of(version).root, force=write.force, status_apart=apart)
        except ApplyConflict as error:
            raise apply_conflict(ref, resource, error) from error
        if live is None:
            written = self._create(new, resource, write)
        else:
            written = self._update(new, live, resource, write)
        return written._replace(warnings=(*warnings, *written.warnings))

    def _completed(
        self, wanted: Raw, live: Raw | None, resource: Resource, version: Version, write: Write
    ) -> Completed:
        ready = completed(wanted, live, resource, version, write, taken_ips(ref_of(wanted), self._store))
        if resource.group_kind == CRD:
            check_kind_is_free(ready.object, self.resources)
            return Completed(with_established_status(ready.object, self._now()), ready.stated, ready.warnings)
        return ready

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

    def _writer(self, raw: Raw, write: Write) -> Manager:
        operation = APPLY if write.apply else UPDATE
        return Manager(write.manager, operation, write.subresource, raw["apiVersion"], self._now(), frozenset())

    # What a write depends on

    def _live(self, ref: Ref) -> Raw:
        live = self._store.find(ref)
        if live is None:
            raise not_found(ref.group, self.resources.plural_of(ref.group_kind), ref.name)
        return live

    def _schema_root(self, raw: Raw) -> Raw | None:
        resource = self.resources.of_object(raw)
        version = resource.version(version_of(raw["apiVersion"])) or resource.storage_version
        return schema_of(version).root


def _answer(stored: Raw, wanted: Raw) -> Raw:
    """A copy in the version in which the writer spoke."""
    return copy_of({**stored, "apiVersion": wanted["apiVersion"]})  # type: ignore[no-any-return]


__all__ = ["ApiError", "ApiModel", "Cause", "Change", "Deleted", "PatchType", "Propagation", "Written"]
