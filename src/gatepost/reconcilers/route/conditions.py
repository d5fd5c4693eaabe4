"""The conditions of a Route and their reasons, all of them Knative's."""

from __future__ import annotations

from gatepost.reconcilers.certificates import CERTIFICATE_PROVISIONED
from gatepost.reconcilers.kingress import INGRESS_READY

ALL_TRAFFIC_ASSIGNED = "AllTrafficAssigned"

DEPENDENTS = (ALL_TRAFFIC_ASSIGNED, INGRESS_READY, CERTIFICATE_PROVISIONED)

CONFIGURATION_MISSING = "ConfigurationMissing"
REVISION_MISSING = "RevisionMissing"
REVISION_NOT_OWNED = "RevisionNotOwned"
ERROR_CONFIG = "ErrorConfig"
ROLLOUT_IN_PROGRESS = "RolloutInProgress"
