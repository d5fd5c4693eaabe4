"""The loop: feed -> state -> stale runs -> rules -> writes and plan -> edges; offline, the same over manifests.

In: objects from a cluster or from files. Out: writes to a cluster and to DNS, or a rendering.
Never: a rule; what should be is decided in `reconcilers` and `dns`.
Read `wiring.py` first, then `offline.py` and the loop.
"""
