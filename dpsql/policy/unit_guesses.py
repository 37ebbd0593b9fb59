"""Guesses from names, types and keys: the privacy unit, and the paths of tables to it.

    patients(patient_id PRIMARY KEY, ...)    a table of people with a key named after it: the unit
    visits(visit_id UNIQUE, patient_id, ...) has a column named like the unit's key: its rows' unit
    drugs(visit_id, dose)                    reaches the unit through visits
    bills(payer REFERENCES patients)         the schema says so, whatever the name
    events(event_id PRIMARY KEY, user_id)    no table of people: each value of user_id is a unit
    patients(PRIMARY KEY (hospital, number)) several columns, where a foreign key of as many leads to them

No row is read. The owner confirms or corrects the guesses; ``doubts`` says where none is good enough without.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from dpsql.ir.column import type_of_all
from dpsql.ir.relation import names_of
from dpsql.lazy_dataclass import dataclass
from dpsql.policy import units
from dpsql.policy.catalogue import FoundColumn, FoundTable
from dpsql.policy.names import fold
from dpsql.policy.resolve import type_of
from dpsql.render.english import singular

_PEOPLE = {
    *("person", "people", "patient", "customer", "client", "user", "member", "employee", "staff", "student"),
    *("subscriber", "citizen", "resident", "account", "household", "taxpayer", "voter", "participant"),
    *("rider", "passenger", "guest", "pupil", "donor", "borrower", "player", "learner", "inhabitant"),
    *("beneficiary", "applicant", "respondent", "cardholder"),
}

_DEVICES = {"device", "email", "mail", "phone", "mobile", "ssn", "passport", "iban", "visitor", "cookie"}
"""What stands for a person in columns where nothing better does."""

_KEYS = {"id", "key", "no", "nr", "uuid", "guid", "number", "code", "hash", "ref", "sk", "pk", "fk"}
"""Words behind a person in the name of a column that tells them apart."""

_VERSIONS = {
    *(
        "version",
        "ver",
        "revision",
        "rev",
        "sequence",
        "seq",
        "line",
        "row",
        "period",
        "year",
        "month",
        "day",
    ),
    *("valid", "since", "from", "until", "history", "source"),
}
"""Words of columns that make the rows of one person unique."""

_PERSONAL = {
    *("name", "firstname", "lastname", "surname", "forename", "fullname", "email", "mail", "phone", "mobile"),
    *("address", "street", "ssn", "passport", "iban", "password", "note", "notes", "comment", "comments"),
}


@dataclass(frozen=True, slots=True)
class Keyed:
    """A table and a column that is unique in it, or the best candidate for one; with ``more`` columns."""

    table: FoundTable
    key: FoundColumn
    more: tuple[FoundColumn, ...] = ()

    @property
    def columns(self) -> tuple[FoundColumn, ...]:
        return (self.key, *self.more)


@dataclass(frozen=True, slots=True)
class Guess:
    """The unit: each row of a table, by its key; or, without a table, each value of columns of that name.

    ``more`` columns belong to the key.
    """

    table: FoundTable | None
    key: FoundColumn
    more: tuple[FoundColumn, ...] = ()

    @property
    def columns(self) -> tuple[FoundColumn, ...]:
        return (self.key, *self.more)

    @property
    def word(self) -> str:
        """What one unit is called."""
        if self.table is not None:
            return singular(self.table.name)
        return next((word for word in sorted(_words(self.key.name)) if word in _PEOPLE | _DEVICES), "person")


@dataclass(frozen=True, slots=True)
class Way:
    """The columns by which a table reaches its unit, and the key that they reference (None: the unit)."""

    columns: tuple[FoundColumn, ...]
    to: Keyed | None


def unit_of(tables: tuple[FoundTable, ...]) -> Guess | None:
    """Guess the unit: a table of people, else a column that names them, else the most referenced table."""
    best = best_table(tables)
    column = None if best is not None and _is_of_people(best.table) else _column_of_people(tables)
    if column is not None:
        return Guess(None, column)
    return None if best is None else Guess(best.table, best.key, best.more)


def doubts(tables: tuple[FoundTable, ...], unit: Guess) -> tuple[str, ...]:
    """Return what else may be a person, so that the owner has to say; () if the guess is clear.

    In a table that leads to people, other people are those that they met, unless they are of the same table.
    """
    ways = ways_to(tables, unit)
    known = {fold(column.name) for way in ways.values() for column in way.columns}
    known |= {fold(column.name) for column in unit.columns}
    if _is_of_people(unit.table):
        others = [table for table in tables if table is not unit.table and table.name not in ways]
        twice = [
            ", ".join(f"{table.name}.{column.name}" for column in columns)
            for table in tables
            if table is not unit.table
            for columns in _references(table, unit)[1:]
        ]
        return (*_alone(unit), *_named(others, known, _PEOPLE), *twice)
    found = list(_named(tables, known, _PEOPLE))
    if unit.table is not None:
        found += _named((unit.table,), known, _DEVICES)
        found += [
            f"{unit.table.name}.{column.name}"
            for column in unit.table.columns
            if fold(column.name) not in known and tells_apart(column) and named_like_a_key(column.name)
        ]
    return tuple(dict.fromkeys(found))


def _alone(unit: Guess) -> Iterator[str]:
    """Yield the columns of a key of several that may be a person without the others.

    A customer's id says who it is: with a version beside it, each version would be protected. A number of a
    patient does so within a hospital.
    """
    assert unit.table is not None
    versions = _versions(unit.more)
    for column in unit.columns if unit.more else ():
        within = re.search(r"(no|nr|number|code|ref)$", fold(column.name))
        whole = _is_named_after(column.name, _PEOPLE) and not within
        if whole or (versions and column is unit.key):
            yield f"{unit.table.name}.{column.name}"


def names_people(unit: Guess) -> bool:
    """Whether a table or a column is named like people; others may hold groups, such as towns."""
    return _is_of_people(unit.table) or _is_named_after(unit.key.name, _PEOPLE | _DEVICES)


def names_a_person(column: str) -> bool:
    """Whether a column is named like what tells people apart: user_id, patient no, email."""
    return _is_named_after(column, _PEOPLE | _DEVICES)


def is_of_people(table: FoundTable, column: str) -> bool:
    """Whether a table, or the column that tells its rows apart, is named like people."""
    return _is_of_people(table) or names_a_person(column)


def people_in(table: FoundTable, unit: Guess) -> Iterator[str]:
    """Yield the columns of a table that name people, as keys of theirs do, but for those of the unit."""
    known = {fold(column.name) for column in unit.columns}
    leading = {fold(name) for each in table.foreign for name in names_of(each.column)}
    for column in table.columns:
        name = fold(column.name)
        is_key = name in leading or named_like_a_key(column.name)
        if name not in known and is_key and tells_apart(column) and _is_named_after(name, _PEOPLE):
            yield column.name


def is_key_of_another(table: FoundTable, column: str, tables: Iterable[FoundTable], unit: Guess) -> bool:
    """Whether a column is named like the key of another table than the unit's: payment_id, of payments."""
    led = {each.name for columns in (*_references(table, unit), _refers(table, unit)) for each in columns}
    if column in led or not named_like_a_key(column) or fold(column) == "id":
        return False
    words = {
        singular(fold(_unqualified(each.name)))
        for each in tables
        if each is not unit.table and not _is_of_people(each)
    }
    return _is_named_after(column, words)


def _named(tables: Iterable[FoundTable], known: set[str], words: set[str]) -> Iterator[str]:
    """Yield columns with such a word in their names, but for those that are known."""
    for table in tables:
        for column in table.columns:
            if fold(column.name) not in known and tells_apart(column) and words & _words(column.name):
                yield f"{table.name}.{column.name}"


def best_table(tables: tuple[FoundTable, ...]) -> Keyed | None:
    """Guess the table of units: of people, else with a key named after it, else the most referenced one."""

    def worth(candidate: Keyed) -> tuple[bool, bool, int]:
        name = fold(_unqualified(candidate.table.name))
        references = sum(bool(_refers(table, candidate)) for table in tables if table is not candidate.table)
        return (
            _is_of_people(candidate.table),
            any(singular(name) in fold(column.name) for column in candidate.columns),
            references,
        )

    every = (candidate for table in tables for candidate in _candidates(table, tables))
    return max(every, key=worth, default=None)


def _is_of_people(table: FoundTable | None) -> bool:
    name = "" if table is None else fold(_unqualified(table.name))
    return not _PEOPLE.isdisjoint((name, singular(name)))


def _column_of_people(tables: tuple[FoundTable, ...]) -> FoundColumn | None:
    """Return the column named like a person that most tables have; like a device, if no other is."""
    for wanted in (_PEOPLE, _DEVICES):
        found = [
            column
            for table in tables
            for column in table.columns
            if tells_apart(column) and _is_named_after(column.name, wanted)
        ]
        if found:
            names = Counter(fold(column.name) for column in found)
            return max(found, key=lambda column: names[fold(column.name)])
    return None


def _words(name: str) -> set[str]:
    """Return what a column's name is made of: user_id and userId have the word user; users may be a count."""
    parts = [part for part in re.split(r"[^a-z]+", fold(name)) if part]
    parts += [part.removesuffix(end) for part in parts for end in ("id", "key", "no", "nr")]
    return set(parts) - {"people"}


def _is_named_after(name: str, words: set[str]) -> bool:
    """Whether a column's name ends with such a word, or it and a key: user_id, but not user_agent."""
    parts = [part for part in re.split(r"[^a-z]+", fold(name)) if part]
    while len(parts) > 1 and parts[-1] in _KEYS:
        parts.pop()
    return bool(parts) and not words.isdisjoint(_words(parts[-1]))


def named_like_a_key(name: str) -> bool:
    """Whether a column's name ends as those of keys do: order_id, orderId, patient_no."""
    return re.search(r"(^|_)(id|key|no|nr|uuid|guid)$", fold(name)) is not None or name.endswith("Id")


def _candidates(table: FoundTable, tables: tuple[FoundTable, ...]) -> list[Keyed]:
    """Return the columns that the database keeps unique; if there are none, the first possible key.

    Several are a key together in a table of people, or where a foreign key of as many leads to them: a
    version or a day in another key makes rows unique, and no people.
    """
    fit = [column for column in table.columns if tells_apart(column)]
    unique = {names[0] for names in table.unique if len(names) == 1}
    if unique:
        return [Keyed(table, column) for column in fit if column.name in unique]
    return _of_several(table, tables) or [Keyed(table, column) for column in fit[:1]]


def _of_several(table: FoundTable, tables: tuple[FoundTable, ...]) -> list[Keyed]:
    """Return the keys of several columns that the database enforces, of people or where references lead."""
    by_name = {column.name: column for column in table.columns if tells_apart(column)}
    every = (
        Keyed(table, by_name[names[0]], tuple(by_name[name] for name in names[1:]))
        for names in table.unique
        if len(names) > 1 and set(names) <= by_name.keys()
    )
    others = [other for other in tables if other is not table]
    return [
        each
        for each in every
        if (_is_of_people(table) and not _versions(each.columns))
        or any(_references(other, each) for other in others)
    ]


def _versions(columns: Iterable[FoundColumn]) -> bool:
    """Whether columns tell versions of a person apart."""
    return any(not _VERSIONS.isdisjoint(_words(column.name)) for column in columns)


def tells_apart(column: FoundColumn) -> bool:
    """Whether a column's type can hold units."""
    its = type_of(column)
    return its.kind in units.KINDS and not its.sql.startswith("ENUM(")


def _references(table: FoundTable, target: Keyed | Guess) -> list[tuple[FoundColumn, ...]]:
    """Return a table's columns that the database itself looks up among the target's keys, in their order."""
    if target.table is None:
        return []
    by_name = {fold(column.name): column for column in table.columns}
    wanted = [fold(column.name) for column in target.columns]
    found = []
    for each in table.foreign:
        pairs = zip(names_of(each.key), names_of(each.column), strict=True)
        leads = {fold(key): by_name.get(fold(column)) for key, column in pairs}
        columns = tuple(column for name in wanted if (column := leads.get(name)) is not None)
        if fold(each.table) == fold(target.table.name) and len(leads) == len(columns) == len(wanted):
            found.append(columns)
    order = {column.name: place for place, column in enumerate(table.columns)}
    return sorted(found, key=lambda columns: order[columns[0].name])


def _refers(table: FoundTable, target: Keyed | Guess) -> tuple[FoundColumn, ...]:
    """Return a table's columns that reference the target's key, or are named like it and have its kinds."""
    declared = _references(table, target)
    if declared:
        return declared[0]
    if not target.more:
        column = _named_like(table, target)
        return () if column is None else (column,)
    by_name = {fold(column.name): column for column in table.columns if tells_apart(column)}
    alike = tuple(by_name.get(fold(column.name)) for column in target.columns)
    fit = tuple(
        ours
        for ours, theirs in zip(alike, target.columns, strict=True)
        if ours is not None and type_of_all([type_of(ours), type_of(theirs)]) is not None
    )
    return fit if len(fit) == len(alike) else ()


def _named_like(table: FoundTable, target: Keyed | Guess) -> FoundColumn | None:
    """Return a table's column that is named like the target's key and has its kind."""
    elsewhere = {fold(each.column) for each in table.foreign if isinstance(each.column, str)}
    key = fold(target.key.name)
    wanted = {key, _unprefixed(key)} if key != "id" else set()
    name = fold(_unqualified(target.table.name)) if target.table is not None else key
    wanted |= {f"{name}_id", f"{name}id", f"{singular(name)}_id", f"{singular(name)}id"}
    its = type_of(target.key)
    for column in table.columns:
        column_name = fold(column.name)
        if (
            tells_apart(column)
            and column_name not in elsewhere
            and type_of(column).kind is its.kind
            and type_of_all([type_of(column), its]) is not None
            and (column_name in wanted or _unprefixed(column_name) in wanted)
        ):
            return column
    return None


def ways_to(tables: tuple[FoundTable, ...], unit: Guess) -> Mapping[str, Way]:
    """Return how each table reaches the unit: by its own column, else through a table that does.

    Where no table has a row for each unit, as in logs, only keys that the database enforces lead on.
    """
    ways: dict[str, Way] = {}
    for table in tables:
        columns = _refers(table, unit)
        if table is not unit.table and columns:
            ways[table.name] = Way(columns, None)
    fresh = list(ways)
    while fresh:
        near = [table for table in tables if table.name in fresh]
        reached = [each for table in near for each in _candidates(table, tables)]
        reached += [each for table in near for each in _of_several(table, tables) if each not in reached]
        if unit.table is None:
            names = {each: tuple(column.name for column in each.columns) for each in reached}
            reached = [each for each in reached if names[each] in each.table.unique]
        fresh = []
        for table in tables:
            for target in reached:
                columns = _refers(table, target)
                if table is not unit.table and table.name not in ways and columns:
                    ways[table.name] = Way(columns, target)
                    fresh.append(table.name)
    return ways


def _unqualified(name: str) -> str:
    """``sales.orders`` -> ``orders``."""
    return name.rpartition(".")[2] or name


def _unprefixed(name: str) -> str:
    """c_custkey -> custkey: remove a short prefix of column names."""
    return re.sub(r"^[a-z]{1,2}_(?=.{4})", "", name)


def personal(name: str) -> bool:
    """Whether a column seems to name or describe one person, and is of no use in groups and sums."""
    return not _PERSONAL.isdisjoint(re.split(r"[^a-z]+", fold(name)))
