"""ExportQuery -> ExportPlan: the randomized response of each column, the padding rows, the price.

The query's own price hides the number of rows. The epsilon of every question (a column of the export) comes
on top of it: the one row of a unit answers them all.

Claim   adding or removing one unit changes the probability of any export by a factor of at most
        e^(1 / scale + the sum of the questions' epsilons), where scale is that of the noise on the row count.
Proof   1. The export has T = max(0, rows + padding + noise) rows. One unit changes rows by at most 1, and
           the noise is Laplace noise for sensitivity 1. The price buys its scale: at least 1 / price where
           epsilons add up; under zCDP the scale that costs as much rho.
        2. Given T, the export is a sorted list of answers: of all rows and of T - rows padding rows, with
           true values drawn uniformly; or, if T is below rows, of T rows sampled at random. With one unit
           less, the same random choices (sampled rows, responses) give an export in which a padding row, or
           a row that was not sampled, replaces that unit's row. So at most one row answers with another
           true value: a factor of at most e^epsilon for each question, whatever the true values. A mixture
           of pairs within a factor is within that factor.
        3. Under zCDP the same holds for Renyi divergences, which are quasi-convex in such mixtures: those of
           the answers of two true values (accounting/responses.py).
        No delta is needed. ``padding`` is 28 scales of the noise, so that a row is left out with a
        probability below 4e-13, which estimates take for 0.
Test    tests/unit/test_export.py
"""

from __future__ import annotations

import hashlib
import math
from fractions import Fraction

from dpsql.errors import refuse
from dpsql.functions.core.literals import as_own
from dpsql.ir.column import Categories, Listed, Type, Value, unique
from dpsql.ir.event import Event, ResponseEvent
from dpsql.ir.export import ExportColumn, ExportPlan, ExportQuery, Question
from dpsql.ir.measure import KeyList
from dpsql.ir.plan import Noise, Norm
from dpsql.mechanisms import laplace
from dpsql.mechanisms.randomized_response import design
from dpsql.plan.public_groups import Combinations
from dpsql.plan.terms import Terms
from dpsql.plan.written_form import written

SCALES = 28


def plan_export(export_query: ExportQuery, terms: Terms, combinations: Combinations) -> ExportPlan:
    """Return what would be exported, and its price; reads no private row."""
    allowance = terms.accountant.allowance(terms.epsilon, terms.budget, Fraction(1), False)
    scale = laplace.scale_for(1, 1 / allowance.laplace)
    if not scale < 2**20:
        raise refuse(
            "D503",
            "the price is too small: the padding that hides the number of rows would fill the export",
            help="pay more for hiding the number of rows: --epsilon 0.1",
        )
    event = laplace.event(1, scale)
    questions = tuple(_question(column, combinations) for column in export_query.asked)
    events: tuple[Event, ...] = (event, *map(_event, questions))
    epsilon = math.fsum((terms.epsilon, *(question.epsilon for question in questions)))
    padding = math.ceil(SCALES * scale)
    parts = [
        terms.accountant.name,
        written(export_query.relation),
        written(questions),
        written(events),
        str(padding),
    ]
    digest = hashlib.sha256("\n".join(("export", *parts)).encode()).hexdigest()
    rows = Noise(laplace.NAME, Norm.L1, 1, scale, event)
    return ExportPlan(
        export_query.source,
        export_query.relation,
        questions,
        rows,
        padding,
        epsilon,
        terms.epsilon,
        terms.accountant.name,
        events,
        digest,
    )


def _event(question: Question) -> ResponseEvent:
    return ResponseEvent(question.epsilon, 0 if question.design.marks else question.design.size)


def _question(column: ExportColumn, combinations: Combinations) -> Question:
    listed = listed_literals(column.values, column.type, combinations)
    if not 2 <= len(listed) <= MOST_VALUES:
        raise refuse(
            "D301",
            f"this column has {len(listed):,} possible {'value' if len(listed) == 1 else 'values'}",
            column.span,
            label=f"a randomized response has between 2 and {MOST_VALUES:,} possible values",
            help="leave it out" if len(listed) < 2 else "group the values: x // 10",
        )
    otherwise = len(listed) - 1 if column.values.null else 0
    chances = design(len(listed), column.epsilon)
    return Question(column.name, column.scalar, column.type, listed, otherwise, column.epsilon, chances)


def listed_literals(values: KeyList, type: Type, combinations: Combinations) -> tuple[Value, ...]:
    """Return the values of a public list as those of a type, NULL at the end where it may occur."""
    match values.domain:
        case Categories(listed):
            candidates: tuple[Value, ...] = listed
        case Listed(table, source):
            candidates = tuple(value for (value,) in combinations(table, (source,)) if value is not None)
    present = unique(tuple(literal for value in candidates if (literal := as_own(value, type)) is not None))
    return (*present, None) if values.null else present


MOST_VALUES = 1_001
"""A thousand, and NULL."""
