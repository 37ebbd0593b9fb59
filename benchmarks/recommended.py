"""Small data sets with a known error of the recommended mechanism, and dpsql's error on them.

Each case is a table of values, one query under pure differential privacy at epsilon 1, and the error in a
simulation of the recommended mechanism (one seed, so only the first digit is significant). dpsql's error is
the mean over a few seeds of the data; the answers pass through the engine and the finish.

    rms    root mean square error                       rank       |share of the values below - quantile|
    mean   mean absolute error over the groups          relative   mean |error| / truth
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray

import dpsql
from benchmarks.released import Drawn
from benchmarks.timing import Setting, Table, Verdict
from dpsql.ir.column import Value

Floats = NDArray[np.float64]
Columns = dict[str, NDArray[np.float64] | NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class Case:
    """One table t(id, ...), one query, one figure."""

    name: str
    data: Callable[[np.random.Generator], Columns]
    ranges: str  # of the policy
    sql: str
    metric: str
    figure: float
    targets: tuple[float, ...] = ()
    rows_per_unit: int | None = None
    accountant: str = "pure"
    plain: str = ""  # what DuckDB is asked, where it does not know ours


def _ages(rows: int) -> Callable[[np.random.Generator], Columns]:
    return lambda random: {"x": np.clip(random.normal(42, 17, rows), 0, 120)}


def _pairs(rows: int) -> Callable[[np.random.Generator], Columns]:
    def made(random: np.random.Generator) -> Columns:
        x = random.normal(0, 1, rows)
        y = 0.675 * x + math.sqrt(1 - 0.675**2) * random.normal(0, 1, rows)
        return {"x": np.clip(x / 6 + 0.5, 0, 1), "y": np.clip(y / 6 + 0.5, 0, 1)}

    return made


def _normal(rows: int) -> Callable[[np.random.Generator], Columns]:
    return lambda random: {"x": np.clip(random.normal(500, 100, rows), 0, 1000)}


def _lognormal(rows: int) -> Callable[[np.random.Generator], Columns]:
    return lambda random: {"x": np.clip(random.lognormal(8, 1.5, rows), 1, 1e6)}


def _unbounded(rows: int) -> Callable[[np.random.Generator], Columns]:
    return lambda random: {"x": random.lognormal(3, 1, rows)}


def _pareto(rows: int) -> Callable[[np.random.Generator], Columns]:
    return lambda random: {"x": 1 + random.pareto(1.5, rows)}


def _values(people: int, values: int, each: int) -> Callable[[np.random.Generator], Columns]:
    """Every person has ``each`` rows, of values as words are frequent."""

    def made(random: np.random.Generator) -> Columns:
        weights = 1 / np.arange(1, values + 1)
        drawn = random.choice(values, people * each, p=weights / weights.sum())
        return {"id": np.repeat(np.arange(people), each), "x": drawn.astype(np.int64)}

    return made


_TENTHS = tuple(i / 10 for i in range(1, 10))
_DECILES = f"QUANTILE_CONT(x, [{', '.join(str(each) for each in _TENTHS)}])"

CASES = (
    Case("AVG of ages, 500", _ages(500), "x = { range = [0, 120] }", "AVG(x)", "rms", 0.252),
    Case(
        "AVG of beta(1, 19), 300",
        lambda random: {"x": random.beta(1, 19, 300)},
        "x = { range = [0, 1] }",
        "AVG(x)",
        "rms",
        0.00451,
    ),
    Case("VAR of ages, 500", _ages(500), "x = { range = [0, 120] }", "VAR_POP(x)", "rms", 0.00137 * 120**2),
    Case(
        "VAR of a narrow column, 2,000",
        lambda random: {"x": np.clip(random.normal(0.5, 0.02, 2_000), 0, 1)},
        "x = { range = [0, 1] }",
        "VAR_POP(x)",
        "rms",
        0.00032,
    ),
    Case(
        "CORR of .675, 1,000",
        _pairs(1_000),
        "x = { range = [0, 1] }\ny = { range = [0, 1] }",
        "CORR(x, y)",
        "rms",
        0.0444,
    ),
    Case(
        "CORR of .675, 10,000",
        _pairs(10_000),
        "x = { range = [0, 1] }\ny = { range = [0, 1] }",
        "CORR(x, y)",
        "rms",
        0.0043,
    ),
    Case("MEDIAN, 1,000", _normal(1_000), "x = { range = [0, 1000] }", "MEDIAN(x)", "rank", 0.0010, (0.5,)),
    Case("9 deciles, 1,000", _normal(1_000), "x = { range = [0, 1000] }", _DECILES, "rank", 0.0054, _TENTHS),
    Case(
        "9 deciles, lognormal",
        _lognormal(1_000),
        "x = { range = [0, 1000000] }",
        _DECILES,
        "rank",
        0.0057,
        _TENTHS,
    ),
    Case(
        "SUM without a bound, lognormal, 1,000",
        _unbounded(1_000),
        "",
        "SUM(x)",
        "relative",
        0.034,
    ),
    Case(
        "SUM without a bound, lognormal, 20,000",
        _unbounded(20_000),
        "",
        "SUM(x)",
        "relative",
        0.0039,
    ),
    Case("SUM without a bound, pareto, 20,000", _pareto(20_000), "", "SUM(x)", "relative", 0.067),
    Case(
        "COUNT(DISTINCT x), 2,000 people",
        _values(2_000, 4_000, 5),
        "",
        "COUNT(DISTINCT x)",
        "mean",
        8.0,
        rows_per_unit=5,
    ),
    Case(
        "SKEWNESS by sampling, 20,000",
        lambda random: {"x": random.gamma(4, 1, 20_000)},
        "x = { range = [0, 100] }",
        "DP_SAMPLE(skewness(x), -5, 5)",
        "mean",
        0.049,
        plain="skewness(x)",
    ),
)


def recommended(setting: Setting) -> tuple[Table, list[Verdict]]:
    """Return the figure of every case, dpsql's error, and their ratio."""
    table = Table(
        "beside the recommended mechanism, epsilon 1", ("case", "metric", "figure", "ours", "ratio")
    )
    verdicts = []
    for number, case in enumerate(CASES):
        seeds = 1 if setting.quick else 8
        errors = [
            _error(case, seed, setting.folder / f"case-{number}-{seed}.duckdb", setting)
            for seed in range(seeds)
        ]
        ours = math.sqrt(np.mean(np.square(errors))) if case.metric == "rms" else float(np.mean(errors))
        table.rows.append((case.name, case.metric, case.figure, ours, ours / case.figure))
        verdicts.append(Verdict(f"{case.name}: error / recommended", ours / case.figure, 1.25))
    return table, verdicts


def _error(case: Case, seed: int, path: Path, setting: Setting) -> float:
    columns = case.data(np.random.default_rng(seed))
    rows = len(columns["x"])
    columns = {"id": np.arange(rows), **columns}
    with duckdb.connect(str(path)) as connection:
        key = "" if case.rows_per_unit else " PRIMARY KEY"
        kinds = ", ".join(
            f"{name} {'BIGINT' if values.dtype.kind == 'i' else 'DOUBLE'}{key if name == 'id' else ''}"
            for name, values in columns.items()
        )
        connection.execute(f"CREATE TABLE t ({kinds})")
        connection.execute("INSERT INTO t SELECT * FROM columns")
        connection.execute("CREATE TABLE people (id BIGINT PRIMARY KEY)")
        connection.execute("INSERT INTO people SELECT DISTINCT id FROM t")
        truth = connection.execute(f"SELECT {case.plain or case.sql} FROM t").fetchall()[0][0]
    policy = path.with_suffix(".toml")
    many = f'unit = {{ column = "id" }}\nrows_per_unit = {case.rows_per_unit}\n' if case.rows_per_unit else ""
    whose = "people" if case.rows_per_unit else "t"
    policy.write_text(
        f'[budget]\nepsilon = 100000.0\ndelta = 0\naccountant = "{case.accountant}"\n'
        "[query]\nepsilon = 1.0\nmax_epsilon = 10.0\n"
        f'[unit]\nname = "person"\ntable = "{whose}"\nkey = "id"\n'
        f"[tables.t]\n{many}[tables.t.columns]\n{case.ranges or 'x = {}'}\n"
        + ("[tables.people]\n" if case.rows_per_unit else "")
    )
    sql = f"SELECT {case.sql} FROM t"
    if case.ranges or case.rows_per_unit:
        with dpsql.connect(path, policy, path.with_suffix(".ledger")) as db:
            answers = Drawn(db, sql, 1.0).answers(5 if setting.quick else 100)
    else:  # each finds the range anew, with a ledger of its own
        answers = [_anew(path, policy, sql, number) for number in range(2 if setting.quick else 25)]
    return _metric(case, answers, truth, np.sort(columns["x"]))


def _anew(path: Path, policy: Path, sql: str, number: int) -> tuple[Value, ...]:
    with dpsql.connect(path, policy, path.with_suffix(f".{number}.ledger")) as db:
        return tuple(db.execute(sql, epsilon=1.0).rows[0])


def _metric(case: Case, answers: list[tuple[Value, ...]], truth: object, values: Floats) -> float:
    given = np.array(answers, dtype=np.float64)
    if case.metric == "rank":
        below, upto = (np.searchsorted(values, given, side) / len(values) for side in ("left", "right"))
        targets = np.array(case.targets)
        return float(np.mean(np.maximum(0, np.maximum(below - targets, targets - upto))))
    errors = given[:, 0] - float(truth)  # type: ignore[arg-type]  # a number
    match case.metric:
        case "rms":
            return float(np.sqrt(np.mean(errors**2)))
        case "relative":
            return float(np.mean(np.abs(errors)) / abs(float(truth)))  # type: ignore[arg-type]  # a number
        case _:
            return float(np.mean(np.abs(errors)))
