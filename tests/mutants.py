"""Queries that nobody would write: the fixtures' own, changed a little by a seed.

Every change keeps most of a query, so that many mutants get past the parser and deep into planning.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

_TOKEN = re.compile(r"""\s+|--[^\n]*|'(?:[^']|'')*'|"(?:[^"]|"")*"|\w+|<>|<=|>=|\|\||::|=>|.""", re.DOTALL)
_WORDS = """
    SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET DISTINCT ALL AS JOIN LEFT RIGHT FULL CROSS ON USING
    UNION EXCEPT INTERSECT WITH RECURSIVE CASE WHEN THEN ELSE END AND OR NOT IN IS NULL BETWEEN LIKE EXISTS
    OVER PARTITION FILTER QUALIFY ROLLUP CUBE INTERVAL CAST OPTIONS CLAMPED EXPLAIN VALUES LATERAL NATURAL
    COUNT SUM AVG MIN MAX ABS COALESCE LEAST GREATEST ROUND TRUE FALSE * ( ) , . + - / % = < > || :: ; ? [ ]
""".split()
_NUMBERS = (
    *("0", "1", "-1", "0.0", "1e308", "1e400", "-1e400", "1e-400", "NULL", "9223372036854775807"),
    *(
        "9223372036854775808",
        "170141183460469231731687303715884105728",
        "999999999999999999999999999999999999999",
    ),
    *(
        "0.1",
        "2147483648",
        "00",
        "1e",
        ".5",
        "5.",
        "1_000",
        "0x1F",
        "'x'",
        "DATE '0001-01-01'",
        "10001",
        "255",
    ),
)


def mutant(queries: Sequence[str], seed: int) -> str:
    """One of the queries after one to four changes."""
    dice = random.Random(seed)
    tokens = _TOKEN.findall(dice.choice(queries))
    for _ in range(dice.choice((1, 1, 1, 2, 2, 3))):
        other = _TOKEN.findall(dice.choice(queries))
        tokens = [each for each in dice.choice(_CHANGES)(dice, tokens, other) if each]
        if not tokens:
            return ""
    return "".join(tokens)


def _solid(tokens: list[str]) -> list[int]:
    return [i for i, each in enumerate(tokens) if not each.isspace()] or [0]


def _deleted(dice: random.Random, tokens: list[str], other: list[str]) -> list[str]:
    at = dice.choice(_solid(tokens))
    return tokens[:at] + tokens[at + dice.choice((1, 1, 3, 5)) :]


def _doubled(dice: random.Random, tokens: list[str], other: list[str]) -> list[str]:
    at = dice.choice(_solid(tokens))
    piece = tokens[at : at + dice.choice((1, 1, 3, 7, 15))]
    return [*tokens[:at], *[*piece, " "] * dice.choice((2, 2, 3, 9)), *tokens[at + len(piece) :]]


def _exchanged(dice: random.Random, tokens: list[str], other: list[str]) -> list[str]:
    first, second = dice.choice(_solid(tokens)), dice.choice(_solid(tokens))
    changed = list(tokens)
    changed[first], changed[second] = changed[second], changed[first]
    return changed


def _borrowed(dice: random.Random, tokens: list[str], other: list[str]) -> list[str]:
    """A name in the place of another, most often: both are words."""
    words = [i for i in _solid(tokens) if tokens[i][0].islower()] or _solid(tokens)
    names = [each for each in other if each[0].islower()] or ["x"]
    at = dice.choice(words)
    return [*tokens[:at], dice.choice(names), *tokens[at + 1 :]]


def _inserted(dice: random.Random, tokens: list[str], other: list[str]) -> list[str]:
    at = dice.choice(_solid(tokens))
    return [*tokens[:at], " ", dice.choice(_WORDS), " ", *tokens[at:]]


def _extreme(dice: random.Random, tokens: list[str], other: list[str]) -> list[str]:
    numbers = [i for i in _solid(tokens) if tokens[i][0].isdigit()] or _solid(tokens)
    at = dice.choice(numbers)
    return [*tokens[:at], dice.choice(_NUMBERS), *tokens[at + 1 :]]


def _spliced(dice: random.Random, tokens: list[str], other: list[str]) -> list[str]:
    return [*tokens[: dice.choice(_solid(tokens))], " ", *other[dice.choice(_solid(other)) :]]


def _wrapped(dice: random.Random, tokens: list[str], other: list[str]) -> list[str]:
    """A name inside a call, or a subquery in its place."""
    at = dice.choice([i for i in _solid(tokens) if tokens[i][0].islower()] or _solid(tokens))
    end = at + dice.choice((1, 1, 1, 3))
    inner = "".join(other).rstrip().rstrip(";") if dice.random() < 0.3 else "".join(tokens[at:end])
    name = dice.choice(
        (" SUM", " abs", " COUNT", " EXISTS ", " NOT ", " ", " AVG", " lower", " DATE", " CAST")
    )
    return [*tokens[:at], name, "(", inner, ")", *tokens[end:]]


def _pasted(dice: random.Random, tokens: list[str], other: list[str]) -> list[str]:
    """A query of its own in the place of a table's name, or a clause of another query."""
    whole = "".join(other).rstrip().rstrip(";")
    places = [i for i in _solid(tokens) if tokens[i].upper() in ("FROM", "JOIN")]
    if places and dice.random() < 0.5:
        at, name = dice.choice(places), dice.choice(("t", "v", "p", "visits", "patients"))
        return [*tokens[: at + 1], f" ({whole}) AS {name}", *tokens[at + 3 :]]
    starts = [i for i in _solid(other) if other[i].upper() in ("WHERE", "GROUP", "HAVING", "ORDER", "LIMIT")]
    ends = [i for i in _solid(tokens) if tokens[i].upper() in ("GROUP", "ORDER", "HAVING", ";", "LIMIT")]
    if not starts or not ends:
        return tokens
    start, at = dice.choice(starts), dice.choice(ends)
    return [*tokens[:at], " ", *other[start : start + dice.choice((4, 6, 9, 30))], " ", *tokens[at:]]


_CHANGES = (
    *(_deleted, _doubled, _exchanged, _inserted, _spliced, _pasted, _pasted),
    *(_extreme, _borrowed, _wrapped) * 4,
)
