"""What can be wrong with the settings of the DNS part. All of it is told at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv6Network
from typing import TYPE_CHECKING

from gatepost.dns.choices import (
    CONFLICT_CHOICES,
    EVENTS,
    FALLBACK_CHOICES,
    FORMER_SOURCES,
    POLICIES,
    RECORD_TYPES,
    REGISTRIES,
    SOURCES,
    SOURCES_OF_EXTERNAL_DNS,
)
from gatepost.dns.expressions import BadExpression, compiled
from gatepost.dns.wrappers.networks import network_of
from gatepost.kubernetes.metadata import label_value_problem
from gatepost.kubernetes.selectors import BadSelector, parse_labels

if TYPE_CHECKING:
    from gatepost.dns.settings import DnsSettings

_NAT64_BITS = 96
_DOMAIN = re.compile(r"\.?[^\s./:]+(\.[^\s./:]+)*\.?")  # anything else is in no name, and would shut out all of them


def wrong_settings(settings: DnsSettings) -> tuple[str, ...]:
    """A line for each thing that is wrong: the flag, what was found and what was wanted."""
    return tuple(line for check in _CHECKS for line in check(settings))


def _check_choices(settings: DnsSettings) -> Iterator[str]:
    if not settings.sources:
        yield f"--source: none was given, wanted at least one of {', '.join(SOURCES)}"
    for source in settings.sources:
        if source not in SOURCES:
            whose = (
                ", which only external-dns reads"
                if source in SOURCES_OF_EXTERNAL_DNS or source in FORMER_SOURCES
                else ""
            )
            yield f"--source: found {source!r}{whose}, wanted one of {', '.join(SOURCES)}"
    for flag, value, choices in (
        ("--conflict", settings.conflict, CONFLICT_CHOICES),
        ("--listener-hostname-fallback", settings.listener_hostname_fallback, FALLBACK_CHOICES),
        ("--policy", settings.policy, POLICIES),
        ("--registry", settings.registry, REGISTRIES),
    ):
        if value not in choices:
            yield f"{flag}: found {value!r}, wanted one of {', '.join(choices)}"
    for flag, types in (
        ("--managed-record-types", settings.managed_record_types),
        ("--exclude-record-types", settings.exclude_record_types),
    ):
        for type_ in types:
            if type_ not in RECORD_TYPES:
                yield f"{flag}: found {type_!r}, wanted one of {', '.join(RECORD_TYPES)}"
    for event in settings.events_emit:
        if event not in EVENTS:
            yield f"--events-emit: found {event!r}, wanted one of {', '.join(EVENTS)}"


def _check_selectors(settings: DnsSettings) -> Iterator[str]:
    for flag, text in (
        ("--label-filter", settings.label_filter),
        ("--annotation-filter", settings.annotation_filter),
        ("--gateway-label-filter", settings.gateway_label_filter),
    ):
        try:
            parse_labels(text)
        except BadSelector as error:
            yield f"{flag}: {error}"


def _check_owners(settings: DnsSettings) -> Iterator[str]:
    for flag, owner in (
        ("--txt-owner-id", settings.txt_owner_id),
        ("--migrate-from-txt-owner", settings.migrate_from_txt_owner),
    ):
        if any(letter in owner for letter in ',"\\'):
            yield f"{flag}: found {owner!r}, wanted a name without commas, quotes and backslashes"


def _check_domains(settings: DnsSettings) -> Iterator[str]:
    for flag, texts in (("--domain-filter", settings.domain_filter), ("--exclude-domains", settings.exclude_domains)):
        for text in texts:
            if "," in text or " " in text.strip():
                yield f"{flag}: found {text!r}, wanted one domain; give the flag once for each"
            elif text.strip() and _DOMAIN.fullmatch(text.strip()) is None:
                yield f"{flag}: found {text!r}, wanted a domain: example.com, or .example.com for what is below it"


def _check_networks(settings: DnsSettings) -> Iterator[str]:
    for text in settings.nat64_networks:
        network = network_of(text)
        if not isinstance(network, IPv6Network) or network.prefixlen != _NAT64_BITS:
            yield f"--nat64-networks: found {text!r}, wanted an IPv6 network with a prefix of 96 bits"


def _check_expressions(settings: DnsSettings) -> Iterator[str]:
    for flag, text in (
        ("--regex-domain-filter", settings.regex_domain_filter),
        ("--regex-domain-exclusion", settings.regex_domain_exclusion),
    ):
        try:
            compiled(text)
        except BadExpression as error:
            yield f"{flag}: found {text!r}, wanted a regular expression: {error}"


def _check_combinations(settings: DnsSettings) -> Iterator[str]:
    if settings.annotation_prefix is not None and not settings.annotation_prefix.endswith("/"):
        yield f"--annotation-prefix: found {settings.annotation_prefix!r}, wanted a text that ends with '/'"
    if settings.ignore_hostname_annotation and not settings.has_template:
        yield "--ignore-hostname-annotation: needs --fqdn-template, the only other place that names come from"
    if settings.create_ptr and "PTR" not in settings.managed_record_types:
        yield "--create-ptr: needs PTR among --managed-record-types"
    if settings.min_ttl < 0:
        yield f"--min-ttl: found {settings.min_ttl}, wanted 0 or more seconds"
    if settings.delete_grace < 0:
        yield f"--delete-grace: found {settings.delete_grace}, wanted 0 or more seconds"
    if not 0 < settings.max_removal_share <= 1:
        yield f"--max-removal-share: found {settings.max_removal_share}, wanted more than 0 and at most 1"


def _check_registry(settings: DnsSettings) -> Iterator[str]:
    if settings.txt_prefix and settings.txt_suffix:
        yield "--txt-prefix and --txt-suffix: give one of them, not both"
    if settings.registry == "aws-sd":
        yield "--registry: aws-sd goes with the provider aws-sd (Cloud Map), which gatepost does not have"
    if settings.registry != "noop" and not settings.txt_owner_id:
        yield "--txt-owner-id: found nothing, wanted a name that no other instance uses in these zones"
    wrong = label_value_problem(settings.txt_owner_id) if settings.registry == "crd" else ""
    if wrong:
        yield f"--txt-owner-id: found {settings.txt_owner_id!r}, wanted a label value for --registry crd: {wrong}"
    if settings.migrate_from_txt_owner and settings.migrate_from_txt_owner == settings.owner:
        yield f"--migrate-from-txt-owner: found {settings.owner!r}, which is our own name, wanted that of another"
    if settings.migrate_from_txt_owner and settings.registry != "txt":
        yield "--migrate-from-txt-owner: needs --registry txt, in whose records that owner stands"
    # What was given must not be shown: it may be a key all but for a typing error.
    if settings.txt_encrypt_aes_key and settings.aes_key is None:
        yield "--txt-encrypt-aes-key: found something else, wanted 32 characters, or 32 bytes in base64"
    if settings.txt_encrypt_enabled and not settings.txt_encrypt_aes_key:
        yield "--txt-encrypt-enabled: needs --txt-encrypt-aes-key"


_CHECKS = (
    _check_choices,
    _check_selectors,
    _check_domains,
    _check_owners,
    _check_networks,
    _check_expressions,
    _check_combinations,
    _check_registry,
)
