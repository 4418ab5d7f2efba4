"""A base for the public value classes: no attribute can be set after `__init__`.

Written by hand instead of `dataclasses`, which costs every importer 15 ms (it pulls in `inspect`).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_set = object.__setattr__


class Frozen:
    """A value: equal by its fields, hashable by them, without a way to change it.

    A subclass names its fields in `__slots__` and fills them in `__init__` with `_fill`.
    """

    __slots__: tuple[str, ...] = ()

    def _fill(self, **fields: object) -> None:
        for name, value in fields.items():
            _set(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: cannot delete {name!r}")

    def _fields(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash((type(self), self._fields()))

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({inner})"

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return _restore, (type(self), self._fields())


def _restore(cls: type[Frozen], fields: tuple[object, ...]) -> Frozen:
    value = object.__new__(cls)
    for name, field in zip(cls.__slots__, fields, strict=True):
        _set(value, name, field)
    return value
