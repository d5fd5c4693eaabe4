"""Which of several replicas may write: an election over a Lease.

In: the Lease as it was read, a clock. Out: whether this process may write now.
Read `candidate.py` first (the decision, pure), then `leading.py` (the Lease tried again and again). `election.py` has
the flags.
"""
