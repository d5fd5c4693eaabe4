"""What the settings make of the records of a name, before and after its claims are settled.

In: a claim, or the settled records of one name. Out: what is left of it, with a reason for each that is left out.
Never: a look at another name, but for `ptr.py`, which joins the names of an address.
Read `chain.py` first: it holds the order of the steps. `default_targets.py` and `reach.py` come before it, since they
decide what a claim wants.
"""
