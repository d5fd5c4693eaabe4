"""An authority for certificates of tests."""

from __future__ import annotations

from pathlib import Path

import trustme


class Authority:
    """An authority, with the files that it writes for both sides."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._authority = trustme.CA()
        self.file = folder / "authority.pem"
        self._authority.cert_pem.write_to_path(self.file)

    def issue(self, name: str) -> tuple[Path, Path]:
        """A certificate and its key."""
        issued = self._authority.issue_cert(name)
        certificate, key = self._folder / f"{name}.pem", self._folder / f"{name}.key"
        certificate.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
        issued.private_key_pem.write_to_path(key)
        return certificate, key
