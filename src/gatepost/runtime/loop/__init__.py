"""The loop against a cluster: objects come in, stale rules run, and outcomes that changed are written.

In: objects and what is known of their kinds, from a feed. Out: outcomes to whoever writes them, changed record sets to
a publisher. Never: the Kubernetes API or DNS itself; both are edges that it is given (`edges.py`).
Read `loop.py` first, then along the way: `intake.py`, `passes.py`, `workers.py`. `kinds.py` holds what may be concluded
from an object that is not there.
"""
