"""The loop: feed -> state -> stale runs -> rules -> writes and plan -> edges; offline, the same over manifests.

In: objects from a cluster or from files. Out: writes to a cluster and to DNS, or a rendering.
Never: a rule; what should be is decided in `reconcilers` and `dns`.
Read `wiring.py` first (which rules there are), then `offline.py`, and along the way of a cluster from `controllers.py`:

    clusterfeed -> intake -> passes -> workers                       loop.py puts these together
    record sets -> publisher -> zones -> planning -> sending         and this part of it writes DNS
"""
