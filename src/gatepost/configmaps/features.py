"""The ConfigMap `config-features`, as far as it says how hosts are routed."""

from __future__ import annotations

from msgspec import Struct

from gatepost.configmaps.reading import config_map_ref
from gatepost.configmaps.values import Values
from gatepost.objects.core import ConfigMap
from gatepost.objects.refs import Ref
from gatepost.state.rule import Rule
from gatepost.state.view import View

NAME = "config-features"

_ENABLED = "enabled"


class Features(Struct, frozen=True):
    """`tag_header_based_routing`: whether a request may choose a tag by header on the Route's main host."""

    tag_header_based_routing: bool = False


def features(ref: Ref, view: View) -> Features:
    """The features in the ConfigMap of that Ref; all are off without it. "Allowed" is not on. Nothing is refused."""
    config_map = view.get(ConfigMap, ref)
    if config_map is None:
        return Features()
    value = Values(config_map.data).text(("tag-header-based-routing",), "")
    return Features(tag_header_based_routing=value.lower() == _ENABLED)


CONFIG_FEATURES: Rule[Features] = Rule("config-features", features, rank=0)


def current_features(view: View) -> Features:
    """The features in force: those of `config-features` in Knative's namespace."""
    return view.value(CONFIG_FEATURES, config_map_ref(NAME, view))
