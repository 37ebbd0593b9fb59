"""What AND joins together, what every branch of OR says among it, means the same with three truth values."""

from __future__ import annotations

import itertools
import random

import pytest

from dpsql.ir.scalar import Call, Ref, Scalar, conjuncts

Truth = bool | None
NAMES = "abc"


def value(scalar: Scalar, row: dict[str, Truth]) -> Truth:
    match scalar:
        case Ref(name):
            return row[name]
        case Call("and", arguments):
            parts = [value(each, row) for each in arguments]
            return False if False in parts else None if None in parts else True
        case Call("or", arguments):
            parts = [value(each, row) for each in arguments]
            return True if True in parts else None if None in parts else False
    raise AssertionError(scalar)


def made(chosen: random.Random, depth: int) -> Scalar:
    if depth == 0 or chosen.random() < 0.2:
        return Ref(chosen.choice(NAMES))
    parts = tuple(made(chosen, depth - 1) for _ in range(chosen.choice((2, 2, 3))))
    return Call(chosen.choice(("and", "or")), parts)


@pytest.mark.parametrize("seed", range(200))
def test_together_they_are_the_condition(seed: int) -> None:
    scalar = made(random.Random(seed), 3)
    parts = conjuncts(scalar)
    for truths in itertools.product((True, False, None), repeat=len(NAMES)):
        row = dict(zip(NAMES, truths, strict=True))
        assert value(Call("and", parts), row) == value(scalar, row)


A, B, C = (Ref(name) for name in NAMES)


@pytest.mark.parametrize(
    ("scalar", "parts"),
    [
        (Call("or", (Call("and", (A, B)), Call("and", (C, A)))), (A, Call("or", (B, C)))),
        (Call("or", (A, Call("and", (B, A)))), (A,)),
        (Call("or", (A, B)), (Call("or", (A, B)),)),
        (Call("and", (A, Call("and", (B, C)))), (A, B, C)),
    ],
)
def test_parts(scalar: Scalar, parts: tuple[Scalar, ...]) -> None:
    assert conjuncts(scalar) == parts
