"""The owner's own data to attack: a copy, under the owner's policy with the attack's budget.

    world_of(folder, ledgers, Path("clinic.duckdb"), Path("clinic.toml"), "smoker", ...)

Neither the database nor its ledger is written; the copies and ledgers of the attacks are temporary. The
target and the 200 persons whose secrets are drawn are chosen at random, and their secrets in the copies are
coins.

Test: tests/privacy/test_attack_command.py
"""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

from dpsql.attacks.world import Amount, Secret, World, known_of, policy_text
from dpsql.audit.neighbours import copy
from dpsql.driver import connect, duckdb
from dpsql.engines.identifiers import quote, table_sql, text
from dpsql.errors import InterfaceError
from dpsql.ir.column import Categories, Column, Kind, Value, bounded_range
from dpsql.policy.catalogue import KnownTable
from dpsql.policy.files import is_files
from dpsql.policy.model import Policy

PERSONS = 200
_COPIES = 40
_KEYS = (Kind.INTEGER, Kind.TEXT)
_QUASI = 3


def world_of(
    folder: Path,
    ledgers: Path,
    database: Path,
    policy_file: Path,
    policy: Policy,
    column: str | None,
    accountant: str,
    epsilon: float,
    delta: float,
    trials: int,
) -> World:
    """Copy a database into a folder; return its world, or refuse what cannot be attacked."""
    unit = policy.unit
    if is_files(database):
        raise InterfaceError(
            "attacks need a DuckDB file, because they change copies of it",
            help="load the files into one, with the same tables, and attack that",
        )
    if unit.table is None or not isinstance(unit.key, str):
        raise InterfaceError(
            "attacks need a table with a row for each person, whose key is one column",
            help="run dpsql attack without a database, on a made-up population",
        )
    _check_room(folder, database)
    target = folder / "copy.duckdb"
    try:
        copy(database, target)
    except duckdb.Error:  # its text may hold data
        raise InterfaceError(
            "the database cannot be copied as a whole",
            help="copy its tables into another file, and attack that",
        ) from None
    document = tomllib.loads(policy_file.read_text(encoding="utf-8"))
    document.pop("ledger", None)  # its places are the database's
    draft = folder / "first.toml"
    draft.write_text(policy_text(document, "approx", 1.0, 1e-6), encoding="utf-8")
    known = known_of(target, draft, ledgers / "known.ledger")
    table = known.table(unit.table)
    assert table is not None
    assert isinstance(table.unit_column, str)
    key = table.unit_column
    if next(c for c in table.columns if c.name == key).fact.type.kind not in _KEYS:
        raise InterfaceError(
            "attacks name persons by a key of whole numbers or text",
            help="run dpsql attack without a database, on a made-up population",
        )
    persons = _persons(target, table, key)
    others = [c for c in table.columns if c.name not in (key, *table.key)]
    secret = _secret(others, column)
    free = [c.name for c in others if c.name != secret.column and _undeclared(c)]
    texts = [c.name for c in others if c.name in free and c.fact.type.kind is Kind.TEXT]
    return World(
        folder,
        target,
        known,
        document,
        table.name,
        key,
        persons,
        persons[0],
        secret,
        epsilon,
        delta,
        accountant,
        trials,
        ledgers,
        place=texts[0] if texts else "",
        ward=next((c.name for c in others if c.name != secret.column and _values(c)), ""),
        quasi=tuple(free[:_QUASI]),
        amount=next((amount for c in others if (amount := _amount(c))), None),
    )


def _secret(columns: list[Column], asked: str | None) -> Secret:
    fitting = {c.name: _values(c) for c in columns if len(_values(c)) > 1}
    named = ", ".join(fitting) or "none in this policy"
    if not fitting:
        raise InterfaceError(
            "no column of the table of units is boolean or has declared values",
            help="declare the values of one in the policy; or run dpsql attack without a database",
        )
    booleans = [c.name for c in columns if c.name in fitting and c.fact.type.kind is Kind.BOOLEAN]
    if asked is None:
        name = (booleans or list(fitting))[0]
    else:
        folded = {each.casefold(): each for each in fitting}
        if asked.casefold() not in folded:
            raise InterfaceError(
                f"{asked} is no column of the table of units that is boolean or has declared values",
                help=f"those that are: {named}",
            )
        name = folded[asked.casefold()]
    yes, no, *_ = fitting[name]
    return Secret(name, yes, no)


def _values(column: Column) -> tuple[str, ...]:
    """Return the values of a column in SQL, if there are few and they are public."""
    if column.fact.type.kind is Kind.BOOLEAN:
        return ("true", "false")
    if isinstance(column.fact.domain, Categories):
        values = [value for value in column.fact.domain.values if value is not None]
        return tuple(map(_sql, values))
    return ()


def _sql(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool | int | float) else text(str(value))


def _undeclared(column: Column) -> bool:
    """Whether groups by this column need a threshold."""
    return not _values(column) and column.fact.type.kind in (Kind.TEXT, Kind.DATE)


def _amount(column: Column) -> Amount | None:
    bounds = bounded_range(column.fact) if column.fact.type.numeric else None
    if bounds is None or bounds.high - bounds.low < 20 or isinstance(column.fact.domain, Categories):
        return None
    low, high = float(bounds.low), float(bounds.high)
    return Amount(column.name, low, high, high if abs(high) >= abs(low) else low)


def _persons(database: Path, table: KnownTable, key: str) -> tuple[int | str, ...]:
    connection = connect(str(database), read_only=True)
    try:
        rows = connection.execute(
            f"SELECT {quote(key)} FROM {table_sql(table.name)} WHERE {quote(key)} IS NOT NULL "
            f"ORDER BY random() LIMIT {PERSONS}"
        ).fetchall()
    finally:
        connection.close()
    if len(rows) < 10:
        raise InterfaceError(
            "there are fewer than ten persons in the table of units", help="attack a larger database"
        )
    return tuple(row[0] for row in rows)


def _check_room(folder: Path, database: Path) -> None:
    needed = _COPIES * database.stat().st_size
    if shutil.disk_usage(folder).free < needed:
        raise InterfaceError(
            f"the attacks make about {_COPIES} copies of the database, and {folder} has no room for them",
            help="let TMPDIR name a folder on a larger disk that only you can read",
        )
