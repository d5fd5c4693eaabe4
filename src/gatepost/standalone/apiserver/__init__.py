"""An embedded Kubernetes API server: HTTP over the model of the API in `gatepost.kubernetes`.

In: requests of kubectl, Traefik, gatepost and other clients, on a loopback address; CustomResourceDefinitions; a data
directory if objects are to outlive the process. Out: answers, tables and watches as kube-apiserver gives them.
Never: authentication, TLS or an address that other machines reach; a rule about objects of its own (defaulting,
validation, merging and garbage collection are in `gatepost.kubernetes`).
Not done: CEL rules, webhooks, conversion other than of apiVersion, `scale`, answers in protobuf, and all that needs
nodes: pods do not run.
Read `server.py` first, then `storage.py` for the way of a write, `reads.py`, `writes.py` and `watches.py` for requests.
"""
