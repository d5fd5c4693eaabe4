"""The settings of the DNS part: the flags of external-dns under their names, and those of gatepost's own."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from ipaddress import IPv6Network
from typing import Annotated

from msgspec import Meta, Struct

from gatepost.dns.domain_filter import DomainFilter, domain_filter
from gatepost.dns.expressions import BadExpression, compiled
from gatepost.dns.wrappers.networks import network_of
from gatepost.dns.wrappers.reach import Reach
from gatepost.kubernetes.selectors import BadSelector, parse_labels

SOURCES = (
    "gateway-httproute",
    "gateway-grpcroute",
    "gateway-tlsroute",
    "gateway-tcproute",
    "gateway-udproute",
    "gateway-listener",
    "knative",
    "crd",
)
_SOURCES_OF_EXTERNAL_DNS = frozenset(
    (
        "ambassador-host",
        "cloudfoundry",
        "connector",
        "contour-httpproxy",
        "contour-ingressroute",
        "empty",
        "f5-transportserver",
        "f5-virtualserver",
        "fake",
        "gloo-proxy",
        "ingress",
        "istio-gateway",
        "istio-virtualservice",
        "kong-tcpingress",
        "node",
        "openshift-route",
        "pod",
        "service",
        "skipper-routegroup",
        "traefik-proxy",
        "unstructured",
    )
)
"""A Gateway or a Knative Route covers most of them; external-dns may run beside gatepost for the rest."""
CONFLICT_CHOICES = ("oldest", "refuse", "merge")
FALLBACK_CHOICES = ("all", "exact", "none")
POLICIES = ("sync", "upsert-only", "create-only")
RECORD_TYPES = ("A", "AAAA", "CNAME", "TXT", "SRV", "NS", "PTR", "MX", "NAPTR", "DNAME")
REGISTRIES = ("txt", "noop", "dynamodb", "crd")
EVENTS = ("RecordReady", "RecordDeleted", "RecordError")

_NAT64_BITS = 96
_AES_KEY_BYTES = 32
_ORDINARY_ALPHABET = bytes.maketrans(b"-_", b"+/")


class DnsSettings(Struct, frozen=True, kw_only=True):
    """The one table of the flags: name, type, default and help of each.

    The name of a flag is that of its field with hyphens, or `extra["flag"]`. A tuple is a flag that may be repeated.
    """

    sources: Annotated[
        tuple[str, ...], Meta(description="Where names come from; may be repeated.", extra={"flag": "source"})
    ] = ()
    namespace: Annotated[str, Meta(description="Only Routes, DomainMappings and DNSEndpoints of this namespace.")] = ""
    label_filter: Annotated[
        str, Meta(description="Only Routes, DomainMappings and DNSEndpoints with labels that this selector matches.")
    ] = ""
    annotation_filter: Annotated[
        str,
        Meta(description="Only Routes, DomainMappings and DNSEndpoints with annotations that this selector matches."),
    ] = ""
    annotation_prefix: Annotated[
        str | None,
        Meta(description="The only prefix of annotations, ending with '/'; by default both of external-dns count."),
    ] = None
    gateway_name: Annotated[str, Meta(description="Only Gateways of this name.")] = ""
    gateway_namespace: Annotated[str, Meta(description="Only Gateways of this namespace.")] = ""
    gateway_label_filter: Annotated[str, Meta(description="Only Gateways with labels that this selector matches.")] = ""
    gateway_listener_sets: Annotated[bool, Meta(description="Follow Routes to ListenerSets too.")] = False
    listener_hostname_fallback: Annotated[
        str,
        Meta(description="Which listener hostnames a Route without any gets: all, exact (no wildcards) or none."),
    ] = "all"
    fqdn_template: Annotated[
        tuple[str, ...],
        Meta(
            description="Go template that makes names, separated by commas, for Routes without hostnames; may be "
            "repeated. It can read all of a Route but its rules."
        ),
    ] = ()
    combine_fqdn_annotation: Annotated[
        bool, Meta(description="Let templates add names to Routes that have hostnames.")
    ] = False
    ignore_hostname_annotation: Annotated[bool, Meta(description="Take no names from the hostname annotation.")] = False

    conflict: Annotated[
        str,
        Meta(description="Who gets a name that several objects want with different targets: oldest, refuse or merge."),
    ] = "oldest"

    default_targets: Annotated[
        tuple[str, ...], Meta(description="Targets for names that have none; may be repeated.")
    ] = ()
    force_default_targets: Annotated[
        bool, Meta(description="Let the default targets replace those that were found.")
    ] = False
    nat64_networks: Annotated[
        tuple[str, ...],
        Meta(
            description="IPv6 networks (/96) whose addresses hold an IPv4 address, published as A too; may be repeated."
        ),
    ] = ()
    target_net_filter: Annotated[
        tuple[str, ...], Meta(description="Only targets in this network; may be repeated.")
    ] = ()
    exclude_target_net: Annotated[
        tuple[str, ...], Meta(description="No targets in this network; may be repeated.")
    ] = ()
    create_ptr: Annotated[
        bool,
        Meta(
            description="Publish PTR records for addresses; a record-type annotation decides otherwise for one object."
        ),
    ] = False
    min_ttl: Annotated[
        int,
        Meta(description="TTL, in seconds or like 5m, of records that set none; a TTL that is set is never raised."),
    ] = 0
    prefer_alias: Annotated[bool, Meta(description="Ask the provider for alias records in place of CNAMEs.")] = False
    provider: Annotated[str, Meta(description="The DNS provider; settings meant for other providers are left out.")] = (
        ""
    )

    managed_record_types: Annotated[
        tuple[str, ...], Meta(description="A record type that is ours to write; may be repeated.")
    ] = ("A", "AAAA", "CNAME")
    exclude_record_types: Annotated[
        tuple[str, ...], Meta(description="A record type that is not ours to write; may be repeated.")
    ] = ()
    domain_filter: Annotated[tuple[str, ...], Meta(description="Only names under this domain; may be repeated.")] = ()
    exclude_domains: Annotated[tuple[str, ...], Meta(description="No names under this domain; may be repeated.")] = ()
    regex_domain_filter: Annotated[
        str, Meta(description="Only names that this regular expression finds; replaces --domain-filter.")
    ] = ""
    regex_domain_exclusion: Annotated[str, Meta(description="No names that this regular expression finds.")] = ""
    policy: Annotated[str, Meta(description="What a plan may do: sync, upsert-only or create-only.")] = "sync"
    max_removal_share: Annotated[
        float, Meta(description="The largest share of the own records that one plan may delete or point elsewhere.")
    ] = 0.3
    removal_free_count: Annotated[
        int, Meta(description="How many own records there must be before that share counts.")
    ] = 10
    delete_grace: Annotated[
        int,
        Meta(
            description="How long, in seconds or like 10m, a record stays whose object may still want it, as when its "
            "Gateway has lost its address; 0 keeps it until that is certain."
        ),
    ] = 0
    events_emit: Annotated[
        tuple[str, ...],
        Meta(
            description="A Kubernetes event to tell on the objects behind a record: RecordReady or RecordDeleted; may "
            "be repeated. RecordError is told always."
        ),
    ] = ()

    registry: Annotated[
        str,
        Meta(
            description="Where it is kept which records are ours: txt (in the zone itself), dynamodb (a table), crd "
            "(DNSRecords in the cluster) or noop (nowhere)."
        ),
    ] = "txt"
    txt_owner_id: Annotated[
        str, Meta(description="Our name wherever ownership is kept; no other instance may use it in these zones.")
    ] = "default"
    txt_prefix: Annotated[
        str, Meta(description="Prefix of the names of TXT records of ownership; %{record_type} stands for the type.")
    ] = ""
    txt_suffix: Annotated[
        str, Meta(description="Suffix of the first label of TXT records of ownership; not together with a prefix.")
    ] = ""
    txt_wildcard_replacement: Annotated[
        str,
        Meta(
            description="What stands for the asterisk in names of TXT records of ownership; empty keeps the asterisk."
        ),
    ] = "_wildcard"
    txt_encrypt_enabled: Annotated[bool, Meta(description="Encrypt the texts of TXT records of ownership.")] = False
    txt_encrypt_aes_key: Annotated[
        str,
        Meta(
            description="Key for them: 32 characters, or 32 bytes in base64; better given by the environment. With a "
            "key alone, encrypted texts are read and plain ones written."
        ),
    ] = ""
    migrate_from_txt_owner: Annotated[str, Meta(description="Take over the records of this former owner.")] = ""

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
        return self.txt_owner_id if self.registry != "noop" else ""

    @property
    def reach(self) -> Reach:
        return Reach(self.nat64_networks, self.target_net_filter, self.exclude_target_net, self.record_types)

    def remarks(self) -> tuple[str, ...]:
        """What is written in these settings and does not count, each a line.

        Source: external-dns, which skips networks that it cannot read.
        """
        return tuple(
            f"{flag}: found {text!r}, wanted a network like 192.0.2.0/24; it does not count"
            for flag, texts in (
                ("--target-net-filter", self.target_net_filter),
                ("--exclude-target-net", self.exclude_target_net),
            )
            for text in texts
            if network_of(text) is None
        )

    def check(self) -> tuple[str, ...]:
        """What is wrong with these settings, each a line that names the flag, what was found and what was wanted."""
        return (
            *self._check_choices(),
            *self._check_selectors(),
            *self._check_domains(),
            *self._check_owners(),
            *self._check_networks(),
            *self._check_expressions(),
            *self._check_combinations(),
            *self._check_registry(),
        )

    def _check_choices(self) -> Iterator[str]:
        if not self.sources:
            yield f"--source: none was given, wanted at least one of {', '.join(SOURCES)}"
        for source in self.sources:
            if source not in SOURCES:
                whose = ", which only external-dns reads" if source in _SOURCES_OF_EXTERNAL_DNS else ""
                yield f"--source: found {source!r}{whose}, wanted one of {', '.join(SOURCES)}"
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
        for event in self.events_emit:
            if event not in EVENTS:
                yield f"--events-emit: found {event!r}, wanted one of {', '.join(EVENTS)}"

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

    def _check_owners(self) -> Iterator[str]:
        for flag, owner in (
            ("--txt-owner-id", self.txt_owner_id),
            ("--migrate-from-txt-owner", self.migrate_from_txt_owner),
        ):
            if any(letter in owner for letter in ',"\\'):
                yield f"{flag}: found {owner!r}, wanted a name without commas, quotes and backslashes"

    def _check_domains(self) -> Iterator[str]:
        for flag, texts in (("--domain-filter", self.domain_filter), ("--exclude-domains", self.exclude_domains)):
            for text in texts:
                if "," in text or " " in text.strip():
                    yield f"{flag}: found {text!r}, wanted one domain; give the flag once for each"

    def _check_networks(self) -> Iterator[str]:
        for text in self.nat64_networks:
            network = network_of(text)
            if not isinstance(network, IPv6Network) or network.prefixlen != _NAT64_BITS:
                yield f"--nat64-networks: found {text!r}, wanted an IPv6 network with a prefix of 96 bits"

    def _check_expressions(self) -> Iterator[str]:
        for flag, text in (
            ("--regex-domain-filter", self.regex_domain_filter),
            ("--regex-domain-exclusion", self.regex_domain_exclusion),
        ):
            try:
                compiled(text)
            except BadExpression as error:
                yield f"{flag}: found {text!r}, wanted a regular expression: {error}"

    def _check_combinations(self) -> Iterator[str]:
        if self.annotation_prefix is not None and not self.annotation_prefix.endswith("/"):
            yield f"--annotation-prefix: found {self.annotation_prefix!r}, wanted a text that ends with '/'"
        if self.ignore_hostname_annotation and not self.has_template:
            yield "--ignore-hostname-annotation: needs --fqdn-template, the only other place that names come from"
        if self.create_ptr and "PTR" not in self.managed_record_types:
            yield "--create-ptr: needs PTR among --managed-record-types"
        if self.min_ttl < 0:
            yield f"--min-ttl: found {self.min_ttl}, wanted 0 or more seconds"
        if self.delete_grace < 0:
            yield f"--delete-grace: found {self.delete_grace}, wanted 0 or more seconds"
        if not 0 < self.max_removal_share <= 1:
            yield f"--max-removal-share: found {self.max_removal_share}, wanted more than 0 and at most 1"

    def _check_registry(self) -> Iterator[str]:
        if self.txt_prefix and self.txt_suffix:
            yield "--txt-prefix and --txt-suffix: give one of them, not both"
        if self.registry == "aws-sd":
            yield "--registry: aws-sd goes with the provider aws-sd (Cloud Map), which gatepost does not have"
        if self.registry != "noop" and not self.txt_owner_id:
            yield "--txt-owner-id: found nothing, wanted a name that no other instance uses in these zones"
        if self.migrate_from_txt_owner and self.migrate_from_txt_owner == self.owner:
            yield f"--migrate-from-txt-owner: found {self.owner!r}, which is our own name, wanted that of another"
        if self.migrate_from_txt_owner and self.registry != "txt":
            yield "--migrate-from-txt-owner: needs --registry txt, in whose records that owner stands"
        # What was given must not be shown: it may be a key all but for a typing error.
        if self.txt_encrypt_aes_key and self.aes_key is None:
            yield "--txt-encrypt-aes-key: found something else, wanted 32 characters, or 32 bytes in base64"
        if self.txt_encrypt_enabled and not self.txt_encrypt_aes_key:
            yield "--txt-encrypt-enabled: needs --txt-encrypt-aes-key"

    @property
    def aes_key(self) -> bytes | None:
        """The key for the texts of ownership records, None if there is none or it cannot be read.

        Source: external-dns reads base64 in its ordinary alphabet and documents the one for URLs; both are read here.
        """
        text = self.txt_encrypt_aes_key.encode()
        if len(text) != _AES_KEY_BYTES:
            try:
                text = b64decode(text.translate(_ORDINARY_ALPHABET), validate=True)
            except ValueError:
                return None
        return text if len(text) == _AES_KEY_BYTES else None

    @property
    def has_template(self) -> bool:
        return any(text.strip() for text in self.fqdn_template)
