"""Knative's ConfigMaps, parsed once for all who read them: reconcilers and DNS sources.

In: a ConfigMap through a View. Out: a value with its defaults, or the Problem that keeps it from being understood.
Never: what follows from a setting; that is the business of who reads it.
Read `network.py` first.
"""
