"""A kept plan is the one that planning again would give, whatever has changed since.

Each step of ``all_differing`` changes one thing that a plan rests on. After each, all texts are prepared, and
planned without anything kept: the plans, or the refusals, must be the same. A part that is left out of the
key, or a question that is not asked again, shows as a difference.
"""

from __future__ import annotations

import datetime
import zoneinfo
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest

import dpsql
from dpsql import planning
from dpsql.accounting.ledger import Ledger
from dpsql.ir.column import Value
from dpsql.ir.plan import BoundSearchPlan, Plan
from dpsql.ir.source import Source
from dpsql.parse.parse import parse
from dpsql.session import Session, kept_plans
from dpsql.session.kept_plans import KeptPlans

Call = tuple[str, tuple[Value, ...], float | None]

SUM = "SELECT SUM(score) FROM patients"
CALLS: tuple[Call, ...] = (
    ("SELECT COUNT(*) FROM patients", (), None),
    ("SELECT  COUNT(*)  FROM patients", (), None),
    ("SELECT COUNT(*) FROM patients", (), 1.0),
    ("SELECT COUNT(*) FROM patients", (), 2),
    *(
        ("SELECT COUNT(*) FROM patients WHERE height > ?", (value,), None)
        for value in (1, True, 1.0, Decimal(1), Decimal("1.0"), "1", None, 2)
    ),
    *(
        ("SELECT COUNT(*) FROM patients WHERE income > ?", (value,), None)
        for value in (0.0, -0.0, datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1))
    ),
    ("SELECT COUNT(*) FROM patients WHERE seen < now()", (), None),
    ("SELECT COUNT(*) FROM patients WHERE born < current_date", (), None),
    ("SELECT COUNT(*) FROM recent", (), None),
    ("SELECT COUNT(*) FROM patients WHERE seen::TIMESTAMPTZ < TIMESTAMPTZ '2023-01-01 08:00:00Z'", (), None),
    ("SELECT floor, COUNT(*) FROM patients JOIN wards USING (ward) GROUP BY floor", (), None),
    (SUM, (), None),
    (SUM, (), 4.0),
    ("SELECT AVG(score), COUNT(*) FROM patients", (), None),
    ("SELECT COUNT(*) + 1 FROM patients ORDER BY 1", (), None),
    ("SELECT COUNT(*) FROM nowhere", (), None),
)


@pytest.fixture
def policy(clinic: Path) -> Path:
    """The clinic's policy, with a view that reads the clock."""
    path = clinic.with_suffix(".toml")
    view = '[views.recent]\nsql = "SELECT * FROM patients WHERE seen < now()"\n'
    path.write_text(path.read_text() + view)
    return path


def told(plan: Plan, session: Session) -> tuple[object, ...]:
    """All that matters of a plan."""
    first = () if plan.first is None else (plan.first.plan.digest, plan.first.asker, plan.first.plan.epsilon)
    printed = [session.engine.measure_sql(measure) for measure in plan.measures]
    posts = [repr(stage.post) for stage in plan.stages]
    return plan.digest, plan.epsilon, plan.accountant, plan.source, plan.bounds, first, printed, posts


def outcome(make: Callable[[], Plan], session: Session) -> object:
    try:
        return told(make(), session)
    except dpsql.Error as refusal:
        return str(refusal)


def prepared(session: Session, source: Source, values: tuple[Value, ...], price: float | None) -> Plan:
    return planning.prepared(session, source, values, price).plan


def planned_anew(session: Session, source: Source, values: tuple[Value, ...], price: float | None) -> Plan:
    return planning.planned(session, source, values, session.terms(price))


def differing(session: Session) -> Iterator[Call]:
    """Prepare every call, and plan it with nothing kept; yield those whose plans differ."""
    for sql, values, price in CALLS:
        source = Source(sql)
        kept = outcome(partial(prepared, session, source, values, price), session)
        anew = outcome(partial(planned_anew, session, source, values, price), session)
        if repr(kept) != repr(anew):
            yield sql, values, price


def at(session: Session, moment: str) -> None:
    session.clock = datetime.datetime.fromisoformat(moment)


def at_price(db: dpsql.Connection, moment: str, epsilon: float) -> None:
    at(db._open(), moment)
    db.epsilon = epsilon


NOON = "2024-06-01T12:00:00+00:00"


def search_of(session: Session) -> BoundSearchPlan:
    first = planning.planned(session, Source(SUM), (), session.terms(None)).first
    assert first is not None
    return first


def bound_is_found(db: dpsql.Connection) -> None:
    db.execute(SUM, epsilon=4.0)


def all_differing(clinic: Path, policy: Path) -> Iterator[str]:
    """Yield what differs after each change; a session of its own for what never changes within one."""

    def judge(what: str, session: Session) -> Iterator[str]:
        if session.clock is None:
            at(session, NOON)
        for _ in range(2):  # what is kept now, and what was kept before
            yield from (f"{what}: {call}" for call in differing(session))

    ledger = clinic.with_suffix(".ledger")
    with dpsql.connect(clinic, policy, ledger) as db:
        session = db._open()
        search = search_of(session)
        for step in (
            partial(at, session, "2023-06-01T00:30:00+02:00"),
            partial(at, session, "2023-05-31T22:30:00+00:00"),  # the same moment, on another day
            partial(at, session, "2024-06-01T00:30:00+00:00"),
            partial(setattr, db, "epsilon", 0.5),
            partial(setattr, db, "epsilon", 1.0),
            partial(at_price, db, "2023-05-31T22:30:00+00:00", 0.75),  # another time, at a new price
            partial(at_price, db, "2024-06-01T00:30:00+00:00", 1.0),
            partial(bound_is_found, db),
            # as a process that had planned before, and is killed then: a repeat pays the rest of its price
            partial(session.pay, search.plan, search),
        ):
            step()
            yield from judge(str(step), session)
        clinic.touch()
        session.sealed.close()  # public rows are read again, as after any process that ended
        session.combinations = session.engine.combinations
        yield from judge("a file that changed", session)
    text = policy.read_text()
    for change in (
        text.replace("range = [0, 120]", "range = [0, 100]"),
        text.replace("seen < now()", "seen < now() AND smoker"),
        "timezone = 'Asia/Tokyo'\n" + text,
    ):
        policy.write_text(change)
        with dpsql.connect(clinic, policy, ledger) as db:
            yield from judge("another policy", db._open())
    with duckdb.connect(str(clinic)) as writer:
        writer.execute("UPDATE wards SET floor = 7 WHERE ward = 'A'")
    with dpsql.connect(clinic, policy, ledger) as db:
        yield from judge("another public table", db._open())


def test_a_kept_plan_is_the_one_that_planning_again_gives(clinic: Path, policy: Path) -> None:
    assert list(all_differing(clinic, policy)) == []


KEY = kept_plans.key_of


def without(part: str) -> Callable[..., Any]:
    """A key that ignores one part."""

    def key_of(source: Source, parameters: tuple[object, ...], epsilon: float | None, usual: float) -> Any:
        match part:
            case "text":
                return KEY(Source("", source.name), parameters, epsilon, usual)
            case "spacing":
                return KEY(Source(" ".join(source.text.split()), source.name), parameters, epsilon, usual)
            case "values":
                return KEY(source, (), epsilon, usual)
            case "types":
                return source.text, source.name, epsilon, usual, parameters
            case "price":
                return KEY(source, parameters, None, usual)
            case "usual":
                return KEY(source, parameters, epsilon, 1.0)
        raise AssertionError(part)

    return key_of


def deaf_to(name: str) -> Callable[..., Any]:
    """Planning that asks one question without being heard."""
    whole = KeptPlans.ask

    def ask(self: KeptPlans, question: Callable[[], Any]) -> Any:
        asked = getattr(question, "func", question)
        if getattr(asked, "__name__", "") != name:
            return whole(self, question)
        return question()

    return ask


@pytest.mark.parametrize("part", ["text", "spacing", "values", "types", "price", "usual"])
def test_a_key_without_one_part_is_found(
    clinic: Path, policy: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    monkeypatch.setattr(planning, "key_of", without(part))
    assert any(all_differing(clinic, policy))


@pytest.mark.parametrize("name", ["_now", "_bounds", "_asked"])
def test_a_question_that_is_not_asked_again_is_found(
    clinic: Path, policy: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(KeptPlans, "ask", deaf_to(name))
    assert any(all_differing(clinic, policy))


def test_a_moment_without_its_time_zone_is_found(
    clinic: Path, policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Session, "_now", lambda self: (self.clock, ""))
    assert any(all_differing(clinic, policy))


def test_a_query_that_is_kept_longer_than_its_moment_is_found(
    clinic: Path, policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def any_query(self: KeptPlans, key: kept_plans.Key) -> object:
        return next((kept.query for other, kept in self._plans.items() if other[:-1] == key[:-1]), None)

    monkeypatch.setattr(KeptPlans, "_query", any_query)
    found = list(all_differing(clinic, policy))
    assert found
    assert all("now()" in call or "current_date" in call or "recent" in call for call in found)


def test_a_query_at_another_price_is_not_parsed_again(clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with dpsql.connect(clinic) as db:
        for sql in ("SELECT COUNT(*) FROM patients", "SELECT COUNT(*) FROM patients WHERE seen < now()"):
            db.explain(sql, epsilon=0.5)
        parsed: list[str] = []

        def noted(source: Source, *rest: Any) -> Any:
            parsed.append(source.text)
            return parse(source, *rest)

        monkeypatch.setattr(planning, "parse", noted)
        for sql in ("SELECT COUNT(*) FROM patients", "SELECT COUNT(*) FROM patients WHERE seen < now()"):
            db.explain(sql, epsilon=0.75)
    assert parsed == ["SELECT COUNT(*) FROM patients WHERE seen < now()"]


def test_a_file_that_is_not_looked_at_is_found(
    clinic: Path, policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Session, "_stands", lambda self: True)
    assert any(all_differing(clinic, policy))


def test_plans_that_sessions_share_are_found(
    clinic: Path, policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Policies, time zones and public tables change from one session to the next."""
    shared: dict[Any, Any] = {}
    made = KeptPlans.__init__

    def init(self: KeptPlans, stands: Callable[[], bool]) -> None:
        made(self, stands)
        self._plans = shared

    monkeypatch.setattr(KeptPlans, "__init__", init)
    found = list(all_differing(clinic, policy))
    assert any(what.startswith("another policy") for what in found)
    assert any(what.startswith("another public table") for what in found)


# ---- what is never kept ---------------------------------------------------------------------------------


def test_a_kept_plan_is_debited_and_its_budget_checked(clinic: Path) -> None:
    sql = "SELECT COUNT(*) FROM patients"
    with dpsql.connect(clinic, analyst="bob") as bob, dpsql.connect(clinic, analyst="bob") as other:
        before = bob.price(sql, epsilon=1.5)
        assert (before.cost, before.repeated, before.held) == (1.5, False, True)
        other.execute("SELECT AVG(age) FROM patients", epsilon=1.5)
        after = bob.price(sql, epsilon=1.5)
        assert not after.held
        assert after.remaining < before.remaining
        with pytest.raises(dpsql.OperationalError, match="D501"):
            bob.execute(sql, epsilon=1.5)
        assert len(bob.purchases) == 1


def test_a_repeat_shows_the_same_and_writes_nothing(clinic: Path) -> None:
    sql = "SELECT ward, COUNT(*) AS n, AVG(age) FROM patients GROUP BY ward"
    ledger = clinic.with_suffix(".ledger")
    with dpsql.connect(clinic, ledger=ledger) as db, dpsql.connect(clinic, ledger=ledger) as fresh:
        first = db.execute(sql)
        written = ledger.read_bytes()
        first.rows.clear()  # whoever changes an answer changes nobody else's
        again, elsewhere = db.execute(sql), fresh.execute(sql)
        assert ledger.read_bytes() == written
        for name in ("columns", "types", "rows", "margins", "note", "open", "without", "totals", "remaining"):
            assert getattr(again, name) == getattr(elsewhere, name)
        assert len(again.rows) == 3
        assert (first.cost, again.cost, elsewhere.cost) == (1.0, 0.0, 0.0)
        assert (first.repeated, again.repeated, elsewhere.repeated) == (False, True, True)


def test_a_repeat_is_refused_after_its_ledger_has_moved(clinic: Path) -> None:
    sql = "SELECT COUNT(*) FROM patients"
    with dpsql.connect(clinic) as db:
        db.execute(sql)
    with dpsql.connect(clinic) as db:
        session = db._open()
        promise = replace(session.ledger._promise, database="another")
        Ledger.move(session.ledger.path, promise, lambda _: None)
        for _ in range(3):
            with pytest.raises(dpsql.Error, match="D505"):
                db.execute(sql)


def test_another_analysts_answer_is_paid_for_although_the_plan_is_kept(clinic: Path) -> None:
    sql = "SELECT COUNT(*) FROM patients"
    with dpsql.connect(clinic, analyst="ana") as ana, dpsql.connect(clinic, analyst="bob") as bob:
        bob.explain(sql)
        shown = ana.execute(sql)
        joined, again = bob.execute(sql), bob.execute(sql)
        assert shown.rows == joined.rows == again.rows
        assert (joined.cost, again.cost) == (1.0, 0.0)


# ---- how much is kept ------------------------------------------------------------------------------------


def test_few_plans_are_kept_and_no_large_ones(clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_plans, "LISTED", 32_000)
    with duckdb.connect(str(clinic)) as writer:
        writer.execute("INSERT INTO wards SELECT 'W' || i, i FROM range(40000) AS r(i)")
    policy = clinic.with_suffix(".toml")
    policy.write_text(policy.read_text().replace('ward = { values = ["A", "B", "C"] }', "ward = {}"))
    with dpsql.connect(clinic) as db:
        kept = db._open().kept
        for number in range(kept_plans.MOST + 10):
            db.explain(f"SELECT COUNT(*) FROM patients WHERE age > {number}")
        large = (
            f"SELECT COUNT(*) FROM patients WHERE age > 5 -- {'x' * kept_plans.LONGEST}",
            "SELECT floor, COUNT(*) FROM patients JOIN wards USING (ward) GROUP BY floor",
        )
        for sql in large:
            db.explain(sql)
        texts = [key[0] for key in kept._plans]  # a key begins with the text
        ages = range(10, kept_plans.MOST + 10)
        assert texts == [f"SELECT COUNT(*) FROM patients WHERE age > {number}" for number in ages]


def test_lists_of_kept_plans_are_bounded_together(clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with duckdb.connect(str(clinic)) as writer:
        writer.execute("INSERT INTO wards SELECT 'W' || i, i FROM range(100) AS r(i)")
    policy = clinic.with_suffix(".toml")
    policy.write_text(policy.read_text().replace('ward = { values = ["A", "B", "C"] }', "ward = {}"))
    monkeypatch.setattr(kept_plans, "LISTED", 350)
    with dpsql.connect(clinic) as db:
        kept = db._open().kept
        for number in range(6):
            by_floor = "FROM patients JOIN wards USING (ward) GROUP BY floor"
            db.explain(f"SELECT floor, COUNT(*) FILTER (WHERE age > {number}) {by_floor}")
        texts = [key[0] for key in kept._plans]
        assert [text[len("SELECT floor, COUNT(*) FILTER (WHERE age > ")] for text in texts] == ["3", "4", "5"]


def test_what_is_no_plain_value_is_not_kept() -> None:
    class Named(zoneinfo.ZoneInfo):
        def __repr__(self) -> str:
            return "datetime.timezone.utc"

    moment = datetime.datetime(2020, 1, 1, tzinfo=Named("Asia/Tokyo"))
    plain = Source("SELECT 1")
    assert kept_plans.key_of(plain, (moment,), None, 1.0) is None
    assert kept_plans.key_of(plain, (object(),), None, 1.0) is None
    assert kept_plans.key_of(plain, (moment.replace(tzinfo=datetime.UTC),), None, 1.0) is not None
