"""Rows that grow while expressions over them are bound, by window columns, joins and filters.

Names are unique in a query, so expressions that were bound before stay valid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import NoReturn

from sqlglot import exp

from dpsql.bind.expressions.aggregates import computable
from dpsql.bind.expressions.scalars import Scalars
from dpsql.bind.expressions.windows import bind_window
from dpsql.bind.private import joins
from dpsql.bind.private.from_clause import NEAREST
from dpsql.bind.scope.context import Context, Cte
from dpsql.bind.scope.scope import Scope
from dpsql.errors import refuse
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.schema import facts_of
from dpsql.functions.core.windows import windows
from dpsql.ir.column import Fact
from dpsql.ir.relation import JoinKind, Relation, Window
from dpsql.ir.scalar import Ref, Scalar, refs
from dpsql.ir.source import Span
from dpsql.lazy_dataclass import dataclass

_WRITTEN = {
    "only equalities may correlate this subquery with the query around it": "count before joining: LEFT JOIN "
    "(SELECT {of_a}, COUNT(*) AS n FROM a JOIN b ON {ab} AND b.x > a.x GROUP BY {of_a}) "
    "AS s USING ({unit})",
    "only equalities may correlate public rows with private ones": "aggregate them among public tables, and "
    "join on equal columns: a JOIN (SELECT d.day, MAX(b.x) AS m FROM days AS d JOIN b ON b.day <= d.day "
    "GROUP BY d.day) AS s ON s.day = a.day",
    "the nearest row is found among public tables only": NEAREST,
    "it reads columns of a query further out": "join the inner tables: EXISTS (SELECT 1 FROM a JOIN b ON ... "
    "WHERE {a_outer} AND ...)",
    "it is correlated with a query further out than the one around it": "name the equal column of the query "
    "around it: WHERE inner.x = around.x, where around.x = outer.x",
    "only a plain SELECT may be correlated with the query around it": "write each side of a UNION as a "
    "subquery of its own: EXISTS (...) OR EXISTS (...); and a CTE before the whole query",
    "its LIMIT or OFFSET is not answered here": "number the rows, and take one: (SELECT MAX(x) FROM (SELECT "
    "*, ROW_NUMBER() OVER (PARTITION BY {unit} ORDER BY x) AS i FROM ...) AS s WHERE {s_outer} "
    "AND i = 2)",
    "HAVING without GROUP BY is not answered here": "write GROUP BY {unit} in the subquery",
    "DISTINCT ON is not answered here": "number the rows, and keep the first: QUALIFY ROW_NUMBER() OVER "
    "(PARTITION BY {unit}, x ORDER BY y) = 1",
}
"""What to write where a subquery is correlated on the unit already, by the label of its refusal."""


@dataclass(slots=True)
class RowBuilder:
    """Rows that are joined and filtered while expressions over them are bound.

    ``named`` are the windows of the WINDOW clause, ``around`` the facts of the query around a subquery.
    """

    ctx: Context
    env: Mapping[str, Cte]
    relation: Relation
    scope: Scope
    named: Mapping[str, exp.Window] = field(default_factory=dict)
    around: Mapping[str, Fact] = field(default_factory=dict)
    facts: dict[str, Fact] = field(init=False)

    def __post_init__(self) -> None:
        self.facts = {**self.around, **facts_of(self.relation)}

    def grow(self, relation: Relation) -> None:
        """Replace the relation by one over it with more columns or fewer rows."""
        self.relation = relation
        self.facts.update(facts_of(relation))

    def join(self, kind: JoinKind, right: Relation, parts: list[Scalar], span: Span | None) -> None:
        """Join the rows; refuse private rows that are not joined on the unit."""
        names = facts_of(self.relation).keys() | facts_of(right).keys()
        if any(not refs(part) <= names for part in parts):
            self.refuse(span, "it reads columns of a query further out")
        private = isinstance(ownership_of(right), Owned)
        if private and not joins.on_the_unit(self.relation, right, parts):
            self.refuse(span)
        self.grow(self._joined(kind, right, parts, span))

    def _joined(self, kind: JoinKind, right: Relation, parts: list[Scalar], span: Span | None) -> Relation:
        condition, unit = joins.all_of(parts), self.ctx.known.unit
        return joins.join(kind, self.relation, right, condition, span, unit, count=self.ctx.sharing)

    def refuse(
        self, span: Span | None, label: str = "the value for one row would depend on other units"
    ) -> NoReturn:
        """Refuse a subquery among private rows."""
        known = self.ctx.known
        tied = (
            f"correlate it on the {known.unit}: WHERE {known.equal_units('inner', 'outer')}; or compare "
            "with a released number: x > (SELECT AVG(x) FROM ...)"
        )
        written = {
            "unit": known.unit_column,
            "of_a": ", ".join(f"a.{name}" for name in known.unit_columns),
            "ab": known.equal_units("a", "b"),
            "a_outer": known.equal_units("a", "outer"),
            "s_outer": known.equal_units("s", "outer"),
        }
        raise refuse(
            "D255",
            "this subquery is not answered among private rows",
            span,
            label=label,
            help=_WRITTEN[label].format(**written) if label in _WRITTEN else tied,
        )

    def keep(self, condition: Scalar) -> None:
        """Keep only the rows for which a condition is true."""
        self.grow(joins.filtered(self.relation, [condition]))

    def window(self, node: exp.Window, scalars: Scalars) -> Scalar:
        """Add the column of a window, and return it."""
        call = bind_window(self.ctx, node, scalars, self.named, self.relation)
        rows = self.relation
        if call.function not in windows():  # an aggregate over the window
            span = self.ctx.span(node)
            rows = computable(self.ctx, rows, call.function, call.arguments, span, self.around)
        named = replace(call, name=self.ctx.fresh(call.function))
        self.grow(Window(rows, named))
        return Ref(named.name, named.span)
