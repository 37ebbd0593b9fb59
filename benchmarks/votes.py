"""How often is the label of a vote right, how many labels does a budget hold, and what does a vote take?

"Right" is how often 250 teachers give the right one of 6 labels: each is right with a probability of its own
(the agreement), else it gives one of the others. "Through SQL" teachers learn the nearest mean of three kinds
of persons from 20 rows each; "one alone" is the same learner on all rows, which nobody may see.
"""

from __future__ import annotations

import time
from collections import defaultdict
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np

import dpsql
from benchmarks.timing import Report, Setting, Table, Verdict
from dpsql.accounting import Budget, accountant, opened
from dpsql.ir.event import ChoiceEvent
from dpsql.mechanisms.exponential import Choices, choose

TEACHERS, LABELS, DELTA = 250, 6, 1e-6
ASKED = {(0.05, 0.8): 0.95, (0.05, 0.6): 0.83}
HELD = {5.0: 1_459, 1.0: 76}
POLICY = """
[budget]
epsilon = 5.0
delta = 1e-6
[query]
epsilon = 0.5
max_epsilon = 5.0
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
kind = { values = ["a", "b", "c"] }
x = { range = [-10, 10] }
y = { range = [-10, 10] }
"""
Rows = list[tuple[Any, ...]]


def run(setting: Setting) -> Report:
    rows = 2_000 if setting.quick else 100_000
    right = Table("labels that are right", ("epsilon", "agreement", "right", "rows"))
    held = Table("labels within a budget, of .05 each", ("accountant", "epsilon", "labels"))
    verdicts = []
    for epsilon in (0.02, 0.05, 0.1):
        for agreement in (0.8, 0.6, 0.4):
            share = _right(epsilon, agreement, rows)
            right.rows.append((epsilon, agreement, share, rows))
            if (epsilon, agreement) in ASKED:
                least = ASKED[epsilon, agreement] - (0.02 if setting.quick else 0.0)
                verdicts.append(Verdict(f"right at {agreement:g}", share, least, at_least=True))
    for name in ("zcdp", "rdp", "pure"):
        for total, asked in HELD.items():
            labels = _held(name, total)
            held.rows.append((name, total, labels))
            if name == "zcdp":
                verdicts.append(Verdict(f"labels within {total:g}", labels, asked, at_least=True))
    through, shares = _through_sql(setting)
    return Report((right, held, through), (*verdicts, *shares))


def _right(epsilon: float, agreement: float, rows: int) -> float:
    """Return how often the first label is chosen, of votes that are drawn."""
    generator = np.random.default_rng(1)
    chances = [agreement, *[(1 - agreement) / (LABELS - 1)] * (LABELS - 1)]
    votes = generator.multinomial(TEACHERS, chances, rows)
    choices = Choices(
        np.arange(0, (rows + 1) * LABELS, LABELS),
        np.ones(rows * LABELS, np.int64),
        TEACHERS - votes.reshape(-1),
        np.zeros(rows * LABELS, np.int64),
    )
    chosen, _ = choose(choices, Fraction(epsilon) / 2, generator.bytes)
    return float(np.mean(chosen % LABELS == 0))


def _held(name: str, total: float) -> int:
    budget = Budget(total, DELTA if accountant(name).has_delta else 0.0)
    rules = opened(name, budget)
    low, high = 0, 2_000
    while low < high:
        middle = (low + high + 1) // 2
        within = rules.charge((ChoiceEvent(0.05),) * middle).within(rules.total(budget))
        low, high = (middle, high) if within else (low, middle - 1)
    return low


def nearest_mean(examples: Rows, rows: Rows) -> list[Any]:
    """Give the label whose examples are nearest on average."""
    found = defaultdict[str, list[tuple[float, float]]](list)
    for label, x, y in examples:
        found[label].append((x, y))
    means = {label: np.mean(points, axis=0) for label, points in found.items()}
    return [min(means, key=lambda label: float(np.sum((means[label] - np.array(row)) ** 2))) for row in rows]


def _through_sql(setting: Setting) -> tuple[Table, list[Verdict]]:
    persons, teachers, rows = (400, 20, 20) if setting.quick else (5_000, TEACHERS, 300)
    folder = setting.folder / "votes"
    folder.mkdir()
    with duckdb.connect(str(folder / "people.duckdb")) as connection:
        connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, kind VARCHAR, x DOUBLE, y DOUBLE)")
        generator = np.random.default_rng(7)
        made = _people(generator, persons)
        connection.executemany(
            "INSERT INTO people VALUES (?, ?, ?, ?)", [(i, *p) for i, p in enumerate(made)]
        )
    (folder / "people.toml").write_text(POLICY)
    public = _people(generator, rows)
    table = Table(
        "through SQL", ("persons", "teachers", "labels", "right", "one alone", "epsilon", "seconds")
    )
    with dpsql.connect(folder / "people.duckdb") as db:
        start = time.perf_counter()
        asked = [(x, y) for _, x, y in public]
        answer = dpsql.vote(db, "SELECT kind, x, y FROM people", nearest_mean, asked, teachers, 0.1)
        seconds = time.perf_counter() - start
    truth = [kind for kind, *_ in public]
    right = float(np.mean([label == kind for (label,), kind in zip(answer.rows, truth, strict=True)]))
    alone = float(
        np.mean([label == kind for label, kind in zip(nearest_mean(made, asked), truth, strict=True)])
    )
    table.rows.append((persons, teachers, rows, right, alone, answer.cost, seconds))
    return table, [] if setting.quick else [Verdict("of one alone", right / alone, 0.97, at_least=True)]


def _people(generator: np.random.Generator, number: int) -> Rows:
    """Return persons of three kinds around three places."""
    kinds = generator.integers(0, 3, number)
    places = np.array([(0, 0), (3, 0), (0, 3)])[kinds] + generator.normal(size=(number, 2))
    return [("abc"[kind], float(x), float(y)) for kind, (x, y) in zip(kinds, places, strict=True)]
