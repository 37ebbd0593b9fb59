"""Facts on a planned measure: its keys, its clip, its noise, and the declarations that its privacy needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from dpsql.explain.columns import bounds_from, column_facts
from dpsql.explain.public_spellings import spellings
from dpsql.facts.list_items import items_counted
from dpsql.facts.ownership import Owned, ownership_of, pinned_columns
from dpsql.facts.ties import ties_of
from dpsql.ir.plan import MeasurePlan, Norm, PublicKeys, Shape, Threshold
from dpsql.ir.relation import Aggregate, Filter, Join, Project, Relation, Scan, Union, Window, names_of
from dpsql.ir.synthetic import SyntheticRows
from dpsql.mechanisms import prefix
from dpsql.plan.multiplied_rows import limit_of_rows
from dpsql.policy.catalogue import Known
from dpsql.render.english import one


def measure_facts(
    planned: MeasurePlan, known: Known, unit: str, sql_of: Callable[[MeasurePlan], str]
) -> dict[str, Any]:
    owned = ownership_of(planned.measure.relation)
    assert isinstance(owned, Owned)
    noise, told = planned.noise, bounds_from(known)
    return {
        "name": planned.measure.name,
        "columns": [column_facts(finish, planned, known, told) for finish in planned.measure.finishes],
        "model": _model(planned),
        "keys": list(planned.measure.titles),
        "key_rule": _rule(planned, known),
        "weights": [float(weight) for weight in planned.measure.weights],
        "rows_per_unit": planned.rows,
        "rows_per_unit_from": planned.rows_from,
        "fitted": planned.fitted,
        "once_in_a_group": planned.once,
        "rows_proved": owned.at_most,
        "multiplied": limit_of_rows(planned, unit),
        "items_of_lists": list(items_counted(planned.measure.relation)),
        "relies_on": _declared(relies_on(planned.measure.relation), known),
        "ties": list(ties_of(planned.measure.relation)),
        "bounded_by": _bounded(planned, unit),
        "statistics": len(planned.measure.statistics),
        "sensitivity": {"norm": noise.norm.name, "steps": noise.sensitivity},
        "mechanism": noise.mechanism,
        "runs": _instead(planned),
        "scale_in_steps": noise.scale,
        "sql": sql_of(planned),
    }


def _model(planned: MeasurePlan) -> dict[str, Any] | None:
    """Return the fit that the columns are for."""
    model = planned.measure.model
    if model is None:
        return None
    return {
        "fit": model.fit.name.lower(),
        "terms": [term.name for term in model.terms],
        "sums": len(planned.measure.finishes),
        "step": len(model.before) + 1,
    }


def _instead(planned: MeasurePlan) -> str | None:
    """Return words on what is measured in place of the numbers."""
    if planned.joint is not None:
        applied = planned.joint.applied
        return (
            f"of {len(planned.joint.rows)} numbers: {applied.strategy.numbers} sums of the "
            f"{applied.strategy.cells} cells that their conditions tell apart ({applied.strategy.name}); the "
            "cells are found from these by least squares, and every number is a sum of the same cells"
        )
    if planned.applied is not None and planned.measure.view is not None:
        strategy = planned.applied.strategy
        return (
            f"of {strategy.cells:,} combinations: {strategy.numbers:,} sums of them ({strategy.name}), made "
            "for ranges, values and totals; the combinations are found from these by least squares, and "
            "every later answer is a sum of them"
        )
    if isinstance(planned.rule, SyntheticRows):
        plan = planned.rule.plan
        return (
            f"marginals in place of combinations ({plan.method}): the total, {len(plan.one_column)} of one "
            f"column and {len(plan.two_columns)} of two, which {len(plan.choices)} choices pick; synthetic "
            "rows are fitted to them, and how far they are off is not known"
        )
    if planned.runs is None:
        return None
    way = (
        "a falling part of all groups before each"
        if planned.runs.branching == prefix.ROOT
        else f"sums of {planned.runs.branching} groups, and of {planned.runs.branching} such sums"
    )
    return (
        f"of {planned.runs.groups} groups in order: {way}, in which one unit counts "
        f"{planned.runs.column} times at most; the groups are found from these by least squares, "
        "since running totals are asked for"
    )


def _rule(planned: MeasurePlan, known: Known) -> dict[str, Any]:
    unit = known.unit
    if not planned.keys:
        return {"kind": "one row", "words": "no groups: always exactly one row"}
    if isinstance(planned.rule, PublicKeys):
        number = len(planned.rule.groups())
        return {
            "kind": "public",
            "groups": number,
            "words": f"public keys: all {number} groups appear, empty ones included{_but_null(planned)}",
        }
    if isinstance(planned.rule, SyntheticRows):
        return {"kind": "synthetic", "words": "public lists: the combinations that synthetic rows have"}
    return {
        "kind": "threshold",
        "units": planned.rule.units,
        "words": f"private keys: a group appears when its noisy number of {unit}s reaches "
        f"{planned.rule.units:.1f}{_rounds(planned)}{_least(planned.rule)}{_always(planned, planned.rule)}"
        f"{_unsaid(known)}",
        "public_if": list(spellings(planned.measure)),
        "min_units": planned.rule.least,
        "rounds": 1 if planned.again is None else 2,
    }


def _but_null(planned: MeasurePlan) -> str:
    """Return words on groups of NULL, which are left out where their numbers are within their margins."""
    assert isinstance(planned.rule, PublicKeys)
    possible = any(None in values for values in planned.rule.domains)
    summed = planned.runs is not None or planned.measure.view is not None
    measure = planned.measure
    if not possible or summed or measure.added_up or not measure.statistics:
        return ""
    said = "with more rows than their margin" if measure.counted else "with a number beyond its margin"
    return f"; those of NULL only {said}"


def _least(rule: Threshold) -> str:
    """Return words on the policy's smallest group.

    The threshold is raised by ``least`` - 1: a group of ``least`` units passes it as rarely as a group of
    one unit passes the threshold without it.
    """
    return f" (the policy hides groups of fewer than {rule.least})" if rule.least > 1 else ""


def _unsaid(known: Known) -> str:
    return "" if known.units else f"; about in [unit] of {known.policy_name} would say whether any group can"


def _rounds(planned: MeasurePlan) -> str:
    if planned.again is None or not isinstance(planned.again.rule, Threshold):
        return ""
    return f", or {planned.again.rule.units:.1f} when those found so are left out"


def _always(planned: MeasurePlan, rule: Threshold) -> str:
    if planned.measure.other is not None:
        return f"; one more row, {planned.measure.other.value!r}, is the total less the groups that appear"
    count = 0 if rule.listed is None else len(rule.listed.groups())
    return f"; {count} {'group' if count == 1 else 'groups'} of public grouping sets always" if count else ""


def _bounded(planned: MeasurePlan, unit: str) -> str:
    if planned.shape is Shape.ROWS:
        return f"an enforced key: one {unit} has a bounded number of rows here, none is left out"
    norm = "sum of absolute values (L1)" if planned.bound[0] is Norm.L1 else "Euclidean norm (L2)"
    text = f"a clip of each {unit}'s whole vector, over all groups and columns, in {norm}"
    if planned.groups is not None:
        text += f"; {one(unit)} in more than {planned.groups} groups is left out"
    return text


Unique: TypeAlias = tuple[str, tuple[str, ...]]
"""A table, and columns that are declared to be unique together."""


def _declared(keys: list[Unique], known: Known) -> list[str]:
    """Describe keys; those that do not exist for the analyst who asks stay unnamed."""
    said = (
        f"{table}({', '.join(columns)}) is unique" if known.shows(table, *columns) else "a key of the owner's"
        for table, columns in keys
    )
    return list(dict.fromkeys(said))


def relies_on(relation: Relation) -> list[Unique]:
    """Return the declared unique keys that the guarantee relies on, on paths to the unit and in joins."""
    match relation:
        case Scan(table=table, owner=owner, columns=columns):
            if owner is None:
                return []
            keys: list[Unique] = [(link.table, names_of(link.key)) for link in owner.links]
            if owner.at_most == 1:
                name = next((column.source for column in columns if column.name == owner.name), owner.column)
                keys.append((table, names_of(name)))
            return keys
        case Filter(input=source) | Project(input=source) | Aggregate(input=source) | Window(input=source):
            return relies_on(source)
        case Join(_, left, right, condition):
            sides = relies_on(left) + relies_on(right)
            for side, opposite in ((left, right), (right, left)):
                owned = ownership_of(side)
                units = owned.units if isinstance(owned, Owned) else frozenset()
                sides += _keys_matched(side, pinned_columns(side, opposite, condition) | units)
            return list(dict.fromkeys(sides))
        case Union(left, right):
            return list(dict.fromkeys(relies_on(left) + relies_on(right)))
        case _:
            return []


def _keys_matched(side: Relation, pinned: frozenset[str]) -> list[Unique]:
    """Return the declared keys of one side of a join that are fixed by the join condition."""
    match side:
        case Scan(table=table, columns=columns, keys=keys):
            source = {column.name: column.source for column in columns}
            matched = [key for key in keys if frozenset(key) <= pinned]
            return [(table, tuple(source[name] for name in key)) for key in matched]
        case Filter(input=inner):
            return _keys_matched(inner, pinned)
        case Join(_, left, right):
            return _keys_matched(left, pinned) + _keys_matched(right, pinned)
        case _:
            return []
