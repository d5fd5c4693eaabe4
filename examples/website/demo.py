"""One hostname, all the way, with real traffic: what `make demo` runs.

It starts `gatepost up`, plays Knative's part for a Service `website` with two revisions (real HTTP servers on loopback
addresses), and then looks from outside: requests through Traefik, DNS queries over UDP, the Kubernetes API.
Exit code: 0 if everything was seen, 1 if something was not, 3 if the standalone mode did not start.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import contextlib
import json
import pathlib
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import aiohttp
import dns.asyncquery
import dns.message
import dns.rcode
import yaml
from rich.console import Console
from rich.table import Table

from revision import Revision

HERE = pathlib.Path(__file__).parent
HOST = "app.example.com"
CLUSTER_NAME = "website.default.svc.cluster.local"
KINGRESSES = "/apis/networking.internal.knative.dev/v1alpha1/namespaces/default/ingresses"
HTTPROUTES = "/apis/gateway.networking.k8s.io/v1/namespaces/default/httproutes"
DOMAINMAPPINGS = "/apis/serving.knative.dev/v1beta1/namespaces/default/domainmappings"
ROUTES = "/apis/serving.knative.dev/v1/namespaces/default/routes"
PLURALS = {
    "Service": "services",
    "EndpointSlice": "endpointslices",
    "Configuration": "configurations",
    "Revision": "revisions",
    "Route": "routes",
    "DomainMapping": "domainmappings",
}
REQUESTS = 500
DEADLINE_SECONDS = 60.0

Raw = dict[str, Any]


class NotSeen(Exception):
    """Something that the demo promises to show did not happen."""


class Up:
    """`gatepost up` as a child process, and ways to look at it from outside."""

    def __init__(self, process: asyncio.subprocess.Process, addresses: Raw, session: aiohttp.ClientSession) -> None:
        self.process = process
        self.addresses = addresses
        self._session = session

    async def api(self, method: str, path: str, body: Any = None, patch_type: str = "") -> Raw:
        """One call of the Kubernetes API. Raises: NotSeen with the server's message if it refuses."""
        headers = {"Content-Type": patch_type or "application/json"}
        data = None if body is None else json.dumps(body)
        async with self._session.request(method, self.addresses["api"] + path, data=data, headers=headers) as answer:
            found: Raw = await answer.json()
            if answer.status >= 400:
                raise NotSeen(f"{method} {path}: {answer.status} {found.get('message')}")
            return found

    async def apply(self, raw: Raw) -> Raw:
        """Server-side apply of one object, and of its status, as its controller would write it."""
        group = raw["apiVersion"]
        prefix = f"/api/{group}" if group == "v1" else f"/apis/{group}"
        path = f"{prefix}/namespaces/{raw['metadata']['namespace']}/{PLURALS[raw['kind']]}/{raw['metadata']['name']}"
        status = raw.pop("status", None)
        kind = "application/apply-patch+yaml"
        applied = await self.api("PATCH", f"{path}?fieldManager=demo&force=true", raw, kind)
        if status is not None:
            status["observedGeneration"] = applied["metadata"]["generation"]
            await self.api("PATCH", f"{path}/status", {"status": status}, "application/merge-patch+json")
        return applied

    async def get(self, host: str) -> tuple[int, Raw]:
        """One request for a host through the gateway: status and what the revision said."""
        async with self._session.get(self.addresses["http"], headers={"Host": host}) as answer:
            return answer.status, await answer.json() if answer.status == 200 else {}

    async def resolve(self, name: str, record_type: str = "A") -> list[str]:
        """What the DNS server answers for a name, asked over UDP."""
        query = dns.message.make_query(name, record_type)
        address, port = self.addresses["dns"].rsplit(":", 1)
        answer = await dns.asyncquery.udp(query, address, port=int(port), timeout=5)
        return [str(record) for rrset in answer.answer for record in rrset if answer.rcode() == dns.rcode.NOERROR]

    async def explain(self, hostname: str) -> tuple[int, str]:
        """What `gatepost explain` says of a name: exit code and text."""
        process = await asyncio.create_subprocess_exec(
            *gatepost("explain", hostname, "--kubeconfig", self.addresses["kubeconfig"]),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        out, _ = await process.communicate()
        return process.returncode or 0, out.decode().strip()


def gatepost_program() -> str:
    """The program beside the running Python, as it is called from the folder that people are in."""
    program = pathlib.Path(sys.executable).with_name("gatepost")
    here = pathlib.Path.cwd()
    return str(program.relative_to(here)) if program.is_relative_to(here) else str(program)


def gatepost(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "gatepost", *arguments]


@contextlib.asynccontextmanager
async def gatepost_up(folder: pathlib.Path) -> AsyncIterator[Up]:
    """Starts `gatepost up` on free ports and waits until it says that everything answers."""
    ready = folder / "ready.json"
    process = await asyncio.create_subprocess_exec(
        *gatepost("up", "--quiet", "--ready-file", str(ready), "--kubeconfig", str(folder / "kubeconfig"))
    )
    try:
        ended = asyncio.ensure_future(process.wait())
        while not ready.exists():
            await asyncio.wait([ended], timeout=0.05)
            if ended.done():
                sys.exit(3)  # it has said why on stderr
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=10)) as session:
            yield Up(process, json.loads(ready.read_text()), session)
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def eventually(what: str, look: Callable[[], Awaitable[Any]]) -> Any:
    """Waits until `look` gives something true. Raises: NotSeen after the deadline."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    problem = ""
    while time.monotonic() < deadline:
        try:
            found = await look()
        except (NotSeen, OSError, aiohttp.ClientError, dns.exception.DNSException) as error:
            found, problem = None, str(error)
        if found:
            return found
        await asyncio.sleep(0.05)
    raise NotSeen(f"{what}: not seen within {DEADLINE_SECONDS:g} s {problem}")


def verdict_of(explained: str) -> str:
    """The verdict of `gatepost explain`, without the way of the name that follows it."""
    return explained.partition("\nThe way of the name")[0]


def manifests(file: str) -> Iterator[Raw]:
    yield from yaml.safe_load_all((HERE / file).read_text())


class Demo:
    """The seven things to see. Each method looks at one and says what it saw, or raises NotSeen."""

    def __init__(self, up: Up, revisions: list[Revision]) -> None:
        self.up = up
        self.revisions = revisions

    async def apply_the_website(self) -> str:
        ports = {revision.host: revision.port for revision in self.revisions}
        for raw in manifests("revisions.yaml"):
            if raw["kind"] == "EndpointSlice":
                raw["ports"][0]["port"] = ports[raw["endpoints"][0]["addresses"][0]]
            await self.up.apply(raw)
        uids: dict[tuple[str, str], str] = {}
        for raw in [*manifests("website.yaml"), *manifests("domainmapping.yaml")]:
            for owner in raw["metadata"].get("ownerReferences", ()):
                owner["uid"] = uids[owner["kind"], owner["name"]]
            applied = await self.up.apply(raw)
            uids[raw["kind"], raw["metadata"]["name"]] = applied["metadata"]["uid"]
        mapping = await eventually(f"DomainMapping {HOST} is Ready", self._ready_mapping)
        return f"DomainMapping {HOST} for Knative Service website is Ready: {mapping['status']['url']}"

    async def _ready_mapping(self) -> Raw | None:
        mapping = await self.up.api("GET", f"{DOMAINMAPPINGS}/{HOST}")
        conditions = {c["type"]: c["status"] for c in mapping.get("status", {}).get("conditions", ())}
        return mapping if conditions.get("Ready") == "True" else None

    async def see_what_was_made(self) -> str:
        kingress = await self.up.api("GET", f"{KINGRESSES}/{HOST}")
        splits = kingress["spec"]["rules"][0]["http"]["paths"][0]["splits"]
        route = await self.up.api("GET", f"{HTTPROUTES}/{HOST}")
        backends = [(b["name"], b["weight"]) for b in route["spec"]["rules"][-1]["backendRefs"]]
        if backends != [("website-00001", 80), ("website-00002", 20)]:
            raise NotSeen(f"HTTPRoute {HOST} has backends {backends}")
        shares = ", ".join(f"{split['serviceName']} {split['percent']} %" for split in splits)
        record = await eventually(f"a record for {HOST}", lambda: self.up.resolve(HOST))
        owner = await eventually(f"an ownership record for {HOST}", lambda: self.up.resolve(f"a-{HOST}", "TXT"))
        made = f"KIngress {HOST}: {shares}\nHTTPRoute {HOST}: weights {backends}"
        return f"{made}\nDNS record {HOST}: A {', '.join(record)}, owned by {', '.join(owner)}"

    async def send_requests(self) -> str:
        await eventually(f"{HOST} answers", lambda: self._answers(HOST))
        counts = await self._count(REQUESTS)
        if not (370 <= counts["website-00001"] <= 430 and sum(counts.values()) == REQUESTS):
            raise NotSeen(f"{REQUESTS} requests were split {dict(counts)}, wanted about 400 to 100")
        shares = ", ".join(f"{counts[name]} by {name}" for name in sorted(counts))
        return f"{REQUESTS} requests: {shares}; each saw K-Original-Host: {HOST} and its Knative-Serving-Revision"

    async def _answers(self, host: str) -> bool:
        return (await self.up.get(host))[0] == 200

    async def _count(self, requests: int) -> collections.Counter[str]:
        """Which revision answered how often; every request must have seen its headers."""
        counts: collections.Counter[str] = collections.Counter()
        for _ in range(requests):
            status, said = await self.up.get(HOST)
            if status != 200:
                raise NotSeen(f"a request for {HOST} was answered with {status}")
            headers = {name.lower(): value for name, value in said["headers"].items()}
            if headers.get("k-original-host") != HOST or headers.get("knative-serving-revision") != said["revision"]:
                raise NotSeen(f"a request reached {said['revision']} with headers {headers}")
            counts[said["revision"]] += 1
        return counts

    async def ask_dns(self) -> str:
        public = await eventually(f"DNS answers {HOST}", lambda: self.up.resolve(HOST))
        local = await eventually(f"DNS answers {CLUSTER_NAME}", lambda: self.up.resolve(CLUSTER_NAME))
        return f"{HOST} is {', '.join(public)}; {CLUSTER_NAME} is {', '.join(local)}"

    async def change_the_split(self) -> str:
        traffic = [
            {"revisionName": name, "percent": 50, "latestRevision": False}
            for name in ("website-00001", "website-00002")
        ]
        started = time.monotonic()
        body = {"spec": {"traffic": traffic}}
        await self.up.api("PATCH", f"{ROUTES}/website", body, "application/merge-patch+json")
        counts = await eventually("requests are split 50 to 50", self._is_even)
        seconds = time.monotonic() - started
        total = await self._count(100)
        return (
            f"first even 20 requests {dict(counts)} after {seconds:.2f} s; then of 100: {dict(sorted(total.items()))}"
        )

    async def _is_even(self) -> collections.Counter[str] | None:
        counts = await self._count(20)
        return counts if max(counts.values()) <= 11 else None

    async def delete_the_route(self) -> str:
        await self.up.api("DELETE", f"{ROUTES}/website")
        code, text = await eventually("explain says that the last good configuration serves", self._explains_last_good)
        counts = await self._count(100)
        return f"still answered: {sum(counts.values())} of 100 requests; explain (exit {code}):\n{verdict_of(text)}"

    async def _explains_last_good(self) -> tuple[int, str] | None:
        code, text = await self.up.explain(HOST)
        return (code, text) if "last known good" in text else None

    async def map_a_missing_service(self) -> str:
        for raw in manifests("broken.yaml"):
            await self.up.apply(raw)
        code, text = await eventually("explain names the object and the field", self._explains_missing)
        counts = await self._count(20)
        answered = f"{HOST} still answers ({sum(counts.values())} of 20)"
        return f"{answered}; explain shop.example.com (exit {code}):\n{verdict_of(text)}"

    async def _explains_missing(self) -> tuple[int, str] | None:
        code, text = await self.up.explain("shop.example.com")
        named = code == 1 and "spec.ref" in text and "DomainMapping default/shop.example.com" in text
        return (code, text) if named and '"cart"' in text else None


STEPS: tuple[tuple[str, Callable[[Demo], Awaitable[str]]], ...] = (
    ("A domain for a Service with two revisions", Demo.apply_the_website),
    ("What gatepost made of it", Demo.see_what_was_made),
    ("Requests through Traefik", Demo.send_requests),
    ("DNS over UDP", Demo.ask_dns),
    ("Traffic changed to 50/50", Demo.change_the_split),
    ("Route deleted: last known good", Demo.delete_the_route),
    ("A mapping to a missing Service", Demo.map_a_missing_service),
)


async def show(console: Console, *, keep: bool) -> int:
    with tempfile.TemporaryDirectory(prefix="gatepost-demo-") as folder:
        revisions = [Revision("website-00001", "127.0.1.1"), Revision("website-00002", "127.0.1.2")]
        for revision in revisions:
            await revision.start()
        try:
            async with gatepost_up(pathlib.Path(folder)) as up:
                seen = await run_steps(console, Demo(up, revisions))
                print_what_to_try(console, up.addresses)
                if keep:
                    console.print("Everything keeps running until Ctrl-C.")
                    await up.process.wait()
                return 0 if seen else 1
        finally:
            for revision in revisions:
                await revision.stop()


async def run_steps(console: Console, demo: Demo) -> bool:
    """Runs all steps, stopping at the first that shows nothing, and prints what was seen."""
    table = Table(title="gatepost: one hostname, all the way", title_justify="left", show_lines=True)
    for heading in ("", "step", "seen", "s"):
        table.add_column(heading)
    seen = True
    for number, (title, step) in enumerate(STEPS, 1):
        started = time.monotonic()
        try:
            text, mark = await step(demo), "[green]ok[/green]"
        except (NotSeen, aiohttp.ClientError) as error:
            text, mark, seen = f"{error}", "[red]not seen[/red]", False
        table.add_row(mark, f"{number}. {title}", text.replace("[", "\\["), f"{time.monotonic() - started:.1f}")
        if not seen:
            break
    console.print(table)
    return seen


def print_what_to_try(console: Console, addresses: Raw) -> None:
    dns_host, dns_port = addresses["dns"].rsplit(":", 1)
    console.print("To try with --keep:", style="bold")
    for line in (
        f"kubectl --kubeconfig {addresses['kubeconfig']} get domainmappings,kingress,httproutes",
        f"curl -H 'Host: {HOST}' {addresses['http']}",
        f"dig @{dns_host} -p {dns_port} {HOST}",
        f"{gatepost_program()} explain {HOST} --kubeconfig {addresses['kubeconfig']}",
    ):
        console.print(f"  {line}", highlight=False, soft_wrap=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--keep", action="store_true", help="leave everything running until Ctrl-C")
    arguments = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 120)
    with contextlib.suppress(KeyboardInterrupt):
        return asyncio.run(show(console, keep=arguments.keep))
    return 0


if __name__ == "__main__":
    sys.exit(main())
