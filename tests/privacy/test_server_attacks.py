"""The attacks of the fixtures over the wire: refused as in process, at the same places, on all data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import duckdb
import psycopg
import pytest
from cases import HERE, Case, all_cases, script
from drivers.conftest import Served

from dpsql.server.catalogue.routing import asked_of
from dpsql.server.statements import Ask, Unknown, statement_of

ATTACKS = [
    case
    for case in all_cases()
    if case.outcome == "refused" and "attack" in case.options and "policy" not in case.options
]
OTHERWISE = {
    "D102": "statements in one text are asked one after the other, each at its own price",
    "D106": "a text of the simple protocol has no values",
}
"""Codes that a client meets otherwise over the wire."""


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[psycopg.Connection[Any]]]:
    """A client at a full and at an empty world."""
    with ExitStack() as stack:
        made = []
        for world in ("world", "empty"):
            database = tmp_path_factory.mktemp(world) / "clinic.duckdb"
            with duckdb.connect(str(database)) as owner:
                owner.execute(script(world))
            database.with_suffix(".toml").write_text((HERE / "world.toml").read_text(encoding="utf-8"))
            served = stack.enter_context(closing(Served(database, analysts=("ana",))))
            made.append(stack.enter_context(psycopg.connect(served.url(), autocommit=True)))
        yield made


def asked(client: psycopg.Connection[Any], case: Case) -> tuple[str, str | None, str | None]:
    with pytest.raises(psycopg.Error) as refused:
        client.execute(case.sql.encode())
    said = refused.value.diag
    return str(said.message_primary), said.statement_position, said.message_hint


@pytest.mark.parametrize("folder", sorted({case.file.stem for case in ATTACKS}))
def test_attacks_are_refused_over_the_wire_as_in_process(
    folder: str, clients: list[psycopg.Connection[Any]]
) -> None:
    before = [client.execute("SHOW dpsql.budget").fetchall() for client in clients]
    tried = 0
    for case in ATTACKS:
        if case.file.stem != folder or case.code in OTHERWISE:
            continue
        if asked_of(case.sql, "clinic", set()) is not None:
            continue  # the catalogue answers: tests/server/test_catalogue_privacy.py
        if not isinstance(statement_of(case.sql), Ask | Unknown):
            continue  # SET, RESET, BEGIN: taken, and they change nothing: tests/drivers/test_server_walls.py
        (message, place, hint), *others = (asked(client, case) for client in clients)
        assert others == [(message, place, hint)], case.id
        if case.sql.startswith("COPY"):  # the server's own refusal: it knows one kind of COPY
            assert message == "this COPY is not supported"
            continue
        assert message.startswith(f"[{case.code}] "), (case.id, message)
        if case.position is not None:
            line, column = case.position
            start = sum(len(each) + 1 for each in case.sql.split("\n")[: line - 1])
            assert place == str(start + column), case.id
        assert hint, case.id
        tried += 1
    assert tried
    assert [client.execute("SHOW dpsql.budget").fetchall() for client in clients] == before, "nothing is paid"


def test_there_are_many_attacks() -> None:
    assert len(ATTACKS) > 150
    assert {case.code for case in ATTACKS} - set(OTHERWISE)
