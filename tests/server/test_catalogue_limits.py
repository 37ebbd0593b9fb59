"""A statement of the catalogue ends within its limits, in a process of its own, and holds nobody else up."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from client_statements import RELATIONS, catalogue
from drivers.endless import ENDLESS

from dpsql.server.catalogue import Catalogue, CatalogueError, Engines
from dpsql.server.catalogue.contents import World
from dpsql.server.catalogue.engine import SECONDS, SealedEngine

IN_ONE_CALL = "SELECT length(repeat('x', 4000000000))"


def test_a_statement_ends_within_its_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpsql.server.catalogue.engine.SECONDS", 0.2)
    made = catalogue()
    product = ", ".join(f"pg_type t{number}" for number in range(6))
    with pytest.raises(CatalogueError, match=r"seconds|[Mm]emory"):
        made.answer(f"SELECT COUNT(*) FROM {product} WHERE t1.typname < t2.typname")
    monkeypatch.setattr("dpsql.server.catalogue.engine.SECONDS", 10)
    with pytest.raises(CatalogueError, match="more than 50,000 rows"):
        made.answer("SELECT t0.oid FROM pg_type t0, pg_type t1, pg_type t2")
    assert made.answer("SELECT 1").rows == ((1,),)
    deep = "SELECT " + "(" * 500 + "1" + ")" * 500 + " FROM pg_class"
    assert not made.asks(deep)
    assert not made.asks("SELECT 1 FROM pg_class WHERE " + " OR ".join(["oid = 1"] * 5000))


def test_memory_is_the_process_s_and_not_the_server_s() -> None:
    """Past the translation: a call that DuckDB's own limit does not count, and that no interrupt ends."""
    engine = SealedEngine(World("clinic", "ana", ()))
    before = _peak()
    with pytest.raises(CatalogueError, match=r"takes more than 200 MB|longer than"):
        engine.run(IN_ONE_CALL, ())
    assert not engine.usable, "it was killed"
    assert _peak() - before < 50_000, "kB; in this process the call would take 4 GB"
    rows = "SELECT repeat('x', 20000) FROM range(20000)"
    engine = SealedEngine(World("clinic", "ana", ()))
    with pytest.raises(CatalogueError, match="takes more than 200 MB"):
        engine.run(rows, ())
    assert not engine.usable
    assert _peak() - before < 250_000


def _peak() -> int:
    status = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


def test_one_analyst_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """ana's statement runs until bob was answered three times, however slow the machine is."""
    monkeypatch.setattr("dpsql.server.catalogue.engine.SECONDS", 120)
    engines = Engines(2)
    ana, bob = World("clinic", "ana", ()), Catalogue("clinic", "bob", RELATIONS, engines)
    failed: list[CatalogueError] = []

    def ask() -> None:
        with pytest.raises(CatalogueError) as refused:
            engines.run(ana, ENDLESS, ())
        failed.append(refused.value)

    asking = threading.Thread(target=ask)
    asking.start()
    while not engines._running:
        time.sleep(0.01)
    for _ in range(3):
        assert bob.answer("SELECT COUNT(*) FROM pg_class WHERE relname = 'patients'").rows == ((1,),)
    assert asking.is_alive()
    assert not failed
    engines.close()
    asking.join(60)
    assert len(failed) == 1, "closing ends what runs"


def test_processes_are_bounded_and_kept_for_who_asked_last() -> None:
    engines = Engines(2)
    worlds = [World("clinic", name, ()) for name in ("ana", "bob", "eve")]
    for world in (*worlds, *worlds):
        assert engines.run(world, "SELECT 1 AS x", ()) == ([("x", "INTEGER")], [(1,)])
        assert len(engines._idle) <= 2
    kept = engines._idle[-1]
    engines.run(worlds[2], "SELECT 1", ())
    assert engines._idle[-1] is kept
    engines.close()
    assert not kept.usable
    assert SECONDS <= 2, "who waits for a process waits for one statement at most"
