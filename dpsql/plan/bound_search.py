"""Plans that search for bounds that nobody declares: a column's range, rows per unit, the clip of a query.

    SUM(cost), no range of cost is declared

    first    the extent of every unit's costs in all of visits: one choice among ranges, for a fifth of
             the price; the found range is public from then on, for every query of every analyst
    then     the SUM, clamped to it, for the rest of the price

A search reads the whole table, whatever the query selects, so that its bound serves later queries too; that
of a clip reads what the query reads (plan/clip_search.py), once all other bounds are found. Any bound keeps
privacy: only accuracy depends on it. Until a bound is found, the query is planned with the widest candidate,
so that a refusal comes before anything is paid.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from dpsql.bind.scope.scope import Fresh
from dpsql.bind.scope.sources import Private, scan
from dpsql.facts.missing_bounds import all_missing_bounds
from dpsql.ir.bound import Bound, Missing, MissingBound, MissingClip
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
from dpsql.plan.clip_search import SHARE as CLIP_SHARE
from dpsql.plan.clip_search import clip_of, search_of, widest_clip
from dpsql.plan.terms import Terms
from dpsql.plan.written_form import written
from dpsql.policy.catalogue import Known

SHARE = Fraction(1, 5)
"""Share of a query's price for all its searches of ranges and rows together."""

_NOTHING = Noise("laplace", Norm.L1, 0, 1.0, LaplaceEvent(0, 1.0))
_NOWHERE = Post("", (), (), (), ())

_WHOLE = 58
_REAL = (-10, 48)
_ROWS = 13


def ladder_of(missing: MissingBound, known: Known) -> BoundSearch:
    """Return the candidate limits of a bound: the range of the type, within reason."""
    if not missing.column:
        return BoundSearch(None, 0, _ROWS, False)
    table = known.table(missing.table)
    assert table is not None
    fact = next(column.fact for column in table.columns if column.name == missing.column)
    return BoundSearch(None, *_octaves(fact), signed=fact.type.kind is not Kind.INTEGER or _signed(fact))


def _octaves(fact: Fact) -> tuple[int, int]:
    match fact.type.kind:
        case Kind.INTEGER:
            return 0, min(_WHOLE, int(type_range(fact.type).high).bit_length())
        case Kind.DECIMAL:
            width, scale = decimal_size(fact.type)
            first, last = -math.ceil(scale * math.log2(10)), math.ceil((width - scale) * math.log2(10))
            if first + _WHOLE < 0:  # so many decimal places that no range would reach 1
                return _REAL[0], min(_REAL[1], last)
            return first, min(first + _WHOLE, last)
        case _:
            return _REAL


def _signed(fact: Fact) -> bool:
    return type_range(fact.type).low < 0


def name_of(missing: Missing, known: Known) -> str:
    """Return the ledger's name of a bound: its table and column, its candidates, and what it rests on."""
    if isinstance(missing, MissingClip):
        return missing.name
    ladder, table = ladder_of(missing, known), known.table(missing.table)
    assert table is not None
    mark = dict(table.marks).get(missing.column, "")
    return f"{missing}: {ladder.first}..{ladder.last}{' signed' if ladder.signed else ''} or nothing{mark}"


def bound_of(missing: Missing, known: Known, place: int, time: str) -> Bound:
    """Return the candidate at a place; past the last one nothing was found, and the widest is used."""
    if isinstance(missing, MissingClip):
        return clip_of(missing, place, time)
    candidates = ranges(ladder_of(missing, known))
    is_known = place < len(candidates)
    low, high = candidates[max(0, min(place, len(candidates) - 1))]
    if _is_whole(missing, known):
        return Bound(missing, math.ceil(low), math.floor(high), time, is_known=is_known)
    return Bound(missing, float(low), float(high), time, is_known=is_known)


def widest(missing: Missing, known: Known) -> Bound:
    """Return the widest candidate, which asks most of a plan."""
    if isinstance(missing, MissingClip):
        return widest_clip(missing)
    return bound_of(missing, known, len(ranges(ladder_of(missing, known))) - 1, "")


def _is_whole(missing: MissingBound, known: Known) -> bool:
    table = known.table(missing.table)
    assert table is not None
    facts = [column.fact for column in table.columns if column.name == missing.column]
    return not facts or facts[0].type.kind is Kind.INTEGER


def asker_of(source: Source, epsilon: float, kind: type[Missing]) -> str:
    """Return a digest of a query at a price, the same for any spacing: a repeat uses what it paid for."""
    of_clip = ["clip"] if kind is MissingClip else []
    text = "\n".join([repr(epsilon), repr(source.parameters), alike(source.text), *of_clip])
    return hashlib.sha256(text.encode()).hexdigest()


def good_enough(bounds: Sequence[Bound], asker: str, terms: Terms) -> Bound | None:
    """Return the bound that a query uses: its own, or the oldest that was found at half its price or more.

    A bound found at a small price serves small prices only, so a cheap search cannot spoil later queries.
    The comparison is of prices, not of the epsilons of the searches, which depend on how many bounds were
    found together. Taking the oldest gives every repeat the same bound. The name of a clip has the octave of
    the price.
    """
    paid = next((bound for bound in bounds if bound.asker == asker), None)
    return paid or next((bound for bound in bounds if _serves(bound, terms.epsilon)), None)


def _serves(bound: Bound, epsilon: float) -> bool:
    return isinstance(bound.missing, MissingClip) or part_of(epsilon, SHARE) <= 2 * bound.paid


def again_above(bound: Bound) -> float:
    """Return the highest price at which a bound is good enough."""
    if isinstance(bound.missing, MissingClip):  # it is used for prices of its own octave
        return float(2 ** (math.floor(math.log2(Fraction(bound.paid) / CLIP_SHARE)) + 1))
    return float(2 * Fraction(bound.paid) / SHARE)


def part_of(epsilon: float, share: Fraction) -> float:
    """Return the part of a price that pays for all bound searches of a query."""
    return float(Fraction(epsilon) * share)


def share_of(kind: type[Missing]) -> Fraction:
    """Return the share of a price for all searches of one kind."""
    return CLIP_SHARE if kind is MissingClip else SHARE


def bound_search_plan(
    missing_bounds: Sequence[Missing], known: Known, source: Source, terms: Terms
) -> BoundSearchPlan:
    """Return the plan that searches these bounds, all of one kind, for a query at this price."""
    accountant, epsilon, kind = terms.accountant, terms.epsilon, type(missing_bounds[0])
    asker, whole = asker_of(source, epsilon, kind), share_of(kind)
    share = whole / len(missing_bounds)
    choice = accountant.allowance(epsilon, terms.budget, share, thresholds=False).choice
    measures, names = (
        _measures(missing_bounds, known, choice),
        tuple(name_of(missing, known) for missing in missing_bounds),
    )
    details = [written(measure.details) for measure in measures]
    parts = ["bounds", accountant.name, written(epsilon), asker, *names, *details]
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    text = f"/* finds {', '.join(map(str, missing_bounds))} */ {source.text}"
    stage = StagePlan(measures, _NOWHERE)
    plan = Plan(replace(source, text=text), (stage,), part_of(epsilon, whole), accountant.name, digest)
    return BoundSearchPlan(plan, tuple(missing_bounds), names, asker)


def plan_again(names: Sequence[str], known: Known, strength: float, own: Iterable[Missing]) -> Plan | None:
    """Plan interrupted searches for named bounds, each at that epsilon; None if a name is unknown now.

    Clips are known where they are the query's ``own``.
    """
    missing_bounds = {name_of(missing, known): missing for missing in (*all_missing_bounds(known), *own)}
    if not all(name in missing_bounds for name in names):
        return None
    measures = _measures([missing_bounds[name] for name in names], known, strength)
    return Plan(Source(""), (StagePlan(measures, _NOWHERE),), 0.0, "", "")


def _measures(missing_bounds: Sequence[Missing], known: Known, choice: float) -> tuple[MeasurePlan, ...]:
    names = dict.fromkeys(each.table for each in missing_bounds if isinstance(each, MissingBound))
    rows = {name: _rows(name, known) for name in names}
    return tuple(
        search_of(missing, choice, number)
        if isinstance(missing, MissingClip)
        else _search(missing, rows[missing.table], known, choice, number)
        for number, missing in enumerate(missing_bounds)
    )


def _rows(name: str, known: Known) -> Private:
    """Return a table with all its columns: who completes another's search may not see every one."""
    table = known.table(name)
    assert table is not None
    return scan(replace(table, unseen=frozenset()), known, "t", Fresh(set()), None)


def _search(missing: MissingBound, rows: Private, known: Known, epsilon: float, number: int) -> MeasurePlan:
    """Plan the extent of each unit's values, and one choice among the candidates."""
    scalars = {column.name: column.scalar for column in rows.scope.columns}
    scalar = scalars[missing.column] if missing.column else None
    detail = replace(ladder_of(missing, known), argument=scalar)
    measure = Measure(f"bound{number}", rows.relation, (), (), details=(detail,))
    choice = DetailPlan(detail, 1, SENSITIVITY, (ChoiceEvent(epsilon),), epsilon=epsilon, choices=1)
    return MeasurePlan(measure, (), PublicKeys(()), Shape.ROWS, _NOTHING, details=(choice,))
