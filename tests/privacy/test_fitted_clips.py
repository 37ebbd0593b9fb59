"""Clips that fit a query: chosen once, privately, paid for before anybody looks, enforced in any case."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql import audit, planning, releasing
from dpsql.accounting.units import Units
from dpsql.audit.oracles import violations
from dpsql.engines import measure_sql
from dpsql.engines.open_database import open_database
from dpsql.ir.bound import Bound, Missing, MissingClip
from dpsql.ir.clip_search import ClipSearch
from dpsql.ir.plan import Norm, Plan, Shape
from dpsql.ir.source import Source
from dpsql.plan.bound_lookup import Lookup
from dpsql.plan.clip_search import clip_of
from dpsql.release.serialization import to_bytes

POLICY = """\
[budget]
epsilon = 5000.0
delta = 1e-6
accountant = "zcdp"

[query]
epsilon = 1.0
max_epsilon = 1000.0

[analysts.ana]
epsilon = 2000.0

[analysts.bob]
epsilon = 2000.0

[unit]
name = "guest"
table = "guests"
key = "id"

[tables.guests.columns]
wealth = { range = [0, 100000] }

[tables.visits]
unit = { column = "guest" }
rows_per_unit = 20

[tables.visits.columns]
place = { values = ["bar", "inn", "spa"] }
town = {}
spent = { range = [0, 1000] }
tip = {}
"""

FIT = "SELECT OPTIONS(max_rows_contributed = auto)"
COUNT = f"{FIT} place, COUNT(*) AS n FROM visits GROUP BY place"
SPENT = f"{FIT} SUM(spent) FROM visits"


@pytest.fixture(scope="module")
def hotel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """3,000 guests of 2 to 5 visits, but the first, who has 900, and the second: 300. They spend 1 to 10."""
    folder = tmp_path_factory.mktemp("hotel")
    (folder / "hotel.toml").write_text(POLICY)
    with duckdb.connect(str(folder / "hotel.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE guests AS SELECT i AS id, (i % 100) * 10.0 AS wealth FROM range(3000) AS r(i);"
            "ALTER TABLE guests ADD PRIMARY KEY (id);"
            "CREATE TABLE visits AS SELECT i AS guest, ['bar', 'inn', 'spa'][1 + (i + j) % 3] AS place, "
            "'t' || j AS town, 1.0 + (i + j) % 10 AS spent, (j % 3)::DOUBLE AS tip "
            "FROM range(3000) AS r(i), range(900) AS s(j) "
            "WHERE j < CASE i WHEN 0 THEN 900 WHEN 1 THEN 300 ELSE 2 + i % 4 END"
        )
    return folder


@pytest.fixture
def path(hotel: Path, tmp_path: Path) -> Path:
    shutil.copytree(hotel, tmp_path / "hotel")
    return tmp_path / "hotel" / "hotel.duckdb"


@pytest.fixture
def db(path: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect(path) as connection:
        yield connection


def planned(db: dpsql.Connection, sql: str, epsilon: float | None = None) -> Plan:
    session = db._open()
    return planning.planned(session, Source(sql), (), session.terms(epsilon))


def clips_of(db: dpsql.Connection, sql: str) -> tuple[Bound, ...]:
    (bound,) = planned(db, sql).bounds
    return db._open().bounds(bound.missing)


def spent_of(db: dpsql.Connection) -> int:
    spent = db._open().ledger.spent()
    assert isinstance(spent, Units)
    return spent.main


# ---- what is chosen, and by whom it is used ----------------------------------------------------------


def test_a_clip_is_chosen_for_a_tenth_of_the_price(db: dpsql.Connection) -> None:
    """At epsilon 100 all but a few guests fit, and the clip is no 16 times too wide: in all of 10^8 draws."""
    before = db.explain(COUNT).to_dict()
    assert (before["price"], before["first"]["price"]) == (1, 0.1)
    assert before["first"]["finds"] == ["the clip of visits"]
    answer = db.execute(COUNT, epsilon=100)
    assert answer.cost == 100
    assert "The clip of visits was chosen privately, to fit" in answer.note
    assert len(db.purchases) == 2
    (found,) = db.explain(COUNT, epsilon=100).to_dict()["found"]
    low, rows = found["range"]
    assert low == 0
    assert 2 < rows < 80  # sqrt(9) rows of the others; the first guest has 900 / sqrt(3)
    measure = db.explain(COUNT, epsilon=100).to_dict()["stages"][0]["measures"][0]
    assert measure["fitted"] == rows
    assert f"adds more than {rows:,.3g} times the most of one row is scaled down" in str(
        db.explain(COUNT, epsilon=100)
    )


def test_a_sum_of_values_has_a_clip_far_below_a_row(db: dpsql.Connection) -> None:
    """The most of a row is 1,000, and guests spend 50 at most, but for two."""
    db.execute(SPENT, epsilon=100)
    (found,) = db.explain(SPENT, epsilon=100).to_dict()["found"]
    assert found["range"][1] < 1


def test_the_same_sums_at_a_like_price_use_it_free(db: dpsql.Connection) -> None:
    db.execute(COUNT)
    doubled = f"{FIT} place, 2 * COUNT(*) AS n FROM visits GROUP BY place HAVING COUNT(*) > 10"
    assert planned(db, doubled).first is None
    assert planned(db, COUNT, 1.9).first is None
    assert db.execute(COUNT, epsilon=1.9).cost == 1.9
    assert len(db.purchases) == 3
    for sql, epsilon in (
        (COUNT, 2.0),
        (COUNT, 0.9),
        (COUNT.replace("GROUP", "WHERE spent > 3 GROUP"), 1.0),
        (COUNT.replace("COUNT(*)", "SUM(spent)"), 1.0),
    ):
        assert planned(db, sql, epsilon).first is not None


def test_a_repeat_is_free(db: dpsql.Connection) -> None:
    first, again = db.execute(COUNT), db.execute(COUNT)
    assert (again.rows, again.margins, again.cost, again.repeated) == (first.rows, first.margins, 0, True)
    assert len(db.purchases) == 2


def test_analysts_share_what_one_has_chosen(path: Path) -> None:
    with dpsql.connect(path, analyst="ana") as ana, dpsql.connect(path, analyst="bob") as bob:
        chosen = ana.execute(COUNT)
        joined = bob.execute(COUNT)
        assert joined.rows == chosen.rows
        assert joined.cost == 0.9
        assert bob.budget.accounts[1].spent < ana.budget.accounts[0].spent


def test_both_parts_together_cost_no_more_than_the_price(path: Path) -> None:
    """Rho of the two debits against that of a query that says its clip."""
    spent = []
    for name, sql in (("fitted", COUNT), ("said", COUNT.replace("auto", "5"))):
        with dpsql.connect(path, ledger=path.with_name(f"{name}.ledger")) as db:
            db.execute(sql)
            spent.append(spent_of(db))
    assert 0.99 * spent[1] < spent[0] <= spent[1] + 2


def test_a_range_is_found_first_and_the_clip_on_it(db: dpsql.Connection) -> None:
    """Three purchases: a fifth, a tenth, and the rest. In between it is killed, and nothing is paid twice."""
    tips = f"{FIT} SUM(tip) FROM visits"
    assert db.price(tips).epsilon == 1
    first = planned(db, tips).first
    assert first is not None
    assert list(map(str, first.missing_bounds)) == ["visits.tip"]
    session = db._open()
    session.store(session.pay(first.plan, first), to_bytes(releasing.release_stages(session, first.plan)))
    second = planned(db, tips).first
    assert second is not None
    assert list(map(str, second.missing_bounds)) == ["the clip of visits"]
    session.pay(second.plan, second)
    assert db.execute(tips).cost == pytest.approx(0.7)
    assert db.execute(tips).repeated
    assert [each.epsilon for each in db.purchases] == pytest.approx([0.2, 0.1, 0.7])


def test_one_row_of_a_unit_needs_no_choice(db: dpsql.Connection) -> None:
    """A count of guests; of a lone sum, values may be far below what is declared."""
    counted = planned(db, f"{FIT} COUNT(*) FROM guests")
    assert (counted.first, counted.measures[0].shape) == (None, Shape.ROWS)
    assert planned(db, f"{FIT} SUM(wealth) FROM guests").first is not None


def test_where_nothing_is_chosen_the_policy_says_the_clip(db: dpsql.Connection) -> None:
    """Three guests have id 0 to 2: at epsilon 1 nothing is chosen among them, but once in 1,000 times."""
    few = f"{FIT} COUNT(*) FROM visits WHERE guest <= 2 AND spent > 0"
    answer = db.execute(few, epsilon=0.5)
    (bound,) = clips_of(db, few.replace("auto)", "auto, epsilon = 0.5)"))
    assert isinstance(bound.missing, MissingClip)
    assert bound.is_known or bound.high == 20 * bound.missing.one
    if not bound.is_known:
        assert "Too few guests to choose the clip of visits at this price: it is 20 times" in answer.note


@pytest.mark.parametrize(("accountant", "norm"), [("zcdp", Norm.L2), ("pure", Norm.L1)])
def test_the_norm_is_the_noises(path: Path, accountant: str, norm: Norm) -> None:
    policy = path.with_suffix(".toml")
    text = policy.read_text().replace('"zcdp"', f'"{accountant}"')
    policy.write_text(text.replace("delta = 1e-6\n", "") if accountant == "pure" else text)
    with dpsql.connect(path) as db:
        first = planned(db, COUNT).first
        assert first is not None
        detail = first.measures[0].details[0].detail
        assert isinstance(detail, ClipSearch)
        assert detail.norm is norm
        assert db.execute(COUNT).cost == 1
        assert planned(db, COUNT).measures[0].bound[0] is norm


def test_the_owner_may_forbid_it(path: Path) -> None:
    policy = path.with_suffix(".toml")
    policy.write_text(
        policy.read_text()
        .replace("[analysts.ana]", "[analysts.ana]", 1)
        .replace("max_epsilon = 1000.0", "max_epsilon = 1000.0\nfind_bounds = false")
    )
    with dpsql.connect(path) as db:
        for ask in (db.execute, db.explain):
            with pytest.raises(dpsql.NotSupportedError) as caught:
                ask(COUNT)
            assert caught.value.code == "D302"
        assert db.purchases == ()


# ---- paid for before anybody looks -------------------------------------------------------------------


def test_killed_at_any_moment_it_is_paid_once(path: Path) -> None:
    def never(db: dpsql.Connection) -> None:
        pass

    def after_the_debit(db: dpsql.Connection) -> None:
        first = planned(db, COUNT).first
        assert first is not None
        db._open().pay(first.plan, first)

    def after_the_choice(db: dpsql.Connection) -> None:
        session, first = db._open(), planned(db, COUNT).first
        assert first is not None
        receipt = session.pay(first.plan, first)
        session.store(receipt, to_bytes(releasing.release_stages(session, first.plan)))

    def after_the_second_debit(db: dpsql.Connection) -> None:
        after_the_choice(db)
        db._open().pay(planned(db, COUNT))

    def spent(before: Callable[[dpsql.Connection], None]) -> tuple[int, int]:
        with dpsql.connect(path, ledger=path.with_name(f"{before.__name__}.ledger")) as db:
            before(db)
            first = db.execute(COUNT)
            assert db.execute(COUNT).rows == first.rows
            return spent_of(db), len(db.purchases)

    whole = spent(never)
    assert whole[1] == 2
    for stop in (after_the_debit, after_the_choice, after_the_second_debit):
        found = spent(stop)
        assert found[1] == 2
        assert abs(found[0] - whole[0]) <= 2  # in 1e-15: noise is rounded for each clip


def test_what_was_chosen_is_kept(path: Path) -> None:
    """Killed after the choice: the next process reads the same clip, and draws no other."""
    with dpsql.connect(path) as db:
        session, first = db._open(), planned(db, COUNT).first
        assert first is not None
        session.store(session.pay(first.plan, first), to_bytes(releasing.release_stages(session, first.plan)))
        (before,) = clips_of(db, COUNT)
    with dpsql.connect(path) as db:
        db.execute(COUNT)
        assert clips_of(db, COUNT) == (before,)
        assert planned(db, COUNT).bounds == (before,)


def test_what_cannot_be_paid_whole_is_refused_before_anything_is(path: Path) -> None:
    policy = path.with_suffix(".toml")
    policy.write_text(policy.read_text().replace("epsilon = 2000.0", "epsilon = 0.95"))
    with dpsql.connect(path, analyst="ana") as ana:
        with pytest.raises(dpsql.OperationalError) as caught:
            ana.execute(COUNT)
        assert caught.value.code == "D501"
        assert ana.purchases == ()


# ---- what it rests on --------------------------------------------------------------------------------


def test_the_audit_shows_the_weights_that_the_choice_sees(db: dpsql.Connection) -> None:
    """Every guest at one place; then the counts, under a clip that holds all."""
    _, places, _ = audit.measure(db, COUNT)
    assert sum(weight for (weight,) in places.rows.values()) == 3000
    assert (places.noises[0].sensitivity, places.noises[0].mechanism) == (1, "choice")
    assert db.purchases == ()


QUERIES = (
    COUNT,
    SPENT,
    f"{FIT} place, SUM(spent), AVG(spent), COUNT(*) FROM visits GROUP BY place",
    f"{FIT} town, COUNT(*) FROM visits GROUP BY town",
    f"{FIT} place, COUNT(*), SUM(spent) FROM visits GROUP BY ROLLUP (place)",
    f"{FIT} COUNT(*) FILTER (WHERE place = 'bar'), COUNT(DISTINCT guest), SUM(spent) FROM visits",
    f"{FIT} SUM(wealth) FROM guests",
)


def moved(path: Path, sql: str, accountant: str) -> list[str]:
    """Violations without the guest of 900 visits, under every fourth clip of the ladder."""
    policy = path.with_suffix(".toml")
    text = POLICY.replace('"zcdp"', f'"{accountant}"')
    policy.write_text(text.replace("delta = 1e-6\n", "") if accountant == "pure" else text)
    found: list[str] = []
    with dpsql.connect(path, ledger=path.with_name(f"{accountant}.ledger")) as db:
        session, clips = db._open(), dict[Missing, Bound]()
        lookup = Lookup(True, clips.get, lambda _: bool(clips))
        first = planning.planned(session, Source(sql), (), session.terms(None), lookup).first
        assert first is not None
        plans = [first.plan]
        (missing,) = first.missing_bounds
        assert isinstance(missing, MissingClip)
        assert isinstance(missing.detail, ClipSearch)
        for place in range(0, len(missing.detail.limits) + 1, 4):
            clips[missing] = clip_of(missing, place, "now")
            plans.append(planning.planned(session, Source(sql), (), session.terms(None), lookup))
        ours = [session.engine.measure(plan.measures[0]) for plan in plans]
        rules = session.policy
    with duckdb.connect(str(path)) as connection:
        connection.execute("DELETE FROM visits WHERE guest = 0; DELETE FROM guests WHERE id = 99")
    neighbour = open_database(path, rules)
    for plan, exact in zip(plans, ours, strict=True):
        found += violations(plan.measures[0], exact, neighbour.measure(plan.measures[0]))
    neighbour.close()
    return found


@pytest.mark.parametrize(
    ("sql", "accountant"),
    [
        (sql, accountant)
        for accountant in ("zcdp", "approx", "pure")
        for sql in QUERIES
        if accountant != "pure" or "town" not in sql
    ],
)
def test_every_clip_is_enforced(path: Path, sql: str, accountant: str) -> None:
    """Whatever is chosen, however far below what a unit adds; and the choice moves by one unit."""
    assert moved(path, sql, accountant) == []


def test_a_clip_that_is_not_enforced_is_noticed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure_sql, "factor_sql", lambda planned, dialect: "CAST(sqrt(n) AS DOUBLE)")
    assert moved(path, COUNT, "zcdp") != []
