"""Attacks that once worked, each on a small database made for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.accounting import Budget
from dpsql.accounting import accountant as accountant_of
from dpsql.accounting.ledger import Ledger
from dpsql.answer.digits import below
from dpsql.audit import measure, plan_of
from dpsql.ir.event import LaplaceEvent
from dpsql.ir.plan import Plan, PublicKeys, Shape
from dpsql.ir.source import Source
from dpsql.pipeline import planned
from dpsql.plan.findings import bound_of
from dpsql.policy.toml import read_policy
from dpsql.release.release import from_system, release
from dpsql.screen.accounts import budget_text
from dpsql.session.checks import promise

POLICY = """
[budget]
epsilon = 1000.0
delta = 1e-6
[query]
epsilon = 1.0
max_epsilon = 1000.0
[unit]
name = "person"
table = "people"
key = "pid"
[tables.people.columns]
pid = {}
city = {}
blood = {}
age = { range = [0, 120] }
x = { range = [0, 1] }
registered = {}
[tables.marks]
key = "k"
unit = { column = "pid" }
rows_per_unit = 5
[tables.marks.columns]
pid = {}
k = {}
[tables.codes]
public = true
key = "code"
"""

TABLES = """
CREATE TYPE blood AS ENUM ('0', 'A', 'B', 'AB');
CREATE TABLE people (
    pid INTEGER PRIMARY KEY, city VARCHAR, blood blood, age INTEGER, x DOUBLE, registered TIMESTAMP
);
INSERT INTO people SELECT
    i, if(i = 0, 'Longyearbyen', 'Oslo'), 'A', 30 + i, 1.0, TIMESTAMP '2021-03-01' FROM range(10) AS r(i);
CREATE TABLE marks (pid INTEGER, k INTEGER UNIQUE);
INSERT INTO marks SELECT 1, 1000000000 + i FROM range(200) AS r(i);
CREATE TABLE codes (code BIGINT PRIMARY KEY);
INSERT INTO codes SELECT 4611686018427387904 + i FROM range(200) AS r(i);
"""

Open = Callable[[str], dpsql.Connection]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens the database as it is made by TABLES and some more statements."""
    with ExitStack() as stack:

        def make(more: str = "") -> dpsql.Connection:
            folder = tmp_path / str(len(list(tmp_path.iterdir())))
            folder.mkdir()
            with duckdb.connect(str(folder / "d.duckdb")) as connection:
                connection.execute(TABLES + more)
            (folder / "d.toml").write_text(POLICY)
            return stack.enter_context(dpsql.connect(folder / "d.duckdb"))

        yield make


@pytest.mark.parametrize(
    "listed",
    [
        "city IN ('Oslo', 'Oslo', 'Oslo')",
        "age IN (31, 31.0, 31)",
        "blood IN ('A', 'A')",
        "registered IN ('2021-03-01 00:00:00', '2021-03-01 00:00:00.0', DATE '2021-03-01')",
        "city IN (SELECT 'Oslo' FROM codes)",
    ],
)
def test_a_group_has_one_draw_of_noise_however_often_it_is_listed(opened: Open, listed: str) -> None:
    key = listed.split()[0]
    db = opened("")
    answer = db.execute(f"SELECT {key}, COUNT(*) FROM people WHERE {listed} GROUP BY {key}")
    assert len({row[0] for row in answer}) == len(answer)


def test_public_keys_cannot_be_planned_twice() -> None:
    with pytest.raises(ValueError, match="twice"):
        PublicKeys((("a", "b", "a"),))


def test_a_constant_that_is_no_member_of_an_enum_fails_nowhere(opened: Open) -> None:
    """The engine met the bad cast only where a row did: an error said that somebody lives there."""
    sql = (
        "SELECT blood, COUNT(*) FROM people WHERE city = 'Longyearbyen' "
        "AND blood IN ('zzz', 'A', 'B', 'AB', '0') GROUP BY blood"
    )
    with_person, without = opened(""), opened("DELETE FROM people WHERE pid = 0;")
    assert [row[0] for row in with_person.execute(sql)] == [row[0] for row in without.execute(sql)]


@pytest.mark.parametrize(
    "joined",
    [
        "people p LEFT JOIN marks v ON p.pid = v.pid AND v.k = 1000000000::FLOAT",
        "people p JOIN marks v ON p.pid = v.pid AND v.k = (p.x * 1e9)::FLOAT",
        "people p JOIN codes c ON c.code = p.x * 4611686018427387904::DOUBLE",
        "people p JOIN (SELECT pid, k FROM marks GROUP BY pid, k) v ON p.pid = v.pid AND v.k = 1e9::FLOAT",
    ],
)
def test_a_key_is_not_pinned_by_a_comparison_of_floats(opened: Open, joined: str) -> None:
    """Many whole numbers equal one DOUBLE: a key compared with it proves nothing, so the clip stays."""
    db = opened("")
    plan = plan_of(db._open(), f"SELECT COUNT(*) FROM {joined}", 1.0)
    [planned] = plan.stages[0].measures
    [measured] = measure(db, f"SELECT COUNT(*) FROM {joined}")
    assert planned.shape is not Shape.ROWS or planned.noise.sensitivity >= 200 * 2**20
    total = sum(abs(number) for sums in measured.rows.values() for number in sums)
    assert total <= 10 * planned.noise.sensitivity


@pytest.mark.parametrize(
    "sql",
    [
        """SELECT COUNT(*) FROM (SELECT pid, MAX(i + j) AS n FROM
           (SELECT pid, i FROM people, range(10000) AS r(i) GROUP BY pid, i) AS a, range(10000) AS s(j)
           GROUP BY pid)""",
        """SELECT SUM(n) FROM (SELECT a.pid, COUNT(*) AS n FROM
           (SELECT pid, i FROM people, range(10000) AS r(i)) AS a
           JOIN (SELECT pid, i FROM people, range(10000) AS r(i)) AS b ON a.pid = b.pid GROUP BY a.pid)""",
    ],
)
def test_public_rows_do_not_multiply_beyond_the_limit_in_steps(opened: Open, sql: str) -> None:
    with pytest.raises(dpsql.NotSupportedError) as caught:
        opened("").explain(sql)
    assert caught.value.code == "D303"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT age, COUNT(*) FROM people WHERE age = 44.0 GROUP BY age",
        "SELECT age, COUNT(*) FROM people WHERE age IN (44, 44.5) GROUP BY age",
        "SELECT registered, COUNT(*) FROM people WHERE registered = DATE '2021-03-01' GROUP BY registered",
        "SELECT age, COUNT(*) FROM people WHERE age = 9223372036854775807 GROUP BY age",
        "SELECT '', COUNT(*) FROM people GROUP BY ''",
    ],
)
def test_constants_of_another_type_than_their_column_are_answered(opened: Open, sql: str) -> None:
    assert len(opened("").execute(sql).columns) == 2


def chain(last: str, step: str, length: int) -> str:
    parts = [f"c0 AS ({last})"] + [f"c{i + 1} AS ({step.format(i)})" for i in range(length)]
    return f"WITH {', '.join(parts)} SELECT COUNT(*) FROM c{length}"


@pytest.mark.parametrize(
    "sql",
    [
        chain("SELECT pid, age FROM people", "SELECT * FROM c{0} UNION ALL SELECT * FROM c{0}", 20),
        chain(
            "SELECT pid, age FROM people", "SELECT a.pid, a.age FROM c{0} a JOIN c{0} b ON a.pid = b.pid", 20
        ),
        chain("SELECT code FROM codes", "SELECT a.code FROM c{0} a JOIN c{0} b USING (code)", 20),
        chain(
            "SELECT city, COUNT(*) AS n FROM people GROUP BY city",
            "SELECT * FROM c{0} UNION SELECT * FROM c{0}",
            20,
        ),
    ],
)
def test_ctes_that_double_are_refused_at_once(opened: Open, sql: str) -> None:
    db = opened("")
    with pytest.raises(dpsql.ProgrammingError) as caught:
        db.explain(sql)
    assert caught.value.code == "D103"


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT pid, MAX() FROM people GROUP BY pid", "D205"),
        ("SELECT COUNT(x.:VARCHAR) FROM people", "D1"),
        ("SELECT COUNT(*) FROM : people", "D1"),
        ("SELECT COUNT(*) FROM people WHERE age IN (" + ",".join(map(str, range(5000))) + ")", "D103"),
    ],
)
def test_odd_text_is_refused_with_a_code(opened: Open, sql: str, code: str) -> None:
    with pytest.raises(dpsql.Error) as caught:
        opened("").explain(sql)
    assert caught.value.code.startswith(code)


def test_an_error_carries_no_other(opened: Open) -> None:
    db = opened("")
    with pytest.raises(dpsql.OperationalError) as caught:
        db.execute("SELECT CAST('x' || COUNT(*) AS INTEGER) FROM people")
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    with pytest.raises(dpsql.OperationalError) as priced:
        db.execute("SELECT COUNT(*) FROM people", epsilon=10**400)
    assert priced.value.code == "D503"


def test_a_file_replaced_while_it_is_open_is_not_mixed_up(tmp_path: Path) -> None:
    """DuckDB keeps the old file open for the whole process: its answers are not the new file's."""
    path = tmp_path / "d.duckdb"
    for name in ("d.duckdb", "new.duckdb"):
        with duckdb.connect(str(tmp_path / name)) as connection:
            connection.execute(TABLES)
    (tmp_path / "d.toml").write_text(POLICY)
    with dpsql.connect(path):
        (tmp_path / "new.duckdb").replace(path)
        with pytest.raises(dpsql.OperationalError) as caught:
            dpsql.connect(path)
        assert caught.value.code in ("D602", "D505")
    dpsql.connect(path, ledger=tmp_path / "other.ledger").close()


@pytest.mark.parametrize(
    "parameter", [2**128, -(2**127) - 1, "half \ud800", float("inf"), b"bytes", [1], object()]
)
def test_parameters_that_are_no_values_are_refused_before_payment(opened: Open, parameter: object) -> None:
    db = opened("")
    with pytest.raises(dpsql.Error) as caught:
        db.execute("SELECT COUNT(*) FROM people WHERE city = ?", (parameter,))  # type: ignore[arg-type]  # on purpose
    assert caught.value.code in ("D001", "D205")
    assert db.budget.spent == 0


@pytest.mark.parametrize(
    "condition",
    [
        "registered < (SELECT TIMESTAMP '99999-01-01')",
        "x > (SELECT 'nan'::DOUBLE)",
        "x IN (SELECT 'inf'::DOUBLE)",
    ],
)
def test_public_values_without_a_literal_are_refused(opened: Open, condition: str) -> None:
    with pytest.raises(dpsql.ProgrammingError) as caught:
        opened("").explain(f"SELECT COUNT(*) FROM people WHERE {condition}")
    assert caught.value.code == "D205"


def test_a_sum_beyond_its_type_is_held_to_it(opened: Open) -> None:
    answer = opened("").execute("SELECT SUM(0.5::DECIMAL(38, 37)) FROM people", epsilon=0.001)
    assert len(answer) == 1


def test_what_fails_by_released_numbers_fails_by_the_same_ones_again(opened: Open) -> None:
    """Two ways to fail, one for each side of the count: fresh noise in each try would tell its middle."""
    db = opened("")
    failing = (
        "WITH counted AS (SELECT city, COUNT(*) AS n FROM people WHERE city IN ('Oslo') GROUP BY city), "
        "many AS (SELECT city, unnest(range(CASE WHEN n > 9 THEN 200000 ELSE CAST('x' || n AS INTEGER) END)) "
        "AS k FROM counted) SELECT COUNT(*) FROM people JOIN many USING (city)"
    )
    told = set()
    for _ in range(20):
        with pytest.raises(dpsql.OperationalError, match="D601") as caught:
            db.execute(failing, epsilon=0.01)
        told.add(caught.value.title)
    assert len(told) == 1
    assert [each.answered for each in db.purchases] == [False]
    kinds = [each.kind for each in db._open().ledger.entries()]
    assert kinds.count("debit") == kinds.count("part") == 1


def test_an_answer_stopped_between_its_stages_goes_on_from_what_was_released(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = opened("")
    above = "SELECT COUNT(*) FROM people WHERE age > (SELECT COUNT(*) FROM people)"
    with monkeypatch.context() as patch:
        patch.setattr("dpsql.post.stages.Released.hand_down", _stopped)
        for _ in range(3):
            with pytest.raises(KeyboardInterrupt):
                db.execute(above)
    db.execute(above)
    kinds = [each.kind for each in db._open().ledger.entries()]
    assert [kinds.count(each) for each in ("debit", "part", "answer")] == [1, 1, 1]


def _stopped(*given: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("column", ["ill", "ills", "pair"])
def test_members_of_an_enum_that_no_policy_lists_are_in_no_message(tmp_path: Path, column: str) -> None:
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute(
            "CREATE TYPE ill AS ENUM ('flu', 'rarepox');"
            "CREATE TABLE people (pid INTEGER PRIMARY KEY, ill ill, ills ill[], pair STRUCT(a ill, b ill[]))"
        )
    policy = POLICY[: POLICY.index("[tables.people.columns]")] + f"[tables.people.columns]\n{column} = {{}}\n"
    (tmp_path / "d.toml").write_text(policy)
    told = []
    with dpsql.connect(tmp_path / "d.duckdb") as db:
        told.append(repr(db.tables))
        for asked in ("SUM(?)", "MAX(?)", "HISTOGRAM(?)", "COUNT(DISTINCT ?)", "AVG(? + 1)", "SUM(?[1])"):
            for grouped in ("", " GROUP BY ?", " WHERE ? > 1"):
                query = f"SELECT {asked} FROM people{grouped}".replace("?", column)
                try:
                    told.append(str(db.explain(query)))
                except dpsql.Error as error:
                    told.append(str(error))
    assert "ENUM" in told[0]
    assert not [each for each in told if "rarepox" in each]


# ---- bounds that are found, and what remains ---------------------------------------------------------

WEALTHY = """
[budget]
epsilon = {epsilon}
{delta}
accountant = "{accountant}"
[query]
epsilon = {usual}
max_epsilon = {most}
[unit]
name = "person"
table = "people"
key = "pid"
{about}
[tables.people.columns]
a = {{}}
b = {{}}
c = {{}}
d = {{}}
e = {{}}
f = {{}}
"""


def wealthy_policy(epsilon: float, delta: str, accountant: str, about: str = "") -> str:
    prices = {"usual": min(1.0, epsilon), "most": min(20.0, epsilon)}
    return WEALTHY.format(epsilon=epsilon, delta=delta, accountant=accountant, about=about, **prices)


ACCOUNTANTS = ("pure", "approx", "zcdp")

Wealthy = Callable[..., dpsql.Connection]


@pytest.fixture
def wealthy(tmp_path: Path) -> Iterator[Wealthy]:
    """So many people with six numbers between 1,000 and 2,000, of which no range is declared."""
    with ExitStack() as stack:

        def make(
            people: int, accountant: str = "pure", about: str = "", epsilon: float = 1e6
        ) -> dpsql.Connection:
            folder = tmp_path / str(len(list(tmp_path.iterdir())))
            folder.mkdir()
            numbers = ", ".join(f"1000.0 + (i * 7919) % 1000 AS {name}" for name in "abcdef")
            with duckdb.connect(str(folder / "d.duckdb")) as connection:
                connection.execute(
                    "CREATE TABLE people (pid INTEGER PRIMARY KEY, a DOUBLE, b DOUBLE, c DOUBLE, d DOUBLE, "
                    f"e DOUBLE, f DOUBLE); INSERT INTO people SELECT i, {numbers} FROM range({people}) r(i)"
                )
            delta = "" if accountant == "pure" else "delta = 1e-6"
            (folder / "d.toml").write_text(wealthy_policy(epsilon, delta, accountant, about))
            return stack.enter_context(dpsql.connect(folder / "d.duckdb"))

        yield make


def _planned(db: dpsql.Connection, sql: str, epsilon: float) -> Plan:
    session = db._open()
    return planned(session, Source(sql), (), session.terms(epsilon))


@pytest.mark.parametrize("accountant", ACCOUNTANTS)
@pytest.mark.parametrize(("people", "price"), [(0, 1.0), (50, 0.1), (50, 1.0), (500, 0.1), (500, 0.5)])
def test_a_range_found_from_few_is_wide_and_never_narrow(
    wealthy: Wealthy, accountant: str, people: int, price: float
) -> None:
    """200 searches among numbers from 1,000 to 2,000: at most 5 end below 1,000; 500 people at .5 are enough.

    Each does with a chance of 1 in 1,000 at most, so that 6 come once in ten million. All but a few of them
    did, whatever the numbers were: of 500 people who own 791,427, half of all sums were said to lie between
    -0.1 and 6, with a margin below 1.
    """
    db = wealthy(people, accountant)
    session, first = db._open(), _planned(db, "SELECT SUM(a) FROM people", price).first
    assert first is not None
    (lack,), (search,) = first.lacks, first.measures
    exact = session.engine.measure(search)
    places = [int(release(exact, search, from_system).sums[0, 0]) for _ in range(200)]
    found = [bound_of(lack, session.known, place, "") for place in places]
    assert sum(each.high < 1000 for each in found) <= 5
    known = sum(each.is_known for each in found)
    assert known >= 190 if people * price >= 250 else known <= 10


def test_a_sum_of_few_people_says_that_nothing_was_found(wealthy: Wealthy) -> None:
    """The margin is that of the widest range; a higher price looks again, and below that it is free.

    60 people at .5 find something once in a thousand times: four times in a row, once in 10^12.
    """
    for _ in range(4):
        db = wealthy(60)
        answer = db.execute("SELECT SUM(a) FROM people", epsilon=0.5)
        if "Too few persons" in answer.note:
            break
    (((total,),), ((margin,),)) = answer.rows, answer.margins
    assert abs(total - 60 * 1500) <= 10 * margin
    assert margin > 2**40
    assert "A price above 1 looks again." in answer.note
    assert "too few persons to find it privately" in str(db.explain("SELECT AVG(a) FROM people", epsilon=1.0))
    assert _planned(db, "SELECT AVG(a) FROM people", 1.0).first is None
    assert _planned(db, "SELECT AVG(a) FROM people", 1.001).first is not None


@pytest.mark.parametrize("accountant", ACCOUNTANTS)
def test_a_price_too_small_to_find_anything_is_refused_before_the_debit(
    wealthy: Wealthy, accountant: str
) -> None:
    """By how many people the owner says there are, or among ten million; what the help says is accepted."""
    db = wealthy(50, accountant, "about = 50", epsilon=20.0)
    total = "SELECT SUM(a), SUM(b) FROM people"
    for ask in (db.execute, db.explain, db.price):
        with pytest.raises(
            dpsql.OperationalError, match=r"too small to find the range of people\.a"
        ) as caught:
            ask(total, epsilon=0.1)
        assert caught.value.code == "D503"
    assert "there are about 50" in str(caught.value)
    assert db.purchases == ()
    said = re.search(r"pay ([0-9.]+) or more", str(caught.value))
    assert said is not None
    assert db.explain(total, epsilon=float(said[1])).to_dict()["first"] is not None
    with pytest.raises(dpsql.OperationalError, match="too small to find"):
        db.explain(total, epsilon=0.98 * float(said[1]))
    with pytest.raises(dpsql.OperationalError, match="the owner may say about how many there are"):
        wealthy(50, accountant, epsilon=2e-6).execute(total, epsilon=1e-6)


@pytest.mark.parametrize("accountant", ACCOUNTANTS)
@pytest.mark.parametrize("together", range(1, 7))
def test_bounds_found_together_serve_later_queries_at_up_to_twice_their_price(
    wealthy: Wealthy, accountant: str, together: int
) -> None:
    """However many were found at once: two were never used again at the same price, one not at twice it."""
    db = wealthy(500, accountant)
    for price in (0.1, 0.3, 0.7, 1.0, 1 / 3):
        session = db._open()
        ledger = session.ledger._chain.path.with_name(f"{price}.ledger")
        session.ledger.close()
        session.ledger = Ledger.open(ledger, promise(session.policy, session.engine), session.granted())
        names = "abcdef"[:together]
        sums = ", ".join(f"SUM({name})" for name in names)
        assert db.execute(f"SELECT {sums} FROM people", epsilon=price).cost == pytest.approx(price)
        assert len(db.purchases) == 2
        for sql in (
            f"SELECT {sums} FROM people WHERE pid > 3",
            *(f"SELECT AVG({x}) FROM people" for x in names),
        ):
            for later in (price / 7, price, 1.1 * price, 2 * price):
                assert _planned(db, sql, later).first is None
            assert _planned(db, sql, 2.001 * price).first is not None
        assert db.execute(f"SELECT {sums} FROM people WHERE pid > 3", epsilon=2 * price).cost == 2 * price
        assert len(db.purchases) == 3


def test_a_search_that_was_cancelled_is_completed_by_whoever_needs_what_it_finds(
    wealthy: Wealthy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paid for and stopped, it stayed unanswered for ever, and every other query searched anew."""
    db = wealthy(2000)
    both, other = "SELECT SUM(a), SUM(b) FROM people", "SELECT AVG(b) FROM people"
    for sql in (both, "SELECT SUM(c) FROM people"):
        with monkeypatch.context() as patch:
            patch.setattr("dpsql.pipeline._one_release", _stopped)
            with pytest.raises(KeyboardInterrupt):
                db.execute(sql)
    assert [each.answered for each in db.purchases] == [False, False]
    assert db.execute(other, epsilon=2.0).cost == 2.0
    assert [each.answered for each in db.purchases] == [True, False, True]
    assert db.execute(both).cost == 0.8  # it has paid for the search
    assert db.execute("SELECT SUM(c) FROM people", epsilon=9.0).cost == 9.0  # and searches better itself
    assert [each.answered for each in db.purchases] == [True] * 6


@pytest.mark.parametrize("accountant", ACCOUNTANTS)
def test_the_largest_price_that_fits_is_told_and_fits(wealthy: Wealthy, accountant: str) -> None:
    """Under zcdp "about 0.05 remains" was said where a query at .3 fits."""
    db = wealthy(500, accountant, epsilon=3.0)
    for price in (0.9, 1.3, 0.2):
        most = db.budget.fits
        db.execute(f"SELECT COUNT(*) + {price} FROM people WHERE pid > {100 * price}", epsilon=price)
        assert db.budget.fits < most
    most = db.budget.fits
    with pytest.raises(dpsql.OperationalError) as caught:
        db.execute("SELECT COUNT(*) FROM people", epsilon=1.001 * most)
    assert caught.value.code == "D501"
    said = f"one query of up to {below(most)} fits"
    assert (said in budget_text(db, 100)) == (accountant == "zcdp")
    assert db.execute("SELECT COUNT(*) FROM people", epsilon=most).cost == most


@pytest.mark.parametrize("accountant", ACCOUNTANTS)
def test_what_was_spent_stays_told_when_less_is_granted(wealthy: Wealthy, accountant: str) -> None:
    """Of a budget of 2, 1.68 were spent; it is lowered to 1, and an analyst's too: 1 was said to be spent."""
    path = wealthy(500, accountant, epsilon=2.0)._open().ledger._chain.path
    policy = path.with_suffix(".toml")
    ana = "\n[analysts.ana]\nepsilon = {}\n"
    policy.write_text(policy.read_text() + ana.format(2.0))
    with dpsql.connect(path.with_suffix(".duckdb"), analyst="ana") as db:
        db.execute("SELECT COUNT(*) FROM people", epsilon=1.68)
    policy.write_text(policy.read_text().replace("epsilon = 2.0", "epsilon = 1.0"))
    with dpsql.connect(path.with_suffix(".duckdb")) as db:
        balance = db.budget
        for spent, remaining in (
            (balance.spent, balance.remaining),
            (balance.accounts[0].spent, balance.accounts[0].remaining),
        ):
            assert spent == pytest.approx(1.68, rel=1e-6)
            assert remaining == 0
        assert balance.fits == 0
        assert "1.68" in budget_text(db, 100)


@pytest.mark.parametrize(
    ("epsilon", "delta", "said"),
    [
        (2.0, "1e-300", "a delta below 1e-18 cannot be shared among queries"),
        (2.0, "1e-22", "a delta below 1e-18 cannot be shared among queries"),
        (1e300, "1e-6", "epsilon must lie between 1e-09 and 1e+09"),
        (1e-300, "1e-6", "epsilon must lie between 1e-09 and 1e+09"),
    ],
)
@pytest.mark.parametrize("accountant", ["approx", "zcdp"])
def test_budgets_that_no_ledger_can_count_are_refused_in_the_policy(
    tmp_path: Path, accountant: str, epsilon: float, delta: str, said: str
) -> None:
    """They opened, and then every query failed: by D901, or as if its own price were wrong."""
    policy = wealthy_policy(epsilon, f"delta = {delta}", accountant)
    with pytest.raises(dpsql.ProgrammingError, match=re.escape(said)) as caught:
        read_policy(policy, "d.toml")
    assert caught.value.code == "D803"


@pytest.mark.parametrize("name", ACCOUNTANTS)
@pytest.mark.parametrize("granted", [0.01, 1.0, 500.0])
def test_what_remains_falls_with_every_price_however_small(name: str, granted: float) -> None:
    """Under zcdp nothing was taken off what remains below a billionth: delta alone is worth as much."""
    rules, budget = accountant_of(name), Budget(granted, 0.0 if name == "pure" else 1e-6)
    for price in (1e-9, 1e-7, 1e-5, 1e-3):
        scale = 1 / rules.allowance(granted * price, budget, Fraction(1), thresholds=False).laplace
        spent = rules.charge((LaplaceEvent(1, scale),))
        assert 0.8 * granted * price < rules.epsilon(spent, budget) < 1.2 * granted * price
