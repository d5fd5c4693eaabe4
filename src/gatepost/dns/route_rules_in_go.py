"""The rules of a Route with the names of Go's fields, and with the defaults that the API writes into them.

Source: Gateway API, Go types of v1 and v1alpha2 (bundle 1.4) and its custom resource definitions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gatepost.dns.sources.hostnames import TemplateFailed
from gatepost.gotemplate import NIL_POINTER, Fields, pointer_to

_REF = {"group": "*string=", "kind": '*string="Service"', "name": "string", "namespace": "*string", "port": "*int"}
_FILTER = {
    "type": "string",
    "requestHeaderModifier": "*HTTPHeaderFilter",
    "responseHeaderModifier": "*HTTPHeaderFilter",
    "requestMirror": "*HTTPRequestMirrorFilter",
}
_MATCH = {"type": '*string="Exact"', "name": "string", "value": "string"}
_PLAIN_RULE = {"name": "*string", "backendRefs": "[]BackendRef"}

_TYPES: Mapping[str, Mapping[str, str]] = {
    "HTTPRouteRule": {
        "name": "*string",
        "matches": "[]HTTPRouteMatch=[{}]",
        "filters": "[]HTTPRouteFilter",
        "backendRefs": "[]HTTPBackendRef",
        "timeouts": "*HTTPRouteTimeouts",
        "retry": "*HTTPRouteRetry",
        "sessionPersistence": "*SessionPersistence",
    },
    "GRPCRouteRule": {
        "name": "*string",
        "matches": "[]GRPCRouteMatch",
        "filters": "[]GRPCRouteFilter",
        "backendRefs": "[]GRPCBackendRef",
        "sessionPersistence": "*SessionPersistence",
    },
    "TLSRouteRule": _PLAIN_RULE,
    "TCPRouteRule": _PLAIN_RULE,
    "UDPRouteRule": _PLAIN_RULE,
    "HTTPRouteMatch": {
        "path": "*HTTPPathMatch={}",
        "headers": "[]HTTPHeaderMatch",
        "queryParams": "[]HTTPQueryParamMatch",
        "method": "*string",
    },
    "HTTPPathMatch": {"type": '*string="PathPrefix"', "value": '*string="/"'},
    "HTTPHeaderMatch": _MATCH,
    "HTTPQueryParamMatch": _MATCH,
    "GRPCRouteMatch": {"method": "*GRPCMethodMatch", "headers": "[]GRPCHeaderMatch"},
    "GRPCMethodMatch": {"type": '*string="Exact"', "service": "*string", "method": "*string"},
    "GRPCHeaderMatch": _MATCH,
    "HTTPRouteFilter": {
        **_FILTER,
        "requestRedirect": "*HTTPRequestRedirectFilter",
        "urlRewrite": "*HTTPURLRewriteFilter",
        "cors": "*HTTPCORSFilter",
        "externalAuth": "*HTTPExternalAuthFilter",
        "extensionRef": "*LocalObjectReference",
    },
    "GRPCRouteFilter": {**_FILTER, "extensionRef": "*LocalObjectReference"},
    "HTTPHeaderFilter": {"set": "[]HTTPHeader", "add": "[]HTTPHeader", "remove": "[]string"},
    "HTTPHeader": {"name": "string", "value": "string"},
    "HTTPRequestMirrorFilter": {"backendRef": "BackendObjectReference", "percent": "*int", "fraction": "*Fraction"},
    "Fraction": {"numerator": "int", "denominator": "*int=100"},
    "HTTPRequestRedirectFilter": {
        "scheme": "*string",
        "hostname": "*string",
        "path": "*HTTPPathModifier",
        "port": "*int",
        "statusCode": "*int=302",
    },
    "HTTPURLRewriteFilter": {"hostname": "*string", "path": "*HTTPPathModifier"},
    "HTTPPathModifier": {"type": "string", "replaceFullPath": "*string", "replacePrefixMatch": "*string"},
    "HTTPCORSFilter": {
        "allowOrigins": "[]string",
        "allowCredentials": "*bool",
        "allowMethods": "[]string",
        "allowHeaders": "[]string",
        "exposeHeaders": "[]string",
        "maxAge": "int=5",
    },
    "HTTPExternalAuthFilter": {
        "protocol": "string",
        "backendRef": "BackendObjectReference",
        "grpc": "*GRPCAuthConfig",
        "http": "*HTTPAuthConfig",
        "forwardBody": "*ForwardBodyConfig",
    },
    "GRPCAuthConfig": {"allowedHeaders": "[]string"},
    "HTTPAuthConfig": {"path": "string", "allowedHeaders": "[]string", "allowedResponseHeaders": "[]string"},
    "ForwardBodyConfig": {"maxSize": "int"},
    "LocalObjectReference": {"group": "string", "kind": "string", "name": "string"},
    "HTTPBackendRef": {"": "BackendRef", "filters": "[]HTTPRouteFilter"},
    "GRPCBackendRef": {"": "BackendRef", "filters": "[]GRPCRouteFilter"},
    "BackendRef": {"": "BackendObjectReference", "weight": "*int=1"},
    "BackendObjectReference": _REF,
    "HTTPRouteTimeouts": {"request": "*string", "backendRequest": "*string"},
    "HTTPRouteRetry": {"codes": "[]int", "attempts": "*int", "backoff": "*string"},
    "SessionPersistence": {
        "sessionName": "*string",
        "absoluteTimeout": "*string",
        "idleTimeout": "*string",
        "type": '*string="Cookie"',
        "cookieConfig": "*CookieConfig",
    },
    "CookieConfig": {"lifetimeType": '*string="Session"'},
}
"""Struct -> key in YAML -> type in Go, with = and the default of the API in JSON. The key "" is an embedded struct.

A named text or number of Go is its plain type here: in a template only its value counts.
"""

_GO_NAMES = {
    "urlRewrite": "URLRewrite",
    "cors": "CORS",
    "protocol": "ExternalAuthProtocol",
    "grpc": "GRPCAuthConfig",
    "http": "HTTPAuthConfig",
    "allowedHeaders": "AllowedRequestHeaders",
}
"""The fields whose names in Go are not those of YAML with a capital letter."""

_SCALARS: Mapping[str, tuple[type, Any]] = {"string": (str, ""), "int": (int, 0), "bool": (bool, False)}
_ALPHA = ("TLSRoute", "TCPRoute", "UDPRoute")
_DEFAULT_RULES = '=[{"matches":[{}]}]'


def with_defaults(rules: Any, kind: str) -> Any:
    """Raw rules of a Route of that kind with the defaults that the API writes out."""
    return _defaulted(rules, f"[]{kind}Rule{_DEFAULT_RULES if kind == 'HTTPRoute' else ''}")


def rules_in_go(rules: Any, kind: str) -> list[Fields]:
    """The rules, with their defaults, as Go has them.

    Raises: TemplateFailed if a field has another type than Go gives it.
    """
    found: list[Fields] = _value(rules, f"[]{kind}Rule", "spec.rules", "v1alpha2" if kind in _ALPHA else "v1")
    return found


def _defaulted(raw: Any, declared: str) -> Any:
    type_, has_default, default = declared.partition("=")
    if raw is None:
        if not has_default:
            return None
        raw = json.loads(default or '""')
    element = type_.lstrip("*").removeprefix("[]")
    if element not in _TYPES:
        return raw
    if "[]" in type_:
        return [_defaulted(one, element) for one in raw] if isinstance(raw, list) else raw
    return _struct_defaulted(raw, element) if isinstance(raw, dict) else raw


def _struct_defaulted(raw: Mapping[str, Any], struct: str) -> dict[str, Any]:
    filled = dict(raw)
    for key, declared in _TYPES[struct].items():
        if not key:
            filled = _struct_defaulted(filled, declared)
        elif (value := _defaulted(raw.get(key), declared)) is not None:
            filled[key] = value
    return filled


def _value(raw: Any, declared: str, at: str, package: str = "v1") -> Any:
    """A raw value as that type of Go; what is not there is the zero value of the type."""
    type_ = declared.partition("=")[0]
    if type_.startswith("*"):
        return NIL_POINTER if raw is None else pointer_to(_value(raw, type_[1:], at))
    if type_.startswith("[]"):
        found = _checked(raw, list, [], at)
        return [_value(one, type_[2:], f"{at}[{index}]", package) for index, one in enumerate(found)]
    if type_ in _SCALARS:
        return _checked(raw, *_SCALARS[type_], at)
    return _struct(_checked(raw, dict, {}, at), type_, at, package)


def _checked(raw: Any, wanted: type, zero: Any, at: str) -> Any:
    if raw is None:
        return zero
    if type(raw) is not wanted:
        raise TemplateFailed(f"{at}: found {raw!r}, wanted a value of type {wanted.__name__}")
    return raw


def _struct(raw: Mapping[str, Any], struct: str, at: str, package: str) -> Fields:
    values: dict[str, Any] = {}
    promoted: dict[str, Any] = {}
    for key, declared in _TYPES[struct].items():
        if key:
            values[_go_name(key)] = _value(raw.get(key), declared, f"{at}.{key}")
        else:
            embedded = _struct(raw, declared, at, "v1")
            values[declared] = embedded
            promoted = {**embedded.promoted, **embedded.values}
    return Fields(f"{package}.{struct}", values, promoted=promoted)


def _go_name(key: str) -> str:
    return _GO_NAMES.get(key) or key[0].upper() + key[1:]
