"""FROM: its items, and what they make together when some of them are private.

A comma starts a new group; explicit joins belong to the group before them; inner joins of all groups
and WHERE are arranged as one set (``joins.arrange``), outer joins stay where they were written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NoReturn

from sqlglot import exp

from dpsql.bind.joins import all_of, arrange, join
from dpsql.bind.names import Fresh, Scope, Visible
from dpsql.bind.pivots import in_from
from dpsql.bind.scalars import Constants, Scalars
from dpsql.bind.sources import Open, Private
from dpsql.errors import refuse
from dpsql.facts.ownership import Owned, Public, ownership_of
from dpsql.facts.schema import Facts, facts_of, narrow
from dpsql.functions import Unfit
from dpsql.functions.meaning import call
from dpsql.ir.relation import JoinKind, Relation
from dpsql.ir.scalar import Scalar, conjuncts, refs
from dpsql.ir.source import Span
from dpsql.parse.spans import span_of
from dpsql.policy.catalogue import Known


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """One thing in FROM: what it is, the name it goes by, and the join that brought it (if any)."""

    source: Private | Open
    alias: str
    names: tuple[str, ...]
    node: exp.Expr
    join: exp.Join | None

    @property
    def columns(self) -> tuple[str, ...]:
        """Output names, the first ones renamed by an alias list."""
        assert isinstance(self.source, Open)
        return self.names + self.source.columns[len(self.names) :]


class Froms:
    """Reads the FROM clause of one SELECT."""

    def __init__(
        self,
        text: str,
        known: Known,
        fresh: Fresh,
        query: Callable[[exp.Expr], Private | Open],
        given: Callable[[Open, Span | None], Private],
        constants: Constants,
    ) -> None:
        self.text, self.known, self.fresh = text, known, fresh
        self._query, self._given, self._constants = query, given, constants

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
                    help="compute the columns in a subquery of the private table, or join on the unit",
                )
            found += self._item(each.this, each)
        return found

    def _item(self, node: exp.Expr, brought: exp.Join | None) -> list[Item]:
        """An item, followed by the joins that are written inside its parentheses."""
        inside = node
        while isinstance(inside, exp.Paren) or (
            isinstance(inside, exp.Subquery)
            and isinstance(inside.this, exp.Table)
            and not inside.alias
            and not inside.args.get("pivots")
        ):
            inside = inside.this
        if isinstance(inside, exp.Lateral) and isinstance(inside.this, exp.Subquery):
            inside = exp.Subquery(this=inside.this.this, alias=inside.args.get("alias"))
        if inside.args.get("pivots"):
            inside = in_from(inside)
        if inside is not node and brought is not None and inside.args.get("joins"):
            raise refuse(
                "D252",
                "joins in parentheses are not answered here",
                self.span(node),
                help="join the tables one after the other",
            )
        alias = inside.args.get("alias")
        names = tuple(each.name for each in alias.columns) if alias is not None else ()
        name = inside.alias or (inside.name if isinstance(inside, exp.Table) else "")
        if isinstance(inside, exp.Table | exp.Query | exp.Values | exp.Unnest):
            source = self._query(_plain(inside))
        else:
            raise refuse(
                "D252",
                "only tables and subqueries are read in FROM",
                self.span(inside),
                help="name a table, or write a subquery",
            )
        if len(names) > (len(source.columns) if isinstance(source, Open) else len(source.scope.columns)):
            raise refuse(
                "D202",
                "the alias list is longer than the table is wide",
                self.span(inside),
                help="give at most one name for each column",
            )
        if not name:
            name = self.fresh("sub")
        item = Item(source, name, names, inside, brought)
        rest = [each for one in inside.args.get("joins") or () for each in self._item(one.this, one)]
        return [item, *rest]

    # ---- with private items ------------------------------------------------------------------------

    def joined(self, node: exp.Select, items: list[Item]) -> tuple[Relation, Scope, Kept | None]:
        """All items and WHERE as one relation, and the names that can be used over it.

        ``places LEFT JOIN visits`` is read as the inner join: what must hold for that to mean the same is
        told by ``Kept``, and checked where the rows are aggregated.
        """
        groups: list[_Group] = []
        kept_public: Kept | None = None
        scope = Scope()
        for item in items:
            self._refuse_choosing(item, groups)
            kind = self._kind(item)
            rows = self._rows(item)
            visible = rows.scope.under(item.alias, item.names)
            if kind is None or not groups:
                groups.append(_Group([(rows.relation, self.span(item.node))], [], visible))
                scope += visible
                continue
            group = groups[-1]
            assert item.join is not None
            condition, visible = self._condition(item.join, group.scope, visible, group, rows.relation)
            group.scope += visible
            scope += visible
            if kind is JoinKind.INNER and item.join.side != "RIGHT":
                group.items.append((rows.relation, self.span(item.join)))
                group.conditions += conjuncts(condition) if condition is not None else ()
                continue
            kept, other = arrange(group.items, group.conditions, self.known.unit), rows.relation
            if item.join.side == "RIGHT":
                kept, other = other, kept
            how = JoinKind.LEFT
            if isinstance(ownership_of(kept), Public) and isinstance(ownership_of(other), Owned):
                how = JoinKind.INNER
                sides = facts_of(kept), frozenset(facts_of(other))
                kept_public = Kept(*sides, self.span(item.join))
            outer = join(how, kept, other, condition, self.span(item.join), self.known.unit)
            group.items, group.conditions = [(outer, self.span(item.join))], []
        conditions = [part for group in groups for part in group.conditions]
        where = self._where(node, [each for group in groups for each in group.items], scope)
        if kept_public is not None:
            if items[-1].join is None or items[-1].join.side not in ("LEFT", "RIGHT") or len(items) > 2:
                self.refuse_kept(kept_public)
            if any(refs(part) & kept_public.private for part in where):
                self.refuse_kept(kept_public)
            chosen = dict(kept_public.public)
            for part in where:
                narrow(chosen, part)
            kept_public = replace(kept_public, public=chosen)
        conditions += where
        relation = arrange([each for group in groups for each in group.items], conditions, self.known.unit)
        return relation, scope, kept_public

    def refuse_kept(self, kept: Kept) -> NoReturn:
        raise refuse(
            "D404",
            "this outer join keeps public rows that have no private row",
            kept.span,
            label=f"such a row belongs to no {self.known.unit}, and its being there depends on all of them",
            help="count a private column, COUNT(v.x), by groups of the public table; or use JOIN",
        )

    def _rows(self, item: Item) -> Private:
        source = item.source
        if isinstance(source, Private):
            return source
        if source.rows is not None:
            return source.rows
        if source.released:
            raise refuse(
                "D252",
                "a released table is not joined back to private rows yet",
                self.span(item.node),
                help="ask for the release first, and write its values into this query",
            )
        return self._given(source, self.span(item.node))

    def _kind(self, item: Item) -> JoinKind | None:
        """INNER or LEFT (or RIGHT, told by its side); None where a comma starts a new group."""
        each = item.join
        if each is None:
            return None
        if each.method:
            raise refuse(
                "D252",
                f"{each.method} JOIN is not answered over private rows",
                self.span(each),
                help="write JOIN ... ON the column that holds the unit",
            )
        if each.kind in ("SEMI", "ANTI") or each.side == "FULL" or each.args.get("match_condition"):
            shown = f"{each.side or ''} {each.kind or ''}".strip()
            raise refuse(
                "D252",
                f"{shown} JOIN is not answered over private rows yet",
                self.span(each),
                help="use JOIN or LEFT JOIN on the column that holds the unit",
            )
        if each.side in ("LEFT", "RIGHT"):
            return JoinKind.LEFT
        if not each.kind and not each.args.get("on") and not each.args.get("using"):
            return None
        return JoinKind.INNER

    def _refuse_choosing(self, item: Item, groups: list[_Group]) -> None:
        """SEMI, ANTI and FULL joins in which private rows choose public ones."""
        each = item.join
        if each is None or not groups:
            return
        public = all(isinstance(ownership_of(one), Public) for one, _ in groups[-1].items)
        if each.kind in ("SEMI", "ANTI") and public and isinstance(item.source, Private):
            raise refuse(
                "D405",
                "public rows would be chosen by private ones",
                self.span(each),
                help="release the keys first: SELECT ... GROUP BY, then join with the released groups",
            )

    def _condition(
        self, node: exp.Join, left: Scope, right: Scope, group: _Group, relation: Relation
    ) -> tuple[Scalar | None, Scope]:
        """The ON or USING of a join, and the right side's scope (what USING merged answers qualified)."""
        facts = {k: v for each, _ in group.items for k, v in facts_of(each).items()} | dict(
            facts_of(relation)
        )
        using = node.args.get("using")
        if using:
            parts: list[Scalar] = []
            for shared in using:
                ours = left.resolve(shared.name, "", self.span(shared))
                theirs = right.resolve(shared.name, "", self.span(shared))
                try:
                    parts.append(call("=", (ours, theirs), facts.__getitem__, None, self.span(shared)))
                except Unfit as unfit:
                    raise refuse(unfit.code, unfit.title, self.span(shared), help=unfit.help) from None
            merged = {shared.name.casefold() for shared in using}
            if node.side == "RIGHT":
                raise refuse(
                    "D252",
                    "RIGHT JOIN ... USING is not answered over private rows",
                    self.span(node),
                    help="write ON a.x = b.x",
                )
            kept = tuple(
                Visible(v.qualifier, v.name, v.scalar, v.merged or v.name.casefold() in merged)
                for v in right.columns
            )
            return all_of(parts), Scope(kept, right.hints)
        on = node.args.get("on")
        if on is None:
            return None, right
        return Scalars(self.text, left + right, facts, self._constants).condition(on), right

    def _where(
        self, node: exp.Select, items: list[tuple[Relation, Span | None]], scope: Scope
    ) -> list[Scalar]:
        where = node.args.get("where")
        if where is None:
            return []
        facts = {name: fact for each, _ in items for name, fact in facts_of(each).items()}
        condition = _with_aliases(where.this, node, scope)
        return list(conjuncts(Scalars(self.text, scope, facts, self._constants).condition(condition)))


def _with_aliases(condition: exp.Expr, node: exp.Select, scope: Scope) -> exp.Expr:
    """WHERE may use an alias of the select list where no column has that name, as in DuckDB."""
    aliases = {each.alias.casefold(): each.this for each in node.expressions if isinstance(each, exp.Alias)}

    def written_out(each: exp.Expr) -> exp.Expr:
        if isinstance(each, exp.Column) and not each.table and not scope.find(each.name):
            meant = aliases.get(each.name.casefold())
            if meant is not None and not meant.find(exp.AggFunc, exp.Query):
                return exp.Paren(this=meant.copy())
        return each

    return condition.transform(written_out) if aliases else condition


@dataclass(frozen=True, slots=True)
class Kept:
    """An outer join that keeps public rows: what is known of its public side, and its private columns."""

    public: Facts
    private: frozenset[str]
    span: Span | None


@dataclass(slots=True)
class _Group:
    items: list[tuple[Relation, Span | None]]
    conditions: list[Scalar]
    scope: Scope


def _plain(node: exp.Expr) -> exp.Expr:
    """The item without its alias and its joins, places kept: what it is, whatever it is called."""
    if isinstance(node, exp.Subquery):
        return node.this if not any(node.args.get(k) for k in ("order", "limit", "offset")) else node
    return node


__all__ = ["Froms", "Item"]
