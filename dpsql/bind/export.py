"""An owner's export -> ExportQuery: a plain selection of rows, with every column randomized.

    SELECT DP_RANDOMIZED_RESPONSE(ward, 1.0) AS ward, DP_RANDOMIZED_RESPONSE(age // 10, 0.5) FROM patients

The clauses below the select list are bound as in any query: joins, WHERE, aggregates of one unit's rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from sqlglot import exp

from dpsql.bind.keys.atoms import MOST_VALUES
from dpsql.bind.owned_rows import (
    Use,
    check_clauses,
    check_tells_nobody,
    listed_values,
    owned_rows,
    pointing_into,
)
from dpsql.bind.scope.context import Context
from dpsql.bind.scope.public_facts import Describe, Evaluate
from dpsql.bind.scope.wrappers import unaliased
from dpsql.bind.starting_context import starting_context
from dpsql.bind.syntax.output_names import output_name
from dpsql.errors import refuse
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions.reading import literal_of
from dpsql.ir.column import Fact
from dpsql.ir.export import ExportColumn, ExportQuery
from dpsql.ir.relation import Relation
from dpsql.ir.scalar import Ref
from dpsql.mechanisms.randomized_response import LEAST, MOST
from dpsql.once_each import once_each
from dpsql.parse.parse import Query
from dpsql.parse.spans import span_of
from dpsql.policy.catalogue import Known

NAME = "dp_randomized_response"
_CALLED = "DP_RANDOMIZED_RESPONSE"
_EXAMPLE = "SELECT DP_RANDOMIZED_RESPONSE(x, 1.0) AS x, ... FROM ..."
_USE = Use("an export", "returns", "it has one row of each unit, in random order", _EXAMPLE)


def bind_export(query: Query, known: Known, evaluate: Evaluate, describe: Describe) -> ExportQuery:
    """Return the rows of an export and its randomized columns, or refuse with a span."""
    with pointing_into(query.source):
        ctx, views = starting_context(query, known, evaluate, describe)
        if query.delta is not None:
            raise refuse("D252", "an export takes no delta", query.delta.span, help="leave it out")
        if query.goal is not None:
            raise refuse(
                "D252",
                "an export takes no accuracy",
                query.goal.span,
                label="the error of a count depends on the epsilon of its column",
                help="leave it out: dpsql/docs/exports.md has the formulas",
            )
        refuse_randomized_response(query, [unaliased(item) for item in query.tree.expressions])
        tree, prices = _without_calls(ctx, query.tree)
        relation, columns = owned_rows(ctx, tree, views, query.tree, _USE)
        _refuse_several_rows(ctx, relation, query.tree)
        outputs = []
        for column, node, epsilon in zip(columns, query.tree.expressions, prices, strict=True):
            assert isinstance(column.scalar, Ref)
            outputs.append(_export_column(ctx, relation, column.name, column.scalar, node, epsilon))
        return ExportQuery(query.source, relation, tuple(outputs))


def refuse_randomized_response(query: Query, but: Sequence[exp.Expr] = ()) -> None:
    """Refuse DP_RANDOMIZED_RESPONSE outside the select list of an export."""
    text = query.source.text
    for node in _randomized(query):
        if all(node is not item for item in but):
            raise refuse(
                "D252",
                f"{_CALLED} is allowed only in the select list of an owner's export",
                span_of(node, text),
                label="a query adds its noise to aggregates, which is far more accurate at the same price",
                help="group by the column: SELECT x, COUNT(*) FROM ... GROUP BY x; the owner exports rows "
                "with dpsql export",
            ).within(text, query.source.name)


@once_each
def _randomized(query: Query) -> list[exp.Anonymous]:
    return [node for node in query.tree.find_all(exp.Anonymous) if node.name.casefold() == NAME]


def refuse_alert(query: Query) -> None:
    """Refuse what is about an alert where queries are not asked: they are explained, audited or exported."""
    if query.alert is not None:
        raise refuse(
            "D252",
            "what is about an alert is only asked",
            query.alert.at,
            label="it has no rows and no number of its own",
            help="ask it as a query; or write the number that DP_ABOVE compares: SELECT COUNT(*) FROM ...",
        ).within(query.source.text, query.source.name)


def _without_calls(ctx: Context, tree: exp.Expr) -> tuple[exp.Select, list[float]]:
    """Return the select list without its DP_RANDOMIZED_RESPONSE calls, and the epsilon of each."""
    tree = check_clauses(ctx, tree, _USE)
    plain = tree.copy()
    prices = []
    for item, node in zip(tree.expressions, plain.expressions, strict=True):
        call = unaliased(item)
        if not (isinstance(call, exp.Anonymous) and call.name.casefold() == NAME):
            raise refuse(
                "D402",
                "single private rows are never shown",
                ctx.span(item),
                label="an export randomizes every column",
                help=f"write {_EXAMPLE}",
            )
        if len(call.expressions) != 2:
            raise refuse(
                "D205",
                f"{_CALLED} takes a value and an epsilon",
                ctx.span(call),
                help="write DP_RANDOMIZED_RESPONSE(x, 1.0)",
            )
        prices.append(_epsilon(ctx, call.expressions[1]))
        name = output_name(item) if isinstance(item, exp.Alias) else output_name(call.expressions[0])
        node.replace(exp.alias_(unaliased(node).expressions[0].copy(), name, quoted=True))
    return plain, prices


def _epsilon(ctx: Context, node: exp.Expr) -> float:
    """Return the epsilon of a call; refuse anything but a constant in range."""
    constant = literal_of(node)
    value = None if constant is None else constant.value
    try:
        number = float(value) if value is not None and not isinstance(value, bool) else 0.0  # type: ignore[arg-type]  # a date or a text fails here
    except (TypeError, ValueError):
        number = 0.0
    if not LEAST <= number <= MOST:
        raise refuse(
            "D503",
            "the epsilon of a column must be a positive number",
            ctx.span(node),
            label=f"a constant from {LEAST:g} to {MOST:g}",
            help="write DP_RANDOMIZED_RESPONSE(x, 1.0)",
        )
    return number


def _refuse_several_rows(ctx: Context, relation: Relation, tree: exp.Expr) -> None:
    """Refuse rows where a unit may have more than one."""
    owned = ownership_of(relation)
    assert isinstance(owned, Owned)
    if owned.at_most != 1:
        unit = ctx.known.unit_column
        raise refuse(
            "D252",
            f"one {ctx.known.unit} may have several rows here",
            ctx.span(tree.args.get("from_")) or ctx.span(tree),
            label=f"each would be another answer about the same {ctx.known.unit}",
            help=f"keep one row per {ctx.known.unit}: FROM (SELECT {unit}, MAX(x) AS x FROM ... GROUP BY "
            f"{unit}), or (SELECT DISTINCT ON ({unit}) * FROM ... ORDER BY {unit}, y)",
        )


def _export_column(
    ctx: Context, relation: Relation, name: str, scalar: Ref, node: exp.Expr, epsilon: float
) -> ExportColumn:
    check_tells_nobody(ctx, scalar, relation, node, "export a value that many share: a ward, an age band")
    fact = fact_of(scalar, facts_of(relation))
    values = listed_values(ctx, scalar, relation)
    if values is None:
        _refuse_endless(ctx, node, fact)
    return ExportColumn(name, scalar, values, fact.type, epsilon, ctx.span(unaliased(node)))


def _refuse_endless(ctx: Context, node: exp.Expr, fact: Fact) -> NoReturn:
    numeric = fact.type.numeric
    raise refuse(
        "D301",
        "the values that this column can have are not declared",
        ctx.span(unaliased(node)),
        label=f"the randomized value is drawn from at most {MOST_VALUES:,} declared values",
        help="coarsen it: DP_RANDOMIZED_RESPONSE(CAST(x AS INTEGER) // 10, 1.0), where x has a range in the "
        "policy; or export a condition: x > 100"
        if numeric
        else "list its values in the policy; or export a condition: x = 'a'",
    )
