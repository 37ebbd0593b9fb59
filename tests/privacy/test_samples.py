"""DP_SAMPLE: what a unit changes, what never fails, how the choice is drawn, how far off it is."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pytest

import dpsql
from dpsql import audit
from dpsql.audit import plan_of
from dpsql.bind.expressions.samples import SAMPLED
from dpsql.details.blocks.detail import BINS, Blocks
from dpsql.details.blocks.sql import values_sql
from dpsql.ir.event import ChoiceEvent
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.mechanisms.blocks import how_many, medians
from dpsql.mechanisms.exponential import Choices, Chosen

POLICY = """
[budget]
epsilon = 1000.0
accountant = "pure"
[query]
epsilon = 1.0
max_epsilon = 1000.0
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
x = {}
sex = { values = ["F", "M"] }
kind = { range = [0, 99] }
[tables.visits]
unit = { column = "id" }
rows_per_unit = 3
[tables.visits.columns]
id = {}
cost = {}
"""
PEOPLE = "CREATE TABLE people (id INTEGER PRIMARY KEY, x DOUBLE, sex VARCHAR, kind INTEGER)"
VISITS = "CREATE TABLE visits (id INTEGER, cost DOUBLE)"


def _database(folder: Path, *statements: str) -> Path:
    path = folder / "d.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        for sql in (PEOPLE, VISITS, *statements):
            connection.execute(sql)
    (folder / "d.toml").write_text(POLICY)
    return path


def _planned(db: dpsql.Connection, sql: str, epsilon: float = 1.0) -> tuple[MeasurePlan, DetailPlan]:
    (stage,) = plan_of(db._open(), sql, epsilon).stages
    (measure,) = stage.measures
    (detail,) = measure.details
    return measure, detail


def _call(name: str, column: str) -> str:
    return f"{name}({column}, 0.37)" if name.startswith("quantile") else f"{name}({column})"


# ---- what one unit changes ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dpsql.Connection, Path]]:
    """40,000 visits of 3,000 people, costs of all sizes: sums of them differ with their order."""
    folder = tmp_path_factory.mktemp("crowd")
    path = _database(
        folder,
        "INSERT INTO people SELECT i, i, ['F', 'M'][1 + i % 2], i % 7 FROM range(3000) AS t(i)",
        "SELECT setseed(0.5)",
        "INSERT INTO visits SELECT (random() * 2999)::INTEGER, (random() - 0.3) * 10 ** (random() * 12 - 4) "
        "FROM range(40000)",
    )
    with dpsql.connect(path) as db:
        yield db, path


@pytest.mark.parametrize("name", SAMPLED)
def test_a_removed_unit_changes_one_block(
    name: str, crowd: tuple[dpsql.Connection, Path], tmp_path: Path
) -> None:
    """To the last bit, whatever the number of blocks, of threads, and the order of the rows."""
    db, path = crowd
    measure, detail = _planned(db, f"SELECT DP_SAMPLE({_call(name, 'cost')}, 0, 1) FROM visits")
    assert isinstance(detail.detail, Blocks)
    removed = random.Random(1).sample(range(3000), 3)
    for unit, count in zip(removed, (64, 81, 100), strict=True):
        sql = values_sql(measure, replace(detail, blocks=count))
        found = []
        for threads, gone, order in ((1, None, "rowid"), (4, None, "hash(rowid)"), (4, unit, "hash(cost)")):
            with duckdb.connect(":memory:", config={"threads": threads}) as connection:
                connection.execute(f"ATTACH '{path}' AS d (READ_ONLY)")
                connection.execute(
                    f"CREATE TABLE main.visits AS SELECT * FROM d.visits WHERE id IS DISTINCT FROM "
                    f"{'NULL' if gone is None else gone} ORDER BY {order}"
                )
                found.append(dict(connection.execute(sql).fetchall()))
        one, shuffled, without = found
        assert len(one) == count
        assert {b: _bits(v) for b, v in one.items()} == {b: _bits(v) for b, v in shuffled.items()}
        assert sum(_bits(v) != _bits(without.get(b)) for b, v in one.items()) <= 1
        assert without.keys() <= one.keys()


def _bits(value: float | None) -> str:
    return "nothing" if value is None else value.hex()


def test_the_weights_of_a_unit(crowd: tuple[dpsql.Connection, Path]) -> None:
    """2 for each group that it may be in: one block leaves a bin, and comes to another."""
    db, _ = crowd
    for sql, groups in (
        ("SELECT DP_SAMPLE(mad(cost), 0, 9) FROM visits", 1),
        ("SELECT sex, DP_SAMPLE(mad(cost), 0, 9) FROM visits JOIN people USING (id) GROUP BY sex", 1),
        ("SELECT sex, DP_SAMPLE(mad(x), 0, 9) FROM people GROUP BY CUBE (sex, kind // 10)", 4),
    ):
        _, detail = _planned(db, sql)
        assert detail.sensitivity == 2 * groups
        assert detail.events == (ChoiceEvent(detail.epsilon),)
        assert detail.blocks == how_many(detail.epsilon, groups, BINS)


def test_how_many_blocks() -> None:
    """8 ln(4096) = 66.54 at epsilon 1, never below 64."""
    assert [how_many(epsilon, 1, 4096) for epsilon in (1.0, 0.1, 10.0)] == [67, 666, 64]
    assert how_many(1.0, 2, 4096) == 134


# ---- what never fails --------------------------------------------------------------------------------

_ODD = (
    *("'nan'", "'inf'", "'-inf'", "1.7976931348623157e308", "-1.7976931348623157e308", "5e-324", "-5e-324"),
    *(
        "2.2e-308",
        "0.0",
        "-0.0",
        "1e60",
        "-1e60",
        "1e-60",
        "9e59",
        "1e-55",
        "-1e-55",
        "1e-52",
        "1e30",
        "-1e30",
    ),
    *("1.0", "1.0000000000000002", "-1.0", "1e15", "1e154", "1e-154", "3.0", "NULL"),
)


@pytest.mark.parametrize("name", SAMPLED)
def test_no_numbers_make_an_aggregate_fail(name: str, tmp_path: Path) -> None:
    """6,400 people whose numbers are drawn from the odd ones, few and many in a block; and all pairs."""
    listed = ", ".join(f"{each}::DOUBLE" for each in _ODD)
    path = _database(
        tmp_path,
        "SELECT setseed(0.25)",
        f"INSERT INTO people SELECT i, [{listed}][1 + (random() * {len(_ODD) - 1})::INTEGER], "
        "['F', 'M'][1 + i % 2], (random() * 99)::INTEGER FROM range(6400) AS t(i)",
        f"INSERT INTO visits SELECT (row_number() OVER () - 1) // 2, unnest([a, b]) FROM "
        f"(SELECT unnest([{listed}]) AS a) CROSS JOIN (SELECT unnest([{listed}]) AS b)",
    )
    with dpsql.connect(path) as db:
        for sql in (
            f"SELECT kind // 1 AS k, DP_SAMPLE({_call(name, 'x')}, -9, 9) AS v FROM people GROUP BY k",
            f"SELECT DP_SAMPLE({_call(name, 'x')}, -1e299, 1e299) AS v FROM people",
            f"SELECT DP_SAMPLE({_call(name, 'cost')}, 0, 5e-324) AS v FROM visits",
        ):
            for row in db.execute(sql):
                assert math.isfinite(row[-1])


# ---- how the choice is drawn -------------------------------------------------------------------------


def _law(weights: list[tuple[np.ndarray, np.ndarray]], blocks: int, bins: int, epsilon: float) -> np.ndarray:
    """The logarithms of the chances of all bins of one group."""
    laws = []

    def choose(choices: Choices, rate: Fraction) -> Chosen:
        sizes = choices.sizes
        losses = np.repeat(choices.whole + choices.part / choices.denominator, sizes) * float(rate)
        laws.append(-losses - np.log(np.exp(-losses).sum()))
        return np.argmax(sizes > 0)[np.newaxis], np.zeros(1, dtype=np.int64)

    medians(weights, blocks, bins, Fraction(epsilon), 2, choose)
    return laws[0]


def test_a_moved_block_changes_no_chance_by_more_than_e_to_the_epsilon() -> None:
    """2,000 random neighbours: one block in another bin, one more or one fewer that has a value."""
    rng = np.random.default_rng(3)
    worst = 0.0
    for _ in range(2_000):
        blocks, bins = int(rng.integers(1, 12)), int(rng.integers(2, 9))
        before = rng.integers(0, bins + 1, blocks)  # the last is no value
        after = before.copy()
        after[rng.integers(blocks)] = rng.integers(0, bins + 1)
        laws = []
        for values in (before, after):
            places, counts = np.unique(values[values < bins], return_counts=True)
            laws.append(_law([(places.astype(np.int64), counts.astype(np.int64))], blocks, bins, 0.8))
        assert len(laws[0]) == bins
        worst = max(worst, float(np.abs(laws[0] - laws[1]).max()))
    assert 0.5 < worst <= 0.8 + 1e-12


def test_blocks_without_a_value_stand_in_the_middle() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    law = _law([(nothing, nothing)], 64, 9, 1.0)
    assert int(law.argmax()) == 4
    assert law[4] == pytest.approx(max(law))
    assert law[0] == pytest.approx(law[4] - 16)  # 32 of 64 blocks away, at rate 1/2


# ---- answers -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gamma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.Connection]:
    """20,000 people; x is the sum of four exponentials: mean 4, skewness 1, excess kurtosis 1.5."""
    path = _database(
        tmp_path_factory.mktemp("gamma"),
        "SELECT setseed(0.125)",
        "INSERT INTO people SELECT i, "
        "-ln(1 - random()) - ln(1 - random()) - ln(1 - random()) - ln(1 - random()), "
        "['F', 'M'][1 + i % 2], i % 100 FROM range(20000) AS t(i)",
    )
    with dpsql.connect(path) as db:
        yield db


@pytest.mark.parametrize(
    ("call", "low", "high", "truth", "error"),
    [
        ("skewness(x)", -5, 5, 1.0, 0.15),  # of 300 rows it is about .05 less (a simulation was off by .049)
        ("avg(x)", 0, 100, 4.0, 0.15),
        ("stddev(x)", 0, 100, 2.0, 0.15),
        ("median(x)", 0, 100, 3.672, 0.15),
        ("quantile_cont(x, 0.95)", 0, 100, 7.754, 0.4),
    ],
)
def test_how_far_off(
    gamma: dpsql.Connection, call: str, low: float, high: float, truth: float, error: float
) -> None:
    """Ten choices at epsilon 1. With rate 1/2 and 67 blocks, a bin r blocks from the middle is chosen with

    e^(-r/2) or so for each of 4,096: that a choice is 30 blocks off has a chance of 4096 e^-15 = 1.3e-3; the
    median of ten is off so far with 252 (1.3e-3)^5 < 1e-12.
    """
    _, detail = _planned(gamma, f"SELECT DP_SAMPLE({call}, {low}, {high}) FROM people")
    assert detail.blocks == 67
    found = []
    for i in range(10):
        sql = f"SELECT DP_SAMPLE({call}, {low}, {high}) + {i} AS v FROM people"
        epsilon = 1.0 + i * 1e-9  # another price is another choice
        found.append(gamma.execute(sql, epsilon=epsilon).rows[0][0] - i)
    assert abs(float(np.median(found)) - truth) < error


def test_a_repeat_is_the_same_choice(gamma: dpsql.Connection) -> None:
    sql = "SELECT sex, DP_SAMPLE(mad(x), 0, 10) AS m FROM people GROUP BY sex"
    first, again = gamma.execute(sql), gamma.execute(sql)
    assert again.rows == first.rows
    assert (first.repeated, again.repeated, again.cost) == (False, True, 0.0)
    assert first.margins == [(None, None)] * 3  # F, M and NULL
    assert "median over 67 blocks" in first.note


def test_what_the_audit_sees(gamma: dpsql.Connection) -> None:
    """The blocks in their bins: 67 in every group, and the same again."""
    sql = "SELECT sex, DP_SAMPLE(mad(x), 0, 10) AS m FROM people GROUP BY sex"
    _, blocks = audit.measure(gamma, sql)
    assert blocks.keys == ("sex", "place")
    for sex in ("F", "M"):
        assert sum(n for (group, _), (n,) in blocks.rows.items() if group == sex) == 67
    (noise,) = blocks.noises
    assert (noise.norm, noise.sensitivity, noise.event) == (1, 2, ChoiceEvent(noise.event.epsilon))
    assert audit.measure(gamma, sql)[1].rows == blocks.rows


def test_explained(gamma: dpsql.Connection) -> None:
    said = str(gamma.explain("SELECT DP_SAMPLE(skewness(x), -5, 5) AS s FROM people"))
    assert "the median over 67 blocks of persons" in said
    assert "the value of a small block differs from the value of all rows" in said


def test_nothing_at_all_is_the_middle(tmp_path: Path) -> None:
    """64 empty blocks, at epsilon 100: the middle of the grid, but with a chance of e^-1000."""
    with dpsql.connect(_database(tmp_path)) as db:
        ((value,),) = db.execute("SELECT DP_SAMPLE(skewness(x), -5, 5) FROM people", epsilon=100.0).rows
    assert abs(value) < 0.01
