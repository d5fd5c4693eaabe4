"""From objects to claims on names.

In: Gateways, ListenerSets, Routes, DNSEndpoints and what Knative has, through a View. Out: `Claims`, with a reason for
everything that gave nothing.
Never: a look at other claims, or at what a provider holds.
Read `routes.py` first; `parents.py` and `offers.py` prepare what it reads.
"""
