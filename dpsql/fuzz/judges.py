"""Six judges of a query, or of what several measure together; each returns violations, in words.

sensitivity   no neighbour moves the exact sums by more than declared (``dpsql.audit.oracles``)
order         shuffled rows give the same sums
fast          the statements for tables of many rows give the same sums
ranges        wherever all columns lie in their ranges, so does every scalar made of them; types are right
meaning       without noise, on calm data: what plain DuckDB answers
silence       refusals, types, prices, explanations and plans are those of a neighbour
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import assert_never

import duckdb

import dpsql
from dpsql.audit.oracles import ready_measures, violations
from dpsql.batch.bill import first_bill
from dpsql.batch.script import read
from dpsql.engines.identifiers import quote, table_sql
from dpsql.engines.relation_sql import relation_sql, scalar_sql
from dpsql.facts.columns_read import stored_column
from dpsql.facts.schema import Facts, fact_of, facts_of
from dpsql.functions.core.literals import literal_sql
from dpsql.functions.core.order import in_order
from dpsql.fuzz.copies import apart
from dpsql.fuzz.world import World
from dpsql.ir.column import VARCHAR, Categories, Fact, Interval, Kind, Listed, Sized, type_range
from dpsql.ir.plan import MeasurePlan, Plan
from dpsql.ir.relation import (
    Aggregate,
    Filter,
    Join,
    JoinKind,
    Materialized,
    OrderedCall,
    Project,
    Relation,
    Scan,
    StageInput,
    Union,
    Window,
)
from dpsql.ir.scalar import Call, Literal, Scalar, refs
from dpsql.ir.statistic import Axis, Part
from dpsql.ir.table import ExactTable, Masses
from dpsql.release.completed import completed

Seen = list[tuple[MeasurePlan, ExactTable]]
"""The measures of a plan, each with its exact table on the whole database."""


def measures_of(plan: Plan) -> list[MeasurePlan]:
    return [each for stage in plan.stages for each in stage.measures]


def seen(plan: Plan, database: World) -> Seen:
    """Measure the whole once, for all judges; later stages are fed with earlier ones without noise."""
    measures = ready_measures(plan, database.whole, database.session.sealed)
    return [(each, database.whole.measure(each)) for each in measures]


def moved(given: Seen, database: World) -> list[str]:
    """What the neighbours say; a failing engine is a violation too. A triple each, measured or proved."""
    try:
        return [
            f"without {one.name}: {said}"
            for planned, exact in given
            for one in itertools.chain(*apart(planned, database.whole, database.neighbours))
            for said in violations(planned, exact, one.engine.measure(planned))
        ]
    except Exception as error:  # whatever it is, it is a violation
        return [f"{type(error).__name__}: {error}"]


def fast(given: Seen, database: World) -> list[str]:
    """Whether the statements for tables of more rows give other sums, or other weights."""
    found = []
    try:
        for planned, exact in given:
            if not (planned.measure.statistics or planned.details):
                continue
            for corrected in database.fast(planned):
                if _summed(exact, planned) != _summed(corrected, planned):
                    found.append("the sums of everything, corrected, are others")
                if list(map(weights_shown, exact.details)) != list(map(weights_shown, corrected.details)):
                    found.append("the weights of everything, corrected, are others")
    except Exception as error:  # whatever it is, it is a violation
        return [f"corrected: {type(error).__name__}: {error}"]
    return found


def _summed(exact: ExactTable, planned: MeasurePlan) -> dict[str, list[int]]:
    """Return the sums of the groups that may be shown and have any."""
    groups, sums = completed(exact, planned)
    return {repr(group): row for group, row in zip(groups, sums.tolist(), strict=True) if any(row)}


def alive(given: Seen) -> bool:
    """Whether there is anything to measure."""
    return any(bool(exact.sums.any()) for _, exact in given)


def order(given: Seen, database: World) -> list[str]:
    found = []
    for each, ours in given:
        try:
            theirs = database.shuffle.measure(each)
        except Exception as error:  # whatever it is, it is a violation
            return [f"shuffled: {error}"]
        first = dict(zip(map(repr, ours.groups), ours.sums.tolist(), strict=True))
        second = dict(zip(map(repr, theirs.groups), theirs.sums.tolist(), strict=True))
        if first != second:
            found.append("another order of the rows gives other sums")
        if list(map(weights_shown, ours.details)) != list(map(weights_shown, theirs.details)):
            found.append("another order of the rows gives other weights")
    return found


def weights_shown(weights: Masses) -> dict[str, tuple[list[int], list[int]]]:
    """Return the places and weights of each group; one without weights is as one that is not there."""
    return {
        repr(group): (places.tolist(), held.tolist())
        for group, (places, held) in weights.items()
        if len(places)
    }


def answered(sql: str, database: World) -> list[str]:
    """The whole way, with real noise. What DuckDB minds above the release is refused as D2xx, and free."""
    spent = database.connection.budget.spent
    try:
        answer = database.connection.execute(sql, epsilon=1.0, anyway=True)
        assert all(len(row) == len(answer.columns) for row in answer)
    except dpsql.Error as error:
        if not error.code.startswith("D2") or database.connection.budget.spent != spent:
            return [f"not answered: {type(error).__name__}: {error}"]
    except Exception as error:  # whatever it is, it is a violation
        return [f"not answered: {type(error).__name__}: {error}"]
    return []


def silent(sql: str, epsilon: float, database: World) -> list[str]:
    """What is seen of a query before it is paid, accepted or refused: one unit may change nothing of it."""
    ours, theirs = (_seen_of(connection, sql, epsilon) for connection in database.pair)
    return [f"{name} {SEEN}" for name in ours if ours[name] != theirs[name]]


SEEN = "is seen to depend on one unit"
"""What is said of all that differs before anything is paid."""


def together(text: str, database: World, total: float) -> dict[str, Plan]:
    """The plans of those statements of a file that are measured together, by name."""
    return _together(text, (*database.pair, database.connection)[0], total)


def _together(text: str, connection: dpsql.Connection, total: float) -> dict[str, Plan]:
    items = first_bill(connection, read(text, "drawn.sql"), total).items
    return {each.task.name: each.plan for each in items if any(one.joint for one in measures_of(each.plan))}


def silent_together(plans: dict[str, Plan], text: str, database: World, total: float) -> list[str]:
    """What is measured together, and by what plan: one unit may change nothing of it."""
    beside = _together(text, database.pair[1], total)
    ours, theirs = ({name: plan.digest for name, plan in each.items()} for each in (plans, beside))
    return [] if ours == theirs else [f"what is measured together {SEEN}"]


def _seen_of(connection: dpsql.Connection, sql: str, epsilon: float) -> dict[str, str]:
    looks: dict[str, Callable[[], object]] = {
        "the price": lambda: connection.price(sql, epsilon=epsilon),
        "the explanation": lambda: connection.explain(sql, epsilon=epsilon),
        "a type": lambda: connection.headings(sql, epsilon=epsilon),
    }
    seen = {}
    for name, look in looks.items():
        try:
            seen[name] = str(look())
        except dpsql.Error as error:
            seen[name] = f"{error.code} {error}"
    return seen


# ---- ranges ------------------------------------------------------------------------------------------


def ranges(given: Seen, database: World) -> list[str]:
    """Every step of every relation of the plan, held against the rows of one world."""
    found = []
    for each, _ in given:
        for relation, probes in _steps(each):
            if not probes:
                continue
            counts = ", ".join(f"count(*) FILTER (WHERE {broken})" for _, broken in probes)
            try:
                row = database.plain.execute(f"SELECT {counts} FROM ({relation_sql(relation)})").fetchone()
            except duckdb.Error as error:
                found.append(f"the engine's SQL fails: {str(error)[:200]}")
                continue
            assert row is not None
            found += [said for (said, _), count in zip(probes, row, strict=True) if count]
    return found


_Probes = list[tuple[str, str]]
"""What is claimed, and SQL that is true of a row that breaks it."""


def _steps(planned: MeasurePlan) -> Iterator[tuple[Relation, _Probes]]:
    m = planned.measure
    facts = facts_of(m.relation)
    probes = [_scalar(key.scalar, m.relation) for key in m.keys]
    for each in m.statistics:
        if each.argument is None or each.part in (Part.ROWS, Part.UNITS):
            continue
        if planned.applied is not None and m.view is None:
            continue  # cells: a row whose value is cut to the range of all numbers counts in none of them
        axes = [Axis(each.argument, each.low, each.high), *([] if each.other is None else [each.other])]
        for axis in axes if each.cell == 0 else ():
            claimed = Fact(fact_of(axis.argument, facts).type, Interval(axis.low, axis.high))
            given = [] if each.condition is None else [each.condition]
            probes.append(_probe(axis.argument, claimed, m.relation, given, facts))
    yield m.relation, probes
    yield from _inner(m.relation)


def _inner(relation: Relation) -> Iterator[tuple[Relation, _Probes]]:
    match relation:
        case Project(source, columns):
            scalars = [each.scalar for each in columns if isinstance(each.scalar, Call)]
            yield source, [_scalar(each, source) for each in scalars]
            yield from _inner(source)
        case Filter(source, condition):
            before, after = facts_of(source), facts_of(relation)
            yield relation, _narrowed(before, after, relation, condition)
            yield from _inner(source)
        case Join(kind, left, right, condition):
            if kind is JoinKind.INNER and condition is not None:
                both = {**facts_of(left), **facts_of(right)}
                yield relation, _narrowed(both, facts_of(relation), relation, condition)
            yield from _inner(left)
            yield from _inner(right)
        case Aggregate(source, keys, calls):
            scalars = [each.scalar for each in keys if isinstance(each.scalar, Call)]
            scalars += [
                one for each in calls for one in (each.argument, *each.others) if isinstance(one, Call)
            ]
            orders = [each.order for each in calls if isinstance(each, OrderedCall)]
            scalars += [one.scalar for order in orders for one in order if isinstance(one.scalar, Call)]
            yield source, [_scalar(each, source) for each in scalars]
            yield from _inner(source)
        case Window(source, call):
            read = (*call.arguments, *call.partition, *(each.scalar for each in call.order))
            yield source, [_scalar(each, source) for each in read if isinstance(each, Call)]
            yield from _inner(source)
        case Union(left, right):
            yield from _inner(left)
            yield from _inner(right)
        case Scan() | Materialized() | StageInput():
            pass
        case _:
            assert_never(relation)


def _scalar(scalar: Scalar, relation: Relation) -> tuple[str, str]:
    facts = facts_of(relation)
    return _probe(scalar, fact_of(scalar, facts), relation, [], facts)


def _probe(
    scalar: Scalar, claimed: Fact, relation: Relation, given: list[Scalar], facts: Facts
) -> tuple[str, str]:
    """A scalar out of its range although every column it reads is in its own, and checks hold.

    So is one that is NULL, or of another type.
    """
    sql = scalar_sql(scalar, relation)
    names = refs(scalar).union(*(refs(each) for each in given))
    kept = [inside(quote(name), facts[name]) for name in sorted(names)]
    kept += [scalar_sql(each, relation) for each in given]
    kept += _in_order(names, relation, facts)
    broken = f"NOT {inside(sql, claimed)}"
    if not claimed.nullable:
        broken = f"({broken} OR {sql} IS NULL)"
    broken = f"({broken} AND {' AND '.join(kept) or 'true'})"
    if claimed.type.kind is not Kind.NULL:
        broken = f"({broken} OR typeof({sql}) <> '{claimed.type.sql.replace(chr(39), chr(39) * 2)}')"
    return f"out of {claimed}: {str(sql)[:160]}", broken


def _in_order(names: frozenset[str], relation: Relation, facts: Facts) -> list[str]:
    """What the checks of tables say of the columns that are read: a range may rest on it."""
    stored = [name for name in sorted(names) if stored_column(relation, name) is not None]
    pairs = itertools.permutations(stored, 2)
    return [f"NOT coalesce({quote(a)} > {quote(b)}, false)" for a, b in pairs if in_order(facts[a], facts[b])]


def _narrowed(before: Facts, after: Facts, relation: Relation, condition: Scalar) -> _Probes:
    probes = []
    for name, fact in after.items():
        if fact != before[name]:
            names = sorted(refs(condition) | {name})
            kept = " AND ".join(inside(quote(each), before[each]) for each in names)
            floats = [quote(each) for each in names if before[each].type.kind is Kind.FLOAT]
            kept += "".join(f" AND NOT coalesce(isnan({each}), false)" for each in floats)  # above all bounds
            null = "" if fact.nullable else f" OR {quote(name)} IS NULL"
            broken = f"(NOT {inside(quote(name), fact)}{null}) AND {kept}"
            probes.append((f"narrowed out of {fact}: {name}", broken))
    return probes


def inside(sql: str, fact: Fact) -> str:
    """Whether a value lies in the domain of a fact; NULL and NaN always do."""
    match fact.domain:
        case Interval() as interval:
            return _between(sql, fact, interval)
        case Categories(values):
            text = fact.type.kind is Kind.TEXT
            listed = ", ".join(
                literal_sql(Literal(value, VARCHAR if text else fact.type))
                for value in values
                if value is not None
            )
            shown = f"CAST({sql} AS VARCHAR)" if text else sql
            return f"coalesce({shown} IN ({listed}), true)" if listed else f"({sql} IS NULL)"
        case Listed(table, column):
            return f"coalesce({sql} IN (SELECT {quote(column)} FROM {table_sql(table)}), true)"
        case Sized(most):
            return f"coalesce(length({sql}) <= {most}, true)"
        case _:
            return "true"


def _between(sql: str, fact: Fact, interval: Interval) -> str:
    """Numbers are compared as DOUBLE with a margin of its last digits; whole ones of 64 bits exactly."""
    number = sql
    match fact.type.kind:
        case Kind.INTEGER if interval.finite and type_range(fact.type).high < 2**127:
            return f"coalesce({sql}::HUGEINT BETWEEN {int(interval.low)} AND {int(interval.high)}, true)"
        case Kind.DATE | Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
            scale = "/ 86400" if fact.type.kind is Kind.DATE else "* 1e6"
            end = f"CASE WHEN {sql} > '2000-01-01' THEN 'inf'::DOUBLE ELSE '-inf'::DOUBLE END"
            number = (
                f"CASE WHEN isfinite({sql}) THEN epoch({sql}) {scale} WHEN {sql} IS NOT NULL THEN {end} END"
            )
        case _:
            number = f"CAST({sql} AS DOUBLE)"
    low, high = (float(each) for each in (interval.low, interval.high))
    ends = [
        low - 1e-9 * abs(low) if math.isfinite(low) else low,
        high + 1e-9 * abs(high) if math.isfinite(high) else high,
    ]
    first, second = (f"'{each!r}'::DOUBLE" for each in ends)
    return f"coalesce(isnan({number}) OR {number} BETWEEN {first} AND {second}, true)"
