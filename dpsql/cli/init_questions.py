"""The questions of ``dpsql init``, and the policy that the answers make.

    1 who is protected    2 whose the other tables are    3 the budget    4 who asks    5 ranges and lists

Defaults are guessed from names, types and keys. Where nothing is guessed they promise the most and show
the least: a table is hidden, a range is found privately, a list is none.
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
from dpsql.policy.toml_keys import MOST_ROWS
from dpsql.policy.unit_guesses import Keyed, personal, singular, tells_apart, unit_of, ways_to
from dpsql.terminal.output import put

_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
_CSV = (
    " (Of csv files the first lines were read for the types of columns, which become part of the policy. A "
    "value that does not fit its type is NULL.)"
)
_DATES = (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ)


def asked(asker: Asker, catalogue: Catalogue) -> Policy:
    """A policy made of answers; its own text is yet to be written."""
    tables = tuple({fold(table.name): table for table in catalogue.tables}.values())
    asker.tell(
        "A policy says what is promised to the people in a database, and what analysts may ask. Enter takes "
        "what stands in [brackets]; Ctrl-C stops, and nothing is written. No row is read until the end, when "
        "the keys are checked." + (_CSV if any(table.csv is not None for table in tables) else "")
    )
    unit, word = _unit(asker, tables)
    rules = tuple(_tables(asker, tables, unit, word))
    budget, query = _budget(asker, word)
    analysts = _analysts(asker, budget)
    asker.tell(
        "5. What may be said of the columns? A range says where numbers are cut off before they are summed, "
        "such as 0 110. Where it is left out, the first query that needs it finds it privately, for a fifth "
        "of its price. A list is for texts of few kinds: its groups always appear. All of it is public, so "
        "write what you know without looking into the data. (skip leaves out the rest of a table.)"
    )
    found = {table.name: table for table in tables}
    rules = tuple(_with_columns(asker, found[rule.name], rule, unit) for rule in rules)
    protected = UnitRule(word, unit.table.name, unit.key.name, 0)
    return Policy("", "", budget, query, analysts, protected, with_files(rules, found, protected))


# ---- who is protected, and whose the tables are ------------------------------------------------------


def _unit(asker: Asker, tables: tuple[FoundTable, ...]) -> tuple[Keyed, str]:
    guess = unit_of(tables)
    if guess is None:
        raise InterfaceError(
            "no table here has a column that could tell one person from another",
            help="that needs whole numbers, texts without collation, or UUIDs",
        )
    asker.tell(
        "1. Who is protected? Answers will look alike, up to their noise, whether any one of them is in the "
        "database or not, with all rows that are theirs. There are these tables:"
    )
    if not asker.defaults:
        put("\n".join(f"    {each.name} ({', '.join(one.name for one in each.columns)})" for each in tables))
    by_name = {each.name: each for each in tables if any(map(tells_apart, each.columns))}
    table = asker.ask("the table with one row for each", guess.table.name, questions.one_of(by_name, "table"))
    if table is not guess.table:
        guess = unit_of((table,)) or guess
    keys = {each.name: each for each in table.columns if tells_apart(each)}
    key = asker.ask("its column that tells them apart", guess.key.name, questions.one_of(keys, "column"))
    return Keyed(table, key), asker.ask("one of them is called a", singular(table.name) or "unit", _word)


def _word(said: str) -> str:
    if not said.isprintable() or not any(map(str.isalnum, said)):
        raise NotThis("that is not a word")
    return said


def _tables(asker: Asker, tables: tuple[FoundTable, ...], unit: Keyed, word: str) -> Iterator[TableRule]:
    """The rules of all tables that are not hidden, without their columns."""
    ways = ways_to(tables, unit)
    others = [each for each in tables if each is not unit.table]
    if others:
        asker.tell(
            f"2. Whose are the other tables? Name the column that holds the {word}, or the one that leads to "
            "a table that does (order_id -> orders.order_id). Say public if everybody may see all of it, and "
            "hidden if analysts shall not know that it exists."
        )
    yield _rule(unit.table, None, None, enforced_key(unit.table, unit.key))
    for table in others:
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
            f"  rows of one {word} that count in full; more are scaled down", "found privately", _rows
        )
        yield _rule(table, path, rows, enforced_key(table, None))


def _rule(
    table: FoundTable, path: UnitPath | None, rows: int | None, key: tuple[str, ...], public: bool = False
) -> TableRule:
    return TableRule(table.name, 0, public, key, path, rows, ())


def _path(table: FoundTable, tables: tuple[FoundTable, ...], said: str) -> UnitPath | str:
    """``hidden``, ``public``, ``patient_id`` or ``order_id -> orders.order_id``."""
    if fold(said) in ("hidden", "public"):
        return fold(said)
    name, arrow, target = (each.strip() for each in said.partition("->"))
    column = _column_of(table, name)
    if not arrow:
        return UnitPath(column, None, 0)
    there, _, key = target.rpartition(".")
    end = questions.one_of({each.name: each for each in tables}, "table")(there)
    return UnitPath(column, (end.name, _column_of(end, key)), 0)


def _column_of(table: FoundTable, name: str) -> str:
    fit = {each.name: each.name for each in table.columns if tells_apart(each)}
    return questions.one_of(fit, f"column of {table.name} that leads to a person, such as")(name)


def _rows(said: str) -> int | None:
    if said == "found privately":
        return None
    if not said.isdecimal() or not 1 <= int(said) <= MOST_ROWS:
        raise NotThis(f"a whole number from 1 to {MOST_ROWS:,}, or Enter")
    return int(said)


# ---- the budget, and who asks ------------------------------------------------------------------------


def _budget(asker: Asker, word: str) -> tuple[BudgetRule, QueryRule]:
    asker.tell(
        f"3. How much may all answers together tell about one {word}, for good? With an epsilon of 1 they "
        f"change the odds of any guess whether a {word} is there by a factor of {math.exp(1):.1f} at most "
        f"(e^epsilon), with 5 by {math.exp(5):.0f}."
    )
    epsilon = asker.ask("epsilon of the whole budget", "1", questions.positive)
    asker.tell(
        f"delta is the chance that this fails for somebody: far below one divided by the number of {word}s."
    )
    delta = asker.ask("delta", "1e-6", _delta)
    asker.tell("The higher the price of a query, the smaller its noise, and the fewer there are.")
    price = asker.ask(
        "a query that names no price costs", f"{epsilon / 10:g}", partial(_at_most, epsilon, "budget")
    )
    highest = asker.ask(
        "the most that one may cost",
        f"{max(price, epsilon / 2):g}",
        partial(_at_most, epsilon, "budget", least=price),
    )
    return BudgetRule(epsilon, delta, "zcdp"), QueryRule(price, highest)


def _delta(said: str) -> float:
    delta = questions.positive(said)
    if delta >= 0.01:
        raise NotThis("a delta this large promises nothing: 1e-6, say")
    return delta


def _at_most(most: float, whose: str, said: str, least: float = 0.0) -> float:
    price = questions.positive(said)
    if price > most:
        raise NotThis(f"that is more than the whole {whose}, {most:g}")
    if price < least:
        raise NotThis(f"that is less than a query costs that names no price, {least:g}")
    return price


def _analysts(asker: Asker, budget: BudgetRule) -> tuple[AnalystRule, ...]:
    asker.tell(
        "4. Who asks? Names, with commas between them; a number behind a name caps what they may spend of "
        "the budget: ana 0.5, bob. Who asks without a name asks as the owner."
    )

    def read(said: str) -> tuple[AnalystRule, ...]:
        rules: dict[str, AnalystRule] = {}
        for each in [] if said == "none" else questions.listed(said):
            capped = re.fullmatch(r"(.*\S)\s+([-+\d.]\S*)", each)
            name, cap = (each, f"{budget.epsilon!r}") if capped is None else capped.groups()
            rules[name] = AnalystRule(name, _at_most(budget.epsilon, "budget", cap), 0)
        return tuple(rules.values())

    return asker.ask("analysts", "none", read)


# ---- ranges and lists ---------------------------------------------------------------------------------


def _with_columns(asker: Asker, table: FoundTable, rule: TableRule, unit: Keyed) -> TableRule:
    """The rule with the columns that analysts may use, and what the owner says of them."""
    if rule.public:
        return rule
    path = unit.key.name if rule.unit is None else rule.unit.column
    names = tuple(each.name for each in table.columns if each.name != path)
    guess = ", ".join(each for each in names if personal(each)) or "none"
    hidden = asker.ask(
        f"{table.name}: columns that analysts shall not see", guess, questions.several_of(names, "column")
    )
    ids = {path, *rule.key, *(one for key in table.unique for one in key)}
    columns, said = [], _Said(None, skip=asker.defaults)
    for column in table.columns:
        if column.name in (*hidden, path):
            continue
        known = column.name in ids or fold(column.name).endswith("id")
        said = _Said(None, said.skip) if said.skip or known else _said(asker, table, column)
        columns.append(said.rule or ColumnRule(column.name, 0))
    return TableRule(rule.name, 0, False, rule.key, rule.unit, rule.rows_per_unit, tuple(columns))


@dataclass(frozen=True, slots=True)
class _Said:
    """An answer about a column: what the owner says of it, and whether the rest is skipped."""

    rule: ColumnRule | None
    skip: bool = False


def _said(asker: Asker, table: FoundTable, column: FoundColumn) -> _Said:
    kind, members = type_of(column).kind, enum_members(type_of(column).sql)
    what = f"{table.name}.{column.name} {shown(type_of(column))}:"
    if kind in (*_NUMBERS, *_DATES):
        example = "0 110" if kind in _NUMBERS else "2024-01-01 2024-12-31"
        return asker.ask(f"{what} range, such as {example}", "none", partial(_range, table, column))
    if kind is Kind.TEXT:
        example = "or all of its type's" if members else "such as F, M"
        return asker.ask(f"{what} list, {example}", "none", partial(_list, column, members))
    return _Said(None)


def _range(table: FoundTable, column: FoundColumn, said: str) -> _Said:
    if said in ("none", "skip"):
        return _Said(None, said == "skip")
    if table.csv is not None and table.csv.decimal == "," and re.search(r"\b[1-9]\d{0,2}\.\d{3}\b", said):
        raise NotThis("write numbers without marks between thousands, and with a point: 5000 or 0.5")
    ends = questions.ends(said)
    try:
        interval_of(type_of(column), ends, "UTC")
    except Mismatch as odd:
        raise NotThis(str(odd)) from None
    return _Said(ColumnRule(column.name, 0, range=ends))


def _list(column: FoundColumn, members: tuple[str, ...], said: str) -> _Said:
    if said in ("none", "skip"):
        return _Said(None, said == "skip")
    values = members if members and said == "all" else questions.values(said)
    odd = [each for each in values if members and each not in members]
    if odd:
        raise NotThis(f"its type does not know {odd[0]}")
    return _Said(ColumnRule(column.name, 0, values=values))
