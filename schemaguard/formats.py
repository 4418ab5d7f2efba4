"""The formats that APIs of tools know, asserted without other packages.

`FORMATS` has the ten of the `format` keyword that providers document for tools. jsonschema alone
asserts those for which an optional package happens to be installed. Each predicate is linear in a
text, which may have at most `MAX_TEXT` characters: no value of these formats is longer.
"""

from __future__ import annotations

import re
from datetime import date
from ipaddress import AddressValueError, IPv4Address, IPv6Address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FORMATS", "MAX_TEXT", "is_of_format"]

MAX_TEXT = 8_192

_date = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}").fullmatch
_time = re.compile(
    r"([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9]|60)(\.[0-9]+)?"
    r"([Zz]|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))"
).fullmatch
_duration = re.compile(
    r"P(?!$)([0-9]+W|([0-9]+Y)?([0-9]+M)?([0-9]+D)?(T(?=[0-9])([0-9]+H)?([0-9]+M)?([0-9]+S)?)?)"
).fullmatch
_label = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?").fullmatch
_atom = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+").fullmatch
_quoted = re.compile(r'"([^"\\\x00-\x1f]|\\[ -~])*"').fullmatch
_uuid = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}").fullmatch
_scheme = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:").match
_uri_rest = re.compile(r"([A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*").fullmatch


def _is_date(text: str) -> bool:
    if not _date(text):
        return False
    try:
        date(int(text[:4]), int(text[5:7]), int(text[8:]))
    except ValueError:
        return False
    return True


def _is_time(text: str) -> bool:
    """RFC 3339, with an offset; a leap second is one only where it is 23:59:60 in UTC."""
    match = _time(text)
    if match is None:
        return False
    if match[3] != "60":
        return True
    minutes = int(match[1]) * 60 + int(match[2])
    if match[6]:
        shift = int(match[7]) * 60 + int(match[8])
        minutes += shift if match[6] == "-" else -shift
    return minutes % 1_440 == 1_439


def _is_date_time(text: str) -> bool:
    return text[10:11] in ("T", "t") and _is_date(text[:10]) and _is_time(text[11:])


def _is_duration(text: str) -> bool:
    return _duration(text) is not None


def _is_hostname(text: str) -> bool:
    return len(text) <= 253 and all(map(_label, text.split(".")))


def _is_email(text: str) -> bool:
    local, at, domain = text.rpartition("@")
    if not at or not (all(map(_atom, local.split("."))) or _quoted(local)):
        return False
    if domain.startswith("[") and domain.endswith("]"):
        inner = domain[1:-1]
        return _is_ipv6(inner[5:]) if inner.startswith("IPv6:") else _is_ipv4(inner)
    return _is_hostname(domain)


def _is_ipv4(text: str) -> bool:
    try:
        IPv4Address(text)
    except AddressValueError:
        return False
    return True


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return "%" not in text


def _is_uuid(text: str) -> bool:
    return _uuid(text) is not None


def _is_uri(text: str) -> bool:
    scheme = _scheme(text)
    rest = "" if scheme is None else text[scheme.end() :]
    return scheme is not None and _uri_rest(rest) is not None and rest.count("#") <= 1


FORMATS: dict[str, Callable[[str], bool]] = {
    "date": _is_date,
    "date-time": _is_date_time,
    "duration": _is_duration,
    "email": _is_email,
    "hostname": _is_hostname,
    "ipv4": _is_ipv4,
    "ipv6": _is_ipv6,
    "time": _is_time,
    "uri": _is_uri,
    "uuid": _is_uuid,
}


def is_of_format(text: str, name: str) -> bool:
    """Whether a text is of a format; of one that is not in `FORMATS`, always."""
    predicate = FORMATS.get(name)
    return predicate is None or (len(text) <= MAX_TEXT and predicate(text))
