"""How far from the threshold must one day of many be for an alert to find it, and nothing before it?

The day is that far above the threshold, and the last one; all others are as far below it. "Found" is how
often it is the first true, of years that are drawn: by the mechanism alone, and through SQL, whose days are
counted from rows. "One by one" is the 95 % half-width of a count if all days are counted at the same total.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import duckdb
import numpy as np

import dpsql
from benchmarks.timing import Report, Setting, Table, Verdict
from dpsql.accounting import Budget, accountant, opened
from dpsql.explain.alerts import apart
from dpsql.ir.alert import Alert, AlertPlan
from dpsql.mechanisms import above_threshold
from dpsql.plan.alert import planned_alert
from dpsql.plan.terms import Terms

EPSILON, DELTA = 1.0, 1e-6
ACCOUNTANTS = ("pure", "zcdp")
DAYS = (365, 3_650)
ASKED = {("pure", 365): 20.0, ("pure", 3_650): 50.0}
"""How far away a day may have to be at most."""

POLICY = """
[budget]
epsilon = {total}
{rest}
[query]
epsilon = 1.0
max_epsilon = 1.0
[unit]
column = "person"
[tables.visits]
rows_per_unit = 1
[tables.visits.columns]
day = {{ range = [0, 4000] }}
"""


def run(setting: Setting) -> Report:
    years, asked = (200, 1) if setting.quick else (20_000, 20)
    table = Table(
        "a day that is found in 95 %",
        ("accountant", "days", "epsilon of it", "away", "found", "years", "one by one"),
    )
    through = Table("through SQL, 365 days", ("accountant", "away", "found", "years"))
    verdicts = []
    for name in ACCOUNTANTS:
        for days in DAYS:
            plan = _plan(name)
            away = apart(plan, days)
            found = _found(plan, days, away, years)
            alone = _one_by_one(name, days)
            table.rows.append((name, days, plan.epsilon0, away, found, years, alone))
            if (name, days) in ASKED:
                verdicts.append(Verdict(f"{name}, {days:,} days: away", away, ASKED[name, days]))
            verdicts.append(Verdict(f"{name}, {days:,} days: of one by one", away / alone, 1.0))
            if not setting.quick:
                held = Verdict(f"{name}, {days:,} days: found", found, 0.94, at_least=True)
                verdicts.append(held)
        away = math.ceil(apart(_plan(name), DAYS[0]))
        through.rows.append((name, away, _through_sql(setting, name, away, asked), asked))
    return Report((table, through), tuple(verdicts))


@cache
def _plan(name: str) -> AlertPlan:
    budget = Budget(EPSILON, 0.0 if name == "pure" else DELTA)
    return planned_alert("day", Alert(0.0), Terms(opened(name, budget), budget, EPSILON))


def _scales(plan: AlertPlan) -> tuple[float, float]:
    most = above_threshold.most_of(plan.step)
    own = above_threshold.scale_of_question(most, plan.step, True, plan.epsilon0)
    return plan.scale * float(plan.step), own * float(plan.step)


def _found(plan: AlertPlan, days: int, away: float, years: int) -> float:
    """Return how often the day is the first true, of years with noise that is drawn."""
    generator, (scale, own) = np.random.default_rng(days), _scales(plan)
    held = 0
    for _ in range(years):
        numbers = generator.laplace(0.0, own, days)
        numbers += np.where(np.arange(days) == days - 1, away, -away)
        above = numbers >= generator.laplace(0.0, scale)
        held += bool(above[-1] and not above[:-1].any())
    return held / years


def _one_by_one(name: str, days: int) -> float:
    """Return the half-width of each count if all days share the price."""
    budget = Budget(EPSILON, 0.0 if name == "pure" else DELTA)
    rules = accountant(name)
    bought = rules.allowance(EPSILON, budget, Fraction(1, days), False)
    if bought.gaussian is None:
        return math.log(20) / bought.laplace
    return 1.96 * bought.gaussian


def _through_sql(setting: Setting, name: str, away: int, years: int) -> float:
    """Return how often the day is found in alerts of a database with ten visits on each other day."""
    folder = setting.folder / f"alerts-{name}"
    folder.mkdir()
    data, days = folder / "visits.duckdb", 20 if setting.quick else DAYS[0]
    with duckdb.connect(str(data)) as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT row_number() OVER () AS person, day FROM range(?) AS d(day), "
            "range(?) AS v(n) WHERE n < 10 OR day = ?",
            [days, 10 + 2 * away, days - 1],
        )
        connection.execute("ALTER TABLE visits ADD PRIMARY KEY (person)")
    rest = 'accountant = "pure"' if name == "pure" else f'accountant = "zcdp"\ndelta = {DELTA}'
    policy = data.with_suffix(".toml")
    held = 0
    for year in range(years):
        policy.write_text(POLICY.format(total=EPSILON, rest=rest))
        with dpsql.connect(data, policy, folder / f"{year}.ledger") as db:
            db.execute(f"CREATE PRIVATE ALERT peak WITH (epsilon = {EPSILON}, above = {10 + away})")
            asked = "SELECT DP_ABOVE('peak', COUNT(*)) FROM visits WHERE day = {}"
            for day in range(days):
                if db.execute(asked.format(day)).rows[0][0]:
                    held += day == days - 1
                    break
    return held / years
