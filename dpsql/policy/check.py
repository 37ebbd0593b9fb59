"""Policy, Catalogue -> Known: the policy checked against the tables of the database.

    resolve    every table and column of the policy exists, under one name     D804
    units      the unit has one type in every table and along every path       D806
    columns    every range and list fits its column's type                     D804
    keys       every declared key is enforced, or was verified on this data    D805

Nothing here reads a row: ``declared_keys`` says which keys an engine has to verify, ``known`` takes the
result. Tables and columns that the policy does not mention do not exist for analysts: a private table has
its listed columns and those of its keys and its path to the unit. Public tables have all their columns.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from dataclasses import replace
from functools import lru_cache

from dpsql.ir.column import ANYTHING, Categories, Column, Domain, Fact, Kind, Listed, Type, type_named
from dpsql.ir.private_view import PrivateView, with_ranges
from dpsql.lazy_dataclass import dataclass
from dpsql.policy.catalogue import Catalogue, FoundColumn, Key, Known, KnownTable, KnownView
from dpsql.policy.checks import checks_of
from dpsql.policy.domain import Mismatch, categories_of, interval_of, shown, size_of
from dpsql.policy.keys import Declared, check_key_kinds, identity, keys_of, not_a_key
from dpsql.policy.model import ColumnRule, Policy, ViewRule
from dpsql.policy.names import fold
from dpsql.policy.resolve import Held, column_of, name_in, table_of, type_of
from dpsql.policy.toml_positions import Document, Path, document_of
from dpsql.policy.units import Owned, as_columns, one_kind, owned_of

LISTED_KINDS = (Kind.TEXT, Kind.INTEGER, Kind.DATE)
"""Kinds of public columns that can serve as a list of group keys."""


def declared_keys(policy: Policy, catalogue: Catalogue) -> tuple[Key, ...]:
    """Return the keys that the policy relies on and the database itself does not enforce."""
    return tuple(declared.key for declared in _check(policy, catalogue).keys if not declared.enforced)


def known(policy: Policy, catalogue: Catalogue, sizes: Mapping[str, int], verified: Set[Key]) -> Known:
    """Return all that exists for analysts; ``sizes`` are the row counts of public tables."""
    checked = _check(policy, catalogue)
    verified_keys = {identity(key) for key in verified}
    for declared in checked.keys:
        if not declared.enforced and identity(declared.key) not in verified_keys:
            raise not_a_key(checked.document, declared)
    tables = tuple(
        replace(table, size=sizes.get(table.name)) if table.public else table for table in checked.tables
    )
    views = tuple(KnownView(view.name, view.sql, _private(view)) for view in policy.views)
    return Known(
        policy.unit.name,
        checked.unit_type,
        tables,
        policy.name,
        policy.timezone,
        views,
        policy.query.min_units,
        policy.unit.about,
    )


def snapshot(policy: Policy, catalogue: Catalogue) -> str:
    """Return the types of all columns of the policy as text, to compare with later.

    Columns of csv files are left out: their types are the policy's own, so a change is intended.
    """
    typed_by_engine = {table.name for table in catalogue.tables if table.csv is None}
    types = {
        table.name: {column.name: column.fact.type.sql for column in table.columns}
        for table in _check(policy, catalogue).tables
        if table.name in typed_by_engine
    }
    return json.dumps(types, sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Changed:
    """A column with a type that differs from an earlier ``snapshot``."""

    table: str
    column: str
    how: str


def changed(before: str, policy: Policy, catalogue: Catalogue) -> tuple[Changed, ...]:
    """Return all columns that have another type than in the snapshot."""
    earlier: dict[str, dict[str, str]] = json.loads(before)
    changes = []
    for table in _check(policy, catalogue).tables:
        types = earlier.get(table.name, {})
        for column in table.columns:
            now = column.fact.type
            was = type_named(types.get(column.name, now.sql))
            if was.sql != now.sql:
                changes.append(Changed(table.name, column.name, _type_change(was, now)))
    return tuple(changes)


def _private(view: ViewRule) -> PrivateView | None:
    rule = view.private
    if rule is None:
        return None
    columns = with_ranges(rule.dimensions, rule.ranges) if rule.dimensions else ()
    return PrivateView(view.name, rule.ranges, columns, rule.epsilon, rule.method, rule.sums)


def compare(before: str, policy: Policy, catalogue: Catalogue) -> None:
    """Refuse (D804) a column that has another type than in the snapshot."""
    for change in changed(before, policy, catalogue):
        raise document_of(policy.text, policy.name).refuse(
            "D804",
            f"{change.table}.{change.column} has changed its type",
            _path_of(policy, change.table, change.column),
            on_key=True,
            label=change.how,
            help="change the column back; or, if the new type is intended, check what the policy declares "
            "for it and accept the change: dpsql policy check DB --accept",
        )


def _type_change(was: Type, now: Type) -> str:
    if shown(was) == shown(now):  # messages never show members
        return "the members of its ENUM are not what they were"
    return f"it was {shown(was)} and is {shown(now)} now"


def _path_of(policy: Policy, table: str, column: str) -> Path:
    rule = policy.table(table)
    if rule is None:
        return ("tables", table)
    spelled = (listed.name for listed in rule.columns if fold(listed.name) == fold(column))
    return ("tables", rule.name, "columns", next(spelled, column))


@dataclass(frozen=True, slots=True)
class _Checked:
    """The result of all checks that do not depend on the rows."""

    document: Document
    unit_type: Type
    tables: tuple[KnownTable, ...]
    keys: tuple[Declared, ...]


@lru_cache(maxsize=4)  # an opening checks several times
def _check(policy: Policy, catalogue: Catalogue) -> _Checked:
    document = document_of(policy.text, policy.name)
    resolved = {fold(rule.name): Held(rule, table_of(document, rule, catalogue)) for rule in policy.tables}
    keys = keys_of(policy, document, resolved)
    owned = {
        name: owned_of(policy, document, resolved, keys, table)
        for name, table in resolved.items()
        if not table.rule.public
    }
    first = sorted(owned, key=lambda name: not policy.unit.is_own(name))
    unit_type = one_kind(document, [owned[name] for name in first])
    check_key_kinds(document, resolved.values())
    tables = tuple(
        _known_table(policy, document, table, keys, owned.get(name)) for name, table in resolved.items()
    )
    return _Checked(document, unit_type, tables, keys)


def _known_table(
    policy: Policy, document: Document, table: Held, keys: tuple[Declared, ...], owned: Owned | None
) -> KnownTable:
    mine = [declared for declared in keys if declared.key.table == table.found.name]
    rules: dict[str, ColumnRule] = {}
    lines: dict[str, int] = {}
    for declared in mine:
        lines |= dict.fromkeys(declared.key.columns, declared.key.line)
    if owned is not None:
        lines |= dict.fromkeys((column.name for column in owned.columns), document.line(owned.path))
    for rule in table.rule.columns:
        if table.found.csv is not None and not table.found.csv.header and rule.type is None:
            continue  # listed only for its position
        if name_in(rule.name, table.found.unstable):
            continue  # as if it did not exist; `policy check` reports it
        column = column_of(document, table.found, rule.name, (*table.path, "columns", rule.name), on_key=True)
        if rule.type is not None and table.found.csv is None:
            raise document.refuse(
                "D804",
                f"{table.found.name}.{column.name} already has a type",
                (*table.path, "columns", rule.name, "type"),
                label=f"it is {shown(type_of(column))}",
                help="leave type out: it is for csv files, which declare no types",
            )
        rules[column.name], lines[column.name] = rule, rule.line
    tied = tuple(name for name, rule in rules.items() if rule.tells_unit)
    if tied and owned is None:
        raise document.refuse(
            "D804",
            f"{table.found.name} is public: its rows belong to no {policy.unit.name}",
            (*table.path, "columns", rules[tied[0]].name, "tells_unit"),
            label="no value here tells one",
            help="leave tells_unit out",
        )
    columns = []
    for column in table.found.columns:
        if table.rule.public or column.name in lines:
            column_of(document, table.found, column.name, table.path)  # refuses a name that is not unique
            domain = _domain(policy, document, table, rules.get(column.name), column)
            nullable = column.nullable and (owned is None or column not in owned.columns)
            columns.append(Column(column.name, Fact(type_of(column), domain, nullable)))
    at_most = None if owned is None else owned.at_most
    rows = at_most or table.rule.rows_per_unit
    unique = tuple(declared.key.columns for declared in mine)
    return KnownTable(
        name=table.found.name,
        columns=tuple(columns),
        key=unique[0] if unique else (),
        public=table.rule.public,
        unit_column=None if owned is None else as_columns(owned.unit),
        links=() if owned is None else owned.links,
        rows=None if table.rule.public else rows,
        at_most=at_most,
        lines=tuple(lines.items()),
        keys=unique,
        unit_filled=owned is not None and not any(column.nullable for column in owned.unit),
        filled=tuple(
            column.name
            for column in columns
            if column.fact.nullable
            and not table.rule.public
            and column.name in rules
            and not rules[column.name].null
        ),
        checks=checks_of(document, table, [column.name for column in columns]),
        tied=tied,
        comments=tuple((name, rule.comment) for name, rule in rules.items() if rule.comment),
    )


def _domain(
    policy: Policy, document: Document, table: Held, rule: ColumnRule | None, column: FoundColumn
) -> Domain:
    its = type_of(column)
    parts = ("range", "values", "length")
    part = next((part for part in parts if rule is not None and getattr(rule, part) is not None), None)
    if rule is not None and part is not None and not (part == "length" and table.rule.public):
        try:
            if rule.range is not None:
                return interval_of(its, rule.range, policy.timezone)
            return size_of(its, rule.length) if rule.length else categories_of(its, rule.values or ())
        except Mismatch as odd:
            path: Path = (*table.path, "columns", rule.name, part)
            raise document.refuse(
                "D804",
                f"the declaration of {rule.name} does not fit the column",
                path if odd.at is None else (*path, odd.at),
                label=str(odd),
                notes=(f"{table.found.name}.{column.name} is of type {shown(its)}",),
                help=odd.help,
            ) from None
    if its.kind is Kind.BOOLEAN:
        return Categories((False, True))
    if table.rule.public and its.kind in LISTED_KINDS:
        return Listed(table.found.name, column.name)
    return ANYTHING
