"""No value of anybody decides whether a query is answered: dates at the ends of time, among others.

DuckDB calls functions with a column's least and greatest value when it plans, even under a CASE that keeps
them from the rows: an answer that fails there would tell that somebody is at the end.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import dpsql


@pytest.mark.parametrize(
    ("born", "seen"), [("5881580-07-10", "294247-01-10 04:00:54"), ("0001-01-01", "0001-01-01")]
)
@pytest.mark.parametrize("value", ["epoch_ns(seen)", "epoch_ms(seen)", "epoch_us(born)", "epoch_ns(born)"])
def test_one_patient_at_the_end_of_time(clinic: Path, born: str, seen: str, value: str) -> None:
    with duckdb.connect(str(clinic)) as connection:
        connection.execute("DELETE FROM patients WHERE NOT (isfinite(born) AND isfinite(seen))")
        connection.execute("UPDATE patients SET born = ?, seen = ? WHERE patient_id = 1", [born, seen])
        connection.execute("CREATE TABLE copied AS FROM patients")
        connection.execute("TRUNCATE patients")  # a column's extremes are those of all that it ever held
        connection.execute("INSERT INTO patients FROM copied")
        connection.execute("DROP TABLE copied")
    with dpsql.connect(clinic) as db:
        inner = f"SELECT patient_id, {value} AS c FROM patients"
        [(count,)] = db.execute(f"SELECT COUNT(c) FROM ({inner}) AS t", epsilon=10)
    assert isinstance(count, int)


@pytest.mark.parametrize("epsilon", [1.0, 9e8])
def test_steps_beyond_64_bits_are_added_up(epsilon: float, tmp_path: Path) -> None:
    """Also where no group is shown, and where all sums are 0."""
    path = tmp_path / "data.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i AS id, i AS k, 0::HUGEINT AS z FROM range(300) AS t(i)"
        )
    path.with_suffix(".toml").write_text(
        "[budget]\nepsilon = 1e9\ndelta = 1e-3\n[query]\nmax_epsilon = 9e8\n"
        '[unit]\ntable = "people"\nkey = "id"\n'
        "[tables.people.columns]\nk = {}\nz = { range = [0, 1e30] }\n"
    )
    with dpsql.connect(path) as db:
        assert db.execute("SELECT k, SUM(z) FROM people GROUP BY k", epsilon=1.0).rows == []
        [(total,)] = db.execute("SELECT SUM(z) FROM people", epsilon=epsilon).rows
        assert total == 0 if epsilon > 1 else isinstance(total, int)
