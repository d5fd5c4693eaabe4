"""The provider cloudflare: zones at Cloudflare, by its official library (the extra `cloudflare`).

In: changes of records. Out: batches that Cloudflare makes whole or not at all, with one result for each record.
Never: a record set over one that somebody else has changed meanwhile (as far as reading just before can tell).
Read `provider.py` first; `records.py` says how records and properties are spelled on both sides.
"""
