"""The columns in scope at the cursor: those of the tables, views and queries in FROM.

    SELECT p.| FROM patients p JOIN (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) v USING (ward)

has the sources p, with the policy's columns of patients, and v, with the columns ward and n.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from dpsql.lazy_dataclass import dataclass
from dpsql.policy.listing import Column, Table
from dpsql.shell.completion.functions import aggregates
from dpsql.shell.completion.keywords import CLAUSES, RESERVED, SET_OPERATORS
from dpsql.shell.completion.tokens import Kind, Token
from dpsql.shell.completion.trees import Group, Item, Level, Place, holds_cursor, name, query_of, sign, word


@dataclass(frozen=True, slots=True)
class Source:
    """A table or query in FROM: its alias or name, and its columns.

    It is ``free`` if it is public or released: any function may be called over it.
    """

    name: str
    columns: tuple[Column, ...]
    free: bool = False


Queries: TypeAlias = Mapping[str, Source]
"""The queries of WITH, by name."""


def named_queries(place: Place, tables: Sequence[Table]) -> Queries:
    """Return the WITH queries in scope at the cursor."""
    queries: dict[str, Source] = {}
    for level in place.levels:
        queries = _with_queries(level.before, queries, tables)
    return queries


def sources(place: Place, queries: Queries, tables: Sequence[Table]) -> list[Source]:
    """Return all sources in scope at the cursor, those of the innermost query first."""
    in_scope: list[Source] = []
    for level in reversed(place.levels):
        in_scope += _sources(segment(level).items, queries, tables)
    return in_scope


def segment(level: Level) -> Level:
    """Return the part of a level between its set operators that contains the cursor."""
    cuts = [at for at, item in enumerate(level.items) if word(item) in SET_OPERATORS]
    first = max((at + 1 for at in cuts if at < level.at), default=0)
    last = min((at for at in cuts if at > level.at), default=len(level.items))
    return Level(level.items[first:last], level.at - first)


def resolve_column(parts: Sequence[str], sources: Sequence[Source]) -> Column | None:
    """Resolve a name, qualified or not, to a column of the sources."""
    *qualifier, column_name = parts
    for source in sources:
        if not qualifier or source.name.casefold() == qualifier[-1]:
            for column in source.columns:
                if column.name.casefold() == column_name:
                    return column
    return None


def output_columns(items: Sequence[Item], queries: Queries, tables: Sequence[Table]) -> tuple[Column, ...]:
    """Return the named output columns of a query."""
    queries = _with_queries(items, queries, tables)
    cut = next((at for at, item in enumerate(items) if word(item) in SET_OPERATORS), len(items))
    in_scope = _sources(items[:cut], queries, tables)
    projections = _select_list(items[:cut])
    if projections is None:
        return tuple(column for source in in_scope for column in source.columns)
    return tuple(column for projection in projections for column in _output(projection, in_scope))


# ---- parts of a query --------------------------------------------------------------------------------


def _with_queries(items: Sequence[Item], outer: Queries, tables: Sequence[Table]) -> dict[str, Source]:
    """Return the WITH queries of these items, added to the outer ones."""
    queries = dict(outer)
    if not any(word(item) == "WITH" for item in items):
        return queries
    for at in range(len(items) - 2):
        query_name, group = name(items[at]), items[at + 2]
        if query_name and word(items[at + 1]) == "AS" and isinstance(group, Group) and query_of(group.items):
            queries[query_name] = _query(query_name, group.items, queries, tables)
    return queries


def _sources(items: Sequence[Item], queries: Queries, tables: Sequence[Table]) -> list[Source]:
    """Return the sources in the FROM clause of these items."""
    in_from: list[Source] = []
    inside = expected = False  # inside FROM; a source is expected next
    for at, item in enumerate(items):
        clause = CLAUSES.get(word(item))
        if clause == "FROM" and not distinct_from(items, at):
            inside = expected = True
        elif clause is not None and clause not in ("ON", "USING"):
            inside = expected = False
        elif sign(item, ","):
            expected = inside
        elif expected and isinstance(item, Group):
            expected = False
            if query_of(item.items) and not holds_cursor(item):
                in_from.append(_query(_alias(items, at + 1), item.items, queries, tables))
            elif not query_of(item.items):
                in_from += _sources((Token(Kind.WORD, "FROM", 0), *item.items), queries, tables)
        elif expected and name(item) and word(item) not in RESERVED and not _dot(items, at + 1):
            expected = False
            in_from.append(_source(name(item), _alias(items, at + 1), queries, tables))
    return in_from


def _source(table_name: str, alias: str, queries: Queries, tables: Sequence[Table]) -> Source:
    if table_name in queries:
        return replace(queries[table_name], name=alias or table_name)
    table = next((table for table in tables if table.name.casefold() == table_name), None)
    if table is None:
        return Source(alias or table_name, ())
    return Source(alias or table.name, table.columns, table.public)


def _query(alias: str, items: Sequence[Item], queries: Queries, tables: Sequence[Table]) -> Source:
    """Return a query as a source; it is free if it calls an aggregate and does not output the unit."""
    columns = output_columns(items, queries, tables)
    projections = _select_list(items) or []
    calls = [
        projection[at - 1]
        for projection in projections
        for at, item in enumerate(projection)
        if at > 0 and isinstance(item, Group)
    ]
    aggregated = any(name(call) in aggregates() for call in calls)
    return Source(alias, columns, aggregated and not any(column.unit for column in columns))


def _alias(items: Sequence[Item], at: int) -> str:
    """Return the alias at this index, or ''."""
    if at < len(items) and word(items[at]) == "AS":
        at += 1
    item = items[at] if at < len(items) else None
    return name(item) if name(item) and word(item) not in RESERVED else ""


def _dot(items: Sequence[Item], at: int) -> bool:
    return at < len(items) and sign(items[at], ".")


def distinct_from(items: Sequence[Item], at: int) -> bool:
    """Whether this FROM belongs to IS DISTINCT FROM."""
    return at >= 2 and word(items[at - 1]) == "DISTINCT" and word(items[at - 2]) in ("IS", "NOT")


def _select_list(items: Sequence[Item]) -> list[list[Item]] | None:
    """Return the items of each projection; None without SELECT."""
    begin = next((at for at, item in enumerate(items) if word(item) == "SELECT"), None)
    if begin is None:
        return None
    projections: list[list[Item]] = [[]]
    for at in range(begin + 1, len(items)):
        item = items[at]
        if word(item) in CLAUSES and not distinct_from(items, at):
            break
        if sign(item, ","):
            projections.append([])
        else:
            projections[-1].append(item)
    return projections


def _output(projection: list[Item], sources: Sequence[Source]) -> Iterator[Column]:
    """Yield the columns of a projection: a star has many, an expression without a name has none."""
    if word(projection[0] if projection else None) in ("DISTINCT", "ALL"):
        projection = projection[1:]
    if not projection:
        return
    *before, last = projection
    if sign(last, "*") and all(name(item) or sign(item, ".") for item in before):
        for source in sources:
            if not before or source.name.casefold() == name(before[0]):
                yield from source.columns
        return
    if not name(last) or word(last) in RESERVED:
        return
    if not before or sign(before[-1], "."):  # a plain column
        column = resolve_column([name(item) for item in projection if name(item)], sources)
        yield column or Column(_output_name(last), "", True)
        return
    expression = before[:-1] if word(before[-1]) == "AS" else before
    column = None
    if all(name(item) or sign(item, ".") for item in expression):
        column = resolve_column([name(item) for item in expression if name(item)], sources)
    yield replace(column or Column("", "", True), name=_output_name(last))


def _output_name(item: Item) -> str:
    assert isinstance(item, Token)
    return item.text if item.kind is Kind.WORD else item.text.strip('"').replace('""', '"')
