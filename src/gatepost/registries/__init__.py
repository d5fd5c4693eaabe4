"""Stores outside of DNS in which it is kept who owns which record.

In come claims on records and what became of them; out go all entries of the store, those of others too. A store never
looks at DNS, and never changes an entry of another owner. TXT records of ownership are no store: they are records, and
`dns/` plans them with the others.

Read first: `contract.py`.
"""
