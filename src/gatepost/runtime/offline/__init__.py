"""Rules over manifests, with a model of the API server in the place of a cluster.

In: objects from files. Out: the objects as they are once nothing changes any more. Never: a call to anything outside.
Read `settle.py` first.
"""
