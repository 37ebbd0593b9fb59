"""``explain`` says everything about a release before it happens, and reads nothing for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import dpsql
from dpsql import audit
from dpsql.audit import plan_of

JOINED = (
    "SELECT p.ward, v.kind, COUNT(*) AS n, SUM(v.cost) AS cost, AVG(p.age) AS age "
    "FROM patients AS p JOIN visits AS v ON v.patient_id = p.patient_id GROUP BY p.ward, v.kind"
)
ALONG_KEYS = (
    "SELECT w.floor, SUM(d.dose) AS dose FROM drugs AS d JOIN visits AS v ON v.visit_id = d.visit_id "
    "JOIN patients AS p ON p.patient_id = v.patient_id JOIN wards AS w ON w.ward = p.ward GROUP BY w.floor"
)
BY_CITY = "SELECT city, AVG(income) AS income FROM patients GROUP BY city"
TWO = "SELECT a.n, b.n FROM (SELECT COUNT(*) AS n FROM visits) AS a, (SELECT COUNT(*) AS n FROM drugs) AS b"
ALL = (JOINED, ALONG_KEYS, BY_CITY, TWO, "SELECT COUNT(*) FROM patients", "SELECT ward FROM wards")


def measures_of(explanation: dpsql.Explanation) -> list[dict[str, Any]]:
    return [each for stage in explanation.to_dict()["stages"] for each in stage["measures"]]


def declared_at(clinics: Path, text: str) -> str:
    """Where the policy says this, as errors and explanations name the place."""
    lines = (clinics / "clinic" / "clinic.toml").read_text().split("\n")
    return f"clinic.toml:{lines.index(text) + 1}"


def test_every_released_number_is_accounted_for(db: dpsql.Connection, clinics: Path) -> None:
    explanation = db.explain(JOINED, epsilon=2.0)
    (measure,) = measures_of(explanation)
    said = str(explanation)
    assert explanation.to_dict()["price"] == 2.0
    assert "epsilon 2 under zcdp" in said
    plan = plan_of(db._open(), JOINED, 2.0)
    (planned,) = plan.stages[0].measures
    assert measure["mechanism"] == planned.noise.mechanism == "gaussian"
    assert measure["scale_in_steps"] == planned.noise.scale
    assert measure["sensitivity"] == {"norm": "L2", "steps": planned.noise.sensitivity}
    assert (measure["rows_per_unit"], measure["rows_proved"]) == (5, None)
    assert explanation.to_dict()["digest"] == plan.digest
    count, total, mean = measure["columns"]
    assert [each["aggregate"] for each in (count, total, mean)] == ["count", "sum", "avg"]
    assert "bounds" not in count
    assert (total["bounds"], mean["bounds"]) == ([0, 500], [0, 120])
    cost, age = "cost = { range = [0, 500] }", "age = { range = [0, 120] }"
    assert total["bounds_from"] == [f"visits.cost ({declared_at(clinics, cost)})"]
    assert mean["bounds_from"] == [f"patients.age ({declared_at(clinics, age)})"]
    for column in (count, total, mean):
        assert 0 < column["sensitivity"] < column["scale"]
        assert column.get("expected_error", column.get("expected_error_at_1000_rows")) > 0
        assert f"sensitivity {column['sensitivity']:.6g}, scale {column['scale']:.6g}" in said
    for words in (
        f"clamped to [0, 500] from visits.cost ({declared_at(clinics, cost)})",
        f"clamped to [0, 120] from patients.age ({declared_at(clinics, age)})",
        "public keys: all 6 groups appear",
        "a clip of each patient's whole vector",
        "with more than about 5 rows is scaled down",
        "gaussian",
        "stage 1",
        measure["sql"],
        explanation.to_dict()["stages"][0]["post"],
    ):
        assert words in said


def test_keys_have_the_names_that_the_query_gives_them(db: dpsql.Connection) -> None:
    (measure,) = measures_of(db.explain(JOINED))
    assert measure["keys"] == ["ward", "kind"]


def test_bounds_that_the_query_sets_are_the_querys(db: dpsql.Connection) -> None:
    """The policy declares no range of score: [0, 5] does not come from there."""
    (measure,) = measures_of(db.explain("SELECT SUM(LEAST(GREATEST(score, 0), 5)) FROM patients"))
    (column,) = measure["columns"]
    assert column["bounds"] == [0, 5]
    assert not any("clinic.toml" in each for each in column["bounds_from"])


@pytest.mark.parametrize(
    ("number", "condition", "told"),
    [
        ("n", "", True),
        ("n / 2", "", True),
        ("n * m", "", True),
        ("n", "WHERE n > 1", True),
        ("n", "WHERE n <= 2", False),
        ("n CLAMPED BETWEEN 0 AND 2", "", False),
        ("LEAST(n, 2)", "", False),
        ("m", "", False),
    ],
)
def test_ends_that_a_number_of_rows_makes_are_the_policys(
    db: dpsql.Connection, number: str, condition: str, told: bool
) -> None:
    inner = "SELECT patient_id, COUNT(*) AS n, MAX(cost) AS m FROM visits GROUP BY patient_id"
    words = " ".join(str(db.explain(f"SELECT AVG({number}) FROM ({inner}) {condition}")).split())
    said = "rows_per_unit in clinic.toml; a value beyond that end counts as the end"
    assert (said in words) == told


@pytest.mark.parametrize(("condition", "told"), [("", True), ("WHERE n <= 2", False)])
def test_a_median_says_such_an_end_too(db: dpsql.Connection, condition: str, told: bool) -> None:
    inner = "SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id"
    words = " ".join(str(db.explain(f"SELECT MEDIAN(n) FROM ({inner}) {condition}")).split())
    assert ("the end is that of the rows of one patient that count" in words) == told


def test_a_number_of_rows_that_a_key_limits_has_no_such_end(db: dpsql.Connection) -> None:
    inner = "SELECT patient_id, COUNT(*) AS n FROM patients GROUP BY patient_id"
    assert "beyond that end" not in str(db.explain(f"SELECT AVG(n) FROM ({inner})"))


def test_a_path_along_foreign_keys_names_the_keys_that_it_relies_on(db: dpsql.Connection) -> None:
    explanation = db.explain(ALONG_KEYS)
    (measure,) = measures_of(explanation)
    assert "visits(visit_id) is unique" in measure["relies_on"]
    assert "relies on   visits(visit_id) is unique" in str(explanation)
    assert (measure["rows_proved"], measure["key_rule"]["groups"]) == (None, 2)
    (column,) = measure["columns"]
    assert column["bounds"] == [0, 10]


def test_a_key_that_proves_one_row_needs_no_clip(db: dpsql.Connection) -> None:
    explanation = db.explain("SELECT COUNT(*) FROM patients")
    (measure,) = measures_of(explanation)
    assert (measure["rows_per_unit"], measure["rows_proved"]) == (1, 1)
    assert measure["relies_on"] == ["patients(patient_id) is unique"]
    assert measure["key_rule"]["kind"] == "one row"
    assert "clip bias" not in str(explanation)
    assert "always exactly one row" in str(explanation)


def test_private_keys_say_how_many_units_show_a_group(db: dpsql.Connection) -> None:
    explanation = db.explain(BY_CITY)
    (measure,) = measures_of(explanation)
    assert measure["key_rule"]["kind"] == "threshold"
    units = measure["key_rule"]["units"]
    assert 1 < units < 240
    assert f"its noisy number of patients reaches {units:.1f}" in str(explanation)
    assert "about in [unit] of clinic.toml would say whether any group can" in str(explanation)
    assert "  public if   WHERE city IN ('...', '...')\n" in str(explanation)
    assert f"reaches {units:.0f}." in db.execute(BY_CITY).note


def test_several_measures_share_the_price(db: dpsql.Connection) -> None:
    explanation = db.explain(TWO)
    both = measures_of(explanation)
    assert len(both) == 2
    alone = [measures_of(db.explain(f"SELECT COUNT(*) FROM {each}"))[0] for each in ("visits", "drugs")]
    for shared, single in zip(both, alone, strict=True):
        assert shared["scale_in_steps"] > 1.3 * single["scale_in_steps"]  # sqrt(2) with half of the rho
    assert str(explanation).count("release   ") == 2


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM patients",
        "SELECT COUNT(*) FROM visits",
        "SELECT SUM(income) FROM patients",
        "SELECT ward, SUM(height) FROM patients GROUP BY ward",
    ],
)
def test_the_expected_error_is_the_margin(sql: str, db: dpsql.Connection) -> None:
    (measure,) = measures_of(db.explain(sql))
    expected = measure["columns"][0]["expected_error"]
    answer = db.execute(sql)
    assert [margins[-1] for margins in answer.margins] == pytest.approx([expected] * len(answer), rel=0.1)


@pytest.mark.parametrize("sql", ALL)
def test_programs_can_read_it(sql: str, db: dpsql.Connection) -> None:
    explanation = db.explain(sql)
    facts = explanation.to_dict()
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    said = {
        "price",
        "pays_in",
        "steps",
        "within",
        "accountant",
        "digest",
        "found",
        "first",
        "alert",
        "doubts",
        "stages",
    }
    assert set(facts) == said
    assert explanation.text == str(explanation)


@pytest.mark.parametrize("sql", [JOINED, ALONG_KEYS, BY_CITY])
def test_the_sql_shown_is_what_would_run(sql: str, db: dpsql.Connection, clinic: Path) -> None:
    """Run by plain DuckDB, it gives what the audit says that noise is added to (but for empty groups)."""
    (measure,) = measures_of(db.explain(sql))
    (measured,) = audit.measure(db, sql)
    width = len(measure["keys"])
    with duckdb.connect(str(clinic)) as plain:
        rows = plain.execute(measure["sql"]).fetchall()
    found = {row[:width]: row[width:] for row in rows}
    empty = (0,) * measure["statistics"]
    assert {group: sums for group, sums in measured.rows.items() if sums != empty} == found


def test_it_reads_no_private_row_and_costs_nothing(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*given: object) -> None:
        raise AssertionError("a private row was read")

    monkeypatch.setattr("dpsql.engines.duckdb.DuckDB.measure", never)
    entries = db._open().ledger.entries()
    for sql in ALL:
        db.explain(sql)
        db.explain(sql, epsilon=20.0)
    assert db._open().ledger.entries() == entries
    assert db.budget.spent == 0
    with pytest.raises(dpsql.InternalError):
        db.execute(JOINED)


def test_it_is_possible_when_nothing_is_left_to_spend(clinic: Path) -> None:
    policy = clinic.with_suffix(".toml")
    policy.write_text(policy.read_text().replace("epsilon = 2.0", "epsilon = 0.001"))
    with dpsql.connect(clinic, analyst="bob") as db:
        with pytest.raises(dpsql.OperationalError, match="D501"):
            db.execute(JOINED)
        assert db.explain(JOINED).to_dict()["price"] == 1.0


@pytest.mark.parametrize("sql", ALL)
def test_a_neighbour_has_the_same_explanation(sql: str, clinics: Path, tmp_path: Path) -> None:
    texts = []
    for name in ("clinic", "neighbour"):
        with dpsql.connect(clinics / name / "clinic.duckdb", ledger=tmp_path / name) as db:
            texts.append(str(db.explain(sql)))
    assert texts[0] == texts[1]


def test_a_number_without_a_margin_says_so(db: dpsql.Connection) -> None:
    """The slope over 1,000 rows has more noise than what it divides by."""
    explained = db.explain("SELECT REGR_SLOPE(cost, minutes) FROM visits", epsilon=0.01)
    assert "no margin over 1,000 rows" in str(explained)
    assert "nan" not in str(explained)


def test_what_is_refused_is_not_explained(db: dpsql.Connection) -> None:
    for sql in (
        "SELECT SUM(ln(score)) FROM patients",
        "SELECT COUNT(*) + 'x' FROM patients WHERE",
        "SELECT nme FROM wards",
    ):
        said = []
        for ask in (db.explain, db.execute):
            with pytest.raises(dpsql.DatabaseError) as caught:
                ask(sql)
            said.append(str(caught.value))
        assert said[0] == said[1]
