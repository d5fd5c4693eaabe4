"""A webhook provider on the standard library alone, as strict as the strictest that the protocol allows.

It shares no code with gatepost. It takes the media type to the letter, keeps no labels, gives a TTL to what has none,
and takes a batch whole or not at all.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TYPE = "application/external.dns.webhook+json;version=1"

Raw = dict[str, Any]


class StrictWebhook(ThreadingHTTPServer):
    """One zone in memory, every request noted."""

    def __init__(self, domain: str = "example.com") -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.domain = domain
        self.held: dict[tuple[str, str, str], Raw] = {}
        self.requests: list[str] = []
        self.faults: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def adjusted(self, endpoint: Raw) -> Raw:
        return {"recordTTL": 300, **endpoint}

    def take(self, changes: Raw) -> None:
        """Raises: ValueError if any part does not fit what is there; nothing is changed then."""
        held = dict(self.held)
        for old in (*changes.get("delete", ()), *changes.get("updateOld", ())):
            there = held.pop(_key(old), None)
            if there is None or there["targets"] != old["targets"]:
                raise ValueError(f"{old['dnsName']}: not there with these targets")
        for new in (*changes.get("updateNew", ()), *changes.get("create", ())):
            if _key(new) in held:
                raise ValueError(f"{new['dnsName']}: is there already")
            held[_key(new)] = {key: value for key, value in self.adjusted(new).items() if key != "labels"}
        self.held = held

    def targets(self) -> dict[tuple[str, str], list[str]]:
        return {(name, type_): record["targets"] for (name, type_, _), record in self.held.items()}


class _Handler(BaseHTTPRequestHandler):
    server: StrictWebhook

    def do_GET(self) -> None:
        self._note()
        if self.headers["Accept"] != TYPE:
            self._fault(f"Accept {self.headers['Accept']!r}")
        elif self.path == "/":
            self._answer({"include": [self.server.domain]})
        elif self.path == "/records":
            self._answer(list(self.server.held.values()))
        else:
            self._fault(self.path)

    def do_POST(self) -> None:
        self._note()
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers["Content-Type"] != TYPE:
            self._fault(f"Content-Type {self.headers['Content-Type']!r}")
        elif self.path == "/adjustendpoints" and self.headers["Accept"] == TYPE:
            self._answer([self.server.adjusted(endpoint) for endpoint in body])
        elif self.path == "/records":
            try:
                self.server.take(body)
            except ValueError as error:
                self.send_response(500)
                self.end_headers()
                self.wfile.write(str(error).encode())
            else:
                self.send_response(204)
                self.end_headers()
        else:
            self._fault(self.path)

    def _note(self) -> None:
        self.server.requests.append(f"{self.command} {self.path}")

    def _fault(self, what: str) -> None:
        self.server.faults.append(f"{self.command} {self.path}: {what}")
        self.send_error(415)

    def _answer(self, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", TYPE)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _key(endpoint: Raw) -> tuple[str, str, str]:
    return (endpoint["dnsName"], endpoint["recordType"], endpoint.get("setIdentifier", ""))


@contextmanager
def strict_webhook() -> Iterator[StrictWebhook]:
    """The provider, listening on loopback inside of the block; at its end nothing was asked of it in a wrong way."""
    with StrictWebhook() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
    assert server.faults == []
