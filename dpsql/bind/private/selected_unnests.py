"""UNNEST in the select list of private rows, moved to FROM.

    SELECT patient_id, unnest(allergies) AS a FROM patients
    SELECT patient_id, u.item AS a FROM patients, unnest(allergies) AS u(item)

Both make the same rows, as WHERE is over the rows before either, and so are the aggregates of neither.
Windows would be over other rows, and several lists would stand side by side: both are refused.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.private.from_clause import SELECTED
from dpsql.bind.scope.context import Context
from dpsql.bind.syntax.output_names import output_name
from dpsql.errors import refuse
from dpsql.functions.reading.shapes import only


def unnests_of(ctx: Context, node: exp.Select) -> list[exp.Join]:
    """Put a column in the place of the UNNEST of a select list; return the join that makes this column."""
    calls = [
        call
        for item in node.expressions
        for call in item.find_all(exp.Explode)
        if call.find_ancestor(exp.Select, exp.AggFunc) is node
    ]
    if not calls:
        return []
    first, *more = calls
    if more or not only(first, "this"):
        raise refuse(
            "D252",
            "only one list of a select is unnested" if more else "this unnest is not answered",
            ctx.span((more or calls)[0]),
            help="unnest each list in a subquery of its own, or in FROM: FROM t, unnest(list) AS u(item)",
        )
    if any(window.parent_select is node for window in node.find_all(exp.Window)):
        raise refuse(
            "D252",
            "a window and an unnest do not stand in one select",
            ctx.span(first),
            help="unnest in a subquery: SELECT ... OVER (...) FROM (SELECT *, unnest(list) AS item FROM t)",
        )
    alias, name = ctx.fresh("list"), ctx.fresh("item")
    for item in node.expressions:
        if item.find(exp.Explode) is not None and not isinstance(item, exp.Alias):
            item.replace(exp.alias_(item.copy(), output_name(item), quoted=True))
    (first,) = (call for call in node.find_all(exp.Explode) if call.parent_select is node)
    table = exp.TableAlias(this=exp.to_identifier(alias), columns=[exp.to_identifier(name)])
    unnest = exp.Unnest(expressions=[first.this.copy()], alias=table)
    unnest.meta.update({**first.meta, SELECTED: True})
    column = exp.column(name, alias, quoted=True)
    column.meta.update(first.meta)
    first.replace(column)
    join = exp.Join(this=unnest)
    node.append("joins", join)
    return [join]
