"""The conditions of a DomainMapping and their reasons. Reasons are Knative's, but for the one marked as ours."""

from __future__ import annotations

from gatepost.reconcilers.certificates import CERTIFICATE_PROVISIONED
from gatepost.reconcilers.kingress import INGRESS_READY

DOMAIN_CLAIMED = "DomainClaimed"
REFERENCE_RESOLVED = "ReferenceResolved"

DEPENDENTS = (DOMAIN_CLAIMED, REFERENCE_RESOLVED, INGRESS_READY, CERTIFICATE_PROVISIONED)

DOMAIN_ALREADY_CLAIMED = "DomainAlreadyClaimed"
DOMAIN_CLAIM_FAILED = "DomainClaimFailed"  # Knative has this reason but never gives it
RESOLVE_FAILED = "ResolveFailed"
CERTIFICATE_EXTERNALLY_PROVIDED = "CertificateExternallyProvided"

# Ours: Knative refuses such names at admission and so has no reason for them.
DOMAIN_NAME_INVALID = "DomainNameInvalid"
