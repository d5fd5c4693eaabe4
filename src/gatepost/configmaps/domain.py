"""The ConfigMap `config-domain`: which domain a Route is published under."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct, field

from gatepost.configmaps.reading import config_map_ref, maps_named, parsed
from gatepost.configmaps.values import UnreadableValue
from gatepost.objects.networking import CLUSTER_LOCAL_VISIBILITY, VISIBILITY_LABEL
from gatepost.objects.plain_yaml import NotYaml, read_yaml
from gatepost.objects.problems import Problem
from gatepost.state.rule import Rule
from gatepost.state.view import View

NAME = "config-domain"

_EXAMPLE = "_example"


class DomainEntry(Struct, frozen=True):
    """A domain and the labels that a Route must have to be published under it; () is a default for all."""

    domain: str
    selector: tuple[tuple[str, str], ...] = ()

    def selects(self, labels: Mapping[str, str]) -> bool:
        return all(labels.get(key) == value for key, value in self.selector)


class DomainConfig(Struct, frozen=True):
    """The domains of `config-domain`, sorted. Without a default among them the cluster's own domain is the default."""

    entries: tuple[DomainEntry, ...] = ()

    def domain_for(self, labels: Mapping[str, str], cluster_domain: str) -> str:
        """The domain of a Route with these labels: that of the entry that asks for most of them, the first if several.

        A Route labelled as cluster-local gets the cluster's own domain at once.
        """
        of_the_cluster = f"svc.{cluster_domain}"
        if labels.get(VISIBILITY_LABEL) == CLUSTER_LOCAL_VISIBILITY:
            return of_the_cluster
        entries = self.entries
        if all(entry.selector for entry in entries):
            entries = (*entries, DomainEntry(of_the_cluster))
        fitting = [entry for entry in entries if entry.selects(labels)]
        return min(fitting, key=lambda entry: (-len(entry.selector), entry.domain)).domain


class _Value(Struct):
    """The value of a key as written. `type` plays no part in the choice."""

    selector: dict[str, str] = field(default_factory=dict)
    type: str = ""


def parse(data: Mapping[str, str]) -> DomainConfig:
    """The domains in the data of a `config-domain`.

    Raises: UnreadableValue for the first value that is no mapping with a flat `selector`.
    Source: knative/serving, config-domain.
    """
    return DomainConfig(tuple(_entry(key, text) for key, text in sorted(data.items()) if key != _EXAMPLE))


def _entry(domain: str, text: str) -> DomainEntry:
    try:
        written = msgspec.convert(read_yaml(text), _Value | None)
    except (NotYaml, msgspec.ValidationError) as error:
        raise UnreadableValue(domain, text, "nothing, or a selector of labels in YAML") from error
    return DomainEntry(domain, tuple(sorted(written.selector.items())) if written is not None else ())


CONFIG_MAPS = maps_named(NAME)

CONFIG_DOMAIN: Rule[DomainConfig | Problem] = Rule(NAME, parsed(NAME, parse, DomainConfig()), rank=0, over=CONFIG_MAPS)


def current_domain_config(view: View) -> DomainConfig | Problem:
    """The domains in force: those of `config-domain` in Knative's namespace."""
    return view.value(CONFIG_DOMAIN, config_map_ref(NAME, view))
