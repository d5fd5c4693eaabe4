"""The provider pdns: PowerDNS, by its HTTP API.

In: changes of records. Out: one PATCH for some hundred records of a zone, made whole or not at all by the server.
Never: a record set over one that somebody else has changed meanwhile (as far as reading just before can tell: the API
knows no conditions); the loss of records that were disabled when the zone was last listed.
Read `provider.py` first.
"""
