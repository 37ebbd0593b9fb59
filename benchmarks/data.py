"""The databases of the benchmarks: seeded, created for every run, each with its policy.

people   one row per person: state (50, skewed), age, income (some above the declared range)
sized    one row per person, in towns of given sizes
visits   heavy-tailed rows per user: place (text) and place_no (integer), 100 of each, minutes, cost, and url,
         one of very many
tpch     TPC-H, from tpchgen-cli (the bench and dev extras) or, tiny, from its tiny.sql
"""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

import duckdb
import numpy as np

import dpsql
from benchmarks.timing import ROOT, Setting
from dpsql.session import Session

TPCH = ROOT / "grammar_tests" / "tpch"
PUBLIC = ("region", "nation", "supplier", "part", "partsupp")
PRIVATE = ("customer", "orders", "lineitem")


def session_of(db: dpsql.Connection) -> Session:
    """Return the session of an owner's connection."""
    return db._open()


def plain(db: dpsql.Connection) -> duckdb.DuckDBPyConnection:
    """Return plain DuckDB on the instance that dpsql uses: same file, threads, settings and cache."""
    engine = session_of(db).engine
    connection: duckdb.DuckDBPyConnection = engine._connection  # type: ignore[attr-defined]  # DuckDB's own
    return connection.cursor()


def plain_copy(path: Path) -> duckdb.DuckDBPyConnection:
    """Return plain DuckDB on a copy of the file, with its own settings: those of dpsql's may be slower."""
    beside = path.with_suffix(".plain.duckdb")
    if not beside.exists():
        shutil.copy(path, beside)
    return duckdb.connect(str(beside), read_only=True)


def connect(path: Path, accountant: str = "zcdp") -> dpsql.Connection:
    """Return an owner's connection under the policy of that accountant, with its own ledger.

    Under ``approx`` the whole budget is one query of epsilon 1, which gets all of delta.
    """
    policy = path.with_suffix(f".{accountant}.toml")
    return dpsql.connect(path, policy, path.with_suffix(f".{accountant}.ledger"))


def policies(path: Path, rest: str) -> None:
    for accountant, epsilon, delta in (("zcdp", 1e5, "1e-6"), ("pure", 1e5, "0"), ("approx", 1.0, "1e-6")):
        path.with_suffix(f".{accountant}.toml").write_text(
            f'[budget]\nepsilon = {epsilon}\ndelta = {delta}\naccountant = "{accountant}"\n'
            f"[query]\nepsilon = 1.0\nmax_epsilon = {min(10.0, epsilon)}\n{rest}"
        )


def people(setting: Setting, rows: int) -> Path:
    """Create people with one row each."""
    path = setting.folder / f"people-{rows}.duckdb"
    if path.exists():
        return path
    random = np.random.default_rng(1)
    weights = 1.0 / np.arange(1, 51) ** 0.7
    columns = {  # noqa: F841  (DuckDB reads it by its name)
        "person": np.arange(rows, dtype=np.int64),
        "age": np.clip(random.normal(42, 17, rows), 0, 100).astype(np.int64),
        "income": np.clip(random.lognormal(10.5, 0.7, rows), 0, 1e7).round(2),
        "state": random.choice(50, rows, p=weights / weights.sum()),
    }
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE people (person BIGINT PRIMARY KEY, age BIGINT, income DOUBLE, state VARCHAR)"
        )
        connection.execute(
            "INSERT INTO people SELECT person, age, income, 'S' || lpad(CAST(state AS VARCHAR), 2, '0') "
            "FROM columns"
        )
    states = ", ".join(f'"S{i:02d}"' for i in range(50))
    policies(
        path,
        '[unit]\nname = "person"\ntable = "people"\nkey = "person"\n'
        "[tables.people.columns]\nage = { range = [0, 120] }\nincome = { range = [0, 200000] }\n"
        f"state = {{ values = [{states}] }}\n",
    )
    return path


def sized(setting: Setting, sizes: tuple[int, ...]) -> Path:
    """Create people with one row each in towns of these sizes; their streets are private."""
    path = setting.folder / "sized.duckdb"
    if path.exists():
        return path
    random = np.random.default_rng(5)
    rows = sum(sizes)
    age = np.clip(random.normal(42, 17, rows), 0, 100).astype(np.int64)
    columns = {  # noqa: F841  (DuckDB reads it by its name)
        "person": np.arange(rows, dtype=np.int64),
        "age": age,
        "income": np.clip(1_500 * age + random.normal(0, 25_000, rows), 0, 2e5).round(2),
        "town": np.repeat(np.arange(len(sizes)), sizes),
    }
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE people "
            "(person BIGINT PRIMARY KEY, age BIGINT, income DOUBLE, town VARCHAR NOT NULL, street VARCHAR)"
        )
        connection.execute(
            "INSERT INTO people "
            "SELECT person, age, income, 'T' || lpad(CAST(town AS VARCHAR), 3, '0'), 'S' FROM columns"
        )
    towns = ", ".join(f'"T{i:03d}"' for i in range(len(sizes)))
    policies(
        path,
        '[unit]\nname = "person"\ntable = "people"\nkey = "person"\n'
        "[tables.people.columns]\nage = { range = [0, 120] }\nincome = { range = [0, 200000] }\n"
        f"street = {{}}\ntown = {{ values = [{towns}] }}\n",
    )
    return path


def visits(setting: Setting, rows: int, users: int) -> Path:
    """Create many rows per user, heavy-tailed; rows_per_unit is the 95th percentile."""
    path = setting.folder / f"visits-{rows}.duckdb"
    if path.exists():
        return path
    random = np.random.default_rng(3)
    weights = random.pareto(1.2, users) + 0.05
    places = 1.0 / np.arange(1, 101)
    user = random.choice(users, rows, p=weights / weights.sum()).astype(np.int64)
    columns = {  # noqa: F841  (DuckDB reads it by its name)
        "user_id": user,
        "place": random.choice(100, rows, p=places / places.sum()).astype(np.int32),
        "cost": np.clip(random.gamma(2.0, 15.0, rows), 0, 500).round(2),
        "url": np.minimum(random.zipf(1.25, rows), 10_000_000),
    }
    counts = np.bincount(user, minlength=users)
    usual = int(np.quantile(counts[counts > 0], 0.95))
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE users (user_id BIGINT PRIMARY KEY)")
        connection.execute(f"INSERT INTO users SELECT * FROM range({users})")
        connection.execute(
            "CREATE TABLE visits "
            "(user_id BIGINT NOT NULL, place VARCHAR, place_no INTEGER, cost DOUBLE, minutes INTEGER, "
            "url VARCHAR)"
        )
        connection.execute(
            "INSERT INTO visits SELECT user_id, 'P' || lpad(CAST(place AS VARCHAR), 3, '0'), place, cost, "
            "CAST(round(cost) AS INTEGER), 'u' || url FROM columns"
        )
    names = ", ".join(f'"P{i:03d}"' for i in range(100))
    numbers = ", ".join(str(i) for i in range(100))
    policies(
        path,
        '[unit]\nname = "user"\ntable = "users"\nkey = "user_id"\n[tables.users]\n'
        f'[tables.visits]\nunit = {{ column = "user_id" }}\nrows_per_unit = {usual}\n'
        f"[tables.visits.columns]\nplace = {{ values = [{names}] }}\nplace_no = {{ values = [{numbers}] }}\n"
        "cost = { range = [0, 200] }\nminutes = { range = [0, 240] }\nurl = {}\n",
    )
    return path


def baskets(setting: Setting, rows: int, users: int) -> Path:
    """Create purchases of common and rare items, a fifth as many items as rows: number and name.

    The aisle (8) is public, the shop (200) and the town of the shop (40) are not.
    """
    path = setting.folder / f"baskets-{rows}.duckdb"
    if path.exists():
        return path
    random = np.random.default_rng(4)
    weights = random.pareto(1.2, users) + 0.05
    common = 1.0 / np.arange(1, rows // 5 + 1) ** 0.8
    columns = {  # noqa: F841  (DuckDB reads it by its name)
        "user_id": random.choice(users, rows, p=weights / weights.sum()).astype(np.int64),
        "item": random.choice(rows // 5, rows, p=common / common.sum()).astype(np.int32),
        "shop": random.integers(0, 200, rows, dtype=np.int32),
    }
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE users (user_id BIGINT PRIMARY KEY)")
        connection.execute(f"INSERT INTO users SELECT * FROM range({users})")
        connection.execute(
            "CREATE TABLE baskets (user_id BIGINT NOT NULL, item INTEGER, name VARCHAR, aisle INTEGER, "
            "shop INTEGER, town VARCHAR)"
        )
        connection.execute(
            "INSERT INTO baskets SELECT user_id, item, 'item number ' || item, item % 8, shop, "
            "'town ' || shop % 40 FROM columns"
        )
    policies(
        path,
        '[unit]\nname = "user"\ntable = "users"\nkey = "user_id"\n[tables.users]\n'
        '[tables.baskets]\nunit = { column = "user_id" }\nrows_per_unit = 50\n'
        "[tables.baskets.columns]\nitem = {}\nname = {}\nshop = {}\ntown = {}\n"
        f"aisle = {{ values = {list(range(8))} }}\n",
    )
    return path


# ---- TPC-H -------------------------------------------------------------------------------------------


def tpch_queries() -> dict[int, str]:
    """Return the query texts by number."""
    return {int(path.stem[1:]): path.read_text() for path in sorted(TPCH.glob("q*.sql"))}


def tiny_tpch(setting: Setting) -> Path:
    """Create a few hundred rows, for planning and for --quick."""
    return _tpch(setting.folder / "tpch-tiny.duckdb", (TPCH / "tiny.sql").read_text())


def tpch(setting: Setting) -> Path:
    """Create TPC-H at the setting's scale; FileNotFoundError if tpchgen-cli is not installed."""
    path = setting.folder / f"tpch-{setting.scale:g}.duckdb"
    if path.exists():
        return path
    files = setting.folder / f"tpch-{setting.scale:g}"
    _generate(files, setting.scale)
    loads = "".join(f"INSERT INTO {t} SELECT * FROM '{files}/{t}.parquet';\n" for t in (*PUBLIC, *PRIVATE))
    _tpch(path, loads)
    shutil.rmtree(files)
    return path


def _tpch(path: Path, loads: str) -> Path:
    if not path.exists():
        with duckdb.connect(str(path)) as connection:
            connection.execute((TPCH / "schema.sql").read_text())
            connection.execute(loads)
        shutil.copy(TPCH / "policy.toml", path.with_suffix(".zcdp.toml"))
    return path


def _generate(folder: Path, scale: float) -> None:
    """Run tpchgen-cli: from 3.0 on the format is a subcommand, before it an option."""
    beside = Path(sysconfig.get_path("scripts")) / "tpchgen-cli"
    tool = str(beside) if beside.exists() else shutil.which("tpchgen-cli")
    if tool is None:
        raise FileNotFoundError("tpchgen-cli is not installed: pip install '.[bench]'")
    common = ["-s", f"{scale:g}", "--output-dir", str(folder)]
    for arguments in (["parquet", *common], [*common, "--format=parquet"]):
        done = subprocess.run([tool, *arguments], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return
    raise RuntimeError(f"tpchgen-cli failed: {done.stderr.strip()}")
