"""`python -m bench`: measures every size in a process of its own, and prints and keeps the results."""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys

import msgspec
from rich.console import Console
from rich.table import Table

from bench.measure import Result, Timing, measure

RESULTS = pathlib.Path(__file__).parent / "results" / "latest.json"


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench ARGS=")
    parser.add_argument("--sizes", default="1000,10000,100000", help="numbers of HTTPRoutes, separated by commas")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        sys.stdout.buffer.write(msgspec.json.encode(measure(arguments.one)))
        return
    results = [measured_apart(int(size)) for size in arguments.sizes.split(",")]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=2) + b"\n")
    print_table(results)


def measured_apart(size: int) -> Result:
    """A fresh process: memory and caches of one size must not colour the next."""
    done = subprocess.run([sys.executable, "-m", "bench", "--one", str(size)], stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=Result)


def print_table(results: list[Result]) -> None:
    table = Table(title="First pass from bytes, and the work after one change", title_justify="left")
    table.add_column("")
    for result in results:
        table.add_column(f"{result.http_routes:,} HTTPRoutes", justify="right")
    rows = {
        "DNS part, microseconds per HTTPRoute": [f"{r.dns_microseconds_per_route:.1f}" for r in results],
        "DNS part, bytes per HTTPRoute": [f"{r.dns_bytes_per_route:,.0f}" for r in results],
        "DomainMapping with its objects, microseconds": [f"{r.mapping_microseconds_each:.0f}" for r in results],
        "DomainMapping with its objects, bytes": [f"{r.mapping_bytes_each:,.0f}" for r in results],
        "endpoints": [f"{r.endpoints:,}" for r in results],
        "a Route's hostname, ms (median / p99)": [shown(r.route_hostname) for r in results],
        "a Gateway's address, 20 Routes, ms": [shown(r.gateway_address) for r in results],
        "a DomainMapping's Route, ms": [shown(r.mapped_route) for r in results],
    }
    for name, cells in rows.items():
        table.add_row(name, *cells)
    Console(width=None if sys.stdout.isatty() else 120).print(table)


def shown(timing: Timing) -> str:
    return f"{timing.median_ms:.3f} / {timing.p99_ms:.3f}"


main()
