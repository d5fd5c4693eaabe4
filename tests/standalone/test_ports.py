"""Free ports, and the errors when they are not."""

from __future__ import annotations

import socket

import pytest

from gatepost.standalone.errors import AddressUnusableError, PortTakenError
from gatepost.standalone.ports import bind_udp_and_tcp, free_ports, require_free


def test_free_ports_can_be_listened_on_and_are_different() -> None:
    ports = free_ports(5)
    assert len(set(ports)) == 5
    for port in ports:
        require_free("a server", port)


def test_a_port_that_someone_listens_on_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(PortTakenError, match=f"a server: TCP port {port} on 127.0.0.1 is already taken"):
            require_free("a server", port)
        require_free("a server", port, "127.0.0.2")  # another address


def test_udp_and_tcp_get_the_same_number() -> None:
    udp, tcp = bind_udp_and_tcp("a server", "127.0.0.1", 0)
    with udp, tcp:
        assert udp.getsockname() == tcp.getsockname()
        assert (udp.type, tcp.type) == (socket.SOCK_DGRAM, socket.SOCK_STREAM)


def test_an_address_that_is_not_of_this_machine_is_told() -> None:
    with pytest.raises(AddressUnusableError, match=r"a server: cannot listen on 192\.0\.2\.1 port 53"):
        bind_udp_and_tcp("a server", "192.0.2.1", 53)
