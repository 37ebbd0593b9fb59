"""Small random worlds, each with its neighbours: the same without one unit.

Every world has what breaks engines: NaN and infinities, NULL units and dangling keys, ties, the ends of
every type, numbers that cancel out, one unit with many rows, units that are alone in their groups. In
two of three worlds the tables hold units in columns of different integer types, up to the ends of each. In
one of three a unit has two columns: most numbers are in two clubs, and rows have NULL in either.
"""

from __future__ import annotations

import random
import re
from contextlib import ExitStack
from pathlib import Path

import duckdb

import dpsql
from dpsql.accounting import accountant as rules_of
from dpsql.audit.neighbours import units_of
from dpsql.fuzz.world import SMALL, World, build_copies, opened, opened_with_statistics, plain_copy, ways
from dpsql.ir.column import INTEGERS, type_named, type_range

HERE = Path(__file__).parent.parent

# column: the values it can take; the first half of a list is in bounds
_POOLS: dict[str, tuple[str, ...]] = {
    "born": ("'1980-02-29'", "'1991-12-31'", "'2024-01-01'", "'1955-07-04'", "NULL", "'infinity'",
             "'-infinity'", "'1899-12-31'", "'9999-12-31'"),
    "age": ("44", "33", "0", "120", "69", "17", "NULL", "-1", "121", "2147483647", "-2147483648"),
    "sex": ("'F'", "'M'", "'F'", "'M'", "'X'", "''"),
    "ward": ("'A'", "'B'", "'C'", "'D'", "'A'", "NULL", "'Q'", "'a'", "'A '"),
    "income": ("52000", "31000.25", "0", "'-0.0'", "0", "'-0.0'", "499999.99", "NULL", "'NaN'", "'inf'",
               "'-inf'", "1e300", "-1e300", "5e-324", "500000.01"),
    "insured": ("true", "false", "NULL"),
    "smoker": ("true", "false"),
    "city": ("'Oslo'", "'Bergen'", "'Oslo'", "'Bergen'", "NULL", "''", "'%_'", "'2023-01-05'", "'O''Brien'"),
    "height": ("168.50", "181.00", "52.00", "999.99", "-999.99", "0.00", "NULL"),
    "children": ("0", "2", "4", "127", "-128", "NULL"),
    "score": ("0.5", "-1.5", "'-0.0'", "0.0", "'-0.0'", "0.0", "NULL", "'NaN'", "'inf'", "'-inf'", "1e308",
              "-1e308"),
    "blood": ("'0'", "'A'", "'B'", "'AB'", "NULL"),
    "registered": ("'2021-03-01 08:00:00'", "'2022-01-31 23:59:59.999999'", "'2024-02-29 00:00:00'", "NULL",
                   "'infinity'", "'-infinity'", "'1899-12-31 00:00:00'", "'294247-01-10 04:00:54.775806'"),
    "allergies": ("['pollen']", "[]", "['nuts', NULL]", "NULL"),
    "place_id": ("1", "2", "3", "6", "NULL", "99", "42"),
    "visited_on": ("'2023-01-05'", "'2024-02-29'", "'2025-12-31'", "NULL", "'infinity'", "'1999-12-31'"),
    "seen_at": ("'2023-01-05 09:00:00'", "'2023-10-29 02:30:00'", "NULL", "'-infinity'",
                "'2031-01-01 00:00:00'"),
    "cost": ("120.5", "80", "0", "'-0.0'", "0", "'-0.0'", "5000", "0.1", "'NaN'", "'inf'", "'-inf'", "1e300",
             "-1e300", "-0.01", "5000.01", "NULL"),
    "minutes": ("30", "15", "0", "480", "NULL", "-1", "481", "2147483647", "-2147483648"),
    "visit_kind": ("'checkup'", "'surgery'", "'therapy'", "'emergency'", "'massage'", "''"),
    "urgent": ("true", "false", "NULL"),
    "steps": ("100", "0", "-7", "9223372036854775807", "-9223372036854775808", "NULL"),
    "drug": ("'aspirin'", "'ibuprofen'", "'aspirin'", "NULL", "'only one'"),
    "dose": ("100.00", "400.5", "0", "1000", "0.01", "999999.99", "-999999.99", "NULL"),
    "given_on": ("'2023-01-05'", "'2025-12-31'", "NULL", "'infinity'"),
    "severity": ("1", "3", "5", "NULL", "2147483647", "-2147483648"),
    "noted_on": ("'2023-01-06'", "'2023-02-12'", "NULL", "'-infinity'"),
    "reason": ("'pain'", "'pain'", "NULL", "'rare'"),
    "placed_at": ("'2023-01-10 10:00:00'", "'2024-02-29 10:00:00'", "NULL", "'infinity'"),
    "amount": ("99.90", "0.10", "10000", "9999999999.99", "-9999999999.99", "NULL"),
    "status": ("'paid'", "'open'", "'returned'", "'lost'", "''"),
    "method": ("'card'", "'card'", "'invoice'", "NULL", "'barter'"),
    "paid_on": ("'2023-02-01'", "'2024-03-01'", "NULL"),
}  # fmt: skip

_ODD_UNITS = (0, -7, 2147483647, -2147483648)

Types = dict[tuple[str, str], str]
"""The types of some tables' columns, where they are not those of the schema."""

_OWN = ("patients", "visits", "referrals", "calls", "sales.orders", "sales.refunds")
_PATHS = (
    (("treatments", "visit_id"), ("visits", "visit_id")),
    (("reactions", "treatment_id"), ("treatments", "treatment_id")),
)


def types_of(rng: random.Random) -> Types:
    """Types for the columns that hold units, and for those that lead to them: any that go together.

    Mostly of two that do not hold each other's values: one with negative numbers, one with larger ones.
    """
    found: Types = {}
    for columns in (tuple((table, "patient_id") for table in _OWN), *_PATHS):
        least = 2**20 if columns in _PATHS else 0  # the rows' own numbers go up to a million
        wide = [sql for sql in INTEGERS if type_range(type_named(sql)).high > least]
        unsigned = [sql for sql in wide if sql.startswith("U")]
        others = [sql for sql in wide if sql != "UHUGEINT"]
        pool = rng.choice((unsigned, others))
        if rng.random() < 0.7:
            one = rng.choice([sql for sql in others if sql not in (*unsigned, "HUGEINT")])
            pool = [one, *(sql for sql in (f"U{one}", "UBIGINT") if sql in others)]
        found |= {column: rng.choice(pool) for column in columns}
    return found


def typed(schema: str, types: Types) -> str:
    """The schema with these types in the place of its own."""
    for (table, column), sql in types.items():
        place = rf"(CREATE TABLE {re.escape(table)} \([^;]*?\b{column} )\w+"
        schema, number = re.subn(place, rf"\g<1>{sql}", schema)
        assert number == 1, (table, column)
    if any(
        types.get((table, "patient_id")) == "UHUGEINT" for table in _OWN
    ):  # no type holds these and negative numbers; nobody draws from the others
        schema = schema.replace("patient_id INTEGER,", "patient_id UTINYINT,")
    return schema


def fitted(unit: int, sql: str | None) -> int:
    """The unit, or one near the end of the type where the type does not hold it; some stand for the ends."""
    if sql is None:
        return unit
    whole = type_range(type_named(sql))
    low, high = int(whole.low), int(whole.high)
    ends = {5: low + 1 if low else 5, 900001: low or high - 1, 900002: high, 900003: low}
    return ends.get(unit, unit if low <= unit <= high else high - abs(unit) % 19)


_CLUBS = ("1", "", "a", "1")
"""The club of most rows of a unit, by its number."""


def in_clubs(schema: str, rows: str) -> str:
    """The script of a world in which ``club`` is part of each unit.

    A number is in one club mostly, and in others too. Glued together, numbers and clubs are often the same.
    """
    script = schema.replace(" PRIMARY KEY,\n    born", ",\n    born") + rows
    usual = f"{list(_CLUBS)}[1 + abs(TRY_CAST(patient_id AS HUGEINT) % 4)::BIGINT]"
    drawn = "['', '1', '11', 'A', NULL, 'a'][1 + CAST(hash(rowid, 'club') % 6 AS BIGINT)]"
    club = f"CASE WHEN hash(rowid, 'usual') % 8 > 0 THEN {usual} ELSE {drawn} END"
    for table in (*_OWN, "journeys", "answers"):
        script += f"\nALTER TABLE {table} ADD COLUMN club VARCHAR; UPDATE {table} SET club = {club};"
    more = "INSERT INTO patients SELECT * REPLACE"
    return (
        f"{script}\n{more} (club || '1' AS club) FROM patients WHERE patient_id % 3 = 0;"
        f"\n{more} (NULL AS patient_id) FROM patients WHERE patient_id % 5 = 0;"
    )


def rows_of(rng: random.Random, types: Types) -> str:
    """The private rows of one world, as SQL."""
    wild = rng.choice((0.3, 0.6, 1.0))
    # infinite dates hide finite extremes from the engine's statistics
    pools = {
        name: tuple(each for each in pool if endless or "infinity" not in each)
        for name, pool in _POOLS.items()
        for endless in [rng.random() < 0.5]
    }

    def value(column: str) -> str:
        pool = pools[column]
        return rng.choice(pool if rng.random() < wild else pool[: (len(pool) + 1) // 2])

    def listed(columns: str) -> str:
        return ", ".join(value(column) for column in columns.split())

    def owned(table: str, unit: int | None) -> str:
        return "NULL" if unit is None else str(fitted(unit, types.get((table, "patient_id"))))

    tables: dict[str, list[str]] = {}

    def add(table: str, *rows: str) -> None:
        tables.setdefault(table, []).extend(f"({row})" for row in rows)

    patients = [*range(1, rng.randint(6, 14)), *rng.sample(_ODD_UNITS, rng.randint(0, 2))]
    for unit in patients:
        first = (
            "born age sex ward income insured smoker city height children score blood registered allergies"
        )
        row = f"{owned('patients', unit)}, {listed(first)}, NULL"
        add("patients", row)
    heavy = patients[0]
    owners: list[int | None] = [*patients, *patients, 900001, 900002, None]
    visits = list(range(101, 101 + rng.randint(10, 30)))
    for number in visits:
        owner = rng.choice(owners)
        if owner == heavy or rng.random() < 0.2:  # NaN would hide what cancels out
            owner = 900001
        row = listed("place_id visited_on seen_at cost minutes visit_kind urgent steps")
        tied = rng.random() < 0.2
        add("visits", f"{number}, {owned('visits', owner)}, {row}")
        if tied:  # the same visit again, under another number or none
            add("visits", f"{rng.choice(('NULL', str(number + 5000)))}, {owned('visits', owner)}, {row}")
    places = [str(1 + i % 7) for i in range(40)]
    for i in range(rng.choice((25, 60))):  # one unit that is everywhere, with costs that cancel out
        cost = ("1e300", "-1e300", "0.1", "7.25", "40")[i % 5]
        on = f"DATE '2021-01-01' + {i % 15}"
        kind = ("checkup", "surgery", "therapy")[i % 3]
        rest = f"{i % 60}, '{kind}', {i % 2 == 0}, {i}"
        add("visits", f"{9000 + i}, {heavy}, {places[i % 40]}, {on}, {on}, {cost}, {rest}")
    treatments = list(range(1, rng.randint(8, 20)))
    for number in treatments:
        visit = rng.choice((*map(str, visits), *map(str, range(9000, 9010)), "NULL", "777777"))
        row = f"{visit}, {listed('drug dose given_on')}"
        add("treatments", f"{number}, {row}")
        if rng.random() < 0.2:
            add("treatments", f"{rng.choice(('NULL', str(number + 500)))}, {row}")
    for _ in range(rng.randint(6, 20)):
        treatment = rng.choice((*map(str, treatments), "1", "1", "1", "NULL", "888888"))
        add("reactions", f"{treatment}, {listed('severity noted_on')}")
    for _ in range(rng.randint(0, 8)):
        owner = owned("referrals", rng.choice(owners))
        add("referrals", f"{rng.randint(1, 9)}, {owner}, {listed('reason cost noted_on')}")
    orders = list(range(1, rng.randint(8, 20)))
    for number in orders:
        owner = heavy if rng.random() < 0.3 else rng.choice((*owners, 900003, 9223372036854775807))
        add(
            "sales.orders",
            f"{number}, {owned('sales.orders', owner)}, {listed('placed_at amount status method')}",
        )
    for number in orders:  # refunds of one unit for everybody's orders: two tables that disagree
        add("sales.refunds", f"{number}, {owned('sales.refunds', patients[-1])}, {listed('amount paid_on')}")
        if rng.random() < 0.5:
            owner = owned("sales.refunds", rng.choice(owners))
            add("sales.refunds", f"{number}, {owner}, {listed('amount paid_on')}")
    return "\n".join(f"INSERT INTO {name} VALUES {', '.join(rows)};" for name, rows in tables.items())


_POLICIES = (
    *(("zcdp", 1, False), ("approx", 3, True), ("zcdp", 20, False), ("pure", 2, False)),
    *(("approx", 1, False), ("zcdp", 200, True), ("pure", 20, True)),
)
"""An accountant, a guess of the rows of a unit, and whether bounds are left out of the policy and found."""


def policy_of(rng: random.Random, number: int) -> str:
    """The world's policy under another accountant and with another guess of the rows of a unit.

    In some worlds part of what it declares is left out, and found; in some no table holds the units, and in
    some a unit has two columns.
    """
    text = (HERE / "world.toml").read_text(encoding="utf-8")
    accountant, rows, found = _POLICIES[number % len(_POLICIES)]
    rows = rows if rng.random() < 0.8 else rng.randint(1, 40)
    text = re.sub(r"rows_per_unit = \d+", f"rows_per_unit = {rows}", text)
    if found:
        text = text.replace("find_bounds = false", "find_bounds = true")
        text = re.sub(r"(?m)^(income|cost|minutes|dose|amount|seconds) = \{ range = .*$", r"\1 = {}", text)
        text = re.sub(r"(?m)^(\[tables.visits\]\n(?:.+\n)*)rows_per_unit = \d+\n", r"\1", text)
    if number % 3 == 2:
        text = text.replace('\nkey = "patient_id"', '\nkey = ["patient_id", "club"]')
        text = text.replace('column = "patient_id"', 'column = ["patient_id", "club"]')
        text = text.replace("USING (patient_id)", "USING (patient_id, club)")
        text = text.replace("GROUP BY patient_id", "GROUP BY patient_id, club")
        text = re.sub(r"SELECT (v\.)?patient_id,", r"SELECT \1patient_id, \1club,", text)
    if number % 3 == 1:
        text = text.replace('table = "patients"\nkey = "patient_id"', 'column = "patient_id"')
        text = text.replace('unit = { column = "patient_id" }\n', "")
        text += '\n[tables.patients]\nkey = "patient_id"\n'
    text = text.replace('accountant = "zcdp"', f'accountant = "{accountant}"')
    text = text.replace("epsilon = 1000.0\ndelta", "epsilon = 1000000.0\ndelta", 1)
    return text if rules_of(accountant).has_delta else text.replace("delta = 1e-6", "delta = 0.0")


# ---- what is built once, and only read afterwards ----------------------------------------------------


def build_world(folder: Path, rng: random.Random, number: int, neighbours: int) -> None:
    """Write a world, its policy, so many neighbours and a shuffled copy."""
    folder.mkdir()
    world, policy = folder / "world.duckdb", folder / "policy.toml"
    # drawn beside the rows, which stay what they are
    types = types_of(random.Random(repr(rng.getstate()))) if number % 3 else {}
    schema = typed((HERE / "schema.sql").read_text(encoding="utf-8"), types)
    rows = rows_of(rng, types)
    script = in_clubs(schema, rows) if number % 3 == 2 else schema + rows
    with duckdb.connect(str(world), config=SMALL) as connection:
        connection.execute(script)
    policy.write_text(policy_of(rng, number), encoding="utf-8")
    with dpsql.connect(world, policy, folder / "first.ledger") as first:
        known = first._open().known
    units = units_of(world, known)
    rng.shuffle(units)
    stranger = fitted(900001, types.get(("visits", "patient_id")))
    units.sort(key=lambda unit: not _comes_first(unit, stranger))
    build_copies(folder, known, units[:neighbours], number)


def _comes_first(unit: object, stranger: int) -> bool:
    """Whether it is the unit with many rows, or one that is no patient."""
    number, club = unit if isinstance(unit, tuple) else (unit, None)
    return number in (1, stranger) and club in (None, _CLUBS[abs(number) % 4])


def build_calm(folder: Path) -> None:
    """Write the fixtures' calm world, in bounds and under every clip."""
    with duckdb.connect(str(folder / "calm.duckdb")) as connection:
        connection.execute(_calm_script())


def _calm_script() -> str:
    return "".join((HERE / name).read_text(encoding="utf-8") for name in ("schema.sql", "calm.sql"))


# ---- what each run opens -----------------------------------------------------------------------------


def open_calm(folder: Path, ledger: Path, stack: ExitStack) -> World:
    """The calm world has no neighbours here."""
    path = folder / "calm.duckdb"
    db = stack.enter_context(dpsql.connect(path, HERE / "world.toml", ledger))
    whole = opened(path, stack)
    informed = opened_with_statistics(path, stack, "UTC")
    return World("calm", db, db._open(), whole, [], whole, plain_copy(path, stack), ways(whole), informed)
