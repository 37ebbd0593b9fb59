"""Rows that tempt a reader to decide by statistics, and one unit among them with odd values.

id  unit  what    n   ...      constants beside NULLs, blocks of one value, few values, sorted ones
 0     4  pill    7
 1  UNIT  drip    7            the unit's are drawn wider
 2     4  NULL    7
"""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

UNIT = 1000
"""The unit that is there or not."""

LONGEST = 70
"""Beyond this many letters writers cut the least and greatest text short."""

_DAY = dt.date(2024, 2, 29)
_TIME = dt.datetime(2024, 2, 29, 12, 30)
_TEXTS = (
    "pill",
    "drip",
    "",
    "k",
    "Zebra",
    "é",
    "zz",
    "pil",
    "pills",
    "a" * LONGEST + "1",
    "a" * LONGEST + "2",
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of columns: what it is called here and there, and values that a column may have."""

    arrow: pa.DataType
    duckdb: str
    values: tuple[Any, ...]


KINDS = {
    "text": Kind(pa.string(), "VARCHAR", _TEXTS),
    "blob": Kind(pa.binary(), "BLOB", (*(each.encode() for each in _TEXTS), b"\xff\xfe", b"\x00")),
    "tiny": Kind(pa.int8(), "TINYINT", (0, 7, -1, 127, -128, 3)),
    "integer": Kind(pa.int32(), "INTEGER", (0, 7, -1, 2**31 - 1, -(2**31), 50)),
    "bigint": Kind(pa.int64(), "BIGINT", (0, 7, -1, 2**63 - 1, -(2**63), 50)),
    "unsigned": Kind(pa.uint32(), "UINTEGER", (0, 7, 1, 2**32 - 1, 2**31, 50)),
    "ubigint": Kind(pa.uint64(), "UBIGINT", (0, 7, 1, 2**64 - 1, 2**63, 50)),
    "float": Kind(pa.float32(), "FLOAT", (0.0, -0.0, 7.0, 0.5, math.inf, -math.inf, math.nan, 50.0)),
    "double": Kind(pa.float64(), "DOUBLE", (0.0, -0.0, 7.0, 1e300, math.inf, -math.inf, math.nan, 50.0)),
    "decimal": Kind(
        pa.decimal128(9, 2), "DECIMAL(9,2)", tuple(map(Decimal, ("0", "7.25", "-1", "9999999.99")))
    ),
    "wide": Kind(pa.decimal128(38, 4), "DECIMAL(38,4)", tuple(map(Decimal, ("0", "7.25", "-1", "1e30")))),
    "boolean": Kind(pa.bool_(), "BOOLEAN", (True, False)),
    "date": Kind(pa.date32(), "DATE", (_DAY, dt.date(1969, 12, 31), dt.date(9999, 12, 31), dt.date(1, 1, 1))),
    "moment": Kind(
        pa.timestamp("us"), "TIMESTAMP", (_TIME, dt.datetime(1969, 12, 31), dt.datetime(9999, 12, 31))
    ),
    "time": Kind(pa.time64("us"), "TIME", (dt.time(0), dt.time(12, 30), dt.time(23, 59, 59, 999999))),
}
NESTED = ("text", "blob", "integer", "double")


@dataclass(frozen=True, slots=True)
class Column:
    """``path`` is how a statement says it: a column, or a field of one."""

    name: str
    kind: Kind
    inside: bool = False

    @property
    def path(self) -> str:
        return f"{self.name}.inner" if self.inside else self.name

    @property
    def arrow(self) -> pa.DataType:
        return (
            pa.struct([("inner", self.kind.arrow), ("other", pa.int32())]) if self.inside else self.kind.arrow
        )


@dataclass(frozen=True, slots=True)
class Drawn:
    """A table with the unit, and without."""

    columns: tuple[Column, ...]
    whole: pa.Table

    @property
    def without(self) -> pa.Table:
        return self.whole.filter(pc.not_equal(self.whole["unit"], UNIT))


def drawn(rng: random.Random, kinds: Sequence[str] = tuple(KINDS), nested: bool = True) -> Drawn:
    """Some columns of some kinds, with a number for each row and the unit that it belongs to."""
    size = rng.choice((40, 300, 2100, 2100, 5000))
    chosen = [rng.choice(("text", rng.choice(kinds))) for _ in range(3)]
    columns = tuple(
        Column(f"c{i}", KINDS[kind], nested and kind in NESTED and rng.random() < 0.25)
        for i, kind in enumerate(chosen)
    )
    units = [rng.randrange(max(2, size // 8)) for _ in range(size)]
    for place in _places(rng, size):
        units[place] = UNIT
    arrays = [pa.array(range(size), pa.int64()), pa.array(units, pa.int64())]
    for column in columns:
        values = _values(rng, column.kind, size)
        odd = rng.choice(((None,), column.kind.values, (None, *column.kind.values)))
        values = [rng.choice(odd) if unit == UNIT else each for unit, each in zip(units, values, strict=True)]
        if column.inside:
            gone = rng.random() < 0.3
            rows = [
                None if gone and i % 11 == 3 else {"inner": x, "other": i % 3} for i, x in enumerate(values)
            ]
            arrays.append(pa.array(rows, column.arrow))
        else:
            arrays.append(pa.array(values, column.arrow))
    return Drawn(columns, pa.table(arrays, ["id", "unit", *(each.name for each in columns)]))


def _places(rng: random.Random, size: int) -> list[int]:
    """Where the unit's rows are: one, few, or many."""
    if rng.random() < 0.6:
        return [rng.choice((0, size - 1, rng.randrange(size)))]
    return rng.sample(range(size), rng.choice((2, size // 10)))


def _values(rng: random.Random, kind: Kind, size: int) -> list[Any]:
    """What the others have."""
    pool = rng.sample(kind.values, rng.choice((1, 1, 1, min(2, len(kind.values)), len(kind.values))))
    style = rng.choice(("even", "blocks", "sorted"))
    block = rng.choice((16, 128, 700))
    values = [pool[i // block % len(pool)] if style == "blocks" else rng.choice(pool) for i in range(size)]
    if style == "sorted":
        values.sort(key=lambda each: (each != each, str(each) if kind.duckdb == "BLOB" else each))
    nulls = rng.choice((0.0, 0.02, 0.3, 1.0 if rng.random() < 0.1 else 0.02))
    start = 0 if rng.random() < 0.7 else size // 2
    return [None if i >= start and rng.random() < nulls else each for i, each in enumerate(values)]
