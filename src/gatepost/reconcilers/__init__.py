"""Reconcilers: one folder a kind. Each states the whole wish for one object, whatever event woke it.

In: objects through a View. Out: an `Outcome`: objects to apply, status, events, problems.
Never: I/O, a clock, or a look into another reconciler's folder; what they share stands in files beside them.
Read `domainmapping/reconcile.py` first.
"""
