"""Randomized responses -> the rows of an export, and the manifest with its estimators.

    N(v) = (c - T q) / (p - q) - a / k          T rows, of which c say v; a rows were added; k values

Claim   N(v) is unbiased for the number of units with value v (up to 1e-10 of a row), and so is T - a for
        the number of all units.
Proof   a row with value v says v with probability p, a row with another value with q, an added row (its
        value is drawn uniformly) with q + (p - q) / k: E[c - T q] = (p - q) (N + E[added rows] / k).
        The number of added rows is a + noise. Its mean is a, except for the probability below 4e-13 that
        the noise removes rows. The answers are independent:
        Var[c - T q] = N p (1 - p) + (n - N) q (1 - q) + a m (1 - m) + 2 b^2 ((p - q) / k)^2, where
        m = q + (p - q) / k and 2 b^2 is the variance of the noise.
Test    tests/unit/test_estimates.py
"""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

from dpsql.ir.column import Kind, Value
from dpsql.ir.export import ExportPlan, Question, RandomizedColumn, ReleasedExport
from dpsql.late_numpy import np

FORMAT = "dpsql randomized responses 1"

ESTIMATORS = {
    "n": "T - a",
    "N(v)": "(c - T q) / (p - q) - a / k",
    "deviation of n": "sqrt(2) b",
    "deviation of N(v)": "sqrt((N p (1-p) + (n-N) q (1-q) + a m (1-m)) / (p-q)^2 + 2 (b/k)^2)",
    "share of v": "N(v) / n",
    "where": "T rows in the file; c of them say v (marks: have a 1 at the place of v); a = added, b = scale, "
    "k = the number of values, p = own, q = other, m = q + (p-q)/k",
}


def rows_of(released: ReleasedExport, planned: ExportPlan) -> list[tuple[Value, ...]]:
    """Return the rows: values if the answers are direct, else a string with a 0 or 1 for each value."""
    columns = [_column(*pair) for pair in zip(released.columns, planned.questions, strict=True)]
    return list(zip(*columns, strict=True))


def _column(answers: RandomizedColumn, question: Question) -> list[Value]:
    if not question.design.marks:
        return [question.values[code] for code in answers.tolist()]
    marks = np.unpackbits(answers.astype(np.uint8), axis=1, count=question.design.size) + ord("0")
    return [row.tobytes().decode("ascii") for row in marks]


def _as_json(value: Value) -> bool | int | float | str | None:
    """Convert a value to JSON; dates and decimals become the text that is in the file."""
    match value:
        case Decimal():
            return f"{value:f}"
        case datetime.datetime():
            return value.isoformat(" ")
        case datetime.date():
            return value.isoformat()
        case _:
            return value


def types_of(planned: ExportPlan) -> tuple[str, ...]:
    """Return the SQL types of the columns; enums and marks are exported as VARCHAR."""
    return tuple(
        "VARCHAR" if question.design.marks or question.type.kind is Kind.TEXT else question.type.sql
        for question in planned.questions
    )


def manifest(planned: ExportPlan, unit: str) -> dict[str, Any]:
    """Return all inputs of the estimators except the number of rows; computed from the plan alone."""
    return {
        "format": FORMAT,
        "unit": unit,
        "epsilon": planned.epsilon,
        "epsilon_of_rows": planned.epsilon_of_rows,
        "rows": {"added": planned.padding, "scale": planned.rows.scale},
        "columns": [
            {
                "name": question.name,
                "type": "VARCHAR" if question.type.kind is Kind.TEXT else question.type.sql,
                "answers": "marks" if question.design.marks else "direct",
                "epsilon": question.epsilon,
                "own": float(question.design.own),
                "other": float(question.design.chance),
                "values": [_as_json(value) for value in question.values],
            }
            for question in planned.questions
        ],
        "estimators": ESTIMATORS,
        "note": f"Each row answers at random, whatever it says of its {unit} is uncertain; {planned.padding} "
        f"rows on average belong to nobody, and how many there are is noised. A {unit} who is in several "
        "exports, or is asked about in queries too, is protected by what the ledger adds up.",
    }
