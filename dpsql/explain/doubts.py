"""What an answer could not show at its price, as far as the query, the policy and the price tell.

    [unit] about = 30_000
    GROUP BY url                  a group needs 37,200 users: nothing can show
    GROUP BY device_model         a group needs 5,900 users: hardly anything can
    GROUP BY address              in a range of four billion values: hardly any is shared by 270 users
    ... LIMIT 10 OFFSET 1000      1,001 groups of 270 users each: hardly so many show
    WHERE user_id = 17            the conditions leave one user: no group can show, no number tells anything
    AVG(seconds), in [0, 300]     expected within +- 4,000, even over all rows: it tells nothing
    WHERE sex = 'female'          sex is one of 'F', 'M': no declared value meets it

``about`` is a number that the owner says, for this purpose alone: no noise, clip or threshold depends on it.
A group or a number is given the benefit of the doubt: that all units have it, with all the rows that count.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dpsql.explain.columns import column_facts
from dpsql.facts.never_met import never_met
from dpsql.facts.origin import origins_of
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.schema import facts_of
from dpsql.facts.units_met import units_met
from dpsql.functions.core.literals import literal_sql
from dpsql.ir.bound import MissingBound
from dpsql.ir.column import VARCHAR, Categories, Interval, Kind, as_text
from dpsql.ir.measure import Finish
from dpsql.ir.plan import MeasurePlan, Plan, PublicKeys, Threshold
from dpsql.ir.relation import Relation
from dpsql.ir.scalar import Call, Literal, Ref, Scalar, refs
from dpsql.lazy_dataclass import dataclass
from dpsql.policy.catalogue import Known

HARDLY = 10
"""A threshold of more than such a part of all units is one that few groups reach."""

_FEW = 10
"""The most values of a column that are said."""

_OFFSET = re.compile(r" OFFSET (\d+)$")
_PLAIN = ("count", "count_units", "sum", "avg")


@dataclass(frozen=True, slots=True)
class Doubt:
    """What a measure could not show. ``nothing``: not even with all units; else hardly.

    ``beside`` says it beside the threshold, in a note. ``unmet`` is a doubt about conditions, at any price.
    """

    measure: MeasurePlan
    nothing: bool
    said: str
    beside: str
    unmet: bool = False


def doubts_of(plan: Plan, known: Known) -> tuple[Doubt, ...]:
    """Return what the answer could not show."""
    return tuple(_of_conditions(plan)) or (_of_price(plan, known) if plan.events else ())


def _of_conditions(plan: Plan) -> Iterator[Doubt]:
    """Doubt measures of which no declared value meets the conditions; they are answered all the same."""
    for planned in plan.measures:
        found = never_met(planned.measure.relation)
        if found is not None:
            relation, condition = found
            declared = filter(
                None, (_declared(relation, condition, name) for name in sorted(refs(condition)))
            )
            words = ("no declared value meets the conditions", ", and ".join(declared))
            said = ": ".join(filter(None, words))
            yield Doubt(planned, False, said, said, unmet=True)
        elif planned.has_no_group:
            said = "the conditions leave no combination of the keys' values"
            yield Doubt(planned, False, said, said, unmet=True)


def _asks_for_null(condition: Scalar, name: str) -> bool:
    match condition:
        case Call("and" | "or", parts):
            return any(_asks_for_null(part, name) for part in parts)
        case _:
            return condition == Call("is_null", (Ref(name),))


def _declared(relation: Relation, condition: Scalar, name: str) -> str | None:
    """Say which values a column has; None of a column that is computed, or of any value."""
    fact, columns = facts_of(relation)[name], {column for _, column in origins_of(relation, Ref(name))}
    if len(columns) != 1:
        return None
    if _asks_for_null(condition, name):
        return f"{columns.pop()} is never NULL in the rows that count"
    match fact.domain:
        case Categories(values) if values:
            shown = VARCHAR if fact.type.kind is Kind.TEXT else fact.type
            few = [literal_sql(Literal(value, shown)) for value in values[:_FEW]]
            return f"{columns.pop()} is one of {', '.join(few)}{', ...' if len(values) > _FEW else ''}"
        case Interval(low, high):
            return f"{columns.pop()} is from {as_text(low, fact.type)} to {as_text(high, fact.type)}"
        case _:
            return None


def _of_price(plan: Plan, known: Known) -> tuple[Doubt, ...]:
    """Return what the price keeps from showing; () if the policy says nothing of how many units there are."""
    if known.units is None:
        return ()
    unsaid = [] if plan.first is None else plan.first.missing_bounds
    if not all(isinstance(missing, MissingBound) and missing.column for missing in unsaid):
        return ()  # the threshold, and every error, depend on the rows per unit that is still to be found
    found = not unsaid
    doubts = [doubt for measure in plan.measures for doubt in _doubts(measure, known, known.units, found)]
    return (*doubts, *_of_offset(plan, known, known.units))


def units_needed_of(planned: MeasurePlan) -> float | None:
    """Return the noisy count of units from which a group is shown, in the round that asks less."""
    rules = [planned.rule, *([] if planned.again is None else [planned.again.rule])]
    return min((rule.units for rule in rules if isinstance(rule, Threshold)), default=None)


def _doubts(planned: MeasurePlan, known: Known, about: int, found: bool) -> Iterator[Doubt]:
    """Yield the doubt about a measure's groups, and those about its numbers."""
    needed, left = units_needed_of(planned), units_met(planned.measure.relation)
    there = f"there are about {about:,} in all"
    if left is not None and left < about:
        about, there = max(1, left), f"the conditions leave {left:,} at most"
    if needed is not None and needed * HARDLY > about:
        said = f"a group shows from {needed:,.0f} {known.unit}s on, and {there}"
        beside = f"{there.replace(' in all', f' {known.unit}s in all')}: few groups can reach it"
        yield Doubt(planned, needed > about and not _always_shows(planned), said, beside)
    elif needed is not None and (values := _most_values(planned)) > about * _rows(planned):
        said = (
            f"a group shows from {needed:,.0f} {known.unit}s on, and a key is in a range of {values:,} values"
        )
        few = f"more than all {known.unit}s have rows that count"
        yield Doubt(planned, False, f"{said}, {few}", f"a key is in a range of {values:,} values, {few}")
    if found:
        over = "even over all rows" if there.endswith("in all") else f"even over all rows, as {there}"
        doubts = [_of_number(finish, planned, known, about, over) for finish in planned.measure.finishes]
        nothing = needed is None and all(doubt is not None and doubt.nothing for doubt in doubts)
        for doubt in doubts:
            if doubt is not None:
                yield replace(doubt, nothing=nothing)


def _most_values(planned: MeasurePlan) -> int:
    """Return the most whole numbers or days that a declared range of a key has; 0 if there is none."""
    ranges = [
        column.fact.domain for column in planned.keys if column.fact.type.kind in (Kind.INTEGER, Kind.DATE)
    ]
    sizes = [each.high - each.low + 1 for each in ranges if isinstance(each, Interval) and each.finite]
    return max((math.floor(size) for size in sizes), default=0)


def _of_offset(plan: Plan, known: Known, about: int) -> Iterator[Doubt]:
    """Doubt that so many groups show that some are left after OFFSET, if nothing but one release is read."""
    stage = plan.stages[-1]
    post, found = stage.post, _OFFSET.search(stage.post.sql)
    alone = len(stage.measures) == len(post.released) == 1 and not post.tables
    if found is None or not alone or post.sql.count(" FROM ") > 1 or "unnest" in post.sql.casefold():
        return
    (planned,), offset = stage.measures, int(found[1])
    needed = units_needed_of(planned)
    if needed is None:
        groups = sum(planned.rule.sizes().values()) if isinstance(planned.rule, PublicKeys) else 1
        if groups <= offset:
            said = f"OFFSET {offset:,} leaves nothing of {groups:,} groups"
            yield Doubt(planned, True, said, said)
    elif needed * (offset + 1) * HARDLY > about and not _always_shows(planned):
        many = f"{offset + 1:,} groups have {needed:,.0f} {known.unit}s each"
        said = f"OFFSET {offset:,} shows something only if {many}, and there are about {about:,} in all"
        yield Doubt(planned, False, said, said)


def _always_shows(planned: MeasurePlan) -> bool:
    """Whether some groups appear whatever the threshold is: listed grouping sets, or the rest of all."""
    rule = planned.rule
    listed = isinstance(rule, Threshold) and rule.listed is not None
    return listed or planned.measure.other is not None


def _of_number(finish: Finish, planned: MeasurePlan, known: Known, about: int, over: str) -> Doubt | None:
    """Doubt a number whose expected error is more than how far it could be off at all."""
    counts = finish.call.function in ("count", "count_units")
    if finish.call.function not in _PLAIN or (counts and isinstance(planned.rule, Threshold)):
        return None  # a group that shows has more units than the noise is wide
    facts = column_facts(finish, planned, known)
    rows = about * _rows(planned)
    error, reach = error_over(facts, rows), reach_of(facts, about, rows)
    if error is None or reach is None or reach <= 0:
        return None
    called = finish.call.function.upper().replace("COUNT_UNITS", "COUNT")
    if error * HARDLY > reach:
        said = _far(called, error, reach, over)
        return Doubt(planned, error > reach, said, said)
    groups = _groups(planned)
    if facts["aggregate"] == "avg":
        error *= groups
    else:
        reach /= groups
    if error > reach:
        said = _far(called, error, reach, f"in one of {groups:,} groups of equal size")
        return Doubt(planned, False, said, said)
    return None


def _far(called: str, error: float, reach: float, where: str) -> str:
    error_said, reach_said = _digits(error), _digits(reach)
    return f"{called} is expected within ± {error_said} {where}, and its values span {reach_said} at most"


def _digits(number: float) -> str:
    return f"{number:,.0f}" if number >= 1000 else f"{number:.3g}"


def _rows(planned: MeasurePlan) -> int:
    """Return how many rows of a unit count in full, in all groups together."""
    owned = ownership_of(planned.measure.relation)
    assert isinstance(owned, Owned)
    return max(1, planned.rows or owned.at_most or owned.rows or 1)


def _groups(planned: MeasurePlan) -> int:
    """Return the number of groups of the grouping set with the fewest; 1 if it is not public."""
    return max(1, min(planned.rule.sizes().values())) if isinstance(planned.rule, PublicKeys) else 1


def error_over(facts: dict[str, Any], rows: int) -> float | None:
    """Return the expected error of a number over so many rows."""
    if "expected_error" in facts:
        return float(facts["expected_error"])
    if "expected_error_at_1000_rows" in facts and facts["aggregate"] == "avg":
        return float(facts["expected_error_at_1000_rows"]) * 1000 / rows
    return None


def reach_of(facts: dict[str, Any], about: int, rows: int) -> float | None:
    """Return the width of the range that a number is in if the declarations hold; None if it is not known."""
    match facts["aggregate"]:
        case "count_units":
            return about
        case "count":
            return rows
        case "avg" if "bounds" in facts:
            low, high = facts["bounds"]
            return float(high) - float(low)
        case "sum" if "bounds" in facts:
            low, high = facts["bounds"]
            return rows * (max(float(high), 0.0) - min(float(low), 0.0))
        case _:
            return None
