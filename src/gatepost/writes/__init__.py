"""What should change, as values: objects to apply and delete, status, finalizers, events.

In: the wish of a reconciler (`Outcome`). Out: the object as it should be, set against
what is there, and the order of the steps.
Never: a call to a cluster; the edges carry writes out.
Read `outcome.py` first, then `compare.py` and `steps.py`.
"""
