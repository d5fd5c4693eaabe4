"""The provider aws: the hosted zones of Route 53.

In: changes of records. Out: change batches that Route 53 makes whole or not at all.
Never: a record over one that somebody else has changed meanwhile: an update deletes the record set exactly as it was
read and creates the new one in the same batch, which Route 53 refuses where the first half does not fit.
Read `provider.py` first.
"""
