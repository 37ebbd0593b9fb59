"""What leaves ``release``: which groups, in which order, and the same again from the ledger's bytes."""

from __future__ import annotations

import copy
import datetime
import json
import math
import pickle
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from numpy.typing import NDArray

import dpsql
from dpsql.audit import plan_of
from dpsql.ir.column import Value
from dpsql.ir.group_order import rank
from dpsql.ir.plan import MeasurePlan, Noise, PublicKeys, Threshold
from dpsql.ir.table import ExactTable, ReleasedTable
from dpsql.release.release import release
from dpsql.release.serialization import from_bytes, to_bytes

BY_CITY = "SELECT city, COUNT(*) FROM patients GROUP BY city"
BY_WARD = "SELECT ward, COUNT(*) FROM patients GROUP BY ward"


def silence(noise: Noise, size: int) -> NDArray[np.int64]:
    return np.zeros(size, dtype=np.int64)


def measure_of(db: dpsql.Connection, sql: str, epsilon: float = 1.0) -> MeasurePlan:
    (each,) = plan_of(db._open(), sql, epsilon).stages[0].measures
    return each


def table(groups: list[tuple[Value, ...]], *sums: int) -> ExactTable:
    return ExactTable(groups, np.array(sums, dtype=np.int64).reshape(len(groups), -1))


# ---- thresholds --------------------------------------------------------------------------------------


def test_a_group_is_shown_from_the_planned_steps_on(db: dpsql.Connection) -> None:
    each = measure_of(db, BY_CITY)
    assert isinstance(each.rule, Threshold)
    steps = each.rule.steps
    exact = table([("below",), ("at",), ("above",)], steps - 1, steps, steps + 1)
    assert release(exact, each, silence).groups == [("above",), ("at",)]
    assert release(exact, each, silence, threshold=1).groups == [("above",), ("at",), ("below",)]


def test_the_noisy_count_decides_and_is_the_one_that_is_released(db: dpsql.Connection) -> None:
    each = measure_of(db, BY_CITY)
    assert isinstance(each.rule, Threshold)
    steps = each.rule.steps

    def shifted(noise: Noise, size: int) -> NDArray[np.int64]:
        return np.array([5, -5], dtype=np.int64)

    released = release(table([("up",), ("down",)], steps - 5, steps + 4), each, shifted)
    assert released.groups == [("up",)]
    assert released.sums.tolist() == [[steps]]


def test_the_hidden_count_decides_where_nobody_asked_for_one(db: dpsql.Connection) -> None:
    each = measure_of(db, "SELECT city, SUM(income) FROM patients GROUP BY city")
    assert isinstance(each.rule, Threshold)
    steps, place = each.rule.steps, each.rule.statistic
    assert len(each.measure.statistics) == 2
    rows = np.zeros((2, 2), dtype=np.int64)
    rows[:, 1 - place] = 10 * steps
    rows[1, place] = steps
    assert release(ExactTable([("rich",), ("many",)], rows), each, silence).groups == [("many",)]


def test_a_group_of_one_is_not_shown(db: dpsql.Connection) -> None:
    """Nome has one inhabitant; false alarms below one in a million (the query's delta is 2e-9)."""
    answer = db.execute(BY_CITY)
    assert [row[0] for row in answer] == ["Bergen", "Oslo", None]
    assert "reaches" in answer.note


def test_the_groups_of_public_sets_need_no_threshold(db: dpsql.Connection) -> None:
    """Sets (ward, city), (ward) and (): the city is private; wards on no list are in no group."""
    each = measure_of(db, "SELECT ward, city, COUNT(*) FROM patients GROUP BY ROLLUP (ward, city)")
    assert isinstance(each.rule, Threshold)
    steps = each.rule.steps
    groups: list[tuple[Value, ...]] = [(0, "A", "Nome"), (0, "A", "Oslo"), (1, "Q", None), (1, "B", None)]
    released = release(table(groups, steps - 1, steps, 2 * steps, 3), each, silence)
    assert released.groups == [
        (0, "A", "Oslo"),
        (1, "A", None),
        (1, "B", None),
        (1, "C", None),
        (2, None, None),
    ]
    assert released.sums.tolist() == [[steps], [0], [3], [0], [0]]


# ---- keys --------------------------------------------------------------------------------------------


def test_public_groups_are_completed_and_unknown_ones_dropped(db: dpsql.Connection) -> None:
    each = measure_of(db, BY_WARD)
    assert isinstance(each.rule, PublicKeys)
    released = release(table([("Q",), ("B",)], 10, 20), each, silence)
    assert released.groups == [("A",), ("B",), ("C",)]
    assert released.sums.tolist() == [[0], [20], [0]]


def test_true_is_not_one_and_numbers_of_any_type_are_equal_keys(db: dpsql.Connection) -> None:
    each = measure_of(db, BY_WARD)
    truths = replace(each, rule=PublicKeys(((False, True),)))
    assert release(table([(1,), (True,)], 5, 7), truths, silence).sums.tolist() == [[0], [7]]
    numbers = replace(each, rule=PublicKeys(((1, 2.0, Decimal("0.5")),)))
    groups: list[tuple[Value, ...]] = [(Decimal("1.0"),), (2,), (0.5,)]
    assert release(table(groups, 5, 6, 7), numbers, silence).sums.tolist() == [[7], [5], [6]]


SORTED: list[list[Value]] = [
    [None],
    [False, True, None],
    [-(10**30), -1, 0, 1, 10**30, None],
    [-math.inf, -1.5, 0.0, 5e-324, 1e300, math.inf, math.nan, None],
    [Decimal("-1.50"), Decimal("0"), Decimal("0.01"), Decimal("99999999999999999999.99"), None],
    ["", "A", "B", "a", "nan", "æ", None],
    [datetime.date(1, 1, 1), datetime.date(1950, 3, 1), datetime.date(9999, 12, 31), "infinity", None],
    [datetime.datetime(2023, 1, 1, 8), datetime.datetime(2023, 1, 1, 8, 0, 0, 500_000), None],
]


@pytest.mark.parametrize("keys", SORTED, ids=lambda keys: type(keys[0]).__name__)
def test_groups_are_sorted_whatever_order_they_come_in(keys: list[Value], db: dpsql.Connection) -> None:
    each = measure_of(db, BY_CITY)
    order = np.random.default_rng(1).permutation(len(keys)).tolist()
    for mixed in (order, order[::-1]):
        sums = [10**9 + place for place in mixed]
        released = release(table([(keys[place],) for place in mixed], *sums), each, silence)
        assert repr(released.groups) == repr([(key,) for key in keys])
        assert released.sums.ravel().tolist() == [10**9 + place for place in range(len(keys))]


def test_several_keys_sort_from_left_to_right(db: dpsql.Connection) -> None:
    each = measure_of(db, "SELECT city, smoker, COUNT(*) FROM patients GROUP BY city, smoker")
    groups: list[tuple[Value, ...]] = [("a", False), ("a", True), ("b", False), (None, False), (None, None)]
    released = release(table(groups[::-1], *[10**9] * 5), each, silence)
    assert released.groups == groups


def test_rank_tells_different_keys_of_a_column_apart() -> None:
    for keys in SORTED:
        assert len({repr(rank(key)) for key in keys}) == len(keys)


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("score", [-1.5, 0.0, math.nan, None]),  # 0.0 and -0.0 are one group
        ("height", [Decimal("150.25"), Decimal("160.50"), Decimal("170.00")]),
        ("born", [datetime.date(1950, 3, 1), datetime.date(2001, 12, 31), None]),
        (
            "seen",
            [datetime.datetime(2023, 1, 1, 8), datetime.datetime(2023, 1, 1, 8, 0, 0, 500_000)],
        ),
        ("smoker", [False, True]),
        ("CASE WHEN age < 40 THEN 0 END", [0, None]),
        ("city", ["Bergen", "Oslo", None]),
    ],
)
def test_keys_of_every_type_come_back_as_they_are(key: str, shown: list[Value], db: dpsql.Connection) -> None:
    """Through the whole program, and again from the ledger."""
    sql = f"SELECT {key} AS k, COUNT(*) FROM patients GROUP BY {key}"
    first, again = db.execute(sql, epsilon=5.0), db.execute(sql, epsilon=5.0)
    assert repr([row[0] for row in first]) == repr(shown)
    assert again.repeated
    assert repr(again.rows) == repr(first.rows)


# ---- as bytes ----------------------------------------------------------------------------------------

STORED: list[Value] = [
    None,
    True,
    False,
    0,
    -1,
    2**127 - 1,
    -(2**127),
    0.1,
    -0.0,
    5e-324,
    1.7976931348623157e308,
    math.inf,
    -math.inf,
    math.nan,
    Decimal("1.50"),
    Decimal("-0.00"),
    Decimal("12345678901234567890123456789012345.678"),
    "",
    "2020-01-01",
    "2020-01-01T00:00:00",
    "2020-01-01 00:00:00+00",
    '{"date": "2020-01-01"}',
    "null",
    "NaN",
    "O'Brien \\ \" \u2028 \x00 æ 🙂",
    datetime.date(1, 1, 1),
    datetime.date(2024, 2, 29),
    datetime.datetime(2024, 2, 29, 23, 59, 59, 999_999),
    datetime.datetime(1, 1, 1),
]


@pytest.mark.parametrize("value", STORED, ids=repr)
def test_a_key_survives_the_ledger(value: Value) -> None:
    stored = to_bytes([ReleasedTable([(value, 1)], np.array([[7]]))])
    ((key, _),) = from_bytes(stored, [1])[0].groups
    assert type(key) is type(value)
    assert repr(key) == repr(value)


def test_all_tables_of_an_answer_survive_in_order() -> None:
    tables = [
        ReleasedTable([(value,) for value in STORED], np.arange(3 * len(STORED)).reshape(-1, 3) - 40),
        ReleasedTable([], np.zeros((0, 2), dtype=np.int64)),
        ReleasedTable([()], np.array([[2**62, -(2**62)]])),
    ]
    again = from_bytes(to_bytes(tables), [3, 2, 2])
    for ours, theirs in zip(tables, again, strict=True):
        assert repr(theirs.groups) == repr(ours.groups)
        assert theirs.sums.dtype == np.int64
        assert theirs.sums.shape == ours.sums.shape
        assert theirs.sums.tolist() == ours.sums.tolist()


@pytest.mark.parametrize(
    "stored",
    [b'[{"groups":[[{"time":"08:00"}]],"sums":[[1]]}]', b'[{"groups":[[[1]]],"sums":[[1]]}]', b"[]", b"{"],
)
def test_bytes_that_mean_nothing_are_no_table(stored: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        from_bytes(stored, [1])


# ---- exact tables are hot ----------------------------------------------------------------------------


def test_an_exact_table_shows_nothing() -> None:
    hot = table([("secret town",)], 424242)
    for shown in (repr(hot), str(hot), f"{hot}", f"{[hot]}", f"{hot!r:>40} {hot!s} {hot!a}"):
        assert "secret" not in shown
        assert "424242" not in shown


def test_an_exact_table_is_never_stored_or_copied() -> None:
    hot = table([("secret town",)], 424242)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="never stored"):
            pickle.dumps(hot, protocol)
    for copied in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="never stored"):
            copied(hot)
    with pytest.raises(TypeError, match="not JSON serializable"):
        json.dumps(hot)
    assert not hasattr(hot, "__dict__")


def test_numbers_are_stored_as_json_stores_lists() -> None:
    for width in range(4):
        for rows in (0, 1, 3):
            sums = np.arange(rows * width, dtype=np.int64).reshape(rows, width) * -(10**17)
            stored = to_bytes([ReleasedTable([(place, "x") for place in range(rows)], sums)])
            known = [{"groups": [[place, "x"] for place in range(rows)], "sums": sums.tolist()}]
            assert stored == json.dumps(known, separators=(",", ":")).encode()
