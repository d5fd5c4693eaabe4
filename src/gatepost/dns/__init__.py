"""From routes and gateways to DNS records, as pure rules.

In: typed objects through a View; records as the provider reports them. Out: claims on names, record sets (`Endpoint`),
and a plan of `Changes` in which each change carries its cause.
Never: I/O, a clock, or a deletion on doubt.
Read `endpoint.py` first, then `sources/`, `claims.py`, `plan.py`.
"""
