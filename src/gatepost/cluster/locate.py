"""From where gatepost stands to a `Connection`: a kubeconfig, or the service account of a Pod."""

from __future__ import annotations

import binascii
import os
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import structs

from gatepost.cluster import kubeconfig
from gatepost.cluster.connection import Connection, Server
from gatepost.cluster.credentials import (
    ClientCertificate,
    Credentials,
    FixedCredentials,
    Identity,
    NoCredentials,
    TokenFile,
    basic,
    bearer,
)
from gatepost.cluster.errors import KubeconfigError
from gatepost.cluster.exec_plugin import VERSIONS, ExecPlugin, ExecSettings, cluster_info
from gatepost.cluster.kubeconfig import ChosenContext, Place, UserEntry

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def find_connection(
    kubeconfig_file: str | None = None,
    context: str | None = None,
    environment: Mapping[str, str] = os.environ,
    service_account: Path = SERVICE_ACCOUNT,
    server: str = "",
) -> Connection:
    """The connection that the flags, the environment and the home folder describe, in this order; else that of the Pod.

    Args: server: a URL to take the place of the one found; where there is none, it is called without credentials.
    Raises: KubeconfigError naming file and key of what is wrong, or what was looked for if there is nothing.
    """
    if not server:
        return _found_connection(kubeconfig_file, context, environment, service_account)
    url = server.rstrip("/")
    try:
        found = _found_connection(kubeconfig_file, context, environment, service_account)
    except _NothingDescribed:
        return Connection(Server(url), origin="--server")
    return structs.replace(found, server=structs.replace(found.server, url=url), origin=f"--server and {found.origin}")


class _NothingDescribed(KubeconfigError):
    """There is no kubeconfig, and this is no Pod."""


def _found_connection(
    kubeconfig_file: str | None, context: str | None, environment: Mapping[str, str], service_account: Path
) -> Connection:
    files = kubeconfig.kubeconfig_files(kubeconfig_file, environment)
    if files:
        return connection_of(kubeconfig.choose_context(kubeconfig.read_kubeconfig(files), context))
    if environment.get("KUBERNETES_SERVICE_HOST"):
        return in_cluster(environment, service_account)
    listed = environment.get("KUBECONFIG", "")
    looked = f"$KUBECONFIG ({listed}) names no existing file" if listed else "there is no ~/.kube/config"
    problem = f"{looked}, and this is no Pod with a service account; give --kubeconfig, or try `gatepost up`"
    raise _NothingDescribed("", "", f"no cluster is described: {problem}")


def in_cluster(environment: Mapping[str, str], service_account: Path = SERVICE_ACCOUNT) -> Connection:
    """The connection of a Pod. The kubelet rotates its token and authorities, so they are read again and again."""
    host = environment["KUBERNETES_SERVICE_HOST"]
    port = environment.get("KUBERNETES_SERVICE_PORT", "443")
    ca_file = service_account / "ca.crt"
    try:
        ca = ca_file.read_bytes()
    except OSError as error:
        raise KubeconfigError(str(ca_file), "", f"cannot be read: {error.strerror}") from error
    namespace = service_account / "namespace"
    return Connection(
        Server(f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}", ca, ca_file=ca_file),
        TokenFile(service_account / "token"),
        namespace=namespace.read_text().strip() if namespace.is_file() else "default",
        origin="the service account of this Pod",
    )


def connection_of(chosen: ChosenContext) -> Connection:
    """What a context comes down to. Raises: KubeconfigError."""
    server = _server(chosen)
    return Connection(
        server,
        _credentials(chosen, server),
        _impersonation(chosen.user, chosen.user_place),
        chosen.namespace or "default",
        f"context {chosen.name!r} of {chosen.cluster_place.file}",
    )


def _server(chosen: ChosenContext) -> Server:
    cluster, place = chosen.cluster, chosen.cluster_place
    server = cluster.server.rstrip("/")
    if not server:
        raise place.error("server", "is missing; a URL such as https://127.0.0.1:6443 was expected")
    if urlsplit(server).scheme not in ("http", "https"):
        raise place.error("server", f"expected a URL with http or https, found {cluster.server!r}")
    if cluster.proxy_url and urlsplit(cluster.proxy_url).scheme not in ("http", "https"):
        # Not the URL itself: it may hold a password.
        scheme = urlsplit(cluster.proxy_url).scheme
        raise place.error("proxy-url", f"only http and https proxies are supported, found scheme {scheme!r}")
    ca = _data_or_file(
        place, "certificate-authority", cluster.certificate_authority_data, cluster.certificate_authority
    )
    if ca and cluster.insecure_skip_tls_verify:
        raise place.error("insecure-skip-tls-verify", "cannot stand beside a certificate authority; remove one")
    is_in_file = ca is not None and not cluster.certificate_authority_data
    ca_file = place.path(cluster.certificate_authority) if is_in_file else None
    return Server(server, ca, cluster.insecure_skip_tls_verify, cluster.tls_server_name, cluster.proxy_url, ca_file)


def _credentials(chosen: ChosenContext, server: Server) -> Credentials:
    """In the order of client-go: a token or its file wins over basic auth; certificates come along with any of them."""
    user, place = chosen.user, chosen.user_place
    certificate = _certificate(user, place)
    if user.auth_provider is not None:
        raise place.error("auth-provider", "was removed from Kubernetes clients; use an exec plugin instead")
    if user.exec is not None:
        return ExecPlugin(_exec_settings(chosen, server), certificate)
    if user.token_file:
        return TokenFile(place.path(user.token_file), certificate)
    if user.token:
        return FixedCredentials(bearer(user.token, certificate))
    if user.username:
        return FixedCredentials(basic(user.username, user.password, certificate))
    return FixedCredentials(Identity(certificate=certificate)) if certificate else NoCredentials()


def _certificate(user: UserEntry, place: Place) -> ClientCertificate | None:
    certificate = _data_or_file(place, "client-certificate", user.client_certificate_data, user.client_certificate)
    key = _data_or_file(place, "client-key", user.client_key_data, user.client_key)
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        missing = "client-certificate" if certificate is None else "client-key"
        raise place.error(missing, "is missing; a client certificate and its key belong together")
    return ClientCertificate(certificate, key)


def _exec_settings(chosen: ChosenContext, server: Server) -> ExecSettings:
    entry, place = chosen.user.exec, chosen.user_place
    assert entry is not None
    if entry.api_version not in VERSIONS:
        raise place.error("exec.apiVersion", f"expected {' or '.join(VERSIONS)}, found {entry.api_version!r}")
    if not entry.command:
        raise place.error("exec.command", "is missing")
    mode = entry.interactive_mode
    if mode not in ("", "Never", "IfAvailable", "Always"):
        raise place.error("exec.interactiveMode", f"expected Never, IfAvailable or Always, found {mode!r}")
    if not mode and entry.api_version == VERSIONS[0]:
        raise place.error("exec.interactiveMode", f"is missing; {VERSIONS[0]} requires it")
    insecure = server.insecure_skip_tls_verify
    info = cluster_info(server.url, server.ca, server.tls_server_name, server.proxy_url, insecure=insecure)
    return ExecSettings(
        user=chosen.user_name,
        api_version=entry.api_version,
        # A bare name is looked up in PATH; anything with a slash is relative to the kubeconfig.
        command=str(place.path(entry.command)) if "/" in entry.command else entry.command,
        args=entry.args or (),
        env=tuple((item.name, item.value) for item in entry.env or ()),
        install_hint=entry.install_hint,
        interactive_mode=mode or "IfAvailable",
        cluster=info if entry.provide_cluster_info else None,
    )


def _impersonation(user: UserEntry, place: Place) -> tuple[tuple[str, str], ...]:
    if not user.as_:
        if user.as_uid or user.as_groups or user.as_user_extra:
            raise place.error("as", "is missing; groups, uid and extra need a user to impersonate")
        return ()
    headers = [("Impersonate-User", user.as_)]
    if user.as_uid:
        headers.append(("Impersonate-Uid", user.as_uid))
    headers += [("Impersonate-Group", group) for group in user.as_groups or ()]
    for key, values in (user.as_user_extra or {}).items():
        headers += [(f"Impersonate-Extra-{key}", value) for value in values]
    return tuple(headers)


def _data_or_file(place: Place, key: str, data: str, file: str) -> bytes | None:
    """The inline data, which wins over the file. Raises: KubeconfigError."""
    if data:
        try:
            return b64decode("".join(data.split()), validate=True)
        except binascii.Error as error:
            raise place.error(f"{key}-data", f"is no base64 ({error})") from error
    if not file:
        return None
    path = place.path(file)
    try:
        return path.read_bytes()
    except OSError as error:
        raise place.error(key, f"{path} cannot be read: {error.strerror}") from error
