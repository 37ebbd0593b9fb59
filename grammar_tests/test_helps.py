"""A refusal's help, done as it says with the query's own columns, is answered and means what was asked.

    SELECT AVG(score) FROM patients              D301, help: bound it: AVG(x CLAMPED BETWEEN 0 AND 500)
    SELECT AVG(score CLAMPED BETWEEN -10 AND 10) FROM patients

The limits are the narrowest of a few that leave plain DuckDB's answer as it is: without noise, ours to the
query that the help makes is then DuckDB's to the query that was refused.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

import duckdb
import pytest
from cases import Case, all_cases
from worlds import Worlds

import dpsql
from dpsql.audit import plan_of
from dpsql.audit.oracles import coarseness, meaning, widest_bin, without_noise
from dpsql.parse.other_aggregates import INSTEAD

REFUSED = [
    case
    for case in all_cases()
    if case.code in ("D301", "D302", "D305") and "OPTIONS" not in case.sql
    if "DP_LINEAR" not in case.sql  # DuckDB has nothing to compare it with
]
LIMITS = (1, 10, 1_200, 100_000, 200_000_000)
DEAR = 1_000.0
"""A price at which an extreme has no rows beyond it."""

_CLAMPED = re.compile(r" CLAMPED BETWEEN (\S+) AND ([\d.]+)")
_AGGREGATE = re.compile(
    r"\b(SUM|AVG|MIN|MAX|MEDIAN|STDDEV|CORR|REGR_SLOPE|VAR_POP|QUANTILE_CONT)\(", re.IGNORECASE
)
_SAID = re.compile(r"OPTIONS\(.*?\)")
_FORM = re.compile(r"(?:bound it|clamp it|clamp the value)[\w ]*: (.*?)(?:, or let .*)?$")


def ids(case: Case) -> str:
    return case.id


def parts(sql: str, start: int) -> list[tuple[int, int]]:
    """The arguments of a call whose parenthesis opens before this place."""
    depth, found, at = 0, [], start
    while depth >= 0:
        if depth == 0 and sql[at] in ",)":
            found.append((start, at))
            start = at + 1
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(sql[at], 0)
        at += 1
    return found


def argument(sql: str, at: int) -> tuple[int, int]:
    """The argument of the innermost aggregate that holds this place."""
    calls = [(call.start(), parts(sql, call.end())) for call in _AGGREGATE.finditer(sql)]
    *_, held = [each for first, each in calls if first <= at < each[-1][1]]
    return next(((start, end) for start, end in held if start <= at < end), held[0])


def form_of(said: str) -> str | None:
    """What a help writes in the place of an aggregate's argument x; None where it writes nothing."""
    if (found := _FORM.search(said)) is None:
        return None
    call = _AGGREGATE.match(found[1])
    listed = parts(found[1], call.end()) if call else [(0, len(found[1]))]
    return next(
        found[1][start:end].strip() for start, end in listed if re.search(r"\bx\b", found[1][start:end])
    )


def bounded(sql: str, at: int, form: str, limit: int) -> str:
    """The query with an argument in the form that a help says, and limits of one's own."""
    start, end = argument(sql, at)
    form = re.sub(r"\b500\b", str(limit), re.sub(r"\b0\b", str(-limit), form))
    inside = re.sub(r"\bx\b", lambda _: sql[start:end].strip(), form)
    return f"{sql[:start]}{inside}{sql[end:]}"


def plainly(sql: str) -> str:
    """The query as plain DuckDB reads it."""
    sql = _SAID.sub("", sql)
    while clamp := _CLAMPED.search(sql):
        start, end = argument(sql, clamp.start() - 1)
        value = sql[start : clamp.start()].strip()
        held = f"CASE WHEN ({value}) IS NOT NULL THEN LEAST(GREATEST({value}, {clamp[1]}), {clamp[2]}) END"
        sql = f"{sql[:start]}{held}{sql[end:]}"
    return sql


def helped(db: dpsql.Connection, sql: str, limit: int) -> str | None:
    """The query as its helps want it, until there is none any more.

    None where a help is no form to write but a thing to know.
    """
    for _ in range(5):
        try:
            db.explain(sql)
        except dpsql.Error as refused:
            error = refused
        else:
            return sql
        if said := _SAID.search(error.help):
            sql = sql.replace("SELECT", f"SELECT {said[0]}", 1)
        elif (form := form_of(error.help)) is not None:
            sql = bounded(sql, error.start or 0, form, limit)
        else:
            return None
    pytest.fail(f"still refused: {sql}")


def answered(worlds: Worlds, sql: str, most: float = 1e10) -> list[tuple[object, ...]] | None:
    """What plain DuckDB answers, in one order; nothing where it fails, or a number is beyond all limits."""
    try:
        rows = sorted(worlds.plain.execute(sql).fetchall(), key=repr)
    except duckdb.Error:
        return None
    numbers = [value for row in rows for value in row if isinstance(value, int | float | Decimal)]
    return rows if all(abs(number) < most for number in numbers) else None


def compared(case: Case, worlds: Worlds) -> str:
    """Do what the help says and hold it against plain DuckDB; tells with what it was compared."""
    db = worlds.connections["calm", case.policy.name]
    found = helped(db, case.sql, LIMITS[-1])
    if found is None:
        return "no form"
    asked, expected = answered(worlds, _SAID.sub("", case.sql)), None
    for limit in LIMITS:
        found = helped(db, case.sql, limit)
        assert found is not None
        expected = answered(worlds, plainly(found))
        if asked is not None and expected == asked:
            break
    answer, plan = without_noise(db, found, DEAR), plan_of(db._open(), found, DEAR)
    assert asked is None or expected == asked, f"the help asks something else: {found}"
    if expected is None or (None,) in expected:
        return f"DuckDB fails: {plainly(found)}"
    assert meaning(answer, expected, max(coarseness(plan) * 300, widest_bin(plan)), True) == []
    return "clamped" if asked is None else "what was asked"


@pytest.mark.parametrize("case", REFUSED, ids=ids)
def test_what_a_help_says_means_what_was_asked(case: Case, worlds: Worlds) -> None:
    """D301 said LEAST(GREATEST(x, 0), 500), which makes 0 of NULL: an average of .341 came out as .023."""
    compared(case, worlds)


def test_most_helps_are_compared_with_what_was_asked(worlds: Worlds) -> None:
    """Of every third; where DuckDB fails or gives no finite number, with the clamped query, or none."""
    found = [compared(case, worlds) for case in REFUSED[::3]]
    assert found.count("what was asked") >= 0.5 * len(found)
    assert sum(each in ("what was asked", "clamped") for each in found) >= 0.8 * len(found)


WRITTEN = sorted(
    name
    for name, said in INSTEAD.items()
    if said.startswith("write ") and name not in ("count_star", "decimal_average")  # of no numbers of ours
)
ARGUMENTS = {"wavg": "income, age", "weighted_avg": "income, age", "reservoir_quantile": "income, 0.9"}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_instead_of_an_aggregate_is_that_aggregate(name: str, worlds: Worlds) -> None:
    """Weights of rows without a value were counted; a standard error was a sample's, as DuckDB's is not."""
    db = worlds.connections["calm", "world.toml"]
    plain = f"{name}({ARGUMENTS.get(name, 'income')})"
    said = re.split(r": |; ", INSTEAD[name].removeprefix("write "))[0]
    for value, weight in (("NULLIF(height, 170)", "age"), ("age", "NULLIF(height, 170)"), ("age", "age")):
        asked = re.sub(r"\bage\b", "w", re.sub(r"\bincome\b", "x", plain))
        ours, theirs = (re.sub(r"\bw\b", weight, re.sub(r"\bx\b", value, each)) for each in (said, asked))
        expected = answered(worlds, f"SELECT {theirs} FROM patients", math.inf)
        assert expected is not None
        (answer,) = without_noise(db, f"SELECT {ours} AS a FROM patients WHERE age > 0", DEAR)[0]
        assert answer == pytest.approx(float(str(expected[0][0])), rel=1e-2)


PLACES = [case for case in all_cases() if case.code == "D254"]
_PLACE = re.compile(r"(?:parts|0\.9) is (.*?)(?:, the lowest (.*))?$")
_WINDOW = re.compile(r"(NTILE\(\d+\)|PERCENT_RANK\(\)|CUME_DIST\(\)) OVER \(ORDER BY [^()]*\)")


def test_a_place_among_all_rows_is_said_with_quantiles(worlds: Worlds) -> None:
    """The conditions have the query's own columns and rows, are answered, and hold for about as many rows.

    Where values tie, NTILE cuts through them and a quantile does not: within a fifth of all rows.
    """
    db, tried = worlds.connections["calm", "world.toml"], 0
    for case in PLACES:
        with pytest.raises(dpsql.Error) as refused:
            db.explain(case.sql)
        if (said := _PLACE.search(refused.value.help)) is None:
            continue
        rows = re.search(r"QUANTILE_CONT\(.*?, [\d.]+\) (.*)\)$", said[1])
        window = _WINDOW.search(case.sql)
        assert rows is not None
        assert window is not None
        for condition in filter(None, said.groups()):
            text = f"SELECT COUNT(*) AS n {rows[1]}"
            sql = f"{text} {'AND' if ' WHERE ' in rows[1] else 'WHERE'} {condition}"
            db.explain(sql)
            plain = answered(worlds, sql)
            place = "place > 0.9" if "NTILE" not in window[0] else "place = 1" if "<=" in condition else ""
            place = place or f"place = {window[0].split('(')[1].split(')')[0]}"
            ranked = f"SELECT COUNT(*) FROM (SELECT {window[0].replace(' DESC', '')} AS place {rows[1]})"
            if " DESC" in window[0] and "NTILE" not in window[0]:
                ranked = f"SELECT COUNT(*) FROM (SELECT {window[0]} AS place {rows[1]})"
            asked, whole = answered(worlds, f"{ranked} WHERE {place}"), answered(worlds, text)
            assert plain is not None
            assert asked is not None
            assert whole is not None
            assert float(str(plain[0][0])) == pytest.approx(
                float(str(asked[0][0])), abs=0.2 * float(str(whole[0][0]))
            ), sql
            tried += 1
    assert tried >= 8
