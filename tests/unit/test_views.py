"""The policy's views: what may be written, whose errors are whose, and that they buy nothing extra."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpsql
from dpsql.cli import main
from dpsql.errors import Error
from dpsql.policy.model import ViewRule, digest
from dpsql.session.checks import parse_policy

POLICY = """\
[budget]
epsilon = 8.0
delta = 1e-6
[unit]
name = "patient"
table = "patients"
key = "patient_id"
[tables.patients.columns]
age = { range = [0, 120] }
"""

ADULTS = '\n[views.adults]\nsql = "SELECT * FROM patients WHERE age >= 18"\n'


def with_views(clinic: Path, views: str) -> None:
    policy = clinic.with_suffix(".toml")
    policy.write_text(policy.read_text() + views)


def opened(clinic: Path, views: str) -> Error:
    with_views(clinic, views)
    with pytest.raises(dpsql.Error) as caught:
        dpsql.connect(clinic)
    return caught.value


def test_views_are_read_in_order() -> None:
    policy = parse_policy(
        POLICY + ADULTS + '[views.old]\nsql = "FROM adults WHERE age > 80"\n', "clinic.toml"
    )
    assert policy.views == (
        ViewRule("adults", "SELECT * FROM patients WHERE age >= 18", 11),
        ViewRule("old", "FROM adults WHERE age > 80", 13),
    )
    assert digest(policy) != digest(parse_policy(POLICY + ADULTS, "clinic.toml"))


@pytest.mark.parametrize(
    ("views", "code", "place"),
    [
        ('[views.Patients]\nsql = "SELECT 1"\n', "D803", (10, 8)),
        ('[views."a.b"]\nsql = "SELECT 1"\n', "D803", (10, 8)),
        ('[views.a]\nsql = "SELECT 1"\n[views.A]\nsql = "SELECT 1"\n', "D803", (12, 8)),
        ("[views.a]\n", "D803", (10, 8)),
        ("[views.a]\nsql = 1\n", "D803", (11, 7)),
        ('[views.a]\nsql = "SELECT 1"\nepsilon = 3\n', "D802", (12, 1)),
    ],
)
def test_what_a_view_may_not_say(views: str, code: str, place: tuple[int, int]) -> None:
    with pytest.raises(Error) as caught:
        parse_policy(POLICY + views, "clinic.toml")
    assert (caught.value.code, caught.value.position) == (code, place)


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT * FROM patients WHERE agee > 3", "there is no column agee here"),
        ("SELECT * FROM later", "there is no table later"),
        ("SELECT * FROM itself", "there is no table itself"),
        ("SELECT FROM WHERE", "this SQL cannot be parsed"),
        ("DELETE FROM patients", "only queries are answered"),
        ("SELECT * FROM patients WHERE age > ?", "1 question mark,"),
        ("SELECT age, age FROM patients", "two columns are called age"),
        ("SELECT v.cost FROM patients p JOIN visits v ON p.age = v.cost", "not joined on the patient"),
        ("SELECT nothing FROM wards", "there is no column nothing here"),
        ("EXPLAIN SELECT 1 AS one", "a view is a plain query"),
        (
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.1) COUNT(*) AS n FROM patients",
            "a plain query",
        ),
        ("SELECT ward, MAX(cost) AS m FROM visits GROUP BY ward", ""),
    ],
)
def test_a_view_that_cannot_be_used_is_the_owners_error(sql: str, words: str, clinic: Path) -> None:
    error = opened(clinic, f'\n[views.itself]\nsql = "{sql}"\n[views.later]\nsql = "SELECT 1 AS one"\n')
    assert error.code == "D808"
    assert error.name == "clinic.toml"
    assert error.title.startswith("the view itself: ")
    assert words in error.title
    text = clinic.with_suffix(".toml").read_text()
    assert error.position is not None
    assert text.split("\n")[error.position[0] - 1].startswith("sql = ")
    assert error.help


def test_the_place_within_a_view_is_told(clinic: Path) -> None:
    error = opened(clinic, '\n[views.adults]\nsql = """\nSELECT *\nFROM patients WHERE agee > 3\n"""\n')
    assert error.start is not None
    assert error.text[error.start : error.end] == "agee"


def test_a_view_is_paid_from_the_same_budget_as_what_it_stands_for(clinic: Path) -> None:
    with_views(clinic, ADULTS)
    with dpsql.connect(clinic) as db:
        first = db.execute("SELECT COUNT(*) FROM adults")
        assert first.cost > 0
        assert db.execute("SELECT COUNT(*) FROM adults").cost == 0
        spent = db.budget.spent
        db.execute("SELECT COUNT(*) FROM adults WHERE age < 200")
        assert db.budget.spent > spent


def test_policy_check_tells_what_each_view_holds(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counts = '[views.counts]\nsql = "SELECT ward, COUNT(*) AS n FROM adults GROUP BY ward"\n'
    with_views(clinic, ADULTS + counts + '[views.one]\nsql = "SELECT 1 AS one"\n')
    assert main(["policy", "check", str(clinic)]) == 0
    said = capsys.readouterr().out.split("\n")
    assert "view      adults: rows of patients" in said
    assert "view      counts: a release, paid when it is asked" in said
    assert "view      one: public" in said
    with_views(clinic, '[views.bad]\nsql = "SELECT ward, SUM(wage) AS s FROM adults GROUP BY ward"\n')
    assert main(["policy", "check", str(clinic)]) == 1
    assert "error[D808]: the view bad: there is no column wage here" in capsys.readouterr().err


def test_an_error_in_an_expanded_view_points_at_its_name(clinic: Path) -> None:
    with_views(clinic, ADULTS)
    with dpsql.connect(clinic) as db, pytest.raises(Error) as caught:
        db.execute("SELECT COUNT(*) FROM adults a JOIN adults b ON a.age = b.age")
    error = caught.value
    assert error.code == "D401"
    assert error.start is not None
    assert error.text[error.start : error.end].startswith("adults b")
