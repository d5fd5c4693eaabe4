"""gatepost keeps the hostnames of a Kubernetes cluster served, from Knative and Gateway API to DNS."""

__version__ = "0.1.0"
