"""The heart: objects in a store, rules over recorded reads, and a memo that reruns only what a change touches.

In: typed objects as they come and go. Out: the value of each rule for each key, kept up to date.
Never: I/O, a clock of its own, or knowledge of what the rules are about.
Read `view.py` first (what a rule sees), then `engine.py` (what reruns when).
"""
