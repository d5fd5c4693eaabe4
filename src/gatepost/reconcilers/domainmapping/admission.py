"""What the webhook of Knative refuses in a DomainMapping's name. Without a webhook in front it must be refused here."""

from __future__ import annotations

from gatepost.objects.problems import Problem
from gatepost.objects.serving import DomainMapping
from gatepost.objects.settings import settings_in
from gatepost.reconcilers.domainmapping.conditions import DOMAIN_NAME_INVALID
from gatepost.reconcilers.hosts import domain_fault
from gatepost.state.view import View


def refused_name(mapping: DomainMapping, view: View) -> Problem | None:
    """Why no domain of that name may be served, None if it may: a mapping is named after its domain.

    Source: validation of DomainMapping in knative/serving.
    """
    settings = settings_in(view)
    name = mapping.metadata.name
    if mapping.metadata.generate_name:
        return _refusal(mapping, "metadata.generateName", "the name was generated, wanted a domain in metadata.name.")
    wanted = domain_fault(name)
    if wanted:
        return _refusal(mapping, "metadata.name", f"found {name!r}, wanted {wanted}.")
    if name.endswith("." + settings.cluster_domain):
        return _refusal(
            mapping,
            "metadata.name",
            f"found {name!r}, wanted a domain outside the cluster's {settings.cluster_domain}.",
        )
    return None


def _refusal(mapping: DomainMapping, field: str, message: str) -> Problem:
    return Problem(DOMAIN_NAME_INVALID, message, mapping.ref, field, "Create the mapping under the domain it is for.")
