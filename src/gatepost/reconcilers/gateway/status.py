"""The status of a KIngress while a pass marks it.

| situation                              | NetworkConfigured | LoadBalancerReady         | Ready                   |
| no route is served yet                 | Unknown           | Unknown Uninitialized     | the same                |
| some are, others not                   | True              | Unknown Uninitialized     | the same                |
| all are, addresses known               | True              | True                      | True                    |
| a Gateway without Service is not there | as the routes say | False GatewayDoesNotExist | the same                |
| such a Gateway has no address          | True              | Unknown Uninitialized     | Unknown, failed         |
| a route is someone else's              | False NotOwned    | Unknown Uninitialized     | False NotOwned          |
| a TLS listener is someone else's       | False             | as otherwise              | False HostnameConflict  |
| a backend is an ExternalName Service   | False             | Unknown Uninitialized     | False ExternalNameBackend |
| TLS listeners to redirect to are not up | as the routes say | Unknown, that reason      | the same                |
| anything else that ends the pass       | as it was         | as it was                 | Unknown, failed         |
Failed is the reason ReconcileIngressFailed.
"""

from __future__ import annotations

from typing import Any

from gatepost.objects.conditions import ConditionSet
from gatepost.objects.networking import KIngress, LoadBalancerIngress
from gatepost.objects.problems import Problem
from gatepost.reconcilers.gateway import problems
from gatepost.writes.outcome import condition_fields, raw

READY = "Ready"
NETWORK_CONFIGURED = "NetworkConfigured"
LOAD_BALANCER_READY = "LoadBalancerReady"


class Status:
    """Conditions and load balancers of one KIngress. What is not marked stays as it was."""

    def __init__(self, kingress: KIngress) -> None:
        self._generation = kingress.metadata.generation
        self._conditions = ConditionSet(READY, (NETWORK_CONFIGURED, LOAD_BALANCER_READY), kingress.status.conditions)
        self._conditions.initialize()
        self._load_balancers: dict[str, LoadBalancerIngress] = {}
        self.is_held = False
        self._waiting_for = (problems.UNINITIALIZED, problems.WAITING_FOR_LOAD_BALANCER)

    def forget_refusal(self) -> None:
        """NetworkConfigured starts anew if something was refused before: it may be ours by now."""
        present = self._conditions.get(NETWORK_CONFIGURED)
        if present is not None and present.status == "False":
            self._conditions.mark_unknown(NETWORK_CONFIGURED, "", "")

    def route_served(self) -> None:
        """One route does; as with net-gateway-api that is enough for this condition."""
        self._conditions.mark_true(NETWORK_CONFIGURED)

    def route_waiting(self) -> None:
        self._conditions.mark_unknown(READY, problems.HTTP_ROUTE_NOT_READY, "Waiting for HTTPRoute becomes Ready.")

    def refused(self, problem: Problem) -> None:
        """Something that the KIngress needs is someone else's."""
        self._conditions.mark_false(NETWORK_CONFIGURED, problem.reason, problem.message)

        self.is_held = True

    def not_redirected(self, why: str) -> None:
        """Plain requests are served where a redirect is asked for. That is told, but keeps nothing from being Ready."""
        present = self._conditions.get(NETWORK_CONFIGURED)
        if present is not None and present.status == "True":
            self._conditions.mark_true(NETWORK_CONFIGURED, problems.NO_TLS_TO_REDIRECT_TO, why)

    def hold(self, reason: str, why: str) -> None:
        """All routes are served, but something that the KIngress asks for is still to come."""
        self._waiting_for = (reason, why)
        self.is_held = True

    def load_balancer_waiting(self) -> None:
        self._conditions.mark_unknown(LOAD_BALANCER_READY, *self._waiting_for)

    def load_balancer_missing(self, problem: Problem) -> None:
        self._conditions.mark_false(LOAD_BALANCER_READY, problem.reason, problem.message)

    def load_balancers_ready(self, public: LoadBalancerIngress, private: LoadBalancerIngress) -> None:
        """Both are told whatever the visibility of the rules; one entry each, since Knative reads no more."""
        self._conditions.mark_true(LOAD_BALANCER_READY)
        self._load_balancers = {"publicLoadBalancer": public, "privateLoadBalancer": private}

    def failed(self, problem: Problem) -> None:
        """The pass ends before its end. What the owner of the KIngress can mend is told right here."""
        told = f": {problem}" if problem.reason in problems.TOLD_IN_FULL else ""
        message = f"{problems.RECONCILE_FAILED_MESSAGE}{told}"
        self._conditions.mark_unknown(READY, problems.RECONCILE_FAILED, message)

    def fields(self) -> dict[str, Any]:
        """The wish for the status. Load balancers that were told once stay told while readiness is lost."""
        balancers = {name: {"ingress": [raw(entry)]} for name, entry in self._load_balancers.items()}
        conditions = condition_fields(self._conditions.result())
        return {"conditions": conditions, "observedGeneration": self._generation, **balancers}
