"""Attacks that once worked, each on a small database made for it."""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy
import pytest

import dpsql
from dpsql.audit import measure, plan_of
from dpsql.audit.oracles import without_noise
from dpsql.estimates import estimates
from dpsql.ir.plan import PublicKeys, Shape
from dpsql.shell import main

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


# ---- questions that have an answer, and fail or get a wrong one ----------------------------------------


def database_in(folder: Path, more: str = "", **said: str) -> Path:
    """The database of TABLES and some more statements; ``said`` are lines of its policy, by what they set."""
    path = folder / "d.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLES + more)
    policy = POLICY
    for setting, value in said.items():
        found = re.search(rf"^{setting} = .*$", policy, re.MULTILINE)
        line = f"{setting} = {value}"
        policy = (
            policy.replace("[budget]", f"[budget]\n{line}")
            if found is None
            else policy.replace(found[0], line, 1)
        )
    path.with_suffix(".toml").write_text(policy)
    return path


@pytest.mark.parametrize(
    ("sql", "spread"),
    [
        ("SELECT STDDEV(age) / AVG(age) FROM people", "stddev_samp"),
        ("SELECT city, VAR_POP(x) / COUNT(x) FROM people GROUP BY city", "var_pop"),
    ],
)
def test_what_is_computed_from_a_spread_is_explained_and_priced(opened: Open, sql: str, spread: str) -> None:
    """A spread's expected error was simulated with the formulas of all outputs: D901 (KeyError)."""
    db = opened("")
    assert spread in str(db.explain(sql))
    assert all(each.error is not None and each.error > 0 for each in db.price(sql).expected)
    assert [row for (row,) in db.execute(f"EXPLAIN {sql}")] == str(db.explain(sql)).split("\n")


@pytest.mark.parametrize("accountant", ["pure", "approx"])
def test_counts_take_their_share_of_a_file_where_a_query_is_dear(
    tmp_path: Path, accountant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """From a default price of 3.7 on, most noise of whole numbers is 0 (pure, approx): so was the half-width

    of a count, which stood for its share, and ``dpsql run --epsilon 2`` divided by it or gave it nothing.
    """
    script = tmp_path / "all.sql"
    script.write_text(
        "SELECT COUNT(*) AS n FROM people; SELECT SUM(age) AS s FROM people; SELECT AVG(x) FROM people;"
    )
    said = []
    for price in ("1.0", "20.0"):
        folder = tmp_path / price
        folder.mkdir()
        delta = {"delta": "0.0"} if accountant == "pure" else {}
        path = database_in(folder, accountant=f'"{accountant}"', epsilon="1000.0", **delta)
        text = path.with_suffix(".toml").read_text()
        path.with_suffix(".toml").write_text(
            text.replace("[query]\nepsilon = 1.0", f"[query]\nepsilon = {price}")
        )
        for number, asked in enumerate((script.read_text(), "SELECT COUNT(*) AS n FROM people")):
            (tmp_path / f"{number}.sql").write_text(asked)
            words = [
                "run",
                str(path),
                str(tmp_path / f"{number}.sql"),
                "--epsilon",
                "2",
                "--out",
                str(folder / str(number)),
            ]
            assert main(words) == 0, capsys.readouterr()
        manifest = json.loads((folder / "0" / "manifest.json").read_text())
        said.append([each["epsilon"] for each in manifest["statements"]])
    assert said[0] == said[1]  # what a query usually costs has no part in it
    assert sum(said[0]) == pytest.approx(2, rel=1e-3)
    assert min(said[0]) > 0.1


# ---- refusals that contradict themselves, and calls that end in an error of ours -----------------------

ONE = "SELECT DP_RANDOMIZED_RESPONSE(age >= 35, {:g}) AS old FROM people"
TWO = ONE.replace("AS old", "AS old, DP_RANDOMIZED_RESPONSE(x > 0, {:g}) AS x")


@pytest.mark.parametrize("accountant", ["zcdp", "pure", "approx"])
@pytest.mark.parametrize(("sql", "coins"), [(ONE, (1.0986,)), (ONE, (3.5,)), (TWO, (0.9, 0.8))])
def test_an_export_that_does_not_fit_says_what_it_takes_and_what_would_fit(
    tmp_path: Path, accountant: str, sql: str, coins: tuple[float, ...]
) -> None:
    """'costs epsilon 1.5986; about 5 remains', and was refused: of rho a coin takes more than it says.

    What is said to fit, fits; and what is said to be too much is more than what is said to fit.
    """
    said = {"delta": "0.0"} if accountant == "pure" else {}
    path = database_in(tmp_path, accountant=f'"{accountant}"', epsilon="5.0", max_epsilon="5.0", **said)
    text = path.with_suffix(".toml").read_text()
    path.with_suffix(".toml").write_text(text.replace("[query]\nepsilon = 1.0", "[query]\nepsilon = 0.5"))
    spent = 0.0 if accountant == "zcdp" else 4.0
    with dpsql.connect(path) as db:
        if spent:
            db.execute("SELECT COUNT(*) FROM people", epsilon=spent)
        with pytest.raises(dpsql.OperationalError) as refused:
            db.export(sql.format(*coins))
        assert refused.value.code == "D501"
        found = re.fullmatch(
            r"the export costs epsilon ([\d.]+)"
            r"(?:, and takes as much as a query at ([\d.]+) does \(zcdp\))?; at most ([\d.]+) fits",
            refused.value.label,
        )
        assert found is not None
        assert float(found[1]) == pytest.approx(0.5 + sum(coins))
        assert float(found[2] or found[1]) > float(found[3]) == 5 - spent
        (part,) = re.findall(r"(?:RESPONSE\(x, |with )([\d.]+)", refused.value.help)
        less = [float(part)] if len(coins) == 1 else [float(part) * each for each in coins]
        assert db.export(sql.format(*less)).cost > 0.5


@pytest.mark.parametrize("accountant", ["zcdp", "pure", "approx"])
def test_the_price_that_is_said_to_fit_fits(tmp_path: Path, accountant: str) -> None:
    """Under zcdp more fits than what remains as an epsilon: D501 names the largest price."""
    delta = {"delta": "0.0"} if accountant == "pure" else {}
    path = database_in(tmp_path, accountant=f'"{accountant}"', epsilon="1.0", max_epsilon="1.0", **delta)
    with dpsql.connect(path) as db:
        db.execute("SELECT COUNT(*) FROM people", epsilon=0.9)
        with pytest.raises(dpsql.OperationalError) as refused:
            db.execute("SELECT SUM(age) FROM people", epsilon=0.99)
        (fits,) = re.findall(r"costs epsilon 0.99; at most ([\d.]+) fits", refused.value.label)
        with pytest.raises(dpsql.OperationalError):
            db.execute("SELECT SUM(age) FROM people", epsilon=float(fits) + 2e-4)
        assert db.execute("SELECT SUM(age) FROM people", epsilon=float(fits)).cost == float(fits)
        with pytest.raises(dpsql.OperationalError, match=r"at most 0\.00|next to nothing is left"):
            db.execute("SELECT AVG(age) FROM people", epsilon=0.99)


@pytest.mark.parametrize("price", [1000.0001, 1000.0000000000002])
def test_a_price_above_the_ceiling_is_not_said_to_be_the_ceiling(opened: Open, price: float) -> None:
    """'the price 2 is above the ceiling of 2': both were rounded to six digits."""
    with pytest.raises(dpsql.OperationalError) as refused:
        opened("").execute("SELECT COUNT(*) FROM people", epsilon=price)
    assert refused.value.title == f"the price {price!r} is above the ceiling of 1000 for one query"


@pytest.mark.parametrize("length", [100_001, 200_001, 1_000_000])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM people WHERE city = ?",
        "SELECT COUNT(*) FROM people WHERE city || ? = city",
        "SELECT ? AS x, COUNT(*) FROM people",
    ],
)
def test_a_text_that_is_given_may_be_as_long_as_a_query(opened: Open, sql: str, length: int) -> None:
    """D901 for a text parameter whose SQL was too long to print: the refusal of that had no place to go."""
    db = opened("")
    assert db.execute(sql, ("x" * 50_000,)).cost == 1.0
    for ask in (db.execute, db.explain, db.price):
        with pytest.raises(dpsql.ProgrammingError) as refused:
            ask(sql, ("x" * length,))
        assert refused.value.code == "D103"
    assert len(db.purchases) == 1


class Anything:
    """A value of no known type."""

    def __repr__(self) -> str:
        return "anything"


WRONG: tuple[Any, ...] = (
    *(5, -1, 2**70, 2.5, math.nan, math.inf, 1j, True, Decimal("0.5"), Fraction(1, 2)),
    *("", "2", "\ud800", "a\0b", b"x", [], {}, (1, 2), datetime.date(2020, 1, 1), Anything(), len),
    *(numpy.float32(0.5), numpy.float64(0.5), numpy.int64(2), numpy.bool_(True), numpy.array([1.0, 2.0])),
)


@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_arguments_of_wrong_types_are_refused_as_what_they_are(opened: Open, value: object) -> None:
    """``analyst=5`` was D901, ``fetchmany("2")`` a bare TypeError: what is no answer says why not."""
    db: Any = opened("")
    path, sql = db.ledger_path.with_suffix(".duckdb"), "SELECT COUNT(*) FROM people"
    cursor: Any = db.cursor()

    def pieces() -> None:
        cursor.execute(sql)
        cursor.arraysize = value
        cursor.fetchmany()

    def timed() -> None:
        db.timeout = value
        try:
            db.execute(sql)
        finally:
            db.timeout = None

    def usual() -> None:
        db.epsilon = value
        db.epsilon = None

    calls: list[Callable[[], object]] = [
        lambda: dpsql.connect(value),  # type: ignore[arg-type]  # that is what is tried
        lambda: dpsql.connect(path, value).close(),  # type: ignore[arg-type]
        lambda: dpsql.connect(path, None, value).close(),  # type: ignore[arg-type]
        lambda: dpsql.connect(path, analyst=value).close(),  # type: ignore[arg-type]
        *(lambda ask=ask: ask(value) for ask in (db.execute, db.explain, db.price, db.export)),
        *(lambda ask=ask: ask(sql, value) for ask in (db.execute, db.explain, db.price, db.export)),
        *(lambda ask=ask: ask(sql, epsilon=value) for ask in (db.execute, db.explain, db.price, db.export)),
        lambda: db.execute(f"{sql} WHERE age > ?", (value,)),
        lambda: cursor.execute(value),
        lambda: cursor.execute(sql).fetchmany(value),
        *(pieces, timed, usual),
        *(lambda make=make: make(value) for make in (dpsql.DateFromTicks, dpsql.TimeFromTicks)),  # type: ignore[misc]
        lambda: dpsql.TimestampFromTicks(value),  # type: ignore[arg-type]
        lambda: estimates(value),  # type: ignore[arg-type]
        lambda: measure(db, value),  # type: ignore[arg-type]
        lambda: measure(db, sql, value),  # type: ignore[arg-type]
        lambda: measure(db, sql, replay=value),  # type: ignore[arg-type]
    ]
    for call in calls:
        with suppress(
            dpsql.InterfaceError, dpsql.ProgrammingError, dpsql.OperationalError, dpsql.NotSupportedError
        ):
            call()


@pytest.mark.parametrize("made", [numpy.float64, numpy.float32, numpy.int64, numpy.float16])
def test_a_price_and_a_time_limit_may_be_numbers_of_numpy(opened: Open, made: Callable[[float], Any]) -> None:
    """Refused as D503: 'this one is a float64'."""
    db = opened("")
    sql = "SELECT COUNT(*) FROM people"
    db.timeout = made(30)
    assert db.execute(sql, epsilon=made(2)).cost == 2.0
    assert db.price("SELECT SUM(age) FROM people", epsilon=made(2)).cost == 2.0
    assert db.explain(sql, epsilon=made(2)).to_dict()["price"] == 2.0
    db.epsilon = made(4)
    assert (db.epsilon, type(db.epsilon)) == (4.0, float)
    assert measure(db, sql, made(2))[0].noises[0].scale == measure(db, sql, 2.0)[0].noises[0].scale


def test_the_help_for_an_average_leaves_null_alone(opened: Open) -> None:
    """D301's help made 0 of NULL: done as it said, an average was .023 where .341 is right.

    Here a third of the scores is NULL; the others are 30, so that every wrong reading is far off.
    """
    db = opened("ALTER TABLE people ADD COLUMN score DOUBLE; UPDATE people SET score = 30 WHERE pid % 3 > 0;")
    database, policy = (db.ledger_path.with_suffix(each) for each in (".duckdb", ".toml"))
    db.close()
    text = policy.read_text().replace("age = {", "score = {}\nage = {")
    policy.write_text(text.replace("max_epsilon", "find_bounds = false\nmax_epsilon"))
    with dpsql.connect(database) as db:
        for name, place in (("AVG", ""), ("MEDIAN", ""), ("MIN", ""), ("QUANTILE_CONT", ", 0.5")):
            with pytest.raises(dpsql.NotSupportedError) as refused:
                db.explain(f"SELECT {name}(score{place}) FROM people")
            (said,) = re.findall(r"bound it: (.*\)), or", refused.value.help)
            done = re.sub(r"\bx\b", "score", said).replace("500", "60")
            assert without_noise(db, f"SELECT {done} FROM people", 1000.0)[0][0] == pytest.approx(30, abs=0.1)


MANY = """
CREATE TABLE orders (pid INTEGER, order_id INTEGER UNIQUE, code INTEGER, kind VARCHAR NOT NULL);
INSERT INTO orders SELECT i % 10, i, 7 * i, ['a', 'b', 'c'][1 + i % 3] FROM range(200) AS r(i);
CREATE TABLE loose AS SELECT pid, code FROM orders;
"""
ORDERS = """
[tables.orders]
key = "order_id"
unit = { column = "pid" }
rows_per_unit = 30
[tables.orders.columns]
pid = {}
order_id = {}
code = {}
kind = { values = ["a", "b", "c"] }
[tables.loose]
unit = { column = "pid" }
[tables.loose.columns]
pid = {}
code = {}
"""


def test_different_values_are_counted_as_far_as_rows_are(tmp_path: Path) -> None:
    """Each person counted for at most 5 values, and nothing said so: 64,120 ± 64 orders, not 92,030.

    A key of the rows is counted as rows are; what is none, as far as ``rows_per_unit`` says; and where
    nobody says that, or the query says less, the answer has a note.
    """
    path = database_in(tmp_path, MANY)
    path.with_suffix(".toml").write_text(POLICY + ORDERS)
    with dpsql.connect(path) as db:
        for sql, expected in (
            ("SELECT COUNT(DISTINCT order_id) FROM orders", 200),
            ("SELECT COUNT(DISTINCT code) FROM orders", 200),
            ("SELECT COUNT(DISTINCT kind) FROM orders", 3),
        ):
            assert without_noise(db, sql, 1.0) == [(expected,)]
            assert db.execute(sql).note == ""
        (rows,) = measure(db, "SELECT COUNT(DISTINCT order_id) FROM orders")
        (same,) = measure(db, "SELECT COUNT(order_id) FROM orders")
        assert rows == same
        claims = [
            plan_of(db._open(), sql, 1.0).stages[0].measures[0].details[0].sensitivity
            for sql in (
                "SELECT COUNT(DISTINCT code) FROM orders",
                "SELECT COUNT(DISTINCT kind) FROM orders",
                "SELECT OPTIONS(max_rows_contributed = 7) COUNT(DISTINCT code) FROM orders",
                "SELECT OPTIONS(max_values_contributed = 9) COUNT(DISTINCT order_id) FROM orders",
                "SELECT COUNT(DISTINCT code) FROM loose",
            )
        ]
        assert claims == [30, 3, 7, 9, 5]
        for sql, values in (
            ("SELECT COUNT(DISTINCT code) FROM loose", "5 values"),
            ("SELECT OPTIONS(max_values_contributed = 1) COUNT(DISTINCT code) FROM orders", "one value"),
        ):
            assert f"COUNT(DISTINCT ...) counts at most {values} of one person alone" in db.execute(sql).note
            assert "beyond them may not be counted" in str(db.explain(sql))


REGIONS = """
CREATE TABLE cities (city VARCHAR PRIMARY KEY, region VARCHAR, size INTEGER);
INSERT INTO cities VALUES ('Oslo', 'east', 54), ('Longyearbyen', 'north', 2), ('Bergen', 'west', 1331);
"""


def test_what_the_keys_of_a_group_determine_is_exact_and_free(tmp_path: Path) -> None:
    """MAX of a public column beside a count by its key was chosen with noise: 1,331 where 54 is right.

    It said nothing of that, and ANY_VALUE of the same was refused with help for something else.
    """
    path = database_in(tmp_path, REGIONS)
    policy = path.with_suffix(".toml")
    policy.write_text(policy.read_text() + '[tables.cities]\npublic = true\nkey = "city"\n')
    joined = "FROM people p JOIN cities c ON c.city = p.city GROUP BY"
    sizes = {"Oslo": 54, "Longyearbyen": 2, "Bergen": 1331}
    with dpsql.connect(path) as db:
        counts = db.price(f"SELECT c.city, COUNT(*) AS n {joined} c.city")
        for name in ("MAX", "MIN", "ANY_VALUE", "FIRST", "arbitrary"):
            sql = f"SELECT c.city, {name}(c.size) AS size, COUNT(*) AS n {joined} c.city"
            answer = db.execute(sql)
            assert {city: size for city, size, _ in answer} == sizes
            assert all(margins[1] is None and margins[2] is not None for margins in answer.margins)
            assert db.price(sql).expected == counts.expected  # and no part of the price is spent on it
            assert answer.note == ""
        assert db.execute(f"SELECT c.city, MAX(c.size) {joined} c.city").cost == 0
        of_regions = db.execute(f"SELECT region, MAX(c.size), COUNT(*) {joined} region")
        assert "MIN and MAX have about" in of_regions.note
        with pytest.raises(dpsql.NotSupportedError) as refused:
            db.execute(f"SELECT region, ANY_VALUE(c.size), COUNT(*) {joined} region")
        assert "the key of its public table" in refused.value.help
