"""Statements of a file that share a total price -> one measurement for those that count the same rows.

    young     SELECT COUNT(*) FROM patients WHERE age < 20       price 0.3      alone ± 7
    old       SELECT COUNT(*) FROM patients WHERE age >= 60      price 0.3      alone ± 7
    by_sex    SELECT sex, COUNT(*) FROM patients GROUP BY sex    price 0.4      alone ± 5

    together: one measurement of the cells at what these prices add up to, from which all three are answered

The rows are those of one table, or of inner joins of several. So it is for statements that sum the same
argument over them, with the same range: their cells are sums of it.

Each statement keeps its own text, file and entry. Their plans have one digest, that of the measurement: the
first that is asked pays for it, and the others find it in the ledger.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction

from dpsql.batch.item import Item
from dpsql.batch.shares import added
from dpsql.dbapi import Connection
from dpsql.ir.measure import Measure
from dpsql.ir.plan import MeasurePlan, Plan, StagePlan
from dpsql.lazy_dataclass import dataclass
from dpsql.plan import joint
from dpsql.plan.digest import digest_of
from dpsql.plan.measure_facts import MeasureFacts, measure_facts_of
from dpsql.plan.unread_columns import without_unread
from dpsql.planning import rewritten
from dpsql.pricing import price_of
from dpsql.session import Session
from dpsql.session.kept_plans import Prepared
from dpsql.workload.added_value import added_value
from dpsql.workload.common_rows import Renamed, renamed

WORSE = 1.05
"""No statement is measured with others that would be less exact by more than this."""

FEWEST = 2

MOST_TRIES = 4
"""How often weights are tried before statements are left out."""


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A statement that counts rows, or sums one argument; ``deviation`` is that of its numbers alone."""

    item: Item
    facts: MeasureFacts
    renamed: Renamed
    deviation: float

    @property
    def rests_on(self) -> tuple[object, ...]:
        """What must be the same in statements that are measured together."""
        at_most, copies = self.facts.owned.at_most, self.facts.measure.copies
        proved = None if at_most is None else at_most // copies
        added = added_value(self.renamed.measure.statistics)
        return repr(self.renamed.rows), repr(added), self.facts.rows, proved


def joined(db: Connection, items: Sequence[Item]) -> list[Item]:
    """Return the items, those with plans for a common measurement that are more exact in this way."""
    session = db._open()
    sets: dict[tuple[object, ...], list[_Candidate]] = {}
    for item in items:
        candidate = _candidate(session, item)
        if candidate is not None:
            sets.setdefault(candidate.rests_on, []).append(candidate)
    plans: dict[str, Plan] = {}
    for candidates in sets.values():
        plans |= _planned(session, candidates)
    session.joint_plans = plans
    return [_with_plan(session, item, plans.get(item.task.name)) for item in items]


@contextmanager
def asked_together(db: Connection, name: str) -> Iterator[None]:
    """Let the statement of this name have the plan that was made for it and others, if there is one."""
    session = db._open()
    session.together = session.joint_plans.get(name)
    try:
        yield
    finally:
        session.together = None


def _candidate(session: Session, item: Item) -> _Candidate | None:
    """Return a statement as a candidate, if it counts rows of tables, or sums one argument over them.

    Whether it was answered alone changes nothing: the same statements are the same measurement.
    """
    plan = item.plan
    simple = len(plan.stages) == 1 and len(plan.measures) == 1 and not (plan.bounds or plan.steps)
    simple = simple and plan.measures[0].measure.view is None and plan.measures[0].measure.model is None
    if not item.paid or item.own or item.task.apart or not simple:
        return None
    split = rewritten(session, item.query)
    if split.needed or len(split.stages) != 1 or len(split.stages[0].measures) != 1:
        return None
    (measure,) = split.stages[0].measures
    if measure.clip is not None or split.delta is not None:
        return None
    facts = _facts_of(session, measure, plan.epsilon)
    own = renamed(measure) if joint.may_join(facts) else None
    if own is None:
        return None
    (alone,) = plan.measures
    return _Candidate(item, facts, own, joint.deviation_of(alone))


def _facts_of(session: Session, measure: Measure, epsilon: float) -> MeasureFacts:
    terms = replace(session.terms(None), epsilon=epsilon)
    return measure_facts_of(measure, session.known, terms, Fraction(1), session.engine.combinations)


def _planned(session: Session, candidates: Sequence[_Candidate]) -> dict[str, Plan]:
    """Return plans for the statements that gain by a common measurement, by name.

    Those that would be less exact get more weight, and are left out where that is not enough.
    """
    left, tries = list(candidates), MOST_TRIES
    weights = [each.item.task.statement.weight or 1.0 for each in candidates]
    while len({each.item.measured for each in left}) >= FEWEST:
        price = _price(session, left)
        measures = _together(session, left, weights, price)
        if measures is None:
            return {}
        errors = [joint.deviation_of(measure) for measure in measures]
        worse = [error / each.deviation for each, error in zip(left, errors, strict=True)]
        if max(worse) <= WORSE:
            before = math.fsum(each.deviation**2 for each in left)
            if math.fsum(error**2 for error in errors) > joint.GAIN**2 * before:
                return {}
            return _plans(session, left, measures, price)
        tries -= 1
        if tries > 0:
            weights = [_raised(weight, times) for weight, times in zip(weights, worse, strict=True)]
            continue
        kept = [place for place, times in enumerate(worse) if times <= WORSE]
        left, weights = [left[place] for place in kept], [weights[place] for place in kept]
    return {}


def _raised(weight: float, worse: float) -> float:
    """Return more weight for a statement that would be less exact by so many times, in whole sixteenths."""
    return weight if worse <= WORSE else max(1, round(16 * weight * 2 * worse**2)) / 16


def _price(session: Session, candidates: Sequence[_Candidate]) -> float:
    """Return the price of one measurement that spends what the statements would spend, each once."""
    shares = {each.item.measured: each.item.epsilons for each in candidates}
    total = added(list(shares.values()), session.accountant, session.budget)
    return min(total, session.ceiling)


def _together(
    session: Session, candidates: Sequence[_Candidate], weights: Sequence[float], price: float
) -> list[MeasurePlan] | None:
    rows = candidates[0].renamed.rows
    asked = [
        joint.Asked(each.facts, each.renamed.measure, rows, each.renamed.conditions, weight)
        for each, weight in zip(candidates, weights, strict=True)
    ]
    return joint.together(asked, lambda measure: _facts_of(session, measure, price))


def _plans(
    session: Session, candidates: Sequence[_Candidate], measures: Sequence[MeasurePlan], price: float
) -> dict[str, Plan]:
    terms = replace(session.terms(None), epsilon=price)
    plans: dict[str, Plan] = {}
    digest = ""
    for each, measure in zip(candidates, measures, strict=True):
        lean = without_unread(measure)
        (stage,) = each.item.plan.stages
        digest = digest or digest_of((StagePlan((lean.measured,), stage.post),), terms)
        stages = (StagePlan((lean,), stage.post, None),)
        plans[each.item.task.name] = replace(each.item.plan, stages=stages, epsilon=price, digest=digest)
    return plans


def _with_plan(session: Session, item: Item, plan: Plan | None) -> Item:
    if plan is None:
        return item
    terms = session.terms(item.epsilon)
    _, price = price_of(session, Prepared(item.query, terms, plan))
    return replace(item, plan=plan, price=price, alone=item.price)
