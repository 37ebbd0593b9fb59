"""Random conditions over awkward values (NaN, infinity, -0.0, ...): files hold what the database held."""

from __future__ import annotations

import random
from collections.abc import Iterator

import conditions
import pytest
from folders import exported, typed_policy

import dpsql
from dpsql import audit

COLUMNS = "".join(name for name in conditions.COLUMNS if name != "e")
"""Files know no enums."""

Both = tuple[dpsql.Connection, dpsql.Connection]


@pytest.fixture(scope="module", params=["parquet", "csv"])
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    path = tmp_path_factory.mktemp("awkward") / "people.duckdb"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conditions, "TABLE", conditions.TABLE.replace(" NOT NULL", ""))  # files do not say it
        conditions.make(path, 300)
    exported(path, path.with_name("data"), request.param)
    text = path.with_suffix(".toml").read_text() + "id = {}\n"
    policy = typed_policy(text, path) if request.param == "csv" else text
    path.with_name("data.toml").write_text(policy)
    with dpsql.connect(path) as database, dpsql.connect(path.with_name("data")) as folder:
        yield database, folder


@pytest.mark.parametrize("seed", range(25))
def test_the_same_rows_are_true(both: Both, seed: int) -> None:
    chosen = random.Random(seed)
    asked = [f"COUNT(*) FILTER (WHERE {conditions.condition(chosen, COLUMNS, 2)})" for _ in range(3)]
    asked += ["SUM(x)", f"COUNT({chosen.choice(COLUMNS)})"]
    sql = f"SELECT {', '.join(f'{each} AS c{i}' for i, each in enumerate(asked))} FROM people"
    plain, files = (audit.measure(db, sql, 10.0) for db in both)
    assert [(each.statistics, each.rows) for each in plain] == [
        (each.statistics, each.rows) for each in files
    ]


def test_the_groups_are_the_same(both: Both) -> None:
    for name in COLUMNS:
        found = [
            {
                repr(group): sums
                for [run] in [audit.measure(db, f"SELECT {name}, COUNT(*) FROM people GROUP BY 1")]
                for group, sums in run.rows.items()
                if any(sums)
            }
            for db in both
        ]
        assert found[0] == found[1], name
