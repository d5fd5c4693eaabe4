"""Shapes: typed views of the Kubernetes kinds that gatepost reads, and the names of objects.

In: nothing. Out: structs with the fields that rules read, refs, conditions, problems. What rules read beside objects of
the cluster has the shape of one too: settings, answers of DNS, verdicts of probes, kinds that are not served.
Never: I/O, rules, or a change to an object that was read (all structs are frozen).
Read `refs.py` first, then `meta.py`.
"""
