"""What gatepost costs: the first pass from bytes to endpoints, and the work after one change.

`make bench` runs each size in a process of its own, prints a table and writes `bench/results/latest.json`.
Read `objects.py` for the data and `measure.py` for what is timed.
"""
