"""The annotations and labels of networking.knative.dev that users set on DomainMappings and Routes.

Each setting has its spellings in order of precedence: the first key that is present decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gatepost.configmaps.network import DISABLED, ENABLED, REDIRECTED, NetworkConfig
from gatepost.configmaps.values import go_boolean
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.problems import Problem

INGRESS_CLASS = "networking.knative.dev/ingress.class"
CERTIFICATE_CLASS = "networking.knative.dev/certificate.class"
CERTIFICATE_TYPE_LABEL = "networking.knative.dev/certificate-type"

_INGRESS_CLASS_KEYS = (INGRESS_CLASS, "networking.knative.dev/ingress-class")
_CERTIFICATE_CLASS_KEYS = (CERTIFICATE_CLASS, "networking.knative.dev/certificate-class")
_HTTP_OPTION_KEYS = ("networking.knative.dev/httpOption", "networking.knative.dev/http-protocol")
_ISSUING_DISABLED_KEYS = (
    "networking.knative.dev/disableAutoTLS",
    "networking.knative.dev/disable-auto-tls",
    "networking.knative.dev/disable-external-domain-tls",
)

# The dashed classes are written out in their dotted form; the last one would copy a whole object into its children.
_NEVER_PASSED_ON = frozenset(
    (
        "kubectl.kubernetes.io/last-applied-configuration",
        "networking.knative.dev/ingress-class",
        "networking.knative.dev/certificate-class",
    )
)

# What a KIngress says for each protocol of config-network; "" leaves its field out.
HTTP_OPTIONS: Mapping[str, str] = {ENABLED: "Enabled", REDIRECTED: "Redirected", DISABLED: ""}


def passed_on(annotations: Mapping[str, str]) -> dict[str, str]:
    """The annotations that children get from their owner."""
    return {key: value for key, value in annotations.items() if key not in _NEVER_PASSED_ON}


def ingress_class(owner: KubernetesObject, config: NetworkConfig) -> str:
    """The class of the owner's KIngress: its annotation, else the one of config-network."""
    return _value(owner, _INGRESS_CLASS_KEYS) or config.ingress_class


def certificate_class(owner: KubernetesObject, config: NetworkConfig) -> str:
    """The class of the owner's Certificates: its annotation, else the one of config-network."""
    return _value(owner, _CERTIFICATE_CLASS_KEYS) or config.certificate_class


def http_option(owner: KubernetesObject, config: NetworkConfig) -> str | Problem:
    """`spec.httpOption` of the owner's KIngress, "" for none.

    Returns: a problem if the annotation names neither of the two options. "disabled" is a word of config-network only.
    """
    key = _first_present(owner.metadata.annotations, _HTTP_OPTION_KEYS)
    found = owner.metadata.annotations[key] if key is not None else ""
    if not found:
        return HTTP_OPTIONS[config.http_protocol]
    if found.lower() in (ENABLED, REDIRECTED):
        return HTTP_OPTIONS[found.lower()]
    return Problem(
        "HTTPOptionInvalid",
        f"found {found!r}, wanted Enabled or Redirected.",
        owner.ref,
        f"metadata.annotations[{key}]",
        "Correct the annotation, or remove it to follow config-network.",
    )


def is_issuing_disabled(owner: KubernetesObject) -> bool:
    """Whether the owner asks for no certificates of its own. A value that is no boolean counts as absent."""
    return go_boolean(_value(owner, _ISSUING_DISABLED_KEYS)) or False


def _value(owner: KubernetesObject, keys: Sequence[str]) -> str:
    key = _first_present(owner.metadata.annotations, keys)
    return owner.metadata.annotations[key] if key is not None else ""


def _first_present(annotations: Mapping[str, str], keys: Sequence[str]) -> str | None:
    return next((key for key in keys if key in annotations), None)
