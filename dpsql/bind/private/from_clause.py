"""FROM: its items, and what they make together when some of them are private.

A comma starts a new group; explicit joins belong to the group before them; inner joins of all groups
and WHERE are arranged as one set (``joins.arrange``), outer joins stay where they were written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NoReturn

from sqlglot import exp

from dpsql.bind.expressions.scalars import Constants, Scalars
from dpsql.bind.private.conditions import On, has_query, on_condition, parts_of, with_aliases
from dpsql.bind.private.joins import arrange, join
from dpsql.bind.scope.scope import Fresh, Scope
from dpsql.bind.scope.sources import Open, Private
from dpsql.bind.syntax.pivots import in_from
from dpsql.errors import refuse
from dpsql.facts.ownership import Owned, Public, ownership_of
from dpsql.facts.schema import Facts, facts_of, narrow
from dpsql.ir.column import Column, Fact
from dpsql.ir.relation import JoinKind, Relation
from dpsql.ir.scalar import Scalar, conjuncts, refs
from dpsql.ir.source import Span
from dpsql.parse.spans import span_of
from dpsql.policy.catalogue import Known


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """One thing in FROM: what it is, the name it goes by, and the join that brought it (if any).

    The ``source`` of parenthesised joins is the list of what stands in the parentheses.
    """

    source: Private | Open | list[Item]
    alias: str
    names: tuple[str, ...]
    node: exp.Expr
    join: exp.Join | None

    @property
    def columns(self) -> tuple[str, ...]:
        """Output names, the first ones renamed by an alias list."""
        assert isinstance(self.source, Open)
        return self.names + self.source.columns[len(self.names) :]

    @property
    def is_open(self) -> bool:
        """Whether no private row is in it."""
        if isinstance(self.source, list):
            return all(each.is_open for each in self.source)
        return isinstance(self.source, Open)


@dataclass(frozen=True, slots=True)
class Kept:
    """An outer join that keeps public rows: what is known of its public side, and its private columns."""

    public: Facts
    private: frozenset[str]
    span: Span | None


@dataclass(frozen=True, slots=True)
class Joined:
    """All items and WHERE as one relation, and the names that can be used over it.

    ``outer`` are the parts of WHERE that read columns of the query around, ``queries`` those in which
    subqueries stand: neither is in the relation yet. ``local`` are all parts but the outer ones, as written.
    """

    relation: Relation
    scope: Scope
    kept: Kept | None
    outer: tuple[tuple[exp.Expr, Scalar], ...]
    queries: tuple[exp.Expr, ...]
    local: tuple[exp.Expr, ...]


@dataclass(slots=True)
class _Group:
    items: list[tuple[Relation, Span | None]]
    conditions: list[Scalar]
    scope: Scope
    kept: Kept | None = None

    @property
    def facts(self) -> dict[str, Fact]:
        return {name: fact for each, _ in self.items for name, fact in facts_of(each).items()}


@dataclass(slots=True)
class FromClause:
    """Reads the FROM clause of one SELECT; ``scope`` and ``facts`` are those of the query around it."""

    text: str
    known: Known
    fresh: Fresh
    query: Callable[[exp.Expr], Private | Open]
    given: Callable[[Open, Span | None], Private]
    constants: Constants
    scope: Scope | None = None
    facts: Mapping[str, Fact] = field(default_factory=dict)

    def span(self, node: exp.Expr | None) -> Span | None:
        return None if node is None else span_of(node, self.text)

    def items(self, node: exp.Select) -> list[Item]:
        clause = node.args.get("from_")
        if clause is None:
            return []
        found = self._item(clause.this, None)
        for each in node.args.get("joins") or ():
            beside = isinstance(each.this, exp.Lateral) or (
                isinstance(each.this, exp.Unnest) and each.this.find(exp.Column)
            )
            if beside and any(isinstance(one.source, Private) for one in found):
                raise refuse(
                    "D252",
                    "LATERAL is not answered over private rows",
                    self.span(each),
                    label="it would make a table of each private row",
                    help="compute the columns in a subquery: FROM (SELECT *, x + 1 AS y FROM ...); or "
                    "join on the unit",
                )
            found += self._item(each.this, each)
        return found

    def _item(self, node: exp.Expr, brought: exp.Join | None) -> list[Item]:
        """An item, followed by the joins that are written behind it without a comma."""
        inside = node
        while isinstance(inside, exp.Paren) or _is_bare(inside):
            inside = inside.this
        if isinstance(inside, exp.Lateral) and isinstance(inside.this, exp.Subquery):
            inside = exp.Subquery(this=inside.this.this, alias=inside.args.get("alias"))
        if inside.args.get("pivots"):
            inside = in_from(inside)
        alias = inside.args.get("alias")
        names = tuple(each.name for each in alias.columns) if alias is not None else ()
        joins = [each for one in inside.args.get("joins") or () for each in self._item(one.this, one)]
        grouped = isinstance(inside, exp.Subquery) and isinstance(inside.this, exp.Table)
        if grouped:  # (a JOIN b ...) AS t
            held = self._item(inside.this, None)
            source: Private | Open | list[Item] = held
            if all(each.is_open for each in held):
                whole = exp.Subquery(this=inside.this.copy())
                source = self.query(exp.Select(expressions=[exp.Star()], from_=exp.From(this=whole)))
        elif isinstance(inside, exp.Table | exp.Query | exp.Values | exp.Unnest):
            source = self.query(_plain(inside))
        else:
            raise refuse(
                "D252",
                "only tables and subqueries are read in FROM",
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
        if len(names) > width:
            raise refuse(
                "D202",
                "the alias list is longer than the table is wide",
                self.span(inside),
                help="give at most one name for each column",
            )
        name = inside.alias or (inside.name if isinstance(inside, exp.Table) else "") or self.fresh("sub")
        nested = inside is not node and bool(joins) and not grouped
        item = Item(source, name, names, inside, None if nested else brought)
        if nested and brought is None and all(each.is_open for each in (item, *joins)):
            return [item, *joins]
        return [Item([item, *joins], "", (), node, brought)] if nested else [item, *joins]

    # ---- with private items ------------------------------------------------------------------------

    def joined(self, node: exp.Select, items: list[Item]) -> Joined:
        """All items and WHERE. ``places LEFT JOIN visits`` is read as the inner join: what must hold for

        that to mean the same is told by ``Kept``, and checked where the rows are aggregated.
        """
        groups = self._groups(items)
        scope = Scope(outer=self.scope)
        for group in groups:
            scope += group.scope
        kept = next((each.kept for each in groups if each.kept is not None), None)
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
        relation = arrange([each for group in groups for each in group.items], conditions, self.known.unit)
        return Joined(relation, scope, kept, tuple(outer), tuple(queries), tuple(local))

    def _groups(self, items: list[Item]) -> list[_Group]:
        groups: list[_Group] = []
        for item in items:
            relation, visible = self._rows(item)
            kind = self._kind(item)
            if kind is None or not groups:
                groups.append(_Group([(relation, self.span(item.node))], [], visible))
            else:
                self._add(groups[-1], item, kind, relation, visible)
        return groups

    def _add(self, group: _Group, item: Item, kind: JoinKind, relation: Relation, visible: Scope) -> None:
        """One more join behind a group."""
        assert item.join is not None
        span = self.span(item.join)
        if kind.one_sided or kind is JoinKind.FULL:
            self._refuse_choosing(kind, group, relation, span)
        unit = self._unit_of_either(group, relation) if kind is JoinKind.FULL else None
        on = on_condition(
            item.join,
            On(self.text, group.scope, visible, {**group.facts, **facts_of(relation)}, unit),
            self.constants,
        )
        group.scope = on.left if kind.one_sided else on.left + on.right
        if kind is JoinKind.INNER:
            group.items.append((relation, span))
            group.conditions += conjuncts(on.condition) if on.condition is not None else ()
            return
        first, other = arrange(group.items, group.conditions, self.known.unit), relation
        if item.join.side == "RIGHT":
            first, other = other, first
        kept = kind is JoinKind.LEFT and isinstance(ownership_of(first), Public)
        if kept and isinstance(ownership_of(other), Owned):
            kind = JoinKind.INNER
            group.kept = Kept(facts_of(first), frozenset(facts_of(other)), span)
        whole = join(
            kind, first, other, on.condition, span, self.known.unit, None if unit is None else unit[1]
        )
        group.items, group.conditions = [(whole, span)], []

    def _unit_of_either(self, group: _Group, right: Relation) -> tuple[frozenset[str], Column]:
        """The column that is to hold the unit of a FULL join's rows, and the two that it is made of."""
        left = arrange(group.items, group.conditions, self.known.unit)
        sides = [ownership_of(each) for each in (left, right)]
        names = frozenset(name for each in sides if isinstance(each, Owned) for name in each.units)
        return names, Column(self.fresh("unit"), Fact(self.known.unit_type, nullable=False))

    def refuse_kept(self, kept: Kept) -> NoReturn:
        raise refuse(
            "D404",
            "this outer join keeps public rows that have no private row",
            kept.span,
            label=f"such a row belongs to no {self.known.unit}, and its being there depends on all of them",
            help="count a private column, COUNT(v.x), by groups of the public table; or use JOIN",
        )

    def _rows(self, item: Item) -> tuple[Relation, Scope]:
        source = item.source
        if isinstance(source, list):
            inner = self._groups(source)
            scope = Scope()
            for group in inner:
                if group.kept is not None:
                    self.refuse_kept(group.kept)
                scope += group.scope
            parts = [part for group in inner for part in group.conditions]
            relation = arrange([each for group in inner for each in group.items], parts, self.known.unit)
            return relation, scope.under(item.alias, item.names) if item.alias else scope
        if isinstance(source, Open):
            source = source.rows or self.given(source, self.span(item.node))
        return source.relation, source.scope.under(item.alias, item.names)

    def _kind(self, item: Item) -> JoinKind | None:
        """Which join brought an item (RIGHT is told by its side); None where a comma starts a new group."""
        each = item.join
        if each is None:
            return None
        if (each.method and each.method != "NATURAL") or each.args.get("match_condition"):
            raise refuse(
                "D252",
                f"{each.method or 'ASOF'} JOIN is not answered over private rows",
                self.span(each),
                label="which rows meet depends on rows of other units",
                help=f"write JOIN ... USING ({self.known.unit_column}), and keep the nearest row: QUALIFY "
                f"ROW_NUMBER() OVER (PARTITION BY {self.known.unit_column} ORDER BY ...) = 1",
            )
        if each.kind in ("SEMI", "ANTI"):
            return JoinKind[each.kind]
        if each.side:
            return JoinKind.FULL if each.side == "FULL" else JoinKind.LEFT
        if not each.kind and not each.method and not each.args.get("on") and not each.args.get("using"):
            return None
        return JoinKind.INNER

    def _refuse_choosing(self, kind: JoinKind, group: _Group, right: Relation, span: Span | None) -> None:
        """SEMI and ANTI joins in which private rows choose public ones, FULL ones that keep public rows."""
        sides = [arrange(group.items, group.conditions, self.known.unit), right]
        public = [isinstance(ownership_of(each), Public) for each in sides]
        if kind.one_sided and public == [True, False]:
            raise refuse(
                "D405",
                "public rows would be chosen by private ones",
                span,
                label=f"one {self.known.unit} could choose a public row",
                help="release the keys first: ... FROM a SEMI JOIN (SELECT x FROM ... GROUP BY x) AS b "
                "USING (x)",
            )
        if kind is JoinKind.FULL and any(public):
            raise refuse(
                "D404",
                "this outer join keeps public rows that have no private row",
                span,
                label=f"such a row belongs to no {self.known.unit}; its being there depends on all of them",
                help="write LEFT JOIN with the private table first; or release its groups, and join them: "
                "... FROM (SELECT x, COUNT(*) AS n FROM ... GROUP BY x) AS a FULL JOIN b USING (x)",
            )

    def _where(
        self, node: exp.Select, groups: list[_Group], scope: Scope, plain: bool
    ) -> tuple[list[Scalar], list[tuple[exp.Expr, Scalar]], list[exp.Expr], list[exp.Expr]]:
        """The parts of WHERE: on these rows alone, on the rows of the query around too, with subqueries."""
        where = node.args.get("where")
        if where is None:
            return [], [], [], []
        facts = {name: fact for group in groups for name, fact in group.facts.items()}
        own = facts.keys()
        scalars = Scalars(self.text, scope, {**self.facts, **facts}, self.constants)
        parts: list[Scalar] = []
        outer: list[tuple[exp.Expr, Scalar]] = []
        queries: list[exp.Expr] = []
        local: list[exp.Expr] = []
        for each in parts_of(with_aliases(where.this, node, scope)):
            if has_query(each) and not plain:
                queries.append(each)
                local.append(each)
                continue
            condition = scalars.condition(each)
            if refs(condition) <= own:
                parts += conjuncts(condition)
                local.append(each)
            else:
                outer.append((each, condition))
        return parts, outer, queries, local


def _is_bare(node: exp.Expr) -> bool:
    """Parentheses around a table and its joins, without a name for the whole."""
    return (
        isinstance(node, exp.Subquery)
        and isinstance(node.this, exp.Table)
        and not (node.alias or node.args.get("pivots"))
    )


def _plain(node: exp.Expr) -> exp.Expr:
    """The item without its alias and its joins, places kept: what it is, whatever it is called."""
    if isinstance(node, exp.Subquery):
        return node.this if not any(node.args.get(k) for k in ("order", "limit", "offset")) else node
    return node


__all__ = ["FromClause", "Item", "Joined", "Kept"]
