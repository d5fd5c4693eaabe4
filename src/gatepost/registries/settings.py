"""The settings of the registries outside of DNS, flags of external-dns. Described as in DnsSettings."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class DynamoDbSettings(Struct, frozen=True, kw_only=True):
    """The table. Keys come from where the AWS command line takes them."""

    dynamodb_table: Annotated[
        str, Meta(description="Table of DynamoDB that the registry dynamodb keeps ownership in.")
    ] = "external-dns"
    dynamodb_region: Annotated[
        str, Meta(description="Region of that table; by default that of the AWS configuration.")
    ] = ""


class CrdRegistrySettings(Struct, frozen=True, kw_only=True):
    """Where DNSRecords are."""

    crd_registry_namespace: Annotated[
        str,
        Meta(
            description="Namespace of the DNSRecords that the registry crd keeps ownership in; by default that of this "
            "Pod or, outside of the cluster, of the kubeconfig's context."
        ),
    ] = ""
