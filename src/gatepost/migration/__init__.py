"""Moving the Services of Routes off ExternalName, and back: what stands there, which steps lead on, why some may not.

In: the Services with the label of a Route, that Route, its KIngress and what its status leads to.
Out: a `Migration` for each of them: what was found, steps in order, reasons to leave it alone. Values only.
Never: a write, nor the deletion of a Service; `runtime.migrating` carries steps out, each checked before the next.
Read `rules.py` first, then `forward.py`.
"""
