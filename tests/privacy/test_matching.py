"""What one unit can change of the claimed values: every case there is of a few, and many of more."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pytest

import dpsql
from dpsql.audit.oracles import plan_of
from dpsql.details.matching import sql as printed
from dpsql.engines.dialect import DUCKDB
from dpsql.engines.duckdb import DuckDB
from dpsql.engines.exact_tables import measured
from dpsql.fuzz.judges import weights_shown
from dpsql.mechanisms import matching
from dpsql.mechanisms.matching import claimed

Pairs = set[tuple[int, int]]


def taken(pairs: Pairs, most: int) -> list[int]:
    """The claimed values."""
    listed = np.array(sorted(pairs, key=hash), dtype=np.int64).reshape(-1, 2)
    places = claimed(listed[:, 0], listed[:, 1], listed[:, 1] % 4, most)
    return sorted(int(value) for value in listed[places, 1])


def by_hand(pairs: Pairs, most: int) -> list[int]:
    found: set[int] = set()
    sizes = Counter(unit for unit, _ in pairs)
    for unit in sorted(sizes, key=lambda unit: (sizes[unit] > most, unit)):
        free = sorted(value for each, value in pairs if each == unit and value not in found)
        found |= set(free[:most])
    return sorted(found)


def drawn(generator: np.random.Generator, units: int, values: int, pairs: int) -> Pairs:
    """Some values are much more common than others."""
    common = generator.dirichlet(np.full(values, 0.5))
    return {
        (int(u), int(v))
        for u, v in zip(
            generator.integers(0, units, pairs), generator.choice(values, pairs, p=common), strict=True
        )
    }


def test_the_example() -> None:
    pairs = {(1, 10), (1, 11), (1, 12), (2, 10), (2, 11), (3, 10)}
    assert taken(pairs, 1) == [10, 11]
    assert taken(pairs, 2) == [10, 11, 12], "units 2 and 3 leave a value to unit 1"
    assert taken(pairs, 3) == [10, 11, 12]
    assert taken(set(), 3) == []


@pytest.mark.parametrize("most", [1, 2, 3])
def test_what_later_units_do_keeps_the_bound_in_every_state_of_five_values(most: int) -> None:
    """S within S', with at most ``most`` values more: after any unit it is so again."""
    everything = range(5)

    def after(state: frozenset[int], wanted: tuple[int, ...]) -> set[int]:
        alone = {(value, value) for value in state}  # each of them claimed by a unit that wants no other
        return set(taken(alone | {(9, value) for value in wanted}, most))

    for said in itertools.product((0, 1, 2), repeat=5):  # in neither, in both, in the larger
        smaller = frozenset(i for i in everything if said[i] == 1)
        larger = smaller | frozenset(i for i in everything if said[i] == 2)
        if len(larger) - len(smaller) > most:
            continue
        for size in range(6):
            for wanted in itertools.combinations(everything, size):
                few, many = after(smaller, wanted), after(larger, wanted)
                assert few <= many
                assert len(many) - len(few) <= most


def test_every_instance_of_three_units_and_three_values() -> None:
    subsets = [set(c) for size in range(4) for c in itertools.combinations(range(3), size)]
    for sets in itertools.product(subsets, repeat=3):
        pairs = {(unit, value) for unit, values in enumerate(sets) for value in values}
        for most in (1, 2):
            whole = taken(pairs, most)
            assert whole == by_hand(pairs, most)
            for unit in range(3):
                less = taken({pair for pair in pairs if pair[0] != unit}, most)
                assert set(less) <= set(whole)
                assert len(whole) - len(less) <= most


def test_one_unit_of_many_moves_the_count_by_at_most_what_it_may_claim() -> None:
    """300 instances, 8 units removed from each, three bounds."""
    generator = np.random.default_rng(7)
    for _ in range(300):
        units, values = int(generator.integers(2, 30)), int(generator.integers(1, 40))
        pairs = drawn(generator, units, values, int(generator.integers(1, 200)))
        for most in (1, 2, 5):
            whole = taken(pairs, most)
            for unit in generator.permutation(units)[:8].tolist():
                less = taken({pair for pair in pairs if pair[0] != unit}, most)
                assert set(less) <= set(whole)
                assert len(whole) - len(less) <= most


def test_values_in_groups_move_by_no_more_together() -> None:
    """A value's group is the value modulo 4; 6,000 random removals."""
    generator = np.random.default_rng(8)
    for _ in range(1_000):
        pairs = drawn(generator, 8, 24, int(generator.integers(1, 60)))
        for most in (1, 3):
            whole = Counter(value % 4 for value in taken(pairs, most))
            for unit in (0, 3, 7):
                less = Counter(value % 4 for value in taken({p for p in pairs if p[0] != unit}, most))
                assert sum(abs(whole[group] - less[group]) for group in range(4)) <= most


def test_all_at_once_is_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the rounds end before their end, and where there are none."""
    generator = np.random.default_rng(9)
    instances = [drawn(generator, 200, values, 2_000) for values in (3, 50, 300, 5_000)]
    for rounds in (0, 1, 3, 100):
        monkeypatch.setattr(matching, "_ROUNDS", rounds)
        for pairs in instances:
            for most in (1, 2, 7):
                assert taken(pairs, most) == by_hand(pairs, most)


def test_a_long_chain_of_refusals() -> None:
    """Unit i wants values i - 1 and i: each is refused the first only after the one before it was."""
    chain = {(i, i - 1 + j) for i in range(1, 3_000) for j in (0, 1)} | {(0, 0)}
    assert taken(chain, 1) == list(range(3_000))


def test_where_nobody_has_more_values_than_it_may_claim_all_are_counted() -> None:
    generator = np.random.default_rng(10)
    pairs = drawn(generator, 500, 900, 1_500)
    most = max(Counter(unit for unit, _ in pairs).values())
    assert taken(pairs, most) == sorted({value for _, value in pairs})


def test_numbers_of_any_size() -> None:
    units = np.array([-(2**63), 2**63 - 1, 0], dtype=np.int64)
    values = np.array([2**64 - 1, 0, 2**64 - 1], dtype=np.uint64)
    assert sorted(claimed(units, values, np.zeros(3, dtype=np.int64), 1).tolist()) == [0, 1]


def test_a_value_in_two_groups_is_two_values() -> None:
    units, values, groups = np.array([1, 1, 2, 2]), np.array([7, 7, 7, 7]), np.array([0, 1, 0, 1])
    assert groups[claimed(units, values, groups, 1)].tolist() == [0, 1]
    assert len(claimed(units, values, groups, 2)) == 2
    alone = claimed(units[1:2], values[1:2], groups[1:2], 1)
    assert alone.tolist() == [0]


# ---- the pairs that are read ---------------------------------------------------------------------------

POLICY = """
[budget]
epsilon = 100
delta = 1e-6
[unit]
table = "people"
key = "id"
[tables.people.columns]
id = {}
[tables.visits]
unit = { column = "id" }
rows_per_unit = 4
[tables.visits.columns]
ward = { values = ["a", "b"] }
kind = {}
note = {}
"""
COUNTED = (
    "SELECT COUNT(DISTINCT note) FROM visits",
    "SELECT COUNT(DISTINCT note) FROM visits WHERE note = 'none'",
    "SELECT ward, COUNT(DISTINCT note) FROM visits GROUP BY ward",
    "SELECT ward, COUNT(DISTINCT note) FILTER (WHERE kind > 1) FROM visits GROUP BY ROLLUP (ward)",
    "SELECT kind, COUNT(*), COUNT(DISTINCT note) FROM visits GROUP BY kind",
    "SELECT OPTIONS(max_values_contributed = 1) kind, COUNT(DISTINCT note) FROM visits GROUP BY kind, ward",
)


@pytest.mark.parametrize("unit", ["BIGINT", "VARCHAR", "HUGEINT"])
def test_the_counts_are_those_of_all_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unit: str
) -> None:
    """Some have more than they may claim, of values that others have and have not."""
    path = tmp_path / "notes.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE people AS SELECT CAST(n AS {unit}) AS id FROM range(60) AS t(n)")
        connection.execute(
            "CREATE TABLE visits AS SELECT id, ['a', 'b', 'c'][1 + (hash(i, id) % 4)::INTEGER] AS ward, "
            "nullif((hash(id, i, 1) % 4)::INTEGER, 0) AS kind, 'n' || (hash(i, id, 2) % 90) AS note "
            "FROM people, range(12) AS t(i) WHERE i < hash(id) % 13"
        )
    path.with_suffix(".toml").write_text(POLICY)

    def counts(db: dpsql.Connection) -> list[object]:
        engine = db._open().engine
        assert isinstance(engine, DuckDB)
        plans = [each for sql in COUNTED for each in plan_of(db._open(), sql, 1.0).measures]
        tables = [measured(each, engine._all, engine._arrays) for each in plans]
        return [weights_shown(masses) for table in tables for masses in table.details]

    with dpsql.connect(path) as db:
        found = counts(db)
        with monkeypatch.context() as planted:  # those of few pairs that are left are not light
            planted.setattr(printed, "claimed", lambda *given: claimed(*given[:4]))
            assert counts(db) != found
        monkeypatch.setattr(
            printed,
            "_pairs_of_heavy",
            lambda read, keys, most: printed._all_pairs(read, ", ".join(keys), unit == "BIGINT", DUCKDB),
        )
        assert counts(db) == found
    assert len(found) == len(COUNTED)
    assert found[1] == {}
    assert all(found[:1] + found[2:])
