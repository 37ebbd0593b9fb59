"""Ordinary SQL over released and public tables: the SQL as written, over the bound trees of its FROM items.

Stars are expanded, so that they leave out the hidden columns with half-widths at the end of each select list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from dpsql.bind.private.conditions import has_query
from dpsql.bind.private.items import Item
from dpsql.bind.released.posteriors import PosteriorsAbove, Release
from dpsql.bind.released.provenance import ColumnLineage
from dpsql.bind.scope.scope import Fresh, Scope, Visible
from dpsql.bind.scope.sources import Margin, Open, Private
from dpsql.bind.scope.wrappers import unaliased
from dpsql.bind.syntax.output_names import refuse_places
from dpsql.bind.syntax.stars import StarColumn, expand_stars
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
    """Return a FROM item: a table or a subquery, with an alias."""
    table_alias = exp.TableAlias(this=identifier(alias), columns=[identifier(name) for name in names])
    if isinstance(tree, exp.Table):
        return exp.Table(this=tree.this.copy(), alias=table_alias)
    return exp.Subquery(this=tree.copy(), alias=table_alias)


def open_table(known: KnownTable, rows: Private) -> Open:
    """Return a public table by its name in the sealed engine; a query where some columns do not exist."""
    names, table = tuple(column.name for column in known.seen), exp.Table(this=identifier(known.name))
    tree: exp.Query | exp.Table = table
    if known.unseen:
        tree = exp.Select(
            expressions=[column(name, known.name) for name in names], from_=exp.From(this=table)
        )
    return Open(tree, names, ((),) * len(names), rows)


def without_margins(bound: Open, fresh: Fresh) -> exp.Expr:
    """Return the tree with only the columns of the query, without the hidden ones."""
    if not bound.hidden:
        tree = bound.tree
        return tree.copy() if isinstance(tree, exp.Query) else exp.select("*").from_(tree.copy())
    alias = fresh("sub")
    listed = [column(name, alias) for name in bound.columns]
    return exp.Select(expressions=listed, from_=exp.From(this=aliased(bound.tree, alias)))


def with_names(bound: Open, names: tuple[str, ...], fresh: Fresh) -> Open:
    """Rename the first columns, as WITH t(a, b) AS ... does."""
    alias = fresh("sub")
    columns = names + bound.columns[len(names) :]
    listed = [
        exp.alias_(column(old, alias), new, quoted=True)
        for old, new in zip(bound.columns, columns, strict=True)
    ]
    listed += [column(name, alias) for name in bound.hidden]
    tree = exp.Select(expressions=listed, from_=exp.From(this=aliased(bound.tree, alias)))
    counts = bound.counts and columns[bound.columns.index(bound.counts)]
    sums = tuple(replace(each, name=columns[bound.columns.index(each.name)]) for each in bound.sums)
    return Open(tree, columns, bound.margins, None, bound.released, bound.totals, counts, sums)


def with_clauses(bound: Open, clauses: dict[str, exp.Expr], fresh: Fresh) -> Open:
    """Apply the clauses behind a parenthesised query: (SELECT ...) ORDER BY ... LIMIT ..."""
    alias = fresh("sub")
    listed = [column(name, alias) for name in (*bound.columns, *bound.hidden)]
    tree = exp.Select(expressions=listed, from_=exp.From(this=aliased(bound.tree, alias)), **clauses)
    return replace(bound, tree=tree, rows=None)


def open_set_operation(
    node: exp.SetOperation, left: Open, right: Open, subqueries: Subqueries, fresh: Fresh
) -> Open:
    """Bind UNION, INTERSECT and EXCEPT of released and public rows, without half-widths."""
    tree = node.copy()
    tree.set("with_", None)
    tree.set("this", _operand(left, fresh))
    tree.set("expression", _operand(right, fresh))
    for key, clause in clauses_of(node, subqueries).items():
        tree.set(key, clause)
    columns = left.columns
    if node.args.get("by_name"):
        names = {name.casefold() for name in columns}
        columns += tuple(name for name in right.columns if name.casefold() not in names)
    return Open(tree, columns, ((),) * len(columns), None, left.released or right.released)


def _operand(bound: Open, fresh: Fresh) -> exp.Expr:
    tree = without_margins(bound, fresh)
    ordered = any(tree.args.get(key) for key in ("order", "limit", "offset"))
    return exp.Subquery(this=tree) if ordered else tree


def clauses_of(node: exp.SetOperation, subqueries: Subqueries) -> dict[str, exp.Expr]:
    """Return ORDER BY, LIMIT and OFFSET of a set operation, with their subqueries bound."""
    clauses = {key: node.args.get(key) for key in ("order", "limit", "offset")}
    return {key: replace_queries(clause, subqueries) for key, clause in clauses.items() if clause is not None}


def replace_queries(node: exp.Expr, subqueries: Subqueries) -> exp.Expr:
    """Return the expression with all its subqueries bound."""
    if isinstance(node, exp.Query | exp.Exists):
        return subqueries(node)
    if isinstance(node, exp.In) and node.args.get("query") is not None:
        bound = subqueries(node)
        bound.set("this", replace_queries(node.this, subqueries))
        return bound
    bound = node.copy()
    if not has_query(node):
        return bound
    for key, value in node.args.items():
        if isinstance(value, exp.Expr):
            bound.set(key, replace_queries(value, subqueries))
        elif isinstance(value, list):
            bound.set(
                key,
                [
                    replace_queries(child, subqueries) if isinstance(child, exp.Expr) else child
                    for child in value
                ],
            )
    return bound


def _with_bound_queries(parts: list[object], subqueries: Subqueries) -> list[object]:
    return [replace_queries(part, subqueries) if isinstance(part, exp.Expr) else part for part in parts]


def open_select(
    node: exp.Select,
    items: list[Item],
    subqueries: Subqueries,
    fresh: Fresh,
    text: str,
    name_of: Callable[[exp.Expr], str],
    release: Release,
) -> Open:
    """Bind a SELECT without private rows in FROM."""
    joins = [using_of(item, items[:index], text) for index, item in enumerate(items)]
    for sample in node.find_all(Sample):
        if sample.parent_select is node:
            raise refuse(
                "D253",
                "DP_SAMPLE takes private rows",
                span_of(sample, text),
                label="these are public, or already released",
                help="write the aggregate without DP_SAMPLE: over these rows it is exact and free",
            )
    tree = exp.Select()
    outputs = expand_stars(node.expressions, _shown(items, joins), text)
    refuse_places(node, len(outputs), text)
    names = tuple(name_of(output) for output in outputs)
    lineage = ColumnLineage(node, items, outputs, text)
    above = PosteriorsAbove(node, items, text, release)
    numbers = above.numbers(outputs)
    for key, value in node.args.items():
        if key in ("from_", "joins", "with_", "expressions") or not value:
            continue
        after = key not in ("where", "group")
        parts = [
            above.replaced(lineage.ends(part, after)) if isinstance(part, exp.Expr) else part
            for part in (value if isinstance(value, list) else [value])
        ]
        bound_parts = _with_bound_queries(parts, subqueries)
        tree.set(key, bound_parts if isinstance(value, list) else bound_parts[0])
    listed = [
        exp.alias_(
            replace_queries(above.replaced(lineage.ends(unaliased(output))), subqueries), name, quoted=True
        )
        for output, name in zip(outputs, names, strict=True)
    ]
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
                    key, replace_queries(lineage.ends(value, False), subqueries) if on else _copied(value)
                )
        tree.append("joins", joined)
    margins: list[Margin] = []
    for output in outputs:
        widths = lineage.margins(output)
        margins.append(tuple(fresh("margin") for _ in widths))
        for hidden, name in zip(widths, margins[-1], strict=True):
            listed.append(exp.alias_(hidden, name, quoted=True))
    marks = [lineage.total(output) for output in outputs]
    marked = tuple(None if mark is None else fresh("total") for mark in marks)
    for mark, called in zip(marks, marked, strict=True):
        if mark is not None:
            listed.append(exp.alias_(mark, called, quoted=True))
    tree.set("expressions", listed)
    released = any(isinstance(item.source, Open) and item.source.released for item in items)
    rows = _as_rows(node, items, outputs, names)
    totals = marked if any(marked) else ()
    return Open(tree, names, tuple(margins), rows, released, totals, numbers=numbers)


def _copied(value: object) -> object:
    if isinstance(value, list):
        return [_copied(part) for part in value]
    return value.copy() if isinstance(value, exp.Expr) else value


def using_of(item: Item, before: list[Item], text: str) -> exp.Join | None:
    """Return the join of an item, with NATURAL rewritten as USING."""
    if item.join is None or item.join.method != "NATURAL":
        return item.join
    names = {name.casefold() for earlier in before for name in earlier.columns}
    shared = [identifier(name) for name in item.columns if name.casefold() in names]
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


def _shown(items: list[Item], joins: list[exp.Join | None]) -> list[StarColumn]:
    """Return the columns that stars stand for. A column of USING is unqualified: either side may have it."""
    merging = [
        {column.name.casefold() for column in (join.args.get("using") or ())} if join else set()
        for join in joins
    ]
    everywhere = set().union(*merging)
    shown = []
    for item, join, merged in zip(items, joins, merging, strict=True):
        if join is not None and join.kind in ("SEMI", "ANTI"):
            continue
        for name in item.columns:
            unqualified = name.casefold() in everywhere
            expression = exp.column(identifier(name)) if unqualified else column(name, item.alias)
            shown.append(StarColumn(item.alias, name, expression, name.casefold() in merged))
    return shown


def _as_rows(
    node: exp.Select, items: list[Item], outputs: list[exp.Expr], names: tuple[str, ...]
) -> Private | None:
    """Return the rows as a relation, where the SELECT only picks columns of one public table."""
    plain = set(node.args) - {"expressions", "from_", "with_"}
    if len(items) != 1 or any(node.args.get(key) for key in plain):
        return None
    source = items[0].source
    assert isinstance(source, Open)
    if source.rows is None:
        return None
    scope = source.rows.scope.under(items[0].alias, items[0].names)
    visible = []
    for output, name in zip(outputs, names, strict=True):
        expression = unaliased(output)
        columns = scope.find(expression.name, expression.table) if isinstance(expression, exp.Column) else ()
        if len(columns) != 1:
            return None
        visible.append(Visible("", name, columns[0].scalar))
    return Private(source.rows.relation, Scope(tuple(visible)))
