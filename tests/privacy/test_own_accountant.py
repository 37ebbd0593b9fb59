"""A throw-away accountant with a currency of its own: this file, and one entry on the shelf.

It adds up Renyi divergences at two orders, so that an amount is two numbers of which either may be within
its total. The ledger, sessions, plans in steps and runs of files know nothing of that.
"""

from __future__ import annotations

import json
import math
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, assert_never

import duckdb
import pytest

import dpsql
from dpsql import accounting
from dpsql.accounting import AccountantOf, Allowance, Budget, Shortage
from dpsql.accounting.conversions import rho_sigma
from dpsql.accounting.rounding import INVERTIBLE, at_most, epsilon_of, price, ratio_of, shown, too_small
from dpsql.cli import main
from dpsql.ir.event import (
    ChoiceEvent,
    Event,
    GaussianEvent,
    GeometricEvent,
    LaplaceEvent,
    ResponseEvent,
    ThresholdEvent,
)
from dpsql.render.digits import below
from dpsql.session.checks import parse_policy

ORDERS = (16, 64)
UNIT = 10**12


@dataclass(frozen=True)
class Divergences:
    """Whole units of the divergence at each order."""

    at: tuple[int, ...] = (0,) * len(ORDERS)

    def __bool__(self) -> bool:
        return any(self.at)

    def __add__(self, other: Divergences) -> Divergences:
        return Divergences(tuple(a + b for a, b in zip(self.at, other.at, strict=True)))

    def __sub__(self, other: Divergences) -> Divergences:
        return Divergences(tuple(a - b for a, b in zip(self.at, other.at, strict=True)))

    def within(self, total: Divergences) -> bool:
        """One order is enough to prove the promise (Lecuyer 2021: a filter over many orders)."""
        return any(a <= b for a, b in zip(self.at, total.at, strict=True))

    def shortage(self, left: Divergences, total: Divergences) -> Shortage:
        """At the order that lacks least of its total."""
        rows = [row for row in zip(self.at, left.at, total.at, strict=True) if row[2]]
        need, rest, whole = min(rows, default=(1, 0, 0), key=lambda row: (row[0] - row[1]) / row[2])
        return Shortage("budget", need, max(0, rest), whole)

    def check(self) -> None:
        assert all(type(each) is int and each >= 0 for each in self.at)

    def written(self) -> dict[str, int | str]:
        return {f"order {order}": each for order, each in zip(ORDERS, self.at, strict=True)}


class Renyi:
    """(alpha, divergence) at two orders, added up; there is no delta for thresholds."""

    name = "renyi"
    has_delta = True
    noise_power = 0.5
    zero = Divergences()
    has_reserve = False

    def best_order(self, budget: Budget) -> float | None:
        return None

    def bound(self, order: float | None, reserve: bool) -> Renyi:
        assert order is None
        assert not reserve
        return self

    def responses(self, spent: Divergences) -> float:
        return 0.0

    def read(self, entry: Mapping[str, Any]) -> Divergences:
        return Divergences(tuple(entry[f"order {order}"] for order in ORDERS))

    def total(self, budget: Budget) -> Divergences:
        """epsilon less ln(1/delta) / (alpha - 1) (Mironov 2017, proposition 3), rounded down."""
        spare = [budget.epsilon + math.log(budget.delta) / (order - 1) - 1e-9 for order in ORDERS]
        return Divergences(tuple(max(0, math.floor(each * UNIT)) for each in spare))

    def _rho(self, budget: Budget) -> Fraction:
        return _rho_of(self.total(budget))

    def allowance(self, epsilon: float, budget: Budget, share: Fraction, thresholds: bool) -> Allowance:
        rho = self._rho(budget) * price(epsilon) * share / Fraction(budget.epsilon)
        if rho * UNIT < 1000:
            raise too_small(epsilon)
        rho -= Fraction(1, UNIT)  # for what ``charge`` rounds up
        laplace = at_most(Fraction(math.sqrt(2 * rho)) * INVERTIBLE * INVERTIBLE)
        return Allowance(laplace, 2 * laplace, rho_sigma(rho), None, None)

    def charge(self, events: tuple[Event, ...]) -> Divergences:
        return sum((self._charge(each) for each in events), self.zero)

    def _charge(self, event: Event) -> Divergences:
        match event:
            case LaplaceEvent() | GeometricEvent() | GaussianEvent():  # pure ones: Bun and Steinke 2016, 3.3
                rho = ratio_of(event) ** 2 / 2
            case ChoiceEvent():
                rho = epsilon_of(event) ** 2 / 8
            case ResponseEvent():
                rho = epsilon_of(event) ** 2 / 2
            case ThresholdEvent():
                raise TypeError("no delta for a ThresholdEvent")
            case _:
                assert_never(event)
        return Divergences(tuple(math.ceil(order * rho * UNIT) for order in ORDERS))

    def most(self, price: float, budget: Budget) -> Divergences:
        part = Fraction(price) / Fraction(budget.epsilon)
        return Divergences(tuple(math.ceil(each * part) for each in self.total(budget).at))

    def epsilon(self, spent: Divergences, budget: Budget) -> float:
        """The part of the whole epsilon that is gone, at the order where most is left."""
        whole = self.total(budget).at
        parts = [Fraction(one, all_) for one, all_ in zip(spent.at, whole, strict=True) if all_]
        return shown(Fraction(budget.epsilon) * min(parts))

    def delta(self, spent: Divergences) -> int:
        return 0

    def price_of(self, spent: Divergences, budget: Budget) -> float:
        return self.epsilon(spent, budget)

    def largest(
        self,
        accounts: Sequence[tuple[Divergences, Divergences]],
        budget: Budget,
        refused: tuple[Divergences, Divergences] | None = None,
    ) -> float:
        left = [total - spent for spent, total in accounts]
        return max(0.0, float(min(map(_rho_of, left)) / self._rho(budget)) * budget.epsilon)

    def parts(self, price: float, shares: Sequence[Fraction], budget: Budget) -> tuple[float, ...]:
        return tuple(float(price * each) for each in shares)

    def weight(self, price: float, budget: Budget) -> float:
        return price

    def price_of_weight(self, weight: float, budget: Budget) -> float:
        return weight


def _rho_of(amount: Divergences) -> Fraction:
    """Gaussian noise of rho diverges by alpha rho: how much of it an amount holds at its best order."""
    return max(Fraction(each, order * UNIT) for each, order in zip(amount.at, ORDERS, strict=True))


RENYI: AccountantOf[Divergences] = Renyi()

POLICY = """\
[budget]
epsilon = 2.0
delta = 1e-6
accountant = "renyi"
[query]
epsilon = 0.1
max_epsilon = 2.0
[analysts.ana]
epsilon = 1.0
[analysts.bob]
epsilon = 1.0
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
age = { range = [0, 100] }
town = {}
pay = {}
"""
COUNT = "SELECT COUNT(*) FROM people"

ELSEWHERE = """
import sys
sys.path[:0] = [sys.argv[1]]
import dpsql
import test_own_accountant as own
own.on_the_shelf()
with dpsql.connect(sys.argv[2]) as db:
    answers = [db.execute(own.COUNT), db.execute("SELECT SUM(age) FROM people")]
    print([(each.rows, each.cost) for each in answers])
"""


def on_the_shelf() -> None:
    """What a file in ``dpsql/accounting`` does by being there."""
    shelf: dict[str, Any] = accounting._shelf()
    shelf[RENYI.name] = RENYI


@pytest.fixture(autouse=True)
def shelf(monkeypatch: pytest.MonkeyPatch) -> None:
    before = dict(accounting._shelf())
    monkeypatch.setattr(accounting, "_shelf", lambda: before)
    on_the_shelf()


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER, town VARCHAR, pay DOUBLE);"
            "INSERT INTO people SELECT i, i % 100, 'ABC'[1 + i % 3], 1000.0 + i FROM range(900) t(i)"
        )
    path.with_suffix(".toml").write_text(POLICY)
    return path


def entries(path: Path) -> list[dict[str, Any]]:
    with sqlite3.connect(path.with_suffix(".ledger")) as ledger:
        return [json.loads(text) for (text,) in ledger.execute("SELECT entry FROM entries ORDER BY id")]


def test_debits_are_kept_in_its_currency_and_repeats_are_free(people: Path) -> None:
    with dpsql.connect(people) as db:
        assert db.budget.remaining == 2.0
        first = db.execute(COUNT)
        assert (first.cost, first.repeated) == (0.1, False)
        assert abs(first.rows[0][0] - 900) < 200
        again = db.execute(COUNT)
        assert (again.rows, again.cost, again.repeated) == (first.rows, 0.0, True)
        assert db.budget.remaining == pytest.approx(1.9, abs=1e-6) == again.remaining
        spent = db._open().ledger.spent()
    granted, *_, debit, _ = (each for each in entries(people) if each["kind"] in ("grant", "debit", "answer"))
    assert RENYI.read(debit) == spent
    assert (RENYI.read(granted), granted["analyst"]) == (RENYI.total(Budget(2.0, 1e-6)), None)
    assert not {"main", "delta"} & {*debit, *granted}
    with dpsql.connect(people) as db:
        assert db._open().ledger.spent() == spent
        assert db.execute(COUNT).rows == first.rows


def test_other_processes_and_open_connections_see_what_was_spent(people: Path) -> None:
    with dpsql.connect(people) as db:
        first = db.execute(COUNT)
        done = subprocess.run(
            [sys.executable, "-c", ELSEWHERE, str(Path(__file__).parent), str(people)],
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent.parent)},
            timeout=120,
        )
        assert done.stdout.strip().startswith(f"[({first.rows!r}, 0.0), ("), done.stderr
        assert db.budget.remaining == pytest.approx(1.8, abs=1e-6)
        assert db.execute("SELECT SUM(age) FROM people").repeated


def test_it_is_refused_when_the_budget_is_exhausted(people: Path) -> None:
    with dpsql.connect(people, analyst="ana") as ana, dpsql.connect(people, analyst="bob") as bob:
        assert ana.execute(COUNT, epsilon=0.2).cost == 0.2
        assert bob.execute(COUNT, epsilon=0.2).cost == 0.2  # joined: the database pays nothing more
        most = ana.budget.fits
        with pytest.raises(dpsql.OperationalError) as refused:
            ana.execute("SELECT AVG(age) FROM people", epsilon=most + 0.01)
        assert refused.value.code == "D501"
        assert f"at most {below(most)} fits" in refused.value.label
        assert ana.execute("SELECT AVG(age) FROM people", epsilon=most).cost == most
        assert ana.budget.fits == pytest.approx(0, abs=1e-5)
        assert ana.execute(COUNT, epsilon=0.2).cost == 0.0
    with dpsql.connect(people) as db:
        spent = {each.analyst: each.spent for each in db.budget.accounts}
        assert spent["bob"] < spent["ana"] <= 1.0
        assert db.budget.spent == pytest.approx(0.2 + most, abs=1e-6)


def test_equal_parts_of_the_budget_all_fit(people: Path) -> None:
    """40 of 40 queries; 64 entries are summed up, and a ledger that is opened begins with the sums."""
    asked = [f"SELECT COUNT(*) FROM people WHERE id > {i}" for i in range(41)]
    with dpsql.connect(people) as db:
        for sql in asked[:40]:
            db.execute(sql, epsilon=0.05)
        with pytest.raises(dpsql.OperationalError, match="does not hold this price"):
            db.execute(asked[40], epsilon=0.05)
    (sums,) = [each for each in entries(people) if each["kind"] == "sums"]
    assert [len(each) for _, _, *amounts in sums["accounts"] for each in amounts[:2]] == [2] * 8
    with dpsql.connect(people) as db:
        assert db.budget.remaining == pytest.approx(0, abs=1e-6)
        assert db._open().ledger.spent().within(RENYI.total(Budget(2.0, 1e-6)))
        db._open().ledger.verify()


def test_bounds_are_found_and_accuracy_is_reached_in_steps(people: Path) -> None:
    with dpsql.connect(people) as db:
        assert db.execute("SELECT SUM(pay) FROM people", epsilon=0.4).cost == pytest.approx(0.4)
        sql = "SELECT OPTIONS(within = '30%') COUNT(*) FROM people"
        steps = db.execute(sql)
        assert steps.note.startswith("Within 30 % (95 %) after")
        assert 0 < steps.cost < 1
        assert (db.execute(sql).rows, db.execute(sql).cost) == (steps.rows, 0.0)
        with pytest.raises(dpsql.Error, match="no delta to show them with"):
            db.execute("SELECT town, COUNT(*) FROM people GROUP BY town")


def test_what_it_has_no_price_for_is_refused_before_it_is_paid(people: Path) -> None:
    """It was written before there were alerts: its ``assert_never`` becomes a refusal."""
    create = "CREATE PRIVATE ALERT many WITH (epsilon = 0.1, above = 100)"
    with dpsql.connect(people, analyst="ana") as db:
        for call in (db.execute, db.explain, db.price, db.stored, db.headings):
            with pytest.raises(
                dpsql.OperationalError, match="renyi knows no price of a private alert"
            ) as caught:
                call(create)
            assert caught.value.code == "D516"
        assert db.budget.spent == 0
        assert db.execute(COUNT).cost == 0.1
    assert [each["kind"] for each in entries(people) if each["kind"] in ("debit", "alert")] == ["debit"]


def test_a_file_shares_a_total(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script, out = people.with_suffix(".sql"), people.with_name("out")
    script.write_text("SELECT COUNT(*) FROM people; SELECT SUM(age) FROM people WHERE id > 10;")
    words = ["run", str(people), str(script), "--epsilon", "1", "--out", str(out)]
    assert main(words) == 0, capsys.readouterr()
    manifest = json.loads((out / "manifest.json").read_text())
    assert sum(each["epsilon"] for each in manifest["statements"]) == pytest.approx(1, rel=1e-3)
    with dpsql.connect(people) as db:
        assert db.budget.spent == pytest.approx(1, rel=1e-3)


def test_a_ledger_is_read_in_the_currency_that_it_was_written_in(people: Path) -> None:
    """D505, as for the three others: amounts of another accountant are not taken for damage."""
    with dpsql.connect(people) as db:
        db.execute(COUNT)
    people.with_suffix(".toml").write_text(POLICY.replace('"renyi"', '"zcdp"'))
    with pytest.raises(dpsql.OperationalError, match="belongs to another accountant") as refused:
        dpsql.connect(people).budget  # noqa: B018 - reads the ledger
    assert refused.value.code == "D505"


def test_the_policy_knows_it_by_its_place_on_the_shelf(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(dpsql.ProgrammingError, match='accountant = "renyi" needs a delta above zero'):
        parse_policy(POLICY.replace("1e-6", "0.0"), "people.toml")
    with pytest.raises(dpsql.ProgrammingError, match=re.escape("there are zcdp, pure, approx, rdp, renyi")):
        parse_policy(POLICY.replace('"renyi"', '"moments"'), "people.toml")
    monkeypatch.undo()
    with pytest.raises(dpsql.ProgrammingError, match="no accountant is called renyi"):
        parse_policy(POLICY, "people.toml")
