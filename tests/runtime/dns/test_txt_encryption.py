"""Ownership records under a key: what external-dns wrote is read, and what is written it can read."""

from __future__ import annotations

import base64
import gzip
import sys

import pytest

pytest.importorskip("cryptography", reason="the library that encrypts is an extra")

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.dns.settings import DnsSettings
from gatepost.runtime.dns.txt_encryption import EncryptionNotInstalled, TxtCipher, cipher_for
from publishing_cluster import Provider, gateway, namespace, publishing, route

KEY, OTHER_KEY = b"0123456789abcdef0123456789abcdef", bytes(32)
TEXT = "heritage=external-dns,external-dns/owner=me,external-dns/resource=httproute/shop/a"
# TEXT in gzip with the header that Go writes (no time, best compression, unknown system), under KEY and the nonce
# 000102030405060708090a0b. Made with the library cryptography and zlib alone.
SEALED = (
    '"AAECAwQFBgcICQoLMm6zfNkY0qyqIyR2sMZRROoMwwGoF1ROJIGVNp7iigMrRGGBerMJtYynHBwN3x4Hu8THLQZ6ED06WqdV2LEZHbtYPr2QDGrG'
    'HdAaHflxnEGx6hWUTrLDNDqwLDTwXA=="'
)


def test_a_text_that_was_sealed_elsewhere_is_opened() -> None:
    assert TxtCipher(KEY).open(SEALED) == TEXT
    assert TxtCipher(KEY).open(SEALED.strip('"')) == TEXT  # some providers list texts without quotes
    assert TxtCipher(KEY).open(f'{SEALED[:90]}" "{SEALED[90:]}') == TEXT  # and some in several strings


def test_a_sealed_text_is_nonce_and_sealed_gzip_in_base64_and_quotes() -> None:
    nonce = b"twelve bytes"
    sealed = TxtCipher(KEY, lambda count: nonce[:count]).seal(f'"{TEXT}"')
    assert (sealed[0], sealed[-1]) == ('"', '"')
    octets = base64.b64decode(sealed[1:-1], validate=True)
    assert octets[:12] == nonce
    assert gzip.decompress(AESGCM(KEY).decrypt(nonce, octets[12:], None)) == TEXT.encode()


def test_no_text_is_sealed_twice_alike() -> None:
    cipher = TxtCipher(KEY)
    assert cipher.seal(TEXT) != cipher.seal(TEXT)


def test_every_bit_of_a_sealed_text_counts() -> None:
    octets = bytearray(base64.b64decode(SEALED.strip('"')))
    for place in range(len(octets)):
        octets[place] ^= 1
        assert TxtCipher(KEY).open(base64.b64encode(octets).decode()) is None
        octets[place] ^= 1


@pytest.mark.parametrize("text", ["", '""', f'"{TEXT}"', "v=spf1 -all", "AAAA", "not base64 ü", SEALED[:60]])
def test_what_was_not_sealed_with_our_key_is_not_opened(text: str) -> None:
    assert TxtCipher(KEY).open(text) is None
    assert TxtCipher(OTHER_KEY).open(SEALED) is None


def test_a_small_text_that_unpacks_to_a_large_one_is_not_unpacked_whole() -> None:
    bomb = gzip.compress(b"x" * 50_000_000)
    sealed = base64.b64encode(bytes(12) + AESGCM(KEY).encrypt(bytes(12), bomb, None)).decode()
    opened = TxtCipher(KEY).open(sealed)
    assert opened is None or len(opened) <= 65536


def test_a_missing_library_is_told_with_the_way_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    settings = DnsSettings(sources=("crd",), txt_encrypt_aes_key=KEY.decode())
    with pytest.raises(EncryptionNotInstalled, match=r"gatepost\[encryption\]"):
        cipher_for(settings)


async def test_a_zone_with_sealed_ownership_is_taken_over_without_a_change() -> None:
    provider = Provider()
    records = (Endpoint("a.example.com", "A", ("192.0.2.1",)), Endpoint("a-a.example.com", "TXT", (SEALED,)))
    await provider.apply(Changes(create=records))
    async with publishing(
        provider, cipher=TxtCipher(KEY), txt_encrypt_enabled=True, txt_encrypt_aes_key=KEY.decode()
    ) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        await cluster.rest()
        assert len(provider.batches) == 1  # that of this test
        cluster.put(gateway("192.0.2.9"))
        assert await cluster.rest() == {"a.example.com": ("192.0.2.9",)}
        assert await provider.texts() == {"a-a.example.com": SEALED}


async def test_new_ownership_is_written_sealed() -> None:
    provider = Provider()
    async with publishing(
        provider, cipher=TxtCipher(KEY), txt_encrypt_enabled=True, txt_encrypt_aes_key=KEY.decode()
    ) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        await cluster.rest()
        (written,) = (await provider.texts()).values()
        octets = base64.b64decode(written.strip('"'), validate=True)
        assert gzip.decompress(AESGCM(KEY).decrypt(octets[:12], octets[12:], None)) == TEXT.encode()


async def test_without_the_key_sealed_records_are_those_of_others() -> None:
    provider = Provider()
    records = (Endpoint("a.example.com", "A", ("203.0.113.1",)), Endpoint("a-a.example.com", "TXT", (SEALED,)))
    await provider.apply(Changes(create=records))
    async with publishing(provider) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        assert await cluster.rest() == {"a.example.com": ("203.0.113.1",)}
        assert [problem.reason for problem in cluster.told] == ["ForeignRecord"]
