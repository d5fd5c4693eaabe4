"""The ConfigMap `config-network`: classes, TLS, HTTP and claims, for DomainMappings, Routes and gateways alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from gatepost.configmaps.name_templates import TemplateFault, public_name, tagged_name
from gatepost.configmaps.reading import config_map_ref, maps_named, parsed
from gatepost.configmaps.values import UnreadableValue, Values
from gatepost.objects.meta import LabelSelector
from gatepost.objects.plain_yaml import NotYaml, read_yaml
from gatepost.objects.problems import Problem
from gatepost.state.rule import Rule
from gatepost.state.view import View

NAME = "config-network"

ENABLED = "enabled"
REDIRECTED = "redirected"
DISABLED = "disabled"

DEFAULT_DOMAIN_TEMPLATE = "{{.Name}}.{{.Namespace}}.{{.Domain}}"
DEFAULT_TAG_TEMPLATE = "{{.Tag}}-{{.Name}}"

_ISSUING_KEYS = ("external-domain-tls", "auto-tls", "autoTLS")
_SELECTOR_KEY = "namespace-wildcard-cert-selector"

_DOMAIN_TEMPLATE_KEYS = ("domain-template", "domainTemplate")
_TAG_TEMPLATE_KEYS = ("tag-template", "tagTemplate")


class NetworkConfig(Struct, frozen=True):
    """What `config-network` says, with Knative's defaults for what it does not say.

    Attributes:
        http_protocol: ENABLED, REDIRECTED or DISABLED.
        domain_template, tag_template: Go templates as written. They have been tried with samples; what they make of a
            Route may still be no domain.
    """

    ingress_class: str = "istio.ingress.networking.knative.dev"
    certificate_class: str = "cert-manager.certificate.networking.knative.dev"
    domain_template: str = DEFAULT_DOMAIN_TEMPLATE
    tag_template: str = DEFAULT_TAG_TEMPLATE
    rollout_duration_seconds: int = 0
    autocreate_cluster_domain_claims: bool = False
    default_external_scheme: str = "http"
    http_protocol: str = ENABLED
    external_domain_tls: bool = False
    cluster_local_domain_tls: bool = False
    system_internal_tls: bool = False


def parse(data: Mapping[str, str]) -> NetworkConfig:
    """The settings in the data of a `config-network`.

    Raises: UnreadableValue for the first value that cannot be understood.
    Source: spec of config-network in knative.dev/networking; older keys give way to the newer ones.
    """
    values, default = Values(data), NetworkConfig()
    _check_wildcard_selector(values)
    return NetworkConfig(
        ingress_class=values.text(("ingress-class", "ingress.class"), default.ingress_class),
        certificate_class=values.text(("certificate-class", "certificate.class"), default.certificate_class),
        domain_template=_domain_template(values),
        tag_template=_tag_template(values),
        rollout_duration_seconds=values.whole_seconds(("rollout-duration", "rolloutDuration"), 0),
        autocreate_cluster_domain_claims=values.boolean(
            ("autocreate-cluster-domain-claims", "autocreateClusterDomainClaims"), default=False
        ),
        default_external_scheme=values.text(
            ("default-external-scheme", "defaultExternalScheme"), default.default_external_scheme
        ),
        http_protocol=values.choice(("http-protocol", "httpProtocol"), (ENABLED, REDIRECTED, DISABLED), ENABLED),
        # Present wins even when off: a newer key that is not "enabled" hides an older one that is.
        external_domain_tls=values.text(_ISSUING_KEYS, "").lower() == ENABLED,
        cluster_local_domain_tls=values.choice(("cluster-local-domain-tls",), (ENABLED, DISABLED), DISABLED) == ENABLED,
        system_internal_tls=_system_internal_tls(values),
    )


def _domain_template(values: Values) -> str:
    """The template, once it has made a host without a path of a sample."""
    return _tried(
        values,
        _DOMAIN_TEMPLATE_KEYS,
        DEFAULT_DOMAIN_TEMPLATE,
        lambda template: public_name(
            template, name="name", namespace="namespace", domain="example.com", annotations={}, labels={}
        ),
    )


def _tag_template(values: Values) -> str:
    """The template, once it has made a label for a host of a sample."""
    return _tried(
        values,
        _TAG_TEMPLATE_KEYS,
        DEFAULT_TAG_TEMPLATE,
        lambda template: tagged_name(template, name="name", tag="tag"),
    )


def _tried(values: Values, keys: Sequence[str], default: str, fill_in: Callable[[str], str]) -> str:
    """The template under the first of these keys. Raises: UnreadableValue if the sample makes no host, or more."""
    template = values.text(keys, default)
    try:
        host = fill_in(template)
    except TemplateFault as fault:
        raise _unusable(values, keys, template, f"({fault})") from fault
    if not _is_host_alone(host):
        raise _unusable(values, keys, template, f"and makes a host without a path, not {host!r}")
    return template


def _unusable(values: Values, keys: Sequence[str], template: str, what: str) -> UnreadableValue:
    return UnreadableValue(values.present(*keys) or keys[0], template, f"a template that can be filled in {what}")


def _is_host_alone(text: str) -> bool:
    try:
        parts = urlsplit(f"https://{text}")
    except ValueError:
        return False
    has_more = parts.path not in ("", "/") or parts.query or parts.fragment or " " in text
    return bool(parts.hostname) and not has_more


def _system_internal_tls(values: Values) -> bool:
    """On by its own key, or by the older `internal-encryption` even where the newer one says disabled."""
    own = values.choice(("system-internal-tls",), (ENABLED, DISABLED), DISABLED)
    return own == ENABLED or values.text(("internal-encryption",), "").lower() == "true"


def _check_wildcard_selector(values: Values) -> None:
    """Raises: UnreadableValue if the namespaces with a wildcard certificate are told by no label selector.

    Nothing here makes such certificates: that is left to Knative, and Routes find them by their label. But Knative
    refuses the whole ConfigMap for a value that it cannot read, so we do.
    """
    text = values.text((_SELECTOR_KEY,), "")
    if not text:
        return
    try:
        msgspec.convert(read_yaml(text), LabelSelector | None)
    except (NotYaml, msgspec.ValidationError) as error:
        raise UnreadableValue(_SELECTOR_KEY, text, "a label selector in YAML") from error


CONFIG_MAPS = maps_named(NAME)

network_config = parsed(NAME, parse, NetworkConfig())
"""The settings in the ConfigMap of a Ref."""

CONFIG_NETWORK: Rule[NetworkConfig | Problem] = Rule(NAME, network_config, rank=0, over=CONFIG_MAPS)


def current_network_config(view: View) -> NetworkConfig | Problem:
    """The settings in force: those of `config-network` in Knative's namespace."""
    return view.value(CONFIG_NETWORK, config_map_ref(NAME, view))
