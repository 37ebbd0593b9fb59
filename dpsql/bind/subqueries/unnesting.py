"""Rewrite the subqueries of one SELECT over private rows as joins, and its windows as columns.

    WHERE EXISTS (SELECT ... v.patient_id = p.patient_id)        a semi-join of the rows
    WHERE x > (SELECT AVG(y) ... v.patient_id = p.patient_id)    a left join with a row per patient
    QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ...) = 1  an additional column

Each is added to the relation when it is met. Names are unique, so expressions bound earlier stay valid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import NoReturn

from sqlglot import exp

from dpsql.bind.expressions.aggregates import has_aggregate
from dpsql.bind.expressions.scalars import Scalars
from dpsql.bind.private.from_clause import FromClause, Joined
from dpsql.bind.private.joins import all_of, filtered, join, on_the_unit
from dpsql.bind.private.query_options import refuse_clip
from dpsql.bind.private.row_builder import RowBuilder
from dpsql.bind.private.row_items import most_of
from dpsql.bind.scope.context import Context, Cte
from dpsql.bind.scope.scope import Scope, Visible
from dpsql.bind.scope.sources import Private
from dpsql.bind.scope.wrappers import unaliased
from dpsql.bind.subqueries import decorrelate
from dpsql.bind.subqueries.evaluation import constants_of, materialized, stage_input
from dpsql.bind.subqueries.in_subqueries import Membership, membership, not_false, positive
from dpsql.bind.subqueries.key_lists import Asked, Narrowed, alias_of, key_lists_of
from dpsql.bind.subqueries.uncorrelated import (
    bind_alone,
    distinct_subquery_rows,
    public_exists,
    public_rows,
    rows_of_open,
)
from dpsql.errors import Error, refuse
from dpsql.facts.origin import origins_of
from dpsql.facts.ownership import Owned, Public, meets_one, ownership_of
from dpsql.facts.public_origin import public_origin
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions import ArgumentError
from dpsql.functions.core.meaning import call
from dpsql.ir.column import BIGINT, BOOLEAN, NULL, Fact
from dpsql.ir.relation import Aggregate, JoinKind, Named, Relation, Window, WindowCall
from dpsql.ir.scalar import Call, Literal, Ref, Scalar, refs
from dpsql.ir.source import Span
from dpsql.lazy_dataclass import dataclass

_CORRELATION = "the subquery is correlated with the query around it in a way that is not answered"


@dataclass(slots=True)
class SubqueryUnnester(RowBuilder):
    """The rows of a SELECT, which grow by the windows and subqueries of its expressions.

    ``narrowed`` are the public tables in its FROM that its WHERE makes smaller.
    """

    narrowed: tuple[Narrowed, ...] = ()

    def scalars(self) -> Scalars:
        """Return a binder of expressions over these rows."""
        constants = constants_of(self.ctx, self.env)
        return Scalars(self.ctx.text, self.scope, self.facts, constants, self.ctx.known.timezone, self)

    # ---- conditions --------------------------------------------------------------------------------

    def where(self, parts: tuple[exp.Expr, ...]) -> None:
        """Apply the parts of WHERE with subqueries; [NOT] EXISTS and [NOT] IN become semi- and anti-joins."""
        conditions: list[Scalar] = []
        for part in parts:
            node, negated = positive(part)
            if isinstance(node, exp.Exists) and not self._aggregates_all(node):
                self._exists(node, negated)
            elif (test := membership(node, negated)) is not None:
                conditions += self._membership(test)
            else:
                conditions.append(self.scalars().condition(part))
                if not refs(conditions[-1]) <= facts_of(self.relation).keys():
                    self.refuse(self.ctx.span(part), "it reads columns of a query further out")
        self.grow(filtered(self.relation, conditions))

    def _aggregates_all(self, node: exp.Exists) -> bool:
        """Whether its subquery aggregates all its rows; then EXISTS is a scalar like any other."""
        inner = node.this
        return isinstance(inner, exp.Select) and decorrelate.gives_one_row(inner)

    def _exists(self, node: exp.Exists, negated: bool) -> None:
        """Apply [NOT] EXISTS as a semi- or anti-join."""
        span = self.ctx.span(node)
        kind = JoinKind.ANTI if negated else JoinKind.SEMI
        inner = decorrelate.without_limit(self._correlated_select(node.this, span))
        if decorrelate.is_grouped(inner):
            rows, parts = self._grouped(inner, [], span)
            self.join(kind, rows.relation, parts, span)
            return
        refuse_clip(self.ctx, inner, None)
        joined, _ = self._bind_from_and_where(inner)
        parts = [part for _, part in joined.outer]
        if not parts and isinstance(ownership_of(joined.relation), Owned):
            self.refuse(span, f"whether it has rows depends on all {self.ctx.known.unit}s")
        self.join(kind, joined.relation, parts, span)

    def _membership(self, test: Membership) -> list[Scalar]:
        """Apply x [NOT] IN (subquery) as a semi- or anti-join, or return it as a condition."""
        span = self.ctx.span(test.node)
        kind = JoinKind.ANTI if test.negated else JoinKind.SEMI
        scalars = self.scalars()
        rows = bind_alone(self.ctx, self.env, test.query)
        if isinstance(rows, list):
            if len(test.subjects) == 1 and len(rows) <= decorrelate.MOST_CONSTANTS:
                in_list = scalars.listed(test.node, test.subjects[0], rows)
                return [Call("not", (in_list,)) if test.negated else in_list]
            rows = public_rows(self.ctx, self.env, test.query)
        subjects = [scalars.bind(subject) for subject in test.subjects]
        if rows is not None:
            values = [v.scalar for v in rows.scope.starred]
            equal = self._equalities(subjects, values, rows.relation, span)
            public = isinstance(ownership_of(rows.relation), Public)
            if test.negated and not public and self._nullable(subjects, values, rows.relation):
                self._refuse_null(span, on_the_unit(self.relation, rows.relation, equal))
            if test.negated and public:
                equal = [not_false(equality) for equality in equal]
            self.join(kind, rows.relation, equal, span)
            return []
        inner = self._correlated_select(test.query, span)
        if decorrelate.gives_one_row(inner):
            return [scalars.condition(self._equals(test, inner, span))]
        if decorrelate.is_grouped(inner):
            group_rows, parts = self._grouped(inner, list(inner.expressions), span)
            values = [v.scalar for v in group_rows.scope.starred][-len(inner.expressions) :]
            relation = group_rows.relation
        else:
            refuse_clip(self.ctx, inner, None)
            joined, within = self._bind_from_and_where(inner)
            parts = [part for _, part in joined.outer]
            values = [within.bind(unaliased(output)) for output in inner.expressions]
            relation = joined.relation
        private = isinstance(ownership_of(relation), Owned)
        if private and test.negated and not on_the_unit(self.relation, relation, parts):
            self._refuse_null(span)
        equal = self._equalities(subjects, values, relation, span)
        if test.negated:
            equal = [not_false(equality) for equality in equal]
        self.join(kind, relation, parts + equal, span)
        return []

    def _equals(self, test: Membership, inner: exp.Select, span: Span | None) -> exp.Expr:
        """Return x [NOT] IN (SELECT SUM(y) ...) as a comparison with the one value."""
        if len(test.subjects) != 1 or inner.args.get("having"):
            self.refuse(span, "HAVING without GROUP BY is not answered here")
        kind = exp.NEQ if test.negated else exp.EQ
        return kind(this=test.subjects[0].copy(), expression=exp.Subquery(this=inner.copy()))

    def _equalities(
        self, subjects: list[Scalar], values: list[Scalar], relation: Relation, span: Span | None
    ) -> list[Scalar]:
        """Return the equalities of both sides of a membership test, column by column."""
        if len(subjects) != len(values):
            raise refuse(
                "D205",
                "the two sides of IN have different numbers of columns",
                span,
                help="compare one column, or (a, b) IN (SELECT x, y ...)",
            )
        facts = {**self.facts, **facts_of(relation)}
        try:
            return [
                call("=", (a, b), facts.__getitem__, None, span)
                for a, b in zip(subjects, values, strict=True)
            ]
        except ArgumentError as reason:
            raise refuse(reason.code, reason.title, span, help=reason.help or "CAST one side") from None

    def _nullable(self, subjects: list[Scalar], values: list[Scalar], relation: Relation) -> bool:
        """Whether either side of a membership test may be NULL."""
        ours, theirs = self.facts, facts_of(relation)
        return any(fact_of(subject, ours).nullable for subject in subjects) or any(
            fact_of(value, theirs).nullable for value in values
        )

    def _refuse_null(self, span: Span | None, tied: bool = False) -> NoReturn:
        """Refuse a membership test that may be NULL; where it is ``tied`` to the unit, it need not be."""
        raise refuse(
            "D255",
            f"one NULL in this subquery would decide for every {self.ctx.known.unit}",
            span,
            label=f"either side may be NULL, and the subquery is not correlated on the {self.ctx.known.unit}",
            help="correlate it: [NOT] EXISTS (SELECT 1 FROM ... WHERE "
            f"{self.ctx.known.equal_units('inner', 'outer')} AND inner.x = outer.x)"
            + ("; or add x IS NOT NULL on both sides" if tied else ""),
        )

    # ---- values ------------------------------------------------------------------------------------

    def exists(self, node: exp.Exists, scalars: Scalars) -> Scalar:
        """Bind EXISTS inside an expression: left join the subquery, test whether a row matched."""
        span = self.ctx.span(node)
        if self._aggregates_all(node):
            return replace(scalars.condition(decorrelate.exists_as_scalar(node.this)), span=span)
        if (constant := public_exists(self.ctx, self.env, node)) is not None:
            return constant
        inner = decorrelate.without_limit(self._correlated_select(node.this, span))
        if not decorrelate.is_grouped(inner) and decorrelate.compares(inner):
            joined, within = self._bind_from_and_where(inner)
            names = facts_of(joined.relation).keys()
            if any(decorrelate.correlation_of(*part, within, names) is None for part in joined.outer):
                return self._any_row(joined.relation, [part for _, part in joined.outer], span)
        rows, parts = self._grouped(inner, [], span, distinct=True)
        mark = refs(parts[0]) & facts_of(rows.relation).keys()
        self.join(JoinKind.LEFT, rows.relation, parts, span)
        return Call("is_not_null", (Ref(min(mark)),), span=span)

    def _any_row(self, found: Relation, parts: list[Scalar], span: Span | None) -> Scalar:
        """Bind EXISTS with any condition: number the unit's rows, and left join the numbers that match.

        Claim   the rows are as many as before, and the mark of each says whether a row matches it.
        Proof   Numbers are unique within a unit: those that match, each once, meet a row at most once. The
                rows are numbered twice, in the order of all columns: rows that tie there are equal in all
                that the condition reads, so whichever of them has a number, the mark of it is the same.
        Test    grammar_tests/subqueries/any_row.sql
        """
        ctx, owned = self.ctx, ownership_of(self.relation)
        if self._reads_further_out(found, parts):
            self.refuse(span, "it reads columns of a query further out")
        if isinstance(ownership_of(found), Owned) and not on_the_unit(self.relation, found, parts):
            self.refuse(span)
        assert isinstance(owned, Owned)
        number, unit, same = ctx.fresh("number"), Ref(owned.unit), ctx.fresh("unit")
        numbered = Window(self.relation, WindowCall(number, "row_number", (), (unit,), (), span=span))
        kept = join(JoinKind.SEMI, numbered, found, all_of(parts), span, ctx.known.unit, count=ctx.sharing)
        matched = ctx.fresh("number")
        matches = Aggregate(kept, (Named(same, unit), Named(matched, Ref(number))), ())
        self.grow(numbered)
        alike = [Call("=", (unit, Ref(same))), Call("=", (Ref(number), Ref(matched)))]
        self.join(JoinKind.LEFT, matches, list(alike), span)
        return Call("is_not_null", (Ref(matched),), span=span)

    def member(self, node: exp.In, scalars: Scalars) -> Scalar:
        """Bind IN inside an expression: left join the subquery, test whether a row matched.

        The result may be NULL only where the subquery is correlated.
        """
        span = self.ctx.span(node)
        test = membership(node, negated=False)
        if test is None:
            self.refuse(span)
        rows = bind_alone(self.ctx, self.env, test.query)
        if isinstance(rows, list):
            return scalars.listed(node, test.subjects[0], rows)
        subjects = [scalars.bind(subject) for subject in test.subjects]
        inner = None
        if rows is None:
            inner = self._correlated_select(test.query, span)
            if decorrelate.gives_one_row(inner):
                return replace(scalars.condition(self._equals(test, inner, span)), span=span)
            rows, parts = self._grouped(inner, list(inner.expressions), span, distinct=True)
            values = [v.scalar for v in rows.scope.starred][-len(inner.expressions) :]
        else:
            rows = distinct_subquery_rows(self.ctx, self.env, test.query)
            values, parts = [v.scalar for v in rows.scope.starred], []
        nullable = self._nullable(subjects, values, rows.relation)
        if nullable and (inner is None or len(subjects) > 1 or decorrelate.is_grouped(inner)):
            self._refuse_null(span)
        equal = self._equalities(subjects, values, rows.relation, span)
        self._refuse_several_rows(rows.relation, parts + equal, span)
        self.join(JoinKind.LEFT, rows.relation, parts + equal, span)
        mark = Call("is_not_null", (Ref(min(refs(equal[0]) & facts_of(rows.relation).keys())),), span=span)
        return mark if not nullable or inner is None else self._three_valued(inner, subjects[0], mark, span)

    def _three_valued(self, inner: exp.Select, subject: Scalar, mark: Scalar, span: Span | None) -> Scalar:
        """Bind a correlated IN: true where one is equal, false where all differ or none is, else NULL."""
        value = inner.expressions[0].unalias().copy()
        counts: list[exp.Expr] = [exp.Count(this=exp.Star()), exp.Count(this=value)]
        rows, parts = self._grouped(inner, counts, span, valued=True)
        self.join(JoinKind.LEFT, rows.relation, parts, span)
        count, known = (column.scalar for column in rows.scope.starred[-2:])
        unknown = Call("or", (Call("is_null", (subject,)), Call("<", (known, count))))
        true, false, null = Literal(True, BOOLEAN), Literal(False, BOOLEAN), Literal(None, NULL)
        outcomes = (mark, true, Call("is_null", (count,)), false, unknown, null, false)
        return call("case", outcomes, self.facts.__getitem__, None, span)

    def value(self, node: exp.Expr, scalars: Scalars) -> Scalar:
        """Bind a scalar subquery: a public constant, a release of an earlier stage, or a row per unit."""
        span = self.ctx.span(node)
        query = node.this if isinstance(node, exp.Subquery) else node
        rows = bind_alone(self.ctx, self.env, query, one_row=True)
        if isinstance(rows, list):
            return scalars.single(node, rows)
        if isinstance(rows, Private):
            if isinstance(ownership_of(rows.relation), Owned):
                self.refuse(span)
            if len(rows.scope.starred) != 1:
                raise refuse("D205", "a scalar subquery has one column", span, help="select one expression")
            self.join(JoinKind.LEFT, rows.relation, [], span)
            [only] = rows.scope.starred
            return replace(only.scalar, span=span)
        inner = decorrelate.having_as_case(self._correlated_select(query, span))
        if len(inner.expressions) != 1:
            raise refuse("D205", "a scalar subquery has one column", span, help="select one expression")
        item = unaliased(inner.expressions[0])
        calls = decorrelate.aggregates_in(item) if has_aggregate(item) else [item]
        rows, parts = self._grouped(inner, list(calls), span, valued=True)
        self._refuse_several_rows(rows.relation, parts, span)
        self.join(JoinKind.LEFT, rows.relation, parts, span)
        columns = rows.scope.starred[-len(calls) :]
        if not has_aggregate(item):
            return replace(columns[0].scalar, span=span)
        alias = self.ctx.fresh("sub")
        visible = []
        for i, (column, aggregate_call) in enumerate(zip(columns, calls, strict=True)):
            scalar = column.scalar
            if decorrelate.counts(aggregate_call) and not inner.args.get("group"):  # COUNT over no rows is 0
                scalar = Call("coalesce", (scalar, Literal(0, BIGINT)))
            visible.append(Visible(alias, f"c{i}", scalar))
        over = Scalars(
            self.ctx.text,
            Scope(tuple(visible)) + self.scope,
            self.facts,
            constants_of(self.ctx, self.env),
            self.ctx.known.timezone,
            self,
        )
        named = [exp.column(f"c{i}", alias, quoted=True) for i in range(len(calls))]
        return replace(over.bind(decorrelate.replace_aggregates(item, calls, named)), span=span)

    def _refuse_several_rows(self, relation: Relation, parts: list[Scalar], span: Span | None) -> None:
        """Refuse a subquery that may give several rows for one row around it."""
        if not meets_one(self.relation, relation, all_of(parts)):
            raise refuse(
                "D255",
                "this subquery may give several rows",
                span,
                label="no key ensures that at most one row matches",
                help="aggregate it: (SELECT MAX(x) FROM ... WHERE ...); or take one: ORDER BY x DESC LIMIT 1",
            )

    # ---- subqueries --------------------------------------------------------------------------------

    def _correlated_select(self, node: exp.Expr, span: Span | None) -> exp.Select:
        """Return the SELECT of a correlated subquery; refuse any other query."""
        inner = node.this if isinstance(node, exp.Subquery) else node
        if not isinstance(inner, exp.Select) or inner.args.get("with_"):
            self.refuse(span, "only a plain SELECT may be correlated with the query around it")
        if inner.args.get("distinct") and inner.args["distinct"].args.get("on"):
            self.refuse(span, "DISTINCT ON is not answered here")
        return inner

    def _bind_from_and_where(self, inner: exp.Select) -> tuple[Joined, Scalars]:
        return bind_from_and_where(self.ctx, self.env, self.scope, self.facts, inner)

    def _grouped(
        self,
        inner: exp.Select,
        values: list[exp.Expr],
        span: Span | None,
        distinct: bool = False,
        valued: bool = False,
    ) -> tuple[Private, list[Scalar]]:
        """Return the subquery with a row (or group) per correlation key, and the equalities of the keys."""
        ctx = self.ctx
        if not decorrelate.has_plain_limit(inner):
            self.refuse(span, "its LIMIT or OFFSET is not answered here")
        joined, within = self._bind_from_and_where(inner)
        private = isinstance(ownership_of(joined.relation), Owned)
        correlations = []
        for node, part in joined.outer:
            correlation = decorrelate.correlation_of(node, part, within, facts_of(joined.relation).keys())
            if correlation is None:
                self.refuse(ctx.span(node), _untied(private, inner))
            correlations.append(correlation)
        if self._reads_further_out(joined.relation, [part for _, part in joined.outer]):
            self.refuse(span, "it is correlated with a query further out than the one around it")
        if not correlations and private and not valued:
            self.refuse(span, f"whether it has rows depends on all {self.ctx.known.unit}s")
        per_unit = private and on_the_unit(self.relation, joined.relation, [part for _, part in joined.outer])
        inside = [key for key, _ in correlations]
        if private and not per_unit:
            # a subquery with groups of its own would have them by other names
            narrowed = () if inner.args.get("group") else self.narrowed
            asked = [self._asked(within.bind(around)) for _, around in correlations]
            lists = key_lists_of(ctx, self.env, asked, narrowed)
            inner, inside = decorrelate.join_key_lists(inner, inside, lists, ctx.fresh)
        select = decorrelate.grouped_by_keys(
            inner, inside, list(joined.local), values, per_unit, distinct, ctx.fresh
        )
        try:
            bound = ctx.query(select, self.env)
        except Error as error:
            if error.code == "D202":
                self.refuse(span, _CORRELATION)
            raise
        keys = len(correlations)
        unique = keys + len(values) if distinct else keys
        if isinstance(bound, Private):
            rows = bound
        elif bound.released:
            alone = distinct or (valued and not inner.args.get("group") and any(map(has_aggregate, values)))
            rows = stage_input(ctx, bound, span, keys=unique if alone else None, one_row=not keys)
        else:
            rows = materialized(ctx, bound, span, unique)
        columns = [v.scalar for v in rows.scope.starred][:keys]
        scalars = self.scalars()
        outside = [scalars.bind(outer) for _, outer in correlations]
        return rows, self._equalities(outside, columns, rows.relation, span)

    def _reads_further_out(self, found: Relation, parts: list[Scalar]) -> bool:
        names = facts_of(self.relation).keys() | facts_of(found).keys()
        return any(not refs(part) <= names for part in parts)

    def _asked(self, around: Scalar) -> Asked:
        """Return the column of a table that a key around is, if it is one."""
        origins, held = origins_of(self.relation, around), public_origin(self.relation, around)
        row = None if held is None or held.missing else id(held.scan)
        return Asked(next(iter(origins)) if len(origins) == 1 else None, alias_of(around, self.scope), row)


def bind_from_and_where(
    ctx: Context, env: Mapping[str, Cte], scope: Scope, facts: Mapping[str, Fact], inner: exp.Select
) -> tuple[Joined, Scalars]:
    """Bind FROM and WHERE of a subquery, with the conditions that correlate it; return a binder over them."""
    clause = FromClause(
        ctx.text,
        ctx.known,
        ctx.fresh,
        lambda query: ctx.query(query, env),
        partial(rows_of_open, ctx),
        constants_of(ctx, env),
        ctx.sharing,
        scope,
        facts,
        most_items=partial(most_of, ctx),
    )
    items = clause.items(inner)
    if not items:
        raise refuse(
            "D255",
            "this subquery reads no table",
            ctx.span(inner),
            help="write its expression without SELECT",
        )
    joined = clause.joined(inner, items)
    if joined.kept is not None:
        clause.refuse_kept(joined.kept)
    within = SubqueryUnnester(ctx, env, joined.relation, joined.scope, around=facts)
    if joined.queries and isinstance(ownership_of(joined.relation), Public):
        within.refuse(ctx.span(joined.queries[0]))
    within.where(joined.queries)
    joined = replace(joined, relation=within.relation)
    constants, zone = constants_of(ctx, env), ctx.known.timezone
    return joined, Scalars(ctx.text, joined.scope, {**facts, **within.facts}, constants, zone)


def _untied(private: bool, inner: exp.Select) -> str:
    """Return why a condition that is no equality does not correlate a subquery."""
    if private:
        return "only equalities may correlate this subquery with the query around it"
    if inner.args.get("limit"):
        return "the nearest row is found among public tables only"
    return "only equalities may correlate public rows with private ones"


def name_of(node: exp.Expr, within: Scalars) -> str:
    """Return the column that an expression names; "" where it is computed."""
    scalar = within.bind(node)
    return scalar.name if isinstance(scalar, Ref) else ""
