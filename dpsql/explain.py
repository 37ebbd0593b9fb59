"""A Plan in words: what would be released, whose bounds it rests on, with which noise, at what price.

Nothing here reads a row. The SQL shown is the one that the engine would run (never the engine's own
plan, whose estimates are exact table sizes).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dpsql.facts.origin import origins_of
from dpsql.facts.ownership import Owned, ownership_of, pinned_columns
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.bound import Bound
from dpsql.ir.detail import Blocks, Histogram, Matching, Votes
from dpsql.ir.explanation import Explanation
from dpsql.ir.measure import Finish
from dpsql.ir.options import Goal
from dpsql.ir.plan import Findings, Norm, Plan, Planned, PublicKeys, Shape, Threshold
from dpsql.ir.relation import Aggregate, Filter, Join, Project, Relation, Scan, Union, Window
from dpsql.ir.statistic import CELLS, Part, Statistic
from dpsql.ir.table import ReleasedTable
from dpsql.mechanisms import mechanism, prefix
from dpsql.mechanisms.found_range import allowed_outside
from dpsql.plan.plan import KEYS_ALONE
from dpsql.policy.catalogue import Known
from dpsql.policy.found_bounds import with_bounds
from dpsql.post.choices import choice_facts, choice_words
from dpsql.post.finish import finish as finished
from dpsql.rewrite.statistics import bounded_range


def explain(plan: Plan, known: Known, unit: str, sql_of: Callable[[Planned], str]) -> Explanation:
    """All stages of a plan, each with its measures and the SQL above them."""
    known = with_bounds(known, plan.bounds)
    facts: dict[str, Any] = {
        "price": plan.price,
        "steps": list(plan.steps),
        "within": None if plan.goal is None else _within(plan.goal, plan.steps),
        "accountant": plan.accountant,
        "digest": plan.digest,
        "found": [_found(each, unit) for each in plan.bounds if each.found],
        "first": None if plan.first is None else _first(plan.first, unit, sql_of),
        "stages": [
            {
                "measures": [_measure(each, known, unit, sql_of) for each in stage.measures],
                "post": stage.post.sql,
                "public_tables": list(stage.post.tables),
            }
            for stage in plan.stages
        ],
    }
    if plan.first is not None:
        _leave_open(facts)
    return Explanation(_words(facts, unit), facts)


def _found(bound: Bound, unit: str) -> dict[str, Any]:
    lack, day = bound.lack, bound.found.partition("T")[0]
    near = f"most values of most {unit}s lie in [{bound.low:,g}, {bound.high:,g}]"
    if not lack.column:
        near = f"most {unit}s have at most about {bound.high:,g} rows"
    words = f"{lack}: {near}; found privately on {day}, shared by all (epsilon {bound.strength:.3g})"
    return {"of": str(lack), "range": [bound.low, bound.high], "on": day, "words": words}


def _first(first: Findings, unit: str, sql_of: Callable[[Planned], str]) -> dict[str, Any]:
    lacks = [str(each) for each in first.lacks]
    choices = [each.details[0].epsilon for each in first.measures]
    words = (
        f"nobody declared {' or '.join(lacks)}: found first, privately, for epsilon {first.plan.epsilon:g} "
        f"of the price, and public from then on (by the exponential mechanism at {choices[0]:.4g} each; "
        f"about {allowed_outside(choices[0])} {unit}s lie outside of what is found)"
    )
    return {
        "finds": lacks,
        "price": first.plan.epsilon,
        "epsilon_of_each": choices,
        "words": words,
        "sql": [sql_of(each) for each in first.measures],
    }


def _leave_open(facts: dict[str, Any]) -> None:
    """Columns' scales and errors are multiples of bounds that are still to be found: they are not said.

    The measure's own noise, in grid steps, is that of the widest bounds.
    """
    for measure in (each for stage in facts["stages"] for each in stage["measures"]):
        measure["columns"] = [
            {key: column[key] for key in ("name", "aggregate", "type")} | {"open": True}
            for column in measure["columns"]
        ]
        if any(each.startswith("rows_per_unit of ") for each in facts["first"]["finds"]):
            measure |= {"rows_per_unit": None, "rows_per_unit_from": "found first"}


def _measure(each: Planned, known: Known, unit: str, sql_of: Callable[[Planned], str]) -> dict[str, Any]:
    owned = ownership_of(each.measure.relation)
    assert isinstance(owned, Owned)
    noise = each.noise
    return {
        "name": each.measure.name,
        "columns": [_column(finish, each, known) for finish in each.measure.finishes],
        "keys": list(each.measure.titles),
        "key_rule": _rule(each, unit),
        "weights": [float(weight) for weight in each.measure.weights],
        "rows_per_unit": each.rows,
        "rows_per_unit_from": each.rows_from,
        "rows_proved": owned.at_most,
        "relies_on": relies_on(each.measure.relation),
        "bounded_by": _bounded(each, unit),
        "statistics": len(each.measure.statistics),
        "sensitivity": {"norm": noise.norm.name, "steps": noise.sensitivity},
        "mechanism": noise.mechanism,
        "runs": _runs(each),
        "scale_in_steps": noise.scale,
        "sql": sql_of(each),
    }


def _column(finish: Finish, each: Planned, known: Known) -> dict[str, Any]:
    if finish.call.function == "dp_sample":
        return _sampled(finish, each)
    if finish.places:
        return _of_detail(finish, each)
    statistics = [each.measure.statistics[cells[0]] for cells in finish.statistics]
    chosen, cells = mechanism(each.noise.mechanism), max(map(len, finish.statistics), default=1)
    width = chosen.half_width(each.noise.scale)
    if cells > 1:  # nearly normal
        width = 1.96 * chosen.deviation(each.noise.scale) * cells**0.5
    last = statistics[-1]
    found: dict[str, Any] = {
        "name": finish.call.name,
        "aggregate": finish.call.function,
        "type": finish.type.sql,
        "cells": cells,
    }
    if statistics[0].part in CELLS:
        return found | _of_cells(finish, statistics[0], each, known)
    if last.argument is not None and last.part in (Part.VALUE, Part.REST):
        found["bounds"] = [last.low, last.high]
        found["bounds_from"] = [
            _declared(table, column, known)
            for table, column in sorted(origins_of(each.measure.relation, last.argument))
            if _is_bounded(table, column, known)
        ]
    if each.runs is not None:
        variances = prefix.variances(each.runs.branching, each.runs.groups)
        groups, totals = (math.sqrt(each.max()) for each in variances)
        found["scale"] = float(each.noise.scale * groups * last.step)
        found["sensitivity"] = float(each.runs.clip * last.step)
        found["expected_error"] = float(chosen.half_width(each.noise.scale * groups) * last.step)
        found["expected_error_of_totals"] = float(chosen.half_width(each.noise.scale * totals) * last.step)
        return found
    if statistics[0].part is not Part.REST:
        found["scale"] = float(each.noise.scale * last.step)
        found["sensitivity"] = float(each.noise.sensitivity * last.step)
        found["expected_error"] = float(width * last.step)
        return found
    rows = width * 2**0.5 / statistics[0].most
    found["scale"] = float(each.noise.scale * last.step)
    found["sensitivity"] = float(each.noise.sensitivity * last.step)
    if finish.call.function == "count":
        found["expected_error"] = rows
    elif finish.call.function == "sum":
        low, high = abs(float(last.low)), abs(float(last.high))
        found["expected_error"] = float(width / statistics[0].most * (low**2 + high**2) ** 0.5)
    else:
        found["expected_error_at_1000_rows"] = float(rows * (last.high - last.low) / 2**0.5 / 1000)
    return found


def _of_detail(finish: Finish, each: Planned) -> dict[str, Any]:
    planned = each.detail_at(finish.places[0])
    found: dict[str, Any] = {
        "name": finish.call.name,
        "aggregate": finish.call.function,
        "type": finish.type.sql,
        "sensitivity": float(planned.sensitivity),
    }
    if isinstance(planned.detail, Histogram):
        own = fact_of(planned.detail.argument, facts_of(each.measure.relation)).type
        found |= choice_facts(finish, planned, planned.detail, own)
    if isinstance(planned.detail, Votes):
        found |= {"values": len(planned.detail.values), "epsilon_of_a_choice": planned.epsilon}
        found["expected_error_in_rows"] = 3 * planned.rows / planned.epsilon
    if isinstance(planned.detail, Matching):
        found["claimed_per_unit"] = planned.detail.most
    if planned.noise is not None:
        chosen = mechanism(planned.noise.mechanism)
        found["mechanism"] = planned.noise.mechanism
        found["scale"] = planned.noise.scale
        found["expected_error"] = chosen.half_width(planned.noise.scale)
    return found


_EVEN = {Part.BERNSTEIN: (1 / 3, 1 / 3, 1 / 3), Part.LAGRANGE: (1 / 6, 2 / 3, 1 / 6)}
"""Cells of values that are spread evenly over their range."""


def _of_cells(finish: Finish, first: Statistic, each: Planned, known: Known) -> dict[str, Any]:
    """What three or nine cells tell; the error is simulated over 1,000 rows spread evenly over the ranges."""
    axes = [] if first.argument is None else [(first.argument, first.low, first.high)]
    axes += [] if first.other is None else [(first.other.argument, first.other.low, first.other.high)]
    read = [axis for axis in axes if axis[0] in (finish.call.argument, *finish.call.others)] or axes
    sums = np.zeros((1, each.measure.width), dtype=np.int64)
    for position in (position for cells in finish.statistics for position in cells):
        cell = each.measure.statistics[position]
        even = _EVEN[cell.part]
        share = even[cell.cell] if cell.other is None else even[cell.cell // 3] * even[cell.cell % 3]
        sums[0, position] = round(1000 * cell.most * share)
    alone = replace(each, measure=replace(each.measure, finishes=(finish,), other=None))
    margins = finished(ReleasedTable([(None,) * len(each.keys)], sums), alone)[-1].margins
    assert margins is not None
    return {
        "bounds": [end for _, low, high in read for end in (low, high)],
        "bounds_from": [
            _declared(table, column, known)
            for argument, _, _ in read
            for table, column in sorted(origins_of(each.measure.relation, argument))
            if _is_bounded(table, column, known)
        ],
        "scale": float(each.noise.scale / first.most),
        "sensitivity": float(each.noise.sensitivity / first.most),
        "expected_error_at_1000_rows": float(margins[0]),
    }


def _runs(each: Planned) -> str | None:
    if each.runs is None:
        return None
    way = (
        "a falling part of all groups before each"
        if each.runs.branching == prefix.ROOT
        else f"sums of {each.runs.branching} groups, and of {each.runs.branching} such sums"
    )
    return (
        f"of {each.runs.groups} groups in order: {way}, in which one unit counts {each.runs.column} times at "
        "most; the groups are found from these by least squares, since running totals are asked for"
    )


def _sampled(finish: Finish, each: Planned) -> dict[str, Any]:
    planned = each.detail_at(finish.places[0])
    assert isinstance(planned.detail, Blocks)
    return {
        "name": finish.call.name,
        "aggregate": finish.call.function,
        "type": finish.type.sql,
        "blocks": planned.blocks,
        "bounds": [planned.detail.low, planned.detail.high],
        "epsilon": planned.epsilon,
    }


def _is_bounded(table: str, column: str, known: Known) -> bool:
    found = known.table(table)
    facts = [] if found is None else [each.fact for each in found.columns if each.name == column]
    return any(bounded_range(fact) is not None for fact in facts)


def _declared(table: str, column: str, known: Known) -> str:
    found = known.table(table)
    if found is not None and column in found.found:
        return f"{table}.{column} (found privately)"
    line = dict(found.lines).get(column) if found is not None else None
    return f"{table}.{column}" + (f" ({known.policy_name}:{line})" if line else " (its type)")


def _rule(each: Planned, unit: str) -> dict[str, Any]:
    if not each.keys:
        return {"kind": "one row", "words": "no groups: always exactly one row"}
    if isinstance(each.rule, PublicKeys):
        number = len(each.rule.groups())
        return {
            "kind": "public",
            "groups": number,
            "words": f"public keys: all {number} groups appear, empty ones included",
        }
    return {
        "kind": "threshold",
        "units": each.rule.units,
        "words": f"private keys: a group appears when its noisy number of {unit}s reaches "
        f"{each.rule.units:.1f}{_rounds(each)}{_least(each.rule)}{_always(each, each.rule)}",
        "min_units": each.rule.least,
        "rounds": 1 if each.again is None else 2,
    }


def _least(rule: Threshold) -> str:
    """With ``least`` - 1 added to the threshold, so many units pass it as seldom as one would without."""
    return f" (the policy hides groups of fewer than {rule.least})" if rule.least > 1 else ""


def _rounds(each: Planned) -> str:
    if each.again is None or not isinstance(each.again.rule, Threshold):
        return ""
    return f", or {each.again.rule.units:.1f} when those found so are left out"


def _always(each: Planned, rule: Threshold) -> str:
    if each.measure.other is not None:
        return f"; one more row, {each.measure.other.value!r}, is the total less the groups that appear"
    count = 0 if rule.listed is None else len(rule.listed.groups())
    return f"; {count} {'group' if count == 1 else 'groups'} of public grouping sets always" if count else ""


def _bounded(each: Planned, unit: str) -> str:
    if each.shape is Shape.ROWS:
        return f"an enforced key: one {unit} has a bounded number of rows here, nothing is clipped away"
    norm = "sum of absolute values (L1)" if each.bound[0] is Norm.L1 else "Euclidean norm (L2)"
    said = f"a clip of each {unit}'s whole vector, over all groups and columns, in {norm}"
    if each.groups is not None:
        said += f"; a {unit} in more than {each.groups} groups is left out"
    return said


def relies_on(relation: Relation) -> list[str]:
    """Declarations about the data that the guarantee needs: unique keys of tables on a path to the unit."""
    match relation:
        case Scan(table=table, owner=owner, columns=columns):
            if owner is None:
                return []
            found = [f"{link.table}({link.key}) is unique" for link in owner.links]
            if owner.at_most == 1:
                own = next((each.source for each in columns if each.name == owner.name), owner.column)
                found.append(f"{table}({own}) is unique")
            return found
        case Filter(input=source) | Project(input=source) | Aggregate(input=source) | Window(input=source):
            return relies_on(source)
        case Join(_, left, right, condition):
            sides = relies_on(left) + relies_on(right)
            for side, other in ((left, right), (right, left)):
                owned = ownership_of(side)
                units = owned.units if isinstance(owned, Owned) else frozenset()
                sides += _keys_matched(side, pinned_columns(side, other, condition) | units)
            return list(dict.fromkeys(sides))
        case Union(left, right):
            return list(dict.fromkeys(relies_on(left) + relies_on(right)))
        case _:
            return []


def _keys_matched(side: Relation, pinned: frozenset[str]) -> list[str]:
    """The declared keys of one side of a join that its condition matches: one row there for each here."""
    match side:
        case Scan(table=table, columns=columns, keys=keys):
            source = {each.name: each.source for each in columns}
            matched = [key for key in keys if frozenset(key) <= pinned]
            return [f"{table}({', '.join(source[name] for name in key)}) is unique" for key in matched]
        case Filter(input=inner):
            return _keys_matched(inner, pinned)
        case Join(_, left, right):
            return _keys_matched(left, pinned) + _keys_matched(right, pinned)
        case _:
            return []


def _within(goal: Goal, steps: tuple[float, ...]) -> str:
    if not steps:
        return f"{goal}: the least price that keeps every number there"
    return (
        f"{goal}: in at most {len(steps)} steps, each paid before it is read, from epsilon {steps[0]:g} to "
        f"{steps[-1]:g}, until every number is there"
    )


def _words(facts: dict[str, Any], unit: str) -> str:
    price = facts["price"]
    most = "at most " if facts["steps"] else ""
    said = f"price     {most}epsilon {price:g} under {facts['accountant']}"
    lines = [said if price else "price     nothing"]
    lines += [f"found     {each['words']}" for each in facts["found"]]
    if facts["first"] is not None:
        lines += [f"first     {facts['first']['words']}", *(_indented(sql) for sql in facts["first"]["sql"])]
    if facts["within"] is not None:
        lines.append(f"within    {facts['within']}")
    for number, stage in enumerate(facts["stages"], 1):
        for measure in stage["measures"]:
            lines += _measure_words(number, measure, unit)
        lines += [
            f"post      stage {number}, over released and public tables only:",
            _indented(stage["post"]),
        ]
    return "\n".join(lines)


def _measure_words(number: int, measure: dict[str, Any], unit: str) -> list[str]:
    rows = measure["rows_per_unit"]
    lines = [
        f"release   {measure['name']} (stage {number})",
        f"  keys        {', '.join(measure['keys']) or 'none'}; {measure['key_rule']['words']}",
    ]
    if measure["statistics"]:
        lines.append(f"  bounded by  {measure['bounded_by']}")
    if measure["rows_per_unit_from"] == KEYS_ALONE:
        lines.append(f"  votes       a {unit} has one vote, spread over the groups that it is in")
    elif measure["statistics"] and measure["rows_proved"] is None:
        many = f"more than about {rows} rows" if rows else "more rows than are found first"
        lines.append(
            f"  clip bias   a {unit} with {many} is scaled down; margins do not show it "
            f"({measure['rows_per_unit_from']})"
        )
    if measure["weights"]:
        lines.append(f"  weights     {', '.join(f'{each:g}' for each in measure['weights'])}, from the query")
    for each in measure["relies_on"]:
        lines.append(f"  relies on   {each} (declared, and verified for this version of the data)")
    if measure["statistics"]:
        lines.append(
            f"  noise       {measure['mechanism']}, scale {measure['scale_in_steps']:.6g} grid steps for a "
            f"sensitivity of {measure['sensitivity']['steps']:,} steps in {measure['sensitivity']['norm']}"
        )
    if measure["runs"] is not None:
        lines.append(f"  instead     {measure['runs']}")
    for column in measure["columns"]:
        lines.append(f"  {column['aggregate']:<10}  {_column_words(column, unit)}")
    lines += ["  sql", _indented(measure["sql"], 4)] if measure["sql"] else ["  reads no private row"]
    return lines


def _column_words(column: dict[str, Any], unit: str) -> str:
    if "blocks" in column:
        low, high = column["bounds"]
        return (
            f"{column['name']} {column['type']}; the median over {column['blocks']} blocks of {unit}s, each "
            f"held in [{low:g}, {high:g}], chosen with epsilon {column['epsilon']:.4g}; a block's value is "
            "not that of all rows, the less the smaller it is: no margin shows that"
        )
    parts = [f"{column['name']} {column['type']}"]
    if column.get("open"):
        return f"{parts[0]}; how exactly depends on what is found first"
    if "bins" in column or "values" in column:
        return "; ".join([*parts, *choice_words(column, unit)])
    if column.get("cells", 1) > 1:
        parts.append(f"the sum of {column['cells']} cells that share no row")
    if "bounds" in column:
        ends = column["bounds"]
        ranges = " and ".join(f"[{low:g}, {high:g}]" for low, high in zip(ends[::2], ends[1::2], strict=True))
        parts.append(f"values clamped to {ranges} from {', '.join(column['bounds_from']) or 'the query'}")
    if "claimed_per_unit" in column:
        parts.append(f"one {unit} may claim {column['claimed_per_unit']} values that no other has claimed")
    if "mechanism" in column:
        parts.append(column["mechanism"])
    parts.append(f"sensitivity {column['sensitivity']:.6g}, scale {column['scale']:.6g}")
    if "expected_error" in column:
        parts.append(f"expected within ± {column['expected_error']:.4g} (95 %)")
    else:
        parts.append(f"expected within ± {column['expected_error_at_1000_rows']:.4g} (95 %) over 1,000 rows")
    if "expected_error_of_totals" in column:
        parts.append(f"running totals within ± {column['expected_error_of_totals']:.4g}")
    return "; ".join(parts)


def _indented(sql: str, by: int = 2) -> str:
    return " " * by + sql
