"""Policy, Catalogue -> Known: what the owner wrote, held against the tables that are there.

    resolve    every table and column named is there, under one name           D804
    units      the unit is of one kind in every table and along every path     D806
    columns    every range and list fits its column's type                     D804
    keys       every declared key is enforced, or was verified on this data    D805

Nothing here reads a row: ``declared_keys`` says what an engine has to verify, ``known`` takes the result.
What the policy does not mention does not exist: a private table has the columns listed for it and those
that its keys and its path to the unit need. Public tables are there with all their columns.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

from dpsql.ir.column import ANYTHING, Categories, Column, Domain, Fact, Kind, Listed, Type, type_named
from dpsql.policy.catalogue import Catalogue, FoundColumn, Key, Known, KnownTable, KnownView
from dpsql.policy.domain import Mismatch, categories_of, interval_of, shown
from dpsql.policy.keys import Declared, identity, keys_of, not_a_key, told_apart
from dpsql.policy.model import ColumnRule, Policy
from dpsql.policy.names import fold
from dpsql.policy.resolve import Held, column_of, name_in, table_of, type_of
from dpsql.policy.toml_positions import Document, Path, document_of
from dpsql.policy.units import Owned, one_kind, owned_of

LISTED_KINDS = (Kind.TEXT, Kind.INTEGER, Kind.DATE)
"""Kinds whose values in a public table can serve as a list of groups."""


def declared_keys(policy: Policy, catalogue: Catalogue) -> tuple[Key, ...]:
    """The keys that the policy relies on and the database itself does not enforce."""
    return tuple(each.key for each in _judge(policy, catalogue).keys if not each.enforced)


def known(policy: Policy, catalogue: Catalogue, sizes: Mapping[str, int], verified: Set[Key]) -> Known:
    """Everything that exists for an analyst; ``sizes`` are the row counts of public tables."""
    judged = _judge(policy, catalogue)
    held = {identity(key) for key in verified}
    for each in judged.keys:
        if not each.enforced and identity(each.key) not in held:
            raise not_a_key(judged.document, each)
    tables = tuple(
        replace(table, size=sizes.get(table.name)) if table.public else table for table in judged.tables
    )
    views = tuple(KnownView(each.name, each.sql) for each in policy.views)
    return Known(
        policy.unit.name,
        judged.unit_type,
        tables,
        policy.name,
        policy.timezone,
        views,
        policy.query.min_units,
        policy.unit.about,
    )


def snapshot(policy: Policy, catalogue: Catalogue) -> str:
    """The types of everything the policy mentions, as text to compare with later.

    Those of csv files are the policy's own: who changes them there means it.
    """
    own = {table.name for table in catalogue.tables if table.csv is None}
    types = {
        table.name: {column.name: column.fact.type.sql for column in table.columns}
        for table in _judge(policy, catalogue).tables
        if table.name in own
    }
    return json.dumps(types, sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Changed:
    """A column whose type is not what it was in an earlier ``snapshot``."""

    table: str
    column: str
    how: str


def changed(before: str, policy: Policy, catalogue: Catalogue) -> tuple[Changed, ...]:
    """Every column of which the type has changed since."""
    earlier: dict[str, dict[str, str]] = json.loads(before)
    found = []
    for table in _judge(policy, catalogue).tables:
        types = earlier.get(table.name, {})
        for column in table.columns:
            now = column.fact.type
            was = type_named(types.get(column.name, now.sql))
            if was.sql != now.sql:
                found.append(Changed(table.name, column.name, _change(was, now)))
    return tuple(found)


def compare(before: str, policy: Policy, catalogue: Catalogue) -> None:
    """Refuses (D804) a column whose type is not what it was in an earlier ``snapshot``."""
    for each in changed(before, policy, catalogue):
        raise document_of(policy.text, policy.name).refuse(
            "D804",
            f"{each.table}.{each.column} has changed its type",
            _path_of(policy, each.table, each.column),
            on_key=True,
            label=each.how,
            help="give the column its type back; or, if the new one is meant, the owner looks at what is "
            "declared of it, and accepts it: dpsql policy check DB --accept",
        )


def _change(was: Type, now: Type) -> str:
    if shown(was) == shown(now):  # no members in messages
        return "the members of its ENUM are not what they were"
    return f"it was {shown(was)} and is {shown(now)} now"


def _path_of(policy: Policy, table: str, column: str) -> Path:
    rule = policy.table(table)
    if rule is None:
        return ("tables", table)
    spelled = (each.name for each in rule.columns if fold(each.name) == fold(column))
    return ("tables", rule.name, "columns", next(spelled, column))


@dataclass(frozen=True, slots=True)
class _Judged:
    """What holds whatever the rows are."""

    document: Document
    unit_type: Type
    tables: tuple[KnownTable, ...]
    keys: tuple[Declared, ...]


def _judge(policy: Policy, catalogue: Catalogue) -> _Judged:
    document = document_of(policy.text, policy.name)
    held = {fold(rule.name): Held(rule, table_of(document, rule, catalogue)) for rule in policy.tables}
    keys = keys_of(policy, document, held)
    owned = {
        name: owned_of(policy, document, held, keys, each)
        for name, each in held.items()
        if not each.rule.public
    }
    unit_type = one_kind(document, owned[fold(policy.unit.table)], owned.values())
    told_apart(document, held.values())
    tables = tuple(_known_table(policy, document, each, keys, owned.get(name)) for name, each in held.items())
    return _Judged(document, unit_type, tables, keys)


def _known_table(
    policy: Policy, document: Document, table: Held, keys: tuple[Declared, ...], owned: Owned | None
) -> KnownTable:
    mine = [each for each in keys if each.key.table == table.found.name]
    rules: dict[str, ColumnRule] = {}
    lines: dict[str, int] = {}
    for each in mine:
        lines |= dict.fromkeys(each.key.columns, each.key.line)
    if owned is not None:
        lines[owned.column.name] = document.line(owned.path)
    for rule in table.rule.columns:
        if table.found.csv is not None and not table.found.csv.header and rule.type is None:
            continue  # it stands there for its place
        if name_in(rule.name, table.found.unstable):
            continue  # as if it were not there: the owner's check tells
        column = column_of(document, table.found, rule.name, (*table.path, "columns", rule.name), on_key=True)
        if rule.type is not None and table.found.csv is None:
            raise document.refuse(
                "D804",
                f"{table.found.name}.{column.name} has a type of its own",
                (*table.path, "columns", rule.name, "type"),
                label=f"it is {shown(type_of(column))}",
                help="leave type out: it is for csv files, which say none",
            )
        rules[column.name], lines[column.name] = rule, rule.line
    columns = []
    for column in table.found.columns:
        if table.rule.public or column.name in lines:
            column_of(document, table.found, column.name, table.path)  # its name is nobody else's
            domain = _domain(policy, document, table, rules.get(column.name), column)
            nullable = column.nullable and (owned is None or column != owned.column)
            columns.append(Column(column.name, Fact(type_of(column), domain, nullable)))
    at_most = None if owned is None else owned.at_most
    rows = at_most or table.rule.rows_per_unit
    unique = tuple(each.key.columns for each in mine)
    return KnownTable(
        name=table.found.name,
        columns=tuple(columns),
        key=unique[0] if unique else (),
        public=table.rule.public,
        unit_column=None if owned is None else owned.unit.name,
        links=() if owned is None else owned.links,
        rows=None if table.rule.public else rows,
        at_most=at_most,
        lines=tuple(lines.items()),
        keys=unique,
        unit_filled=owned is not None and not owned.unit.nullable,
    )


def _domain(
    policy: Policy, document: Document, table: Held, rule: ColumnRule | None, column: FoundColumn
) -> Domain:
    its = type_of(column)
    if rule is not None and (rule.range is not None or rule.values is not None):
        part = "values" if rule.range is None else "range"
        try:
            if rule.range is not None:
                return interval_of(its, rule.range, policy.timezone)
            return categories_of(its, rule.values or ())
        except Mismatch as odd:
            path: Path = (*table.path, "columns", rule.name, part)
            raise document.refuse(
                "D804",
                f"what is declared of {rule.name} does not fit the column",
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
