"""From kubeconfig files to a connection, and what is said when they are wrong."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
import yaml

from gatepost.cluster.credentials import FixedCredentials, NoCredentials, TokenFile
from gatepost.cluster.errors import KubeconfigError
from gatepost.cluster.exec_plugin import ExecPlugin
from gatepost.cluster.locate import find_connection

CA = b"-----BEGIN CERTIFICATE-----\n...\n"


def written(path: Path, *, cluster: Any = None, user: Any = None, context: Any = None, **top: Any) -> str:
    """A kubeconfig file with one cluster c, user u and context k."""
    content = {
        "clusters": [{"name": "c", "cluster": cluster or {"server": "https://one:6443"}}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "k", "context": context or {"cluster": "c", "user": "u"}}],
        "current-context": "k",
        **top,
    }
    path.write_text(yaml.safe_dump(content))
    return str(path)


async def authorization(connection: Any) -> str:
    identity = await connection.credentials.identity()
    return str(identity.authorization)


def test_the_current_context_counts(tmp_path: Path) -> None:
    config = written(tmp_path / "config", context={"cluster": "c", "user": "u", "namespace": "shop"})
    connection = find_connection(config, environment={})
    assert connection.server.url == "https://one:6443"
    assert connection.namespace == "shop"
    assert isinstance(connection.credentials, NoCredentials)


def test_of_several_files_the_first_to_name_a_thing_counts(tmp_path: Path) -> None:
    one = written(tmp_path / "one", cluster={"server": "https://one:6443"})
    two = tmp_path / "two"
    two.write_text(
        yaml.safe_dump(
            {
                "clusters": [
                    {"name": "c", "cluster": {"server": "https://two:6443"}},
                    {"name": "d", "cluster": {"server": "https://three:6443"}},
                ],
                "contexts": [{"name": "other", "context": {"cluster": "d"}}],
                "current-context": "other",
            }
        )
    )
    environment = {"KUBECONFIG": f"{tmp_path}/absent:{one}:{two}"}
    assert find_connection(environment=environment).server.url == "https://one:6443"
    assert find_connection(context="other", environment=environment).server.url == "https://three:6443"


def test_the_home_folder_is_looked_at_last(tmp_path: Path) -> None:
    (tmp_path / ".kube").mkdir()
    written(tmp_path / ".kube" / "config")
    assert find_connection(environment={"HOME": str(tmp_path)}).server.url == "https://one:6443"


def test_files_are_relative_to_the_kubeconfig_and_inline_data_wins_over_them(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_bytes(CA)
    config = written(tmp_path / "config", cluster={"server": "https://one", "certificate-authority": "ca.crt"})
    assert find_connection(config, environment={}).server.ca == CA
    inline = {
        "server": "https://one",
        "certificate-authority": "absent.crt",
        "certificate-authority-data": b64encode(b"inline").decode(),
    }
    config = written(tmp_path / "config", cluster=inline)
    assert find_connection(config, environment={}).server.ca == b"inline"


async def test_a_token_a_token_file_and_basic_auth_become_headers(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from-file\n")
    fixed = find_connection(written(tmp_path / "a", user={"token": "abc"}), environment={})
    filed = find_connection(written(tmp_path / "b", user={"tokenFile": "token", "token": "abc"}), environment={})
    basic = find_connection(written(tmp_path / "c", user={"username": "eve", "password": "pw"}), environment={})
    assert await authorization(fixed) == "Bearer abc"
    assert await authorization(filed) == "Bearer from-file"
    assert await authorization(basic) == "Basic ZXZlOnB3"


async def test_client_certificates_come_along(tmp_path: Path) -> None:
    user = {"client-certificate-data": b64encode(b"C").decode(), "client-key-data": b64encode(b"K").decode()}
    connection = find_connection(written(tmp_path / "config", user=user), environment={})
    assert isinstance(connection.credentials, FixedCredentials)
    certificate = (await connection.credentials.identity()).certificate
    assert certificate is not None
    assert (certificate.certificate, certificate.key) == (b"C", b"K")


def test_impersonation_becomes_headers(tmp_path: Path) -> None:
    user = {"as": "jane", "as-uid": "7", "as-groups": ["dev", "ops"], "as-user-extra": {"reason": ["audit"]}}
    connection = find_connection(written(tmp_path / "config", user=user), environment={})
    assert connection.headers == (
        ("Impersonate-User", "jane"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Group", "dev"),
        ("Impersonate-Group", "ops"),
        ("Impersonate-Extra-reason", "audit"),
    )


def test_tls_name_proxy_and_insecure_are_taken_over(tmp_path: Path) -> None:
    cluster = {
        "server": "https://10.0.0.1/",
        "tls-server-name": "api.internal",
        "proxy-url": "http://proxy:3128",
        "insecure-skip-tls-verify": True,
    }
    server = find_connection(written(tmp_path / "config", cluster=cluster), environment={}).server
    assert server.url == "https://10.0.0.1"
    assert server.tls_server_name == "api.internal"
    assert server.proxy_url == "http://proxy:3128"
    assert server.insecure_skip_tls_verify


def test_an_exec_plugin_is_found_beside_the_kubeconfig(tmp_path: Path) -> None:
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "./plugin"}}
    connection = find_connection(written(tmp_path / "config", user=user), environment={})
    assert isinstance(connection.credentials, ExecPlugin)


def test_a_pod_uses_its_service_account(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_bytes(CA)
    (tmp_path / "token").write_text("pod-token")
    (tmp_path / "namespace").write_text("gatepost\n")
    environment = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "6443"}
    connection = find_connection(environment=environment, service_account=tmp_path)
    assert connection.server.url == "https://[fd00::1]:6443"
    assert connection.namespace == "gatepost"
    assert isinstance(connection.credentials, TokenFile)


async def test_a_token_file_is_read_again_after_a_minute_and_when_it_is_refused(tmp_path: Path) -> None:
    time = [0.0]
    file = tmp_path / "token"
    file.write_text("one")
    credentials = TokenFile(file, clock=lambda: time[0])
    first = await credentials.identity()
    file.write_text("two")
    assert (await credentials.identity()).authorization == "Bearer one"
    time[0] = 60.0
    assert (await credentials.identity()).authorization == "Bearer two"
    file.write_text("three")
    renewed = await credentials.renewed(first)
    assert renewed is not None
    assert renewed.authorization == "Bearer three"
    assert await credentials.renewed(renewed) is None  # the same again would be refused again


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        (
            {"cluster": {"server": "https://x", "insecure-skip-tls-verify": "no"}},
            "clusters[c].cluster.insecure-skip-tls-verify: Expected `bool`, got `str`",
        ),
        (
            {"cluster": {"server": "one:6443"}},
            "clusters[c].cluster.server: expected a URL with http or https, found 'one:6443'",
        ),
        (
            {"cluster": {"server": "https://x", "proxy-url": "socks5://p"}},
            "clusters[c].cluster.proxy-url: only http and https proxies",
        ),
        (
            {"cluster": {"server": "https://x", "certificate-authority": "gone.crt"}},
            "clusters[c].cluster.certificate-authority: ",
        ),
        (
            {"cluster": {"server": "https://x", "certificate-authority-data": "%"}},
            "clusters[c].cluster.certificate-authority-data: is no base64",
        ),
        ({"user": {"token": 12345}}, "users[u].user.token: Expected `str`, got `int`"),
        ({"user": {"client-certificate-data": "QQ=="}}, "users[u].user.client-key: is missing"),
        ({"user": {"auth-provider": {"name": "gcp"}}}, "users[u].user.auth-provider: was removed"),
        ({"user": {"as-groups": ["dev"]}}, "users[u].user.as: is missing"),
        (
            {"user": {"exec": {"apiVersion": "client.authentication.k8s.io/v1alpha1", "command": "x"}}},
            "users[u].user.exec.apiVersion: expected ",
        ),
        (
            {"user": {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "x"}}},
            "users[u].user.exec.interactiveMode: is missing",
        ),
        (
            {"context": {"cluster": "nope", "user": "u"}},
            "contexts[k].context.cluster: there is no cluster 'nope' (there are: c)",
        ),
        (
            {"context": {"cluster": "c", "user": "nope"}},
            "contexts[k].context.user: there is no user 'nope' (there are: u)",
        ),
        ({"current-context": "nope"}, "current-context: there is no context 'nope' (there are: k)"),
        ({"current-context": None}, "current-context: names no context"),
        ({"clusters": {"c": {}}}, "clusters: expected a list, found dict"),
        ({"users": [{"user": {}}]}, "users[0].name: is missing"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_key(tmp_path: Path, parts: dict[str, Any], says: str) -> None:
    config = written(tmp_path / "config", **parts)
    with pytest.raises(KubeconfigError) as caught:
        find_connection(config, environment={})
    assert str(caught.value).startswith(f"{config}: {says}")


def test_broken_yaml_is_named_with_its_line(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("clusters:\n- name: c\n  cluster: {server: [\n")
    with pytest.raises(KubeconfigError, match=r"config: line \d+: is no YAML"):
        find_connection(str(config), environment={})


def test_a_file_that_was_asked_for_must_exist(tmp_path: Path) -> None:
    with pytest.raises(KubeconfigError, match=r"gone: --kubeconfig names a file that does not exist"):
        find_connection(str(tmp_path / "gone"), environment={})


def test_without_any_description_it_is_said_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(KubeconfigError, match=r"no ~/\.kube/config, and this is no Pod"):
        find_connection(environment={"HOME": str(tmp_path)})


def test_a_server_that_is_given_takes_the_place_of_that_of_the_kubeconfig(tmp_path: Path) -> None:
    config = written(tmp_path / "config", user={"token": "abc"})
    connection = find_connection(config, environment={}, server="https://two:6443/")
    assert connection.server.url == "https://two:6443"
    assert isinstance(connection.credentials, FixedCredentials)


def test_a_server_that_is_given_is_enough(tmp_path: Path) -> None:
    connection = find_connection(environment={"HOME": str(tmp_path)}, server="http://127.0.0.1:8001")
    assert connection.server.url == "http://127.0.0.1:8001"
    assert isinstance(connection.credentials, NoCredentials)


def test_a_broken_kubeconfig_is_told_even_if_a_server_is_given(tmp_path: Path) -> None:
    with pytest.raises(KubeconfigError):
        find_connection(str(tmp_path / "gone"), environment={}, server="http://127.0.0.1:8001")


def test_an_authority_in_a_file_is_known_by_its_file_for_it_may_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_bytes(CA)
    config = written(tmp_path / "config", cluster={"server": "https://one", "certificate-authority": "ca.crt"})
    assert find_connection(config, environment={}).server.ca_file == tmp_path / "ca.crt"


def test_an_inline_authority_is_fixed(tmp_path: Path) -> None:
    both = {"certificate-authority": "ca.crt", "certificate-authority-data": b64encode(CA).decode()}
    config = written(tmp_path / "config", cluster={"server": "https://one", **both})
    assert find_connection(config, environment={}).server.ca_file is None
