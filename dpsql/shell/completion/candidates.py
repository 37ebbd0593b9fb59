"""What may stand where the cursor is, the likeliest first.

SELECT AVG(|                  age    patients [0, 110]     columns whose numbers have a range, before all
SELECT COUNT(*) FROM v|       visits  a patient's rows     others; no private number of rows is known here
... WHERE ward = |            'Cardiology'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from dpsql.ir.column import Value, type_named
from dpsql.parse.options_clause import KNOWN
from dpsql.policy.listing import Column, Table
from dpsql.render.digits import printable
from dpsql.shell.completion.functions import Named, aggregates, amounts, free, private
from dpsql.shell.completion.keywords import AFTER, BEGIN, FOLLOWING, OPERANDS, QUERY, RESERVED
from dpsql.shell.completion.position import Position, Wants, position
from dpsql.shell.completion.scope import Queries, Source, named_queries, outputs, resolved, segment, sources
from dpsql.shell.completion.trees import Place, Typed, place

_MOST, _HINT = 200, 26


@dataclass(frozen=True, slots=True)
class Candidate:
    """What would be written from ``start`` on, and a word about it."""

    text: str
    start: int
    meta: str = ""


def candidates(text: str, at: int, tables: Sequence[Table], settings: Sequence[str] = ()) -> list[Candidate]:
    """The candidates at a place of a text."""
    here = place(text, at)
    if here is None:
        return []
    wants = position(here)
    queries = named_queries(here, tables)
    found = sources(here, queries, tables)
    scope = _Scope(tables, queries, found, bool(found))
    every = list(_offered(wants, scope, here, settings))
    likely = [each for each in every if not each.lazy or here.typed.text]
    offered = _fitting(here.typed, likely or every)
    first: dict[str, Candidate] = {}
    for each in offered:
        first.setdefault(each.text, each)
    return list(first.values())[:_MOST]


@dataclass(frozen=True, slots=True)
class _Scope:
    tables: Sequence[Table]
    queries: Queries
    sources: Sequence[Source]
    known: bool

    @property
    def columns(self) -> Iterator[tuple[Source, Column]]:
        """All columns here; of what WITH names and of all tables, as long as nothing stands behind FROM."""
        every = self.sources or [*self.queries.values(), *map(_source, self.tables)]
        return ((source, column) for source in every for column in source.columns)


def _source(table: Table) -> Source:
    return Source(table.name, table.columns, table.public)


@dataclass(frozen=True, slots=True)
class _Offer:
    text: str
    meta: str = ""
    word: bool = False  # a keyword or a function, written in the case of what is being typed
    lazy: bool = False  # only where a letter of it stands, or where there is nothing else
    name: str = ""  # what may be written in quotes as well


def _offered(wants: Position, scope: _Scope, here: Place, settings: Sequence[str]) -> Iterator[_Offer]:
    match wants.wants:
        case Wants.NOTHING:
            return
        case Wants.STATEMENT:
            yield from _words(BEGIN)
        case Wants.QUERY:
            yield from _words(QUERY)
        case Wants.SETTING:
            yield from (_Offer(each) for each in settings)
        case Wants.OPTION:
            yield from (_Offer(f"{each} = ") for each in KNOWN)
        case Wants.WORD:
            yield from _words(_BEHIND.get(wants.word) or AFTER.get(wants.word, ()))
        case Wants.TABLE:
            yield from (_named(each.name, "of this query") for each in scope.queries.values())
            yield from (_named(each.name, about(each)) for each in scope.tables)
        case Wants.SHARED:
            yield from _shared(scope)
        case Wants.FOLLOWING:
            yield from _words(FOLLOWING.get("" if wants.call else wants.clause, FOLLOWING[""]))
        case Wants.OPERAND:
            yield from _operands(wants, scope, here)


_BEHIND = {"OVER": ("PARTITION BY", "ORDER BY"), "FILTER": ("WHERE",)}


def _operands(wants: Position, scope: _Scope, here: Place) -> Iterator[_Offer]:
    compared = resolved(wants.compared, scope.sources) if wants.compared else None
    if compared is not None:
        yield from (_Offer(_literal(each), "declared") for each in compared.values or ())
        if compared.type == "BOOLEAN":
            yield from (_Offer("true"), _Offer("false"))
    if here.typed.quote == "'":
        return
    if wants.call == "count" and not here.levels[-1].before:
        yield _Offer("*", "rows")
    yield from _columns(wants, scope)
    if wants.qualifier:
        return
    if wants.clause in ("GROUP BY", "ORDER BY", "HAVING", "QUALIFY"):
        level = segment(here.levels[-1])
        yield from (_named(each.name, "of this SELECT") for each in outputs(level.items, {}, ()))
    if len(scope.sources) > 1:
        yield from (_Offer(f"{_quoted(each.name)}.", lazy=True) for each in scope.sources if each.name)
    if wants.call and wants.first:
        yield from _words(("DISTINCT",) if wants.call in ("count", "sum", "avg") else ())
    yield from _functions(wants, scope)
    yield from (
        _Offer(each, word=True, lazy=True) for each in OPERANDS.get(wants.clause, ()) if not wants.call
    )
    yield from (_Offer(each, word=True, lazy=True) for each in OPERANDS[""])


def _columns(wants: Position, scope: _Scope) -> Iterator[_Offer]:
    """The columns here: those that fit the call first, and those that are in two tables with their source."""
    found = list(scope.columns)
    if wants.qualifier:
        found = [each for each in found if each[0].name.casefold() == wants.qualifier] or [
            (_source(each), one)
            for each in scope.tables
            if each.name.casefold() == wants.qualifier
            for one in each.columns
        ]
    if wants.call in amounts():
        found = [each for each in found if _numeric(each[1])] if not scope.known else found
        found.sort(key=lambda each: _unfit(each[1]))
    elif wants.call != "count" and wants.clause in ("SELECT", "GROUP BY", "ORDER BY", "HAVING"):
        found.sort(key=lambda each: each[1].unit)  # it is never shown
    if not scope.known and not wants.qualifier:
        found = _once(found)
    names = [each.name.casefold() for _, each in found]
    for source, column in found:
        offer = _named(column.name)
        if scope.known and not wants.qualifier and names.count(column.name.casefold()) > 1 and source.name:
            offer = _Offer(f"{_quoted(source.name)}.{offer.text}")
        named = source.name if not wants.qualifier and (not scope.known or len(scope.sources) > 1) else ""
        own = column.hint == f"those of {source.name}.{column.name}"  # a public key is its own list
        hint = ", ".join(filter(None, (column.type if own else said(column), named)))
        yield replace(offer, meta=hint)


def _once(found: list[tuple[Source, Column]]) -> list[tuple[Source, Column]]:
    """A name once, however many tables have it."""
    first: dict[str, tuple[Source, Column]] = {}
    for source, column in found:
        first.setdefault(column.name.casefold(), (source, column))
    return list(first.values())


def _unfit(column: Column) -> int:
    """How little a column fits where amounts are wanted: 0 is a number with a range."""
    if not _numeric(column):
        return 3
    return 2 if column.unit else 0 if column.range is not None else 1


def _numeric(column: Column) -> bool:
    return not column.type or type_named(column.type).numeric


def _shared(scope: _Scope) -> Iterator[_Offer]:
    """What two of the sources have."""
    seen: set[str] = set()
    for each in scope.sources:
        for column in each.columns:
            if column.name.casefold() in seen:
                yield _named(column.name, said(column))
        seen |= {column.name.casefold() for column in each.columns}


def _functions(wants: Position, scope: _Scope) -> Iterator[_Offer]:
    released = scope.known and all(each.free for each in scope.sources)
    for each in free() if released else private():
        if each.aggregate and (wants.call in aggregates() or wants.clause in ("WHERE", "GROUP BY", "ON")):
            continue
        yield _function(each, lazy=not each.aggregate)


def _function(each: Named, lazy: bool) -> _Offer:
    return _Offer(f"{each.name.upper() if each.aggregate else each.name}(", each.help, each.aggregate, lazy)


def _named(name: str, meta: str = "") -> _Offer:
    return _Offer(_quoted(name), meta, name=name)


def _words(found: Iterable[str]) -> Iterator[_Offer]:
    return (_Offer(each, word=True) for each in found)


# ---- what fits what is being typed -------------------------------------------------------------------


def _fitting(typed: Typed, offered: Iterable[_Offer]) -> Iterator[Candidate]:
    """Offers that begin with what is being typed, then those of which a later part does: id, patient_id."""
    begun, later = typed.text.casefold(), []
    for each in offered:
        if typed.quote == '"' and each.name:
            each = replace(each, text=_in_quotes(each.name))
        if typed.quote and not each.text.startswith(typed.quote):
            continue
        bare = each.text.removeprefix(typed.quote).casefold()
        made = Candidate(_cased(each, typed), typed.start, each.meta)
        if bare.startswith(begun) or bare.rpartition(".")[2].lstrip('"').startswith(begun):
            yield made
        elif begun and not each.word and any(part.startswith(begun) for part in re.split(r"[_.\s]+", bare)):
            later.append(made)
    yield from later


def _cased(offer: _Offer, typed: Typed) -> str:
    lower = typed.text.islower() and not typed.quote
    return offer.text.lower() if offer.word and lower else offer.text


# ---- how things are said -----------------------------------------------------------------------------


def about(table: Table) -> str:
    """What is publicly known of a table; of a private one never how many rows it has."""
    if table.view:
        return f"view: {table.view}"
    if table.public:
        return "public" if table.size is None else f"public, {table.size:,} rows"
    return f"one row a {table.unit}" if table.rows_per_unit == 1 else f"a {table.unit}'s rows"


def said(column: Column) -> str:
    """The type of a column, and what is publicly known of its values."""
    unit = "(the unit)" if column.unit else ""
    return printable(" ".join(filter(None, (column.type, _short(column.hint), unit))))


def _short(hint: str) -> str:
    """As many of some values as fit beside a name."""
    if len(hint) <= _HINT:
        return hint
    return f"{hint[:_HINT].rpartition(', ')[0] or hint[: _HINT - 2]}, ..."


def _quoted(name: str) -> str:
    """A name as it is written in SQL."""
    if re.fullmatch(r"[^\W\d]\w*", name) and name.upper() not in RESERVED:
        return name
    return _in_quotes(name)


def _in_quotes(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(value: Value) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
