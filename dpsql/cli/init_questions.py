"""The questions of ``dpsql init``: from a schema and answers to a policy.

    1 the unit    2 units of the other tables    3 the budget    4 the analysts    5 ranges and lists

Defaults are guessed from names, types and keys. Without a guess the default is the safest choice: a table
is hidden, a range is found privately, a column has no list of values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from dpsql.cli import questions
from dpsql.cli.questions import Asker, NotThis
from dpsql.errors import InterfaceError
from dpsql.ir.column import Kind
from dpsql.policy.catalogue import Catalogue, FoundColumn, FoundTable
from dpsql.policy.domain import Mismatch, enum_members, interval_of, shown
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
)
from dpsql.policy.names import fold
from dpsql.policy.resolve import type_of
from dpsql.policy.toml_keys import MOST_ROWS, MOST_UNITS
from dpsql.policy.unit_guesses import Keyed, personal, singular, tells_apart, unit_of, ways_to
from dpsql.terminal.output import put

_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
_CSV = (
    " (Column types of csv files were guessed from the first lines, and become part of the policy. A value "
    "that does not fit its type is NULL.)"
)
_DATES = (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ)


def asked(asker: Asker, catalogue: Catalogue) -> Policy:
    """Ask all questions; return the policy, whose text is not written yet."""
    tables = tuple({fold(table.name): table for table in catalogue.tables}.values())
    asker.tell(
        "A policy says what is promised to the people in a database, and what analysts may ask. Enter takes "
        "the default in [brackets]; Ctrl-C stops, and nothing is written. No row is read until the end, when "
        "the keys are checked." + (_CSV if any(table.csv is not None for table in tables) else "")
    )
    unit, word = _unit(asker, tables)
    about = asker.ask(f"about how many {word}s there are, if that may be public", "unknown", _about)
    rules = tuple(_tables(asker, tables, unit, word))
    budget, query = _budget(asker, word)
    analysts = _analysts(asker, budget)
    asker.tell(
        "5. What is publicly known of the columns? Numbers are clipped to a range, such as 0 110, before "
        "they are summed. Without a range, the first query that needs one finds it privately, for a fifth of "
        "its price. A list names the values of a text column with few values: groups by it always appear. "
        "Both are public, so write what you know without looking into the data. (skip leaves out the rest of "
        "a table.)"
    )
    by_name = {table.name: table for table in tables}
    rules = tuple(_with_columns(asker, by_name[rule.name], rule, unit) for rule in rules)
    protected = UnitRule(word, unit.table.name, unit.key.name, 0, about)
    return Policy("", "", budget, query, analysts, protected, with_files(rules, by_name, protected))


# ---- the unit, and the tables -------------------------------------------------------------------------


def _unit(asker: Asker, tables: tuple[FoundTable, ...]) -> tuple[Keyed, str]:
    guess = unit_of(tables)
    if guess is None:
        raise InterfaceError(
            "no table has a column that could identify a person",
            help="such a column holds whole numbers, texts without collation, or UUIDs",
        )
    asker.tell(
        "1. Who is protected? Answers will look alike, up to their noise, with or without any one person and "
        "all rows of that person. These are the tables:"
    )
    if not asker.defaults:
        put(
            "\n".join(
                f"    {table.name} ({', '.join(column.name for column in table.columns)})" for table in tables
            )
        )
    by_name = {table.name: table for table in tables if any(map(tells_apart, table.columns))}
    table = asker.ask(
        "the table with one row per person", guess.table.name, questions.one_of(by_name, "table")
    )
    if table is not guess.table:
        guess = unit_of((table,)) or guess
    keys = {column.name: column for column in table.columns if tells_apart(column)}
    key = asker.ask("its column that identifies them", guess.key.name, questions.one_of(keys, "column"))
    return Keyed(table, key), asker.ask("one of them is called a", singular(table.name) or "unit", _word)


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


def _tables(asker: Asker, tables: tuple[FoundTable, ...], unit: Keyed, word: str) -> Iterator[TableRule]:
    """Yield the rules of all tables that are not hidden, still without columns."""
    ways = ways_to(tables, unit)
    other_tables = [table for table in tables if table is not unit.table]
    if other_tables:
        asker.tell(
            f"2. Which {word} does a row of the other tables belong to? Name the column that holds the "
            f"{word} or a column that leads to a table that does (order_id -> orders.order_id). Answer "
            "public if everybody may see the whole table, and hidden if analysts must not know it exists."
        )
    yield _rule(unit.table, None, None, enforced_key(unit.table, unit.key))
    for table in other_tables:
        way, default = ways.get(table.name), "hidden"
        if way is not None:
            default = way.column.name + (f" -> {way.to.table.name}.{way.to.key.name}" if way.to else "")
        path = asker.ask(table.name, default, partial(_path, table, tables))
        if path == "hidden":
            continue
        if path == "public":
            yield _rule(table, None, None, enforced_key(table, None), public=True)
            continue
        assert isinstance(path, UnitPath)
        rows = asker.ask(
            f"  rows of one {word} that count in full (more are scaled down)", "found privately", _rows
        )
        yield _rule(table, path, rows, enforced_key(table, None))


def _rule(
    table: FoundTable, path: UnitPath | None, rows: int | None, key: tuple[str, ...], public: bool = False
) -> TableRule:
    return TableRule(table.name, 0, public, key, path, rows, ())


def _path(table: FoundTable, tables: tuple[FoundTable, ...], text: str) -> UnitPath | str:
    """Read ``hidden``, ``public``, ``patient_id`` or ``order_id -> orders.order_id``."""
    if fold(text) in ("hidden", "public"):
        return fold(text)
    name, arrow, target = (part.strip() for part in text.partition("->"))
    column = _column_of(table, name)
    if not arrow:
        return UnitPath(column, None, 0)
    end_name, _, key = target.rpartition(".")
    end = questions.one_of({table.name: table for table in tables}, "table")(end_name)
    return UnitPath(column, (end.name, _column_of(end, key)), 0)


def _column_of(table: FoundTable, name: str) -> str:
    columns = {column.name: column.name for column in table.columns if tells_apart(column)}
    return questions.one_of(columns, f"column of {table.name} that leads to a person, such as")(name)


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
        f"change the odds of any guess whether a {word} is in the data by a factor of {math.exp(1):.1f} at "
        f"most (e^epsilon), with 5 by {math.exp(5):.0f}."
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
    return BudgetRule(epsilon, delta, "zcdp"), QueryRule(price, highest)


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


def _with_columns(asker: Asker, table: FoundTable, rule: TableRule, unit: Keyed) -> TableRule:
    """Return the rule with the columns that analysts may use, and their ranges and lists."""
    if rule.public:
        return rule
    path = unit.key.name if rule.unit is None else rule.unit.column
    names = tuple(column.name for column in table.columns if column.name != path)
    guess = ", ".join(name for name in names if personal(name)) or "none"
    hidden = asker.ask(
        f"{table.name}: columns hidden from analysts", guess, questions.several_of(names, "column")
    )
    ids = {path, *rule.key, *(name for key in table.unique for name in key)}
    columns, answer = [], _ColumnAnswer(None, skip=asker.defaults)
    for column in table.columns:
        if column.name in (*hidden, path):
            continue
        is_id = column.name in ids or fold(column.name).endswith("id")
        answer = (
            _ColumnAnswer(None, answer.skip) if answer.skip or is_id else _ask_column(asker, table, column)
        )
        columns.append(answer.rule or ColumnRule(column.name, 0))
    return TableRule(rule.name, 0, False, rule.key, rule.unit, rule.rows_per_unit, tuple(columns))


@dataclass(frozen=True, slots=True)
class _ColumnAnswer:
    """An answer about a column: its rule, and whether the other columns of the table are skipped."""

    rule: ColumnRule | None
    skip: bool = False


def _ask_column(asker: Asker, table: FoundTable, column: FoundColumn) -> _ColumnAnswer:
    kind, members = type_of(column).kind, enum_members(type_of(column).sql)
    prompt = f"{table.name}.{column.name} {shown(type_of(column))}:"
    if kind in (*_NUMBERS, *_DATES):
        example = "0 110" if kind in _NUMBERS else "2024-01-01 2024-12-31"
        return asker.ask(f"{prompt} range, such as {example}", "none", partial(_range, table, column))
    if kind is Kind.TEXT:
        example = "or all values of its type" if members else "such as F, M"
        return asker.ask(f"{prompt} list, {example}", "none", partial(_list, column, members))
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
