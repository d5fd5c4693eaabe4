"""The settings of the DNS part: the flags of external-dns under their names, and those of gatepost's own."""

from __future__ import annotations

from base64 import b64decode
from typing import Annotated

from msgspec import Meta, Struct

from gatepost.dns.domain_filter import DomainFilter, domain_filter
from gatepost.dns.settings_checks import wrong_settings
from gatepost.dns.wrappers.networks import network_of
from gatepost.dns.wrappers.reach import Reach

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
            "repeated. One that reads .Spec.Rules makes gatepost keep the rules of Routes, which takes memory."
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
        return wrong_settings(self)

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
