"""Ordinary SQL over released and public tables: kept as it was written, its names made ours.

Every FROM item becomes the bound tree of what it names; stars are written out, so that the columns
with half-widths, which travel at the end of each select list, never show where nobody asked for them.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dpsql.bind.private.conditions import has_query
from dpsql.bind.private.from_clause import Item
from dpsql.bind.released.provenance import ColumnLineage
from dpsql.bind.scope.scope import Fresh, Scope, Visible
from dpsql.bind.scope.sources import Margin, Open, Private
from dpsql.bind.scope.wrappers import unaliased
from dpsql.bind.syntax.stars import Shown, starless
from dpsql.errors import refuse
from dpsql.parse.samples import Sample
from dpsql.parse.spans import span_of
from dpsql.policy.catalogue import KnownTable

Subqueries = Callable[[exp.Expr], exp.Expr]


def identifier(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)


def column(name: str, table: str) -> exp.Column:
    return exp.Column(this=identifier(name), table=identifier(table))


def aliased(tree: exp.Expr, alias: str, names: tuple[str, ...] = ()) -> exp.Expr:
    """A FROM item: a table, or a subquery in parentheses, under a name."""
    table_alias = exp.TableAlias(this=identifier(alias), columns=[identifier(each) for each in names])
    if isinstance(tree, exp.Table):
        return exp.Table(this=tree.this.copy(), alias=table_alias)
    return exp.Subquery(this=tree.copy(), alias=table_alias)


def open_table(known: KnownTable, rows: Private) -> Open:
    """A public table, under the name it has in the sealed engine."""
    names = tuple(each.name for each in known.columns)
    return Open(exp.Table(this=identifier(known.name)), names, ((),) * len(names), rows)


def exactly(bound: Open, fresh: Fresh) -> exp.Expr:
    """The tree with the analyst's columns only."""
    if not bound.hidden:
        tree = bound.tree
        return tree.copy() if isinstance(tree, exp.Query) else exp.select("*").from_(tree.copy())
    alias = fresh("sub")
    listed = [column(each, alias) for each in bound.columns]
    return exp.Select(expressions=listed, from_=exp.From(this=aliased(bound.tree, alias)))


def renamed(bound: Open, names: tuple[str, ...], fresh: Fresh) -> Open:
    """The same with its first columns under other names: WITH t(a, b) AS ..."""
    alias = fresh("sub")
    columns = names + bound.columns[len(names) :]
    listed = [
        exp.alias_(column(old, alias), new, quoted=True)
        for old, new in zip(bound.columns, columns, strict=True)
    ]
    listed += [column(each, alias) for each in bound.hidden]
    tree = exp.Select(expressions=listed, from_=exp.From(this=aliased(bound.tree, alias)))
    return Open(tree, columns, bound.margins, None, bound.released)


def wrapped(bound: Open, clauses: dict[str, exp.Expr], fresh: Fresh) -> Open:
    """(SELECT ...) ORDER BY ... LIMIT ...: the clauses around a parenthesised query."""
    alias = fresh("sub")
    listed = [column(each, alias) for each in (*bound.columns, *bound.hidden)]
    tree = exp.Select(expressions=listed, from_=exp.From(this=aliased(bound.tree, alias)), **clauses)
    return Open(tree, bound.columns, bound.margins, None, bound.released)


def open_set_operation(
    node: exp.SetOperation, left: Open, right: Open, subqueries: Subqueries, fresh: Fresh
) -> Open:
    """UNION, INTERSECT, EXCEPT of released and public rows, without half-widths."""
    tree = node.copy()
    tree.set("with_", None)
    tree.set("this", _operand(left, fresh))
    tree.set("expression", _operand(right, fresh))
    for key, clause in clauses_of(node, subqueries).items():
        tree.set(key, clause)
    columns = left.columns
    if node.args.get("by_name"):
        ours = {each.casefold() for each in columns}
        columns += tuple(each for each in right.columns if each.casefold() not in ours)
    return Open(tree, columns, ((),) * len(columns), None, left.released or right.released)


def _operand(bound: Open, fresh: Fresh) -> exp.Expr:
    tree = exactly(bound, fresh)
    ordered = any(tree.args.get(key) for key in ("order", "limit", "offset"))
    return exp.Subquery(this=tree) if ordered else tree


def clauses_of(node: exp.SetOperation, subqueries: Subqueries) -> dict[str, exp.Expr]:
    """What stands behind the last operand."""
    found = {key: node.args.get(key) for key in ("order", "limit", "offset")}
    return {key: replace_queries(each, subqueries) for key, each in found.items() if each is not None}


def replace_queries(node: exp.Expr, subqueries: Subqueries) -> exp.Expr:
    """The expression with every subquery in it bound."""
    if isinstance(node, exp.Query | exp.Exists):
        return subqueries(node)
    if isinstance(node, exp.In) and node.args.get("query") is not None:
        turned = subqueries(node)
        turned.set("this", replace_queries(node.this, subqueries))
        return turned
    turned = node.copy()
    if not has_query(node):
        return turned
    for key, value in node.args.items():
        if isinstance(value, exp.Expr):
            turned.set(key, replace_queries(value, subqueries))
        elif isinstance(value, list):
            turned.set(
                key,
                [replace_queries(each, subqueries) if isinstance(each, exp.Expr) else each for each in value],
            )
    return turned


def _each(parts: list[object], subqueries: Subqueries) -> list[object]:
    return [replace_queries(part, subqueries) if isinstance(part, exp.Expr) else part for part in parts]


def open_select(
    node: exp.Select,
    items: list[Item],
    subqueries: Subqueries,
    fresh: Fresh,
    text: str,
    name_of: Callable[[exp.Expr], str],
) -> Open:
    """A SELECT whose FROM holds no private rows."""
    joins = [using_of(item, items[:index], text) for index, item in enumerate(items)]
    for sample in node.find_all(Sample):
        if sample.parent_select is node:
            raise refuse(
                "D253",
                "DP_SAMPLE is taken of private rows",
                span_of(sample, text),
                label="these are public, or released before",
                help="write the aggregate alone: over such rows it is exact and free",
            )
    tree = exp.Select()
    written = starless(node.expressions, _shown(items, joins), text)
    passed = ColumnLineage(node, items, written, text)
    for key, value in node.args.items():
        if key in ("from_", "joins", "with_", "expressions") or not value:
            continue
        after = key not in ("where", "group")
        parts = [
            passed.ends(part, after) if isinstance(part, exp.Expr) else part
            for part in (value if isinstance(value, list) else [value])
        ]
        turned = _each(parts, subqueries)
        tree.set(key, turned if isinstance(value, list) else turned[0])
    for item, join in zip(items, joins, strict=True):
        assert isinstance(item.source, Open)
        source = aliased(item.source.tree, item.alias, item.names)
        if join is None:
            tree.set("from_", exp.From(this=source))
            continue
        joined = exp.Join(this=source)
        for key, value in join.args.items():
            if key != "this" and value:
                on = key == "on"
                joined.set(
                    key, replace_queries(passed.ends(value, False), subqueries) if on else _copied(value)
                )
        tree.append("joins", joined)
    names = tuple(name_of(each) for each in written)
    listed = [
        exp.alias_(replace_queries(passed.ends(unaliased(each)), subqueries), name, quoted=True)
        for each, name in zip(written, names, strict=True)
    ]
    margins: list[Margin] = []
    for each in written:
        found = passed.margins(each)
        margins.append(tuple(fresh("margin") for _ in found))
        for hidden, name in zip(found, margins[-1], strict=True):
            listed.append(exp.alias_(hidden, name, quoted=True))
    tree.set("expressions", listed)
    released = any(isinstance(item.source, Open) and item.source.released for item in items)
    return Open(tree, names, tuple(margins), _as_rows(node, items, written, names), released)


def _copied(value: object) -> object:
    if isinstance(value, list):
        return [_copied(each) for each in value]
    return value.copy() if isinstance(value, exp.Expr) else value


def using_of(item: Item, before: list[Item], text: str) -> exp.Join | None:
    """The join that brought an item; a NATURAL one says which columns it is USING."""
    if item.join is None or item.join.method != "NATURAL":
        return item.join
    names = {each.casefold() for other in before for each in other.columns}
    shared = [identifier(each) for each in item.columns if each.casefold() in names]
    if not shared:
        raise refuse(
            "D202",
            "these tables have no column of the same name",
            span_of(item.join, text),
            help="write CROSS JOIN, or JOIN ... ON",
        )
    joined = item.join.copy()
    joined.set("method", None)
    joined.set("using", shared)
    return joined


def _shown(items: list[Item], joins: list[exp.Join | None]) -> list[Shown]:
    """What stars stand for. A column of USING goes by its bare name: it may come from either side."""
    merging = [
        {each.name.casefold() for each in (one.args.get("using") or ())} if one else set() for one in joins
    ]
    everywhere = set().union(*merging)
    shown = []
    for item, join, merged in zip(items, joins, merging, strict=True):
        if join is not None and join.kind in ("SEMI", "ANTI"):
            continue
        for each in item.columns:
            bare = each.casefold() in everywhere
            written = exp.column(identifier(each)) if bare else column(each, item.alias)
            shown.append(Shown(item.alias, each, written, each.casefold() in merged))
    return shown


def _as_rows(
    node: exp.Select, items: list[Item], written: list[exp.Expr], names: tuple[str, ...]
) -> Private | None:
    """The same as a relation, where it is a plain choice of columns of one public table."""
    plain = set(node.args) - {"expressions", "from_", "with_"}
    if len(items) != 1 or any(node.args.get(key) for key in plain):
        return None
    source = items[0].source
    assert isinstance(source, Open)
    if source.rows is None:
        return None
    scope = source.rows.scope.under(items[0].alias, items[0].names)
    visible = []
    for each, name in zip(written, names, strict=True):
        bare = unaliased(each)
        found = scope.find(bare.name, bare.table) if isinstance(bare, exp.Column) else ()
        if len(found) != 1:
            return None
        visible.append(Visible("", name, found[0].scalar))
    return Private(source.rows.relation, Scope(tuple(visible)))
