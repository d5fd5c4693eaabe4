"""What the webhook of Knative refuses in a DomainMapping's name. Without a webhook in front it must be refused here."""

from __future__ import annotations

import re

from gatepost.objects.problems import Problem
from gatepost.objects.serving import DomainMapping
from gatepost.objects.settings import SETTINGS_REF, Settings
from gatepost.reconcilers.domainmapping.conditions import DOMAIN_NAME_INVALID
from gatepost.state.view import View

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_NAME_LIMIT = 253


def refused_name(mapping: DomainMapping, view: View) -> Problem | None:
    """Why no domain of that name may be served, None if it may: a mapping is named after its domain.

    Source: validation of DomainMapping in knative/serving; DNS labels as in RFC 1123.
    """
    settings = view.get(Settings, SETTINGS_REF) or Settings()
    name = mapping.metadata.name
    if mapping.metadata.generate_name:
        return _refusal(mapping, "metadata.generateName", "the name was generated, wanted a domain in metadata.name.")
    wanted = _what_it_lacks(name)
    if wanted:
        return _refusal(mapping, "metadata.name", f"found {name!r}, wanted {wanted}.")
    if name.endswith("." + settings.cluster_domain):
        return _refusal(
            mapping,
            "metadata.name",
            f"found {name!r}, wanted a domain outside the cluster's {settings.cluster_domain}.",
        )
    return None


def _what_it_lacks(name: str) -> str:
    if "*" in name:
        return "a domain without wildcard"
    labels = name.split(".")
    if len(labels) < 2:
        return "a fully qualified domain of two labels at least"
    if len(name) > _NAME_LIMIT:
        return f"a domain of {_NAME_LIMIT} characters at most"
    if not all(_LABEL.fullmatch(label) for label in labels):
        return "a domain whose labels are lower-case letters, digits and inner dashes, 63 at most"
    return ""


def _refusal(mapping: DomainMapping, field: str, message: str) -> Problem:
    return Problem(DOMAIN_NAME_INVALID, message, mapping.ref, field, "Create the mapping under the domain it is for.")
