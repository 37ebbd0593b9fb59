"""Which tables, columns and views exist for one analyst, if the policy says so.

    [analysts.ana]                                   # or group = "trainees", and [groups.trainees]
    tables = ["wards", "visits.cost", "adults"]      # a table with all its columns, one column, a view

    FROM patients            there is no table patients          as for a table that the policy leaves out
    SELECT kind FROM visits  there is no column kind here

What is not listed cannot be named, and nothing that is shown to the analyst names it. Paths to the unit, keys
and rows without NULL are what they are for everybody. Equal questions of analysts for whom the same columns
of the tables exist have one answer.

Claim   no answer that this analyst gets, a repeat neither, rests on a name that does not exist for them, but
        for paths, keys and rows without NULL.
Proof   An answer belongs to the digest of a plan. The plan comes from binding the analyst's text, where names
        resolve to what is listed (bind/queries.py, bind/scope/sources.py), in views too: one can be used if
        all that it reads exists. Whoever paid for an answer of that digest asked for the same.
Test    tests/privacy/test_seen.py
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.policy.catalogue import Known, KnownTable
from dpsql.policy.model import Policy
from dpsql.policy.names import fold, perhaps
from dpsql.policy.toml_positions import document_of


def seen_by(known: Known, policy: Policy, analyst: str | None) -> Known:
    """Return what exists for an analyst: all, for the owner and where the policy lists no tables."""
    rule = next((rule for rule in policy.analysts if rule.name == analyst), None)
    group = None if rule is None else policy.group_of(rule)
    entries = None if rule is None else rule.tables if group is None else group.tables
    if rule is None or entries is None:
        return known
    path = ("analysts", rule.name) if group is None else ("groups", group.name)
    listed: dict[str, set[str] | None] = {}
    for number, entry in enumerate(entries):
        name, column = in_two(entry, [table.name for table in known.tables])
        if not column:
            listed[fold(name)] = None
            continue
        table = known.table(name)
        names = () if table is None else [each.name for each in table.columns]
        if fold(column) not in map(fold, names):
            raise document_of(policy.text, policy.name).refuse(
                "D804",
                f"there is no column {column} in {name}",
                (*path, "tables", number),
                label=f"it does not exist for {rule.name}",
                help=perhaps(column, names) or f"{name} has the columns {', '.join(names)}",
            )
        columns = listed.setdefault(fold(name), set())
        assert columns is not None, "a table is not listed whole and by its columns"
        columns.add(fold(column))
    return replace(
        known,
        tables=tuple(_seen(table, listed) for table in known.tables),
        views=tuple(view for view in known.views if fold(view.name) in listed),
    )


def _seen(table: KnownTable, listed: dict[str, set[str] | None]) -> KnownTable:
    columns = listed.get(fold(table.name), set())
    if columns is None:
        return table
    names = (column.name for column in table.columns)
    return replace(table, unseen=frozenset(name for name in names if fold(name) not in columns))


def in_two(entry: str, tables: list[str]) -> tuple[str, str]:
    """Split sales.orders.amount into table and column ('' for a whole table); the longest table wins."""
    for table in sorted(tables, key=len, reverse=True):
        head, dot, column = entry[: len(table)], entry[len(table) : len(table) + 1], entry[len(table) + 1 :]
        if fold(head) == fold(table) and (not dot or (dot == "." and column)):
            return table, column
    return entry, ""
