"""A rule: a pure function of one key and a View, with what it runs for."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from gatepost.objects.meta import KubernetesObject
from gatepost.state.store import Index

if TYPE_CHECKING:
    from gatepost.state.view import View

ValueT = TypeVar("ValueT")


class Rule(Generic[ValueT]):
    """A named function of a key and a View.

    Args:
        name: unique; shown in `explain` and logs.
        run: the function. It must be pure: the same reads give the same value.
        rank: rules may ask only rules of a lower rank, so that each change passes through in one sweep.
        over: what gives the keys: a type of objects (each object's Ref is a key), an index (each bucket's key is one),
            several types, or () for a rule that runs only when another one asks.
        reads_whole: types of which it reads what is not kept unless a rule says so, such as the rules of a Route.
    """

    __slots__ = ("name", "over", "rank", "reads_whole", "run")

    def __init__(
        self,
        name: str,
        run: Callable[[Any, View], ValueT],
        *,
        rank: int,
        over: type[KubernetesObject] | Index | tuple[type[KubernetesObject], ...] = (),
        reads_whole: tuple[type[KubernetesObject], ...] = (),
    ) -> None:
        self.name = name
        self.run = run
        self.rank = rank
        self.over = over
        self.reads_whole = reads_whole

    def __repr__(self) -> str:
        return f"Rule({self.name!r})"


Key = Hashable
