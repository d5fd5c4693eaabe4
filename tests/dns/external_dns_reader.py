"""How external-dns finds the record behind an ownership record: written after its rules, with no code of ours."""

from __future__ import annotations

TEMPLATE = "%{record_type}"
TYPES = ("A", "AAAA", "CNAME", "NS", "MX", "PTR", "SRV", "NAPTR", "TXT", "DNAME")


def record_behind(txt_name: str, prefix: str = "", suffix: str = "") -> tuple[str, str] | None:
    """Name and type of the record, "" for the type in the format of before 0.12; None if the affix does not fit."""
    if TEMPLATE in prefix + suffix:
        for type_ in TYPES:
            fits = _without_affix(txt_name, _with_type(prefix, type_), _with_type(suffix, type_))
            if fits is not None:
                return fits, type_
        return None
    name = _without_affix(txt_name, prefix.lower(), suffix.lower())
    if name is None:
        return None
    type_, dash, rest = name.partition("-")
    return (rest, type_.upper()) if dash and type_.upper() in TYPES else (name, "")


def _with_type(affix: str, type_: str) -> str:
    return affix.lower().replace(TEMPLATE, type_.lower())


def _without_affix(name: str, prefix: str, suffix: str) -> str | None:
    if prefix:
        return name.removeprefix(prefix) if name.startswith(prefix) else None
    labels = name.split(".")
    count = suffix.count(".") + 1
    head, rest = ".".join(labels[:count]), ".".join(labels[count:])
    return f"{head.removesuffix(suffix)}.{rest}" if head.endswith(suffix) else None
