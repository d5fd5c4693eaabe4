"""Where Knative's ConfigMaps lie."""

from __future__ import annotations

from gatepost.objects.core import ConfigMap
from gatepost.objects.refs import Ref
from gatepost.objects.settings import SETTINGS_REF, Settings
from gatepost.state.store import Index
from gatepost.state.view import View


def config_map_ref(name: str, view: View) -> Ref:
    """Where a ConfigMap of Knative lies."""
    settings = view.get(Settings, SETTINGS_REF) or Settings()
    return ConfigMap.KIND.ref(settings.system_namespace, name)


def maps_named(name: str) -> Index:
    """The ConfigMaps of that name, so that one which cannot be read is told even while nothing depends on it."""
    return Index(
        f"{name}-maps",
        ConfigMap,
        lambda config_map: [(config_map.ref, None)] if config_map.metadata.name == name else [],
    )
