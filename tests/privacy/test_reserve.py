"""What a ledger fixes when it is opened: the Renyi order, and the reserve for responses."""

from __future__ import annotations

import json
import math
import re
import sqlite3
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpsql
from dpsql.accounting import Amount, Budget, names, opened
from dpsql.accounting.account import Account
from dpsql.accounting.entries import Overdrawn
from dpsql.accounting.units import UNIT, Units
from dpsql.cli import main
from dpsql.ir.event import LaplaceEvent, ResponseEvent
from dpsql.render.digits import below
from dpsql.session.budget_refusal import Means, too_dear

POLICY = """\
[budget]
epsilon = {epsilon}
delta = 1e-6
accountant = "{accountant}"
{more}
[query]
epsilon = 0.1
max_epsilon = {epsilon}
[analysts.ana]
epsilon = 1.0
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
age = {{ range = [0, 100] }}
smoker = {{}}
"""
COIN = f"SELECT DP_RANDOMIZED_RESPONSE(smoker, {math.log(3)}) AS smoker FROM people"
COUNT = "SELECT COUNT(*) FROM people WHERE age > {}"


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER, smoker BOOLEAN NOT NULL);"
            "INSERT INTO people SELECT i, i % 100, i % 3 = 0 FROM range(200) t(i)"
        )
    return path


def policy(path: Path, accountant: str, more: str = "", epsilon: float = 5.0) -> None:
    text = POLICY.format(accountant=accountant, more=more, epsilon=epsilon)
    path.with_suffix(".toml").write_text(text)


def entries(path: Path) -> list[dict[str, Any]]:
    with sqlite3.connect(path.with_suffix(".ledger")) as ledger:
        return [json.loads(text) for (text,) in ledger.execute("SELECT entry FROM entries ORDER BY id")]


def refused(path: Path, sql: str = COUNT.format(1)) -> dpsql.Error:
    with pytest.raises(dpsql.Error) as refusal, dpsql.connect(path) as db:
        db.execute(sql)
    return refusal.value


# ---- the order ----------------------------------------------------------------------------------------


def test_a_ledger_keeps_the_order_that_it_was_opened_with(people: Path) -> None:
    """Opened for 1, later granted 5: the order stays 22.3933, and the total is that of 5 there."""
    policy(people, "rdp", epsilon=1.0)
    with dpsql.connect(people) as db:
        first = db.execute(COUNT.format(1))
        assert db.budget.spent == pytest.approx(0.1, abs=1e-9)
    assert entries(people)[0]["promise"]["order"] == 22.3933
    policy(people, "rdp")
    with dpsql.connect(people) as db:
        rules, spent = db._open().accountant, db._open().ledger.spent()
        assert rules == opened("rdp", Budget(1.0, 1e-6))
        assert db.execute(COUNT.format(1)).rows == first.rows
        assert spent == db._open().ledger.spent()
        assert db.budget.granted == 5.0
        assert isinstance(spent, Units)
        granted = db._open().ledger.balances([None])[0][1]
    (*_, total) = [
        entry for entry in entries(people) if entry["kind"] == "grant" and entry["analyst"] is None
    ]
    at_five = 5 - math.log(1 - 1 / 22.3933) + math.log(0.8e-6 * 22.3933) / 21.3933
    assert total["main"] / UNIT == pytest.approx(at_five, rel=1e-9)
    assert total["main"] / UNIT / 22.3933 == pytest.approx(0.2025, abs=1e-4)
    assert granted == 5.0


def test_a_larger_grant_may_be_foreseen(people: Path) -> None:
    policy(people, "rdp", "up_to = 5.0", epsilon=1.0)
    with dpsql.connect(people) as db:
        db.execute(COUNT.format(1))
    assert entries(people)[0]["promise"]["order"] == 6.17638
    policy(people, "rdp", "up_to = 5.0", epsilon=2.0)
    with dpsql.connect(people) as db:
        assert db.budget.granted == 2.0
    policy(people, "rdp", "up_to = 8.0", epsilon=2.0)
    error = refused(people)
    assert error.code == "D505"
    assert "another order" in str(error)
    policy(people, "rdp", epsilon=2.0)
    with dpsql.connect(people) as db:
        assert db.budget.granted == 2.0


def test_a_ledger_has_one_accountant_and_one_reserve(people: Path) -> None:
    """D505 both ways, for the accountant and for a reserve that comes, goes or changes."""
    for first, then, what in (
        (("zcdp", ""), ("rdp", ""), "accountant"),
        (("rdp", ""), ("zcdp", ""), "accountant"),
        (("zcdp", ""), ("zcdp", "responses = 1.2"), "responses"),
        (("rdp", "responses = 1.2"), ("rdp", ""), "responses"),
        (("rdp", "responses = 1.2"), ("rdp", "responses = 1.3"), "responses"),
    ):
        people.with_suffix(".ledger").unlink(missing_ok=True)
        policy(people, *first)
        with dpsql.connect(people) as db:
            db.execute(COUNT.format(1))
        policy(people, *then)
        error = refused(people)
        assert (error.code, what in str(error)) == ("D505", True)


def test_ledgers_of_a_reserve_have_other_keys(people: Path) -> None:
    """So that a version without reserves, which would leave responses out, reads none of its amounts."""
    policy(people, "zcdp", "responses = 1.2")
    with dpsql.connect(people) as db:
        db.execute(COUNT.format(1))
        db.export(COIN)
    first, *rest = entries(people)
    assert first["promise"]["responses"] == 1.2
    priced = [entry for entry in rest if entry["kind"] in ("grant", "debit")]
    assert all({"rest", "delta", "responses"} <= entry.keys() for entry in priced)
    assert not any("main" in entry for entry in priced)
    with dpsql.connect(people) as db:  # read again from the file, and from sums
        assert db.budget.responses is not None
        assert db.budget.responses.spent == pytest.approx(math.log(3))
        for place in range(70):
            db.execute(COUNT.format(place), epsilon=0.01)
        spent = db._open().ledger.spent()
    assert any(entry["kind"] == "sums" for entry in entries(people))
    with dpsql.connect(people) as db:
        assert db._open().ledger.spent() == spent
        db._open().ledger.verify()


# ---- the reserve --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("accountant", "more"), [("rdp", ""), ("zcdp", "responses = 1.2"), ("rdp", "responses = 1.2")]
)
def test_the_coin_flip_can_be_bought(people: Path, accountant: str, more: str) -> None:
    """ln 3 from a budget of 5: 37 % of it under rdp, or 1.0987 of a reserve; zcdp has not enough."""
    policy(people, accountant, more)
    with dpsql.connect(people) as db:
        export = db.export(COIN)
        assert len(export.rows) > 100
        assert db.budget.responses is None or db.budget.responses.remaining == pytest.approx(0.1014, abs=1e-4)
    policy(people, "zcdp")
    people.with_suffix(".ledger").unlink()
    with pytest.raises(dpsql.OperationalError) as dear, dpsql.connect(people) as db:
        db.export(COIN)
    assert dear.value.code == "D501"


def test_neither_part_lends_to_the_other(people: Path) -> None:
    """Queries leave the reserve, and responses the rest; D501 says which of them is short."""
    policy(people, "rdp", "responses = 1.2")
    with dpsql.connect(people) as db:
        assert (db.budget.granted, db.budget.remaining) == (3.8, 3.8)
        assert db.budget.fits == pytest.approx(3.8, rel=1e-5)
        db.execute(COUNT.format(1), epsilon=db.budget.fits)
        assert db.budget.remaining == pytest.approx(0, abs=1e-4)
        with pytest.raises(dpsql.OperationalError, match="the database's budget does not hold"):
            db.export(COIN)  # the number of its rows is hidden by the rest
    people.with_suffix(".ledger").unlink()
    with dpsql.connect(people) as db:
        db.export(COIN)
        before = db.budget.remaining
        with pytest.raises(dpsql.OperationalError, match="what is kept for responses does not hold") as short:
            db.export(COIN.replace("people", "people WHERE age > 3"))
        assert "0.1013 of 1.2 is left for responses" in str(short.value)
        assert re.search(r"DP_RANDOMIZED_RESPONSE\(x, 0\.10\d\) fits", str(short.value))
        assert db.budget.remaining == before


def test_the_owner_sees_both(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy(people, "zcdp", "responses = 1.2")
    with dpsql.connect(people) as db:
        db.export(COIN)
    assert main(["budget", str(people)]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"\(responses\) +│ +1\.2 +│ +1\.09\d* +│ +0\.101", shown)
    assert re.search(r"database +│ +3\.8 ", shown)
    assert main(["budget", str(people), "--format", "json"]) == 0
    kept = json.loads(capsys.readouterr().out)["responses"]
    assert (kept["granted"], kept["spent"]) == (1.2, pytest.approx(math.log(3)))
    with dpsql.connect(people, analyst="ana") as db:
        assert db.budget.accounts[0].remaining == 1.0


@pytest.mark.parametrize(
    ("accountant", "more", "told"),
    [
        ("approx", "responses = 1.2", "keeps no part of the budget for responses"),
        ("zcdp", "responses = 5.0", "responses take the whole budget"),
        ("rdp", "responses = 0", "must be"),
        ("rdp", "up_to = 4.0", "up_to is less than the budget"),
        ("zcdp", 'period = "month"', "a budget never comes back"),
    ],
)
def test_what_the_policy_may_not_say(people: Path, accountant: str, more: str, told: str) -> None:
    policy(people, accountant, more)
    error = refused(people)
    assert (error.code, told in str(error)) == ("D803", True)


# ---- what fits, and what is said of it ----------------------------------------------------------------


@pytest.mark.parametrize("name", names())
@settings(max_examples=60, deadline=None)
@given(st.floats(0.1, 20), st.floats(0.001, 1.5), st.floats(0.02, 0.9), st.booleans())
def test_no_refusal_names_a_price_below_what_remains(
    name: str, epsilon: float, part: float, spent: float, reserve: bool
) -> None:
    """And a query at the price that it names fits: for every accountant, at any state of its account."""
    kept = epsilon / 4 if reserve and opened(name, Budget(1.0, 1e-6)).has_reserve else 0.0
    budget = Budget(epsilon, 1e-6, kept)
    rules = opened(name, budget)
    total = rules.total(budget)
    used = rules.charge((LaplaceEvent(1, 1 / (epsilon * spent)),))
    assert isinstance(total, Units)
    if not used.within(total):
        return
    left = total - used
    needed = rules.charge((LaplaceEvent(1, 1 / (epsilon * (1 + part))),))
    if needed.within(left):
        return

    def holds(price: Amount) -> bool:
        return (used + price).within(total)

    error = too_dear(
        epsilon, (), Means(rules, budget, [(used, total)], holds), Overdrawn(needed, left, total, None)
    )
    named = re.search(r"at most (\S+) fits", str(error))
    remains = epsilon - kept - (rules.epsilon(used, budget) - rules.responses(used))
    assert named is not None or remains < 1e-4
    if named is not None:
        price = float(named[1])
        assert price >= remains * 0.99  # three digits
        allowed = rules.allowance(price, budget, Fraction(1), False)
        assert holds(rules.charge((LaplaceEvent(2**20, 2**20 / allowed.laplace),)))


@pytest.mark.parametrize("accountant", names())
def test_a_refusal_names_what_the_budget_says_that_fits(people: Path, accountant: str) -> None:
    """The same number in D501 and in ``budget.fits``; at most the highest price of a query; and it fits."""
    policy(people, accountant)
    file = people.with_suffix(".toml")
    text = file.read_text().replace("max_epsilon = 5.0", "max_epsilon = 2.0")
    file.write_text(text.replace("delta = 1e-6\n", "") if accountant == "pure" else text)
    with dpsql.connect(people) as db:
        asked = iter(range(100))
        while (fits := db.budget.fits) == 2.0:
            db.execute(COUNT.format(next(asked)), epsilon=2.0)
        with pytest.raises(dpsql.OperationalError) as refusal:
            db.execute(COUNT.format(98), epsilon=2.0)
        told = f"at most {below(fits)} fits" if fits >= 1e-4 else "next to nothing is left"
        assert told in str(refusal.value)
        assert fits < 1e-4 or db.execute(COUNT.format(99), epsilon=float(below(fits))).cost <= fits


def test_a_planted_error_of_the_reserve_is_found(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If responses were not subtracted from the rest, or were not added up, these would be more than 5."""

    def worth(path: Path) -> float:
        with dpsql.connect(path) as db:
            session = db._open()
            return session.accountant.epsilon(session.granted().total, session.budget)

    policy(people, "rdp", "responses = 1.2")
    assert worth(people) <= 5.0
    rules = opened("rdp", Budget(5.0, 1e-6, 1.2))
    monkeypatch.setattr(type(rules), "rest", lambda self, budget: Budget(budget.epsilon, budget.delta))
    wrong = rules.total(Budget(5.0, 1e-6, 1.2 + 1e-9))
    monkeypatch.undo()
    assert rules.epsilon(wrong, Budget(5.0, 1e-6, 1.2)) > 5.5
    account, total = Account(), rules.total(Budget(5.0, 1e-6, 1.2))
    account.promise = {"accountant": "rdp", "order": 7.56103, "responses": 1.2}
    account.grants[None] = 5.0, total
    account.spent.everywhere[None] = rules.charge((ResponseEvent(1.0),))
    with pytest.raises(Overdrawn):
        account.afford(None, rules.charge((ResponseEvent(0.3),)))
    account.afford(None, rules.charge((ResponseEvent(0.19),)))
