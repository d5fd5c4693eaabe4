"""Who owns which record: where that is written down, how it is read, and how it follows each change.

In: what a provider lists, entries of a store outside of DNS. Out: the owner of a record; the changes that go with it.
Never: the choice of what a name holds; a record of another owner is told apart here and left alone by the plan.
Read `contract.py` first (what the inventory asks), then one of the two places that answer it:

    txt.py      in TXT records of the zone itself; `txt_format.py` has their names and texts, those of external-dns
    stored.py   in entries of a store beside DNS; `entries.py` has what happens to them around a change

`registry.py` picks the place that the settings name; `changes.py` adds ownership records to planned changes.
"""
