"""The writing of DNS: when names are planned, what is sent to a provider, and what becomes of changes that fail.

In: record sets that came out otherwise. Out: changes to one provider, events and problems to tell.
Never: the choice of what a name should hold; that is in `gatepost.dns`.
Read `publisher.py` first (when), then `zones.py` (what), which leads along this way:

    publisher -> zones -> planning -> sending, or claiming where a registry beside DNS is used
                   |-> served_zones -> rereading    zones that could not be read
                   |-> quarantine, doubts           names that wait for a moment of their own
                   |-> left_overs                   ownership without a record, which goes

`preview.py` makes the plan for people to look at, without sending; `providers.py`, `registries.py` and `pace.py` are
what the command line can choose.
"""
