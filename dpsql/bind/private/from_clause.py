"""FROM: its items, and their join into one relation when some of them are private.

A comma starts a new group; explicit joins belong to the group before them. Inner joins of all groups
and WHERE are arranged as one set (``joins.arrange``); outer joins stay where they are written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import NoReturn

from sqlglot import exp

from dpsql.bind.expressions.scalars import Constants, Scalars
from dpsql.bind.private.aliases import with_aliases
from dpsql.bind.private.conditions import On, has_query, on_condition, parts_of
from dpsql.bind.private.items import Item, RowItems
from dpsql.bind.private.joins import arrange, join
from dpsql.bind.private.kept_sides import regrouped
from dpsql.bind.private.row_items import with_items
from dpsql.bind.scope.scope import Fresh, Scope, Visible
from dpsql.bind.scope.sources import Open, Private
from dpsql.bind.syntax.pivots import in_from
from dpsql.errors import refuse
from dpsql.facts.ownership import Owned, Public, ownership_of
from dpsql.facts.schema import Facts, fact_of, facts_of, narrow
from dpsql.facts.sharing import Count
from dpsql.functions.core.types import named
from dpsql.ir.column import Column, Fact, item_type
from dpsql.ir.relation import JoinKind, Relation
from dpsql.ir.scalar import Scalar, conjuncts, refs
from dpsql.ir.source import Span
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.spans import span_of
from dpsql.policy.catalogue import Known

SELECTED = "stood in the select list"
"""Meta data of an UNNEST whose column has no name that a query can use."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An outer join that keeps public rows: the facts of its public side, and its private columns."""

    public: Facts
    private: frozenset[str]
    span: Span | None


@dataclass(frozen=True, slots=True)
class Joined:
    """All items and WHERE as one relation, and the names that can be used over it.

    ``outer`` are the parts of WHERE that read columns of the query around, ``queries`` the parts with
    subqueries: the relation does not apply them yet. ``local`` are all parts but ``outer``, as written.
    """

    relation: Relation
    scope: Scope
    kept: Kept | None
    outer: tuple[tuple[exp.Expr, Scalar], ...]
    queries: tuple[exp.Expr, ...]
    local: tuple[exp.Expr, ...]


NEAREST = (
    "find it among public tables, and join on equal columns: a JOIN (SELECT d.day, b.x FROM days AS d ASOF "
    "JOIN b ON d.day >= b.day) AS s ON s.day = a.day"
)
"""What to write where each private row is to have the nearest public one."""


@dataclass(slots=True)
class _Group:
    items: list[tuple[Relation, Span | None]]
    conditions: list[Scalar]
    scope: Scope
    kept: Kept | None = None

    @property
    def facts(self) -> dict[str, Fact]:
        return {name: fact for relation, _ in self.items for name, fact in facts_of(relation).items()}


@dataclass(slots=True)
class FromClause:
    """Binds the FROM clause of one SELECT; ``scope`` and ``facts`` are those of the query around it."""

    text: str
    known: Known
    fresh: Fresh
    query: Callable[[exp.Expr], Private | Open]
    given: Callable[[Open, Span | None], Private]
    constants: Constants
    count: Count
    scope: Scope | None = None
    facts: Mapping[str, Fact] = field(default_factory=dict)
    most_items: Callable[[Fact], int] = field(kw_only=True)

    def span(self, node: exp.Expr | None) -> Span | None:
        return None if node is None else span_of(node, self.text)

    def items(self, node: exp.Select) -> list[Item]:
        """Return the items of FROM in order."""
        clause = node.args.get("from_")
        if clause is None:
            return []
        items = self._item(clause.this, None)
        for join_node in node.args.get("joins") or ():
            items += self.joined_to(items, join_node)
        return items

    def joined_to(self, items: list[Item], node: exp.Join) -> list[Item]:
        """Return the items that a join adds to those before it."""
        private = any(not item.is_open for item in items)
        if private and (unnest := _unnest_of_rows(node.this)) is not None:
            return [self._row_items(unnest, node)]
        if private and isinstance(node.this, exp.Lateral):
            raise refuse(
                "D252",
                "LATERAL is not answered over private rows",
                self.span(node),
                label="it would be computed anew for each private row",
                help="compute the columns in a subquery: FROM (SELECT *, x + 1 AS y FROM ...); or "
                "join on the unit; the items of a list: FROM t, unnest(list) AS u(item)",
            )
        return self._item(node.this, node)

    def _row_items(self, node: exp.Unnest, added_by: exp.Join) -> Item:
        """Return UNNEST of a list that the rows to its left hold, as an item."""
        if len(node.expressions) != 1 or node.args.get("offset"):
            raise refuse(
                "D252",
                "this unnest is not answered",
                self.span(node),
                help="unnest one list, without its positions: FROM t, unnest(list) AS u(item)",
            )
        alias = added_by.this.args.get("alias")  # that of a LATERAL is around the UNNEST
        names = tuple(column.name for column in alias.columns) if alias is not None else ()
        name = alias.name if alias is not None else ""
        self._check_width(names, 1, node)
        source = RowItems(node.expressions[0], SELECTED in node.meta)
        return Item(source, name or self.fresh("sub"), names or (name or "unnest",), node, added_by)

    def _item(self, node: exp.Expr, added_by: exp.Join | None) -> list[Item]:
        """Return an item, followed by the joins that are written behind it without a comma."""
        inside = node
        while isinstance(inside, exp.Paren) or _is_parenthesized_join(inside):
            inside = inside.this
        if isinstance(inside, exp.Lateral) and isinstance(inside.this, exp.Subquery):
            inside = exp.Subquery(this=inside.this.this, alias=inside.args.get("alias"))
        if inside.args.get("pivots"):
            inside = in_from(inside)
        alias = inside.args.get("alias")
        names = tuple(column.name for column in alias.columns) if alias is not None else ()
        joins = [item for join in inside.args.get("joins") or () for item in self._item(join.this, join)]
        grouped = isinstance(inside, exp.Subquery) and isinstance(inside.this, exp.Table)
        if grouped:  # (a JOIN b ...) AS t
            inner = self._item(inside.this, None)
            source: Private | Open | list[Item] = inner
            if all(item.is_open for item in inner):
                subquery = exp.Subquery(this=inside.this.copy())
                source = self.query(exp.Select(expressions=[exp.Star()], from_=exp.From(this=subquery)))
        elif isinstance(inside, exp.Table | exp.Query | exp.Values | exp.Unnest):
            source = self.query(_without_alias(inside))
        else:
            raise refuse(
                "D252",
                "FROM takes only tables and subqueries",
                self.span(inside),
                help="name a table, or write a subquery",
            )
        width = len(
            source.columns
            if isinstance(source, Open)
            else source.scope.columns
            if isinstance(source, Private)
            else names
        )
        self._check_width(names, width, inside)
        name = inside.alias or (inside.name if isinstance(inside, exp.Table) else "") or self.fresh("sub")
        nested = inside is not node and bool(joins) and not grouped
        item = Item(source, name, names, inside, None if nested else added_by)
        if nested and added_by is None and all(part.is_open for part in (item, *joins)):
            return [item, *joins]
        return [Item([item, *joins], "", (), node, added_by)] if nested else [item, *joins]

    def _check_width(self, names: tuple[str, ...], width: int, node: exp.Expr) -> None:
        """Refuse more names than columns."""
        if len(names) > width:
            raise refuse(
                "D202",
                "the alias list has more names than the table has columns",
                self.span(node),
                help="give at most one name for each column",
            )

    # ---- with private items ------------------------------------------------------------------------

    def joined(self, node: exp.Select, items: list[Item]) -> Joined:
        """Join all items and apply WHERE.

        ``places LEFT JOIN visits`` is bound as the inner join. ``Kept`` holds what must be true for that to
        mean the same; it is checked where the rows are aggregated.
        """
        items = regrouped(items)
        groups = self._groups(items)
        scope = Scope(outer=self.scope)
        for group in groups:
            scope += group.scope
        kept = next((group.kept for group in groups if group.kept is not None), None)
        parts, outer, queries, local = self._where(node, groups, scope, kept is not None)
        if kept is not None:
            if items[-1].join is None or items[-1].join.side not in ("LEFT", "RIGHT") or len(items) > 2:
                self.refuse_kept(kept)
            if any(refs(part) & kept.private for part in parts):
                self.refuse_kept(kept)
            chosen = dict(kept.public)
            for part in parts:
                narrow(chosen, part)
            kept = replace(kept, public=chosen)
        conditions = [part for group in groups for part in group.conditions] + parts
        relation = arrange(
            [item for group in groups for item in group.items], conditions, self.known.unit, self.count
        )
        return Joined(relation, scope, kept, tuple(outer), tuple(queries), tuple(local))

    def _groups(self, items: list[Item]) -> list[_Group]:
        """Split the items at commas into groups, and bind the joins of each."""
        groups: list[_Group] = []
        for item in items:
            if isinstance(item.source, RowItems):
                groups = [self._with_row_items(groups, item, item.source)]
                continue
            relation, visible = self._rows(item)
            kind = self._kind(item)
            if kind is None or not groups:
                groups.append(_Group([(relation, self.span(item.node))], [], visible))
            else:
                self._add(groups[-1], item, kind, relation, visible)
        return groups

    def _with_row_items(self, groups: list[_Group], item: Item, unnest: RowItems) -> _Group:
        """Return all groups as one, and in it a row for each item of the list.

        Commas and inner joins may be taken in any order: so the list is taken apart where its columns are.
        """
        kept = next((group.kept for group in groups if group.kept is not None), None)
        if kept is not None:
            self.refuse_kept(kept)
        left = self._keeps_rows_without_items(item)
        scope = sum((group.scope for group in groups[1:]), groups[0].scope)
        pairs = [pair for group in groups for pair in group.items]
        conditions = [condition for group in groups for condition in group.conditions]
        facts = {name: fact for group in groups for name, fact in group.facts.items()}
        items = self._scalars(scope, facts).bind(unnest.items)
        fact = fact_of(items, facts)
        if item_type(fact.type) is None:
            raise refuse(
                "D205",
                f"unnest takes a list, not {named(fact.type)}",
                self.span(unnest.items),
                help="make a list of a text: unnest(string_split(x, ';')); or of a map: unnest(map_keys(x))",
            )
        holders = [pair for pair in pairs if refs(items) <= facts_of(pair[0]).keys()]
        if not holders:
            holders, pairs = [(arrange(pairs, conditions, self.known.unit), self.span(item.node))], []
            conditions = []
        relation, span = holders[0]
        most = self.most_items(fact)
        grown, column = with_items(relation, items, most, left, self.known, self.fresh, self.span(item.node))
        pairs = [pair for pair in pairs if pair[0] is not relation]
        shown = Visible(item.alias, item.names[0], column, merged=unnest.selected)
        scope = scope + Scope((shown,))
        group = _Group([(grown, span), *pairs], conditions, scope)
        assert item.join is not None
        on = item.join.args.get("on")
        if on is not None and not _is_true(on):
            group.conditions += conjuncts(self._scalars(scope, group.facts).condition(on))
        return group

    def _scalars(self, scope: Scope, facts: Facts) -> Scalars:
        return Scalars(self.text, scope, {**self.facts, **facts}, self.constants, self.known.timezone)

    def _keeps_rows_without_items(self, item: Item) -> bool:
        """Whether an UNNEST is the right side of a LEFT join; refuse other joins than that and inner ones."""
        join, on = item.join, None if item.join is None else item.join.args.get("on")
        assert join is not None
        plain = join.kind in ("", "CROSS", "INNER") and not join.method and not join.args.get("using")
        true = on is None or _is_true(on)
        if not plain or join.side not in ("", "LEFT") or (join.side and not true):
            raise refuse(
                "D252",
                "this join with the items of a list is not answered",
                self.span(join),
                help="write FROM t, unnest(list) AS u(item), with conditions in WHERE; or LEFT JOIN "
                "unnest(list) AS u(item) ON true",
            )
        return bool(join.side)

    def _add(self, group: _Group, item: Item, kind: JoinKind, relation: Relation, visible: Scope) -> None:
        """Add a join to a group."""
        assert item.join is not None
        span = self.span(item.join)
        if kind.one_sided or kind is JoinKind.FULL:
            self._refuse_filtered_public(kind, group, relation, span)
        unit = self._unit_of_either(group, relation) if kind is JoinKind.FULL else None
        on = on_condition(
            item.join,
            On(
                self.text,
                group.scope,
                visible,
                {**group.facts, **facts_of(relation)},
                self.known.timezone,
                unit,
            ),
            self.constants,
        )
        group.scope = on.left if kind.one_sided else on.left + on.right
        if kind is JoinKind.INNER:
            group.items.append((relation, span))
            group.conditions += conjuncts(on.condition) if on.condition is not None else ()
            return
        first, second = arrange(group.items, group.conditions, self.known.unit, self.count), relation
        if item.join.side == "RIGHT":
            first, second = second, first
        kept = kind is JoinKind.LEFT and isinstance(ownership_of(first), Public)
        if kept and isinstance(ownership_of(second), Owned):
            kind = JoinKind.INNER
            group.kept = Kept(facts_of(first), frozenset(facts_of(second)), span)
            parts = conjuncts(on.condition) if on.condition is not None else ()
            if any(refs(part) and refs(part) <= group.kept.public.keys() for part in parts):
                self.refuse_kept(group.kept, chosen=True)
        joined = join(
            kind,
            first,
            second,
            on.condition,
            span,
            self.known.unit,
            None if unit is None else unit[1],
            self.count,
        )
        group.items, group.conditions = [(joined, span)], []

    def _unit_of_either(self, group: _Group, right: Relation) -> tuple[frozenset[str], Column]:
        """Return the unit columns of both sides of a FULL join, and a new column for the unit of its rows."""
        left = arrange(group.items, group.conditions, self.known.unit, self.count)
        sides = [ownership_of(side) for side in (left, right)]
        names = frozenset(name for owner in sides if isinstance(owner, Owned) for name in owner.units)
        return names, Column(self.fresh("unit"), Fact(self.known.unit_type, nullable=False))

    def refuse_kept(self, kept: Kept, null: str | None = None, chosen: bool = False) -> NoReturn:
        """Refuse an outer join that keeps public rows.

        ``null`` is a key of theirs that may be NULL; ``chosen``: the join's condition chooses among them.
        """
        instead = "count a private column, COUNT(v.x), by groups of the public table; or use JOIN"
        if chosen:
            instead = (
                "leave conditions on the public table out of ON, and count where they hold: "
                "COUNT(v.x) FILTER (WHERE t.x > 1)"
            )
        if null is not None:
            instead = (
                f"leave out its rows without {null}, which meet no row: FROM (SELECT * FROM t WHERE {null} "
                "IS NOT NULL) AS t LEFT JOIN ..., and count a private column, COUNT(v.x)"
            )
        raise refuse(
            "D404",
            "this outer join keeps public rows that have no private row",
            kept.span,
            label=f"such a row belongs to no {self.known.unit}, and whether it exists depends on all of them",
            help=instead,
        )

    def _rows(self, item: Item) -> tuple[Relation, Scope]:
        """Return an item as a relation and its scope."""
        source = item.source
        assert not isinstance(source, RowItems), "the groups take them apart"
        if isinstance(source, list):
            inner = self._groups(source)
            scope = Scope()
            for group in inner:
                if group.kept is not None:
                    self.refuse_kept(group.kept)
                scope += group.scope
            parts = [part for group in inner for part in group.conditions]
            relation = arrange(
                [pair for group in inner for pair in group.items], parts, self.known.unit, self.count
            )
            return relation, scope.under(item.alias, item.names) if item.alias else scope
        if isinstance(source, Open):
            source = source.rows or self.given(source, self.span(item.node))
        return source.relation, source.scope.under(item.alias, item.names)

    def _kind(self, item: Item) -> JoinKind | None:
        """Return the kind of an item's join; None where a comma starts a new group. RIGHT is LEFT here."""
        join = item.join
        if join is None:
            return None
        if (join.method and join.method != "NATURAL") or join.args.get("match_condition"):
            self._refuse_method(join, item)
        if join.kind in ("SEMI", "ANTI"):
            return JoinKind[join.kind]
        if join.side:
            return JoinKind.FULL if join.side == "FULL" else JoinKind.LEFT
        if not join.kind and not join.method and not join.args.get("on") and not join.args.get("using"):
            return None
        return JoinKind.INNER

    def _refuse_method(self, join: exp.Join, item: Item) -> NoReturn:
        """Refuse an ASOF or a POSITIONAL JOIN."""
        unit = self.known.unit
        if join.method == "POSITIONAL":
            label = f"which rows stand side by side depends on all {unit}s"
            written = "join on what the rows share: a JOIN b USING (x)"
        elif isinstance(ownership_of(self._rows(item)[0]), Public):
            label = "the nearest row is found among public tables only"
            written = NEAREST
        else:
            label = f"which row is the nearest may depend on rows of other {unit}s"
            written = (
                f"write a JOIN ... USING ({self.known.unit_column}), and keep the nearest row of each row of "
                f"a: QUALIFY ROW_NUMBER() OVER (PARTITION BY {self.known.unit_column}, a.key ORDER BY ...) "
                "= 1"
            )
        raise refuse(
            "D252",
            f"{join.method or 'ASOF'} JOIN is not answered over private rows",
            self.span(join),
            label=label,
            help=written,
        )

    def _refuse_filtered_public(
        self, kind: JoinKind, group: _Group, right: Relation, span: Span | None
    ) -> None:
        """Refuse SEMI and ANTI joins that filter public rows by private ones, FULL joins of public rows."""
        sides = [arrange(group.items, group.conditions, self.known.unit, self.count), right]
        public = [isinstance(ownership_of(side), Public) for side in sides]
        if kind.one_sided and public == [True, False]:
            raise refuse(
                "D405",
                "public rows would be chosen by private ones",
                span,
                label=f"one {self.known.unit} could decide whether a public row is kept",
                help=f"release the keys first: ... FROM a {kind.name} JOIN (SELECT x FROM ... GROUP BY x) AS "
                "b USING (x)",
            )
        if kind is JoinKind.FULL and any(public):
            raise refuse(
                "D404",
                "this outer join keeps public rows that have no private row",
                span,
                label=f"such a row belongs to no {self.known.unit}; whether it exists depends on all of them",
                help="write LEFT JOIN with the private table first; or release its groups, and join them: "
                "... FROM (SELECT x, COUNT(*) AS n FROM ... GROUP BY x) AS a FULL JOIN b USING (x)",
            )

    def _where(
        self, node: exp.Select, groups: list[_Group], scope: Scope, plain: bool
    ) -> tuple[list[Scalar], list[tuple[exp.Expr, Scalar]], list[exp.Expr], list[exp.Expr]]:
        """Return the parts of WHERE: over these rows, over the query around, with subqueries, local."""
        where = node.args.get("where")
        if where is None:
            return [], [], [], []
        facts = {name: fact for group in groups for name, fact in group.facts.items()}
        names = facts.keys()
        scalars = self._scalars(scope, facts)
        parts: list[Scalar] = []
        outer: list[tuple[exp.Expr, Scalar]] = []
        queries: list[exp.Expr] = []
        local: list[exp.Expr] = []
        for part in parts_of(with_aliases(where.this, node, scope)):
            if has_query(part) and not plain:
                queries.append(part)
                local.append(part)
                continue
            condition = scalars.condition(part)
            if refs(condition) <= names:
                parts += conjuncts(condition)
                local.append(part)
            else:
                outer.append((part, condition))
        return parts, outer, queries, local


def _is_true(node: exp.Expr) -> bool:
    return isinstance(node, exp.Boolean) and bool(node.this)


def _unnest_of_rows(node: exp.Expr) -> exp.Unnest | None:
    """Return an UNNEST that reads columns, with or without LATERAL; None for anything else."""
    inner = node.this if isinstance(node, exp.Lateral) else node
    return inner if isinstance(inner, exp.Unnest) and inner.find(exp.Column) is not None else None


def _is_parenthesized_join(node: exp.Expr) -> bool:
    """Whether this is a table and its joins in parentheses, without an alias."""
    return (
        isinstance(node, exp.Subquery)
        and isinstance(node.this, exp.Table)
        and not (node.alias or node.args.get("pivots"))
    )


def _without_alias(node: exp.Expr) -> exp.Expr:
    """Return the item without its alias and its joins; the positions in the text are kept."""
    if isinstance(node, exp.Subquery):
        return node.this if not any(node.args.get(k) for k in ("order", "limit", "offset")) else node
    return node


__all__ = ["FromClause", "Item", "Joined", "Kept"]
