"""Which objects take part at all: the filters of the flags, compiled once."""

from __future__ import annotations

from gatepost.dns.annotations import CONTROLLER, AnnotationReader, Wishes
from gatepost.dns.settings import DnsSettings
from gatepost.kubernetes.selectors import label_matcher
from gatepost.objects.meta import KubernetesObject, ObjectMeta
from gatepost.objects.problems import Skipped
from gatepost.objects.refs import Ref


class Filters:
    """The filters of the flags. Each answers with None or with the reason why an object takes no part.

    Attributes:
        reader: reads the annotations of all objects.
        reach: what targets have to pass before they displace others, None if all do.
        of_targets: the same in words, for messages.
    Raises: BadSelector if a selector of the settings cannot be read; `DnsSettings.check` tells so before.
    """

    def __init__(self, settings: DnsSettings) -> None:
        self.reader = AnnotationReader(settings.annotation_prefix)
        # Forced default targets replace what is found, so what is found must not be left out before.
        self.reach = None if settings.reach.is_idle or settings.force_default_targets else settings.reach
        self.of_targets = self.reach.filters if self.reach is not None else ""
        self._settings = settings
        self._labels = label_matcher(settings.label_filter) if settings.label_filter else None
        self._annotations = label_matcher(settings.annotation_filter) if settings.annotation_filter else None
        self._gateway_labels = label_matcher(settings.gateway_label_filter)

    def against_object(self, ref: Ref, metadata: ObjectMeta) -> Skipped | None:
        """Why an object that claims names takes no part: --namespace, --label-filter and --annotation-filter."""
        if self._settings.namespace and ref.namespace != self._settings.namespace:
            return _filtered(ref, "metadata.namespace", "--namespace")
        if self._labels is not None and not self._labels(metadata.labels):
            return _filtered(ref, "metadata.labels", "--label-filter")
        if self._annotations is not None and not self._annotations(metadata.annotations):
            return _filtered(ref, "metadata.annotations", "--annotation-filter")
        return None

    def against_gateway(self, ref: Ref, gateway: KubernetesObject, wishes: Wishes) -> Skipped | None:
        """Why a Gateway takes no part, going by the --gateway-... flags and the controller annotation."""
        if self._settings.gateway_namespace and ref.namespace != self._settings.gateway_namespace:
            return _filtered(ref, "metadata.namespace", "--gateway-namespace")
        if self._settings.gateway_name and ref.name != self._settings.gateway_name:
            return _filtered(ref, "metadata.name", "--gateway-name")
        if not self._gateway_labels(gateway.metadata.labels):
            return _filtered(ref, "metadata.labels", "--gateway-label-filter")
        return against_controller(ref, wishes)


def against_controller(ref: Ref, wishes: Wishes) -> Skipped | None:
    """Why an object takes no part that an annotation gives to another controller."""
    if not wishes.is_for_another_controller:
        return None
    message = f"is for controller {wishes.controller!r}, this one is {CONTROLLER!r}"
    return Skipped("OtherController", message, ref, "metadata.annotations[controller]")


def _filtered(ref: Ref, field: str, flag: str) -> Skipped:
    return Skipped("FilteredOut", f"does not pass {flag}", ref, field)
