"""gatepost in one process, for trying out, developing and testing: `gatepost up`.

In: nothing but a free port and, if kept, a data directory. Out: an embedded Kubernetes API server (`apiserver/`), a DNS
server (`dnsserver/`) and a real gateway as a child process (`dataplane/`), all on loopback addresses.
Never: a rule of Kubernetes, Knative or DNS of its own; these are edges, and the core does not know that it runs here.
Read `up.py` first.
"""
