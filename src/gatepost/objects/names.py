"""Names of child objects, as Knative makes them."""

from __future__ import annotations

import hashlib

_LIMIT = 63
_HEAD = 31


def child_name(parent: str, suffix: str = "") -> str:
    """The name of a child of `parent`: their joined text while it fits 63 characters, else shortened with an MD5 hash.

    | suffix           | name                                                                     |
    | fits             | parent + suffix                                                          |
    | under 31         | start of parent + md5(parent) + suffix                                   |
    | 31 and more      | 31 of parent + md5(parent + suffix) + start of suffix, ends alphanumeric |

    Source: knative.dev/pkg kmeta.ChildName; Knative finds its children by these names, so they are equal to the byte.
    """
    if len(parent) <= _LIMIT - len(suffix):
        return parent + suffix
    if len(suffix) < _HEAD:
        return parent[: _HEAD - len(suffix)] + _md5(parent) + suffix
    name = parent[:_HEAD] + _md5(parent + suffix)
    return _cut_to_alphanumeric(name + suffix[: _LIMIT - len(name)])


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _cut_to_alphanumeric(name: str) -> str:
    while name and not (name[-1].isascii() and name[-1].isalnum()):
        name = name[:-1]
    return name
