"""The two copies side by side: what is said of a row that both hold, and whether a condition chose it.

Everything follows from the seed. Tables are opened together, some to a folder, since opening takes longer
than asking.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from dpsql.engines.duckdb import DuckDB
from dpsql.engines.folder import Folder
from dpsql.engines.identifiers import table_sql
from dpsql.errors import Error
from dpsql.session.checks import parse_policy
from layouts import databases, lines, parquet
from layouts.rows import Drawn, drawn
from layouts.statements import Others, Statement, statements

TURNS = (".csv", ".parquet", ".duckdb", ".parquet")
TOGETHER = {".parquet": 16, ".duckdb": 12, ".csv": 2}
"""Tables that are opened together; lines of text take long to take apart."""

ASKED = 12
POLICY = '[budget]\nepsilon = 1.0\ndelta = 1e-6\n[unit]\ntable = "t0"\nkey = "id"\n'


@dataclass(frozen=True, slots=True)
class Violation:
    said: str
    sql: str
    layout: str

    def __str__(self) -> str:
        return f"{self.said}\n    {self.sql}\n    {self.layout}"


@dataclass(frozen=True, slots=True)
class _Table:
    """A table that is open twice."""

    drawn: Drawn
    layout: str
    name: str
    engines: tuple[DuckDB, DuckDB]


@dataclass(slots=True)
class Run:
    """A run under way. A file is counted once, though it is written with the unit and without."""

    seed: int
    files: int = 0
    asked: int = 0
    writers: Counter[str] = field(default_factory=Counter)
    violations: list[Violation] = field(default_factory=list)
    rng: random.Random = field(init=False)
    turns: Iterator[str] = field(default_factory=lambda: itertools.cycle(TURNS))

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)

    def until(self, done: Callable[[Run], bool]) -> None:
        while not done(self):
            with TemporaryDirectory(prefix="layouts-") as name:
                kind = next(self.turns)
                tables = self._databases if kind == ".duckdb" else partial(self._folders, ending=kind)
                for table in tables(Path(name)):
                    self._judge(table)

    def _folders(self, folder: Path, ending: str) -> Iterator[_Table]:
        tables, policy = [], POLICY
        for i in range(TOGETHER[ending]):
            name = f"t{i}"
            policy += f'[tables.{name}]\nfiles = "{name}/*{ending}"\n' + ("public = true\n" if i else "")
            if ending == ".parquet":
                rows = drawn(self.rng)
                said, write = parquet.layout(self.rng, rows)
            else:
                rows = drawn(self.rng, lines.KINDS, nested=False)
                marks, write = lines.layout(self.rng)
                policy += lines.policy(marks, name, rows.columns)
                said = f"csv {marks}"
            write(rows.whole, folder / "with" / name)
            write(rows.without, folder / "without" / name)
            tables.append((rows, said, name))
        rules = parse_policy(policy, "drawn.toml")
        with (
            closing(Folder(folder / "with", rules, 1)) as one,
            closing(Folder(folder / "without", rules, 1)) as other,
        ):
            yield from (_Table(*each, (one, other)) for each in tables)

    def _databases(self, folder: Path) -> Iterator[_Table]:
        drawings = [drawn(self.rng) for _ in range(TOGETHER[".duckdb"])]
        tables = [(rows, *databases.layout(self.rng, rows)) for rows in drawings]
        options, logged = databases.attached(self.rng), self.rng.random() < 0.5
        paths = folder / "with.duckdb", folder / "without.duckdb"
        for path in paths:
            with databases.made(path, options, logged) as connection:
                for i, (rows, _, fill) in enumerate(tables):
                    fill(connection, f"t{i}", rows.whole if path is paths[0] else rows.without)
        with closing(DuckDB(paths[0], threads=1)) as one, closing(DuckDB(paths[1], threads=1)) as other:
            for i, (rows, said, _) in enumerate(tables):
                yield _Table(rows, f"{said} {options} logged: {logged}", f"t{i}", (one, other))

    def _judge(self, table: _Table) -> None:
        self.files += 1
        self.writers[table.layout.split(maxsplit=1)[0]] += 1
        rows = table.drawn.without.select(["id", "unit"]).to_pydict()
        others = Others(frozenset(rows["id"]), frozenset(rows["unit"]))
        read = ", ".join(f"CAST({each.path} AS VARCHAR)" for each in table.drawn.columns)
        asked = [Statement(f"SELECT id, unit, {read} FROM {{t}}")]
        for each in [*asked, *statements(self.rng, table.drawn.columns, ASKED)]:
            self.asked += 1
            sql = each.sql.format(t=table_sql(table.name))
            one, other = (_asked(engine, sql) for engine in table.engines)
            if each.of(others, one) != each.of(others, other):
                self._note("others' rows are read differently", sql, table)
            elif each.meant is not None:
                meant = _asked(table.engines[0], each.meant.format(t=table_sql(table.name)))
                if Counter(one) != Counter(row for row in meant if row[1]):
                    self._note("a condition chooses other rows than those it is true of", sql, table)

    def _note(self, said: str, sql: str, table: _Table) -> None:
        self.violations.append(Violation(f"file {self.files}: {said}", sql, table.layout))


def _asked(engine: DuckDB, sql: str) -> list[tuple[object, ...]]:
    try:
        with engine._reading():
            return engine._all(sql)
    except Error as error:
        raise AssertionError(f"{sql}\n    {error}") from None
