"""The templates of config-network that shape names, in the language of Go's text/template."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from gatepost.gotemplate import Fields, Strings, Template, TemplateError, TemplateSyntaxError

_KEPT = 32


class TemplateFault(ValueError):
    """A template that cannot be used: the text says where and why."""


def public_name(
    template: str, *, name: str, namespace: str, domain: str, annotations: Mapping[str, str], labels: Mapping[str, str]
) -> str:
    """The text that `domain-template` gives for a target of a Route; `name` is the first label of its host.

    Raises: TemplateFault
    """
    values = {
        "Name": name,
        "Namespace": namespace,
        "Domain": domain,
        "Annotations": Strings(annotations),
        "Labels": Strings(labels),
    }
    return _filled(template, "domain-template", "DomainTemplateValues", values)


def tagged_name(template: str, *, name: str, tag: str) -> str:
    """The text that `tag-template` gives: the first label of the hosts of a tag.

    Raises: TemplateFault
    """
    return _filled(template, "tag-template", "TagTemplateValues", {"Name": name, "Tag": tag})


def _filled(template: str, key: str, type_name: str, values: Mapping[str, Any]) -> str:
    try:
        return _parsed(template, key).execute(Fields(type_name, values))
    except (TemplateSyntaxError, TemplateError) as error:
        raise TemplateFault(str(error)) from error


@lru_cache(maxsize=_KEPT)
def _parsed(template: str, key: str) -> Template:
    """The parsed template, kept: one text serves all Routes."""
    return Template.parse(template, name=key)
