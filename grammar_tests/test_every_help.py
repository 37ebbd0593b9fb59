"""Every help that any fixture meets leads to a query, or stands below with the reason why there is none.

    SELECT * FROM wards NATURAL JOIN age_bands          D202, help: write CROSS JOIN, or JOIN ... ON
    -- instead: SELECT * FROM wards CROSS JOIN age_bands

Helps are of one template where they differ in names, numbers and quoted texts only. A template is tried
where one of its fixtures names what is answered instead (test_cases.py), or where its own words are done
as they say (test_helps.py, and below for "did you mean").
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace

import duckdb
import pytest
from cases import HERE, Case, all_cases
from test_helps import _PLACE, _SAID, PLACES, REFUSED, form_of
from worlds import Worlds

import dpsql
from dpsql.audit import plan_of
from dpsql.audit.oracles import coarseness, meaning, silent_rows, widest_bin

NOT_TO_BE_WRITTEN = {
    "check the spelling and the order of the clauses": "what is no SQL may have been meant as anything",
    "give one value for each question mark": "the values stand beside the text",
    "name what to select": "nothing was asked for",
    "write ? and give a value for each, in order; or give a mapping of names, in Python": "it is no text",
    "write a SELECT": "there is no statement",
    "write a SELECT; dpsql never changes the data": "the statement asks for no data",
}
"""Templates that no fixture can follow, and why."""

_LIST = re.compile(r"(the (?:tables|columns|fields)(?: here)? are|qualify it:|did you mean) [^;?]*")
_MEANT = re.compile(r"did you mean (.+?)\?")
_EXAMPLE = re.compile(r"(aggregate them: SELECT) [^,]*(?=, COUNT\(\*\) FROM)")
_OPERATOR = re.compile(r"<>|[<>]=?")
_WORD = re.compile(r"[\w.]+")

TABLES = tomllib.loads((HERE / "world.toml").read_text(encoding="utf-8"))["tables"]
NAMES = {name for table, entry in TABLES.items() for name in (table, *entry.get("columns", ()))}

ALL = [case for case in all_cases() if case.outcome == "refused"]
INSTEAD = [case for case in ALL if case.instead]


def template(said: str) -> str:
    """A help without the names, numbers and texts that are one query's own."""
    said = _EXAMPLE.sub(r"\1 _", _LIST.sub(r"\1 _", said))
    said = _OPERATOR.sub("=", re.sub(r"'[^']*'", "_", said))
    return re.sub(r"_(?:[ ,]*_)+", "_", _WORD.sub(lambda word: _blank(word[0]), said))


def _blank(word: str) -> str:
    name = word.rpartition(".")[2]
    return "_" if word[0].isdigit() or name in NAMES or name in _CALLED else word


_CALLED = {"AVG", "SUM", "MIN", "MAX", "COUNT", "MEDIAN", "CORR", "STDDEV_SAMP", "STRING_AGG", "ANY_VALUE"}


def refusal(case: Case, worlds: Worlds) -> dpsql.Error | None:
    try:
        worlds.connections["empty", case.policy.name].explain(case.sql, epsilon=case.epsilon)
    except dpsql.Error as error:
        return error
    return None


def said_of(case: Case, worlds: Worlds) -> str:
    """The help to a query that is refused."""
    error = refusal(case, worlds)
    assert error is not None, case.id
    return error.help


def done_elsewhere(case: Case, said: str) -> bool:
    """Whether test_helps.py, or ``test_what_was_meant``, does what this help says."""
    bounded = case in REFUSED and (_SAID.search(said) is not None or form_of(said) is not None)
    return bounded or (case in PLACES and _PLACE.search(said) is not None) or _MEANT.search(said) is not None


def test_every_help_is_followed_or_says_why_not(worlds: Worlds) -> None:
    """A help that nobody ever followed named LIMIT 100 for all rows, and an average for all others."""
    met: set[str] = set()
    tried: set[str] = set()
    for case in ALL:
        said = said_of(case, worlds)
        met.add(template(said))
        if case.instead or done_elsewhere(case, said):
            tried.add(template(said))
    left = sorted(met - tried - NOT_TO_BE_WRITTEN.keys())
    assert not left, "\n".join(left)
    assert NOT_TO_BE_WRITTEN.keys() <= met - tried, "a reason for a help that is followed, or gone"


def test_no_help_says_what_was_written(worlds: Worlds) -> None:
    """It said "did you mean cast?" of CAST, and named the engine's own count_star() as a column."""
    for case in ALL:
        error = refusal(case, worlds)
        assert error is not None
        meant = _MEANT.search(error.help)
        assert meant is None or meant[1].casefold() not in error.title.casefold().split()
        assert "count_star()" not in error.help


def as_meant(case: Case, worlds: Worlds) -> dpsql.Error | None:
    """What is said of the query with the names that its helps take for those meant, one after another."""
    sql, error = case.sql, refusal(case, worlds)
    while (
        error and (meant := _MEANT.search(error.help)) and error.start is not None and error.end is not None
    ):
        there = re.sub(r"[\w.]+", meant[1], sql[error.start : error.end], count=1)
        sql = f"{sql[: error.start]}{there}{sql[error.end :]}"
        other = refusal(replace(case, sql=sql), worlds)
        assert other is None or (other.code, other.start) != (error.code, error.start), f"{sql}: {other}"
        error = other
    return error


def test_what_was_meant(worlds: Worlds) -> None:
    """The name that a help takes for the one meant, written in its place, is there."""
    named = [case for case in ALL if _MEANT.search(said_of(case, worlds))]
    said = [as_meant(case, worlds) for case in named]
    assert [str(error) for error in said if error and error.code in ("D201", "D202", "D204")] == []
    assert len(said) >= 10


@pytest.mark.parametrize("case", INSTEAD, ids=lambda case: case.id)
def test_what_is_written_instead_means_what_it_says(case: Case, worlds: Worlds) -> None:
    """Where plain DuckDB knows its words: without noise ours is its answer."""
    assert case.instead is not None
    if re.search(r"EXPLAIN|MODE\(|LIMIT 1$| > \(SELECT MAX\(cost", case.instead):
        pytest.skip("no rows to compare, values that tie, or rows beyond an extreme, which lies in a bin")
    try:
        plain = worlds.plain.execute(case.instead).fetchall()
    except duckdb.Error:
        pytest.skip("in words of our own")
    session = worlds.connections["calm", case.policy.name]._open()
    plan = plan_of(session, case.instead, 1_000.0)
    ours = silent_rows(session, plan)
    assert meaning(ours, plain, max(coarseness(plan) * 300, widest_bin(plan)), True) == []
