"""Which columns there are where the cursor is: those of the tables, views and queries behind FROM.

    SELECT p.| FROM patients p JOIN (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) v USING (ward)

has the sources p, with the policy's columns of patients, and v, with the columns ward and n.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from dpsql.policy.listing import Column, Table
from dpsql.shell.completion.functions import aggregates
from dpsql.shell.completion.keywords import CLAUSES, RESERVED, SET_OPERATORS
from dpsql.shell.completion.tokens import Kind, Token
from dpsql.shell.completion.trees import Group, Item, Level, Place, holds_cursor, name, query_of, sign, word


@dataclass(frozen=True, slots=True)
class Source:
    """What stands behind FROM: its alias or name, its columns, and whether its rows are nobody's.

    They are if it is public, or if an aggregate released them.
    """

    name: str
    columns: tuple[Column, ...]
    free: bool = False


Queries: TypeAlias = Mapping[str, Source]
"""What WITH names."""


def named_queries(place: Place, tables: Sequence[Table]) -> Queries:
    """What WITH names around the cursor."""
    found: dict[str, Source] = {}
    for level in place.levels:
        found = _named(level.before, found, tables)
    return found


def sources(place: Place, queries: Queries, tables: Sequence[Table]) -> list[Source]:
    """All sources around the cursor, those of the innermost query first."""
    found: list[Source] = []
    for level in reversed(place.levels):
        found += _sources(segment(level).items, queries, tables)
    return found


def segment(level: Level) -> Level:
    """The part of a level between its UNIONs that the cursor is in."""
    cuts = [at for at, each in enumerate(level.items) if word(each) in SET_OPERATORS]
    first = max((at + 1 for at in cuts if at < level.at), default=0)
    last = min((at for at in cuts if at > level.at), default=len(level.items))
    return Level(level.items[first:last], level.at - first)


def resolved(parts: Sequence[str], found: Sequence[Source]) -> Column | None:
    """The column that a name means, whether its source is named before it or not."""
    *source, column = parts
    for each in found:
        if not source or each.name.casefold() == source[-1]:
            for one in each.columns:
                if one.name.casefold() == column:
                    return one
    return None


def outputs(items: Sequence[Item], queries: Queries, tables: Sequence[Table]) -> tuple[Column, ...]:
    """The columns of a query, as far as they have names."""
    queries = _named(items, queries, tables)
    cut = next((at for at, each in enumerate(items) if word(each) in SET_OPERATORS), len(items))
    found = _sources(items[:cut], queries, tables)
    listed = _select_list(items[:cut])
    if listed is None:
        return tuple(one for each in found for one in each.columns)
    return tuple(column for piece in listed for column in _output(piece, found))


# ---- pieces of a query -------------------------------------------------------------------------------


def _named(items: Sequence[Item], known: Queries, tables: Sequence[Table]) -> dict[str, Source]:
    found = dict(known)
    if not any(word(each) == "WITH" for each in items):
        return found
    for at in range(len(items) - 2):
        called, group = name(items[at]), items[at + 2]
        if called and word(items[at + 1]) == "AS" and isinstance(group, Group) and query_of(group.items):
            found[called] = _query(called, group.items, found, tables)
    return found


def _sources(items: Sequence[Item], queries: Queries, tables: Sequence[Table]) -> list[Source]:
    found: list[Source] = []
    inside = expected = False
    for at, each in enumerate(items):
        clause = CLAUSES.get(word(each))
        if clause == "FROM" and not distinct_from(items, at):
            inside = expected = True
        elif clause is not None and clause not in ("ON", "USING"):
            inside = expected = False
        elif sign(each, ","):
            expected = inside
        elif expected and isinstance(each, Group):
            expected = False
            if query_of(each.items) and not holds_cursor(each):
                found.append(_query(_alias(items, at + 1), each.items, queries, tables))
            elif not query_of(each.items):
                found += _sources((Token(Kind.WORD, "FROM", 0), *each.items), queries, tables)
        elif expected and name(each) and word(each) not in RESERVED and not _dot(items, at + 1):
            expected = False
            found.append(_source(name(each), _alias(items, at + 1), queries, tables))
    return found


def _source(called: str, alias: str, queries: Queries, tables: Sequence[Table]) -> Source:
    if called in queries:
        return replace(queries[called], name=alias or called)
    table = next((each for each in tables if each.name.casefold() == called), None)
    if table is None:
        return Source(alias or called, ())
    return Source(alias or table.name, table.columns, table.public)


def _query(called: str, items: Sequence[Item], queries: Queries, tables: Sequence[Table]) -> Source:
    """A query behind FROM: an aggregate in it released its rows, unless each is still one person's."""
    columns = outputs(items, queries, tables)
    listed = _select_list(items) or []
    calls = [
        piece[at - 1]
        for piece in listed
        for at, each in enumerate(piece)
        if at > 0 and isinstance(each, Group)
    ]
    counted = any(name(each) in aggregates() for each in calls)
    return Source(called, columns, counted and not any(each.unit for each in columns))


def _alias(items: Sequence[Item], at: int) -> str:
    """The alias that stands there, if one does."""
    if at < len(items) and word(items[at]) == "AS":
        at += 1
    found = items[at] if at < len(items) else None
    return name(found) if name(found) and word(found) not in RESERVED else ""


def _dot(items: Sequence[Item], at: int) -> bool:
    return at < len(items) and sign(items[at], ".")


def distinct_from(items: Sequence[Item], at: int) -> bool:
    """Whether this FROM is the one of IS DISTINCT FROM."""
    return at >= 2 and word(items[at - 1]) == "DISTINCT" and word(items[at - 2]) in ("IS", "NOT")


def _select_list(items: Sequence[Item]) -> list[list[Item]] | None:
    """The pieces between SELECT and the next clause; None where there is no SELECT."""
    begin = next((at for at, each in enumerate(items) if word(each) == "SELECT"), None)
    if begin is None:
        return None
    pieces: list[list[Item]] = [[]]
    for at in range(begin + 1, len(items)):
        each = items[at]
        if word(each) in CLAUSES and not distinct_from(items, at):
            break
        if sign(each, ","):
            pieces.append([])
        else:
            pieces[-1].append(each)
    return pieces


def _output(piece: list[Item], found: Sequence[Source]) -> Iterator[Column]:
    if word(piece[0] if piece else None) in ("DISTINCT", "ALL"):
        piece = piece[1:]
    if not piece:
        return
    *before, last = piece
    if sign(last, "*") and all(name(each) or sign(each, ".") for each in before):
        for each in found:
            if not before or each.name.casefold() == name(before[0]):
                yield from each.columns
        return
    if not name(last) or word(last) in RESERVED:
        return
    if not before or sign(before[-1], "."):  # a name alone
        column = resolved([name(each) for each in piece if name(each)], found)
        yield column or Column(_spelled(last), "", True)
        return
    source = before[:-1] if word(before[-1]) == "AS" else before
    column = None
    if all(name(each) or sign(each, ".") for each in source):
        column = resolved([name(each) for each in source if name(each)], found)
    yield replace(column or Column("", "", True), name=_spelled(last))


def _spelled(item: Item) -> str:
    assert isinstance(item, Token)
    return item.text if item.kind is Kind.WORD else item.text.strip('"').replace('""', '"')
