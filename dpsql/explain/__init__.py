"""Explanation of a Plan: what would be released, from which declared bounds, with which noise and price.

Nothing here reads a row. The SQL shown is what the engine would run. The engine's own query plan is never
shown, because its estimates are exact table sizes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from dpsql.explain.alerts import alert_facts
from dpsql.explain.doubts import doubts_of
from dpsql.explain.measures import measure_facts
from dpsql.explain.words import words
from dpsql.ir.bound import Bound, MissingClip
from dpsql.ir.explanation import Explanation
from dpsql.ir.options import Goal
from dpsql.ir.plan import BoundSearchPlan, MeasurePlan, Plan
from dpsql.ir.price import Expected
from dpsql.mechanisms.found_range import few_units
from dpsql.plan.blocks import blocks_read
from dpsql.plan.bound_search import again_above
from dpsql.plan.clip_search import units_needed as units_of_clip
from dpsql.policy.catalogue import Known
from dpsql.policy.found_bounds import with_bounds

Tighter: TypeAlias = Mapping[tuple[str, str], Mapping[str, Any]]
"""Expressions that make outputs less noisy, by the names of the measure and of its output."""


def explain(
    plan: Plan,
    known: Known,
    unit: str,
    sql_of: Callable[[MeasurePlan], str],
    tighter: Tighter = MappingProxyType({}),
) -> Explanation:
    """Explain all stages of a plan, each with its measures and the SQL above them."""
    known = with_bounds(known, plan.bounds)
    facts: dict[str, Any] = {
        "price": plan.price,
        "steps": list(plan.steps),
        "within": None if plan.goal is None else _within(plan.goal, plan.steps),
        "accountant": plan.accountant,
        "pays_in": _pays_in(plan, known),
        "digest": plan.digest,
        "found": [_found(bound, unit) for bound in plan.bounds if bound.found],
        "first": None if plan.first is None else _first(plan.first, unit, sql_of),
        "alert": None if plan.alert is None else alert_facts(plan, known, unit, sql_of),
        "doubts": [
            {"nothing": doubt.nothing, "unmet": doubt.unmet, "words": said}
            for said, doubt in {doubt.said: doubt for doubt in doubts_of(plan, known)}.items()
        ],
        "stages": [
            {
                "measures": [measure_facts(measure, known, unit, sql_of) for measure in stage.measures],
                "post": stage.post.sql,
                "public_tables": list(stage.post.tables),
            }
            for stage in plan.stages
        ],
    }
    for measure in (measure for stage in facts["stages"] for measure in stage["measures"]):
        for column in measure["columns"]:
            if (advice := tighter.get((measure["name"], column["name"]))) is not None:
                column["tighter"] = advice
    if plan.first is not None:
        _leave_open(facts)
    return Explanation(words(facts, unit), facts)


def _pays_in(plan: Plan, known: Known) -> str | None:
    """Say in which blocks of units a plan and its bound search are paid."""
    if known.blocks is None or not (plan.events or plan.first):
        return None
    read = blocks_read(plan, known.blocks)
    if plan.first is not None:
        found = blocks_read(plan.first.plan, known.blocks)
        if found != read:
            return f"{known.blocks.told(read)}; what is found first, in {known.blocks.told(found)}"
    return known.blocks.told(read)


def expected(facts: Mapping[str, Any]) -> tuple[Expected, ...]:
    """Return the expected error of each aggregate, from the facts of an explanation."""
    errors = []
    for stage in facts["stages"]:
        called = _called(stage["post"])
        for measure in stage["measures"]:
            for column in measure["columns"]:
                error, rows = column.get("expected_error"), None
                if error is None and "expected_error_at_1000_rows" in column:
                    error, rows = column["expected_error_at_1000_rows"], 1000
                name = called.get((measure["name"], column["name"]), column["name"])
                places = column.get("expected_error_in_rows")
                errors.append(Expected(name, column["aggregate"], error, rows, places))
    return tuple(errors)


def units_needed(facts: Mapping[str, Any]) -> float | None:
    """Return the threshold in units of groups with private keys; None if all groups are shown."""
    rules = [measure["key_rule"] for stage in facts["stages"] for measure in stage["measures"]]
    return max((rule["units"] for rule in rules if rule["kind"] == "threshold"), default=None)


_NAME = r'"((?:[^"]|"")*)"'
_CALLED = re.compile(rf"{_NAME}\.{_NAME} AS {_NAME}")


def _called(sql: str) -> dict[tuple[str, str], str]:
    """Return the query's names of released columns, read from the SQL above the release."""
    names_of: dict[tuple[str, str], str] = {}
    for names in _CALLED.findall(sql):
        release, column, name = (text.replace('""', '"') for text in names)
        names_of.setdefault((release, column), name)
    return names_of


def _found(bound: Bound, unit: str) -> dict[str, Any]:
    missing, day = bound.missing, bound.found.partition("T")[0]
    if isinstance(missing, MissingClip):
        return _found_clip(bound, missing, unit)
    near = f"most values of most {unit}s lie in [{bound.low:,g}, {bound.high:,g}]"
    if not missing.column:
        near = f"most {unit}s have at most about {bound.high:,g} rows"
    words = f"{missing}: {near}; found privately on {day}, shared by all (epsilon {bound.strength:.3g})"
    if not bound.is_known:
        words = (
            f"{missing}: too few {unit}s to find it privately on {day} (epsilon {bound.strength:.3g}); "
            f"the widest there could be, [{bound.low:,g}, {bound.high:,g}], stands in; a price above "
            f"{again_above(bound):g} looks again"
        )
    return {"of": str(missing), "range": [bound.low, bound.high], "on": day, "words": words}


def _found_clip(bound: Bound, missing: MissingClip, unit: str) -> dict[str, Any]:
    day, rows = bound.found.partition("T")[0], bound.high / missing.one
    words = (
        f"{missing}: {rows:,.3g} times the most of one row; chosen privately on {day}, shared by all who ask "
        f"for the same sums at a like price (epsilon {bound.strength:.3g})"
    )
    if not bound.is_known:
        words = (
            f"{missing}: too few {unit}s to choose it privately on {day} (epsilon {bound.strength:.3g}); "
            f"{rows:,.3g} times the most of one row stands in; a price of {again_above(bound):g} looks again"
        )
    return {"of": str(missing), "range": [0, rows], "on": day, "words": words}


def _first(first: BoundSearchPlan, unit: str, sql_of: Callable[[MeasurePlan], str]) -> dict[str, Any]:
    named = [str(bound) for bound in first.missing_bounds]
    choices = [measure.details[0].epsilon for measure in first.measures]
    words = _first_words(first, named, choices, unit)
    return {
        "finds": named,
        "price": first.plan.epsilon,
        "epsilon_of_each": choices,
        "words": words,
        "sql": [sql_of(measure) for measure in first.measures],
    }


def _first_words(first: BoundSearchPlan, named: list[str], choices: list[float], unit: str) -> str:
    clips = [missing for missing in first.missing_bounds if isinstance(missing, MissingClip)]
    if clips:
        least = max(units_of_clip(missing, choices[0]) for missing in clips)
        return (
            f"the query asks for a clip that fits it: {' and '.join(named)} is chosen first, privately, for "
            f"epsilon {first.plan.epsilon:g} of the price, and public from then on (by the exponential "
            f"mechanism at {choices[0]:.4g} each; with fewer than about {least:,} {unit}s nothing is chosen)"
        )
    return (
        f"nobody declared {' or '.join(named)}: found first, privately, for epsilon {first.plan.epsilon:g} "
        f"of the price, and public from then on (by the exponential mechanism at {choices[0]:.4g} each; "
        f"with fewer than about {few_units(choices[0]):,} {unit}s it may be far off, or too few to find it)"
    )


def _leave_open(facts: dict[str, Any]) -> None:
    """Remove scales and errors of columns: they are multiples of bounds that are still to be found.

    The noise of the measure, in grid steps, is computed with the widest bounds.
    """
    for measure in (facts_of for stage in facts["stages"] for facts_of in stage["measures"]):
        measure["columns"] = [
            {key: column[key] for key in ("name", "aggregate", "type")} | {"open": True}
            for column in measure["columns"]
        ]
        if any(bound.startswith("rows_per_unit of ") for bound in facts["first"]["finds"]):
            measure |= {"rows_per_unit": None, "rows_per_unit_from": "found first"}
        if measure["fitted"] is not None:
            measure["fitted"] = "chosen first"


def _within(goal: Goal, steps: tuple[float, ...]) -> str:
    if not steps:
        return f"{goal}: the least price that keeps every number there"
    return (
        f"{goal}: in at most {len(steps)} steps, each paid before it is read, from epsilon {steps[0]:g} to "
        f"{steps[-1]:g}, until every number is there"
    )
