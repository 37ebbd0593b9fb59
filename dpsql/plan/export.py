"""ExportQuery -> ExportPlan: how each row answers, how many rows are added, what it costs.

The price is the query's own, which hides how many rows there are, and on top of it the epsilon of
every question: one row of a unit answers them all.

Claim   adding or removing one unit changes the chance of any export by a factor of at most
        e^(1 / scale + the sum of the questions' epsilons), scale being that of the noise on the rows.
Proof   1. The number of rows that leave is T = max(0, rows + padding + noise); one unit moves rows by at
           most 1, and the noise is Laplace's of sensitivity 1. The price buys its scale, 1 / price at least
           where epsilons are added up; under zCDP it buys what costs as much rho.
        2. Given T, the export is a sorted list of answers: of all rows and of T - rows rows of nobody, each
           of whose true values is drawn evenly; or, where T is below rows, of T rows taken at random. With
           one unit less, the same coins (which rows are taken, who answers what) give an export in which
           that unit's row is nobody's, or another one that was not taken. Where it differs at all, one
           row answers with another truth: a factor of at most e^epsilon a question, whatever the
           truths. A mixture of pairs that keep to a factor keeps to it.
        3. Under zCDP the same holds of Renyi divergences, which are quasi-convex in such mixtures.
        Nothing is left to a delta. ``padding`` is 28 scales of the noise, so that fewer rows than there are
        leave with a chance below 4e-13: estimates take that for never.
Test    tests/unit/test_export.py
"""

from __future__ import annotations

import hashlib
import math
from fractions import Fraction

from dpsql.errors import refuse
from dpsql.functions.core.literals import as_own
from dpsql.ir.column import Categories, Listed, Value, unique
from dpsql.ir.event import Event, ResponseEvent
from dpsql.ir.export import ExportColumn, ExportPlan, ExportQuery, Question
from dpsql.ir.plan import Noise, Norm
from dpsql.mechanisms import laplace
from dpsql.mechanisms.randomized_response import design
from dpsql.plan.key_rule import Values
from dpsql.plan.terms import Terms
from dpsql.plan.written_form import written

SCALES = 28


def plan_export(export_query: ExportQuery, terms: Terms, values: Values) -> ExportPlan:
    """What would leave, and its price; reads no private row."""
    allowance = terms.accountant.allowance(terms.epsilon, terms.budget, Fraction(1), False)
    scale = laplace.scale_for(1, 1 / allowance.laplace)
    if not scale < 2**20:
        raise refuse(
            "D503",
            "the price is too small: an export would be made of rows of nobody",
            help="pay more for hiding the number of rows: --epsilon 0.1",
        )
    event = laplace.event(1, scale)
    questions = tuple(_question(each, values) for each in export_query.asked)
    events: tuple[Event, ...] = (event, *(ResponseEvent(each.epsilon) for each in questions))
    epsilon = math.fsum((terms.epsilon, *(each.epsilon for each in questions)))
    padding = math.ceil(SCALES * scale)
    said = [
        terms.accountant.name,
        written(export_query.relation),
        written(questions),
        written(events),
        str(padding),
    ]
    digest = hashlib.sha256("\n".join(("export", *said)).encode()).hexdigest()
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


def _question(each: ExportColumn, values: Values) -> Question:
    match each.values.domain:
        case Categories(listed):
            found: tuple[Value, ...] = listed
        case Listed(table, column):
            found = values(table, column)
    present = unique(tuple(own for value in found if (own := as_own(value, each.type)) is not None))
    listed = (*present, None) if each.values.null else present
    if not 2 <= len(listed) <= MOST_VALUES:
        raise refuse(
            "D301",
            f"this question has {len(listed):,} possible {'answer' if len(listed) == 1 else 'answers'}",
            each.span,
            label=f"between 2 and {MOST_VALUES:,} values can be told apart",
            help="leave it out" if len(listed) < 2 else "let the values fall into steps: x // 10",
        )
    otherwise = len(listed) - 1 if each.values.null else 0
    return Question(
        each.name, each.scalar, each.type, listed, otherwise, each.epsilon, design(len(listed), each.epsilon)
    )


MOST_VALUES = 1_001
"""A thousand, and NULL."""
