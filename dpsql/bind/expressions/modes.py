"""MODE(x): the candidates for the most frequent value follow from declarations, not from data.

MODE(ward)    the declared wards        MODE(age // 10)    0 to 12        MODE(city)    refused
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.bind.keys.atoms import MOST_VALUES
from dpsql.bind.keys.lists import enumerate_key
from dpsql.bind.scope.context import Context
from dpsql.errors import refuse
from dpsql.facts.row_guesses import guessed, narrowed_by_guess
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions.core.literals import as_own
from dpsql.ir.column import VARCHAR, Categories, Kind, Listed, Type, Value, range_of, unique
from dpsql.ir.relation import AggregateCall, Relation
from dpsql.ir.scalar import Literal, Scalar


def with_candidates(ctx: Context, relation: Relation, call: AggregateCall) -> AggregateCall:
    """Return the call with its candidates as additional arguments."""
    assert call.argument is not None
    own_type = fact_of(call.argument, facts_of(relation)).type
    values = _values(ctx, relation, call.argument)
    constants = unique(
        tuple(constant for value in values if (constant := as_own(value, own_type)) is not None)
    )
    if not constants:
        raise refuse(
            "D253",
            "MODE of values that are not declared is not answered",
            call.argument.span or call.span,
            label="the values depend on the data",
            help="count them, and take the first group: SELECT x, COUNT(*) AS n FROM ... "
            "GROUP BY x ORDER BY n DESC LIMIT 1; or declare the values in the policy",
        )
    shown: Type = VARCHAR if own_type.kind is Kind.TEXT else own_type  # an enum is compared as text
    return replace(call, others=tuple(Literal(constant, shown) for constant in constants))


def _values(ctx: Context, relation: Relation, argument: Scalar) -> tuple[Value, ...]:
    """Return all values that follow from declarations; () where they do not, or are too many."""
    fact = fact_of(argument, facts_of(relation))
    ends = range_of(fact)
    if fact.type.kind is Kind.BOOLEAN:
        return (False, True)
    guess = guessed(relation, argument) or narrowed_by_guess(relation, argument)
    if fact.type.kind is Kind.INTEGER and ends.finite and ends.high - ends.low < MOST_VALUES and not guess:
        return tuple(range(int(ends.low), int(ends.high) + 1))
    listed = enumerate_key(relation, argument, ctx.evaluate)
    match listed and listed.domain:
        case Categories(values):
            return values
        case Listed(table, column):
            sql = f"SELECT DISTINCT {_quote(column)} FROM {_quote(table)}"
            _, rows = ctx.evaluate(sql, (table,), MOST_VALUES)
            return tuple(row[0] for row in rows) if len(rows) <= MOST_VALUES else ()
        case _:
            return ()


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
