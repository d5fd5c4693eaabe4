"""From routes and gateways to DNS records, as pure rules.

In: typed objects through a View; records as the provider reports them. Out: claims on names, record sets (`Endpoint`),
and a plan in which each change carries its cause.
Never: I/O, a clock, or a deletion on doubt.
Read `records.py` and `plan.py` first (the values on the way), then `sources/routes.py`, `claims.py`, `planner.py`;
`rules.py` wires all. `ownership/` is whose a record is, `wrappers/` what settings make of a record set.
"""
