"""The templates of config-network that shape names: the part of Go's text/template that such names are written in.

Known are texts, fields (`{{.Name}}`), keys of maps (`{{.Labels.team}}`, `{{index .Annotations "team"}}`) and trimmed
delimiters (`{{-`, `-}}`). Anything else is not guessed at: it is told as unknown where the template is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

Fields = Mapping[str, str | Mapping[str, str]]

_ACTION = re.compile(r"(\s+)?\{\{-\s(.*?)\}\}|\{\{(.*?)\}\}", re.DOTALL)
_FIELD = re.compile(r"\.([A-Za-z_][A-Za-z0-9_]*)(?:\.([A-Za-z_][A-Za-z0-9_]*))?")
_INDEX = re.compile(r'index\s+\.([A-Za-z_][A-Za-z0-9_]*)\s+(?:"([^"\\]*)"|`([^`]*)`)')


class TemplateFault(ValueError):
    """A template that cannot be used: the text says which part of it, and what was wanted."""


class UnknownAction(TemplateFault):
    """A template with an action that Go may know, but gatepost does not."""


def filled(template: str, fields: Fields) -> str:
    """The text that a template gives for these fields. A key that a map lacks is empty, as in Go.

    Raises: TemplateFault for a field that does not exist or an action that is not closed; UnknownAction.
    """
    result = ""
    at = 0
    trim_next = False
    for action in _ACTION.finditer(template):
        result += _text(template[at : action.start()], trim_start=trim_next)
        trimmed, plain = action.group(2), action.group(3)
        body = plain if trimmed is None else trimmed
        trim_next = body.endswith(" -")
        result += _value(body.removesuffix(" -").strip(), fields)
        at = action.end()
    rest = template[at:]
    if "{{" in rest or "}}" in rest:
        raise TemplateFault(f"found {template!r}, wanted each '{{{{' closed by '}}}}'")
    return result + _text(rest, trim_start=trim_next)


def _text(text: str, *, trim_start: bool) -> str:
    return text.lstrip() if trim_start else text


def _value(action: str, fields: Fields) -> str:
    by_field = _FIELD.fullmatch(action)
    by_index = _INDEX.fullmatch(action)
    if by_field is not None:
        name, key = by_field.group(1), by_field.group(2)
    elif by_index is not None:
        name, key = by_index.group(1), by_index.group(2) or by_index.group(3) or ""
    else:
        raise UnknownAction(
            f'found {{{{{action}}}}}, wanted a field such as {{{{.Name}}}} or {{{{index .Labels "key"}}}}'
        )
    value = fields.get(name)
    if value is None:
        raise TemplateFault(f"found {{{{{action}}}}}, wanted one of the fields {', '.join(sorted(fields))}")
    if isinstance(value, str) and key is None:
        return value
    if isinstance(value, str) or key is None:
        raise TemplateFault(f"found {{{{{action}}}}}, wanted a key of a map, or a field that is a text")
    return value.get(key, "")
