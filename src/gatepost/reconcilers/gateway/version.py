"""The version of a KIngress: the hash that a probe gets back from the data plane that serves it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from msgspec import UNSET, structs

from gatepost.objects.networking import (
    EXTERNAL_IP,
    KIngressPath,
    KIngressRule,
    KIngressSpec,
    KIngressSplit,
    KIngressTLS,
)

Raw = dict[str, Any]

# What Go's JSON encoder escapes beside the JSON standard.
_GO_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


def with_defaults(spec: KIngressSpec) -> KIngressSpec:
    """The spec as admission would have completed it: rules are external, and a lone split without a share gets all."""
    return structs.replace(spec, rules=tuple(_rule_with_defaults(rule) for rule in spec.rules))


def _rule_with_defaults(rule: KIngressRule) -> KIngressRule:
    http = rule.http
    if http is not None:
        http = structs.replace(http, paths=tuple(_path_with_defaults(path) for path in http.paths))
    return structs.replace(rule, visibility=rule.visibility or EXTERNAL_IP, http=http)


def _path_with_defaults(path: KIngressPath) -> KIngressPath:
    if len(path.splits) == 1 and path.splits[0].percent in (UNSET, 0):
        return structs.replace(path, splits=(structs.replace(path.splits[0], percent=100),))
    return path


def version_of(spec: KIngressSpec, namespace: str, name: str) -> str:
    """The hash of a KIngress, in hex.

    Args:
        spec: with its defaults, hosts in the order given.
    Source: knative.dev/networking, ComputeHash of the Ingress. The conformance suite computes it too, so the JSON is
        that of Go to the byte: its order of fields, no blanks, empty values left out where the Go type says so.
    """
    text = json.dumps(_spec(spec), separators=(",", ":"), ensure_ascii=False).translate(_GO_ESCAPES)
    return hashlib.sha256(f"{text}{namespace}{name}".encode()).hexdigest()


def _spec(spec: KIngressSpec) -> Raw:
    return _filled(
        tls=[_tls(tls) for tls in spec.tls],
        rules=[_rule(rule) for rule in spec.rules],
        httpOption=spec.http_option,
    )


def _tls(tls: KIngressTLS) -> Raw:
    return _filled(hosts=list(tls.hosts), secretName=tls.secret_name, secretNamespace=tls.secret_namespace)


def _rule(rule: KIngressRule) -> Raw:
    fields = _filled(hosts=list(rule.hosts), visibility=rule.visibility)
    if rule.http is not None:
        fields["http"] = {"paths": [_path(path) for path in rule.http.paths]}
    return fields


def _path(path: KIngressPath) -> Raw:
    headers = {name: {"exact": match.exact} for name, match in sorted(path.headers.items())}
    return {
        **_filled(path=path.path, rewriteHost=path.rewrite_host, headers=headers),
        "splits": [_split(split) for split in path.splits],
        **_filled(appendHeaders=dict(sorted(path.append_headers.items()))),
    }


def _split(split: KIngressSplit) -> Raw:
    return {
        "serviceNamespace": split.service_namespace,
        "serviceName": split.service_name,
        "servicePort": split.service_port,
        **_filled(
            percent=split.percent if split.percent is not UNSET else 0,
            appendHeaders=dict(sorted(split.append_headers.items())),
        ),
    }


def _filled(**fields: Any) -> Raw:
    """The fields that are not empty, in the order given."""
    return {name: value for name, value in fields.items() if value}
