"""Settings of ownership: keys in the forms in which they are handed around, and combinations that cannot work."""

from __future__ import annotations

import pytest

from gatepost.dns.settings import DnsSettings

SOURCES = ("gateway-httproute",)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("0123456789abcdef0123456789abcdef", b"0123456789abcdef0123456789abcdef"),
        ("//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA=", bytes(range(255, 223, -1))),
        ("__79_Pv6-fj39vX08_Lx8O_u7ezr6uno5-bl5OPi4eA=", bytes(range(255, 223, -1))),  # the alphabet for URLs
        ("c2hvcnQ=", None),
        ("not base64, not 32 characters", None),
        ("", None),
    ],
)
def test_a_key_is_32_characters_or_32_bytes_in_base64(text: str, key: bytes | None) -> None:
    assert DnsSettings(sources=SOURCES, txt_encrypt_aes_key=text).aes_key == key


@pytest.mark.parametrize(
    ("settings", "flag"),
    [
        (DnsSettings(sources=SOURCES, txt_encrypt_enabled=True), "--txt-encrypt-enabled"),
        (DnsSettings(sources=SOURCES, txt_encrypt_aes_key="secret"), "--txt-encrypt-aes-key"),
        (DnsSettings(sources=SOURCES, txt_owner_id="me", migrate_from_txt_owner="me"), "--migrate-from-txt-owner"),
        (DnsSettings(sources=SOURCES, registry="noop", migrate_from_txt_owner="old"), "--migrate-from-txt-owner"),
        (DnsSettings(sources=SOURCES, registry="dynamodb", migrate_from_txt_owner="old"), "--migrate-from-txt-owner"),
        (DnsSettings(sources=SOURCES, registry="dynamodb", txt_owner_id=""), "--txt-owner-id"),
        (DnsSettings(sources=SOURCES, registry="crd", txt_owner_id=""), "--txt-owner-id"),
        (DnsSettings(sources=SOURCES, registry="crd", txt_owner_id="my cluster"), "--txt-owner-id"),
        (DnsSettings(sources=SOURCES, delete_grace=-1), "--delete-grace"),
        (DnsSettings(sources=SOURCES, events_emit=("RecordGone",)), "--events-emit"),
        (DnsSettings(sources=SOURCES, txt_owner_id="me,them"), "--txt-owner-id"),
        (DnsSettings(sources=SOURCES, migrate_from_txt_owner='"them'), "--migrate-from-txt-owner"),
        (DnsSettings(sources=SOURCES, domain_filter=("example.com,example.org",)), "--domain-filter"),
        (DnsSettings(sources=SOURCES, domain_filter=("https://example.com",)), "--domain-filter"),
        (DnsSettings(sources=SOURCES, domain_filter=("example..com",)), "--domain-filter"),
        (DnsSettings(sources=SOURCES, exclude_domains=("a.example.com:53",)), "--exclude-domains"),
        (DnsSettings(sources=SOURCES, exclude_domains=("example.com example.org",)), "--exclude-domains"),
    ],
)
def test_what_cannot_work_is_refused_by_its_flag(settings: DnsSettings, flag: str) -> None:
    (wrong,) = settings.check()
    assert wrong.startswith(f"{flag}: ")
    assert "secret" not in wrong
