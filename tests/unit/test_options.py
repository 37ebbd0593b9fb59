"""The clause of BigQuery and EXPLAIN, as statements of a connection: what they cost, show and refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dpsql
from dpsql.audit import plan_of


def measure(db: dpsql.Connection, sql: str) -> dict[str, Any]:
    found: dict[str, Any] = db.explain(sql).to_dict()["stages"][0]["measures"][0]
    return found


def test_the_price_of_a_query_is_the_price_of_a_call(clinic: Path) -> None:
    with dpsql.connect(clinic) as db:
        said = db.execute("SELECT OPTIONS(epsilon = 0.25) COUNT(*) FROM patients")
        again = db.execute("SELECT COUNT(*) FROM patients", epsilon=0.25)
        assert (said.cost, again.cost, again.repeated) == (0.25, 0.0, True)
        assert said.rows == again.rows
        assert db.execute("SELECT OPTIONS(epsilon = 0.25) COUNT(*) FROM patients", epsilon=0.25).repeated


def test_a_question_mark_may_be_a_price_a_clip_or_a_bound(clinic: Path) -> None:
    sql = (
        "SELECT OPTIONS(epsilon = ?, max_rows_contributed = ?) SUM(cost CLAMPED BETWEEN ? AND ?) FROM visits"
    )
    with dpsql.connect(clinic) as db:
        found = db.explain(sql, (0.5, 3, -1, 20.5)).to_dict()
        (each,) = found["stages"][0]["measures"]
        assert found["price"] == 0.5
        assert each["rows_per_unit"] == 3
        assert each["columns"][0]["bounds"] == [0, 20.5]  # a cost is not below 0
        for wrong in ((True, 3, 0, 1), (0.5, None, 0, 1), (0.5, 3, "a", 1)):
            with pytest.raises(dpsql.Error) as caught:
                db.explain(sql, wrong)
            assert caught.value.code in ("D101", "D105")


def test_the_clip_is_the_query_s_and_says_so(clinic: Path) -> None:
    with dpsql.connect(clinic) as db:
        plain = measure(db, "SELECT COUNT(*) FROM visits")
        said = measure(db, "SELECT OPTIONS(max_rows_contributed = 2) COUNT(*) FROM visits")
        assert (plain["rows_per_unit"], said["rows_per_unit"]) == (5, 2)
        assert plain["sensitivity"]["steps"] * 2 == said["sensitivity"]["steps"] * 5
        assert said["rows_per_unit_from"] == "max_rows_contributed in the query"
        assert "rows_per_unit in clinic.toml" in str(db.explain("SELECT COUNT(*) FROM visits"))
        text = str(db.explain("SELECT OPTIONS(max_rows_contributed = 2) COUNT(*) FROM visits"))
        assert "more than about 2 rows is scaled down" in text


def test_one_unit_moves_a_clipped_count_by_its_clip_at_most(clinics: Path) -> None:
    """Patient 1 has 3,000 visits; the exact count with and without them differs by two rows' steps."""
    sql = "SELECT OPTIONS(max_rows_contributed = 2) COUNT(*) FROM visits"
    totals = []
    for name in ("clinic", "neighbour"):
        with dpsql.connect(clinics / name / "clinic.duckdb", ledger=clinics / f"{name}-two.ledger") as db:
            session = db._open()
            ((each,),) = (stage.measures for stage in plan_of(session, sql, 1.0).stages)
            totals.append(int(session.engine.measure(each).sums[0, 0]))
    assert 0 < totals[0] - totals[1] <= each.noise.sensitivity == 2 * 2**20


@pytest.mark.parametrize("mark", ["marked_", "marked__", "marked_clamp", '"marked_"', "MARKED_"])
def test_nobody_writes_the_marks_that_the_parser_is_given(clinic: Path, mark: str) -> None:
    with dpsql.connect(clinic) as db:
        for sql in (
            f"SELECT {mark}(0), COUNT(*) FROM patients",
            f"SELECT OPTIONS(epsilon = 1) {mark}(0), COUNT(*) FROM patients",
            f"SELECT OPTIONS(epsilon = 1) SUM({mark}(0, age)), AVG(age CLAMPED BETWEEN 0 AND 1) FROM visits",
        ):
            with pytest.raises(dpsql.Error) as caught:
                db.explain(sql)
            assert caught.value.code == "D204", str(caught.value)


def test_options_change_no_unit_no_noise_and_no_ceiling(clinic: Path) -> None:
    with dpsql.connect(clinic, analyst="bob") as db:
        for option in (
            "epsilon = 21",
            "epsilon = 0",
            "delta = 0.1",
            "privacy_unit_column = ward",
            "seed = 1",
        ):
            with pytest.raises(dpsql.Error):
                db.execute(f"SELECT OPTIONS({option}) COUNT(*) FROM patients")
        with pytest.raises(dpsql.Error) as caught:
            db.execute("SELECT OPTIONS(epsilon = 3) COUNT(*) FROM patients")
        assert caught.value.code == "D501"  # bob was granted 2
        assert db.budget.spent == 0


def test_explain_is_a_statement_that_costs_nothing(clinic: Path) -> None:
    sql = "SELECT ward, COUNT(*) FROM patients WHERE age > ? GROUP BY ward"
    with dpsql.connect(clinic) as db:
        told = db.execute(f"/* how? */ explain {sql}", (30,), epsilon=2.0)
        assert (told.columns, told.types, told.cost) == (("explain",), ("VARCHAR",), 0.0)
        assert "\n".join(row[0] for row in told) == str(db.explain(sql, (30,), epsilon=2.0))
        assert str(db.explain(f"EXPLAIN {sql}", (30,))) == str(db.explain(sql, (30,)))
        cursor = db.cursor().execute("EXPLAIN SELECT OPTIONS(epsilon = 0.125) COUNT(*) FROM patients")
        assert cursor.description is not None
        assert cursor.description[0][0] == "explain"
        assert cursor.fetchone() == ("price     epsilon 0.125 under zcdp",)
        assert (db.budget.spent, db.purchases) == (0, ())


def test_an_explain_is_refused_as_its_query_is(clinic: Path) -> None:
    with dpsql.connect(clinic) as db:
        for sql in ("SELECT age FROM patients", "SELECT OPTIONS(epsilon = 99) COUNT(*) FROM patients"):
            said = []
            for ask, prefix in (
                (db.execute, ""),
                (db.explain, ""),
                (db.execute, "EXPLAIN "),
                (db.explain, "EXPLAIN "),
            ):
                with pytest.raises(dpsql.Error) as caught:
                    ask(prefix + sql)
                error = caught.value
                assert error.position is not None
                said.append((error.code, error.title, error.position[1] - len(prefix), error.help))
            assert len(set(said)) == 1
