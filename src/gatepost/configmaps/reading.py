"""From the cluster to a parser: where Knative's ConfigMaps lie, and what a rule says of one that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from gatepost.configmaps.values import UnreadableValue
from gatepost.objects.core import ConfigMap
from gatepost.objects.problems import Problem, UnreadableObject
from gatepost.objects.refs import Ref
from gatepost.objects.settings import settings_in
from gatepost.state.store import Index
from gatepost.state.view import View

ConfigT = TypeVar("ConfigT")


def config_map_ref(name: str, view: View) -> Ref:
    """Where a ConfigMap of Knative lies."""
    settings = settings_in(view)
    return ConfigMap.KIND.ref(settings.system_namespace, name)


def maps_named(name: str) -> Index:
    """The ConfigMaps of that name, so that one which cannot be read is told even while nothing depends on it."""
    return Index(
        f"{name}-maps",
        ConfigMap,
        lambda config_map: [(config_map.ref, None)] if config_map.metadata.name == name else [],
    )


def parsed(
    name: str, parse: Callable[[Mapping[str, str]], ConfigT], default: ConfigT
) -> Callable[[Ref, View], ConfigT | Problem]:
    """The function of a rule whose key is the Ref of a ConfigMap.

    Args:
        parse: makes the value of its data. May raise UnreadableValue, which becomes the value of the rule.
        default: for where it does not exist. One of that name in another namespace is not Knative's.
    """

    def config_in(ref: Ref, view: View) -> ConfigT | Problem:
        try:
            config_map = view.get(ConfigMap, ref)
            if config_map is None or ref != config_map_ref(name, view):
                return default
            return parse(config_map.data)
        except UnreadableObject as error:
            return error.problem
        except UnreadableValue as error:
            return error.as_problem(ref)

    return config_in
