"""gRPC over HTTP/2: the framing, and the one message of the ping service, a text in field 1.

Source: gRPC over HTTP2 (PROTOCOL-HTTP2.md); Protocol Buffers wire format.
"""

from __future__ import annotations

from knative_ingress.http2 import Headers, Peer, Reset, Stream

PING_STREAM = "/ping.PingService/PingStream"
OK = "0"


def ping_request(authority: str) -> Headers:
    return [
        (":method", "POST"),
        (":scheme", "http"),
        (":authority", authority),
        (":path", PING_STREAM),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ]


def message(text: str) -> bytes:
    """A message with its prefix: not compressed, and its length."""
    content = text.encode()
    assert len(content) < 128, "longer texts have a longer length"
    body = bytes([0x0A, len(content)]) + content
    return b"\0" + len(body).to_bytes(4, "big") + body


class Texts:
    """The texts that arrive on a stream, one message each, however the frames cut them."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._left = b""

    async def next(self) -> str | None:
        """None at the end of the stream. Raises: Reset."""
        while len(self._left) < 5 or len(self._left) < 5 + int.from_bytes(self._left[1:5], "big"):
            piece = await self._stream.receive()
            if not piece:
                return None
            self._left += piece
        end = 5 + int.from_bytes(self._left[1:5], "big")
        body, self._left = self._left[5:end], self._left[end:]
        assert body[:1] == b"\x0a", body
        return body[2:].decode()


class Ping:
    """A stream of pings, from the client's side."""

    def __init__(self, peer: Peer, authority: str) -> None:
        self._stream = peer.open(ping_request(authority), end=False)
        self._texts = Texts(self._stream)
        self._status = ""

    async def round_trip(self, text: str) -> str:
        """Sends a text and returns the answer. Raises: Reset, AssertionError if it is not one of gRPC."""
        self._stream.send(message(text))
        if not self._status:
            headers = await self._stream.headers()
            self._status = headers[":status"]
            assert (self._status, headers.get("content-type")) == ("200", "application/grpc"), headers
        answer = await self._texts.next()
        if answer is None:
            raise Reset(f"the stream ended: {self._stream.trailers}")
        return answer

    async def close(self) -> str:
        """Ends the stream. Returns: its gRPC status."""
        self._stream.send(b"", end=True)
        assert await self._texts.next() is None
        return dict(self._stream.trailers)["grpc-status"]
