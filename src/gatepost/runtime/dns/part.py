"""What the writing of DNS is put together from: one provider, and how names are written to it."""

from __future__ import annotations

from msgspec import Struct

from gatepost.dns.ownership.txt_format import Cipher
from gatepost.dns.settings import DnsSettings
from gatepost.providers.contract import Provider
from gatepost.registries.contract import OwnershipStore
from gatepost.runtime.dns.pace import Pace


class DnsPart(Struct, frozen=True):
    """Where record sets go, and how.

    Attributes:
        settings: those of the rules.
        pace: how often DNS is written, and compared with what the provider holds.
        allow: lets plans through however much they remove, and what nobody is known to own.
        cipher: opens the texts of ownership records, and seals them if the settings say so.
        store: where ownership is kept beside DNS; None if it is in the zone or nowhere.
    """

    settings: DnsSettings
    provider: Provider
    pace: Pace = Pace()
    allow: bool = False
    cipher: Cipher | None = None
    store: OwnershipStore | None = None
