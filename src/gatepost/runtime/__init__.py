"""gatepost at work: the rules run against a cluster, or offline over manifests, and what comes out is written.

In: objects from a cluster or from files. Out: writes to a cluster and to DNS, or a rendering.
Never: a rule; what should be is decided in `reconcilers` and `dns`.
Read `wiring.py` first (which rules there are), then `controllers.py` (how the parts below go together).

    loop/         objects in -> stale rules run -> outcomes that changed are written to the cluster
    dns/          record sets that changed -> plan -> DNS provider
    leadership/   which of several replicas may write
    offline/      the same rules over manifests, with a model of the API server in the place of a cluster
    metrics/      what all these counted, for Prometheus
"""
