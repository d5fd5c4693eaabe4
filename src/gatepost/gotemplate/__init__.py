"""Go's text/template language: in come a text and data, out comes text.

What is parsed once can be executed any number of times. A template can neither loop for ever nor grow without bound,
and it sees nothing but its data and functions: no files, no clock. Knows nothing of Kubernetes. Methods are those that
the data is given with. Left out of Go's language: complex numbers, channels, other delimiters.
Read first: `values.py` (how data is given), then `template.py`.
"""

from gatepost.gotemplate.errors import FunctionError, TemplateError, TemplateSyntaxError
from gatepost.gotemplate.limits import Limits
from gatepost.gotemplate.template import Template
from gatepost.gotemplate.values import NIL_POINTER, Fields, Function, Strings, pointer_to

__all__ = [
    "NIL_POINTER",
    "Fields",
    "Function",
    "FunctionError",
    "Limits",
    "Strings",
    "Template",
    "TemplateError",
    "TemplateSyntaxError",
    "pointer_to",
]
