"""The fixture files: enough cases, no two alike, and every accepted one a query that DuckDB runs."""

from __future__ import annotations

from collections import Counter

import duckdb
import pytest
import sqlglot
from cases import OF_QUERIES, WORLDS, Case, all_cases, files, script
from sqlglot import exp

from dpsql.engines.duckdb import SIMPLIFYING
from dpsql.errors import CODES

CASES = all_cases()
ACCEPTED = [case for case in CASES if case.outcome == "accepted"]
REFUSED = [case for case in CASES if case.outcome == "refused"]


def test_every_file_holds_cases_with_names_of_their_own() -> None:
    assert {case.file for case in CASES} == set(files())
    assert [name for name, count in Counter(case.id for case in CASES).items() if count > 1] == []
    assert [case.id for case in CASES if not case.sql.strip()] == []


def test_there_are_enough() -> None:
    folders = Counter(case.file.parent.name for case in ACCEPTED)
    assert len(ACCEPTED) >= 200
    assert len(REFUSED) >= 110
    assert {folder: count for folder, count in folders.items() if count < 8} == {}


def test_refused_cases_lie_in_their_folder_and_accepted_ones_do_not() -> None:
    assert {case.file.parent.name for case in REFUSED} == {"refused", "attacks"}
    assert "refused" not in {case.file.parent.name for case in ACCEPTED}


def test_every_code_that_a_query_can_meet_is_refused_three_times() -> None:
    met = Counter(case.code for case in REFUSED)
    assert set(met) <= set(CODES)
    assert [code for code in OF_QUERIES if met[code] < 3] == []


def test_positions_point_into_their_queries() -> None:
    for case in REFUSED:
        if case.position is not None:
            line, column = case.position
            assert 1 <= column <= len(case.sql.split("\n")[line - 1]) + 1, case.id


def test_no_two_cases_differ_in_constants_alone() -> None:
    seen: dict[tuple[str, str], str] = {}
    alike = []
    for case in CASES:
        shape = (case.options.get("policy", ""), _without_constants(case))
        if shape in seen:
            alike.append((seen[shape], case.id))
        seen[shape] = case.id
    assert alike == []


def _without_constants(case: Case) -> str:
    try:
        trees = sqlglot.parse(case.sql, dialect="duckdb")
    except (sqlglot.errors.SqlglotError, RecursionError):
        return case.sql
    if not any(isinstance(tree, exp.Query) for tree in trees):
        return case.sql
    for tree in trees:
        for literal in [] if tree is None else list(tree.find_all(exp.Literal)):
            literal.replace(exp.Placeholder())
    try:
        return "; ".join("" if tree is None else tree.sql("duckdb", comments=False) for tree in trees)
    except RecursionError:
        return case.sql


@pytest.mark.parametrize("world", WORLDS)
def test_the_worlds_can_be_built(world: str) -> None:
    with duckdb.connect() as database:
        database.execute(script(world))


def test_accepted_queries_run_in_plain_duckdb() -> None:
    with duckdb.connect() as database:
        database.execute(f"SET disabled_optimizers = '{SIMPLIFYING}'")  # which fails on some outer joins
        database.execute(script("calm"))
        for case in ACCEPTED:
            try:
                database.execute(case.plain).fetchall()
            except duckdb.Error as error:
                pytest.fail(f"{case.id}: {error}")
