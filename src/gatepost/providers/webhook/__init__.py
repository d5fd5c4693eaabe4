"""The webhook protocol of external-dns, from both sides.

In: a plan's changes for a provider that another process serves (`client.py`); requests of external-dns for a provider
of gatepost (`server.py`). Out: JSON over HTTP, to the byte as external-dns writes and reads it (`wire.py`).
Never: a retry of a change (the next comparison knows what became of it), or half a listing.
Read `wire.py` first.
"""
