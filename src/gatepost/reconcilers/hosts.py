"""Names of hosts: what makes a domain, and the names of a Service inside the cluster."""

from __future__ import annotations

import re

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_LABEL_LIMIT = 63
_NAME_LIMIT = 253


def domain_fault(name: str) -> str:
    """What a text lacks to be a fully qualified domain, "" if it is one.

    Source: DNS labels as in RFC 1123; two labels at least, as Knative asks of every domain.
    """
    if "*" in name:
        return "a domain without wildcard"
    labels = name.split(".")
    if len(labels) < 2:
        return "a fully qualified domain of two labels at least"
    if len(name) > _NAME_LIMIT:
        return f"a domain of {_NAME_LIMIT} characters at most"
    if not all(_LABEL.fullmatch(label) for label in labels):
        return f"a domain whose labels are lower-case letters, digits and inner dashes, {_LABEL_LIMIT} at most"
    return ""


def cluster_name(label: str, namespace: str, cluster_domain: str) -> str:
    """The full name of a Service inside the cluster, whatever templates say: that is how cluster DNS has it."""
    return f"{label}.{namespace}.svc.{cluster_domain}"


def cluster_local_hosts(label: str, namespace: str, cluster_domain: str) -> tuple[str, ...]:
    """The names under which clients in the cluster call a Service, sorted.

    A name whose last label is a number, or too long, is left out: no gateway takes it as a host.
    """
    names = (f"{label}.{namespace}", f"{label}.{namespace}.svc", cluster_name(label, namespace, cluster_domain))
    return tuple(sorted(name for name in names if _may_end_a_host(name.rpartition(".")[2])))


def _may_end_a_host(label: str) -> bool:
    is_number = "-" not in label and all(character <= "9" for character in label)
    return not is_number and len(label) <= _LABEL_LIMIT
