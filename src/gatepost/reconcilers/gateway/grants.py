"""ReferenceGrants: what lets a Gateway, or a ListenerSet, read a Secret in another namespace."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from gatepost.objects.gatewayapi import ListenerSet, ReferenceGrant
from gatepost.objects.meta import controller_of, is_controlled_by, owner_reference
from gatepost.objects.names import child_name
from gatepost.objects.networking import KIngress
from gatepost.objects.problems import Problem
from gatepost.objects.refs import Ref
from gatepost.reconcilers.gateway.problems import not_owned
from gatepost.state.store import Index
from gatepost.state.view import View
from gatepost.writes.outcome import object_fields

Raw = dict[str, Any]


class GrantWish(Struct, frozen=True):
    """Leave to read one Secret for all of a kind in a namespace: `reader` is one of those, its name does not count."""

    secret: Ref
    reader: Ref


def grant_name(kingress: KIngress, wish: GrantWish) -> str:
    suffix = f"-{wish.secret.name}-{wish.reader.namespace}"
    return child_name(kingress.metadata.name, f"{suffix}-set" if _is_for_sets(wish) else suffix)


def _is_for_sets(wish: GrantWish) -> bool:
    return wish.reader.kind == ListenerSet.KIND.kind


def reference_grant(kingress: KIngress, wish: GrantWish) -> Raw:
    """The grant in its raw form."""
    reader = wish.reader
    return object_fields(
        ReferenceGrant,
        wish.secret.namespace,
        grant_name(kingress, wish),
        owners=[owner_reference(kingress)],
        spec={
            "from": [{"group": reader.group, "kind": reader.kind, "namespace": reader.namespace}],
            "to": [{"group": "", "kind": "Secret", "name": wish.secret.name}],
        },
    )


def foreign_grant(kingress: KIngress, wish: GrantWish, view: View) -> Problem | None:
    """Why a grant cannot be written: one of that name is someone else's."""
    grant = view.named(ReferenceGrant, wish.secret.namespace, grant_name(kingress, wish))
    if grant is None or is_controlled_by(grant, kingress):
        return None
    return not_owned(grant.ref, f"{kingress.ref} does not control the one that is there")


class Grant(Struct, frozen=True):
    """A grant that is there. `uses` are keys of CERTIFICATES_IN_USE: from which namespace to which Secret."""

    ref: Ref
    uid: str
    uses: tuple[tuple[str, str, str], ...]


def _grants(grant: ReferenceGrant) -> Iterable[tuple[str, Grant]]:
    controller = controller_of(grant)
    if controller is not None and controller.kind == KIngress.KIND.kind and controller.uid:
        uses = tuple(
            (source.namespace, grant.metadata.namespace, secret.name)
            for source in grant.spec.from_
            for secret in grant.spec.to
        )
        yield controller.uid, Grant(grant.ref, grant.metadata.uid, uses)


GRANTS_BY_OWNER = Index("reference-grants-by-owner", ReferenceGrant, _grants)
"""UID of a KIngress -> its grants, in whatever namespace."""
