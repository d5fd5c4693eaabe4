"""Which names are in reach: the domain filters of the flags, and those that a provider tells."""

from __future__ import annotations

from msgspec import Struct

from gatepost.dns.expressions import compiled
from gatepost.dns.names import unicode_name


class DomainFilter(Struct, frozen=True, omit_defaults=True):
    """Names by domain or by regular expression; empty lets every name pass.

    | filter         | lets pass                                                        |
    | `example.com`  | that name and everything below                                   |
    | `.example.com` | only what is below                                               |
    | regex          | what it finds anywhere in the name; the lists then do not matter |

    An exclusion beats an inclusion.
    Source: external-dns, domain filters and their JSON in the webhook protocol.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    regex_include: str = ""
    regex_exclude: str = ""

    def __bool__(self) -> bool:
        return bool(self.include or self.exclude or self.regex_include or self.regex_exclude)

    def matches(self, name: str) -> bool:
        return not self.refusal(name)

    def refusal(self, name: str) -> str:
        """Why a name does not pass, "" if it does."""
        name = unicode_name(name)
        if self.regex_include or self.regex_exclude:
            if self.regex_exclude and compiled(self.regex_exclude).search(name):
                return f"the excluding {self.regex_exclude!r} finds {name}"
            if self.regex_include and not compiled(self.regex_include).search(name):
                return f"{self.regex_include!r} does not find {name}"
            return ""
        if self.include and not any(_is_within(name, domain) for domain in self.include):
            return f"{name} is not in {' or '.join(self.include)}"
        return next((f"{name} is in the excluded {domain}" for domain in self.exclude if _is_within(name, domain)), "")


def domain_filter(
    include: tuple[str, ...] = (), exclude: tuple[str, ...] = (), regex_include: str = "", regex_exclude: str = ""
) -> DomainFilter:
    """The filter of texts as people write them: blanks, case, final dots and punycode do not matter."""
    return DomainFilter(_domains(include), _domains(exclude), regex_include, regex_exclude)


def _domains(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(domain for domain in (unicode_name(text) for text in texts) if domain)


def _is_within(name: str, domain: str) -> bool:
    if domain.startswith("."):
        return name.endswith(domain)
    return name == domain or name.endswith("." + domain)
