"""Each class here is made twice, as a standard dataclass and as one compiled late: they behave alike."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import re
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dpsql
from dpsql.lazy_dataclass import dataclass

OPTIONS: list[dict[str, Any]] = [
    {},
    {"frozen": True},
    {"slots": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "eq": False},
    {"frozen": True, "slots": True, "repr": False},
    {"frozen": True, "slots": True, "eq": False, "weakref_slot": True},
]
MAKERS: list[Callable[..., Any]] = [dataclasses.dataclass, dataclass]


def point(make: Callable[..., Any], options: dict[str, Any]) -> Any:
    @make(**options)
    class Point:
        x: int
        y: list[int] = dataclasses.field(default_factory=list)
        hidden: str = dataclasses.field(default="h", repr=False, compare=False)
        _: dataclasses.KW_ONLY
        z: float = 0.5

    return Point


def seen(make: Callable[..., Any], options: dict[str, Any]) -> list[object]:
    """What can be seen of a class and its instances."""
    cls = point(make, options)
    one, same, other = cls(1, [2]), cls(1, [2], "other"), cls(1, [2], z=0.25)
    outcomes: list[object] = [repr(one) if options.get("repr", True) else None]
    outcomes += [one == same, one == other, one == (1, [2]), one != other]
    outcomes += [[field.name for field in dataclasses.fields(one)], cls.__match_args__, cls.__qualname__]
    outcomes += [dataclasses.asdict(one), dataclasses.astuple(dataclasses.replace(one, x=7))]
    outcomes += [dataclasses.astuple(copy.deepcopy(one)), hasattr(one, "__dict__"), cls(3).y is cls(3).y]
    for act in (
        lambda: hash(one) if options.get("eq", True) else None,
        lambda: setattr(one, "x", 2),
        lambda: delattr(one, "x"),
        lambda: cls(),
        lambda: cls(1, [], "h", 2.0),
        lambda: cls(x=1, w=2),
        lambda: weakref.ref(one) and None,
    ):
        try:
            outcomes.append(act())
        except Exception as error:  # whatever it is: the same for both
            outcomes.append(type(error))
    match cls(4, z=2.0):
        case cls(x, y, z=z):
            outcomes.append((x, y, z))
    return outcomes


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_like_a_standard_dataclass(options: dict[str, Any]) -> None:
    standard, late = (seen(make, options) for make in MAKERS)
    assert late == standard


@pytest.mark.parametrize("make", MAKERS)
def test_fields_by_name_alone(make: Callable[..., Any]) -> None:
    @make(slots=True, kw_only=True)
    class Named:
        x: int
        y: list[int] = dataclasses.field(default_factory=list)
        z: int

    named = Named(z=3, x=1)
    assert (named.x, named.y, named.z) == (1, [], 3)
    assert Named.__match_args__ == ()
    assert dataclasses.replace(named, x=2) == Named(x=2, y=[], z=3)
    with pytest.raises(TypeError):
        Named(1, z=3)


@pytest.mark.parametrize("frozen", [False, True])
def test_a_constructor_is_called_and_refused_alike(frozen: bool) -> None:
    """Constructors of two and of three fields, with a hook; each class has its own names and defaults."""

    def outcomes(make: Callable[..., Any]) -> list[object]:
        hooked = list[object]()

        @make(frozen=frozen, slots=True)
        class Two:
            low: float
            high: float = 1.0

        @make(frozen=frozen, slots=True)
        class Other:
            name: str = "a"
            put: str = "b"

        @make(frozen=frozen)
        class Three:
            _0: int
            _1: int
            at: tuple[int, ...] = (3,)

            def __post_init__(self) -> None:
                hooked.append(self)

        @make(frozen=frozen)
        class Nothing:
            pass

        found: list[object] = []
        for call in (
            lambda: [Two(1.0), Two(high=2.0, low=1.0), Two(1.0, 3.0), Other(), Other(put="c"), Nothing()],
            lambda: [Three(1, 2), Three(_1=5, _0=4), Three(7, 8, at=())],
            lambda: Two(),
            lambda: Two(1.0, 2.0, 3.0),
            lambda: Two(1.0, low=2.0),
            lambda: Other(low=2.0),
            lambda: Three(at=()),
            lambda: Nothing(1),
        ):
            try:
                found.append(repr(call()))
            except TypeError as error:
                found.append(str(error))
        return [*found, len(hooked)]

    standard, late = map(outcomes, MAKERS)
    assert late == standard


def derived(make: Callable[..., Any]) -> tuple[object, ...]:
    @make(frozen=True, slots=True)
    class Base:
        a: int
        b: int = 2
        total: int = dataclasses.field(init=False, default=0)

        def __post_init__(self) -> None:
            object.__setattr__(self, "total", self.a + self.b)

    @make(frozen=True, slots=True)
    class Derived(Base):
        """Its base has fields, and a hook after the constructor."""

        c: int = 3

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Derived)

        def __repr__(self) -> str:
            return "its own"

    one = Derived(1)
    late = Derived.__hash__ is not None and hash(one) == hash(Derived(1))
    return (
        *(dataclasses.astuple(one), one == Derived(5), repr(one), late, repr(Base(1)).rpartition(".")[2]),
        *(Base(1) == Derived(1), Derived(1, c=9).c, Base(4).total, Derived.__slots__, Derived.__doc__),
    )


def test_bases_hooks_and_methods_of_its_own() -> None:
    standard, late = (derived(make) for make in MAKERS)
    assert late == standard


@dataclass(frozen=True, slots=True)
class Kept:
    """Pickled: where processes hand over plans."""

    name: str
    numbers: tuple[int, ...] = ()


def test_pickles() -> None:
    kept = Kept("a", (1, 2))
    assert pickle.loads(pickle.dumps(kept)) == kept
    assert hash(pickle.loads(pickle.dumps(kept))) == hash(kept)


def test_a_hash_is_that_of_what_is_compared() -> None:
    cls = point(dataclass, {"frozen": True, "slots": True})
    assert hash(cls(1, (2,), "a")) == hash(cls(1, (2,), "b"))
    assert len({cls(1, (2,)), cls(1, (3,))}) == 2


def test_many_threads_make_the_first_instances() -> None:
    for _ in range(50):
        cls, made = point(dataclass, {"frozen": True, "slots": True}), list[Any]()
        threads = [threading.Thread(target=lambda cls=cls, made=made: made.append(cls(1))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [cls(1)] * 4


def test_no_module_compiles_what_it_may_not_need() -> None:
    """But for a class whose instances are put in order, which a standard dataclass compiles."""
    folder = Path(dpsql.__file__).parent
    standard = re.compile(r"^from dataclasses import .*\bdataclass\b", re.MULTILINE)
    found = {
        str(path.relative_to(folder)) for path in folder.rglob("*.py") if standard.search(path.read_text())
    }
    assert found == {"server/dialect/edits.py"}


@pytest.mark.parametrize("frozen", [False, True])
def test_a_field_may_be_called_self(frozen: bool) -> None:
    def made(make: Callable[..., Any]) -> list[Any]:
        @make(frozen=frozen)
        class Named:
            self: int
            put: int = 2

        return [Named(self=1).self, Named(1).put, Named(1, put=3).put]  # type: ignore[call-arg]  # mypy's self

    assert made(dataclasses.dataclass) == made(dataclass) == [1, 2, 3]
