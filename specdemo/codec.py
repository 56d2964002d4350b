"""Frozen dataclasses as plain JSON values and back, guided by their type hints.

Knows dataclasses, tuples, enums and numbers. Does not know events, lines or files. Reading is strict: what
does not fit its hint raises `Misfit`, whatever was handed in.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

DIGITS = 7
"""Significant digits of a written float: all that a float32 has, in half the bytes of a float64."""

LARGEST = 2**53
"""The largest whole number up to which a browser reads every one exactly."""

Reader = Callable[[Any, str], Any]
"""From parsed JSON and the path of its field to an object; `Misfit` with that path where it does not fit."""


class Misfit(Exception):
    """A value that cannot be. `key` names the sentence, `params` fill it; whoever reads lines adds the line."""

    def __init__(self, key: str, **params: object) -> None:
        super().__init__(key, params)
        self.key = key
        self.params = params


def plain(value: Any, digits: int = DIGITS) -> Any:
    """`value` as JSON values: dataclasses as objects by field name, tuples as arrays, floats with so many digits.

    Rounding twice changes nothing, so what was read can be written again to identical bytes.
    """
    if isinstance(value, float):
        rounded = float(f"{value:.{digits}g}")
        return int(rounded) if rounded.is_integer() and abs(rounded) <= LARGEST else rounded
    if isinstance(value, tuple):
        return [plain(item, digits) for item in value]
    if isinstance(value, dict):
        return {name: plain(item, digits) for name, item in value.items()}
    if is_dataclass(value):
        given = {f.name: getattr(value, f.name) for f in fields(value) if not _unsaid(f, getattr(value, f.name))}
        return {name: plain(item, digits) for name, item in given.items()}
    return value


def _unsaid(f: Field[Any], value: Any) -> bool:
    """True for a field that came later and has its default: traces from before it and after it look alike."""
    return bool(f.metadata.get("later")) and value == f.default


def typed(value: Any, hint: Any, where: str) -> Any:
    """Parsed JSON as an object of type `hint`; `Misfit` names the field that does not fit, as a path from `where`.

    A field may be missing only if its dataclass has a default for it. An int is 0 … 2^53, a float is finite, a
    whole number is a float too, True is no number.
    """
    return _reader(hint)(value, where)


@cache
def _reader(hint: Any) -> Reader:
    origin, args = get_origin(hint), get_args(hint)
    if is_dataclass(hint):
        return _record(hint)
    if origin is tuple and args[-1] is Ellipsis:
        return _list(_reader(args[0]))
    if origin is tuple:
        return _row(tuple(_reader(item) for item in args))
    if origin is dict:
        return _table(_reader(args[1]))
    if origin is UnionType:
        return _union({item: _reader(item) for item in args})
    if origin is Literal:
        return _choice({item: item for item in args})
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _choice({member.value: member for member in hint})
    return {int: _int, float: _float}.get(hint) or _exactly(hint)


def _record(hint: Any) -> Reader:
    required = {f.name for f in fields(hint) if f.default is MISSING and f.default_factory is MISSING}
    readers = {name: _reader(item) for name, item in get_type_hints(hint).items()}

    def read(value: Any, where: str) -> Any:
        # The name of an unknown field comes from the file and is not repeated.
        if type(value) is not dict or not value.keys() <= readers.keys():
            raise _misfit(where)
        if missing := required - value.keys():
            raise _misfit(f"{where}.{min(missing)}")
        return hint(**{name: readers[name](item, f"{where}.{name}") for name, item in value.items()})

    return read


def _list(item: Reader) -> Reader:
    def read(value: Any, where: str) -> Any:
        if type(value) is not list:
            raise _misfit(where)
        return tuple([item(part, where) for part in value])

    return read


def _row(items: tuple[Reader, ...]) -> Reader:
    def read(value: Any, where: str) -> Any:
        if type(value) is not list or len(value) != len(items):
            raise _misfit(where)
        return tuple([item(part, where) for item, part in zip(items, value, strict=True)])

    return read


def _table(item: Reader) -> Reader:
    def read(value: Any, where: str) -> Any:
        if type(value) is not dict:
            raise _misfit(where)
        return {name: item(part, where) for name, part in value.items()}

    return read


def _union(members: Mapping[Any, Reader]) -> Reader:
    """A value is read as the member of its own type, else as the first."""
    first = next(iter(members.values()))
    return lambda value, where: members.get(type(value), first)(value, where)


def _choice(choices: Mapping[str, Any]) -> Reader:
    def read(value: Any, where: str) -> Any:
        if type(value) is not str or value not in choices:
            raise _misfit(where)
        return choices[value]

    return read


def _exactly(kind: type) -> Reader:
    def read(value: Any, where: str) -> Any:
        if type(value) is not kind:
            raise _misfit(where)
        return value

    if kind not in (str, bool, NoneType):
        raise TypeError(f"no way to read a {kind}")
    return read


def _int(value: Any, where: str) -> int:
    if type(value) is not int or not 0 <= value <= LARGEST:
        raise _misfit(where)
    return value


def _float(value: Any, where: str) -> float:
    if type(value) is float and math.isfinite(value):
        return value
    if type(value) is int and abs(value) <= LARGEST:
        return float(value)
    raise _misfit(where)


def _misfit(where: str) -> Misfit:
    return Misfit("trace_field", field=where)
