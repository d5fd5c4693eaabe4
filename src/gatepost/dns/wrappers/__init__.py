"""What the settings make of the records of a name once its claims are settled.

In: the records of one name. Out: the records to publish, with a reason for each that is left out.
Never: a look at another name, but for `ptr.py`, which joins the names of an address.
Read `chain.py` first: it holds the order of the steps.
"""
