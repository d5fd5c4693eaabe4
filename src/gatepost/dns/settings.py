"""The settings of the DNS part: the flags of external-dns under their names, and those of gatepost's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv6Network, ip_network

from msgspec import Struct

from gatepost.dns.domain_filter import DomainFilter, domain_filter
from gatepost.kubernetes.selectors import BadSelector, parse_labels

SOURCES = (
    "gateway-httproute",
    "gateway-grpcroute",
    "gateway-tlsroute",
    "gateway-tcproute",
    "gateway-udproute",
    "gateway-listener",
    "crd",
)
CONFLICT_CHOICES = ("oldest", "refuse", "merge")
FALLBACK_CHOICES = ("all", "exact", "none")
POLICIES = ("sync", "upsert-only", "create-only")
RECORD_TYPES = ("A", "AAAA", "CNAME", "TXT", "SRV", "NS", "PTR", "MX", "NAPTR", "DNAME")
REGISTRIES = ("txt", "noop")

_NAT64_BITS = 96


class DnsSettings(Struct, frozen=True, kw_only=True):
    """One field per flag; the name of the flag is that of the field with hyphens, unless a comment says otherwise.

    Attributes:
        annotation_prefix: None reads both prefixes of external-dns, else only this one.
        min_ttl: seconds given to records that have no TTL; a TTL that is set is never raised.
        conflict: who gets a name that several objects want with different targets.
        listener_hostname_fallback: whether a Route without hostnames gets those of its listeners: all of them, only
            exact ones, or none.
        max_removal_share: the largest share of the own records that one plan may delete or point elsewhere.
        removal_free_count: how many own records there must be before the share counts.
    """

    sources: tuple[str, ...] = ()  # --source
    namespace: str = ""
    label_filter: str = ""
    annotation_filter: str = ""
    annotation_prefix: str | None = None
    gateway_name: str = ""
    gateway_namespace: str = ""
    gateway_label_filter: str = ""
    gateway_listener_sets: bool = False
    listener_hostname_fallback: str = "all"
    fqdn_template: tuple[str, ...] = ()
    combine_fqdn_annotation: bool = False
    ignore_hostname_annotation: bool = False

    conflict: str = "oldest"

    default_targets: tuple[str, ...] = ()
    force_default_targets: bool = False
    nat64_networks: tuple[str, ...] = ()
    target_net_filter: tuple[str, ...] = ()
    exclude_target_net: tuple[str, ...] = ()
    create_ptr: bool = False
    min_ttl: int = 0
    prefer_alias: bool = False
    provider: str = ""

    managed_record_types: tuple[str, ...] = ("A", "AAAA", "CNAME")
    exclude_record_types: tuple[str, ...] = ()
    domain_filter: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    regex_domain_filter: str = ""
    regex_domain_exclusion: str = ""
    policy: str = "sync"
    max_removal_share: float = 0.3
    removal_free_count: int = 10

    registry: str = "txt"
    txt_owner_id: str = "default"
    txt_prefix: str = ""
    txt_suffix: str = ""
    txt_wildcard_replacement: str = ""
    migrate_from_txt_owner: str = ""

    @property
    def record_types(self) -> frozenset[str]:
        """The types of records that are ours to write."""
        return frozenset(self.managed_record_types) - frozenset(self.exclude_record_types)

    @property
    def domains(self) -> DomainFilter:
        return domain_filter(
            self.domain_filter, self.exclude_domains, self.regex_domain_filter, self.regex_domain_exclusion
        )

    @property
    def owner(self) -> str:
        """Who owns what we write; "" with the noop registry, which knows no owners."""
        return self.txt_owner_id if self.registry == "txt" else ""

    def check(self) -> tuple[str, ...]:
        """What is wrong with these settings, each a line that names the flag, what was found and what was wanted."""
        return (
            *self._check_choices(),
            *self._check_selectors(),
            *self._check_networks(),
            *self._check_expressions(),
            *self._check_combinations(),
        )

    def _check_choices(self) -> Iterator[str]:
        if not self.sources:
            yield f"--source: none was given, wanted at least one of {', '.join(SOURCES)}"
        for source in self.sources:
            if source not in SOURCES:
                yield f"--source: found {source!r}, wanted one of {', '.join(SOURCES)}"
        for flag, value, choices in (
            ("--conflict", self.conflict, CONFLICT_CHOICES),
            ("--listener-hostname-fallback", self.listener_hostname_fallback, FALLBACK_CHOICES),
            ("--policy", self.policy, POLICIES),
            ("--registry", self.registry, REGISTRIES),
        ):
            if value not in choices:
                yield f"{flag}: found {value!r}, wanted one of {', '.join(choices)}"
        for flag, types in (
            ("--managed-record-types", self.managed_record_types),
            ("--exclude-record-types", self.exclude_record_types),
        ):
            for type_ in types:
                if type_ not in RECORD_TYPES:
                    yield f"{flag}: found {type_!r}, wanted one of {', '.join(RECORD_TYPES)}"

    def _check_selectors(self) -> Iterator[str]:
        for flag, text in (
            ("--label-filter", self.label_filter),
            ("--annotation-filter", self.annotation_filter),
            ("--gateway-label-filter", self.gateway_label_filter),
        ):
            try:
                parse_labels(text)
            except BadSelector as error:
                yield f"{flag}: {error}"

    def _check_networks(self) -> Iterator[str]:
        for text in self.nat64_networks:
            try:
                network = ip_network(text, strict=False)
            except ValueError:
                network = None
            if not isinstance(network, IPv6Network) or network.prefixlen != _NAT64_BITS:
                yield f"--nat64-networks: found {text!r}, wanted an IPv6 network with a prefix of 96 bits"
        for flag, texts in (
            ("--target-net-filter", self.target_net_filter),
            ("--exclude-target-net", self.exclude_target_net),
        ):
            for text in texts:
                try:
                    ip_network(text, strict=False)
                except ValueError:
                    yield f"{flag}: found {text!r}, wanted a network like 192.0.2.0/24"

    def _check_expressions(self) -> Iterator[str]:
        for flag, text in (
            ("--regex-domain-filter", self.regex_domain_filter),
            ("--regex-domain-exclusion", self.regex_domain_exclusion),
        ):
            try:
                re.compile(text)
            except re.error as error:
                yield f"{flag}: found {text!r}, wanted a regular expression: {error}"

    def _check_combinations(self) -> Iterator[str]:
        if self.annotation_prefix is not None and not self.annotation_prefix.endswith("/"):
            yield f"--annotation-prefix: found {self.annotation_prefix!r}, wanted a text that ends with '/'"
        if self.ignore_hostname_annotation and not self.has_template:
            yield "--ignore-hostname-annotation: needs --fqdn-template, the only other place that names come from"
        if self.create_ptr and "PTR" not in self.record_types:
            yield "--create-ptr: needs PTR among --managed-record-types"
        if self.txt_prefix and self.txt_suffix:
            yield "--txt-prefix and --txt-suffix: give one of them, not both"
        if self.registry == "txt" and not self.txt_owner_id:
            yield "--txt-owner-id: found nothing, wanted a name that no other instance uses in these zones"
        if self.min_ttl < 0:
            yield f"--min-ttl: found {self.min_ttl}, wanted 0 or more seconds"
        if not 0 < self.max_removal_share <= 1:
            yield f"--max-removal-share: found {self.max_removal_share}, wanted more than 0 and at most 1"

    @property
    def has_template(self) -> bool:
        return any(text.strip() for text in self.fqdn_template)
