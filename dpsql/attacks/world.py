"""The world that is attacked: a database of its own, a policy, a target, and neighbours made on demand.

    world.database          everybody, as the data has them
    world.without(17)       the same without person 17, in all tables
    world.drawn({17: True}) the same, with the secret of person 17 as it was drawn

All files are in folders that only the owner can read; nothing here knows where the data came from. The policy
is the owner's but for budget, prices, analysts and ledger, which are the attack's own.

Test: tests/privacy/test_attack_command.py
"""

from __future__ import annotations

import datetime
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from dpsql.audit.neighbours import deletions
from dpsql.dbapi import connect
from dpsql.driver import connect as engine
from dpsql.driver import duckdb
from dpsql.engines.identifiers import quote, table_sql, text
from dpsql.errors import InterfaceError
from dpsql.lazy_dataclass import dataclass
from dpsql.policy.catalogue import Known

ANALYSTS = ("eve", "mal")
"""Two analysts who tell each other everything."""

_OWN = ("budget", "query", "analysts", "groups")


@dataclass(frozen=True, slots=True)
class Secret:
    """A column with two values in question, and the condition that tells them apart."""

    column: str
    yes: str
    no: str

    @property
    def holds(self) -> str:
        if self.yes == "true":
            return quote(self.column)
        return f"{quote(self.column)} = {self.yes}"


@dataclass(frozen=True, slots=True)
class Amount:
    """A column of numbers in a declared range; ``extreme`` is the value that the target gets."""

    column: str
    low: float
    high: float
    extreme: float


@dataclass(frozen=True, slots=True)
class World:
    """What an attacker knows, and where the data is. ``persons`` are those whose secrets are drawn.

    ``place`` is a text column whose values nobody declared, ``quasi`` are columns that other lists hold too,
    ``ward`` is a column with public values. ``details`` is a table in which the target has far more rows than
    count, and how many count. ``ledgers`` is the folder of all ledgers.
    """

    folder: Path
    database: Path
    known: Known
    document: Mapping[str, object]
    table: str
    key: str
    persons: tuple[int | str, ...]
    target: int | str
    secret: Secret
    epsilon: float
    delta: float
    accountant: str
    trials: int
    ledgers: Path
    place: str = ""
    ward: str = ""
    quasi: tuple[str, ...] = ()
    amount: Amount | None = None
    details: tuple[str, int] | None = None
    made: dict[object, Path] = field(default_factory=dict)

    # ---- what attackers write --------------------------------------------------------------------------

    @property
    def people(self) -> str:
        """The table of persons, in SQL."""
        return table_sql(self.table)

    @property
    def holds(self) -> str:
        """The condition that somebody has the secret."""
        return self.secret.holds

    @property
    def some(self) -> list[int | str]:
        """Those whose secrets are sought at once: all of them, unless there are few trials."""
        return list(self.persons[: 5 * self.trials // 2])

    def one(self, person: int | str) -> str:
        """The condition that a row is a person's."""
        return f"{quote(self.key)} = {literal(person)}"

    def among(self, persons: list[int | str]) -> str:
        """The condition that a row is one of theirs."""
        return f"{quote(self.key)} IN ({', '.join(map(literal, persons))})"

    # ---- data ------------------------------------------------------------------------------------------

    def without(self, person: int | str, *statements: str) -> Path:
        """Return the database without a person, after some statements."""
        return self.changed(*statements, *deletions(self.known, person))

    def changed(self, *statements: str) -> Path:
        """Return a copy of the database after some statements."""
        if statements not in self.made:
            path = self.folder / f"{secrets.token_hex(8)}.duckdb"
            shutil.copy(self.database, path)
            connection = engine(str(path))
            try:
                for statement in statements:
                    connection.execute(statement)
            except duckdb.Error:  # its text may hold data
                raise InterfaceError("the data's own constraints forbid what this attack changes") from None
            finally:
                connection.close()
            self.made[statements] = path
        return self.made[statements]

    def drawn(self, bits: Mapping[int | str, bool]) -> Path:
        """Return a copy in which these persons have these secrets."""
        of = {bit: [person for person in bits if bits[person] == bit] for bit in (True, False)}
        return self.changed(
            *(
                f"UPDATE {self.people} SET {quote(self.secret.column)} = "
                f"{self.secret.yes if bit else self.secret.no} WHERE {self.among(persons)}"
                for bit, persons in of.items()
                if persons
            )
        )

    def truth(self, sql: str, database: Path | None = None) -> list[tuple[object, ...]]:
        """Return rows of the data: what the attacker is told, or the judge has to know."""
        connection = engine(str(database or self.database), read_only=True)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def ledger(self) -> Path:
        """Return the place of a ledger that does not exist yet."""
        return self.ledgers / f"{secrets.token_hex(8)}.ledger"

    # ---- the policy ------------------------------------------------------------------------------------

    def policy(self, accountant: str = "") -> Path:
        """Return the policy of the attack, under this accountant or the world's own."""
        name = accountant or self.accountant
        path = self.folder / f"{name}.toml"
        if not path.exists():
            delta = self.delta or 1e-6
            path.write_text(policy_text(self.document, name, self.epsilon, delta), encoding="utf-8")
        return path


def known_of(database: Path, policy: Path, ledger: Path) -> Known:
    """Return the tables of a database as its policy declares them; the ledger is a temporary one."""
    with connect(database, policy, ledger) as db:
        return db._open().known


def policy_text(document: Mapping[str, object], accountant: str, epsilon: float, delta: float) -> str:
    """Return a policy with the attack's own budget, prices and analysts in the place of the owner's."""
    query = document.get("query")
    kept = {key: value for key, value in query.items() if key in _KEPT} if isinstance(query, dict) else {}
    budget = {"epsilon": epsilon, **({} if accountant == "pure" else {"delta": delta})}
    own = {
        "budget": {**budget, "accountant": accountant},
        "query": {**kept, "epsilon": epsilon, "max_epsilon": epsilon},
        "analysts": {name: {"epsilon": epsilon} for name in ANALYSTS},
    }
    rest = {key: value for key, value in document.items() if key not in _OWN}
    return "".join(f"{line}\n" for line in _toml({**own, **rest}))


_KEPT = ("min_units", "find_bounds", "bounds_last")


def _toml(document: Mapping[str, object]) -> list[str]:
    """Return the lines of a policy: a table for each key of two levels, all below it inline."""
    lines = [f"{_name(key)} = {_inline(it)}" for key, it in document.items() if not isinstance(it, dict)]
    for key, table in document.items():
        if isinstance(table, dict):
            lines.append(f"[{_name(key)}]")
            lines += [f"{_name(inner)} = {_inline(it)}" for inner, it in table.items()]
    return lines


def _inline(it: object) -> str:
    match it:
        case bool():
            return str(it).lower()
        case int() | float():
            return repr(it)
        case datetime.date() | datetime.time():
            return it.isoformat()
        case dict():
            return f"{{ {', '.join(f'{_name(key)} = {_inline(inner)}' for key, inner in it.items())} }}"
        case list():
            return f"[{', '.join(map(_inline, it))}]"
        case _:
            return _name(str(it))


def _name(word: str) -> str:
    """Return a text as a basic string of TOML, which may be a key as well."""
    escaped = "".join(f"\\U{ord(c):08x}" if c in '"\\' or not c.isprintable() else c for c in word)
    return f'"{escaped}"'


def literal(person: int | str) -> str:
    """Return a key in SQL."""
    return text(person) if isinstance(person, str) else str(person)
