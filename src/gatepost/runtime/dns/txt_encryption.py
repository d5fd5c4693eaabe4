"""The texts of ownership records under AES-256-GCM, as external-dns writes and reads them.

text -> gzip -> AES-256-GCM under a nonce of 12 bytes -> base64 of nonce, ciphertext and tag, in double quotes
"""

from __future__ import annotations

import binascii
import gzip
import os
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable

from gatepost.dns.ownership.txt_format import Cipher
from gatepost.dns.rules import BadSettings
from gatepost.dns.settings import DnsSettings

_NONCE_BYTES, _TAG_BYTES = 12, 16
_LONGEST_TEXT = 65536  # of a TXT record no text can be longer: what would unpack to more is not ours


class EncryptionNotInstalled(BadSettings):
    """The library that encrypts is not there; the text says how to get it."""


class TxtCipher:
    """Seals and opens texts with one key.

    Args:
        key: 32 bytes.
        random_bytes: gives that many bytes that nobody can foretell; a nonce must never come twice.
    Raises: EncryptionNotInstalled
    """

    def __init__(self, key: bytes, random_bytes: Callable[[int], bytes] = os.urandom) -> None:
        try:
            from cryptography.exceptions import InvalidTag
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        except ImportError as error:
            message = "--txt-encrypt-aes-key: needs the library cryptography: pip install 'gatepost[encryption]'"
            raise EncryptionNotInstalled(message) from error
        self._aead = AESGCM(key)
        self._invalid = InvalidTag
        self._random_bytes = random_bytes

    def seal(self, text: str) -> str:
        nonce = self._random_bytes(_NONCE_BYTES)
        packed = gzip.compress(text.strip('"').encode(), 9, mtime=0)
        return f'"{b64encode(nonce + self._aead.encrypt(nonce, packed, None)).decode()}"'

    def open(self, text: str) -> str | None:
        try:
            sealed = b64decode(text.strip('"').replace('" "', ""), validate=True)
        except (binascii.Error, ValueError):
            return None
        if len(sealed) < _NONCE_BYTES + _TAG_BYTES:
            return None
        try:
            packed = self._aead.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], None)
            return _unpacked(packed)
        except (self._invalid, zlib.error, UnicodeDecodeError):
            return None


def cipher_for(settings: DnsSettings) -> Cipher | None:
    """What opens the ownership records of these settings, None if they have no key. Raises: EncryptionNotInstalled"""
    return TxtCipher(settings.aes_key) if settings.registry != "noop" and settings.aes_key is not None else None


def _unpacked(packed: bytes) -> str:
    return zlib.decompressobj(wbits=31).decompress(packed, _LONGEST_TEXT).decode()
