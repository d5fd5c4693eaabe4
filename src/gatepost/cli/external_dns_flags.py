"""Flags of external-dns that gatepost does not have, and what to do in their place.

An existing Deployment of external-dns carries them. Whoever moves over reads here what becomes of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_SOURCES = (
    "it belongs to a source that gatepost does not read; leave it out, or keep external-dns for that source with a "
    "--txt-owner-id of its own"
)
_NOT_READ = "external-dns does not read it either; leave it out"
_ELSEWHERE = "it belongs to a provider that gatepost reaches only by --provider webhook or octodns; set it there"
_NOT_HERE = "gatepost has this provider without that setting; docs/dns-providers.md lists those that it has"

_FLAGS: Mapping[str, str] = {
    "webhook-server": "`gatepost webhook` serves a provider to external-dns",
    "txt-new-format-only": "names with the record type are the only ones that are written; leave it out",
    "request-timeout": "its name is --kube-api-request-timeout",
    "crd-source-apiversion": _NOT_READ,
    "crd-source-kind": _NOT_READ,
    "target-template": "the Gateway sources of external-dns do not read it either; leave it out",
    "fqdn-target-template": "the Gateway sources of external-dns do not read it either; leave it out",
    "zone-name-filter": (
        "external-dns reads it for Azure alone, which gatepost reaches only by --provider webhook or octodns; set it "
        "there, or leave it out: --domain-filter narrows the zones of every provider"
    ),
    "aws-zone-match-parent": "zones above the names of --domain-filter are in reach always; leave it out",
    **dict.fromkeys(
        (
            "cloudflare-custom-hostnames",
            "cloudflare-custom-hostnames-certificate-authority",
            "cloudflare-custom-hostnames-min-tls-version",
            "cloudflare-region-key",
            "cloudflare-regional-services",
        ),
        "gatepost sets neither custom hostnames nor regions at Cloudflare; leave it out and set them by other means",
    ),
    **dict.fromkeys(
        ("rfc2136-gss-tsig", "rfc2136-kerberos-realm", "rfc2136-kerberos-username", "rfc2136-kerberos-password"),
        "gatepost does not do GSS-TSIG, which needs Kerberos; give it a TSIG key by --rfc2136-tsig-keyname",
    ),
    **dict.fromkeys(
        (
            "always-publish-not-ready-addresses",
            "compatibility",
            "connector-source-server",
            "exclude-unschedulable",
            "expose-internal-ipv6",
            "ignore-ingress-rules-spec",
            "ignore-ingress-tls-spec",
            "ignore-non-host-network-pods",
            "ingress-class",
            "listen-endpoint-events",
            "openshift-router-name",
            "pod-source-domain",
            "publish-host-ip",
            "publish-internal-services",
            "resolve-service-load-balancer-hostname",
            "service-type-filter",
            "skipper-routegroup-groupversion",
            "traefik-disable-legacy",
            "traefik-disable-new",
            "traefik-enable-legacy",
            "unstructured-resource",
        ),
        _SOURCES,
    ),
}
_FAMILIES: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "akamai-",
            "alibaba-cloud-",
            "aws-sd-",
            "azure-",
            "cf-",
            "coredns-",
            "digitalocean-",
            "dnsimple-",
            "exoscale-",
            "godaddy-",
            "google-",
            "ibmcloud-",
            "linode-",
            "ns1-",
            "oci-",
            "ovh-",
            "pihole-",
            "plural-",
            "scaleway-",
            "tencent-cloud-",
            "transip-",
            "ultradns-",
        ),
        _ELSEWHERE,
    ),
    **dict.fromkeys(("aws-", "cloudflare-", "inmemory-", "pdns-", "rfc2136-", "webhook-provider-", "tls-"), _NOT_HERE),
}


_THEIR_VARIABLES, _OUR_VARIABLES = "EXTERNAL_DNS_", "GATEPOST_"


def unread_variables(names: Iterable[str]) -> tuple[str, ...]:
    """A line for each environment variable of external-dns among these names, since none of them counts here."""
    return tuple(
        f"{name}: does not count; the variable that does is {_OUR_VARIABLES}{name.removeprefix(_THEIR_VARIABLES)}"
        for name in sorted(names)
        if name.startswith(_THEIR_VARIABLES)
    )


def instead_of(option: str) -> str | None:
    """What to do in the place of an option of external-dns (`--no-` forms too); None if external-dns has none such."""
    name = option.lstrip("-")
    for form in (name, name.removeprefix("no-")):
        if form in _FLAGS:
            return _FLAGS[form]
        # The longest first: --aws-sd- is another provider than --aws-.
        for family in sorted(_FAMILIES, key=len, reverse=True):
            if form.startswith(family):
                return _FAMILIES[family]
    return None
