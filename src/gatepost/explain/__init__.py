"""From what each step left behind to "why": what serves a name, or which object and field keep it from being served.

In: an engine in which the rules have come to rest. Out: values (`Explanation`, `ObjectExplanation`), and lines of text
made from them.
Never: a rule run, a wish or a reason of its own where a rule has left one; problems are found, not composed again.
Read `values.py` first, then `hostname.py` (one name) and `one_object.py` (one object), then `text.py`.
"""
