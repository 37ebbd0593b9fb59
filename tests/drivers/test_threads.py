"""``threadsafety = 2``: threads share a connection. One asks while others ask, look, interrupt and close."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dpsql

COUNT = "SELECT COUNT(*) FROM patients WHERE age > ?"
WARDS = "SELECT ward, beds FROM wards ORDER BY ward"


def together(steps: list[Callable[[], Any]]) -> list[Any]:
    """What each gives, or how it fails; all start at the same moment."""
    found: list[Any] = [None] * len(steps)
    start = threading.Barrier(len(steps))

    def run(number: int) -> None:
        start.wait()
        try:
            found[number] = steps[number]()
        except Exception as error:  # whatever it is, the test shows it
            found[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(steps))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_many_threads_ask_and_look(db: dpsql.Connection) -> None:
    """Twelve with cursors of their own, and one each for what may be called beside them."""

    def ask(number: int) -> list[Any]:
        cursor = db.cursor()
        found = []
        for age in (number, 100, number):
            cursor.execute(COUNT, (age,), epsilon=0.5)
            assert cursor.description is not None
            found.append(cursor.fetchone())
            assert cursor.execute(WARDS).fetchmany(2) == [("Cardiology", 42), ("Emergency", 30)]
        return found

    looks: list[Callable[[], Any]] = [
        lambda: db.explain(COUNT, (1,)),
        lambda: db.price(COUNT, (1,)),
        lambda: db.tables,
        lambda: db.budget,
        lambda: db.purchases,
        db.commit,
    ]
    asks: list[Callable[[], Any]] = [lambda number=number: ask(number) for number in range(12)]  # type: ignore[misc]  # number is bound now
    found = together([*asks, *looks])
    assert [each for each in found if isinstance(each, Exception)] == []
    assert all(first == last for first, _, last in found[:12])
    assert len({common for _, common, _ in found[:12]}) == 1
    assert len(db.purchases) == 13
    assert all(each.answered for each in db.purchases)


def test_another_thread_interrupts(crowd: Path, tmp_path: Path, slow: str) -> None:
    """After the debit, which stays; the connection goes on, and the debit waits to be completed."""
    ledger = tmp_path / "own.ledger"
    with dpsql.connect(crowd, ledger=ledger) as db, dpsql.connect(crowd, ledger=ledger) as watching:
        done = threading.Event()

        def stop() -> None:
            while not watching.purchases:
                assert not done.wait(0.01)
            while not done.wait(0.02):
                db.interrupt()

        stopping = threading.Thread(target=stop)
        stopping.start()
        try:
            with pytest.raises(dpsql.OperationalError, match="D601") as caught:
                db.execute(slow)
        finally:
            done.set()
            stopping.join()
        assert "interrupted" in caught.value.title
        assert [each.answered for each in db.purchases] == [False]
        assert db.budget.spent == pytest.approx(0.1, rel=0.01)
        assert db.price(slow).cost == 0
        assert len(db.execute("SELECT COUNT(*) FROM people").rows) == 1


def test_interrupted_at_any_moment(db: dpsql.Connection) -> None:
    """Planning, measuring, finishing: either there is an answer or it says so, and the connection goes on."""
    done = threading.Event()

    def stop() -> None:
        while not done.wait(0.0007):
            db.interrupt()

    asked = [
        "SELECT ward, COUNT(*) AS n FROM patients JOIN wards USING (ward) WHERE age > ? GROUP BY ward",
        "SELECT * FROM wards WHERE beds > ?",
        "SELECT COUNT(*) FROM patients WHERE ward IN (SELECT ward FROM wards WHERE beds > ?)",
        "SELECT COUNT(*) FROM patients WHERE age > (SELECT AVG(age) FROM patients WHERE age < ?)",
    ]
    stopping = threading.Thread(target=stop)
    stopping.start()
    stopped = []
    try:
        for number in range(48):
            try:
                db.execute(asked[number % 4], (number,), epsilon=0.5)
            except dpsql.OperationalError as error:
                stopped.append((error.code, error.title))
    finally:
        done.set()
        stopping.join()
    assert set(stopped) == {("D601", "the query was interrupted")}
    for number in range(48):
        db.execute(asked[number % 4], (number,), epsilon=0.5)
    assert all(each.answered for each in db.purchases)


def test_another_thread_closes(built: Path, ledger: Path) -> None:
    """Who is being answered is answered or interrupted; who comes later is told; nothing else goes wrong."""
    for _ in range(5):
        db = dpsql.connect(built, ledger=ledger)
        answered = threading.Event()

        def ask(db: dpsql.Connection = db, answered: threading.Event = answered) -> None:
            while True:
                try:
                    db.execute(WARDS)
                except dpsql.OperationalError as error:
                    if error.code != "D601":
                        raise
                else:
                    answered.set()

        def look(db: dpsql.Connection = db) -> None:
            while True:
                db.interrupt()
                assert db.budget.spent == 0

        def close(db: dpsql.Connection = db, answered: threading.Event = answered) -> None:
            answered.wait()
            db.close()

        *others, closed = together([ask, ask, look, close])
        assert closed is None
        assert {each.code for each in others} == {"D001"}, others
