"""Dataclasses whose methods are compiled when they are first called, if ever.

    @dataclass(frozen=True, slots=True)
    class Interval:
        low: float
        high: float

The same as ``dataclasses.dataclass``, which compiles half a dozen functions for each class while a module is
imported: for hundreds of classes a fifth of the time that a command takes. Here ``__eq__``, ``__hash__``,
``__repr__`` and the refusal to be assigned to are compiled once for all classes. ``__init__`` is made at the
first call: where all fields are arguments by position it is compiled once for all classes with as many, and
each class has it with its own names; elsewhere it is that of a standard dataclass with the same fields. A
class that inherits from one of these is made here too.

Test: tests/unit/test_lazy_dataclass.py
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from operator import attrgetter
from types import FunctionType
from typing import Any, TypeVar, dataclass_transform

_T = TypeVar("_T")
_Class = type[Any]


@dataclass_transform(field_specifiers=(dataclasses.field,))
def dataclass(
    *,
    frozen: bool = False,
    slots: bool = False,
    eq: bool = True,
    repr: bool = True,
    weakref_slot: bool = False,
    kw_only: bool = False,
) -> Callable[[type[_T]], type[_T]]:
    """Make a class a dataclass, as ``dataclasses.dataclass`` does with these options."""

    def made(cls: type[_T]) -> type[_T]:
        own = set(vars(cls))
        cls.__doc__ = cls.__doc__ or cls.__name__  # else a signature is computed to be one
        with_fields: _Class = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(cls)
        if slots:
            with_fields = _slotted(with_fields, weakref_slot)
        methods: dict[str, Any] = {"__init__": _first_init(with_fields, frozen)}
        if repr:
            methods["__repr__"] = _repr_of(with_fields)
        if eq:
            compared = _compared(with_fields)
            methods["__eq__"] = _eq_of(compared)
            methods["__hash__"] = _hash_of(compared) if frozen else None
        if frozen:
            methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
            if slots:
                methods |= {"__getstate__": _state, "__setstate__": _set_state}
        for name, method in methods.items():
            if name not in own or (name == "__hash__" and vars(with_fields)[name] is None):
                setattr(with_fields, name, method)
        return with_fields

    return made


def _slotted(cls: _Class, weakref_slot: bool) -> _Class:
    """Return the class made anew with a slot for each field that no base has one for."""
    inherited = {slot for base in cls.__mro__[1:] for slot in vars(base).get("__slots__", ())}
    content = dict(vars(cls))
    names = [field.name for field in dataclasses.fields(cls)]
    for name in (*names, "__dict__", "__weakref__"):
        content.pop(name, None)
    slots = [name for name in names if name not in inherited]
    content["__slots__"] = (*slots, *(["__weakref__"] if weakref_slot else []))
    made: _Class = type(cls)(cls.__name__, cls.__bases__, content)  # type: ignore[misc]  # its metaclass
    made.__qualname__ = cls.__qualname__
    return made


def _first_init(cls: _Class, frozen: bool) -> Callable[..., None]:
    def __init__(self: object, /, *values: object, **named: object) -> None:
        fields = dataclasses.fields(cls)
        made = _renamed(cls, fields, frozen) if _plain(fields) else _compiled(cls, fields, frozen)
        made.__qualname__ = f"{cls.__qualname__}.__init__"
        type.__setattr__(cls, "__init__", made)
        made(self, *values, **named)

    return __init__


def _plain(fields: tuple[dataclasses.Field[Any], ...]) -> bool:
    """Whether a constructor keeps its arguments, those with a default behind the others, and no more."""
    without = [field.default is dataclasses.MISSING for field in fields]
    return without == sorted(without, reverse=True) and not any(
        field.kw_only or not field.init or field.default_factory is not dataclasses.MISSING
        for field in fields
    )


def _renamed(cls: _Class, fields: tuple[dataclasses.Field[Any], ...], frozen: bool) -> FunctionType:
    """Return the constructor of as many fields, with the names and the defaults of these."""
    template = _template(len(fields), frozen, hasattr(cls, "__post_init__"))
    code, names = template.__code__, {f"_{at}": field.name for at, field in enumerate(fields)}
    own = "self" if "self" not in names.values() else "__dataclass_self__"
    renamed = code.replace(
        co_varnames=(own, *names.values()),
        co_names=tuple(names.get(name, name) for name in code.co_names),
        co_consts=tuple(names.get(each, each) if isinstance(each, str) else each for each in code.co_consts),
    )
    defaults = [field.default for field in fields if field.default is not dataclasses.MISSING]
    return FunctionType(renamed, template.__globals__, "__init__", tuple(defaults))


@cache
def _template(count: int, frozen: bool, hook: bool) -> FunctionType:
    """Compile the constructor of so many fields, which have numbers for names."""
    names = [f"_{at}" for at in range(count)]
    lines = [f"put(self, '{name}', {name})" if frozen else f"self.{name} = {name}" for name in names]
    lines += ["self.__post_init__()"] if hook else []
    namespace: dict[str, Any] = {"put": object.__setattr__}
    exec(f"def __init__({', '.join(('self', *names))}):\n " + "\n ".join(lines or ["pass"]), namespace)
    made = namespace.pop("__init__")
    assert isinstance(made, FunctionType)
    return made


def _compiled(cls: _Class, fields: tuple[dataclasses.Field[Any], ...], frozen: bool) -> FunctionType:
    """Compile the constructor that a standard dataclass has with these fields."""
    namespace: dict[str, object] = {"__doc__": cls.__name__}
    if hasattr(cls, "__post_init__"):
        namespace["__post_init__"] = None  # so that it is called; found in the instance
    alike = [(field.name, field.type, field) for field in fields]
    like: _Class = dataclasses.make_dataclass(
        cls.__name__, alike, namespace=namespace, repr=False, eq=False, frozen=frozen
    )
    made = vars(like)["__init__"]
    assert isinstance(made, FunctionType)
    return made


def _compared(cls: _Class) -> Callable[[Any], Any]:
    """Return what takes the values out of an instance by which it is compared."""
    names = [field.name for field in dataclasses.fields(cls) if field.compare]
    return attrgetter(*names) if names else lambda instance: ()


def _eq_of(compared: Callable[[Any], Any]) -> Callable[[object, object], bool]:
    def __eq__(self: object, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return bool(compared(self) == compared(other))

    return __eq__


def _hash_of(compared: Callable[[Any], Any]) -> Callable[[object], int]:
    def __hash__(self: object) -> int:
        return hash(compared(self))

    return __hash__


def _repr_of(cls: _Class) -> Callable[[object], str]:
    names = [field.name for field in dataclasses.fields(cls) if field.repr]

    def __repr__(self: object) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({shown})"

    return __repr__


def _refuse_to_set(self: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[object]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[object]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
