"""How the Kubernetes API behaves, as functions of values: what a server does with what a client sends.

In: raw objects (JSON-like mappings), the table of resources, a clock and a source of uids as arguments.
Out: the objects as a server would store them, the changes in order, or an ApiError with the field that is wrong.
Never: sockets, files, a clock or randomness of its own, or a change to a mapping that was handed in or out.
`gatepost render` and the embedded API server both stand on it. Read `api.py` first, then `writing.py`.
"""
