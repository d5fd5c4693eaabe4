"""Whether somebody may do something: everybody may do everything here, since the server knows no users."""

from __future__ import annotations

from gatepost.kubernetes.values import Raw


def access_review(review: Raw) -> Raw:
    """The SelfSubjectAccessReview with its answer."""
    status = {"allowed": True, "reason": "the embedded API server knows no users and allows everything"}
    return {
        **review,
        "kind": "SelfSubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": review.get("metadata") or {"creationTimestamp": None},
        "status": status,
    }
