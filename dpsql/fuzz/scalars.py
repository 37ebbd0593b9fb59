"""Expressions, drawn from every function of the shelf by the sorts of their arguments.

    date_diff('day', d, DATE '2020-06-01')    an example of the shelf
    date_diff('day', ?date, DATE '...')       its form; also ?timestamp, if the shelf takes one
    date_diff('day', last_day(<7>), ...)      drawn: <7> is a column of the tree, printed later

A function is drawn the more readily the less it was used so far in accepted queries, and the sort of an
expression by the rarity of what gives it, so that all of them come up.
"""

from __future__ import annotations

import datetime
import itertools
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

import sqlglot
from sqlglot import exp

from dpsql.errors import Error
from dpsql.functions import ArgumentError, Function, shelf
from dpsql.functions.core.meaning import call, fact_of
from dpsql.functions.reading import literal_of, read
from dpsql.fuzz.schemas import Schema, Sort
from dpsql.ir.column import Fact, Kind, type_named
from dpsql.ir.scalar import Ref, Scalar
from dpsql.ir.source import Source
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.parse import parse


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a relation tree. Its token stands for it in expressions until they are printed."""

    number: int
    sort: Sort
    name: str
    bounded: bool = False
    key: str = ""

    @property
    def made(self) -> bool:
        """Whether it is computed in the tree."""
        return self.name == f"c{self.number}"

    @property
    def token(self) -> str:
        return f"⟦{self.number}⟧"


TOKEN = re.compile(r"⟦(\d+)⟧")

_TYPES = {
    Sort.INTEGER: "INTEGER",
    Sort.DECIMAL: "DECIMAL(12,2)",
    Sort.FLOAT: "DOUBLE",
    Sort.TEXT: "VARCHAR",
    Sort.ENUM: "ENUM('0', 'A', 'B', 'AB')",
    Sort.BOOLEAN: "BOOLEAN",
    Sort.DATE: "DATE",
    Sort.TIMESTAMP: "TIMESTAMP",
}
_SORTS = {
    Kind.INTEGER: Sort.INTEGER,
    Kind.DECIMAL: Sort.DECIMAL,
    Kind.FLOAT: Sort.FLOAT,
    Kind.TEXT: Sort.TEXT,
    Kind.BOOLEAN: Sort.BOOLEAN,
    Kind.DATE: Sort.DATE,
    Kind.TIMESTAMP: Sort.TIMESTAMP,
}
_OTHER = frozenset((Kind.TIME, Kind.UUID))

_LETTERS = {
    **dict.fromkeys("ijklh", Sort.INTEGER),
    **dict.fromkeys(("sm", "ti", "ut", "ui", "ub", "uh"), Sort.INTEGER),
    **dict.fromkeys("pqw", Sort.DECIMAL),
    **dict.fromkeys("fxy", Sort.FLOAT),
    **dict.fromkeys("sc", Sort.TEXT),
    "e": Sort.ENUM,
    **dict.fromkeys(("d", "d2"), Sort.DATE),
    **dict.fromkeys(("ts", "tsec", "tn"), Sort.TIMESTAMP),
    "b": Sort.BOOLEAN,
}
"""The columns of the shelf's examples."""

_PUT = {
    "li": "string_split({}, ' ')",
    "tz": "CASE WHEN {} IS NOT NULL THEN TIMESTAMPTZ '2024-03-31 01:30:00+00' END",
    "tm": "CAST({} AS TIME)",
    "u": "CAST({} AS UUID)",
}
"""Columns of types that the world does not have: made from a timestamp or a text."""

NOT_DRAWN = frozenset(
    ("json_extract", "json_keys", "map_entries", "map_keys", "map_values", "struct_extract")
)
"""Functions that take or give types that no column of the world has; fixtures judge them."""

_SIMILAR = {
    Sort.INTEGER: (Sort.INTEGER, Sort.FLOAT, Sort.DECIMAL),
    Sort.FLOAT: (Sort.FLOAT, Sort.INTEGER, Sort.DECIMAL),
    Sort.DATE: (Sort.DATE, Sort.TIMESTAMP),
    Sort.TIMESTAMP: (Sort.TIMESTAMP, Sort.DATE),
}


@dataclass(frozen=True, slots=True)
class Form:
    """One way to call a function: SQL with ⟦0⟧, ⟦1⟧... for arguments of these sorts."""

    function: str
    text: str
    arguments: tuple[Sort, ...]
    result: Sort


@cache
def forms() -> dict[Sort, tuple[Form, ...]]:
    """Every function of the shelf in every form that it takes, by the sort of what it gives."""
    found: dict[Sort, list[Form]] = {}
    for function in sorted(shelf().values(), key=lambda each: each.name):
        for form in _forms_of(function.name, function.example) if _is_drawn(function) else ():
            found.setdefault(form.result, []).append(form)
    return {sort: tuple(each) for sort, each in found.items()}


def _is_drawn(function: Function) -> bool:
    return function.name not in NOT_DRAWN and is_read(function.example)


@cache
def ways() -> Counter[str]:
    """In how many forms each function is there."""
    return Counter(form.function for found in forms().values() for form in found)


def is_read(example: str) -> bool:
    """Whether the text is syntax that is read at all."""
    try:
        parse(Source(f"SELECT {example}"), (), lambda: datetime.datetime.now(datetime.UTC))
    except Error:
        return False
    return True


def _forms_of(name: str, example: str) -> Iterator[Form]:
    text, letters = _opened(example)
    wanted = [_LETTERS.get(each, Sort.TIMESTAMP if each in ("tz", "tm") else Sort.TEXT) for each in letters]
    for sorts in itertools.product(*(_SIMILAR.get(sort, (sort,)) for sort in wanted)):
        given = {str(i): sort for i, sort in enumerate(sorts)}
        shown = TOKEN.sub(lambda found: f'"{found[1]}"', text)
        kind = _kind(shown, given)
        if kind is None:
            continue
        if kind in _SORTS:
            yield Form(name, text, sorts, _SORTS[kind])
        elif kind is Kind.INTERVAL:
            yield Form(name, f"epoch({text})", sorts, Sort.FLOAT)
        elif kind is Kind.TIMESTAMPTZ:
            yield Form(name, f"(({text}) AT TIME ZONE 'UTC')", sorts, Sort.TIMESTAMP)
        elif kind in _OTHER:
            yield Form(name, f"CAST({text} AS VARCHAR)", sorts, Sort.TEXT)


def _opened(example: str) -> tuple[str, list[str]]:
    """The example with tokens for its columns; texts in quotes stay."""
    names = {column.name for column in _parsed(example).find_all(exp.Column)}
    strange = names - _LETTERS.keys() - _PUT.keys()
    if strange:
        raise AssertionError(f"no column stands for {strange} of the example {example!r}")
    letters: list[str] = []

    def token(found: re.Match[str]) -> str:
        letters.append(found[0])
        return _PUT.get(found[0], "{}").format(f"⟦{len(letters) - 1}⟧")

    if not names:
        return example, []
    word = re.compile(rf"\b(?:{'|'.join(sorted(names))})\b(?!\()")
    parts = re.split(r"('(?:[^']|'')*')", example)
    parts[::2] = [word.sub(token, part) for part in parts[::2]]
    return "".join(parts), letters


def _parsed(text: str) -> exp.Expr:
    node = sqlglot.parse_one(f"SELECT {text}", dialect="duckdb").expressions[0]
    assert isinstance(node, exp.Expr)
    return node


def _kind(text: str, given: dict[str, Sort]) -> Kind | None:
    """What the shelf makes of the text over columns of these sorts; None where they do not fit."""

    def lookup(name: str) -> Fact:
        return Fact(type_named(_TYPES[given[name]]))

    def bound(node: exp.Expr) -> Scalar:
        if isinstance(node, exp.Paren):
            return bound(node.this)
        if isinstance(node, exp.Column):
            return Ref(node.name)
        literal = literal_of(node)
        if literal is not None:
            return literal
        reading = read(node)
        if reading is None:
            raise ArgumentError("not on the shelf")
        return call(reading.name, [bound(each) for each in reading.arguments], lookup, reading.type)

    try:
        return fact_of(bound(_parsed(text)), lookup).type.kind
    except ArgumentError:
        return None


CONSTANTS = {
    Sort.INTEGER: ("0", "1", "3", "100", "-7", "2147483647", "NULL::INTEGER", "9223372036854775807"),
    Sort.FLOAT: ("0.0::DOUBLE", "1.5::DOUBLE", "1e300", "-1e308", "'nan'::DOUBLE", "0.1::FLOAT", "1e0"),
    Sort.DECIMAL: ("1.5", "0.01", "100::DECIMAL(8,2)", "-2.25"),
    Sort.TEXT: ("'Oslo'", "'A'", "''", "'checkup'", "'2023-01-05'"),
    Sort.BOOLEAN: ("true", "false", "NULL::BOOLEAN"),
    Sort.DATE: ("DATE '2023-01-05'", "DATE '1980-02-29'"),
    Sort.TIMESTAMP: ("TIMESTAMP '2023-01-05 09:00:00'", "TIMESTAMP '2024-02-29 12:00:00'"),
    Sort.ENUM: ("'A'",),
}
CALM = {
    Sort.INTEGER: ("0", "1", "3", "20"),
    Sort.FLOAT: ("0.5::DOUBLE", "1.5::DOUBLE", "20e0"),
    Sort.DECIMAL: ("1.5", "20.25"),
    Sort.TEXT: ("'Oslo'", "'A'", "'checkup'"),
    Sort.BOOLEAN: ("true", "false"),
}
"""Constants that bring nothing beyond a bound."""

NUMBERS = (Sort.INTEGER, Sort.FLOAT, Sort.DECIMAL)
SHOWN = (*NUMBERS, Sort.TEXT, Sort.BOOLEAN, Sort.DATE, Sort.TIMESTAMP)
CLAMPS = (("0", "10"), ("-5", "5"), ("-20", "500"), ("-1000000", "0.5"), ("3", "3"), ("-0.001", "0.002"))

Scope = Sequence[Column]


class Expressions:
    """Draws expressions over the columns in scope.

    ``drawn`` counts how often each function was drawn, ``used`` in how many accepted queries it stood.
    """

    def __init__(self, rng: random.Random, schema: Schema) -> None:
        self.rng, self.schema = rng, schema
        self.constants = {**CONSTANTS, **schema.constants}
        self.drawn: Counter[str] = Counter()
        self.used: Counter[str] = Counter()
        self.calm = False

    def column(self, scope: Scope, *sorts: Sort) -> Column | None:
        """A column of one of these sorts, computed ones first: what nobody reads is not judged."""
        found = [each for each in scope if each.sort in sorts]
        made = [each for each in found if each.made]
        return self.rng.choice(made if made and self.rng.random() < 0.5 else found) if found else None

    def constant(self, sort: Sort) -> str:
        return self.rng.choice((CALM if self.calm else self.constants).get(sort, self.constants[sort]))

    def draw(self, scope: Scope, sort: Sort, depth: int) -> str:
        """An expression of this sort; at depth 0 a column where there is one."""
        found = self.column(scope, sort)
        known = forms().get(sort, ())
        if depth <= 0 or not known or self.rng.random() < 0.15:
            return found.token if found is not None and self.rng.random() < 0.9 else self.constant(sort)
        form = self._form(scope, known)
        self.drawn[form.function] += 1
        drawn = (self._argument(scope, each, depth - 1) for each in form.arguments)
        values = [f"({each})" if each.startswith("-") else each for each in drawn]
        return "(" + TOKEN.sub(lambda match: values[int(match[1])], form.text) + ")"

    def _argument(self, scope: Scope, sort: Sort, depth: int) -> str:
        found = self.column(scope, sort)
        if found is not None and self.rng.random() < 0.45:
            return found.token
        if found is not None and sort in NUMBERS and self.rng.random() < 0.3:
            low, high = self.rng.choice(CLAMPS[:3])
            return f"GREATEST(LEAST({found.token}, {high}), {low})"
        return self.draw(scope, sort, depth)

    def value(self, scope: Scope, depth: int, *sorts: Sort) -> tuple[Sort, str]:
        """An expression of any of these sorts, mostly of the one whose functions are the rarest."""
        sort = self.rng.choice(sorts or SHOWN)
        if self.rng.random() < 0.7:
            known = [form for each in sorts or SHOWN for form in forms().get(each, ())]
            sort = self._form(scope, known).result
        return sort, self.draw(scope, sort, depth)

    def _form(self, scope: Scope, known: Sequence[Form]) -> Form:
        """Rare functions first, and those whose arguments are there."""
        sorts = {each.sort for each in scope}
        return self.rng.choices(known, [self._weight(form, sorts) for form in known])[0]

    def _weight(self, form: Form, sorts: set[Sort]) -> float:
        if Sort.ENUM in form.arguments and Sort.ENUM not in sorts:  # no constant is an ENUM
            return 0.0
        there = 1.0 if sorts.issuperset(form.arguments) else 0.25
        seen = 1 + self.used[form.function] + 0.2 * self.drawn[form.function]
        return there / (seen * seen * ways()[form.function])

    def condition(self, scope: Scope, depth: int = 1) -> str:
        """Something that is true of some rows, drawn or as people write it."""
        rng, chance = self.rng, self.rng.random()
        if depth > 0 and chance < 0.2:
            sides = self.condition(scope, depth - 1), self.condition(scope, depth - 1)
            return f"({sides[0]} {rng.choice(('AND', 'OR'))} {sides[1]})"
        if depth > 0 and chance < 0.5:
            return self.draw(scope, Sort.BOOLEAN, depth)
        column = self.column(scope, *CONSTANTS) if scope else None
        if column is None:
            return "true"
        one, sort = column.token, column.sort
        if sort is Sort.BOOLEAN or chance < 0.58:
            return one if sort is Sort.BOOLEAN else f"{one} IS {rng.choice(('', 'NOT ', 'NOT '))}NULL"
        if chance < 0.65:
            return f"{one} IN ({', '.join(self.constant(sort) for _ in range(3))})"
        if chance < 0.72 and sort is not Sort.ENUM:
            low, high = self.constant(sort), self.constant(sort)
            return f"{one} BETWEEN {low} AND {high}"
        signs = ("=", "<", "<", ">=", ">=", "<>", "<>", "IS DISTINCT FROM", "IS DISTINCT FROM")
        sign = rng.choice(("=", "<>", "<>") if sort is Sort.ENUM else signs)
        return f"{one} {sign} {self.constant(sort)}"

    def bounded(self, scope: Scope, depth: int = 1) -> str:
        """A number that a sum can bound: declared columns, what the analyst clamps, arithmetic over both."""
        rng = self.rng
        plain = [each for each in scope if each.bounded and each.sort in NUMBERS]
        if plain and rng.random() < 0.45:
            made = [each for each in plain if each.made]
            one = rng.choice(made or plain).token
        else:
            low, high = rng.choice(CLAMPS[:3] if self.calm else CLAMPS)
            one = f"LEAST(GREATEST({self.draw(scope, rng.choice(NUMBERS), depth)}, {low}), {high})"
        if depth <= 0 or rng.random() < 0.5:
            return one
        small = rng.choice(("-2", "3", "0.5"))
        forms = (
            f"({one} * {small})",
            f"({one} - 5)",
            f"(- {one})",
            f"abs({one} - 3)",
            f"coalesce({one}, 0)",
            f"CASE WHEN {self.condition(scope, 0)} THEN {one} ELSE {small} END",
            f"(({one} - 2) * {self.bounded(scope, 0)})",
            f"({one} - {self.bounded(scope, 0)})",
        )
        return rng.choice(forms)
