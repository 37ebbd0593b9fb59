"""TOML text -> Policy: refuses unknown keys, wrong types and meaningless values, with their lines.

    error[D802]: the policy has no key called epsilom
     --> clinic.toml:2:1
      |
    2 | epsilom = 8.0
      | ^^^^^^^ not a key of [budget]
      = help: did you mean epsilon?

Nothing here looks at a database: that is ``policy.check``.
"""

from __future__ import annotations

import re
import tomllib
import zoneinfo
from collections.abc import Sequence
from functools import partial
from typing import Protocol

from dpsql.errors import DatabaseError, refuse
from dpsql.ir.relation import Columns, names_of
from dpsql.ir.source import Span
from dpsql.policy.analysts import check_members, read_analysts, read_groups, read_studies
from dpsql.policy.blocks import read_blocks
from dpsql.policy.checks import read_check
from dpsql.policy.columns import read_columns
from dpsql.policy.files import read_csv, read_files
from dpsql.policy.ledger import read_ledger
from dpsql.policy.limits import read_limits
from dpsql.policy.model import (
    BudgetRule,
    Policy,
    QueryRule,
    TableRule,
    UnitPath,
    UnitRule,
)
from dpsql.policy.names import fold, perhaps
from dpsql.policy.toml_keys import (
    BUDGET,
    DEFAULT_PRICE,
    LARGEST_DELTA,
    LEAST_DELTA,
    QUERY,
    TABLE,
    TOP,
    UNIT,
    UNIT_PATH,
)
from dpsql.policy.toml_positions import document_of
from dpsql.policy.toml_section import Section, sort_of
from dpsql.policy.toml_spelling import quoted
from dpsql.policy.toml_values import optional, regular_values
from dpsql.policy.views import read_views


class Accountant(Protocol):
    """What a policy has to know of an accountant."""

    @property
    def name(self) -> str: ...

    @property
    def has_delta(self) -> bool: ...

    @property
    def has_reserve(self) -> bool: ...


def read_policy(text: str, name: str, accountants: Sequence[Accountant]) -> Policy:
    """Read a policy; ``name`` is the name of the file in errors.

    The first of the ``accountants`` is the default.
    """
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise _not_toml(text, name, error) from None
    root = Section(document_of(text, name), (), values)
    root.allow(TOP)
    budget = _budget(root.table("budget", needed=True), accountants)
    unit = _unit(root.table("unit", needed=True))
    tables = _tables(root.table("tables", needed=True), unit)
    views = read_views(root.table("views"), tables)
    names = [*(rule.name for rule in tables), *(rule.name for rule in views)]
    groups = read_groups(root.table("groups"), names)
    analysts = read_analysts(root.table("analysts"), names, groups)
    check_members(root.table("groups"), groups, analysts)
    return Policy(
        name=name,
        text=text,
        budget=budget,
        query=_query(root.table("query"), budget),
        analysts=analysts,
        studies=read_studies(root.table("studies")),
        unit=unit,
        tables=tables,
        timezone=optional(root, TOP["timezone"], _timezone),
        views=views,
        limits=read_limits(root.table("limits")),
        ledger=read_ledger(root.table("ledger")),
        groups=groups,
        **regular_values(root, TOP),
    )


def _not_toml(text: str, name: str, trouble: BaseException) -> DatabaseError:
    message = "nested too deeply, or a number too long"
    if isinstance(trouble, tomllib.TOMLDecodeError):
        message = str(trouble)
    place = re.search(r" \(at line (\d+), column (\d+)\)$", message)
    if place:
        above = text.split("\n")[: int(place[1]) - 1]
        at = sum(len(line) + 1 for line in above) + int(place[2]) - 1
    else:
        at = max(0, len(text.rstrip()) - 1)
    why = re.sub(r" \(at .*\)$", "", message)
    error = refuse(
        "D801",
        "the policy is not TOML",
        Span(at, at + 1),
        label=why,
        help='correct the line: strings are quoted, "F"; numbers have a decimal point, 0.5; see toml.io',
    )
    error.within(text, name)
    return error


def _budget(section: Section, accountants: Sequence[Accountant]) -> BudgetRule:
    if "period" in section.values:
        raise section.wrong(
            "period",
            "a budget never comes back",
            on_key=True,
            label="what was answered stays known",
            help="leave it out: a budget lasts for the life of the database; per_day slows spending",
        )
    section.allow(BUDGET)
    section.need(BUDGET["epsilon"])
    regular = regular_values(section, BUDGET)
    chosen = _accountant(section, accountants)
    rule = BudgetRule(**regular, delta=_delta(section, chosen), accountant=chosen.name)
    if rule.responses is not None and not chosen.has_reserve:
        raise section.wrong(
            "responses",
            f'accountant = "{chosen.name}" keeps no part of the budget for responses',
            on_key=True,
            help="leave it out: a response costs its epsilon there, as it does in a reserve",
        )
    if rule.responses is not None and rule.responses >= rule.epsilon:
        raise section.wrong(
            "responses",
            "responses take the whole budget",
            label=f"the budget's epsilon is {rule.epsilon:g}",
            help="keep a part of it: responses = " + f"{rule.epsilon / 4:g}",
        )
    if rule.up_to is not None and rule.up_to < rule.epsilon:
        raise section.wrong(
            "up_to",
            "up_to is less than the budget",
            label=f"the budget's epsilon is {rule.epsilon:g}",
            help="name the largest epsilon that you may grant later, or leave it out",
        )
    return rule


def _accountant(section: Section, accountants: Sequence[Accountant]) -> Accountant:
    by_name = {each.name: each for each in accountants}
    name = section.string("accountant") if "accountant" in section.values else accountants[0].name
    if name not in by_name:
        raise section.wrong(
            "accountant",
            f"no accountant is called {name}",
            help=perhaps(name, by_name) or f"there are {', '.join(by_name)}",
        )
    return by_name[name]


def _delta(section: Section, accountant: Accountant) -> float:
    if "delta" not in section.values:
        if not accountant.has_delta:
            return 0.0
        section.need(BUDGET["delta"])
    delta = section.number("delta")
    if not 0 <= delta < 1:
        raise section.wrong("delta", "delta must lie between 0 and 1")
    if delta > 0 and not accountant.has_delta:
        raise section.wrong(
            "delta", f'accountant = "{accountant.name}" has no delta', help="leave delta out, or choose zcdp"
        )
    if delta == 0 and accountant.has_delta:
        raise section.wrong(
            "delta", f'accountant = "{accountant.name}" needs a delta above zero', help=BUDGET["delta"].needed
        )
    if 0 < delta < LEAST_DELTA:
        raise section.wrong(
            "delta",
            f"a delta below {LEAST_DELTA:g} cannot be shared among queries",
            label="no different from no delta",
            help=BUDGET["delta"].needed,
        )
    if delta >= LARGEST_DELTA:
        raise section.wrong(
            "delta",
            "a delta this large gives no protection",
            label="one unit in a hundred could be revealed",
            help="choose a delta well below one divided by the number of units, such as 1e-6",
        )
    return delta


def _query(section: Section, budget: BudgetRule) -> QueryRule:
    section.allow(QUERY)
    highest = section.positive("max_epsilon") if "max_epsilon" in section.values else budget.epsilon
    if highest > budget.epsilon:
        raise section.wrong(
            "max_epsilon",
            "max_epsilon is more than the whole budget",
            label=f"the budget's epsilon is {budget.epsilon:g}",
        )
    price = section.positive("epsilon") if "epsilon" in section.values else min(DEFAULT_PRICE, highest)
    if price > highest:
        raise section.wrong(
            "epsilon", "the default price is above the highest price", label=f"the highest is {highest:g}"
        )
    lowest = section.positive("min_epsilon") if "min_epsilon" in section.values else None
    if lowest is not None and lowest > price:
        raise section.wrong(
            "min_epsilon", "the lowest price is above the default price", label=f"the default is {price:g}"
        )
    return QueryRule(epsilon=price, max_epsilon=highest, min_epsilon=lowest, **regular_values(section, QUERY))


def _unit(section: Section) -> UnitRule:
    section.allow(UNIT)
    for given, other in (("table", "key"), ("key", "table")):
        if given in section.values and other not in section.values:
            raise section.wrong(
                given,
                f"[unit] needs {other} beside {given}",
                on_key=True,
                help='table = "people" and key = "person_id", of which each row is another; or, where no '
                'table is like this, column = "person_id" alone',
            )
    return UnitRule(
        name=optional(section, UNIT["name"], _word),
        key=optional(section, UNIT["key"], partial(_together, name="key")),
        column=optional(section, UNIT["column"], partial(_together, name="column")),
        line=section.document.line(section.path),
        blocks=optional(section, UNIT["blocks"], read_blocks),
        **regular_values(section, UNIT),
    )


def _word(section: Section) -> str:
    name = section.string("name")
    if not name.strip() or not name.isprintable():
        raise section.wrong("name", "the unit's name must be a word", help='for example: name = "patient"')
    return name


def _tables(section: Section, unit: UnitRule) -> tuple[TableRule, ...]:
    section.distinct()
    if unit.table is not None and fold(unit.table) not in map(fold, section.values):
        raise section.document.refuse(
            "D803",
            f"the unit's table {unit.table} is not among the policy's tables",
            ("unit", "table"),
            help=perhaps(unit.table, section.values) or f"add [tables.{unit.table}]",
        )
    rules = tuple(_table(table, name, unit, tuple(section.values)) for name, table in section.tables())
    if all(rule.public for rule in rules):
        raise section.wrong(None, "no table of the policy is private", help="a private table has a unit")
    _check_paths(section, rules)
    return rules


def _table(section: Section, name: str, unit: UnitRule, tables: tuple[str, ...]) -> TableRule:
    section.allow(TABLE)
    public = section.boolean("public")
    is_unit_table = unit.is_own(name)
    if public and is_unit_table:
        raise section.wrong("public", "the unit's own table cannot be public", on_key=True)
    for key in ("unit", "rows_per_unit"):
        if public and key in section.values:
            raise section.wrong(
                key, f"a public table has no {key}", on_key=True, help="its rows belong to no unit"
            )
    if not public and not is_unit_table and unit.column is None and "unit" not in section.values:
        raise section.wrong(
            None,
            f"the table {name} is neither public nor has a unit",
            on_key=True,
            label="a private table needs the column of its unit",
            help='unit = { column = "..." }, or column = "..." below [unit], for all tables that say none; '
            "or public = true if its rows belong to no unit",
        )
    path = _unit_path(section, tables) if "unit" in section.values else None
    if is_unit_table and path is not None:
        _, own = unit.held_in(name)
        same = [*map(fold, names_of(path.column))] == [*map(fold, names_of(own))]
        if path.references is not None or not same:
            raise section.wrong(
                "unit",
                f"the unit of this table is {', '.join(names_of(own))}",
                label="[unit] declares it",
                help="leave this out",
            )
        path = None
    return TableRule(
        name=name,
        line=section.document.line(section.path),
        key=optional(section, TABLE["key"], _key),
        unit=path,
        **regular_values(section, TABLE),
        columns=read_columns(section.table("columns")),
        files=optional(section, TABLE["files"], read_files),
        csv=optional(section, TABLE["csv"], read_csv),
        check=optional(section, TABLE["check"], read_check),
    )


def _unit_path(section: Section, tables: tuple[str, ...]) -> UnitPath:
    value = section.values["unit"]
    if isinstance(value, str):
        raise section.wrong("unit", "unit must be a table", help=f'unit = {{ column = "{value}" }}')
    inner = section.table("unit")
    inner.allow(UNIT_PATH)
    inner.need(UNIT_PATH["column"])
    column = _together(inner, "column")
    references = optional(inner, UNIT_PATH["references"], lambda inner: _reference(inner, column, tables))
    return UnitPath(column=column, references=references, line=section.line("unit"))


def _reference(section: Section, column: Columns, tables: tuple[str, ...]) -> tuple[str, Columns]:
    """Read "orders.order_id", or a list of as many as there are columns, all of one table."""
    value = section.values["references"]
    if not isinstance(value, list):
        if isinstance(column, str):
            return _reference_to(section, section.string("references"), tables)
        raise section.wrong(
            "references",
            "references must name a column for each of several",
            label=f"for {', '.join(column)}",
            help=f"a list, in their order: [{', '.join(quoted(f'{tables[0]}.{name}') for name in column)}]",
        )
    named = [
        _reference_to(section, text, tables, at) for at, text in enumerate(_strings(section, "references"))
    ]
    if len(named) != len(names_of(column)):
        raise section.wrong(
            "references",
            f"{len(named)} columns are referenced, by {len(names_of(column))}",
            help="name a column of the other table for each column of this one, in their order",
        )
    for at, (table, _) in enumerate(named):
        if table != named[0][0]:
            raise section.wrong(
                "references",
                "references must name columns of one table",
                at=at,
                label=f"the first is of {named[0][0]}",
                help="a path of several steps goes from table to table: each says its own unit",
            )
    return named[0][0], _one_or_more([name for _, name in named])


def _reference_to(
    section: Section, text: str, tables: tuple[str, ...], at: int | None = None
) -> tuple[str, str]:
    """Split orders.order_id into (orders, order_id). Names may hold dots: the policy's longest table wins."""
    for table in sorted(tables, key=len, reverse=True):
        head, dot, column = text[: len(table)], text[len(table) : len(table) + 1], text[len(table) + 1 :]
        if fold(head) == fold(table) and dot == "." and column:
            return table, column
    table, dot, _ = text.rpartition(".")
    if not dot:
        raise section.wrong(
            "references",
            "references must name a table and its key",
            at=at,
            help=f'for example: "orders.{text}"',
        )
    raise section.wrong(
        "references",
        f"{table} is not among the policy's tables",
        at=at,
        help=perhaps(table, tables) or f"add [tables.{table}]",
    )


def _check_paths(section: Section, rules: tuple[TableRule, ...]) -> None:
    """Refuse chains of references that do not end in a table with the unit's column."""
    by_name = {rule.name: rule for rule in rules}
    for rule in rules:
        seen, here = [rule.name], rule
        while here.unit is not None and here.unit.references is not None:
            at = Section(section.document, (*section.path, here.name, "unit"), {})
            here = by_name[here.unit.references[0]]
            if here.public:
                raise at.wrong(
                    "references",
                    f"{here.name} is public: it has no unit",
                    help="reference a private table",
                )
            if here.name in seen:
                way = " -> ".join([*seen, here.name])
                raise at.wrong("references", "this path is a cycle and never reaches a unit", label=way)
            seen.append(here.name)


def _key(section: Section) -> tuple[str, ...]:
    value = section.values["key"]
    return (value,) if isinstance(value, str) else _strings(section, "key")


def _together(section: Section, name: str) -> Columns:
    """Read the name of a column, or of several; a list of one is that one."""
    value = section.values[name]
    return value if isinstance(value, str) else _one_or_more(_strings(section, name))


def _one_or_more(names: Sequence[str]) -> Columns:
    return names[0] if len(names) == 1 else tuple(names)


def _strings(section: Section, key: str) -> tuple[str, ...]:
    """Read a list of names, none of them twice."""
    value = section.values[key]
    if not isinstance(value, list) or not value:
        raise section.wrong(
            key, f"{key} must be a column name or a list of column names", label=f"this is {sort_of(value)}"
        )
    names: list[str] = []
    for index, name in enumerate(value):
        if not isinstance(name, str):
            raise section.wrong(
                key, f"{key} must be a list of column names", at=index, label=f"this is {sort_of(name)}"
            )
        if fold(name) in map(fold, names):
            raise section.wrong(key, f"{name} is listed twice", at=index)
        names.append(name)
    return tuple(names)


def _timezone(root: Section) -> str:
    name = root.string("timezone")
    if name != "UTC":
        try:
            zoneinfo.ZoneInfo(name)
        except (KeyError, ValueError, OSError):
            meant = perhaps(name, zoneinfo.available_timezones())
            raise root.wrong("timezone", f"no time zone is called {name}", help=meant) from None
    return name
