"""Real DNS servers for tests and for trying out: BIND, Knot and PowerDNS, each in a folder of its own, on loopback.

As a program (`make dns-up PROVIDER=bind|knot|pdns`) it starts one, says how to use it, and stops it on Ctrl-C.
"""

from __future__ import annotations

import argparse
import contextlib
import pathlib
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import dns.exception
import dns.message
import dns.query
import dns.rdatatype
import dns.tsig
import dns.zone

KEY_NAME = "gatepost"
KEY_SECRET = "c2VjcmV0IG9mIGEgdGVzdCwga25vd24gdG8gYWxs"
STRANGER_NAME = "stranger"  # a key that the servers know, and that may do nothing
ALGORITHMS = ("hmac-sha1", "hmac-sha224", "hmac-sha256", "hmac-sha384", "hmac-sha512")
API_KEY = "api-key-of-a-test"
ZONE = "example.com"

PROGRAMS = {"bind": ("named", "bind9"), "knot": ("knotd", "knot"), "pdns": ("pdns_server", "pdns-server")}
_PDNS_SCHEMAS = (
    "/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql",
    "/usr/share/doc/pdns-backend-sqlite3/schema.sqlite3.sql",
)
_START_SECONDS = 30.0
_STOP_SECONDS = 20.0


class CannotStart(Exception):
    """A server did not come up; the text has the end of its log."""


@dataclass
class TlsFiles:
    """A certificate with its key, and whose certificates clients must show ("" for none)."""

    certificate: pathlib.Path
    key: pathlib.Path
    clients: pathlib.Path | None = None


@dataclass
class DnsServer:
    """A running server.

    Attributes:
        closed: zones that it hands out to nobody.
        tls, tls_port: how and where it talks TLS, if it does (BIND).
        api_url: that of PowerDNS.
    """

    kind: str
    port: int
    folder: pathlib.Path
    zones: tuple[str, ...]
    closed: frozenset[str] = frozenset()
    tls: TlsFiles | None = None
    tls_port: int = 0
    api_url: str = ""
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def key(self) -> dns.tsig.Key:
        return dns.tsig.Key(KEY_NAME, KEY_SECRET, "hmac-sha256")

    def records(self, zone: str = ZONE) -> set[str]:
        """What the zone holds, read with dig: lines `name ttl type data`, without SOA and NS."""
        command = ["dig", "@127.0.0.1", "-p", str(self.port), zone, "AXFR", "+onesoa", "+noall", "+answer", "+nocrypto"]
        if self.kind != "pdns":
            command += ["-y", f"hmac-sha256:{KEY_NAME}:{KEY_SECRET}"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        lines = [line.split(maxsplit=4) for line in done.stdout.splitlines() if line and not line.startswith(";")]
        assert lines, f"dig gave no zone: {done.stdout}"
        return {f"{name} {ttl} {type_} {data}" for name, ttl, _, type_, data in lines if type_ not in ("SOA", "NS")}

    def answer(self, name: str, record_type: str) -> list[str]:
        """The data that the server answers with, sorted."""
        command = ["dig", "@127.0.0.1", "-p", str(self.port), name, record_type, "+short", "+norecurse"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        return sorted(done.stdout.split("\n")[:-1])


def zone_text(zone: str, records: Sequence[str] = ()) -> str:
    """A zone file with an SOA, a name server and these lines."""
    head = [
        f"$ORIGIN {zone}.",
        "$TTL 300",
        f"@ IN SOA ns1.{zone}. hostmaster.{zone}. 1 3600 600 86400 60",
        f"@ IN NS ns1.{zone}.",
        "ns1 IN A 127.0.0.1",
    ]
    return "\n".join([*head, *records]) + "\n"


@contextlib.contextmanager
def running(
    kind: str,
    zones: Mapping[str, Sequence[str]] | None = None,
    *,
    port: int = 0,
    closed: Sequence[str] = (),
    tls: TlsFiles | None = None,
) -> Iterator[DnsServer]:
    """A server that serves these zones (name -> lines of the zone file) until the block ends.

    Args: closed, tls: see `DnsServer`.
    Raises: CannotStart
    """
    zones = {ZONE: ()} if zones is None else zones
    with tempfile.TemporaryDirectory(prefix=f"gatepost-{kind}-") as name:
        folder = pathlib.Path(name)
        server = DnsServer(kind, port or free_port(), folder, tuple(zones), frozenset(closed), tls)
        for zone, records in zones.items():
            (folder / f"{zone}.zone").write_text(zone_text(zone, records))
        command = _COMMANDS[kind](server)
        log = folder / "log"
        with log.open("wb") as output:
            server.process = subprocess.Popen(
                command, cwd=folder, stdout=output, stderr=output, stdin=subprocess.DEVNULL
            )
        try:
            _wait_until(lambda: _answers(server), server.process, log)
            yield server
        finally:
            _stop(server.process)


def missing(kind: str) -> str:
    """Why a server cannot be started here, "" if it can."""
    program, package = PROGRAMS[kind]
    if shutil.which("dig") is None:
        return "dig is not installed (Debian package bind9-dnsutils)"
    if shutil.which(program, path=_PATH) is None:
        return f"{program} is not installed (Debian package {package})"
    if kind == "pdns" and _pdns_schema() is None:
        return "the schema of PowerDNS for SQLite is missing (Debian package pdns-backend-sqlite3)"
    return ""


def needs(kind: str) -> None:
    """Skips the test that asks if it cannot have that server."""
    import pytest  # not needed to try a server out

    reason = missing(kind)
    if reason:
        pytest.skip(reason)


def free_port() -> int:
    """A port of loopback that is free for both UDP and TCP."""
    for _ in range(50):
        with (
            socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp,
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        ):
            tcp.bind(("127.0.0.1", 0))
            port = int(tcp.getsockname()[1])
            with contextlib.suppress(OSError):
                udp.bind(("127.0.0.1", port))
                return port
    raise CannotStart("no port of 127.0.0.1 is free for UDP and TCP")


def key_name(algorithm: str) -> str:
    """The name of the key that may write and read, for each algorithm; `KEY_NAME` is one more of hmac-sha256."""
    return f"{KEY_NAME}-{algorithm}"


# How each is started

_WRITERS = {KEY_NAME: "hmac-sha256"} | {key_name(algorithm): algorithm for algorithm in ALGORITHMS}
_KEYS = _WRITERS | {STRANGER_NAME: "hmac-sha256"}
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def _program(kind: str) -> str:
    found = shutil.which(PROGRAMS[kind][0], path=_PATH)
    if found is None:
        raise CannotStart(missing(kind))
    return found


def _bind(server: DnsServer) -> list[str]:
    writers = " ".join(f"key {name};" for name in _WRITERS)
    zones = "".join(
        f'zone "{zone}" {{ type primary; file "{zone}.zone"; allow-update {{ {writers} }};'
        f" allow-transfer {{ {'none;' if zone in server.closed else writers} }}; }};\n"
        for zone in server.zones
    )
    keys = "".join(
        f'key "{name}" {{ algorithm {algorithm}; secret "{KEY_SECRET}"; }};\n' for name, algorithm in _KEYS.items()
    )
    tls, listening = "", ""
    if server.tls is not None:
        server.tls_port = free_port()
        clients = f'ca-file "{server.tls.clients}";' if server.tls.clients is not None else ""
        tls = f'tls own {{ cert-file "{server.tls.certificate}"; key-file "{server.tls.key}"; {clients} }};'
        listening = f"listen-on port {server.tls_port} tls own {{ 127.0.0.1; }};"
    config = f"""
{tls}
options {{
  {listening}
  directory "{server.folder}"; pid-file none; session-keyfile none; lock-file none;
  listen-on port {server.port} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }};
  recursion no; notify no; dnssec-validation no; minimal-responses yes;
}};
controls {{ }};
{keys}{zones}"""
    (server.folder / "named.conf").write_text(config)
    return [_program("bind"), "-g", "-n", "1", "-c", str(server.folder / "named.conf")]


def _knot(server: DnsServer) -> list[str]:
    (server.folder / "db").mkdir()
    keys = "".join(
        f"  - id: {name}\n    algorithm: {algorithm}\n    secret: {KEY_SECRET}\n" for name, algorithm in _KEYS.items()
    )
    zones = "".join(f"  - domain: {zone}\n    file: {zone}.zone\n    acl: gatepost\n" for zone in server.zones)
    config = f"""
server:
  listen: 127.0.0.1@{server.port}
  rundir: "{server.folder}"
  udp-workers: 1
  tcp-workers: 1
  background-workers: 1
database:
  storage: "{server.folder}/db"
  journal-db-max-size: 100M
control:
  listen: knot.sock
log:
  - target: stderr
    any: info
key:
{keys}acl:
  - id: gatepost
    key: [{", ".join(_WRITERS)}]
    action: [transfer, update]
template:
  - id: default
    storage: "{server.folder}"
    zonefile-sync: -1
    journal-content: all
    zonefile-load: difference
zone:
{zones}"""
    (server.folder / "knot.conf").write_text(config)
    return [_program("knot"), "-c", str(server.folder / "knot.conf")]


def _pdns(server: DnsServer) -> list[str]:
    schema = _pdns_schema()
    if schema is None:
        raise CannotStart(missing("pdns"))
    database = server.folder / "pdns.sqlite3"
    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.executescript(schema.read_text())
        for number, zone in enumerate(server.zones, 1):
            connection.execute("insert into domains (id, name, type) values (?, ?, 'NATIVE')", (number, zone))
            connection.executemany(
                "insert into records (domain_id, name, type, content, ttl, prio, auth) values (?, ?, ?, ?, ?, 0, 1)",
                [(number, *row) for row in _rows((server.folder / f"{zone}.zone").read_text(), zone)],
            )
        connection.commit()
    api_port = free_port()
    server.api_url = f"http://127.0.0.1:{api_port}"
    settings = {
        "launch": "gsqlite3",
        "gsqlite3-database": database,
        "local-address": "127.0.0.1",
        "local-port": server.port,
        "socket-dir": server.folder,
        "config-dir": server.folder,
        "api": "yes",
        "api-key": API_KEY,
        "webserver-address": "127.0.0.1",
        "webserver-port": api_port,
        "webserver-allow-from": "127.0.0.1",
        "allow-axfr-ips": "127.0.0.1",
        "cache-ttl": 0,
        "query-cache-ttl": 0,
        "negquery-cache-ttl": 0,
        "zone-cache-refresh-interval": 0,
        "resolver": "127.0.0.1:9",
        "expand-alias": "no",
        "guardian": "no",
        "daemon": "no",
        "security-poll-suffix": "",
    }
    return [_program("pdns"), *(f"--{name}={value}" for name, value in settings.items())]


def _rows(text: str, origin: str) -> Iterator[tuple[str, str, str, int]]:
    zone = dns.zone.from_text(text, origin, relativize=False)
    for name, ttl, rdata in zone.iterate_rdatas():
        content = rdata.to_text()
        yield (
            name.to_text(omit_final_dot=True),
            dns.rdatatype.to_text(rdata.rdtype),
            content if rdata.rdtype == dns.rdatatype.TXT else content.removesuffix("."),
            ttl,
        )


def _pdns_schema() -> pathlib.Path | None:
    return next((path for path in map(pathlib.Path, _PDNS_SCHEMAS) if path.exists()), None)


_COMMANDS = {"bind": _bind, "knot": _knot, "pdns": _pdns}

# Until it answers, until it is gone


def _answers(server: DnsServer) -> bool:
    return all(_knows(server, zone) for zone in server.zones) and (not server.api_url or _api_answers(server))


def _knows(server: DnsServer, zone: str) -> bool:
    query = dns.message.make_query(zone, "SOA")
    try:
        answer = dns.query.tcp(query, "127.0.0.1", timeout=2, port=server.port)
    except (OSError, EOFError, dns.exception.DNSException):
        return False
    return bool(answer.answer)


def _api_answers(server: DnsServer) -> bool:
    request = urllib.request.Request(f"{server.api_url}/api/v1/servers", headers={"X-API-Key": API_KEY})
    try:
        with urllib.request.urlopen(request, timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _wait_until(answers: object, process: subprocess.Popen[bytes], log: pathlib.Path) -> None:
    assert callable(answers)
    deadline = time.monotonic() + _START_SECONDS
    while not answers():
        if process.poll() is not None or time.monotonic() > deadline:
            raise CannotStart(f"{process.args!r} did not come up:\n{log.read_text(errors='replace')[-3000:]}")
        time.sleep(0.05)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ends the server that we started, gently first."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


# To try one out


def _usage(server: DnsServer) -> str:
    if server.kind == "pdns":
        flags = f"--provider pdns --pdns-server {server.api_url} --pdns-api-key {API_KEY}"
        dig = f"dig @127.0.0.1 -p {server.port} {ZONE} AXFR"
    else:
        flags = (
            f"--provider rfc2136 --rfc2136-host 127.0.0.1 --rfc2136-port {server.port} --rfc2136-zone {ZONE} \\\n"
            f"      --rfc2136-tsig-keyname {KEY_NAME} --rfc2136-tsig-secret {KEY_SECRET}"
        )
        dig = f"dig @127.0.0.1 -p {server.port} {ZONE} AXFR -y hmac-sha256:{KEY_NAME}:{KEY_SECRET}"
    return f"""{server.kind} serves {ZONE} on 127.0.0.1:{server.port}; its files are in {server.folder}.
  Let gatepost write to it:
    gatepost run --controllers none --source gateway-httproute {flags}
  See what it holds:
    {dig}
Ctrl-C stops it."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make dns-up PROVIDER=")
    parser.add_argument("kind", choices=sorted(PROGRAMS))
    parser.add_argument("--port", type=int, default=0, help="port of the DNS server; a free one by default")
    arguments = parser.parse_args()
    reason = missing(arguments.kind)
    if reason:
        print(f"dns-up: {reason}", file=sys.stderr)
        return 3
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with running(arguments.kind, port=arguments.port) as server:
            print(_usage(server), flush=True)
            assert server.process is not None
            return server.process.wait()
    except KeyboardInterrupt:
        print("stopped")
        return 0
    except CannotStart as error:
        print(f"dns-up: {error}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
