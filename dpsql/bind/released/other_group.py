"""The option other_group: one more row for all groups below the threshold.

    SELECT OPTIONS(other_group = 'elsewhere') city, COUNT(*) FROM patients GROUP BY city

    Oslo        1,204
    Bergen        318
    elsewhere     171

It is bound as GROUPING SETS ((city), ()): the total over all groups is one more number of the same clipped
vector, and the row is that total minus the released groups. So nothing is measured after the groups are
chosen, and the row has the noise of the total and of all released groups.
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


def other_group_of(ctx: Context, node: exp.Select, groups: Groups, scalars: Scalars) -> Option | None:
    """Return the option with the name of the other row, which is the value of all its keys."""
    options = options_of(node)
    option = None if options is None else options.get("other_group")
    if option is None:
        return None
    if not isinstance(option.value, str):
        raise refuse("D205", "other_group must be a text", option.span, help="write other_group = 'other'")
    if not groups.keys:
        raise refuse(
            "D252",
            "other_group means nothing here",
            option.span,
            label="this SELECT has no groups",
            help="leave it out",
        )
    if groups.sets:
        raise refuse(
            "D252",
            "other_group is not answered with grouping sets",
            option.span,
            label="each grouping set would need its own other row",
            help="leave it out, or group by one plain list of keys",
        )
    for expression, named in groups.keys:
        key_type = fact_of(named.scalar, scalars.facts).type
        if key_type.kind is not Kind.TEXT:
            raise refuse(
                "D205",
                f"a key of type {key_type.said} cannot show {option.value!r}",
                ctx.span(expression) or option.span,
                label="NULL cannot name the other row: it is a key itself",
                help=f"cast it to text: CAST({expression.sql(dialect='duckdb')} AS VARCHAR)",
            )
    return option


def with_total(groups: Groups) -> tuple[tuple[int, ...], ...]:
    """Return two grouping sets: the groups, and the total over all of them."""
    return (tuple(range(len(groups.keys))), ())
