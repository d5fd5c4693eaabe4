"""What --fqdn-template makes of a Route: names, separated by commas, in the language of Go's text/template.

A template sees the Route as Go has it (`.Spec.Hostnames`); if that fails, it is executed once more on the Route as YAML
has it (`.Spec.hostnames`). The rules of a Route are kept only if a template may read them.
Source: external-dns, FQDN templates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from gatepost.dns.route_in_go import go_view
from gatepost.dns.route_rules_in_go import with_defaults
from gatepost.dns.sources.hostnames import TemplateFailed
from gatepost.dns.template_functions import functions_for
from gatepost.gotemplate import Fields, Strings, Template, TemplateError
from gatepost.objects.gatewayapi import GROUP, GatewayRoute
from gatepost.objects.route_rules import has_rules_kept, rules_in

FLAG = "--fqdn-template"

_REF_DEFAULTS = {"group": GROUP, "kind": "Gateway"}
_RULES = frozenset({"Rules", "rules"})
_HOLDERS_OF_RULES = frozenset({"Spec", "spec", "Object"})


class FqdnTemplates:
    """The texts of --fqdn-template, ready to be executed for Routes of these sources.

    Raises: gotemplate.TemplateSyntaxError for the first text that is no template, or defines what another one does.
    """

    def __init__(self, texts: Sequence[str], sources: Sequence[str]) -> None:
        for count in range(
            1, len(texts)
        ):  # the texts before the last must make templates too, each with those before it
            _parse(texts[:count], "")
        self._by_source = {source: _parse(texts, source) for source in sources}

    def may_read_rules(self, source: str) -> bool:
        """Whether the texts can come to the rules of the Routes of that source."""
        return any(template.may_read(_RULES, _HOLDERS_OF_RULES) for template in self._by_source[source])

    def __call__(self, route: GatewayRoute, source: str) -> str:
        """The text for a Route of that source. Raises: TemplateFailed"""
        as_in_go, as_in_yaml = self._by_source[source]
        try:
            return as_in_go.execute(go_view(route))
        except TemplateError as error:
            try:
                return as_in_yaml.execute(yaml_view(route))
            except TemplateError as second:
                where = f"{error.line}:{error.column}: at {error.action}"
                message = f"{where}: {error.reason}; with the keys of YAML instead: {second.reason}"
                raise TemplateFailed(message) from error


def _parse(texts: Sequence[str], source: str) -> tuple[Template, Template]:
    """The template as it is executed on each of the two views: only in the second a missing key is an error."""
    text, functions = ",".join(texts), functions_for(source)
    return (
        Template.parse(text, name=FLAG, functions=functions, missing_key="zero"),
        Template.parse(text, name=FLAG, functions=functions, missing_key="error"),
    )


def yaml_view(route: GatewayRoute) -> Fields:
    """The Route with the keys of YAML below .Spec, .Status, .Metadata and .Object."""
    raw = _in_yaml(route)
    metadata = route.metadata
    return Fields(
        "unstructured",
        {
            "Name": metadata.name,
            "Namespace": metadata.namespace,
            "Kind": route.KIND.kind,
            "APIVersion": route.api_version,
            "Labels": Strings(metadata.labels),
            "Annotations": Strings(metadata.annotations),
            "Metadata": raw.get("metadata", {}),
            "Spec": raw.get("spec", {}),
            "Status": raw.get("status", {}),
            "Object": raw,
        },
    )


def _in_yaml(route: GatewayRoute) -> dict[str, Any]:
    """The Route as the API gives it, with the defaults that the API writes out and our structs leave out."""
    raw: dict[str, Any] = msgspec.to_builtins(route)
    spec, status = raw.setdefault("spec", {}), raw.get("status", {})
    for key in ("rules", "rulesJson"):  # of some HTTPRoutes a part is kept, for other ends
        spec.pop(key, None)
    if has_rules_kept(route) and (rules := with_defaults(rules_in(route), route.KIND.kind)) is not None:
        spec["rules"] = rules
    if "parentRefs" in spec:
        spec["parentRefs"] = [{**_REF_DEFAULTS, **ref} for ref in spec["parentRefs"]]
    for parent in status.get("parents", ()):
        parent["parentRef"] = {**_REF_DEFAULTS, **parent.get("parentRef", {})}
        parent["conditions"] = [{"status": "Unknown", **condition} for condition in parent.get("conditions", ())]
    return {"apiVersion": route.api_version, "kind": route.KIND.kind, **raw}
