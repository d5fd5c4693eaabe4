"""Free ports for servers that are started on this machine.

A port that is found free can be taken by someone else before it is used. Servers of our own process therefore bind
first and ask for the number afterwards; these functions are for numbers that have to be known before a child process
starts, and for the pair of UDP and TCP sockets that a DNS server needs on one number.
"""

from __future__ import annotations

import errno
import socket
from contextlib import ExitStack
from urllib.parse import urlsplit

from gatepost.standalone.errors import AddressUnusableError, PortTakenError

_PAIR_ATTEMPTS = 50


def free_ports(count: int, host: str = "127.0.0.1") -> tuple[int, ...]:
    """Different TCP ports of `host` that nobody listened on a moment ago."""
    with ExitStack() as held:
        # All are held until the last is known, so that no number comes twice.
        return tuple(held.enter_context(_bound("a free port", host, 0)).getsockname()[1] for _ in range(count))


def is_listened_on(url: str) -> bool:
    """Whether something accepts connections at the host and port of a URL."""
    parts = urlsplit(url)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=1.0):
            return True
    except (OSError, ValueError):
        return False


def require_free(purpose: str, port: int, host: str = "127.0.0.1") -> None:
    """Raises: PortTakenError, AddressUnusableError, naming `purpose`, if nobody could listen on the TCP port."""
    _bound(purpose, host, port).close()


def bind_udp_and_tcp(purpose: str, host: str, port: int) -> tuple[socket.socket, socket.socket]:
    """A UDP and a TCP socket on one port number, bound but not yet listening.

    Args:
        port: the number; 0 chooses one that is free for both.
    Raises: PortTakenError, AddressUnusableError.
    """
    for _ in range(_PAIR_ATTEMPTS):
        tcp = _bound(purpose, host, port)
        number: int = tcp.getsockname()[1]
        try:
            return _bound(purpose, host, number, socket.SOCK_DGRAM), tcp
        except PortTakenError:
            tcp.close()
            if port:
                raise
        except BaseException:
            tcp.close()
            raise
    raise PortTakenError(purpose, host, number, "UDP")


def _bound(purpose: str, host: str, port: int, kind: socket.SocketKind = socket.SOCK_STREAM) -> socket.socket:
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, kind)
    try:
        if kind == socket.SOCK_STREAM:
            # A connection of an earlier run in TIME_WAIT does not make the port taken; for UDP the option would let
            # two servers share a port unnoticed.
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        if kind == socket.SOCK_STREAM:
            # With SO_REUSEADDR two sockets can be bound to one port as long as neither listens.
            bound.listen(128)
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRINUSE:
            raise PortTakenError(purpose, host, port, _PROTOCOL[kind]) from error
        raise AddressUnusableError(purpose, host, port, error) from error
    bound.setblocking(False)  # noqa: FBT003 - the socket takes it in no other way
    return bound


_PROTOCOL = {socket.SOCK_STREAM: "TCP", socket.SOCK_DGRAM: "UDP"}
