"""What a budget promises of several units, and how many queries it still holds."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.accounting import Budget, names, opened
from dpsql.accounting.conversions import gaussian_delta
from dpsql.accounting.forecast import Course, more_like
from dpsql.accounting.group_privacy import group_privacy
from dpsql.accounting.units import Units
from dpsql.cli import main
from dpsql.ir.event import GaussianEvent

FIVE = Budget(5.0, 1e-6)


@pytest.mark.parametrize(
    ("name", "thresholds", "two", "four"),
    [
        ("pure", False, (10.0, 0.0), (20.0, 0.0)),
        ("zcdp", False, (11.149, 8e-7), (26.358, 8e-7)),
        ("zcdp", True, (10.0, 1.494e-4), None),
        ("rdp", False, (10.0, 1.494e-4), None),
        ("approx", False, (10.0, 1.494e-4), None),
    ],
)
def test_the_figures_of_the_promise(
    name: str, thresholds: bool, two: tuple[float, float], four: tuple[float, float] | None
) -> None:
    """The table of privacy-promise.md; 1 + e^5 = 149.41, and 1e-6 (1 + e^5 + e^10 + e^15) = 3.29."""
    rules = opened(name, FIVE)
    assert group_privacy(rules, FIVE, 2, thresholds) == pytest.approx(two, rel=1e-3)
    found = group_privacy(rules, FIVE, 4, thresholds)
    assert found is None if four is None else found == pytest.approx(four, rel=1e-4)
    epsilon, delta = group_privacy(rules, FIVE, 1, thresholds) or (0.0, 0.0)
    assert epsilon == pytest.approx(5.0, rel=1e-9)
    assert delta <= 1e-6


@pytest.mark.parametrize("name", ["zcdp", "rdp"])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0])
def test_it_holds_for_a_budget_of_gaussian_noise(name: str, epsilon: float) -> None:
    """A Gaussian that takes everything, over k units k times as near: its exact curve is below the delta."""
    budget = Budget(epsilon, 1e-6)
    rules = opened(name, budget)
    total = rules.total(budget)
    sigma = 1.0
    while not rules.charge((GaussianEvent(1, sigma),)).within(total):
        sigma *= 1.001
    for units in (1, 2, 4):
        promised = group_privacy(rules, budget, units, False)
        if promised is not None:
            assert gaussian_delta(sigma / units, promised[0]) <= promised[1]
    # planted: as if k units were k times the rho, which they are not
    if name == "zcdp" and epsilon < 1:
        wrong = group_privacy(rules, budget, 1, False)
        assert wrong is not None
        assert gaussian_delta(sigma / 4, 2 * wrong[0]) > wrong[1]


def test_a_reserve_counts_for_each_unit() -> None:
    budget = Budget(5.0, 1e-6, 1.2)
    without, kept = Budget(3.8, 1e-6), opened("zcdp", budget)
    alone, both = (group_privacy(opened("zcdp", each), each, 2, False) for each in (without, budget))
    assert alone is not None
    assert both is not None
    assert both[0] == pytest.approx(alone[0] + 2.4, rel=1e-9)
    assert group_privacy(kept, budget, 1, False) == pytest.approx((5.0, 8e-7), rel=1e-6)


def test_a_forecast_is_what_fits_one_after_the_other() -> None:
    rng = random.Random(2)
    for _ in range(200):
        latest = [Units(rng.randrange(1, 50), rng.randrange(3)) for _ in range(rng.randrange(1, 11))]
        accounts = []
        for number in range(rng.randrange(1, 4)):
            spent = Units(rng.randrange(100), rng.randrange(4))
            total = Units(rng.randrange(100, 9000), rng.randrange(4, 400))
            own = [price if number == 0 or rng.random() < 0.5 else Units() for price in latest]
            accounts.append(Course(spent, total, own))
        paid, count = [each.spent for each in accounts], 0
        while True:
            prices = [each.latest[count % len(latest)] for each in accounts]
            after = [gone + price for gone, price in zip(paid, prices, strict=True)]
            if not all(
                not price or gone.within(each.total)
                for price, gone, each in zip(prices, after, accounts, strict=True)
            ):
                break
            paid, count = after, count + 1
        assert more_like(accounts) == count


@pytest.mark.parametrize("name", names())
def test_the_forecast_holds(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As many more are answered as it says, and one more is refused; and the command shows both."""
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER)")
        connection.execute("INSERT INTO people SELECT i, i % 100 FROM range(50) t(i)")
    delta = "" if name == "pure" else "delta = 1e-6\n"
    path.with_suffix(".toml").write_text(
        f'[budget]\nepsilon = 1.0\n{delta}accountant = "{name}"\n[unit]\ntable = "people"\nkey = "id"\n'
        "[tables.people.columns]\nage = { range = [0, 100] }\n"
    )
    sql = "SELECT COUNT(*) FROM people WHERE age > {}"
    with dpsql.connect(path) as db:
        assert db.outlook.more is None
        for place in range(3):
            db.execute(sql.format(place), epsilon=0.25)
        more = db.outlook.more
        assert more is not None
        for place in range(10, 10 + more):
            db.execute(sql.format(place), epsilon=0.25)
        with pytest.raises(dpsql.OperationalError, match="does not hold"):
            db.execute(sql.format(60), epsilon=0.25)
        assert db.outlook.more == 0
    assert main(["budget", str(path), "--all"]) == 0
    shown = capsys.readouterr().out
    assert "about 0 more queries like the latest fit" in shown
    assert "of several units together" in shown
    assert main(["budget", str(path), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["forecast"] == 0
    assert [each["units"] for each in document["group_privacy"]] == [1, 2, 4]
    assert math.isclose(document["group_privacy"][0]["epsilon"], 1.0, rel_tol=1e-6)
