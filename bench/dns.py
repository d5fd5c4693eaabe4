"""Times the way from a changed Route to the answer of a DNS server, in zones of several sizes.

The loop runs as in `gatepost run`, with objects from memory in place of a cluster; a client asks the server over UDP
until it has the answer. Each change moves a Route to another name: two record sets go (the record and its ownership
record), two come. BIND runs in its own process. Read `dns_measure.py` for what is timed.
"""

from __future__ import annotations

import argparse
import asyncio
import pathlib
import subprocess
import sys
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table

from bench.dns_measure import MEASURED, Result
from bench.dns_world import is_there

RESULTS = pathlib.Path(__file__).parent / "results" / "dns.json"


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-dns ARGS=")
    parser.add_argument("--sizes", default="100,10000,50000", help="numbers of record sets, separated by commas")
    parser.add_argument("--servers", default="embedded,bind", help="which servers, separated by commas")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        server, size = arguments.one
        result: Any = MEASURED[server](int(size))
        sys.stdout.buffer.write(msgspec.json.encode(asyncio.run(result)))
        return
    servers = [server for server in arguments.servers.split(",") if is_there(server)]
    sizes = [int(size) for size in arguments.sizes.split(",")]
    results = [measured_apart(server, size) for server in servers for size in sizes]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=2) + b"\n")
    print_table(results)


def measured_apart(server: str, size: int) -> Result:
    """A fresh process: memory and caches of one size must not colour the next."""
    command = [sys.executable, "-m", "bench.dns", "--one", server, str(size)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=Result)


def print_table(results: list[Result]) -> None:
    table = Table(title="From a changed Route to the answer of the DNS server", title_justify="left")
    table.add_column("")
    for result in results:
        table.add_column(f"{result.server}\n{result.records:,}", justify="right")
    rows = {
        "a change, ms (median / p99)": [f"{r.median_ms:.1f} / {r.p99_ms:.1f}" for r in results],
        "up to the message, ms": [f"{r.own_ms:.1f}" for r in results],
        "calls for a change": [f"{r.calls_per_change:.1f}" if r.calls_per_change else "-" for r in results],
        "octets for a change": [f"{r.octets_per_change:,.0f}" if r.calls_per_change else "-" for r in results],
        "the start, s": [f"{r.start_seconds:.2f}" for r in results],
        "a comparison, s": [f"{r.comparison_seconds:.2f}" for r in results],
        "its longest stall, ms of CPU": [f"{r.stall_ms:.0f}" for r in results],
        "memory, MiB": [f"{r.memory_mib:.0f}" for r in results],
    }
    for name, cells in rows.items():
        table.add_row(name, *cells)
    Console(width=None if sys.stdout.isatty() else 120).print(table)


if __name__ == "__main__":
    main()
