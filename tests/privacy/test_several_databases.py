"""``dpsql budget A B``: databases about the same people have one sum where there is one."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.accounting import Budget, names, opened
from dpsql.accounting.conversions import zcdp_eps
from dpsql.accounting.several import Held, together
from dpsql.accounting.units import UNIT, Units
from dpsql.cli import main

POLICY = """\
[budget]
epsilon = {epsilon}
{delta}
accountant = "{accountant}"
[analysts.ana]
epsilon = 1.0
[unit]
name = "{unit}"
column = "id"
[tables.people]
rows_per_unit = 1
[tables.people.columns]
age = {{ range = [0, 120] }}
"""


def built(
    folder: Path,
    name: str,
    epsilon: float = 4.0,
    delta: float = 1e-6,
    rules: str = "zcdp",
    unit: str = "person",
) -> Path:
    path = folder / f"{name}.duckdb"
    with duckdb.connect(str(path)) as owner:
        owner.execute("CREATE TABLE people AS SELECT i AS id, i % 90 AS age FROM range(50) AS r(i)")
    said = "" if rules == "pure" else f"delta = {delta}"
    policy = POLICY.format(epsilon=epsilon, delta=said, accountant=rules, unit=unit)
    path.with_suffix(".toml").write_text(policy)
    return path


def ask(path: Path, price: float, analyst: str | None = None) -> None:
    with dpsql.connect(path, analyst=analyst) as db:
        db.execute("SELECT SUM(age) FROM people", epsilon=price)


def told(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, object]:
    assert main(["budget", *map(str, words), "--format", "json"]) == 0
    document: dict[str, object] = json.loads(capsys.readouterr().out)
    return document


def test_charges_compose_as_in_one_ledger(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """rho is what a price of 1 buys alone: twice that, at four fifths of the larger delta."""
    first, second = built(tmp_path, "a"), built(tmp_path, "b", delta=1e-7)
    ask(first, 1.0)
    ask(second, 1.0)
    rho = 0
    for path in (first, second):
        with dpsql.connect(path) as db:
            spent = db._open().ledger.spent()
            assert isinstance(spent, Units)
            rho += spent.main
    sums = told(capsys, first, second)["together"]
    assert isinstance(sums, dict)
    assert sums["spent"] == pytest.approx(zcdp_eps(rho / UNIT, 0.8e-6), rel=1e-6)
    assert 1.0 < sums["spent"] < 2.0
    assert sums["granted"] < 8.0
    assert sums["delta"] == pytest.approx(1.1e-6)
    assert "compose as in one ledger" in sums["how"]


def test_epsilons_add_up_where_nothing_closer_is_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [
        built(tmp_path, "a"),
        built(tmp_path, "b", rules="pure"),
        built(tmp_path, "c", rules="approx", delta=1e-5),
    ]
    for path in paths:
        ask(path, 1.0)
    document = told(capsys, *paths)
    sums, each = document["together"], document["databases"]
    assert isinstance(sums, dict)
    assert isinstance(each, list)
    assert sums["spent"] == pytest.approx(sum(one["spent"] for one in each)) == pytest.approx(3.0, rel=1e-3)
    assert (sums["granted"], sums["delta"]) == (12.0, pytest.approx(1.1e-5))
    assert sums["how"].startswith("epsilons and deltas add up: approx and pure and zcdp")


def test_one_analyst_has_sums_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = built(tmp_path, "a", rules="pure"), built(tmp_path, "b", rules="pure")
    ask(first, 0.25, "ana")
    ask(first, 0.75)
    ask(second, 0.5, "ana")
    sums = [told(capsys, first, second, *more)["together"] for more in ((), ("--analyst", "ana"))]
    assert [each["spent"] for each in sums if isinstance(each, dict)] == pytest.approx([1.5, 0.75])
    assert [each["granted"] for each in sums if isinstance(each, dict)] == pytest.approx([8.0, 2.0])


def test_other_units_have_no_sum(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = told(capsys, built(tmp_path, "a"), built(tmp_path, "b", unit="household"))
    assert document["together"] is None
    assert "protects each person" in str(document["why_not"])
    assert "protects each household" in str(document["why_not"])
    assert not list(tmp_path.glob("*.ledger")), "looking creates no ledger"


def test_it_is_shown_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = built(tmp_path, "a", rules="pure"), built(tmp_path, "b", rules="pure")
    ask(first, 0.5)
    ask(second, 0.25)
    assert main(["budget", str(first), str(second)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "│ together │ │ │ 0 │ 8 │ 0.75 │" in shown
    assert (
        "For a person who is in both, what is spent comes to epsilon 0.75 at delta 0, and to 8 when "
        "everything is: under pure they compose as in one ledger. That these are the same people is the "
        "owner's word."
    ) in shown


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("a", "a"), 1, "is the same database as another"),
        (("a", "none"), 1, "error[D602]: there is no database"),
        (("a", "b", "--analyst", "eve"), 1, "error[D504]"),
        (("a", "b", "--all"), 2, "each has its own policy and ledger"),
        (("a", "b", "--ledger", "x"), 2, "each has its own policy and ledger"),
    ],
)
def test_what_cannot_be_added_is_told(
    words: tuple[str, ...], code: int, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    built(tmp_path, "a")
    built(tmp_path, "b")
    paths = [str(tmp_path / f"{word}.duckdb") if word in ("a", "b", "none") else word for word in words]
    assert main(["budget", *paths]) == code
    assert told in capsys.readouterr().err


def test_orders_and_reserves_have_no_closer_sum() -> None:
    """Amounts at two Renyi orders, or with and without a reserve, are no amounts of one ledger."""
    budgets = Budget(1.0, 1e-6), Budget(5.0, 1e-6), Budget(5.0, 1e-6, 1.2)
    accounts = [
        Held("", "person", rules, each, rules.total(each), rules.total(each))
        for each in budgets
        for rules in [opened("rdp", each)]
    ]
    for pair in (accounts[:2], accounts[1:]):
        both = together(pair)
        assert both.spent == pytest.approx(sum(account.budget.epsilon for account in pair))
        assert "rdp of several orders or reserves" in both.how
    kept = together([accounts[2], accounts[2]])
    assert 5.0 < kept.spent < 10.0
    assert "as in one ledger" in kept.how


@pytest.mark.parametrize("name", names())
def test_a_sum_is_never_below_its_parts_and_never_above_their_sum(name: str) -> None:
    """For every accountant and all parts of two budgets; one account alone is itself."""
    named = opened(name, Budget(8.0, 1e-6))
    delta = 1e-6 if named.has_delta else 0.0
    for epsilons in ((1.0, 1.0), (0.1, 8.0), (5.0, 0.5)):
        budgets = [Budget(epsilon, delta) for epsilon in epsilons]
        for share in (0.0, 0.01, 0.5, 1.0):
            accounts = [
                Held("", "person", named, each, Units(int(named.total(each).main * share)), named.total(each))
                for each in budgets
            ]
            both, (alone,) = together(accounts), [together(accounts[:1])]
            parts = [account.epsilon for account in accounts]
            assert max(parts) <= both.spent * (1 + 1e-9)
            assert both.spent <= sum(parts) * (1 + 1e-9)
            assert alone.spent == pytest.approx(parts[0])
            assert both.granted <= sum(epsilons) * (1 + 1e-9)
