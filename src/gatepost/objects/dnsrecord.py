"""The DNSRecord of externaldns.k8s.io: one record that a registry has written down, with its owner."""

from __future__ import annotations

from typing import ClassVar

from gatepost.objects.dnsendpoint import WrittenEndpoint
from gatepost.objects.meta import Condition, Kind, KubernetesObject, Shape

OWNER_LABEL = "externaldns.k8s.io/owner"
READY = "Ready"


class DNSRecordSpec(Shape, frozen=True):
    endpoint: WrittenEndpoint = WrittenEndpoint()


class DNSRecordStatus(Shape, frozen=True):
    conditions: tuple[Condition, ...] = ()


class DNSRecord(KubernetesObject, frozen=True, kw_only=True):
    KIND: ClassVar = Kind("externaldns.k8s.io", "DNSRecord", "dnsrecords", ("v1alpha1",))

    spec: DNSRecordSpec = DNSRecordSpec()
    status: DNSRecordStatus = DNSRecordStatus()
