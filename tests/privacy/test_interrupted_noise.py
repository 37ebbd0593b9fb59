"""Once noise is drawn, an interruption changes nothing until it is stored: a repeat never draws it anew."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ParamSpec, TypeVar

import duckdb
import numpy as np
import pytest
from numpy.typing import NDArray

import dpsql
from dpsql import releasing
from dpsql.engines import stored_groups
from dpsql.engines.statistics_engine import StatisticsEngine
from dpsql.engines.stored_groups import StoredGroups
from dpsql.errors import interrupted
from dpsql.ir.plan import MeasurePlan, Noise
from dpsql.ir.table import ReleasedTable
from dpsql.release.release import from_system
from dpsql.session.drawing import Drawing

P = ParamSpec("P")
T = TypeVar("T")

POLICY = """
[budget]
epsilon = 100000
delta = 1e-6
[query]
epsilon = 1.0
max_epsilon = 5000.0
[unit]
name = "person"
table = "people"
key = "person"
[tables.people.columns]
person = {}
age = { range = [0, 100] }
[tables.visits]
unit = { column = "person" }
rows_per_unit = 11000
[tables.visits.columns]
person = {}
place = {}
"""
SCHEMA = """
CREATE TABLE visits AS
SELECT person, concat('place ', place) AS place FROM range(300) p(person), range(11000) q(place);
CREATE TABLE people AS SELECT range AS person, range % 90 AS age FROM range(300);
"""
PRIVATE = "SELECT place, COUNT(*) FROM visits GROUP BY place"
QUERIES = (
    PRIVATE,
    "SELECT (SELECT COUNT(*) FROM people), (SELECT AVG(age) FROM people WHERE age > 5)",
    "SELECT MEDIAN(age), (SELECT MAX(age) FROM people WHERE age < 80) FROM people",
)
STAGED = (
    "SELECT DISTINCT place FROM visits",
    "SELECT COUNT(*) FROM people WHERE age > (SELECT AVG(age) FROM people)",
)


class Impatient:
    """Interrupts a connection from the first noise on, without end, and until it is told to stop."""

    def __init__(self, db: dpsql.Connection) -> None:
        self.db, self.ended, self.begun = db, threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self.interrupt, daemon=True)
        self.thread.start()

    def interrupt(self) -> None:
        self.begun.wait()
        while not self.ended.is_set():
            self.db.interrupt()

    def stop(self) -> None:
        self.ended.set()
        self.begun.set()
        self.thread.join()


@pytest.fixture
def db(tmp_path: Path) -> Iterator[dpsql.Connection]:
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute(SCHEMA)
    (tmp_path / "d.toml").write_text(POLICY)
    with dpsql.connect(str(tmp_path / "d.duckdb")) as db:
        yield db


@pytest.fixture
def impatient(db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch) -> Iterator[Impatient]:
    """Begins to interrupt when noise is drawn; what becomes of the stored release is told as it is."""
    impatient = Impatient(db)

    def drawn(noise: Noise, size: int) -> NDArray[np.int64]:
        impatient.begun.set()
        return from_system(noise, size)

    monkeypatch.setattr(releasing, "from_system", drawn)
    yield impatient
    impatient.stop()


def asked(db: dpsql.Connection, impatient: Impatient, sql: str) -> str:
    """Ask, and ask again without interruptions; return what became of the first."""
    code = "answered"
    try:
        db.execute(sql, epsilon=5000.0)
    except dpsql.Error as error:
        code = error.code
    impatient.stop()
    kinds = [each.kind for each in db._open().ledger.entries()]
    stored = "stored" if "answer" in kinds else "stored in part" if "part" in kinds else "drawn anew"
    assert db.execute(sql, epsilon=5000.0).repeated == (stored == "stored")
    return f"{code}, {stored}"


def often(read: Callable[P, T]) -> Callable[P, T]:
    """As on a machine so slow that an interruption is always in time."""

    def reads(*given: P.args, **named: P.kwargs) -> T:
        for _ in range(200):
            found = read(*given, **named)
        return found

    return reads


@pytest.mark.parametrize("sql", [*QUERIES, *STAGED])
def test_noise_that_was_drawn_is_stored(db: dpsql.Connection, impatient: Impatient, sql: str) -> None:
    """What runs above the release may be interrupted, and what reads after a part that is stored."""
    staged = sql in STAGED
    assert asked(db, impatient, sql) in {"answered, stored", "D601, stored"} | (
        {"D601, stored in part"} if staged else set()
    )


def test_a_call_within_another_one_draws_too() -> None:
    """Of a signal's handler; and one that is stopped between two lines leaves nothing locked."""
    drawing = Drawing()
    assert not drawing.defers()
    with drawing():
        assert drawing.defers()
        with drawing():
            assert drawing.defers()
        assert drawing.defers()
    assert not drawing.defers()
    with pytest.raises(KeyboardInterrupt), drawing():
        raise KeyboardInterrupt
    lost = drawing()
    lost.acquire()
    assert drawing.defers()
    del lost
    assert not drawing.defers()


def test_an_interruption_is_told_when_noise_is_stored(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once is enough: it is neither lost nor told of the next query."""

    def drawn(noise: Noise, size: int) -> NDArray[np.int64]:
        db.interrupt()
        return from_system(noise, size)

    monkeypatch.setattr(releasing, "from_system", drawn)
    with pytest.raises(dpsql.OperationalError, match="interrupted") as caught:
        db.execute(PRIVATE, epsilon=5000.0)
    assert caught.value.code == "D601"
    assert db.execute(PRIVATE, epsilon=5000.0).repeated
    monkeypatch.undo()
    assert db.execute("SELECT COUNT(*) FROM people").cost


def test_an_interruption_that_began_before_is_not_heard(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It meets the read of the keys that are shown: the read is made again."""
    asked = list[str]()
    ask = StatisticsEngine._ask

    def late(engine: StatisticsEngine, sql: str) -> list[tuple[object, ...]]:
        if "WHERE rowid" in sql:
            asked.append(sql)
            if len(asked) < 4:
                raise interrupted()
        return ask(engine, sql)

    monkeypatch.setattr(StatisticsEngine, "_ask", late)
    assert len(db.execute(PRIVATE, epsilon=5000.0).rows) > 1_000
    assert len(asked) >= 4


def test_errors_are_found(
    db: dpsql.Connection, impatient: Impatient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A release that may be interrupted: the keys that are shown are asked for after the noise."""
    monkeypatch.setattr(Drawing, "defers", lambda self: False)
    monkeypatch.setattr(stored_groups, "AGAIN", 0)
    monkeypatch.setattr(StoredGroups, "taken", often(StoredGroups.taken))
    assert asked(db, impatient, PRIVATE) == "D601, drawn anew"


def test_a_read_after_noise_is_found(
    db: dpsql.Connection, impatient: Impatient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each measure released before the next one is read."""
    measured = releasing._measured

    def at_once(reading: releasing.Measuring, measure: MeasurePlan) -> Callable[[], ReleasedTable]:
        table = measured(reading, measure)()
        return lambda: table

    monkeypatch.setattr(releasing, "_measured", at_once)
    engine = db._open().engine
    monkeypatch.setattr(engine, "measure", often(engine.measure))
    sql = "SELECT (SELECT COUNT(*) FROM people), (SELECT COUNT(*) FROM visits WHERE place LIKE '%7%')"
    assert asked(db, impatient, sql) == "D601, drawn anew"
