"""The scenarios of Knative's ingress conformance suite, against `gatepost up` with Traefik.

In: KIngresses, written through the Kubernetes API. Out: what real clients get of real servers through the gateway.
`cluster.py` is the hand on the Kubernetes API, `backends.py` the servers, `clients.py` the requests; `http2.py` and
`grpc.py` the protocols that aiohttp does not speak. A scenario is a test in one of the `test_...` files.
"""
