"""The edge to a Kubernetes cluster.

In: a kubeconfig or a service account; the kinds to watch; wishes (`Outcome`). Out: typed objects as they come and go,
each kind complete before it counts; writes that were planned in `gatepost.writes.requests`.
Never: a decision on what should be written, a write while `dry_run` is on, a write over an object that is not ours.
Read `client.py` first, then `reflector.py` and `writer.py`.
"""
