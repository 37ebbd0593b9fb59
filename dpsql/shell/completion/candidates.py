"""Completion candidates at the cursor, the likeliest first.

SELECT AVG(|                  age    patients [0, 110]     numeric columns with a declared range first
SELECT COUNT(*) FROM v|       visits  a patient's rows     never the size of a private table
... WHERE ward = |            'Cardiology'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from dpsql.ir.column import Value, type_named
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.options_clause import KNOWN
from dpsql.policy.listing import Column, Table
from dpsql.render.digits import printable
from dpsql.render.english import one
from dpsql.shell.completion.functions import (
    Named,
    aggregates,
    private_functions,
    public_functions,
    summing_aggregates,
)
from dpsql.shell.completion.keywords import AFTER, BEGIN, FOLLOWING, OPERANDS, QUERY, RESERVED
from dpsql.shell.completion.position import Position, Wants, position
from dpsql.shell.completion.scope import (
    Queries,
    Source,
    named_queries,
    output_columns,
    resolve_column,
    segment,
    sources,
)
from dpsql.shell.completion.trees import Place, Typed, place

_MAX_CANDIDATES, _HINT_WIDTH = 200, 26


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that would replace what is typed from ``start`` on; the menu shows ``meta`` beside it."""

    text: str
    start: int
    meta: str = ""


def candidates(text: str, at: int, tables: Sequence[Table], settings: Sequence[str] = ()) -> list[Candidate]:
    """Return the candidates at offset ``at`` of a text."""
    here = place(text, at)
    if here is None:
        return []
    wants = position(here)
    queries = named_queries(here, tables)
    in_scope = sources(here, queries, tables)
    scope = _Scope(tables, queries, in_scope, bool(in_scope))
    offers = list(_offers(wants, scope, here, settings))
    likely = [offer for offer in offers if not offer.lazy or here.typed.text]
    distinct: dict[str, Candidate] = {}
    for candidate in _matching(here.typed, likely or offers):
        distinct.setdefault(candidate.text, candidate)
    return list(distinct.values())[:_MAX_CANDIDATES]


@dataclass(frozen=True, slots=True)
class _Scope:
    tables: Sequence[Table]
    queries: Queries
    sources: Sequence[Source]
    known: bool

    @property
    def columns(self) -> Iterator[tuple[Source, Column]]:
        """The columns of the sources; before FROM is written, of all WITH queries and tables."""
        candidates = self.sources or [*self.queries.values(), *map(_source, self.tables)]
        return ((source, column) for source in candidates for column in source.columns)


def _source(table: Table) -> Source:
    return Source(table.name, table.columns, table.public)


@dataclass(frozen=True, slots=True)
class _Offer:
    text: str
    meta: str = ""
    word: bool = False  # a keyword or a function: in lower case if the typed text is
    lazy: bool = False  # offered only after a typed letter, or if there is no other offer
    name: str = ""  # a name that may also be written in quotes


def _offers(wants: Position, scope: _Scope, here: Place, settings: Sequence[str]) -> Iterator[_Offer]:
    match wants.wants:
        case Wants.NOTHING:
            return
        case Wants.STATEMENT:
            yield from _words(BEGIN)
        case Wants.QUERY:
            yield from _words(QUERY)
        case Wants.SETTING:
            yield from (_Offer(setting) for setting in settings)
        case Wants.OPTION:
            yield from (_Offer(f"{option} = ") for option in KNOWN)
        case Wants.WORD:
            yield from _words(_IN_PARENTHESES.get(wants.word) or AFTER.get(wants.word, ()))
        case Wants.TABLE:
            yield from (_named(query.name, "of this query") for query in scope.queries.values())
            yield from (_named(table.name, table_summary(table)) for table in scope.tables)
        case Wants.SHARED:
            yield from _shared_columns(scope)
        case Wants.FOLLOWING:
            yield from _words(FOLLOWING.get("" if wants.call else wants.clause, FOLLOWING[""]))
        case Wants.OPERAND:
            yield from _operands(wants, scope, here)


_IN_PARENTHESES = {"OVER": ("PARTITION BY", "ORDER BY"), "FILTER": ("WHERE",)}


def _operands(wants: Position, scope: _Scope, here: Place) -> Iterator[_Offer]:
    compared = resolve_column(wants.compared, scope.sources) if wants.compared else None
    if compared is not None:
        yield from (_Offer(_literal(value), "declared") for value in compared.values or ())
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
        yield from (_named(column.name, "of this SELECT") for column in output_columns(level.items, {}, ()))
    if len(scope.sources) > 1:
        yield from (_Offer(f"{_quoted(source.name)}.", lazy=True) for source in scope.sources if source.name)
    if wants.call and wants.first:
        yield from _words(("DISTINCT",) if wants.call in ("count", "sum", "avg") else ())
    yield from _functions(wants, scope)
    yield from (
        _Offer(keyword, word=True, lazy=True) for keyword in OPERANDS.get(wants.clause, ()) if not wants.call
    )
    yield from (_Offer(keyword, word=True, lazy=True) for keyword in OPERANDS[""])


def _columns(wants: Position, scope: _Scope) -> Iterator[_Offer]:
    """Offer columns: those that fit the call first, and ambiguous ones qualified by their source."""
    columns = list(scope.columns)
    if wants.qualifier:
        columns = [pair for pair in columns if pair[0].name.casefold() == wants.qualifier] or [
            (_source(table), column)
            for table in scope.tables
            if table.name.casefold() == wants.qualifier
            for column in table.columns
        ]
    if wants.call in summing_aggregates():
        columns = [pair for pair in columns if _numeric(pair[1])] if not scope.known else columns
        columns.sort(key=lambda pair: _range_rank(pair[1]))
    elif wants.call != "count" and wants.clause in ("SELECT", "GROUP BY", "ORDER BY", "HAVING"):
        columns.sort(key=lambda pair: pair[1].unit)  # the unit is never shown
    if not scope.known and not wants.qualifier:
        columns = _distinct_names(columns)
    names = [column.name.casefold() for _, column in columns]
    for source, column in columns:
        offer = _named(column.name)
        if scope.known and not wants.qualifier and names.count(column.name.casefold()) > 1 and source.name:
            offer = _Offer(f"{_quoted(source.name)}.{offer.text}")
        shown = source.name if not wants.qualifier and (not scope.known or len(scope.sources) > 1) else ""
        lists_itself = column.hint == f"those of {source.name}.{column.name}"  # a public key
        hint = ", ".join(filter(None, (column.type if lists_itself else column_summary(column), shown)))
        yield replace(offer, meta=hint)


def _distinct_names(columns: list[tuple[Source, Column]]) -> list[tuple[Source, Column]]:
    """Keep the first column of each name."""
    first: dict[str, tuple[Source, Column]] = {}
    for source, column in columns:
        first.setdefault(column.name.casefold(), (source, column))
    return list(first.values())


def _range_rank(column: Column) -> int:
    """Rank a column as the argument of a sum: 0 for a number with a range, 3 for no number."""
    if not _numeric(column):
        return 3
    return 2 if column.unit else 0 if column.range is not None else 1


def _numeric(column: Column) -> bool:
    return not column.type or type_named(column.type).numeric


def _shared_columns(scope: _Scope) -> Iterator[_Offer]:
    """Offer the columns that two sources have in common."""
    seen: set[str] = set()
    for source in scope.sources:
        for column in source.columns:
            if column.name.casefold() in seen:
                yield _named(column.name, column_summary(column))
        seen |= {column.name.casefold() for column in source.columns}


def _functions(wants: Position, scope: _Scope) -> Iterator[_Offer]:
    released = scope.known and all(source.free for source in scope.sources)
    for function in public_functions() if released else private_functions():
        nested = wants.call in aggregates() or wants.clause in ("WHERE", "GROUP BY", "ON")
        if function.aggregate and nested:
            continue
        yield _function(function, lazy=not function.aggregate)


def _function(function: Named, lazy: bool) -> _Offer:
    name = function.name.upper() if function.aggregate else function.name
    return _Offer(f"{name}(", function.help, function.aggregate, lazy)


def _named(name: str, meta: str = "") -> _Offer:
    return _Offer(_quoted(name), meta, name=name)


def _words(keywords: Iterable[str]) -> Iterator[_Offer]:
    return (_Offer(keyword, word=True) for keyword in keywords)


# ---- match the typed text ----------------------------------------------------------------------------


def _matching(typed: Typed, offers: Iterable[_Offer]) -> Iterator[Candidate]:
    """Yield the offers that start with the typed text, then those with a later part that does.

    For ``id``: id, then patient_id.
    """
    prefix, later = typed.text.casefold(), []
    for offer in offers:
        if typed.quote == '"' and offer.name:
            offer = replace(offer, text=_in_quotes(offer.name))
        if typed.quote and not offer.text.startswith(typed.quote):
            continue
        bare = offer.text.removeprefix(typed.quote).casefold()
        candidate = Candidate(_cased(offer, typed), typed.start, offer.meta)
        if bare.startswith(prefix) or bare.rpartition(".")[2].lstrip('"').startswith(prefix):
            yield candidate
        elif (
            prefix and not offer.word and any(part.startswith(prefix) for part in re.split(r"[_.\s]+", bare))
        ):
            later.append(candidate)
    yield from later


def _cased(offer: _Offer, typed: Typed) -> str:
    lower = typed.text.islower() and not typed.quote
    return offer.text.lower() if offer.word and lower else offer.text


# ---- text beside candidates --------------------------------------------------------------------------


def table_summary(table: Table) -> str:
    """Describe a table by its public facts; never the size of a private one."""
    if table.view:
        return f"view: {table.view}"
    if table.public:
        return "public" if table.size is None else f"public, {table.size:,} rows"
    return f"one row per {table.unit}" if table.rows_per_unit == 1 else f"{one(table.unit)}'s rows"


def column_summary(column: Column) -> str:
    """Describe a column: its type and the public facts about its values."""
    unit = "(the unit)" if column.unit else ""
    known = " ".join(filter(None, (column.type, _short(column.hint), unit)))
    return printable(", ".join(filter(None, (known, _short(column.comment)))))


def _short(hint: str) -> str:
    """Cut a list of values, or words, to the width of the menu."""
    if len(hint) <= _HINT_WIDTH:
        return hint
    return f"{hint[:_HINT_WIDTH].rpartition(', ')[0] or hint[: _HINT_WIDTH - 2]}, ..."


def _quoted(name: str) -> str:
    """Quote a name if SQL needs it."""
    if re.fullmatch(r"[^\W\d]\w*", name) and name.upper() not in RESERVED:
        return name
    return _in_quotes(name)


def _in_quotes(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(value: Value) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
