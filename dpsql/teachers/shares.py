"""Which units a teacher has: by a keyed hash of the unit, whoever else is there.

    p1 p2 p3 p4 p5   ->   teacher 0: p2 p5    teacher 1: -    teacher 2: p1 p3 p4

Claim   the rows of a teacher, and their order, depend on nothing but the rows of its own units.
Proof   A unit's teacher is computed from the ledger's salt and the unit. A teacher's rows are sorted by unit
        and then by all that is in them: two rows that compare equal are equal, so that no order of the engine
        is left.
Test    tests/privacy/test_votes.py
"""

from __future__ import annotations

import hmac

from dpsql.accounting.units_file import unit_hash
from dpsql.ir.votes import Example, Examples


def key_of_teachers(salt: str) -> bytes:
    """Return the key that units are hashed with: secret, and the same as long as the ledger is."""
    return hmac.digest(salt.encode(), b"teachers of votes", "sha256")


def shares(examples: Examples, teachers: int, key: bytes) -> list[list[Example]]:
    """Return the rows of each teacher."""
    sorted_by: list[list[tuple[tuple[str, ...], str, Example]]] = [[] for _ in range(teachers)]
    for unit, example in examples.rows:
        same = tuple(_one_nan(value) for value in example)
        sorted_by[teacher_of(unit, teachers, key)].append((unit, repr(same), same))
    return [[example for _, _, example in sorted(rows, key=lambda row: row[:2])] for rows in sorted_by]


def teacher_of(unit: tuple[str, ...], teachers: int, key: bytes) -> int:
    """Return the number of the teacher that has a unit."""
    return int.from_bytes(unit_hash(key, unit)) % teachers


def _one_nan(value: object) -> object:
    return float("nan") if isinstance(value, float) and value != value else value
