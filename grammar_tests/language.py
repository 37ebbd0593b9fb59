"""The language page: dpsql/docs/language.md, written from the shelves, the lists and the fixtures.

    python grammar_tests/language.py --write

It stands here, beside the fixtures, because every example on the page is one: judged by the oracles if it is
answered, and shown with the engine's own words if it is refused. A test compares the page with ``page()``.
"""

from __future__ import annotations

import sys
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import duckdb
from cases import HERE, Case, cases, script
from language_chapters import CHAPTERS, REFUSED, Chapter

import dpsql
from dpsql import aggregates, functions
from dpsql.errors import CODES
from dpsql.functions.core.windows import windows
from dpsql.parse.options_clause import KNOWN
from dpsql.parse.vocabulary import FUNCTIONS
from dpsql.shelf import modules

PAGE = HERE.parent / "dpsql" / "docs" / "language.md"

INTRODUCTION = """# The language

<!-- Written by `python grammar_tests/language.py --write`; a test compares the two. -->

Every example here is run by the tests of the language, over [these
tables](../../grammar_tests/schema.sql) with [this policy](../../grammar_tests/world.toml): `patients`
are the units, `visits`, `treatments` and others are theirs; `wards`, `places`, `tariffs` and others are
public.

The release point decides which SQL is allowed where. **Below the release**, each row belongs to a unit:
only the clauses and functions of closed lists are allowed, and each row keeps its unit. **The release** is
the aggregate that drops the unit: it is clipped, noised and paid for. **Above it**, released numbers belong
to no unit: there, and over public tables, all of DuckDB's SQL is free. What is not on a list is refused,
before a row is read and at no price, with a code, the reason and a query that would be answered.
"""

AGGREGATES = {
    "count": ("COUNT(*), COUNT(x)", "may come out negative: write `GREATEST(COUNT(*), 0)`"),
    "count_units": ("COUNT(DISTINCT unit)", "the number of units, each once in a group"),
    "count_distinct": (
        "COUNT(DISTINCT x)",
        "each person stands for as many values as it may have rows, that no other has claimed "
        "(`max_values_contributed`), "
        "or for what it can have; `APPROX_COUNT_DISTINCT(x)` is the same",
    ),
    "sum": ("SUM(x)", "`x` needs a finite range, or one is found privately; of nothing it is 0"),
    "avg": ("AVG(x)", "as SUM; a noisy sum over a noisy count, for one price"),
    "var_pop": ("VAR_POP(x)", "as AVG; with the mean, the sum and the count of `x` for one price"),
    "var_samp": ("VAR_SAMP(x), VARIANCE(x)", "over n - 1; NULL below two rows"),
    "stddev_pop": ("STDDEV_POP(x)", "the root of the variance"),
    "stddev_samp": ("STDDEV_SAMP(x), STDDEV(x)", "the root of the variance over n - 1"),
    "covar_pop": ("COVAR_POP(y, x)", "over rows that have both; one price for all aggregates of a pair"),
    "covar_samp": ("COVAR_SAMP(y, x)", "over n - 1"),
    "corr": ("CORR(y, x)", "from -1 to 1; NULL where one of the two does not vary, after noise"),
    "regr_slope": ("REGR_SLOPE(y, x)", "of the line of least squares"),
    "regr_intercept": ("REGR_INTERCEPT(y, x)", "where it crosses `x = 0`"),
    "regr_r2": ("REGR_R2(y, x)", "the square of the correlation"),
    "regr_count": ("REGR_COUNT(y, x)", "rows that have both"),
    "regr_avgx": ("REGR_AVGX(y, x)", "the mean of `x` over them"),
    "regr_avgy": ("REGR_AVGY(y, x)", "the mean of `y` over them"),
    "regr_sxx": ("REGR_SXX(y, x)", "n times the variance of `x`"),
    "regr_syy": ("REGR_SYY(y, x)", "n times the variance of `y`"),
    "regr_sxy": ("REGR_SXY(y, x)", "n times the covariance"),
    "min": (
        "MIN(x)",
        "as a release a value with a few rows below it, 12 to 22 at epsilon 1: see below; of what the keys "
        "of a group determine, it is exact and free",
    ),
    "max": ("MAX(x)", "the same from above"),
    "any_value": (
        "ANY_VALUE(x), ANY_VALUE(x ORDER BY y)",
        "a value that is not NULL; where nothing else decides, the least one, here and in the rows below",
    ),
    "arbitrary": ("ARBITRARY(x), ARBITRARY(x ORDER BY y)", "as FIRST, also without an order"),
    "arg_max": ("ARG_MAX(x, y), MAX_BY", "the `x` of the row with the greatest `y`; both are not NULL"),
    "arg_max_null": ("ARG_MAX_NULL(x, y)", "the same, where `x` may be NULL"),
    "arg_max_nulls_last": ("ARG_MAX_NULLS_LAST(x, y)", "the same, where `y` may be NULL in all rows"),
    "arg_min": ("ARG_MIN(x, y), MIN_BY", "the `x` of the row with the least `y`"),
    "arg_min_null": ("ARG_MIN_NULL(x, y)", "the same, where `x` may be NULL"),
    "arg_min_nulls_last": ("ARG_MIN_NULLS_LAST(x, y)", "the same, where `y` may be NULL in all rows"),
    "first": ("FIRST(x ORDER BY y)", "NULL too; of rows that tie the least value"),
    "string_agg": (
        "STRING_AGG(x, ',' ORDER BY y), GROUP_CONCAT, LISTAGG",
        "of up to 1,000 texts, cut at 65,536 characters",
    ),
    "last": ("LAST(x ORDER BY y)", "NULL too; of rows that tie the least value"),
    "bool_and": ("BOOL_AND(x)", "whether all are true"),
    "bool_or": ("BOOL_OR(x)", "whether any is true"),
    "median": ("MEDIAN(x)", "as a release of whole numbers one of them; of dates a TIMESTAMP"),
    "quantile_cont": (
        "QUANTILE_CONT(x, 0.9), PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)",
        "a list of places gives a list, for one price",
    ),
    "mode": (
        "MODE(x)",
        "as a release of values that are declared, or follow from declarations; of one person's the least "
        "that most rows have",
    ),
    "quantile_disc": (
        "QUANTILE_DISC(x, 0.9), QUANTILE, APPROX_QUANTILE, PERCENTILE_DISC",
        "in the type of `x`; as a release not always one of the values",
    ),
}
"""How an aggregate is written, and what one should know of it."""

WRITES = """CREATE TABLE t (li VARCHAR[], mp MAP(VARCHAR, INTEGER), st STRUCT(a INTEGER),
    i INTEGER, j INTEGER, l BIGINT, x DOUBLE, y DOUBLE, b BOOLEAN,
    s VARCHAR, c VARCHAR, d DATE, ts TIMESTAMP, tz TIMESTAMPTZ, u UUID, e ENUM ('a', 'b'))"""
"""Columns of the kinds that the shelf's examples call by these names."""


def page() -> str:
    return "\n".join([INTRODUCTION, *_body()]).rstrip() + "\n"


def _body() -> Iterator[str]:
    for chapter in CHAPTERS:
        yield from _chapter(chapter)
        match chapter.title:
            case "Aggregates":
                yield from _aggregates()
            case "Per-unit work":
                yield from _windows()
            case "Functions":
                yield from _functions()
            case "After the release":
                yield from _vocabulary()
            case "Statements and options":
                names = ", ".join(f"`{each}`" for each in KNOWN)
                yield f"The options are {names}: see [options](options.md).\n"
    yield from _refused()


def _chapter(chapter: Chapter) -> Iterator[str]:
    yield f"## {chapter.title}\n"
    yield f"{textwrap.fill(chapter.text, 116)}\n"
    for heading, examples in chapter.examples:
        yield f"{heading}\n"
        yield "```sql"
        for file, name in examples:
            yield case(file, name).sql.strip()
        yield "```\n"


def case(file: str, name: str) -> Case:
    """The case of this name in this file: the page shows nothing else."""
    return next(each for each in cases(HERE / file) if each.name == name)


# ---- tables --------------------------------------------------------------------------------------------


def _aggregates() -> Iterator[str]:
    yield "| aggregate | as a release | inside one person's rows | |"
    yield "|---|---|---|---|"
    for name, rule in sorted(aggregates.shelf().items(), key=lambda each: (not each[1].needs, each[0])):
        noised = "noised" if rule.needs else "no"
        written, note = AGGREGATES.get(name, (f"{name.upper()}(x)", _first_line(type(rule).__doc__)))
        yield f"| `{written}` | {noised} | exact | {note} |"
    yield ""


def _windows() -> Iterator[str]:
    names = ", ".join(f"`{name}`" for name in sorted(windows()))
    no_windows = {name for name, rule in aggregates.shelf().items() if rule.in_order or not rule.typed}
    plain = ", ".join(f"`{name}`" for name in sorted(aggregates.shelf().keys() - no_windows - {"dp_sample"}))
    yield f"Window functions over one person's rows: {names}; and the aggregates {plain}.\n"


def _functions() -> Iterator[str]:
    with duckdb.connect() as database:
        database.execute(WRITES)
        for family in modules(functions.__name__, functions.__path__):
            gives: dict[str, list[str]] = {}
            for each in getattr(family, "FUNCTIONS", ()):
                [(_, type_, *_)] = database.execute(f"DESCRIBE SELECT {each.example} FROM t").fetchall()
                gives.setdefault(type_, []).append(_code(each.example))
            if gives:
                yield f"**{_first_line(family.__doc__)}**\n"
                yield "| | gives |"
                yield "|---|---|"
                yield from (f"| {', '.join(calls)} | {type_} |" for type_, calls in gives.items())
                yield ""


def _first_line(doc: str | None) -> str:
    return (doc or "").split("\n")[0]


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def _vocabulary() -> Iterator[str]:
    yield "<details><summary>All functions that may be called there</summary>\n"
    yield " ".join(f"`{name}`" for name in sorted(FUNCTIONS)) + "\n"
    yield "</details>\n"


# ---- refusals ------------------------------------------------------------------------------------------


def _refused() -> Iterator[str]:
    yield "## What is refused, and what to write instead\n"
    yield "In the engine's own words, by code. [Why each is refused](refusals.md) is another page.\n"
    chosen = [case(file, name) for file, name in REFUSED]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        path = Path(folder) / "world.duckdb"
        with duckdb.connect(str(path)) as database:
            database.execute(script("empty"))
        connections: dict[Path, dpsql.Connection] = {}
        for policy in dict.fromkeys(each.policy for each in chosen):
            ledger = path.with_name(f"{policy.stem}.ledger")
            connections[policy] = opened.enter_context(dpsql.connect(path, policy, ledger))
        for code, meaning in CODES.items():
            mine = [each for each in chosen if each.code == code]
            if mine:
                yield f"### {code}: {meaning}\n"
            for each in mine:
                yield f"```text\n{_said(connections[each.policy], each)}\n```\n"
                if each.instead:
                    yield f"Answered instead:\n\n```sql\n{each.instead};\n```\n"
    shown = {each.code for each in chosen}
    assert {code for code in CODES if code[1] in "234"} <= shown, "a refused case for each code"
    yield "### Other codes\n"
    yield "| code | |"
    yield "|---|---|"
    for code, meaning in CODES.items():
        if code not in shown:
            yield f"| {code} | {meaning} |"


def _said(connection: dpsql.Connection, refused: Case) -> str:
    try:
        connection.explain(refused.sql)
    except dpsql.Error as error:
        return str(error)
    raise AssertionError(refused.id)


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        print(page(), end="")
