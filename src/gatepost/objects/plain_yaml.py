"""YAML as Kubernetes reads it: the values of JSON. A date is a string, as in manifests."""

from __future__ import annotations

from typing import Any

import yaml


class NotYaml(ValueError):
    """A text that is no YAML. `line` counts from 1, and is 0 where it is not known."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(f"line {line}: {problem}" if line else problem)
        self.problem = problem
        self.line = line


_TIMESTAMP = "tag:yaml.org,2002:timestamp"


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader without dates: it reads 2026-01-02 as one, and fails at 2026-13-45."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - the form that PyYAML has
        first: [(tag, form) for tag, form in found if tag != _TIMESTAMP]
        for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    yaml_constructors = {**yaml.SafeLoader.yaml_constructors, _TIMESTAMP: yaml.SafeLoader.construct_yaml_str}  # noqa: RUF012


def read_yaml(text: str | bytes) -> Any:
    """The value of the one document in a text, None if it is empty. Raises: NotYaml, whatever is wrong with it."""
    documents = read_all_yaml(text)
    if len(documents) > 1:
        raise NotYaml("more than one document", 0)
    return documents[0] if documents else None


def lines_of_keys(text: str) -> list[tuple[str, int]]:
    """The keys of the mapping in a text that `read_yaml` can read, each with its line from 1 on; in their order.

    A key that stands there twice comes twice.
    """
    node = yaml.compose(text, Loader=_Loader)
    if not isinstance(node, yaml.MappingNode):
        return []
    return [(str(key.value), key.start_mark.line + 1) for key, _ in node.value]


def read_all_yaml(text: str | bytes) -> list[Any]:
    """The values of all documents in a text. Raises: NotYaml."""
    try:
        return list(yaml.load_all(text, Loader=_Loader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = str(getattr(error, "problem", None) or error)
        raise NotYaml(problem, mark.line + 1 if mark is not None else 0) from error
    except (ValueError, LookupError, TypeError) as error:  # a value that does not fit its tag, as in `!!int one`
        raise NotYaml(f"a value that does not fit its type ({error})", 0) from error
    except RecursionError as error:
        raise NotYaml("values nested too deep", 0) from error
