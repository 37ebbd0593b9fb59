"""Objects that hold exact private facts: a log or an error that prints one shows its name alone."""

from __future__ import annotations

from typing import NoReturn


class NotShown:
    """Shows nothing and cannot be pickled."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(not shown)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(f"{type(self).__name__} holds exact numbers, which are never stored")
