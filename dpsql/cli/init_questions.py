"""The questions of ``dpsql init``: from a schema and answers to a policy.

    1 the unit    2 units of the other tables    3 the budget    4 the analysts    5 ranges and lists

Defaults are guessed from names, types and keys. Without a guess the default is the safest choice: a table
is hidden, a range is found privately, a column has no list of values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

from dpsql.cli import questions
from dpsql.cli.questions import Asker, NotThis
from dpsql.errors import InterfaceError
from dpsql.ir.column import Kind, enum_members
from dpsql.ir.relation import Columns, names_of
from dpsql.lazy_dataclass import dataclass
from dpsql.policy.catalogue import Catalogue, FoundColumn, FoundTable, FoundView
from dpsql.policy.check_ranges import proposed
from dpsql.policy.domain import Mismatch, interval_of, shown
from dpsql.policy.draft import enforced_key
from dpsql.policy.file_rules import with_files
from dpsql.policy.model import (
    AnalystRule,
    BudgetRule,
    ColumnRule,
    Policy,
    QueryRule,
    TableRule,
    UnitPath,
    UnitRule,
    ViewRule,
)
from dpsql.policy.names import fold
from dpsql.policy.resolve import type_of
from dpsql.policy.toml_keys import MOST_ROWS, MOST_UNITS
from dpsql.policy.unit_guesses import (
    Guess,
    best_table,
    named_like_a_key,
    personal,
    tells_apart,
    unit_of,
    ways_to,
)
from dpsql.policy.units import as_columns
from dpsql.render.english import one
from dpsql.terminal.output import put

T = TypeVar("T")

_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
_CSV = (
    " (Column types of csv files were guessed from the first lines, and become part of the policy. A value "
    "that does not fit its type is NULL.)"
)
_DATES = (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ)
_TOGETHER = (
    (_NUMBERS, "numbers of {}: find their ranges privately?"),
    (_DATES, "days and times of {}: find their ranges privately?"),
    ((Kind.TEXT,), "texts of {}: list no values?"),
)
MANY = 6
"""Of more columns of a kind in a table, one question is asked about all of them first; of two already in a
table of more than twice as many."""


def asked(asker: Asker, catalogue: Catalogue, protected: str = "") -> Policy:
    """Ask all questions; return the policy, whose text is not written yet.

    ``protected`` is the unit, if it was said before: patients.patient_id, or a column, user_id.
    """
    tables = tuple({fold(table.name): table for table in catalogue.tables}.values())
    asker.tell(
        "A policy says what is promised to the people in a database, and what analysts may ask. Enter takes "
        "the default in [brackets]; Ctrl-C stops, and nothing is written. No row is read until the end, when "
        "the keys are checked." + (_CSV if any(table.csv is not None for table in tables) else "")
    )
    unit, word = _unit(asker, tables, protected)
    about = asker.ask(f"about how many {word}s there are, if that may be public", "unknown", _about)
    rules = tuple(_tables(asker, tables, unit, word))
    budget, query = _budget(asker, word)
    analysts = _analysts(asker, budget)
    asker.tell(
        "5. What is publicly known of the columns? Numbers are clipped to a range, such as 0 110, before "
        "they are summed. Without a range of numbers, the first query that needs one finds it privately, for "
        "a fifth of its price; without one of dates, their averages are refused. A list names the values of "
        "a text column with few values: groups by it always appear. Both are public, so write what you know "
        "without looking into the data. (skip leaves out the rest of a table.)"
    )
    by_name = {table.name: table for table in tables}
    rules = tuple(_with_columns(asker, by_name[rule.name], rule, unit) for rule in rules)
    rule = (
        UnitRule(word, None, None, 0, about, as_columns(unit.columns))
        if unit.table is None
        else UnitRule(word, unit.table.name, as_columns(unit.columns), 0, about)
    )
    files = with_files(rules, by_name, rule)
    return Policy("", "", budget, query, analysts, rule, files, views=_views(asker, catalogue.views))


def _views(asker: Asker, found: tuple[FoundView, ...]) -> tuple[ViewRule, ...]:
    """Ask which views of the database exist for analysts."""
    if not found:
        return ()
    names = tuple(view.name for view in found)
    asker.tell(
        f"6. The database has views: {', '.join(names)}. Analysts may see the SQL of those that they may use."
    )
    kept = asker.ask("views for analysts", "none", questions.several_of(names, "view"))
    return tuple(ViewRule(view.name, view.sql, 0) for view in found if view.name in kept)


# ---- the unit, and the tables -------------------------------------------------------------------------


def guessed(tables: tuple[FoundTable, ...]) -> Guess:
    """Return the guess of the unit, or refuse a schema without any column that could hold it."""
    guess = unit_of(tables)
    if guess is None:
        raise InterfaceError(
            "no table has a column that could identify a person",
            help="such a column holds whole numbers, texts without collation, or UUIDs",
        )
    return guess


def _unit(asker: Asker, tables: tuple[FoundTable, ...], protected: str) -> tuple[Guess, str]:
    guess = said(tables, protected) if protected else guessed(tables)
    asker.tell(
        "1. Who is protected? Answers will look alike, up to their noise, with or without any one person and "
        "all rows of that person. These are the tables:"
    )
    if not asker.defaults:
        put(
            "\n".join(
                questions.folded(
                    f"    {table.name} ({', '.join(column.name for column in table.columns)})"
                ).rstrip()
                for table in tables
            )
        )
    if not protected:
        guess = _asked_unit(asker, tables, guess)
    return guess, asker.ask("one of them is called", guess.word or "unit", _word)


def _asked_unit(asker: Asker, tables: tuple[FoundTable, ...], guess: Guess) -> Guess:
    by_name = {table.name: table for table in tables if any(map(tells_apart, table.columns))}
    table: FoundTable | None = asker.ask(
        "the table with one row per person, or none",
        guess.table.name if guess.table is not None else "none",
        lambda text: None if text == "none" else questions.one_of(by_name, "table")(text),
    )
    places = tables if table is None else (table,)
    if table is not guess.table:
        best = best_table(places)
        guess = guess if best is None else Guess(table, best.key, best.more)
    keys = {fold(column.name): column for place in places for column in place.columns if tells_apart(column)}
    keys |= {fold(column.name): column for column in guess.columns}
    what = "the column that says whose a row is" if table is None else "its column that identifies them"
    names = ", ".join(column.name for column in guess.columns)
    read = questions.one_of({column.name: column for column in keys.values()}, "column")
    key, *more = asker.ask(what, names, partial(_one_or_more, read))
    return Guess(table, key, tuple(more))


def _one_or_more(read: Callable[[str], T], text: str) -> list[T]:
    """Read a name, which may hold commas, or several between commas."""
    try:
        return [read(text)]
    except NotThis:
        several = questions.listed(text)
        if len(several) < 2:
            raise
        return list(dict.fromkeys(map(read, several)))


def said(tables: tuple[FoundTable, ...], protected: str) -> Guess:
    """Read a unit: a table and its key, or a column; or several between commas, p.hospital,p.number."""
    name, _, key = protected.rpartition(".")
    for table in tables:
        for column in table.columns:
            if fold(table.name) == fold(name) and fold(column.name) == fold(key) and tells_apart(column):
                return Guess(table, column)
    for column in (column for table in tables for column in table.columns):
        if fold(column.name) == fold(protected) and tells_apart(column):
            return Guess(None, column)
    several = [part.strip() for part in protected.split(",")]
    guesses = [said(tables, part) for part in several] if len(several) > 1 else []
    if guesses and all(guess.table is guesses[0].table for guess in guesses):
        return Guess(guesses[0].table, guesses[0].key, tuple(guess.key for guess in guesses[1:]))
    raise InterfaceError(
        f"nothing here is called {protected} and could identify a person",
        help="name a table and its key, patients.patient_id; or a column that tables have, user_id",
    )


def _word(text: str) -> str:
    if not text.isprintable() or not any(map(str.isalnum, text)):
        raise NotThis("that is not a word")
    return text


def _about(text: str) -> int | None:
    if text == "unknown":
        return None
    number = text.replace(",", "").replace("_", "").replace(" ", "")
    if not number.isdecimal() or not 1 <= int(number) <= MOST_UNITS:
        raise NotThis("a whole number such as 30000, or Enter; a rough one will do, and it counts nothing")
    return int(number)


def _tables(asker: Asker, tables: tuple[FoundTable, ...], unit: Guess, word: str) -> Iterator[TableRule]:
    """Yield the rules of all tables that are not hidden, still without columns."""
    ways = ways_to(tables, unit)
    other_tables = [table for table in tables if table is not unit.table]
    if other_tables:
        asker.tell(
            f"2. Which {word} does a row of each table belong to? Name the column that holds the {word} "
            f"or a column that leads to a table that does (order_id -> orders.order_id). Answer "
            "public if everybody may see the whole table, and hidden if analysts must not know it exists."
        )
    if unit.table is not None:
        yield _rule(unit.table, None, None, enforced_key(unit.table, unit.columns))
    for table in other_tables:
        way, default = ways.get(table.name), "hidden"
        if way is not None:
            default = ", ".join(column.name for column in way.columns)
        if way is not None and way.to is not None:
            ends = ", ".join(f"{way.to.table.name}.{column.name}" for column in way.to.columns)
            default = f"{default} -> {ends}"
        path = asker.ask(table.name, default, partial(_path, table, tables))
        if path == "hidden":
            continue
        if path == "public":
            yield _rule(table, None, None, enforced_key(table, ()), public=True)
            continue
        assert isinstance(path, UnitPath)
        alone = path.references is None and any({*names_of(path.column)} == {*key} for key in table.unique)
        counted = f"  rows of one {word} that count in full (more are scaled down)"
        rows = None if alone else asker.ask(counted, "found privately", _rows)
        plain = unit.table is None and path.references is None and _same(path.column, unit)
        yield _rule(table, None if plain else path, rows, enforced_key(table, ()))


def _same(columns: Columns, unit: Guess) -> bool:
    return [*map(fold, names_of(columns))] == [fold(column.name) for column in unit.columns]


def _rule(
    table: FoundTable, path: UnitPath | None, rows: int | None, key: tuple[str, ...], public: bool = False
) -> TableRule:
    return TableRule(table.name, 0, public, key, path, rows, ())


def _path(table: FoundTable, tables: tuple[FoundTable, ...], text: str) -> UnitPath | str:
    """Read ``hidden``, ``public``, ``patient_id`` or ``order_id -> orders.order_id``; or several columns."""
    if fold(text) in ("hidden", "public"):
        return fold(text)
    name, arrow, target = (part.strip() for part in text.partition("->"))
    column = _column_of(table, name)
    if not arrow:
        return UnitPath(column, None, 0)
    end_name, _, key = target.rpartition(".")
    end_name, key = (end_name, key) if isinstance(column, str) else _ends(target)
    end = questions.one_of({table.name: table for table in tables}, "table")(end_name)
    keys = _column_of(end, key)
    if len(names_of(keys)) != len(names_of(column)):
        raise NotThis("name as many columns on both sides of the arrow, in one order")
    return UnitPath(column, (end.name, keys), 0)


def _ends(target: str) -> tuple[str, str]:
    """Split visits.hospital, visits.number into the table and its columns."""
    ends = [end.rpartition(".") for end in questions.listed(target)]
    if len({name for name, _, _ in ends}) != 1:
        raise NotThis("name columns of one table behind the arrow: visits.hospital, visits.number")
    return ends[0][0], ", ".join(key for _, _, key in ends)


def _column_of(table: FoundTable, name: str) -> Columns:
    columns = {column.name: column.name for column in table.columns if tells_apart(column)}
    read = questions.one_of(columns, f"column of {table.name} that leads to a person, such as")
    names = _one_or_more(read, name)
    return names[0] if len(names) == 1 else tuple(names)


def _rows(text: str) -> int | None:
    if text == "found privately":
        return None
    if not text.isdecimal() or not 1 <= int(text) <= MOST_ROWS:
        raise NotThis(f"a whole number from 1 to {MOST_ROWS:,}, or Enter")
    return int(text)


# ---- the budget, and the analysts ---------------------------------------------------------------------


def _budget(asker: Asker, word: str) -> tuple[BudgetRule, QueryRule]:
    asker.tell(
        f"3. How much may all answers together, ever, reveal about one {word}? With an epsilon of 1 they "
        f"change the odds of any guess whether {one(word)} is in the data by a factor of "
        f"{math.exp(1):.1f} at most (e^epsilon), with 5 by {math.exp(5):.0f}. What the best known attacks "
        "may win at 0.1, 1 and 5: dpsql attack, and its page, docs/attacks.md."
    )
    asker.tell(
        "The accountant is rdp, fitted for good to the epsilon that you name now: if you may grant more one "
        "day, write up_to beside it before the first query."
    )
    epsilon = asker.ask("epsilon of the whole budget", "1", questions.positive)
    asker.tell(
        f"delta is the probability that this fails: choose it far below one divided by the number of {word}s."
    )
    delta = asker.ask("delta", "1e-6", _delta)
    asker.tell("A higher price gives a query less noise, and leaves room for fewer queries.")
    price = asker.ask("default price of a query", f"{epsilon / 10:g}", partial(_at_most, epsilon, "budget"))
    highest = asker.ask(
        "highest price of a query",
        f"{max(price, epsilon / 2):g}",
        partial(_at_most, epsilon, "budget", least=price),
    )
    return BudgetRule(epsilon, delta, "rdp"), QueryRule(price, highest)


def _delta(text: str) -> float:
    delta = questions.positive(text)
    if delta >= 0.01:
        raise NotThis("a delta this large promises nothing; try 1e-6")
    return delta


def _at_most(most: float, whose: str, text: str, least: float = 0.0) -> float:
    price = questions.positive(text)
    if price > most:
        raise NotThis(f"more than the whole {whose}, {most:g}")
    if price < least:
        raise NotThis(f"less than the default price, {least:g}")
    return price


def _analysts(asker: Asker, budget: BudgetRule) -> tuple[AnalystRule, ...]:
    asker.tell(
        "4. Who are the analysts? Give names, separated by commas; a number after a name limits what "
        "they may spend of the budget: ana 0.5, bob. Whoever asks without a name asks as the owner."
    )

    def read(text: str) -> tuple[AnalystRule, ...]:
        rules: dict[str, AnalystRule] = {}
        for entry in [] if text == "none" else questions.listed(text):
            capped = re.fullmatch(r"(.*\S)\s+([-+\d.]\S*)", entry)
            name, cap = (entry, f"{budget.epsilon!r}") if capped is None else capped.groups()
            rules[name] = AnalystRule(name, _at_most(budget.epsilon, "budget", cap), 0)
        return tuple(rules.values())

    return asker.ask("analysts", "none", read)


# ---- ranges and lists ---------------------------------------------------------------------------------


def _with_columns(asker: Asker, table: FoundTable, rule: TableRule, unit: Guess) -> TableRule:
    """Return the rule with the columns that analysts may use, and their ranges and lists."""
    if rule.public:
        return rule
    path = {*map(fold, names_of(as_columns(unit.columns) if rule.unit is None else rule.unit.column))}
    names = tuple(column.name for column in table.columns if fold(column.name) not in path)
    guess = ", ".join(name for name in names if personal(name)) or "none"
    hidden = asker.ask(
        f"{table.name}: columns hidden from analysts", guess, questions.several_of(names, "column")
    )
    key = () if set(rule.key) & set(hidden) else rule.key
    ids = {*key, *(name for key in table.unique for name in key)}
    columns, answer, known = [], _ColumnAnswer(None, skip=asker.defaults), proposed(table)
    shown = [
        column for column in table.columns if column.name not in hidden and fold(column.name) not in path
    ]
    alone = [column for column in shown if column.name not in ids and not named_like_a_key(column.name)]
    alone = _asked_alone(asker, table, alone)
    for column in shown:
        answer = (
            _ask_column(asker, table, column, known.get(column.name))
            if column in alone and not answer.skip
            else _ColumnAnswer(known.get(column.name), answer.skip)
        )
        columns.append(answer.rule or ColumnRule(column.name, 0))
    return TableRule(rule.name, 0, False, key, rule.unit, rule.rows_per_unit, tuple(columns))


def _asked_alone(asker: Asker, table: FoundTable, columns: list[FoundColumn]) -> list[FoundColumn]:
    """Ask one question about many columns of a kind; return those that are asked about one by one."""
    alone, few = list(columns), MANY if len(columns) <= 2 * MANY else 1
    for kinds, question in _TOGETHER:
        alike = [column for column in columns if type_of(column).kind in kinds]
        together = f"the {len(alike)} {question.format(table.name)}"
        if len(alike) > few and not asker.defaults and asker.ask(together, "yes", questions.yes):
            alone = [column for column in alone if column not in alike]
    return alone


@dataclass(frozen=True, slots=True)
class _ColumnAnswer:
    """An answer about a column: its rule, and whether the other columns of the table are skipped."""

    rule: ColumnRule | None
    skip: bool = False


def _ask_column(
    asker: Asker, table: FoundTable, column: FoundColumn, known: ColumnRule | None
) -> _ColumnAnswer:
    """Ask for a range or a list; the default is what the database's own checks say."""
    kind, members = type_of(column).kind, enum_members(type_of(column).sql)
    prompt = f"{table.name}.{column.name} {shown(type_of(column))}:"
    if kind in (*_NUMBERS, *_DATES):
        example = "0 110" if kind in _NUMBERS else "2024-01-01 2024-12-31"
        default = "none" if known is None or known.range is None else " ".join(map(str, known.range))
        return asker.ask(f"{prompt} range, such as {example}", default, partial(_range, table, column))
    if kind is Kind.TEXT:
        example = "or all values of its type" if members else "such as F, M"
        default = "none" if known is None or known.values is None else questions.spelled(known.values)
        return asker.ask(f"{prompt} list, {example}", default, partial(_list, column, members))
    return _ColumnAnswer(None)


def _range(table: FoundTable, column: FoundColumn, text: str) -> _ColumnAnswer:
    if text in ("none", "skip"):
        return _ColumnAnswer(None, text == "skip")
    if table.csv is not None and table.csv.decimal == "," and re.search(r"\b[1-9]\d{0,2}\.\d{3}\b", text):
        raise NotThis("write numbers without thousands separators, and with a decimal point: 5000 or 0.5")
    ends = questions.ends(text)
    try:
        interval_of(type_of(column), ends, "UTC")
    except Mismatch as mismatch:
        raise NotThis(str(mismatch)) from None
    return _ColumnAnswer(ColumnRule(column.name, 0, range=ends))


def _list(column: FoundColumn, members: tuple[str, ...], text: str) -> _ColumnAnswer:
    if text in ("none", "skip"):
        return _ColumnAnswer(None, text == "skip")
    values = members if members and text == "all" else questions.values(text)
    unknown = [value for value in values if members and value not in members]
    if unknown:
        raise NotThis(f"{unknown[0]} is not a value of its type")
    return _ColumnAnswer(ColumnRule(column.name, 0, values=values))
