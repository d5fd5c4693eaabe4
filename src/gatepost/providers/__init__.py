"""DNS providers: the edge between a plan and the servers that hold the zones.

In: `Changes` of record sets. Out: the record sets that a provider holds, and how each change went.
Never: a decision on what should be published or deleted; that is the plan's.
Read `contract.py` first.
"""
