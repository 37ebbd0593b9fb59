"""What an answer looks like never depends on who is in the database: its shape, its price, its refusal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import dpsql
from dpsql.audit import plan_of

UNGROUPED = (
    "SELECT COUNT(*) FROM patients",
    "SELECT COUNT(*) FROM patients WHERE age > 119 AND age < 1",
    "SELECT COUNT(*), COUNT(age), SUM(age), AVG(age) FROM patients WHERE age = 119",
    "SELECT SUM(income) FROM patients WHERE false",
    "SELECT AVG(income) FROM patients WHERE patient_id = 1",
    "SELECT COUNT(DISTINCT patient_id) FROM visits WHERE minutes > 60",
    "SELECT COUNT(*), SUM(cost), AVG(minutes) FROM visits",
    "SELECT SUM(v.cost) FROM visits v JOIN patients p ON p.patient_id = v.patient_id WHERE p.age = 119",
    "SELECT SUM(d.dose) FROM drugs d JOIN visits v ON v.visit_id = d.visit_id",
    "SELECT COUNT(*) FILTER (WHERE smoker) FROM patients",
    "SELECT AVG(n) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) AS t",
    "SELECT COUNT(*) FROM patients WHERE city = 'Nome'",
    "SELECT DP_SAMPLE(skewness(income), -5, 5), COUNT(*) FROM patients WHERE age > 118",
)
PUBLIC_GROUPS = {  # of so many keys: so many groups
    "SELECT ward, COUNT(*) FROM patients GROUP BY ward": (1, 3),
    "SELECT ward, COUNT(*), SUM(income), AVG(age) FROM patients WHERE age > 119 GROUP BY ward": (1, 3),
    "SELECT ward, smoker, AVG(income) FROM patients GROUP BY ward, smoker": (2, 6),
    "SELECT kind, SUM(cost), COUNT(DISTINCT patient_id) FROM visits GROUP BY kind": (1, 2),
    "SELECT p.ward, v.kind, COUNT(*) FROM visits v JOIN patients p ON p.patient_id = v.patient_id "
    "GROUP BY p.ward, v.kind": (2, 6),
    "SELECT ward, DP_SAMPLE(mad(income), 0, 100000) FROM patients WHERE age > 119 GROUP BY ward": (1, 3),
    "SELECT w.floor, COUNT(*) FROM patients p JOIN wards w USING (ward) WHERE w.floor > 0 GROUP BY 1": (1, 2),
}
PRIVATE_GROUPS = (
    "SELECT city, COUNT(*) FROM patients GROUP BY city",
    "SELECT born, AVG(age) FROM patients GROUP BY born",
    "SELECT smoker, city, COUNT(*) FROM patients GROUP BY smoker, city",
)
REFUSED = (
    "SELECT age FROM patients",
    "SELECT patient_id, COUNT(*) FROM patients GROUP BY patient_id",
    "SELECT SUM(ln(score)) FROM patients",
    "SELECT any_value(income) FROM patients",
    "SELECT DP_SAMPLE(skewness(income), 5, -5) FROM patients",
    "SELECT COUNT(*) FROM patient",
    "SELECT COUNT(*) FROM patients WHERE city = 'Nome' AND nme = 'x'",
    "SELECT COUNT(*) FROM patients a JOIN patients b ON a.age = b.age",
    "SELECT ward + COUNT(*) FROM patients GROUP BY ward",
    "SELECT COUNT(*) FROM (SELECT 1",
)


@pytest.fixture(scope="module")
def four(clinics: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[dpsql.Connection]]:
    """Connections to the clinic, its neighbour, one person alone, and nobody; all are asked the same."""
    ledgers = tmp_path_factory.mktemp("four")
    opened = [
        dpsql.connect(clinics / name / "clinic.duckdb", ledger=ledgers / name)
        for name in ("clinic", "neighbour", "single", "empty")
    ]
    yield opened
    for each in opened:
        each.close()


def one(values: set[object]) -> object:
    """The only value of a set."""
    assert len(values) == 1, values
    return values.pop()


@pytest.mark.parametrize("sql", UNGROUPED)
def test_ungrouped_is_one_row(sql: str, four: list[dpsql.Connection]) -> None:
    answers = [db.execute(sql) for db in four]
    assert [len(answer) for answer in answers] == [1, 1, 1, 1]
    one({(answer.columns, answer.types, answer.cost, answer.remaining, answer.note) for answer in answers})


@pytest.mark.parametrize("sql", PUBLIC_GROUPS)
def test_public_groups_are_all_there(sql: str, four: list[dpsql.Connection]) -> None:
    """The very same keys in the very same order, on any data."""
    keys, groups = PUBLIC_GROUPS[sql]
    answers = [db.execute(sql) for db in four]
    shown = one({tuple(row[:keys] for row in answer.rows) for answer in answers})
    assert isinstance(shown, tuple)
    assert len(set(shown)) == len(shown) == groups
    one({(answer.columns, answer.types, answer.cost, answer.remaining, answer.note) for answer in answers})


@pytest.mark.parametrize("sql", PRIVATE_GROUPS)
def test_private_groups_change_rows_alone(sql: str, four: list[dpsql.Connection]) -> None:
    """An answer without rows says how to show some: that follows from the rows."""
    answers = [db.execute(sql) for db in four]
    notes = [answer.note.partition(" Public keys need no threshold: ") for answer in answers]
    one({(answer.columns, answer.types, answer.cost, answer.remaining) for answer in answers})
    for answer, (said, *_) in zip(answers, notes, strict=True):
        assert (said == answer.note) == bool(answer.rows)
    one({said for said, *_ in notes})
    assert answers[-1].rows == []
    assert answers[0].rows != []


@pytest.mark.parametrize("sql", [*UNGROUPED, *PUBLIC_GROUPS, *PRIVATE_GROUPS])
def test_plan_and_explanation_do_not_see_the_data(sql: str, four: list[dpsql.Connection]) -> None:
    plans = [plan_of(db._open(), sql, 1.0) for db in four]
    one({(plan.digest, plan.epsilon, repr(plan.events)) for plan in plans})
    one({str(db.explain(sql)) for db in four})
    one({repr(db.explain(sql).to_dict()) for db in four})


@pytest.mark.parametrize("sql", REFUSED)
def test_refusals_do_not_see_the_data(sql: str, four: list[dpsql.Connection]) -> None:
    said = []
    for db in four:
        before = db.budget.spent
        with pytest.raises(dpsql.Error) as caught:
            db.execute(sql)
        said.append((type(caught.value), caught.value.code, str(caught.value), caught.value.position))
        assert db.budget.spent == before
    one(set(said))


def test_what_a_query_leaves_in_the_account_does_not_see_the_data(four: list[dpsql.Connection]) -> None:
    for db in four:
        for sql in ("SELECT COUNT(*) FROM visits", *PUBLIC_GROUPS, *PRIVATE_GROUPS):
            db.execute(sql)
    one({(db.budget.spent, db.budget.remaining, len(db.purchases)) for db in four})
    one({tuple((each.sql, each.epsilon, each.answered) for each in db.purchases) for db in four})
