"""Plans that find what the policy leaves out: a column's range, the rows per unit of a table.

    SUM(cost), of which no range is declared

    first    how far every unit's costs reach, in all of visits: one choice among ranges, for a fifth of
             the price; the range that comes out is public from then on, for every query of anybody
    then     the SUM, clamped to it, for the rest

A bound is found over the whole table whatever the query selects of it, so that it serves the next query
too. Any bound keeps the privacy: only accuracy rests on it. Until it is found, the query is planned with
the widest that could come out: what is refused then is refused before anything is paid.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpsql.bind.scope.scope import Fresh
from dpsql.bind.scope.sources import Private, scan
from dpsql.facts.missing_bounds import all_missing_bounds
from dpsql.ir.bound import Bound, MissingBound
from dpsql.ir.column import Fact, Kind, decimal_size, type_range
from dpsql.ir.detail import BoundSearch
from dpsql.ir.event import ChoiceEvent, LaplaceEvent
from dpsql.ir.measure import Measure, Post
from dpsql.ir.plan import (
    BoundSearchPlan,
    DetailPlan,
    MeasurePlan,
    Noise,
    Norm,
    Plan,
    PublicKeys,
    Shape,
    StagePlan,
)
from dpsql.ir.source import Source
from dpsql.mechanisms.found_range import SENSITIVITY, ranges
from dpsql.parse.normal_text import alike
from dpsql.plan.terms import Terms
from dpsql.plan.written_form import written
from dpsql.policy.catalogue import Known

SHARE = Fraction(1, 5)
"""Of the price of a query that finds bounds, for all of them together."""

_NOTHING = Noise("laplace", Norm.L1, 0, 1.0, LaplaceEvent(0, 1.0))
_NOWHERE = Post("", (), (), (), ())

_WHOLE = 58
_REAL = (-10, 48)
_ROWS = 13


def ladder_of(missing: MissingBound, known: Known) -> BoundSearch:
    """The limits among which a bound is found: what the type holds, as far as that is sensible."""
    if not missing.column:
        return BoundSearch(None, 0, _ROWS, False)
    table = known.table(missing.table)
    assert table is not None
    fact = next(each.fact for each in table.columns if each.name == missing.column)
    return BoundSearch(None, *_octaves(fact), signed=fact.type.kind is not Kind.INTEGER or _signed(fact))


def _octaves(fact: Fact) -> tuple[int, int]:
    match fact.type.kind:
        case Kind.INTEGER:
            return 0, min(_WHOLE, int(type_range(fact.type).high).bit_length())
        case Kind.DECIMAL:
            width, scale = decimal_size(fact.type)
            first = -math.ceil(scale * math.log2(10))
            return first, min(first + _WHOLE, math.ceil((width - scale) * math.log2(10)))
        case _:
            return _REAL


def _signed(fact: Fact) -> bool:
    return type_range(fact.type).low < 0


def name_of(missing: MissingBound, known: Known) -> str:
    """How the ledger knows a bound: what it is of, and among which candidates it was chosen."""
    ladder = ladder_of(missing, known)
    return f"{missing}: {ladder.first}..{ladder.last}{' signed' if ladder.signed else ''} or nothing"


def bound_of(missing: MissingBound, known: Known, place: int, found: str) -> Bound:
    """The bound at a place among the candidates: the widest where nothing was found, which is behind them."""
    candidates = ranges(ladder_of(missing, known))
    is_known = place < len(candidates)
    low, high = candidates[max(0, min(place, len(candidates) - 1))]
    if _is_whole(missing, known):
        return Bound(missing, math.ceil(low), math.floor(high), found, is_known=is_known)
    return Bound(missing, float(low), float(high), found, is_known=is_known)


def widest(missing: MissingBound, known: Known) -> Bound:
    """The bound that could come out and asks most of a plan."""
    return bound_of(missing, known, len(ranges(ladder_of(missing, known))) - 1, "")


def _is_whole(missing: MissingBound, known: Known) -> bool:
    table = known.table(missing.table)
    assert table is not None
    facts = [each.fact for each in table.columns if each.name == missing.column]
    return not facts or facts[0].type.kind is Kind.INTEGER


def asker_of(source: Source, epsilon: float) -> str:
    """A digest of a query at a price: asked again in any spacing, it goes on with what it has paid for."""
    said = "\n".join([repr(epsilon), repr(source.parameters), alike(source.text)])
    return hashlib.sha256(said.encode()).hexdigest()


def good_enough(found: Sequence[Bound], asker: str, terms: Terms) -> Bound | None:
    """The bound that a query uses: its own; or the first that somebody found at half its price, or for more.

    What was found at a small price is for small prices: nobody spoils a bound for others by being cheap.
    Prices are compared, which both have paid a share of, and not what they bought: that differs by how many
    bounds were found at once. That it is the first one makes the choice the same whenever the query is asked
    again.
    """
    own = next((each for each in found if each.asker == asker), None)
    return own or next((each for each in found if part_of(terms.epsilon) <= 2 * each.paid), None)


def again_above(bound: Bound) -> float:
    """The price up to which a bound is good enough."""
    return float(2 * Fraction(bound.paid) / SHARE)


def part_of(epsilon: float) -> float:
    """What of a price all bounds that a query finds cost together."""
    return float(Fraction(epsilon) * SHARE)


def bound_search_plan(
    missing_bounds: Sequence[MissingBound], known: Known, source: Source, asker: str, terms: Terms
) -> BoundSearchPlan:
    """The plan that finds these bounds for a query at this price."""
    accountant, epsilon = terms.accountant, terms.epsilon
    share = SHARE / len(missing_bounds)
    choice = accountant.allowance(epsilon, terms.budget, share, thresholds=False).choice
    measures, names = (
        _measures(missing_bounds, known, choice),
        tuple(name_of(missing, known) for missing in missing_bounds),
    )
    said = [accountant.name, written(epsilon), asker, *names, *(written(each.details) for each in measures)]
    digest = hashlib.sha256("\n".join(["bounds", *said]).encode()).hexdigest()
    text = f"/* finds {', '.join(map(str, missing_bounds))} */ {source.text}"
    stage = StagePlan(measures, _NOWHERE)
    plan = Plan(replace(source, text=text), (stage,), part_of(epsilon), accountant.name, digest)
    return BoundSearchPlan(plan, tuple(missing_bounds), names, asker)


def plan_again(names: Sequence[str], known: Known, strength: float) -> Plan | None:
    """What was to be measured for bounds of these names, each at that epsilon; None if one is unknown now."""
    missing_bounds = {name_of(each, known): each for each in all_missing_bounds(known)}
    if not all(each in missing_bounds for each in names):
        return None
    measures = _measures([missing_bounds[each] for each in names], known, strength)
    return Plan(Source(""), (StagePlan(measures, _NOWHERE),), 0.0, "", "")


def _measures(missing_bounds: Sequence[MissingBound], known: Known, choice: float) -> tuple[MeasurePlan, ...]:
    names = dict.fromkeys(missing.table for missing in missing_bounds)
    rows = {name: _rows(name, known) for name in names}
    return tuple(
        _planned(missing, rows[missing.table], known, choice, number)
        for number, missing in enumerate(missing_bounds)
    )


def _rows(name: str, known: Known) -> Private:
    table = known.table(name)
    assert table is not None
    return scan(table, known, "t", Fresh(set()), None)


def _planned(missing: MissingBound, rows: Private, known: Known, epsilon: float, number: int) -> MeasurePlan:
    """How far the units of a table reach, and one choice among the candidates."""
    column = next((each.scalar for each in rows.scope.columns if each.name == missing.column), None)
    detail = replace(ladder_of(missing, known), argument=column)
    measure = Measure(f"bound{number}", rows.relation, (), (), details=(detail,))
    choice = DetailPlan(detail, 1, SENSITIVITY, (ChoiceEvent(epsilon),), epsilon=epsilon, choices=1)
    return MeasurePlan(measure, (), PublicKeys(()), Shape.ROWS, _NOTHING, details=(choice,))
