"""Private alerts: paid whole, asked until the first true, by many processes and after any kill."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import dpsql
from dpsql.accounting.ledger import Ledger
from dpsql.alerts import questions, thresholds
from dpsql.audit import plan_of
from dpsql.cli import main
from dpsql.engines.duckdb import DuckDB
from dpsql.ir.event import AlertEvent
from dpsql.ir.plan import AlertQuestion, Noise, Plan
from dpsql.ir.source import Source
from dpsql.mechanisms import above_threshold
from dpsql.plan import alert as planning
from dpsql.planning import prepared

POLICY = """
[budget]
epsilon = 20.0
{budget}
[query]
epsilon = 1.0
max_epsilon = 5.0
{ledger}
[analysts.ana]
epsilon = 10.0
[analysts.bo]
epsilon = 10.0
[unit]
table = "people"
key = "id"
{blocks}
[tables.people.columns]
age = {{ range = [0, 29] }}
year = {{}}
[tables.visits]
unit = {{ column = "id" }}
rows_per_unit = 4
[tables.visits.columns]
day = {{ range = [0, 99] }}
cost = {{ range = [0, 500] }}
change = {{ range = [-20, 50] }}
[tables.wards]
public = true
[views.owned]
sql = "SELECT age FROM people"
private = {{ epsilon = 0.25 }}
"""

DATA = """
CREATE TABLE people AS SELECT i AS id, (hash(i, 1) % 30)::INTEGER AS age, 2020 + i % 3 AS year
FROM range(400) AS t(i);
ALTER TABLE people ADD PRIMARY KEY (id);
CREATE TABLE visits AS SELECT id, (hash(id, k, 5) % 100)::INTEGER AS day,
    (hash(id, k, 6) % 501)::INTEGER AS cost,
    (hash(id, k, 7) % 71)::INTEGER - 20 AS change FROM people, range(3) AS t(k)
UNION ALL SELECT 1, k % 100, 400, -20 FROM range(60) AS t(k);
CREATE TABLE wards (ward TEXT);
INSERT INTO wards VALUES ('a');
"""

ZCDP = 'delta = 1e-6\naccountant = "zcdp"'
CREATE = "CREATE PRIVATE ALERT flu WITH (epsilon = 0.5, above = 1e6)"
CERTAIN = "CREATE PRIVATE ALERT flu WITH (epsilon = 0.5, above = -1e6, times = {})"
"""Below 0 by so much that every outcome is true: a scale of 17.5 reaches it once in e^50,000."""


def built(
    folder: Path, budget: str = ZCDP, ledger: str = "", blocks: str = "", without: int | None = None
) -> Path:
    folder.mkdir(exist_ok=True)
    data = folder / "data.duckdb"
    with duckdb.connect(str(data)) as connection:
        connection.execute(DATA)
        for table in ("visits", "people") if without is not None else ():
            connection.execute(f"DELETE FROM {table} WHERE id = {without}")
    data.with_suffix(".toml").write_text(POLICY.format(budget=budget, ledger=ledger, blocks=blocks))
    return data


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return built(tmp_path / "owned")


@pytest.fixture
def db(data: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect(data, analyst="ana") as connection:
        yield connection


def asked(day: int, alert: str = "flu") -> str:
    return f"SELECT DP_ABOVE('{alert}', COUNT(*)) FROM visits WHERE day = {day}"


def outcome(db: dpsql.Connection, sql: str) -> bool:
    ((above,),) = db.execute(sql).rows
    assert isinstance(above, bool)
    return above


def refused(db: dpsql.Connection, sql: str) -> str:
    with pytest.raises(dpsql.Error) as caught:
        db.execute(sql)
    assert caught.value.help
    return caught.value.code


def spent(db: dpsql.Connection, analyst: str) -> float:
    return next(account.spent for account in db.budget.accounts if account.analyst == analyst)


def planned(db: dpsql.Connection, sql: str) -> Plan:
    with db._using() as session:
        return prepared(session, Source(sql), (), None).plan


# ---- buying and asking ---------------------------------------------------------------------------------


def test_it_is_paid_once_and_asked_free_until_it_says_true(db: dpsql.Connection) -> None:
    bought = db.execute(CERTAIN.format(1))
    assert (bought.cost, bought.rows) == (0.5, [("flu", -1e6, "bought")])
    assert (db.execute(CERTAIN.format(1)).cost, db.budget.spent) == (0, 0.5)
    assert db.price(asked(1)).cost == 0
    assert db.stored(asked(1)) is None
    first = db.execute(asked(1))
    assert (first.rows, first.types, first.cost, first.repeated) == ([(True,)], ("BOOLEAN",), 0, False)
    assert refused(db, asked(2)) == "D515"
    again = db.execute(asked(1))
    assert (again.rows, again.cost, again.repeated) == ([(True,)], 0, True)
    stored = db.stored(asked(1))
    assert stored is not None
    assert stored.rows == again.rows
    assert db.budget.spent == 0.5


def test_false_does_not_end_it(db: dpsql.Connection) -> None:
    db.execute(CREATE)
    assert [outcome(db, asked(day)) for day in range(20)] == [False] * 20


def test_it_says_true_as_often_as_it_was_bought_for(db: dpsql.Connection) -> None:
    assert db.execute(CERTAIN.format(3)).cost == 1.5
    assert [outcome(db, asked(day)) for day in (1, 2, 1, 3)] == [True] * 4
    assert refused(db, asked(4)) == "D515"


def test_a_new_one_of_the_same_name_is_paid_anew(db: dpsql.Connection) -> None:
    db.execute(CERTAIN.format(1))
    outcome(db, asked(1))
    assert refused(db, CREATE) == "D411"
    db.execute("DROP PRIVATE ALERT flu")
    assert refused(db, asked(1)) == "D201"
    before = thresholds_of(db)
    assert db.execute(CERTAIN.format(1)).cost == 0.5
    assert outcome(db, asked(2))
    assert thresholds_of(db) != before


def thresholds_of(db: dpsql.Connection) -> list[int]:
    """What the ledger keeps as the answer of the last alert."""
    with db._using() as session:
        (named,) = [alert for alert in session.ledger.alerts() if alert.generation >= 0][:1]
        plan = prepared(session, Source(CERTAIN.format(1)), (), None).plan
        receipt = session.stored(plan)
    if receipt is None or receipt.answer is None:
        return [named.generation]
    return list(json.loads(receipt.answer))


def test_another_version_of_the_data_is_another_question(data: Path) -> None:
    with dpsql.connect(data) as db:
        db.execute(CREATE)
        assert not outcome(db, asked(1))
    with duckdb.connect(str(data)) as connection:
        connection.execute("INSERT INTO visits VALUES (5, 1, 0, 0)")
    with dpsql.connect(data) as db:
        again = db.execute(asked(1))
        assert (again.rows, again.cost, again.repeated) == ([(False,)], 0, False)
        assert db.execute(asked(1)).repeated


def test_who_may_ask(data: Path) -> None:
    """A name is its creator's; who is lent it pays once, from their own account alone."""
    with dpsql.connect(data, analyst="ana") as ana, dpsql.connect(data, analyst="bo") as bo:
        ana.execute(CERTAIN.format(2))
        assert outcome(ana, asked(1))
        assert refused(bo, asked(1)) == "D201"
        assert refused(bo, "DROP PRIVATE ALERT flu") == "D201"
        ana.execute("GRANT SELECT ON PRIVATE ALERT flu TO bo")
        assert bo.price(asked(1)).cost == 1.0
        joined = bo.execute(asked(1))
        assert (joined.rows, joined.cost) == ([(True,)], 1.0)
        assert bo.execute(asked(2)).cost == 0
        assert spent(bo, "bo") == spent(bo, "ana") == bo.budget.spent == pytest.approx(0.723, rel=0.01)
        assert refused(ana, asked(3)) == "D515"
        ana.execute("REVOKE SELECT ON PRIVATE ALERT flu FROM bo")
        assert refused(bo, asked(1)) == "D201"
        bo.execute(CERTAIN.format(1))  # of one's own: another debit, and thresholds of its own
        assert outcome(bo, asked(3))
        assert spent(bo, "bo") == bo.budget.spent > spent(bo, "ana")


def test_who_has_not_paid_learns_nothing_of_a_lent_alert(data: Path) -> None:
    """Neither that it has ended, nor what it was asked: what is said to them is the same before and after."""
    with dpsql.connect(data, analyst="ana") as ana, dpsql.connect(data, analyst="bo") as bo:
        ana.execute("CREATE PRIVATE ALERT flu WITH (epsilon = 5, above = -1e6)")
        ana.execute("GRANT SELECT ON PRIVATE ALERT flu TO bo")
        for day in range(3):
            bo.execute(f"SELECT COUNT(*) FROM visits WHERE day = {day}", epsilon=5)
        left = spent(bo, "bo")
        before = [refusal_of_stored(bo, asked(day)) for day in (1, 2)]
        outcome(ana, asked(1))
        assert [refusal_of_stored(bo, asked(day)) for day in (1, 2)] == before
        assert refused(bo, asked(1)) == refused(bo, asked(2)) == "D501"
        assert spent(bo, "bo") == left


def refusal_of_stored(db: dpsql.Connection, sql: str) -> tuple[str, str]:
    with pytest.raises(dpsql.Error) as caught:
        db.stored(sql)
    return caught.value.code, str(caught.value)


def test_who_joins_an_ended_alert_has_its_answers(data: Path) -> None:
    with dpsql.connect(data, analyst="ana") as ana, dpsql.connect(data, analyst="bo") as bo:
        ana.execute(CERTAIN.format(1))
        ana.execute("GRANT SELECT ON PRIVATE ALERT flu TO bo")
        outcome(ana, asked(1))
        joined = bo.execute(asked(1))
        assert (joined.rows, joined.cost, spent(bo, "bo")) == ([(True,)], 0.5, 0.5)
        assert refused(bo, asked(2)) == "D515"
        assert spent(bo, "bo") == 0.5


def test_who_joins_with_a_new_question_is_told_the_end_and_not_refused(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end is what was paid for: the payment is answered with it, once, and no row is measured for it."""
    with dpsql.connect(data, analyst="ana") as ana, dpsql.connect(data, analyst="bo") as bo:
        ana.execute(CERTAIN.format(1))
        ana.execute("GRANT SELECT ON PRIVATE ALERT flu TO bo")
        outcome(ana, asked(1))
        printed, engine = list[object](), bo._open().engine
        monkeypatch.setattr(engine, "measure_sql", lambda measure: printed.append(measure) or "")
        monkeypatch.setattr(engine, "measure", lambda measure: pytest.fail("a row is read"))
        joined = bo.execute(asked(2))
        assert (joined.rows, joined.cost, spent(bo, "bo"), len(printed)) == ([(None,)], 0.5, 0.5, 1)
        assert joined.note.startswith("flu has ended: it said true on 2")
        assert refused(bo, asked(2)) == refused(bo, asked(3)) == "D515"
        assert spent(bo, "bo") == 0.5


@pytest.mark.parametrize("kind", ["ALERT", "VIEW"])
def test_what_is_only_shown_changes_nothing(data: Path, kind: str) -> None:
    on = "PRIVATE ALERT flu" if kind == "ALERT" else "flu"
    with dpsql.connect(data, analyst="ana") as ana, dpsql.connect(data) as owner:
        ana.execute(CREATE if kind == "ALERT" else "CREATE PRIVATE VIEW flu AS SELECT age FROM people")
        before = owner.ledger_path.read_bytes()
        for sql in (
            f"DROP PRIVATE {kind} flu",
            f"GRANT SELECT ON {on} TO bo",
            f"REVOKE SELECT ON {on} FROM bo",
        ):
            with pytest.raises(dpsql.InterfaceError):
                ana.stored(sql)
        assert owner.ledger_path.read_bytes() == before


def test_stored_does_not_pay_for_a_study(tmp_path: Path) -> None:
    data = built(tmp_path / "studies", ledger="[studies.s1]\nepsilon = 5.0")
    with dpsql.connect(data, analyst="ana") as ana:
        ana.execute(CREATE)
    with dpsql.connect(data, analyst="ana", study="s1") as ana:
        before = ana.ledger_path.read_bytes()
        assert ana.stored(CREATE) is None
        assert ana.ledger_path.read_bytes() == before


def test_what_is_kept_where_texts_are_not(tmp_path: Path) -> None:
    data = built(tmp_path / "digests", ledger='[ledger]\ntexts = "digest"')
    with dpsql.connect(data) as db:
        db.execute(CERTAIN.format(1))
        assert outcome(db, asked(77))
        ledger = db.ledger_path
    assert b"day = 77" not in ledger.read_bytes()


@pytest.mark.parametrize(
    "accountant",
    ["pure", "zcdp", *(pytest.param(each, marks=pytest.mark.sweep) for each in ("approx", "rdp"))],
)
def test_the_price_buys_one_response_under_any_accountant(accountant: str, tmp_path: Path) -> None:
    """A price of .5 under zcdp is an epsilon of .114."""
    delta = "" if accountant == "pure" else "delta = 1e-6\n"
    data = built(tmp_path / accountant, f'{delta}accountant = "{accountant}"')
    with dpsql.connect(data) as db:
        plan = planned(db, CERTAIN.format(3))
        assert plan.alert is not None
        assert plan.events == (AlertEvent(plan.alert.epsilon0),) * 3
        with db._using() as session:
            rules, budget = session.accountant, session.budget
            assert rules.charge(plan.events[:1]).within(rules.most(0.5, budget))
            more = AlertEvent(plan.alert.epsilon0 * 1.0001)
            assert not rules.charge((more,)).within(rules.most(0.5, budget))
        expected = {"pure": 0.5, "approx": 0.5, "zcdp": 0.1141}.get(accountant, plan.alert.epsilon0)
        assert plan.alert.epsilon0 == pytest.approx(expected, rel=1e-3)
        db.execute(CERTAIN.format(3))
        assert outcome(db, asked(1))


def test_it_is_paid_from_the_budget_where_a_part_is_kept_for_responses(tmp_path: Path) -> None:
    data = built(tmp_path / "kept", f"{ZCDP}\nresponses = 1.0")
    with dpsql.connect(data, analyst="ana") as db:
        assert db.execute(CREATE).cost == 0.5
    with dpsql.connect(data) as db:
        assert db.budget.responses is not None
        assert db.budget.responses.spent == 0
        assert db.budget.spent == pytest.approx(0.5)


def test_it_is_paid_in_all_blocks(tmp_path: Path) -> None:
    data = built(tmp_path / "blocks", blocks='blocks = { column = "year", values = [2020, 2021] }')
    with dpsql.connect(data) as db:
        db.execute(CREATE)
        assert {account.spent for account in db.budget.blocks} == {0.5}
        assert not outcome(db, "SELECT DP_ABOVE('flu', COUNT(*)) FROM people WHERE year = 2020")
        assert {account.spent for account in db.budget.blocks} == {0.5}


def test_a_block_that_came_later_is_not_asked(tmp_path: Path) -> None:
    """With ``check`` a new block has spent nothing: what an alert tells of its units is not paid.

    Who was lent the alert is refused before paying for it.
    """
    blocks = 'blocks = {{ column = "year", values = [{}], check = true }}'
    data = built(tmp_path / "later", blocks=blocks.format("2020, 2021"))
    with dpsql.connect(data, analyst="ana") as db:
        db.execute(CREATE)
        assert not outcome(db, "SELECT DP_ABOVE('flu', COUNT(*)) FROM people")
        db.execute("GRANT SELECT ON PRIVATE ALERT flu TO bo")
    with duckdb.connect(str(data)) as connection:
        connection.execute("INSERT INTO people SELECT i, 20, 2025 FROM range(1000, 1050) AS t(i)")
    policy = data.with_suffix(".toml")
    policy.write_text(policy.read_text().replace("2020, 2021", "2020, 2021, 2025"))
    with dpsql.connect(data) as db:
        assert {account.spent for account in db.budget.blocks} == {0.5, 0.0}
        assert not outcome(db, "SELECT DP_ABOVE('flu', COUNT(*)) FROM people WHERE year = 2020")
        for sql in ("FROM people", "FROM people WHERE year = 2025", "FROM visits"):
            assert refused(db, f"SELECT DP_ABOVE('flu', COUNT(*)) {sql}") == "D412"
            with dpsql.connect(data, analyst="bo") as bo:
                question = f"SELECT DP_ABOVE('flu', COUNT(*)) {sql}"
                assert (refused(bo, question), refusal_of_stored(bo, question)[0]) == ("D412", "D412")
                assert spent(bo, "bo") == 0
        db.execute("CREATE PRIVATE ALERT all_blocks WITH (epsilon = 0.5, above = 1e6)")
        assert not outcome(db, "SELECT DP_ABOVE('all_blocks', COUNT(*)) FROM people")


# ---- what is asked -------------------------------------------------------------------------------------

ANSWERED = {
    "SELECT DP_ABOVE('counts', COUNT(*)) FROM people": 1,
    "SELECT DP_ABOVE('counts', COUNT(*)) AS many FROM visits WHERE day BETWEEN 3 AND 5": 1,
    "SELECT DP_ABOVE('counts', COUNT(DISTINCT id)) FROM visits": 1,
    "SELECT DP_ABOVE('counts', COUNT(*) FILTER (WHERE age > 20)) FROM people JOIN visits USING (id)": 1,
    "WITH old AS (SELECT id FROM people WHERE age > 20) SELECT DP_ABOVE('counts', COUNT(*)) FROM old": 1,
    "SELECT DP_ABOVE('sums', SUM(cost)) FROM visits WHERE day < 50": 1000,
    "SELECT DP_ABOVE('sums', COUNT(*)) FROM visits": 1000,
    "SELECT DP_ABOVE('sums', SUM(LEAST(cost, 90))) FROM visits": 1000,
    "SELECT OPTIONS(max_rows_contributed = 4) DP_ABOVE('sums', SUM(LEAST(cost, 250))) FROM visits": 1000,
    "SELECT DP_ABOVE('sums', SUM(GREATEST(change, 0))) FROM visits": 1000,
    "SELECT DP_ABOVE('any', SUM(change)) FROM visits": 100,
    "SELECT DP_ABOVE('any', SUM(-change)) FROM visits WHERE day > 3": 100,
}
"""Questions, and what a unit may move each of them by."""

ALERTS = (
    "CREATE PRIVATE ALERT counts WITH (above = 1e6)",
    "CREATE PRIVATE ALERT sums WITH (above = 1e9, max_rows = 2, upper = 500)",
    "CREATE PRIVATE ALERT any WITH (above = 1e8, max_rows = 2, lower = -50, upper = 50)",
)

REFUSED = {
    "SELECT DP_ABOVE('counts', AVG(age)) FROM people": "D412",
    "SELECT DP_ABOVE('counts', COUNT(*) + 1) FROM people": "D412",
    "SELECT DP_ABOVE('counts', -COUNT(*)) FROM people": "D412",
    "SELECT DP_ABOVE('counts', COUNT(DISTINCT day)) FROM visits": "D412",
    "SELECT DP_ABOVE('counts', MEDIAN(age)) FROM people": "D412",
    "SELECT DP_ABOVE('counts', COUNT(*)) FROM wards": "D412",
    "SELECT DP_ABOVE('counts', COUNT(*)) FROM owned": "D412",
    "SELECT DP_ABOVE('counts', COUNT(*)) FROM people WHERE age > (SELECT AVG(age) FROM people)": "D412",
    "SELECT OPTIONS(max_rows_contributed = 2) DP_ABOVE('counts', COUNT(*)) FROM visits": "D412",
    "SELECT OPTIONS(max_rows_contributed = auto) DP_ABOVE('counts', COUNT(*)) FROM visits": "D412",
    "SELECT DP_ABOVE('counts', SUM(age)) FROM people": "D412",
    "SELECT DP_ABOVE('sums', SUM(change)) FROM visits": "D412",
    "SELECT DP_ABOVE('sums', SUM(3 * cost)) FROM visits": "D412",
    "SELECT DP_ABOVE('sums', SUM(id)) FROM visits": "D301",
    "SELECT OPTIONS(epsilon = 1) DP_ABOVE('counts', COUNT(*)) FROM people": "D503",
    "SELECT OPTIONS(within = 5) DP_ABOVE('counts', COUNT(*)) FROM people": "D503",
    "SELECT DP_ABOVE('counts', COUNT(*)) FROM people GROUP BY age": "D252",
    "SELECT DP_ABOVE('counts', COUNT(*)) FROM people HAVING COUNT(*) > 3": "D252",
    "SELECT DP_ABOVE('counts', COUNT(*)), 1 FROM people": "D252",
    "SELECT NOT DP_ABOVE('counts', COUNT(*)) FROM people": "D252",
    "SELECT * FROM (SELECT DP_ABOVE('counts', COUNT(*)) FROM people)": "D252",
    "SELECT DP_ABOVE('counts', COUNT(*)) FROM people UNION ALL SELECT true": "D252",
    "CREATE PRIVATE VIEW v AS SELECT DP_ABOVE('counts', COUNT(*)) FROM people": "D252",
    "SELECT COUNT(*) FROM visits WHERE DP_ABOVE('counts', day)": "D252",
    "SELECT DP_ABOVE('counts') FROM people": "D205",
    "SELECT DP_ABOVE(age, COUNT(*)) FROM people": "D205",
}


def test_what_is_refused_is_refused_before_anything(db: dpsql.Connection) -> None:
    for create in ALERTS:
        db.execute(create)
    with db._using() as session:
        before = session.ledger.entries()
        for sql, code in REFUSED.items():
            assert refused(db, sql) == code, sql
        assert session.ledger.entries() == before


def test_it_is_neither_exported_nor_audited(data: Path) -> None:
    with dpsql.connect(data) as db:
        db.execute(CREATE)
        for ask in (db.export, lambda sql: plan_of(db._open(), sql, 1.0)):
            with pytest.raises(dpsql.Error) as caught:
                ask(asked(1))
            assert caught.value.code == "D252"


@pytest.fixture(scope="module")
def neighbours(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, DuckDB, list[DuckDB]]:
    """The database, and the same without one of some people: person 1 has 63 visits."""
    folder = tmp_path_factory.mktemp("neighbours")
    whole = built(folder / "whole")
    return whole, DuckDB(whole), [DuckDB(built(folder / str(i), without=i)) for i in (1, 2, 7, 30)]


def moved(engine: DuckDB, other: DuckDB, question: AlertQuestion) -> Fraction:
    """How much larger a number is with a unit than without."""
    whole, less = (int(each.measure(question.measure).sums.sum()) for each in (engine, other))
    return (whole - less) * question.step


def test_one_unit_moves_a_question_as_it_was_declared(
    neighbours: tuple[Path, DuckDB, list[DuckDB]],
) -> None:
    """By at most D, which is what its noise is for; a monotone one only upwards when the unit comes."""
    path, whole, others = neighbours
    with dpsql.connect(path) as db:
        for create in ALERTS:
            db.execute(create)
        reached = {name: Fraction(0) for name in ("counts", "sums", "any")}
        for sql, most in ANSWERED.items():
            plan = planned(db, sql)
            assert plan.alert is not None
            assert plan.question is not None
            bound = above_threshold.most_of(plan.alert.step)
            assert most <= bound <= most * (1 + Fraction(1, 2**15))
            for other in others:
                by = moved(whole, other, plan.question)
                assert abs(by) <= bound, sql
                assert by >= 0 or not plan.alert.alert.monotone, sql
                reached[plan.alert.name] = max(reached[plan.alert.name], abs(by) / most)
            wide = 2 if plan.alert.alert.monotone else 4
            least = wide * bound / plan.question.step / Fraction(plan.alert.epsilon0)
            assert plan.question.measure.noise.scale >= least
            assert Fraction(plan.alert.scale) >= 2 * bound / plan.alert.step / Fraction(plan.alert.epsilon0)
            assert not outcome(db, sql)
        assert min(reached.values()) > 0.4, "the bounds are met, or nearly"


def test_a_question_with_the_noise_of_monotone_ones_is_found(
    neighbours: tuple[Path, DuckDB, list[DuckDB]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted error of the test before: numbers that move both ways have half the noise."""
    own = above_threshold.scale_of_question
    monkeypatch.setattr(
        planning.above_threshold,
        "scale_of_question",
        lambda most, step, _, epsilon: own(most, step, True, epsilon),
    )
    with pytest.raises(AssertionError):
        test_one_unit_moves_a_question_as_it_was_declared(neighbours)


# ---- noise, and the order of what is stored ------------------------------------------------------------


class Draws:
    """Noise in the place of the system's: 0, so that outcomes are exact; it notes what was drawn."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.thresholds: list[tuple[float, int]] = []
        self.questions: list[float] = []
        monkeypatch.setattr(questions, "from_system", self.question)
        monkeypatch.setattr(thresholds.sampler, "laplace", self.threshold)

    def question(self, noise: Noise, size: int) -> Any:
        assert (noise.mechanism, size) == ("laplace", 1)
        self.questions.append(noise.scale)
        return np.zeros(1, np.int64)

    def threshold(self, scale: float, size: int, words: object) -> Any:
        self.thresholds.append((scale, size))
        return np.zeros(size, np.int64)


def each_draws_once(db: dpsql.Connection, draws: Draws) -> None:
    """One threshold for each true when the alert is bought, one noise for each question that is new."""
    db.execute("CREATE PRIVATE ALERT flu WITH (epsilon = 0.5, above = 15, times = 2)")
    plan = planned(db, asked(1))
    assert plan.alert is not None
    assert plan.question is not None
    assert draws.thresholds == [(plan.alert.scale, 2)]
    days = [1, 2, 1, 3, 2]
    found = [outcome(db, asked(day)) for day in days]
    assert draws.questions == [plan.question.measure.noise.scale] * 3
    assert len(draws.thresholds) == 1
    assert found[0] == found[2]
    assert found[1] == found[4]


def test_noise_is_drawn_once(db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    each_draws_once(db, Draws(monkeypatch))


def test_without_noise_outcomes_are_what_the_data_says(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Draws(monkeypatch)
    with duckdb.connect(str(data)) as plain:
        count = "SELECT COUNT(DISTINCT id) FROM visits WHERE day = ?"
        counts = [plain.execute(count, [day]).fetchall()[0][0] for day in range(40)]
    above = sorted(counts)[30]
    with dpsql.connect(data) as db:
        db.execute(f"CREATE PRIVATE ALERT flu WITH (epsilon = 0.01, above = {above}, times = 40)")
        assert [outcome(db, asked(day)) for day in range(40)] == [count >= above for count in counts]


def test_a_threshold_that_is_drawn_at_each_question_is_found(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    draws, own = Draws(monkeypatch), questions._decided

    def redrawn(session: Any, receipt: Any, stored: bytes, planned: Any, question: Any) -> Any:
        return own(session, receipt, questions.drawn_thresholds(planned), planned, question)

    monkeypatch.setattr(questions, "_decided", redrawn)
    with pytest.raises(AssertionError):
        each_draws_once(db, draws)


def stored_before_it_is_shown(db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ``decide`` returns is in the file by then: another connection to the ledger sees it."""
    db.execute(CERTAIN.format(1))
    own, seen = questions._outcome, list[bool]()

    def looked(session: Any, statement: Any, plan: Plan, *rest: Any, **named: Any) -> Any:
        assert plan.question is not None
        other = Ledger.look(session.ledger._chain.path, session.ledger._promise)
        assert other is not None
        seen.append("outcome" in [entry.kind for entry in other.entries()])
        other.close()
        return own(session, statement, plan, *rest, **named)

    monkeypatch.setattr(questions, "_outcome", looked)
    outcome(db, asked(1))
    assert seen
    assert all(seen)


def test_an_outcome_is_stored_before_it_is_shown(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        stored_before_it_is_shown(db, patch)


def test_an_outcome_that_is_shown_before_it_is_stored_is_found(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dpsql.accounting.named_alerts import Outcome

    def shown(self: Ledger, *asked: Any) -> Outcome:
        *_, is_above = asked
        return Outcome(is_above(0), 1)

    monkeypatch.setattr(Ledger, "decide", shown)
    with pytest.raises(AssertionError):
        stored_before_it_is_shown(db, monkeypatch)


def test_thresholds_are_nowhere_but_in_the_ledger(db: dpsql.Connection) -> None:
    db.execute(CERTAIN.format(2))
    (threshold, _) = thresholds_of_two(db)
    assert outcome(db, asked(1))
    texts = [
        *(str(db.explain(sql)) + repr(db.explain(sql).to_dict()) for sql in (CERTAIN.format(2), asked(2))),
        repr(planned(db, asked(2))),
        *(repr(entry) for entry in db.purchases),
        *(str(table) for table in db.tables),
        repr(db.execute(asked(2)).rows),
    ]
    with db._using() as session:
        texts += [repr(entry) for entry in session.ledger.entries()]
    assert not any(str(threshold) in text for text in texts)


def thresholds_of_two(db: dpsql.Connection) -> list[int]:
    with db._using() as session:
        receipt = session.stored(prepared(session, Source(CERTAIN.format(2)), (), None).plan)
    assert receipt is not None
    assert receipt.answer is not None
    return list(json.loads(receipt.answer))


# ---- kills and processes -------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
import dpsql
from dpsql.audit import plan_of
from dpsql.accounting.ledger import Ledger
from dpsql.alerts import answers

def die(*given, **named):
    os.kill(os.getpid(), signal.SIGKILL)

def after(call):
    def done(*given, **named):
        call(*given, **named)
        die()
    return done

moment = sys.argv[3]
if moment == "after the debit":
    answers.drawn_thresholds = die
elif moment == "after the thresholds":
    Ledger.note_view = die
elif moment == "before the outcome":
    Ledger.decide = die
elif moment == "after the outcome":
    Ledger.decide = after(Ledger.decide)
with dpsql.connect(sys.argv[1], analyst="ana") as db:
    db.execute(sys.argv[2])
"""


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param("after the debit", marks=pytest.mark.sweep),
        "after the thresholds",
        "before the outcome",
        "after the outcome",
    ],
)
def test_it_survives_a_kill(data: Path, moment: str) -> None:
    """Nothing is paid twice, and nothing that may have been seen is drawn twice."""
    asks = "outcome" in moment
    create, ask = CERTAIN.format(1), asked(1)
    if asks:
        with dpsql.connect(data, analyst="ana") as db:
            db.execute(create)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(data), ask if asks else create, moment],
        capture_output=True,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    with dpsql.connect(data, analyst="ana") as db:
        assert db.budget.spent == 0.5
        db.execute(create)
        assert db.budget.spent == 0.5
        first = db.execute(ask)
        assert first.rows == [(True,)]
        assert first.repeated is (moment == "after the outcome")
        assert refused(db, asked(2)) == "D515"


CROWD = """
import importlib, os, signal, sys

data, processes, many, kills = sys.argv[1], *map(int, sys.argv[2:5])
for name in sys.argv[5].split():
    importlib.import_module(name)

import dpsql
from dpsql.accounting.ledger import Ledger
from dpsql.engines.duckdb import DuckDB
from dpsql.mechanisms import above_threshold

ready, is_ready = os.pipe()
waiting, go = os.pipe()

def die_at(moment):
    def die(*given, **named):
        os.kill(os.getpid(), signal.SIGKILL)

    decide = Ledger.decide
    if moment == 0:
        DuckDB.measure = die
    elif moment == 1:
        above_threshold.is_above = die  # the ledger is being written then, and locked
    else:
        Ledger.decide = lambda *given: die(decide(*given))

def ask(place):
    with dpsql.connect(data, analyst="ana") as db:
        os.write(is_ready, b"y")
        os.read(waiting, 1)
        if place < kills:
            die_at(place % 3)
        for day in range(many * place, many * (place + 1)):
            question = f"SELECT DP_ABOVE('flu', COUNT(*)) FROM visits WHERE day = {day}"
            try:
                said = db.execute(question).rows[0][0]
            except dpsql.Error as error:
                said = error.code
            os.write(1, f"{said}\\n".encode())

for place in range(processes):
    if not os.fork():
        os.close(go)
        try:
            ask(place)
        finally:
            os.write(is_ready, b"n")
            os._exit(0)
began = [os.read(ready, 1) for _ in range(processes)]
os.close(go)
for _ in range(processes):
    os.wait()
assert began == [b"y"] * processes
"""


def crowd(data: Path, processes: int, many: int, kills: int = 0) -> list[str]:
    """What so many processes were told that began to ask at once; so many of them are killed as they ask.

    They are forks of one that has imported all that a session needs: else their time is that of imports.
    """
    needed = [name for name in sys.modules if name.startswith(("dpsql.", "sqlglot.")) and "__" not in name]
    asked = subprocess.run(
        [sys.executable, "-c", CROWD, str(data), str(processes), str(many), str(kills), " ".join(needed)],
        capture_output=True,
        text=True,
        check=True,
    )
    return asked.stdout.split()


@pytest.mark.parametrize(
    ("processes", "times"), [(4, 2), *(pytest.param(64, times, marks=pytest.mark.sweep) for times in (1, 3))]
)
def test_many_processes_share_one_alert(data: Path, processes: int, times: int) -> None:
    """Every question would be true; as many are as were bought, and all others are refused."""
    with dpsql.connect(data, analyst="ana") as db:
        db.execute(CERTAIN.format(times))
    said = crowd(data, processes, 2)
    assert said.count("True") == times
    assert said.count("D515") == 2 * processes - times
    with dpsql.connect(data, analyst="ana") as db:
        assert db.price(CERTAIN.format(times)).repeated
        assert db.purchase_count == 1


@pytest.mark.parametrize(
    ("processes", "kills", "times"),
    [(4, 3, 1), *(pytest.param(64, 48, times, marks=pytest.mark.sweep) for times in (1, 3))],
)
def test_a_crowd_that_is_killed_has_no_second_true(
    data: Path, processes: int, kills: int, times: int
) -> None:
    """Killed before the number, while the ledger is written, and after the outcome is there: told or not,
    an outcome stays, and there are as many trues as were bought."""
    with dpsql.connect(data, analyst="ana") as db:
        db.execute(CERTAIN.format(times))
    told = crowd(data, processes, 1, kills)
    with dpsql.connect(data, analyst="ana") as db:
        spent, said = db.budget.spent, list[str]()
        for day in range(processes):
            try:
                said.append(str(outcome(db, asked(day))))
            except dpsql.Error as error:
                said.append(error.code)
        assert db.budget.spent == spent
    assert told.count("True") <= said.count("True") == times
    assert said.count("D515") == processes - times


# ---- files ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("total", [pytest.param([], marks=pytest.mark.sweep), ["--epsilon", "2"]])
def test_a_file_creates_an_alert_and_asks_it(data: Path, tmp_path: Path, total: list[str]) -> None:
    script = tmp_path / "questions.sql"
    script.write_text(f"{CREATE};\n{asked(1)};\n{asked(2)};\nSELECT COUNT(*) FROM people;\n")
    for more in (["--dry-run"], ["--out", str(tmp_path / "out")]):
        assert main(["run", str(data), str(script), *total, *more]) == 0
    with dpsql.connect(data) as db:
        assert db.execute(asked(1)).repeated
        assert db.execute(asked(2)).rows == [(False,)]
        assert db.budget.spent == pytest.approx(2 if total else 1.1, rel=0.15)


@pytest.mark.parametrize("above", [1e6, 2e6])
def test_a_file_is_billed_for_an_alert_that_it_creates_anew(
    data: Path, tmp_path: Path, above: float, capsys: pytest.CaptureFixture[str]
) -> None:
    with dpsql.connect(data) as db:
        db.execute(CREATE)
    anew = f"DROP PRIVATE ALERT flu;\nCREATE PRIVATE ALERT flu WITH (epsilon = 0.5, above = {above});\n"
    script = tmp_path / "questions.sql"
    script.write_text(f"{anew}{asked(1)};\n{anew}{asked(1)};\n")
    command = ["run", str(data), str(script), "--apart"]
    assert main([*command, "--dry-run"]) == 0
    assert "free" not in capsys.readouterr().out.splitlines()[-1]
    assert main([*command, "--out", str(tmp_path / "out")]) == 0
    with dpsql.connect(data) as db:
        assert len([each for each in db._open().ledger.alerts() if each.digest]) == 1
        assert db.budget.spent == pytest.approx(0.897, rel=0.02)  # of three alerts at .5


def test_the_ledger_is_whole(data: Path) -> None:
    """Its sums hold how often each alert has said true; whoever opens it later goes on from there."""
    with dpsql.connect(data, analyst="ana") as db:
        db.execute(CERTAIN.format(2))
        outcome(db, asked(1))
        db.execute("CREATE PRIVATE ALERT other WITH (epsilon = 0.1, above = 1e6)")
        for day in range(80):
            outcome(db, asked(day, "other"))
    with dpsql.connect(data, analyst="ana") as db:
        with db._using() as session:
            session.ledger.verify()
            assert session.ledger.recomputed().findings == []
            assert session.ledger._account.trues
        assert outcome(db, asked(2))
        assert refused(db, asked(3)) == "D515"


def test_a_statement_reads_as_it_is_written(db: dpsql.Connection) -> None:
    db.execute(
        'create /* an */ private -- alert\n alert "Flu" with (ABOVE = -3, epsilon = .5, max_rows = 2);'
    )
    plan = planned(db, asked(1, "FLU"))
    assert plan.alert is not None
    assert (plan.alert.alert.above, plan.alert.alert.rows) == (-3.0, 2)
    for sql, code in (
        ("CREATE PRIVATE ALERT a", "D101"),
        ("CREATE PRIVATE ALERT a WITH (epsilon = 1)", "D105"),
        ("CREATE PRIVATE ALERT a WITH (above = 1, above = 2)", "D105"),
        ("CREATE PRIVATE ALERT a WITH (above = 1, times = 0)", "D105"),
        ("CREATE PRIVATE ALERT a WITH (above = 1, times = 1.5)", "D105"),
        ("CREATE PRIVATE ALERT a WITH (above = 1, max_rows = 1e9)", "D105"),
        ("CREATE PRIVATE ALERT a WITH (above = 1e300)", "D105"),
        ("CREATE PRIVATE ALERT a WITH (above = 1, upper = 0)", "D105"),
        ("CREATE PRIVATE ALERT a WITH (above = 1, lower = 1)", "D105"),
        ("CREATE PRIVATE ALERT a WITH (above = 1, epsilon = 0)", "D503"),
        ("CREATE PRIVATE ALERT a WITH (above = 1, epsilon = 2, times = 3)", "D502"),
        ("CREATE PRIVATE ALERT a WITH (above = 1, epsilon = 1e-12)", "D503"),
        ('CREATE PRIVATE ALERT "a.b" WITH (above = 1)', "D411"),
        ("DROP PRIVATE ALERT a b", "D101"),
        ("GRANT SELECT ON PRIVATE ALERT flu TO eve", "D504"),
    ):
        assert refused(db, sql) == code, sql
