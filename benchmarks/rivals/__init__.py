"""How long does a whole private call take beside those of rivals, each of them beside plain DuckDB?

Eight questions about people, visits and orders, and three about a thousand rows. Each contestant takes turns
with plain DuckDB in a process of its own, and is told what the policy says: the ranges, how many rows of a
unit count, the public values. All ask at epsilon 1 and delta 1e-6. Ours is a whole call with its durable
debit, at a new price each time; what an engine finds out about a table, and OpenDP's frame, is there before
the first counted call.

    smartnoise   smartnoise-sql 1.0.10 on DuckDB 1.5
    qrlew        pyqrlew 0.9.27: SQL rewritten to SQL
    opendp       0.16, its Polars context

Rivals read the same rows in a file that all versions of DuckDB open, with DECIMAL as DOUBLE, which all can
read; the rows that they answer show whether they found all groups. A rival that does not install is named and
left out, as is a question that it cannot answer or that takes it more than a minute and a half. TPC-H has the
scale of --scale.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from benchmarks.data import people, tiny_tpch, tpch, visits
from benchmarks.rivals.asked import LINES, QUESTIONS, Question
from benchmarks.rivals.environment import NEEDED, LeftOut, answered
from benchmarks.rivals.picture import picture as picture
from benchmarks.speed import whole_calls
from benchmarks.timing import Report, Runs, Setting, Table, Verdict

EPSILON, DELTA = 1.0, 1e-6
REPETITIONS, SECONDS = 7, 45.0
_LOADING = 45.0
"""Seconds that a rival has for what is not timed: its imports, and a frame."""

FASTER = 5.0
READ = {"people", "visits", "customer", "orders", "lineitem"}


def run(setting: Setting) -> Report:
    rivals = () if setting.quick else tuple(NEEDED)
    times = Table(
        "whole calls, ms", ("question", "asked", "contestant", "plain beside it", "whole call", "rows")
    )
    beside = Table(
        "whole calls over plain DuckDB in the same process",
        ("question", "asked", "plain, ms", "ours, ms", "ours", *rivals, "fastest rival over ours"),
    )
    left_out = Table("left out", ("rival", "question", "why"))
    of_plain, tiny, faster = [], [], []
    all_ours = _ours(setting)
    for question in QUESTIONS:
        path, plain, ours = all_ours[question.name]
        theirs: dict[str, tuple[Runs, Runs, int | None]] = {"ours": (plain, ours, None)}
        for name in rivals:
            try:
                theirs[name] = _theirs(name, question, path, setting)
            except LeftOut as why:
                left_out.rows.append((name, question.name, str(why)))
        for name, called in theirs.items():
            times.rows.append((question.name, question.title, name, *called))
        ratios = {name: whole.median / other.median for name, (other, whole, _) in theirs.items()}
        fastest = min((theirs[name][1].median for name in rivals if name in theirs), default=None)
        lead = None if fastest is None else fastest / ours.median
        beside.rows.append(
            (
                *(question.name, question.title, plain.median, ours.median, ratios["ours"]),
                *(ratios.get(name) for name in rivals),
                lead,
            )
        )
        asked = f"{question.name}, {question.title}"
        if question.milliseconds is None:
            of_plain.append(Verdict(f"{asked}: ours over plain", ratios["ours"], question.of_plain))
        else:
            tiny.append(Verdict(f"{asked}: ours, ms", ours.median, question.milliseconds))
        if lead is not None:
            faster.append(Verdict(f"{asked}: fastest rival over ours", lead, FASTER, at_least=True))
    without = (left_out,) if left_out.rows else ()
    return Report((times, beside, *without), (*of_plain, *tiny, *faster))


def _ours(setting: Setting) -> dict[str, tuple[Path, Runs, Runs]]:
    """Return each question's database, plain DuckDB's times and ours."""
    rounds, warm = (2, 1) if setting.quick else (REPETITIONS, 3)
    found = {}
    for source in {each.source: None for each in QUESTIONS}:
        group, path = [each for each in QUESTIONS if each.source == source], _path(source, setting)
        calls = whole_calls(path, "zcdp", [each.sql for each in group], rounds, warm)
        for question, (plain, ours) in zip(group, calls, strict=True):
            found[question.name] = path, plain, ours
    return found


def _theirs(name: str, question: Question, path: Path, setting: Setting) -> tuple[Runs, Runs, int]:
    """Return plain DuckDB's times in the rival's process, the rival's, and how many rows it answers."""
    asked = (_readable(path), path.with_suffix(".zcdp.toml"), question.name, EPSILON, DELTA)
    (said,) = answered(name, "times", setting, *asked, REPETITIONS, SECONDS, seconds=SECONDS + _LOADING)
    return Runs(tuple(said["plain"])), Runs(tuple(said["theirs"])), said["rows"]


def _readable(path: Path) -> Path:
    """Return a copy that older versions of DuckDB open, with the view of lines if it has them."""
    copy = path.with_suffix(".rivals.duckdb")
    if copy.exists():
        return copy
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{path}' AS mine (READ_ONLY)")
        connection.execute(f"ATTACH '{copy}' AS theirs (STORAGE_VERSION 'v1.2.0')")
        connection.execute("USE theirs")
        tables = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'mine'"
        names = {str(row[0]) for row in connection.execute(tables).fetchall()}
        for name in sorted(names & READ):
            columns = connection.execute(f"DESCRIBE mine.{name}").fetchall()
            shown = ", ".join(
                f"CAST({column} AS DOUBLE) AS {column}" if type_.startswith("DECIMAL") else column
                for column, type_, *_ in columns
                if not column.endswith("_comment")
            )
            connection.execute(f"CREATE TABLE {name} AS SELECT {shown} FROM mine.{name}")
        if "lineitem" in names:
            connection.execute(f"CREATE VIEW lines AS {LINES}")
    return copy


def _path(source: str, setting: Setting) -> Path:
    match source, setting.quick:
        case "people", quick:
            return people(setting, 20_000 if quick else 1_000_000)
        case "visits", quick:
            return visits(setting, *((50_000, 2_000) if quick else (5_000_000, 200_000)))
        case "tpch", quick:
            return tiny_tpch(setting) if quick else tpch(setting)
        case "tiny people", _:
            return people(setting, 1_000)
        case _:
            return visits(setting, 1_000, 100)
