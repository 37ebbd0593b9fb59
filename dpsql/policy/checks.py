"""Checks of a table: columns of which one is at most the other in every row.

    check = "admitted <= discharged"                      of the policy, or comparisons joined by AND
    CHECK (admitted <= discharged AND cost > 0)           of the database: comparisons of two columns alone

A check makes the range of ``discharged - admitted`` narrower. The policy's is not verified, and no proof
rests on either: a row that violates it is clamped to the range, as every row is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dpsql.ir.column import comparable
from dpsql.policy.catalogue import FoundColumn
from dpsql.policy.names import fold
from dpsql.policy.resolve import Held, column_of, type_of
from dpsql.policy.toml_positions import Document
from dpsql.policy.toml_section import Section

Comparison = tuple[str, str]
"""Two columns; the first is at most the second, where neither is NULL."""

_TOKEN = re.compile(r"""\s*("(?:[^"]|"")*"|[^\W\d]\w*|<=|>=|<>|!=|[<>=()]|'(?:[^']|'')*'|\S)""")
_ENDS = {"<": (0, 2), "<=": (0, 2), ">": (2, 0), ">=": (2, 0)}
"""Where the lesser and the greater one stand around a sign."""
_OTHER_WORDS = frozenset(("OR", "BETWEEN", "CASE"))
"""Words beside which AND does not join conditions that hold each."""


def read_check(section: Section) -> str:
    """Read the key ``check`` of a table; refuse what is no comparison of columns."""
    text = section.string("check")
    if any(_comparison(part) is None for part in _parts(_tokens(text))):
        raise section.wrong(
            "check",
            "a check compares two columns of the table",
            label="not a comparison of two columns, or several joined by AND",
            help='for example: check = "admitted <= discharged"',
        )
    return text


def comparisons(text: str) -> tuple[Comparison, ...]:
    """Return the comparisons of two columns that a check asks for, whatever else it asks for."""
    found = (_comparison(part) for part in _parts(_tokens(text)))
    return tuple(comparison for comparison in found if comparison is not None)


def checks_of(document: Document, table: Held, exist: Sequence[str]) -> tuple[Comparison, ...]:
    """Return the comparisons that the policy and the database declare of columns that exist for analysts."""
    found = []
    for lesser, greater in comparisons(table.rule.check):
        path = (*table.path, "check")
        pair = tuple(column_of(document, table.found, name, path) for name in (lesser, greater))
        missing = next((column.name for column in pair if column.name not in exist), None)
        if missing is not None:
            raise document.refuse(
                "D804",
                f"{table.found.name}.{missing} does not exist for analysts",
                path,
                label="the policy does not list it",
                help=f"add {missing} = {{}} below [tables.{table.rule.name}.columns]",
            )
        if not _comparable(*pair):
            raise document.refuse(
                "D804",
                f"{lesser} and {greater} are not compared as they are",
                path,
                label="their types differ, or have no differences",
                help="name two columns of numbers, of dates or of moments",
            )
        found.append((pair[0].name, pair[1].name))
    by_name = {fold(column.name): column for column in table.found.columns if column.name in exist}
    for text in table.found.checks:
        for lesser, greater in comparisons(text):
            if fold(lesser) in by_name and fold(greater) in by_name:
                pair = by_name[fold(lesser)], by_name[fold(greater)]
                if _comparable(*pair):
                    found.append((pair[0].name, pair[1].name))
    return tuple(dict.fromkeys(found))


def _comparable(first: FoundColumn, second: FoundColumn) -> bool:
    return comparable(type_of(first), type_of(second))


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def _parts(tokens: list[str]) -> list[list[str]]:
    """Split a condition at its ANDs, outside and in parentheses around it; in any other it is one part.

    Whatever holds of a row holds of each part.
    """
    if len(tokens) > 1 and tokens[0] == "(" and _closing(tokens) == len(tokens) - 1:
        return _parts(tokens[1:-1])
    depth, starts = 0, [0]
    for place, token in enumerate(tokens):
        depth += (token in "([{") - (token in ")]}")
        if depth < 0 or (depth == 0 and token.upper() in _OTHER_WORDS):
            return [tokens]
        if depth == 0 and token.upper() == "AND":
            starts.append(place + 1)
    if depth or len(starts) == 1:
        return [tokens]
    ends = [start - 1 for start in starts[1:]] + [len(tokens)]
    return [part for a, b in zip(starts, ends, strict=True) for part in _parts(tokens[a:b])]


def _closing(tokens: list[str]) -> int | None:
    """Return where the first parenthesis is closed."""
    depth = 0
    for place, token in enumerate(tokens):
        depth += (token == "(") - (token == ")")
        if depth == 0:
            return place
    return None


def _comparison(part: list[str]) -> Comparison | None:
    if len(part) != 3 or part[1] not in _ENDS:
        return None
    names = [_name(part[place]) for place in _ENDS[part[1]]]
    return (names[0], names[1]) if names[0] and names[1] and names[0] != names[1] else None


def _name(token: str) -> str:
    """Return the name of a column; '' if the token is none."""
    if token.startswith('"') and len(token) > 1:
        return token[1:-1].replace('""', '"')
    return token if re.fullmatch(r"[^\W\d]\w*", token) else ""
