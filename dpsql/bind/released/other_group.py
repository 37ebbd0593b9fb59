"""One more row for what falls below the threshold, where the query asks for it.

    SELECT OPTIONS(other_group = 'elsewhere') city, COUNT(*) FROM patients GROUP BY city

    Oslo        1,204
    Bergen        318
    elsewhere     171

It is bound as GROUPING SETS ((city), ()): the total over all groups is one more number of the same clipped
vector, and the row shows that total less the groups that are shown. So nothing is measured after the groups
are chosen, and the noise of all that was subtracted is in it.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.expressions.scalars import Scalars
from dpsql.bind.private.group_by import Groups
from dpsql.bind.scope.context import Context
from dpsql.errors import refuse
from dpsql.facts.schema import fact_of
from dpsql.ir.column import Kind
from dpsql.ir.options import Option
from dpsql.parse.options_clause import options_of


def other_of(ctx: Context, node: exp.Select, groups: Groups, scalars: Scalars) -> Option | None:
    """What the other row is called, in every one of its keys."""
    options = options_of(node)
    said = None if options is None else options.get("other_group")
    if said is None:
        return None
    if not isinstance(said.value, str):
        raise refuse("D205", "other_group is a text", said.span, help="write other_group = 'other'")
    if not groups.keys:
        raise refuse(
            "D252",
            "other_group means nothing here",
            said.span,
            label="there are no groups, and nothing is hidden",
            help="leave it out",
        )
    if groups.sets:
        raise refuse(
            "D252",
            "other_group goes with one plain list of keys",
            said.span,
            label="each grouping set would have another rest",
            help="leave it out, or ask for one grouping: the total less its groups is the rest",
        )
    for written, named in groups.keys:
        own = fact_of(named.scalar, scalars.facts).type
        if own.kind is not Kind.TEXT:
            raise refuse(
                "D205",
                f"a key of type {own.said} cannot show {said.value!r}",
                ctx.span(written) or said.span,
                label="NULL would not do: it is a key of its own",
                help=f"make it a text: CAST({written.sql(dialect='duckdb')} AS VARCHAR)",
            )
    return said


def with_total(groups: Groups) -> tuple[tuple[int, ...], ...]:
    """The groups themselves, and the total over all of them."""
    return (tuple(range(len(groups.keys))), ())
