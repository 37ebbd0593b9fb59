"""Data classes of a policy: the promise, the unit, and the tables.

    Policy
    |-- budget      BudgetRule      epsilon, delta, accountant: of the database, for its whole life
    |-- query       QueryRule       the default price of one query and the highest
    |-- limits      LimitsRule      of planning, post-processing and answers
    |-- ledger      LedgerRule      what the ledger keeps
    |-- analysts    AnalystRule...  a cap each
    |-- groups      GroupRule...    what exists for some of them, and a cap for them together
    |-- studies     StudyRule...    a cap each
    |-- unit        UnitRule        whom the promise protects: one value of ``table.key``; BlocksRule
    |-- views       ViewRule...     named queries, in an order in which they may use each other
    `-- tables      TableRule...    public, or owned through a UnitPath; with ColumnRules

Names are spelled as in the file; ``policy.check`` finds the database's spelling. Lines count from one.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from dpsql.ir.column import Value
from dpsql.ir.relation import Columns, names_of
from dpsql.lazy_dataclass import dataclass
from dpsql.policy.names import fold
from dpsql.policy.toml_keys import (
    ANALYST,
    BLOCKS,
    BUDGET,
    COLUMN,
    CSV,
    GROUP,
    LEDGER,
    LIMITS,
    PATHS,
    PRIVATE,
    QUERY,
    STUDY,
    TABLE,
    TOP,
    UNIT,
    UNIT_PATH,
    VIEW,
    VIEWS,
    Below,
    Epsilon,
    Key,
    Keys,
    Kind,
    Names,
    Number,
    Own,
    Values,
)

Bound: TypeAlias = int | float | datetime.date | datetime.datetime
"""An end of a declared range."""

LEAST = 1e-6
"""The default minimum price, as a part of the whole budget: every query takes room in the ledger for good."""


@dataclass(frozen=True, slots=True)
class BudgetRule:
    """What all analysts together may spend; ``accountant`` is one by its name.

    ``responses`` is the part of epsilon that is kept for randomized responses. ``up_to`` is the largest
    epsilon that the owner means to grant later.
    """

    epsilon: float
    delta: float
    accountant: str
    responses: float | None = None
    up_to: float | None = None


@dataclass(frozen=True, slots=True)
class QueryRule:
    """The price of a query that names none, and the highest and lowest price that a query may name.

    Groups with private keys need about ``min_units`` units more than privacy alone requires. ``find_bounds``
    says whether a query may find privately the bounds that the policy leaves out, and ``bounds_last`` whether
    they serve later versions of the data.
    """

    epsilon: float
    max_epsilon: float
    find_bounds: bool = True
    min_units: int = 1
    min_epsilon: float | None = None
    bounds_last: bool = True


@dataclass(frozen=True, slots=True)
class LimitsRule:
    """Limits of planning and post-processing (time and bytes, each) and of an answer (bytes and rows).

    None of them concerns private rows.
    """

    seconds: float = 10.0
    memory: int = 512 * 2**20
    rows: int = 1_000_000


@dataclass(frozen=True, slots=True)
class LedgerRule:
    """How the ledger keeps ``texts`` of analysts: plain, or as a digest.

    ``witness`` and ``mirror`` are paths of files that know its last entry, or all; '' for none.
    """

    texts: str = "plain"
    witness: str = ""
    mirror: str = ""


@dataclass(frozen=True, slots=True)
class AnalystRule:
    """What one analyst may spend, and how many ``megabytes`` of the ledger queries and answers may fill.

    ``tables`` lists the tables, columns and views that exist for them; None: their ``group``'s, or all.
    ``per_day``, ``per_week`` and ``per_month`` cap what they spend in that time.
    """

    name: str
    epsilon: float
    line: int
    megabytes: float = 100.0
    tables: tuple[str, ...] | None = None
    group: str = ""
    per_day: float | None = None
    per_week: float | None = None
    per_month: float | None = None


@dataclass(frozen=True, slots=True)
class GroupRule:
    """Several analysts: ``tables`` as one of them may list exist for those who say ``group``, None for all.

    ``epsilon`` caps what the ``analysts`` and those spend together; None is no cap.
    """

    name: str
    tables: tuple[str, ...] | None
    line: int
    epsilon: float | None = None
    analysts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StudyRule:
    """What may be spent for one study, by whom so ever."""

    name: str
    epsilon: float
    line: int


@dataclass(frozen=True, slots=True)
class BlocksRule:
    """Blocks of units by a ``column`` of the unit's own table: a block for each value, and the rest.

    With ``check`` a file keeps in which block each unit was seen, and the database is shut if one moves.
    """

    column: str
    values: tuple[Value, ...]
    check: bool = False


@dataclass(frozen=True, slots=True)
class UnitRule:
    """The privacy unit: ``name`` is the word for it; ``table.key`` holds each unit once.

    Without a ``table``, a unit is a value of the columns that hold it. ``column`` is that column in the
    private tables that say no other. Of several columns the values together are a unit. ``about`` is the
    approximate number of units: a public number, which the owner may leave out.
    """

    name: str
    table: str | None
    key: Columns | None
    line: int
    about: int | None = None
    column: Columns | None = None
    blocks: BlocksRule | None = None

    def held_in(self, table: str) -> tuple[str, Columns]:
        """Return the columns of the unit in a private table that says none, and which key says so."""
        name, column = ("key", self.key) if self.is_own(table) else ("column", self.column)
        assert column is not None, "else the table says its unit"
        return name, column

    @property
    def told(self) -> str:
        """Whom the promise protects: each customer.custkey, or each value of a column, or of several."""
        if self.table is not None and self.key is not None:
            return _together(f"{self.table}.{name}" for name in names_of(self.key))
        if self.column is None:
            return "each value of its column"
        return f"each value of {_together(names_of(self.column))}"

    def is_own(self, table: str) -> bool:
        """Whether this is the table that has a row for each unit."""
        return self.table is not None and fold(table) == fold(self.table)


def _together(names: Iterable[str]) -> str:
    """Return one name, or several: patients.hospital and patients.number together."""
    listed = list(names)
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]} together"


@dataclass(frozen=True, slots=True)
class UnitPath:
    """The path from a table to its unit: ``column`` holds the unit, or references a (table, key)."""

    column: Columns
    references: tuple[str, Columns] | None
    line: int


@dataclass(frozen=True, slots=True)
class ColumnRule:
    """A column that exists for analysts, with a declared range, list of values or length, or none of them.

    ``type`` is the type of a csv file's column; the file itself declares none. Without ``null``, rows with
    NULL in it are left out. ``tells_unit`` says that each value belongs to one unit; ``comment`` is the
    owner's word for it.
    """

    name: str
    line: int
    range: tuple[Bound, Bound] | None = None
    values: tuple[Value, ...] | None = None
    type: str | None = None
    null: bool = True
    tells_unit: bool = False
    length: int | None = None
    comment: str = ""


@dataclass(frozen=True, slots=True)
class CsvRule:
    """The format of a csv file: delimiter and quote, whether it has a header, the text of NULL.

    ``quote`` may be empty. With an empty ``dateformat`` dates are 2024-12-31. ``decimal`` is the decimal
    point, or the comma of 1.234,50.
    """

    delim: str = ","
    quote: str = '"'
    header: bool = True
    nullstr: str = ""
    dateformat: str = ""
    decimal: str = "."


@dataclass(frozen=True, slots=True)
class TableRule:
    """A table that exists for analysts. ``unit`` is None for public tables and where ``[unit]`` says it.

    ``files`` is a pattern in a folder of data, or '' for the file named after the table. ``check`` compares
    columns (policy/checks.py); '' if nothing is declared.
    """

    name: str
    line: int
    public: bool
    key: tuple[str, ...]
    unit: UnitPath | None
    rows_per_unit: int | None
    columns: tuple[ColumnRule, ...]
    files: str = ""
    csv: CsvRule | None = None
    check: str = ""


@dataclass(frozen=True, slots=True)
class PrivateRule:
    """What is bought of a view: see ``ir.private_view``."""

    epsilon: float | None = None
    ranges: tuple[str, ...] = ()
    dimensions: tuple[str, ...] = ()
    method: str | None = None
    sums: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ViewRule:
    """An owner's query that analysts may name like a table."""

    name: str
    sql: str
    line: int
    private: PrivateRule | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """All rules, with the text they were read from and that text's name."""

    name: str
    text: str
    budget: BudgetRule
    query: QueryRule
    analysts: tuple[AnalystRule, ...]
    unit: UnitRule
    tables: tuple[TableRule, ...]
    timezone: str = "UTC"
    views: tuple[ViewRule, ...] = ()
    limits: LimitsRule = LimitsRule()
    ledger: LedgerRule = LedgerRule()
    groups: tuple[GroupRule, ...] = ()
    studies: tuple[StudyRule, ...] = ()

    def members_of(self, group: GroupRule) -> tuple[str, ...]:
        """Return the analysts of a group: those that it lists, and those that name it."""
        named = (rule.name for rule in self.analysts if rule.group == group.name)
        return tuple(dict.fromkeys((*group.analysts, *named)))

    def group_of(self, analyst: AnalystRule) -> GroupRule | None:
        """Return the group whose tables exist for an analyst, if there is one."""
        return next((group for group in self.groups if group.name == analyst.group), None)

    @property
    def least_price(self) -> float:
        """The least that a query costs, unless it is a repeat."""
        least = self.query.min_epsilon
        return min(LEAST * self.budget.epsilon, self.query.epsilon) if least is None else least

    def table(self, name: str) -> TableRule | None:
        """Find a table by name, as the database compares names."""
        folded = fold(name)
        return next((table for table in self.tables if fold(table.name) == folded), None)


def unit_text(policy: Policy) -> str:
    """Return the unit and the path of every private table to it, one canonical line each.

    unit patients.patient_id
    lines: order_id -> orders.order_id
    orders: patient_id

    The first line is ``unit`` alone if no table has a row for each. Several columns are (hospital, number).
    """
    unit = policy.unit
    first, paths = "unit", []
    if unit.table is not None and unit.key is not None:
        first = f"unit {_canonical_name(unit.table)}.{_canonical_columns(unit.key)}"
    for table in policy.tables:
        if table.unit is None and not table.public and not unit.is_own(table.name):
            paths.append(f"{_canonical_name(table.name)}: {_canonical_columns(unit.held_in(table.name)[1])}")
        if table.unit is not None:
            path = f"{_canonical_name(table.name)}: {_canonical_columns(table.unit.column)}"
            if table.unit.references is not None:
                there, key = table.unit.references
                path += f" -> {_canonical_name(there)}.{_canonical_columns(key)}"
            paths.append(path)
    return "\n".join([first, *sorted(paths)])


def digest(policy: Policy) -> str:
    """Return a fingerprint of the policy's content, whatever the order of tables, spacing and comments."""
    return _hash(_content(policy, lambda key: True))


def version(policy: Policy) -> str:
    """Return a fingerprint of everything that answers rest on, which excludes who may spend how much.

    Answers stay valid when the owner grants more budget or adds an analyst. A query's own price is part of
    its plan's digest.
    """
    return _hash(_content(policy, lambda key: key.rests))


Wanted: TypeAlias = Callable[[Key], bool]
"""Selects the keys of a fingerprint."""


def _content(policy: Policy, wanted: Wanted) -> dict[str, object]:
    analysts = policy.analysts if any(map(wanted, ANALYST.keys)) else ()
    groups = policy.groups if any(map(wanted, GROUP.keys)) else ()
    studies = policy.studies if any(map(wanted, STUDY.keys)) else ()
    return {
        **_keys(TOP, policy, wanted),
        **_keys(BUDGET, policy.budget, wanted),
        **_keys(QUERY, policy.query, wanted),
        **_keys(LIMITS, policy.limits, wanted),
        **_keys(LEDGER, policy.ledger, wanted),
        **_by_name(ANALYST, {analyst.name: analyst for analyst in analysts}, wanted),
        **_by_name(GROUP, {group.name: group for group in groups}, wanted),
        **_by_name(STUDY, {study.name: study for study in studies}, wanted),
        **_keys(UNIT, policy.unit, wanted),
        **({} if policy.unit.blocks is None else _keys(BLOCKS, policy.unit.blocks, wanted)),
        PATHS: unit_text(policy),
        "tables": {fold(table.name): _table(table, wanted) for table in policy.tables},
        **_by_name(VIEW, {fold(view.name): view for view in policy.views}, wanted),
        **_by_name(PRIVATE, {fold(v.name): v.private for v in policy.views if v.private is not None}, wanted),
        VIEWS: [
            [fold(view.name), view.sql, *(() if view.private is None else ("private",))]
            for view in policy.views
        ],
    }


def _table(table: TableRule, wanted: Wanted) -> dict[str, object]:
    return {
        **_keys(TABLE, table, wanted),
        **({} if table.unit is None else _keys(UNIT_PATH, table.unit, wanted)),
        **_by_name(COLUMN, {fold(column.name): column for column in table.columns}, wanted),
        **({} if table.csv is None else _keys(CSV, table.csv, wanted)),
    }


def _by_name(keys: Keys, rules: Mapping[str, object], wanted: Wanted) -> dict[str, object]:
    """Collect the values of each key by name: {"analysts": {"ana": 0.5}}."""
    values: dict[str, dict[str, object]] = {
        key.original: {} for key in keys.keys if key.original not in ("", VIEWS) and wanted(key)
    }
    for name, rule in rules.items():
        for place, value in _keys(keys, rule, wanted).items():
            values.setdefault(place, {})[name] = value
    return dict(values)


def _keys(keys: Keys, rule: object, wanted: Wanted) -> dict[str, object]:
    """Return the values of one rule by their place in the digest; of later keys only non-default values."""
    originals: dict[str, list[object]] = {}
    later: dict[str, object] = {}
    for key in filter(wanted, keys.keys):
        if key.original in (PATHS, VIEWS) or isinstance(key.kind, Below):
            continue
        value = getattr(rule, key.name)
        if key.original:
            originals.setdefault(key.original, []).append(_canonical(key.kind, value))
        elif value != key.default:
            later[key.later or f"{keys.title} {key.name}"] = _canonical(key.kind, value)
    return {place: values if len(values) > 1 else values[0] for place, values in originals.items()} | later


def _hash(content: dict[str, object]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _canonical_name(name: str) -> str:
    folded = fold(name)
    return folded if re.fullmatch(r"[a-z0-9_]+", folded) else json.dumps(folded)


def _canonical_columns(columns: Columns) -> str:
    if isinstance(columns, str):
        return _canonical_name(columns)
    return f"({', '.join(map(_canonical_name, columns))})"


def _canonical(kind: Kind, value: Any) -> object:
    """Return equal content for equal values: 1 and 1.0, and names in any order."""
    match kind:
        case Number() | Epsilon():
            return float(value)
        case Own(type) if type is float:
            return float(value)
        case Names():
            return sorted(map(fold, value))
        case Values():
            return None if value is None else [_tagged(member) for member in value]
        case _:
            return value


def _tagged(value: Value) -> list[str]:
    """A value with its kind, so that 1, true and "1" differ while 1 and 1.0 do not."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    kind = "number" if isinstance(value, float) else type(value).__name__
    kind = "number" if kind == "int" else kind
    return [kind, value.isoformat() if isinstance(value, datetime.date) else str(value)]
