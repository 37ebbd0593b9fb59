"""Collations and generated columns, parsed from a table's CREATE TABLE as DuckDB prints it.

    name VARCHAR COLLATE NOCASE                     not compared by its bytes
    gross DOUBLE GENERATED ALWAYS AS((net * 1.2))   computed when it is read
    r DOUBLE GENERATED ALWAYS AS(random())          a new value whenever it is read

A measure reads a column several times: for a unit's clip and for its sum. If the two reads differ, the clip
does not bound the sum. So a generated column is available only if every function in its expression is on a
list; an unknown one might be a macro, a sequence or a clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dpsql.lazy_dataclass import dataclass
from dpsql.policy.names import fold

if TYPE_CHECKING:
    from sqlglot.tokenizer_core import Token

SAME = frozenset(
    """
    abs add array_extract array_slice array_value ascii asin acos atan atan2 bit_count cbrt ceil
    ceiling century chr concat concat_ws contains cos date date_add date_diff date_part date_sub date_trunc
    datediff datepart datesub datetrunc day dayname dayofmonth dayofweek dayofyear decade degrees divide
    ends_with epoch epoch_ms epoch_ns epoch_us era even exp factorial floor fmod format gamma gcd
    greatest hour if ifnull isfinite isinf isnan isodow isoyear jaccard lcase lcm least left len length
    levenshtein lgamma list_contains list_extract list_slice list_value ln log log10 log2 lower lpad ltrim
    make_date make_time make_timestamp md5 microsecond millennium millisecond minute mod month monthname
    multiply nullif pi pow power prefix printf quarter radians regexp_extract regexp_full_match
    regexp_matches regexp_replace replace reverse right round row rpad rtrim second sha256 sign signbit sin
    split_part sqrt starts_with str_split strftime string_split strip_accents strlen strptime struct_extract
    struct_pack substr substring subtract suffix tan timezone to_centuries to_days to_decades to_hours
    to_microseconds to_millennia to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp
    to_weeks to_years translate trim trunc try_strptime ucase unicode upper week weekday weekofyear xor year
    yearweek

    and as between case cast coalesce distinct else from in is like not or then try try_cast when
    array decimal enum map numeric struct time timestamp union varchar
    """.split()
)
"""Names allowed before a bracket: deterministic functions, and keywords of the syntax."""


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """The parts of a column's definition that matter here.

    ``collation`` is None if text is compared by its bytes. ``stable`` is false for a generated column that
    may have another value in each read.
    """

    name: str
    collation: str | None
    generated: bool
    stable: bool


def column_definitions(sql: str, shadowed: bool) -> tuple[ColumnDefinition, ...]:
    """Parse the columns of a CREATE TABLE.

    ``shadowed``: a macro of the database has the name of one of DuckDB's own functions.
    """
    columns = list(_columns(sql))
    collations = {fold(name): _collation(options) for name, options, _ in columns}
    unstable: set[str] = set()
    for _ in columns:  # a column generated from an unstable one is unstable
        for name, _, expression in columns:
            if expression and (shadowed or not _is_stable(expression, unstable)):
                unstable.add(fold(name))
    definitions = []
    for name, options, expression in columns:
        collation = _collation(options) or _collation(expression)
        for token in expression:
            collation = collation or (collations.get(fold(token.text)) if not _is_text(token) else None)
        definitions.append(ColumnDefinition(name, collation, bool(expression), fold(name) not in unstable))
    return tuple(definitions)


def _columns(sql: str) -> Iterator[tuple[str, list[Token], list[Token]]]:
    """Yield for each column its name, its type and options, and the expression that generates it."""
    for item in _items(sql):
        words = ["" if _is_text(token) else token.text.upper() for token in item]
        at = next(
            (i for i in range(len(words)) if words[i : i + 3] == ["GENERATED", "ALWAYS", "AS"]), len(item)
        )
        yield item[0].text, item[1:at], item[at + 3 :]


def _items(sql: str) -> Iterator[list[Token]]:
    """Split the text in the outermost brackets at its commas."""
    from sqlglot.dialects.duckdb import DuckDB
    from sqlglot.tokenizer_core import TokenType

    item: list[Token] = []
    depth = 0
    for token in DuckDB().tokenize(sql):
        opens = token.token_type in (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE)
        depth -= token.token_type in (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE)
        if depth == 0 or (depth == 1 and token.token_type is TokenType.COMMA):
            if item:
                yield item
            item = []
        else:
            item.append(token)
        depth += opens


def _collation(tokens: Sequence[Token]) -> str | None:
    for token, name in zip(tokens, tokens[1:], strict=False):
        if not _is_text(token) and token.text.upper() == "COLLATE":
            return name.text or "collated"
    return None


def _is_stable(expression: Sequence[Token], unstable: set[str]) -> bool:
    for token, following in zip(expression, (*expression[1:], None), strict=True):
        if _is_text(token):
            continue
        called = following is not None and following.text == "(" and not _is_text(following)
        named = token.text[:1].isalnum() or token.text[:1] == "_"
        if fold(token.text) in unstable or (called and named and token.text.casefold() not in SAME):
            return False
    return True


def _is_text(token: Token) -> bool:
    from sqlglot.tokenizer_core import TokenType

    return token.token_type in (TokenType.STRING, TokenType.NUMBER)
