"""`gatepost plan` with ownership beside DNS: in DNSRecords of the same manifests, or in a table."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from dynamodb_table import Table, dynamodb, item
from written_endpoints import GROUP

from gatepost.cli.commands import gatepost
from gatepost.cluster.client import Client
from gatepost.cluster.connection import Connection, Server
from gatepost.standalone.apiserver.server import ApiServer

ENDPOINT = """
apiVersion: externaldns.k8s.io/v1alpha1
kind: DNSEndpoint
metadata: {name: app, namespace: shop, generation: 1}
spec: {endpoints: [{dnsName: app.example.com, recordType: A, targets: [192.0.2.1], recordTTL: 60}]}
"""
RECORD = """
---
apiVersion: externaldns.k8s.io/v1alpha1
kind: DNSRecord
metadata: {{name: app-example-com-ae3e8df6, namespace: dns-system, labels: {{externaldns.k8s.io/owner: {owner}}}}}
spec:
  endpoint:
    dnsName: app.example.com
    recordType: A
    targets: [192.0.2.1]
    labels: {{resource: crd/shop/app}}
"""
KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: here
contexts: [{{name: here, context: {{cluster: here, user: ""}}}}]
clusters: [{{name: here, cluster: {{server: "{server}"}}}}]
"""
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DEFINITION = Path(__file__).with_name("dnsrecords.yaml")
ZONE = """\
$ORIGIN example.com.
@      IN SOA ns1 admin 1 3600 600 86400 60
app 60 IN A   {target}
"""
TXT = 'a-app 60 IN TXT "heritage=external-dns,external-dns/owner=me,external-dns/resource=crd/shop/app"\n'
BELONGS = "app.example.com A belongs to {owner} and is left as it is"


class Folder:
    """Manifests and a zone in files, and the command over them."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def plan(self, registry: str, manifests: str, target: str = "192.0.2.9", more: str = "", *flags: str) -> Result:
        (self.path / "app.yaml").write_text(manifests)
        (self.path / "zone.txt").write_text(ZONE.format(target=target) + more)
        fixed = ("--source", "crd", "--txt-owner-id", "me", "--registry", registry)
        files = ("--current", str(self.path / "zone.txt"), str(self.path / "app.yaml"))
        return CliRunner().invoke(gatepost, ["plan", *fixed, *flags, *files])

    def plan_cluster(self, server: str) -> Result:
        """The plan over a cluster with the registry crd."""
        (self.path / "kubeconfig").write_text(KUBECONFIG.format(server=server))
        (self.path / "zone.txt").write_text(ZONE.format(target="192.0.2.9"))
        fixed = ("--source", "crd", "--txt-owner-id", "me", "--registry", "crd")
        files = ("--current", str(self.path / "zone.txt"), "--kubeconfig", str(self.path / "kubeconfig"))
        return CliRunner().invoke(gatepost, ["plan", *fixed, *files])


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    with dynamodb(monkeypatch) as made:
        yield made


# DNSRecords


def test_a_record_whose_dnsrecord_is_ours_is_updated(folder: Folder) -> None:
    ran = folder.plan("crd", ENDPOINT + RECORD.format(owner="me"))
    assert ran.exit_code == 4
    assert "192.0.2.9 -> 192.0.2.1" in ran.stdout


@pytest.mark.parametrize(("records", "owner"), [(RECORD.format(owner="them"), "them"), ("", "nobody")])
def test_a_record_without_a_dnsrecord_of_ours_is_left_as_it_is(folder: Folder, records: str, owner: str) -> None:
    ran = folder.plan("crd", ENDPOINT + records)
    assert ran.exit_code == 0
    assert BELONGS.format(owner=owner) in " ".join(ran.stdout.split())


def test_dnsrecords_of_another_namespace_do_not_count(folder: Folder) -> None:
    manifests = ENDPOINT + RECORD.format(owner="me")
    assert folder.plan("crd", manifests, "192.0.2.9", "", "--crd-registry-namespace", "dns-system").exit_code == 4
    assert folder.plan("crd", manifests, "192.0.2.9", "", "--crd-registry-namespace", "elsewhere").exit_code == 0


@pytest.mark.parametrize(("owner", "exit_code"), [("me", 4), ("them", 0)])
async def test_dnsrecords_are_read_from_the_cluster_where_the_objects_are(
    folder: Folder, owner: str, exit_code: int
) -> None:
    async with ApiServer() as server, Client(Connection(Server(server.url))) as client:
        definition, record = map(yaml.safe_load, (DEFINITION.read_text(), RECORD.format(owner=owner)))
        await client.write("POST", DEFINITIONS, {}, definition)
        for name in ("shop", "dns-system"):
            namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            await client.write("POST", "/api/v1/namespaces", {}, namespace)
        await client.write("POST", f"{GROUP}/shop/dnsendpoints", {}, yaml.safe_load(ENDPOINT))
        await client.write("POST", f"{GROUP}/dns-system/dnsrecords", {}, record)
        ran = await asyncio.to_thread(folder.plan_cluster, server.url)
        assert ran.exit_code == exit_code, ran.stderr


async def test_a_cluster_without_dnsrecords_is_exit_code_3(folder: Folder) -> None:
    async with ApiServer() as server:
        ran = await asyncio.to_thread(folder.plan_cluster, server.url)
    assert ran.exit_code == 3
    assert "DNSRecord.externaldns.k8s.io is needed: the cluster does not serve it" in ran.stderr


# The table


def test_a_record_whose_item_is_ours_is_updated(folder: Folder, table: Table) -> None:
    table.put(item("app.example.com#A#", "me", resource="crd/shop/app"))
    before = table.items()
    ran = folder.plan("dynamodb", ENDPOINT)
    assert ran.exit_code == 4
    assert "192.0.2.9 -> 192.0.2.1" in ran.stdout
    assert (table.items(), table.batches) == (before, [])


def test_a_record_without_an_item_of_ours_is_left_as_it_is(folder: Folder, table: Table) -> None:
    table.put(item("app.example.com#A#", "them"))
    ran = folder.plan("dynamodb", ENDPOINT)
    assert ran.exit_code == 0
    assert BELONGS.format(owner="them") in " ".join(ran.stdout.split())


def test_a_record_owned_in_a_txt_record_is_to_be_written_into_the_table(folder: Folder, table: Table) -> None:
    ran = folder.plan("dynamodb", ENDPOINT, "192.0.2.1", TXT)
    assert ran.exit_code == 4
    assert "its ownership stands in a TXT record" in " ".join(ran.stdout.split())


def test_another_table_may_be_named(folder: Folder, table: Table) -> None:
    other = Table("other")
    other.put(item("app.example.com#A#", "me", resource="crd/shop/app"))
    assert folder.plan("dynamodb", ENDPOINT, "192.0.2.9", "", "--dynamodb-table", "other").exit_code == 4


def test_a_table_that_cannot_be_read_is_exit_code_3(folder: Folder, table: Table) -> None:
    ran = folder.plan("dynamodb", ENDPOINT, "192.0.2.9", "", "--dynamodb-table", "nowhere")
    assert ran.exit_code == 3
    assert "table nowhere: ResourceNotFoundException" in ran.stderr


def test_a_table_without_a_name_is_wrong_use(folder: Folder, table: Table) -> None:
    ran = folder.plan("dynamodb", ENDPOINT, "192.0.2.9", "", "--dynamodb-table", "")
    assert (ran.exit_code, "--dynamodb-table: found nothing" in ran.stderr) == (2, True)


def test_the_registry_of_a_provider_that_gatepost_does_not_have_is_wrong_use(folder: Folder) -> None:
    ran = folder.plan("aws-sd", ENDPOINT)
    assert ran.exit_code == 2
    assert "aws-sd goes with the provider aws-sd" in ran.stderr
