"""The provider octodns: any target of octoDNS, for the DNS services that gatepost does not speak to itself.

In: changes of records, and a file of octoDNS that names the target. Out: plans of octoDNS with these changes alone.
Never: a change to a record that gatepost's plan does not name, or to one with values that endpoints lack (pools, geo).
Its unit is the zone: each write reads the zone twice before, and is seconds slower than the other providers.
Read `provider.py` first; `records.py` says how records are spelled on both sides.
"""
