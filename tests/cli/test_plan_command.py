"""`gatepost plan`: current side from files and providers, what is printed, and the exit codes."""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gatepost.cli.commands import gatepost

GATEWAY = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: {name}, namespace: infra, generation: 1}}
spec:
  gatewayClassName: any
  listeners:
    - {{name: http, port: 80, protocol: HTTP, allowedRoutes: {{namespaces: {{from: All}}}}}}
status:
  addresses: [{addresses}]
"""
ROUTE = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: {name}, namespace: shop, generation: 1, creationTimestamp: "2026-01-0{day}T00:00:00Z"}}
spec:
  parentRefs: [{{name: {gateway}, namespace: infra}}]
  hostnames: [{hostnames}]
status:
  parents:
    - parentRef: {{name: {gateway}, namespace: infra}}
      controllerName: example.com/any
      conditions: [{{type: Accepted, status: "{accepted}", observedGeneration: 1}}]
"""
ZONE = """\
$ORIGIN example.com.
$TTL 300
@      IN SOA ns1 admin 1 3600 600 86400 60
@      IN NS  ns1.example.net.
app    IN A   192.0.2.9
a-app  IN TXT "heritage=external-dns,external-dns/owner=me,external-dns/resource=httproute/shop/app"
old    IN A   192.0.2.1
a-old  IN TXT "heritage=external-dns,external-dns/owner=me,external-dns/resource=httproute/shop/old"
theirs IN A   203.0.113.1
"""
BROKEN = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: old, namespace: shop}
spec: {hostnames: old.example.com}
"""
ARGUMENTS = ("--source", "gateway-httproute", "--txt-owner-id", "me")
LOST = (
    "HTTPRoute shop/late: app.example.com belongs to HTTPRoute shop/app, whose claim comes first. "
    "Use another hostname here, or take it away from HTTPRoute shop/app."
)
FOREIGN = "HTTPRoute shop/theirs: theirs.example.com A belongs to nobody and is left as it is"


def gateway(name: str = "public", address: str = "192.0.2.1") -> str:
    addresses = f"{{type: IPAddress, value: {address}}}" if address else ""
    return GATEWAY.format(name=name, addresses=addresses)


def route(name: str, *hostnames: str, day: int = 1, parent: str = "public", accepted: str = "True") -> str:
    listed = ", ".join(hostnames)
    return ROUTE.format(name=name, gateway=parent, hostnames=listed, day=day, accepted=accepted)


class Folder:
    """Manifests and current records in files, and the command over them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "manifests").mkdir()

    def put(self, *manifests: str) -> None:
        (self.path / "manifests" / "all.yaml").write_text("---".join(manifests))

    def plan(self, *arguments: str, current: str = ZONE, files: Sequence[str] | None = None) -> Result:
        (self.path / "current").write_text(current)
        paths = [str(self.path / "manifests")] if files is None else files
        given = ["plan", *ARGUMENTS, "--current", str(self.path / "current"), *arguments, *paths]
        return run(*given)


def run(*arguments: str, stdin: str | None = None) -> Result:
    result = CliRunner().invoke(gatepost, arguments, input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@pytest.fixture
def busy(folder: Folder) -> Folder:
    """One of each: a create, an update, a delete, a conflict, and a name that is somebody else's."""
    folder.put(
        gateway(),
        gateway("other", "192.0.2.2"),
        route("app", "app.example.com"),
        route("late", "app.example.com", day=2, parent="other"),
        route("new", "new.example.com"),
        route("theirs", "theirs.example.com"),
    )
    return folder


def test_table_has_each_change_with_its_cause_and_a_line_that_sums_up(busy: Folder) -> None:
    result = busy.plan()
    assert result.exit_code == 4
    assert result.stdout.splitlines() == [
        "CHANGE  NAME             TYPE  TTL  TARGETS                 CAUSE",
        "update  app.example.com  A     300  192.0.2.9 -> 192.0.2.1  targets: 192.0.2.9 -> 192.0.2.1",
        "create  new.example.com  A          192.0.2.1               new: HTTPRoute shop/new asks for it",
        "delete  old.example.com  A     300  192.0.2.1               gone: HTTPRoute shop/old is gone",
        "",
        "Conflicts",
        f"  {LOST}",
        "",
        "Refused",
        f"  {FOREIGN}",
        "",
        "Plan: 1 to create, 1 to update, 1 to delete; 1 conflict; 1 refused",
    ]


def test_markdown_is_a_summary_and_tables(busy: Folder) -> None:
    result = busy.plan("-o", "markdown")
    assert result.exit_code == 4
    assert result.stdout.splitlines() == [
        "**DNS plan**: 1 to create, 1 to update, 1 to delete; 1 conflict; 1 refused",
        "",
        "| Change | Name | Type | TTL | Targets | Cause |",
        "| --- | --- | --- | --- | --- | --- |",
        "| update | `app.example.com` | A | 300 | `192.0.2.9 -> 192.0.2.1` | targets: 192.0.2.9 -\\> 192.0.2.1 |",
        "| create | `new.example.com` | A |  | `192.0.2.1` | new: HTTPRoute shop/new asks for it |",
        "| delete | `old.example.com` | A | 300 | `192.0.2.1` | gone: HTTPRoute shop/old is gone |",
        "",
        "Conflicts:",
        "",
        f"- {LOST}",
        "",
        "Refused:",
        "",
        f"- {FOREIGN}",
    ]


def test_json_has_everything_for_programs(busy: Folder) -> None:
    result = busy.plan("-o", "json")
    printed = json.loads(result.stdout)
    assert printed["summary"] == {
        "create": 1,
        "update": 1,
        "delete": 1,
        "held": 0,
        "conflicts": 1,
        "refused": 1,
        "own": 2,
    }
    assert printed["changes"][2] == {
        "action": "delete",
        "old": {
            "dnsName": "old.example.com",
            "recordType": "A",
            "targets": ["192.0.2.1"],
            "recordTTL": 300,
            "labels": {"owner": "me", "resource": "httproute/shop/old"},
        },
        "new": None,
        "causes": [{"kind": "gone", "message": "HTTPRoute shop/old is gone", "object": "HTTPRoute shop/old"}],
    }
    assert printed["conflicts"][0]["object"] == "HTTPRoute shop/late"
    assert printed["stopped"] is None


def test_no_change_is_exit_code_0(folder: Folder) -> None:
    folder.put(gateway(address="192.0.2.9"), route("app", "app.example.com"), route("old", "old.example.com"))
    result = folder.plan(current=ZONE.replace("192.0.2.1", "192.0.2.9"))
    assert (result.exit_code, result.stdout) == (0, "Plan: no changes\n")


def test_what_is_in_doubt_is_held_and_is_no_change(folder: Folder) -> None:
    folder.put(gateway(address=""), route("app", "app.example.com"), route("old", "old.example.com"))
    result = folder.plan()
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["HELD", "NAME", "TYPE", "TARGETS", "REASON"]
    assert lines[1].startswith("delete  app.example.com  A     192.0.2.9  doubtful: Gateway infra/public: status.addr")
    assert lines[-1] == "Plan: no changes; 2 held back"


def test_held_records_are_a_table_of_their_own_in_markdown(folder: Folder) -> None:
    folder.put(gateway(address=""), route("app", "app.example.com"), route("old", "old.example.com"))
    lines = folder.plan("-o", "markdown").stdout.splitlines()
    assert lines[:5] == [
        "**DNS plan**: no changes; 2 held back",
        "",
        "Held back:",
        "",
        "| Held | Name | Type | Targets | Reason |",
    ]


def test_nothing_counts_as_gone_while_part_of_the_input_cannot_be_read(folder: Folder) -> None:
    folder.put(gateway(address="192.0.2.9"), route("app", "app.example.com"), BROKEN)
    result = folder.plan()
    assert result.exit_code == 1
    assert "all.yaml:" in result.stderr
    assert result.stdout.splitlines()[-1] == "Plan: no changes; 1 held back"


def test_a_list_of_endpoints_of_other_manifests_can_stand_for_dns(folder: Folder) -> None:
    folder.put(gateway(), route("app", "app.example.com"), route("old", "old.example.com"))
    before = run("endpoints", *ARGUMENTS, "-o", "json", str(folder.path / "manifests")).stdout
    assert folder.plan(current=before).exit_code == 0
    folder.put(gateway(), route("app", "app.example.com", "new.example.com"))
    result = folder.plan(current=before)
    assert [line.split()[:2] for line in result.stdout.splitlines()[1:3]] == [
        ["create", "new.example.com"],
        ["delete", "old.example.com"],
    ]


def test_names_outside_of_the_zone_are_no_part_of_the_plan(folder: Folder) -> None:
    folder.put(gateway(address="192.0.2.9"), route("app", "app.example.com", "app.example.org"))
    assert "example.org" not in folder.plan().stdout
    lists = json.dumps([{"dnsName": "x.example.org", "recordType": "A", "targets": ["192.0.2.1"]}])
    assert "app.example.org" in folder.plan(current=lists).stdout


NAMES = [f"n{number}" for number in range(12)]
LARGE_ZONE = ZONE + "".join(
    f'{name} IN A 192.0.2.1\na-{name} IN TXT "heritage=external-dns,external-dns/owner=me,'
    f'external-dns/resource=httproute/shop/{name}"\n'
    for name in NAMES
)


@pytest.mark.parametrize("output", ["table", "json", "markdown"])
def test_a_plan_that_removes_too_much_is_stopped_and_says_how_to_go_on(folder: Folder, output: str) -> None:
    folder.put(gateway(address="192.0.2.9"), route("app", "app.example.com"))
    result = folder.plan("-o", output, current=LARGE_ZONE)
    assert result.exit_code == 4
    assert (
        "gatepost plan: stopped: this plan deletes or points elsewhere 13 of 14 own records (93%), "
        "more than 30% is not done unasked" in result.stderr
    )
    assert "--allow" in result.stderr
    assert "top" in result.stdout
    allowed = folder.plan("-o", output, "--allow", current=LARGE_ZONE)
    assert allowed.exit_code == 4
    assert "stopped:" not in allowed.stderr


def test_a_stop_is_told_with_share_and_limit(folder: Folder) -> None:
    folder.put(gateway(address="192.0.2.9"), route("app", "app.example.com"))
    stopped = json.loads(folder.plan("-o", "json", current=LARGE_ZONE).stdout)["stopped"]
    assert {key: stopped[key] for key in ("removed", "own", "share", "limit")} == {
        "removed": 13,
        "own": 14,
        "share": 0.9286,
        "limit": 0.3,
    }


def test_text_from_objects_cannot_become_markup() -> None:
    from gatepost.cli.plan_text import as_markdown
    from gatepost.dns.endpoint import Endpoint
    from gatepost.dns.plan import CREATE, Cause, Plan, PlannedChange
    from gatepost.runtime.dns.preview import Preview

    record = Endpoint("*.a|b.example.com", "TXT", ("`x`|\ny",))
    change = PlannedChange(CREATE, None, record, (Cause("new", "<b>_now_</b> | [x](y)"),))
    lines = as_markdown(Preview(Plan((change,)), (), (), 0)).splitlines()
    assert lines[-1] == (
        "| create | `*.a\\|b.example.com` | TXT | `x\\| y` | new: \\<b\\>\\_now\\_\\</b\\> \\| \\[x\\](y) |"
    )


def test_a_provider_is_asked_where_no_file_is_given(folder: Folder) -> None:
    folder.put(gateway(), route("app", "app.example.com", "app.example.org"))
    manifests = str(folder.path / "manifests")
    result = run("plan", *ARGUMENTS, "--provider", "inmemory", "--inmemory-zone", "example.com", manifests)
    assert result.exit_code == 4
    assert result.stdout.splitlines()[1].split()[:2] == ["create", "app.example.com"]
    assert result.stdout.splitlines()[-1] == "Plan: 1 to create; 1 refused"
    assert "app.example.org is in no zone of gatepost's own DNS server, which has example.com" in result.stdout


def test_a_provider_that_does_not_answer_is_exit_code_3(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gatepost.providers.webhook.client._FIRST_WAIT_SECONDS", 0.01)  # it is asked five times
    folder.put(gateway(), route("app", "app.example.com"))
    with socket.socket() as taken:  # bound and not listening: nobody answers there
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        arguments = ["--provider", "webhook", "--webhook-provider-url", url, str(folder.path / "manifests")]
        result = run("plan", *ARGUMENTS, *arguments)
    assert result.exit_code == 3
    assert url in result.stderr
    assert result.stdout == ""


def test_current_records_may_come_from_stdin(folder: Folder) -> None:
    folder.put(gateway(address="192.0.2.9"), route("app", "app.example.com"), route("old", "old.example.com"))
    manifests = str(folder.path / "manifests")
    result = run("plan", *ARGUMENTS, "--current", "-", manifests, stdin=ZONE)
    assert result.stdout.splitlines()[-1] == "Plan: 1 to update"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--current", "-", "-"], "stdin can only be read once"),
        ([], "--provider or --current: none was given"),
        (["--current", "/no/such/file", "-"], "--current /no/such/file: No such file"),
        (["--provider", "nothing", "-"], "--provider: found 'nothing', wanted one of"),
        (["--provider", "inmemory", "-"], "--inmemory-zone: none was given"),
    ],
)
def test_wrong_use_is_exit_code_2(arguments: list[str], told: str) -> None:
    result = run("plan", *ARGUMENTS, *arguments, stdin="")
    assert result.exit_code == 2
    assert told in result.stderr


def test_current_records_that_cannot_be_read_are_exit_code_1_and_no_plan(folder: Folder) -> None:
    folder.put(gateway(), route("app", "app.example.com"))
    result = folder.plan(current="; Transfer failed.\n")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "found a transfer that failed" in result.stderr


def test_cluster_domain_says_which_names_a_plan_leaves_to_the_cluster(tmp_path: Path) -> None:
    route = """
apiVersion: serving.knative.dev/v1
kind: Route
metadata: {name: web, namespace: shop, generation: 1, annotations: {external-dns.kubernetes.io/target: 192.0.2.1}}
status:
  observedGeneration: 1
  url: http://web.shop.svc.corp.test
  conditions: [{type: Ready, status: "True"}]
"""
    (tmp_path / "route.yaml").write_text(route)
    (tmp_path / "current.json").write_text("[]")
    arguments = (
        "plan",
        "--source",
        "knative",
        "--current",
        str(tmp_path / "current.json"),
        str(tmp_path / "route.yaml"),
    )
    runner = CliRunner()
    assert runner.invoke(gatepost, arguments).exit_code == 4
    assert runner.invoke(gatepost, [*arguments, "--cluster-domain", "corp.test"]).exit_code == 0
