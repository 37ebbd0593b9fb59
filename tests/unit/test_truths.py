"""What conditions can be true together, against DuckDB's truth of random conditions on random rows."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb
import pytest
from conditions import COLUMNS, argument, condition, make

import dpsql
from dpsql.audit import plan_of
from dpsql.facts.schema import facts_of
from dpsql.facts.truth_vectors import Question, TruthVectors, linked
from dpsql.ir.relation import AggregateCall


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("truths") / "people.duckdb"
    make(path, 1500)
    return path


@pytest.fixture(scope="module")
def db(database: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect(database) as connection:
        yield connection


@pytest.fixture(scope="module")
def plain(database: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The same rows for plain DuckDB."""
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{database}' AS other (READ_ONLY)")
        connection.execute("USE other")
        yield connection


def bound(db: dpsql.Connection, aggregates: list[str]) -> tuple[TruthVectors, list[AggregateCall]]:
    """Each aggregate of a query of its own: what is written twice is one in a query."""
    session, calls, facts = db._open(), [], {}
    for each in aggregates:
        (planned,) = plan_of(session, f"SELECT {each} AS c FROM people", 1.0).stages[0].measures
        calls += planned.measure.aggregates
        facts |= facts_of(planned.measure.relation)
    return TruthVectors(facts), calls


def filtered(db: dpsql.Connection, asked: Sequence[str]) -> tuple[TruthVectors, list[Question]]:
    truths, calls = bound(db, [f"COUNT(*) FILTER (WHERE {each})" for each in asked])
    return truths, [truths.is_true(each.condition) for each in calls]


def observed(plain: duckdb.DuckDBPyConnection, questions: list[str]) -> set[tuple[bool, ...]]:
    asked = ", ".join(f"coalesce({each}, false)" for each in questions)
    return {tuple(row) for row in plain.execute(f"SELECT DISTINCT {asked} FROM people").fetchall()}


@pytest.mark.parametrize("seed", range(150))
def test_every_row_has_a_vector_that_is_listed(
    db: dpsql.Connection, plain: duckdb.DuckDBPyConnection, seed: int
) -> None:
    chosen = random.Random(seed)
    columns = "".join(chosen.sample(sorted(COLUMNS), chosen.choice((1, 1, 2, 3))))
    asked = [condition(chosen, columns, chosen.choice((0, 0, 1, 2))) for _ in range(chosen.choice((2, 3, 5)))]
    truths, tests = filtered(db, asked)
    found = observed(plain, [f"({each})" for each in asked])
    vectors = truths.vectors(tests)
    assert vectors is None or found <= vectors
    check_overlaps(truths, tests, found)


def check_overlaps(truths: TruthVectors, tests: list[Question], found: set[tuple[bool, ...]]) -> None:
    overlaps = truths.overlaps(tests)
    for i, j in itertools.combinations(range(len(tests)), 2):
        assert (j in overlaps[i]) == (i in overlaps[j])
        if any(each[i] and each[j] for each in found):
            assert j in overlaps[i]


@pytest.mark.parametrize("seed", range(100))
def test_arguments_that_conditions_choose(
    db: dpsql.Connection, plain: duckdb.DuckDBPyConnection, seed: int
) -> None:
    chosen = random.Random(1000 + seed)
    columns = "".join(chosen.sample("nidxsb", 2))
    asked = [argument(chosen, columns) for _ in range(3)]
    truths, calls = bound(db, [f"COUNT({each})" for each in asked])
    given, adding = [], []
    for each in calls:
        assert each.argument is not None
        given.append(truths.is_given(each.condition, each.argument))
        adding.append(truths.adds(each.condition, each.argument))
    found = observed(plain, [f"({each}) IS NOT NULL" for each in asked])
    vectors = truths.vectors(given)
    assert vectors is None or found <= vectors
    check_overlaps(truths, adding, observed(plain, [f"({each}) <> 0" for each in asked]))


def vectors_of(db: dpsql.Connection, *asked: str) -> list[str]:
    truths, tests = filtered(db, asked)
    found = truths.vectors(tests)
    assert found is not None
    return sorted("".join("1" if each else "0" for each in vector) for vector in found)


def test_nothing_is_listed_that_cannot_be(db: dpsql.Connection) -> None:
    """NULL answers no comparison; whole numbers have nothing between 1 and 2; lists may be broken."""
    assert vectors_of(db, "n < 2", "n < 3") == ["00", "01", "11"]
    assert vectors_of(db, "n <= 1", "n >= 2") == ["01", "10"]
    assert vectors_of(db, "i <= 1", "i >= 2") == ["00", "01", "10"]
    assert vectors_of(db, "n > 1", "n < 2") == ["01", "10"]
    assert vectors_of(db, "x > 1", "x < 2") == ["00", "01", "10", "11"]
    assert vectors_of(db, "s = 'a'", "s = 'b'") == ["00", "01", "10"]
    assert vectors_of(db, "s <> 'a'", "s <> 'b'") == ["00", "01", "10", "11"]
    assert vectors_of(db, "i IS NULL", "i > 0", "true") == ["001", "011", "101"]
    assert vectors_of(db, "b", "NOT b", "b IS NULL") == ["001", "010", "100"]
    assert vectors_of(db, "d > 1.05", "d < 1.1") == ["00", "01", "10"]
    assert vectors_of(db, "i // 2 = 0", "i // 2 = 1") == ["00", "01", "10"]
    assert vectors_of(db, "i < n", "i < n AND b") == ["00", "10", "11"]
    assert vectors_of(db, "x <= 1 OR isnan(x)", "x > 1 AND x <= 2", "x > 2 AND NOT isnan(x)") == [
        "000", "001", "010", "100",
    ]  # fmt: skip


def test_a_zero_that_is_negative_divides_otherwise(db: dpsql.Connection) -> None:
    assert "11" in vectors_of(db, "2 / (x * 0.0e0) > 0", "2 / (x * -0.0e0) < 0")


def test_too_many_ways_are_not_tried(db: dpsql.Connection) -> None:
    """Twelve columns' worth of opaque conditions, each linked with the next one."""
    parts = [f"i % {each} = 1" for each in range(2, 20)]
    asked = [f"{one} OR {other}" for one, other in itertools.pairwise(parts)]
    truths, tests = filtered(db, asked)
    assert truths.vectors(tests) is None
    assert all(len(each) == len(tests) - 1 for each in truths.overlaps(tests))


def test_linked() -> None:
    sets = [frozenset(each) for each in ((1,), (2,), (1, 3), (), (3,), (2, 4))]
    assert linked(sets) == [[0, 2, 4], [1, 5], [3]]


def test_a_value_may_be_lost_on_the_way_to_a_common_type(db: dpsql.Connection) -> None:
    """A HUGEINT of 39 digits is NULL as a DECIMAL, though what CASE picks was given."""
    assert "11" in vectors_of(db, "CASE WHEN b THEN l::HUGEINT ELSE 1.5 END IS NULL", "b AND l::HUGEINT = 1")
    assert "11" not in vectors_of(db, "CASE WHEN b THEN l ELSE 5 END IS NULL", "b AND l = 1")
