"""What was measured, for people: dpsql/docs/measured.md, and the README's short table of it.

    python -m benchmarks NAME --save && python tests/measured_page.py --write

Every figure is computed from the saved results; a test compares both texts with them.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
README, PAGE = ROOT / "README.md", ROOT / "dpsql" / "docs" / "measured.md"
START = "<!-- Written by `python tests/measured_page.py --write`. -->\n"
END = "<!-- Here ends what is written. -->\n"

Rows = dict[str, str]
"""Questions and figures."""


# ---- reading results -----------------------------------------------------------------------------------


def saved(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())
    return found


def verdicts(name: str, *parts: str) -> list[float]:
    """The figures of those that speak of all these parts."""
    found = [each["value"] for each in saved(name)["verdicts"] if all(part in each["what"] for part in parts)]
    assert found, (name, parts)
    return found


def table(name: str, title: str) -> dict[str, Any]:
    (found,) = (each for each in saved(name)["tables"] if title in each["title"])
    return dict(found)


def cells(name: str, title: str, *query: str, column: str) -> list[float]:
    """A column of a table, of the rows whose first cell holds all these parts."""
    read = table(name, title)
    at = read["columns"].index(column)
    found = [row[at] for row in read["rows"] if all(part in row[0] for part in query)]
    assert found, (name, title, query)
    return found


# ---- figures -------------------------------------------------------------------------------------------


def short(value: float) -> str:
    if value >= 100:
        return f"{float(f'{value:.2g}'):,.0f}"
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}"


def times(values: list[float], digits: str = "") -> str:
    """1.9x, or 5.5 to 7.2x."""
    ends = [format(each, digits) if digits else short(each) for each in (min(values), max(values))]
    return f"{ends[0]}x" if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}x"


def off(persons: int) -> str:
    """How far off 95 of 100 counts are at most, at epsilon 1."""
    (part,) = (row[3] for row in table("persons", "COUNT(*)")["rows"] if row[:2] == [persons, 1.0])
    return f"{100 * part:.2g} %"


def percent(*of: str) -> str:
    return f"{100 * verdicts(*of)[0]:.0f} %"


def whole(which: str) -> str:
    return f"{verdicts('query', which)[0]:.0f} ms"


def recommended(*of: str) -> str:
    return times([each for what in of for each in verdicts("accuracy", what, "recom")])


def beside(*questions: str) -> str:
    """Whole calls over plain DuckDB in the same process, of these questions."""
    return times([each for asked in questions for each in calls(asked, "ours")])


def calls(asked: str, column: str) -> list[float]:
    read = table("rivals", "over plain DuckDB")
    at = read["columns"].index(column)
    found = [row[at] for row in read["rows"] if row[1] == asked]
    assert found, asked
    return found


def five() -> str:
    """TPC-H 1, 5, 6, 14 and 19."""
    found = [each for n in (1, 5, 6, 14, 19) for each in verdicts("speed", f"TPC-H {n}, of plain")]
    return f"{math.prod(found) ** (1 / len(found)):.1f}x ({short(min(found))} to {short(max(found))})"


ONE, L1, L2 = "one row per unit", "L1 clip", "L2 clip"


def how_exact() -> Rows:
    """The README's."""
    return {
        "a count of 1,000 people at epsilon 1: how far off 95 of 100 answers are at most": off(1_000),
        "the same of 1,000,000 people": off(1_000_000),
        "95 % intervals that hold the truth, groups of 20 to 20,000 people": held(),
        f"of {asked()} questions that analysts ask of four data sets, answered at epsilon 1": percent(
            "questions", "questions answered"
        ),
        "the same: answered with a median half-width of at most a fifth of the number": percent(
            "questions", "questions useful"
        ),
    }


def start(call: str) -> str:
    """What the first calls of a session take."""
    return f"{short(verdicts('speed', f'the {call} call of a session')[0])}x"


def growth() -> str:
    """All answered queries of TPC-H, at scale 1 and at 10."""
    found = [verdicts(name, "execute / plain")[0] for name in ("tpch", "tpch-10")]
    return " and ".join(f"{short(each)}x" for each in found)


def how_fast() -> Rows:
    """The README's."""
    return {
        "a count over a thousand rows, two durable writes included": whole("one number"),
        "TPC-H 1, 5, 6, 14 and 19 over 6 million rows beside plain DuckDB, geometric mean": five(),
        "a median of a million people beside plain DuckDB's": beside("median"),
        "`dpsql query` in a fresh process beside the same with the duckdb package": times(
            verdicts("startup", "query / the duckdb")
        ),
        "peak memory of sums over 5 million rows beside plain DuckDB's": times(
            [each for clip in (L1, L2) for each in cells("memory", "peak", clip, column="ratio")]
        ),
    }


def asked() -> str:
    return str(cells("questions", "in all", "all", column="questions")[0])


def held() -> str:
    return (
        f"{100 * verdicts('coverage', 'least')[0]:.1f} to {100 * verdicts('coverage', 'greatest')[0]:.1f} %"
    )


def more_exact() -> Rows:
    best = "error beside a simulation of the best known mechanism, epsilon 1: "
    log = "of 43 questions about a web log (ClickBench's shapes), the user as unit: "
    clip = "error by 20 groups with a chosen clip beside the best clip in hindsight, 10,000 people and more: "
    return {
        f"{best}averages, variances, correlations": recommended("AVG of ", "VAR of ", "CORR of "),
        f"{best}quantiles": recommended("MEDIAN", "9 deciles"),
        f"{best}sums without a declared range": recommended("SUM without a bound"),
        f"{best}distinct counts": recommended("COUNT(DISTINCT x)"),
        f"{log}answered": f"{verdicts('weblog', 'questions answered')[0]:.0f}",
        f"{log}refused, since they list or tell apart users or rows": (
            f"{verdicts('weblog', 'questions refused')[0]:.0f}"
        ),
        f"{log}paid for and empty, as was said before": f"{verdicts('weblog', 'though paid for')[0]:.0f}",
        "measures without keys in which a made-up unit reaches nine tenths of the declared sensitivity": (
            percent("tightness", "reach 90")
        ),
        f"{clip}any tail without a gap": times(verdicts("fitted", "by place", "no gap"), ".2f"),
        f"{clip}as many people with 300 rows as the noise would cut": times(
            verdicts("fitted", "by place", " a gap"), ".2f"
        ),
    }


def more_fast() -> Rows:
    thousand = "a whole query on a thousand rows, two durable writes included: "
    million = "COUNT, SUM and AVG by group over a million one-row people beside plain DuckDB: "
    many = "the same over 5 million rows of 200,000 people: "
    cold = len(table("speed", "first calls")["rows"])
    return {
        "text to plan, a join of three tables": f"{verdicts('planning', 'three-table join')[0]:.1f} ms",
        f"{thousand}groups, one row a person": whole("by group, one row per person"),
        f"{thousand}groups, many rows a person": whole("by group, many rows per user"),
        "19 queries of TPC-H beside plain DuckDB, geometric mean: scale 1 and 10": growth(),
        "peak memory of each of them at scale 1 beside plain DuckDB's, geometric mean": times(
            verdicts("memory", "TPC-H", "geometric")
        ),
        "the same, the largest": times(verdicts("memory", "TPC-H", "largest")),
        f"{cold} questions, each the first of a session, beside the first of plain DuckDB, geometric mean": (
            start("first")
        ),
        "the same questions for the second and the third time": f"{start('second')} and {start('third')}",
        "a session that asks each question of analysts once, beside plain DuckDB": times(
            verdicts("questions", "sessions that ask")
        ),
        f"{million}whole numbers": all_three(ONE, " age "),
        f"{million}doubles": all_three(ONE, " income "),
        f"{many}one clip factor a person (`pure`)": all_three(L1),
        f"{many}sums per person and group (`zcdp`)": all_three(L2),
        "variances by group over 5 million rows beside our SUM by group": times(
            [*verdicts("answers", "VAR_POP"), *verdicts("answers", "STDDEV")]
        ),
        "a median by group over 5 million rows beside plain DuckDB's": times(
            verdicts("answers", "MEDIAN(age) by")
        ),
        "the same, many rows of a person": times(verdicts("answers", "MEDIAN(minutes)")),
        "COUNT(DISTINCT x) over 5 million rows beside counting the distinct pairs of person and x": times(
            verdicts("distinct", "execute / plain pairs")
        ),
        "draws of noise a second and core: Laplace": f"{verdicts('noise', 'laplace')[0]:.0f} million",
        "draws of noise a second and core: Gaussian": f"{verdicts('noise', 'gaussian')[0]:.0f} million",
        "the shell to its first prompt in a fresh process, beside a query by the duckdb package": times(
            verdicts("startup", "shell, to its prompt")
        ),
        "`import dpsql` beside `import duckdb, numpy, sqlglot`": (
            f"{times(verdicts('imports', 'import dpsql'), '.2f')} (engines load when one connects)"
        ),
        "peak memory beside plain DuckDB's: one row a person": times(
            cells("memory", "peak", ONE, column="ratio")
        ),
        "peak memory: 5 million rows under `pure`": times(cells("memory", "peak", L1, column="ratio")),
        "peak memory: 5 million rows under `zcdp`": times(cells("memory", "peak", L2, column="ratio")),
    }


def served() -> Rows:
    """What `dpsql serve` adds to an answer; the README has none of it."""
    memory = dict(table("server", "200 idle clients")["rows"])
    loads = {row[0]: row[1] for row in table("server", "four clients")["rows"]}
    more = times(verdicts("server", "answers a second"), ".2f")
    return {
        "the protocol alone, there and back (`SHOW`)": milliseconds("the protocol alone"),
        "what the wire adds to a repeated answer of 50 rows": milliseconds("what the wire adds"),
        "a login and a repeated answer": milliseconds("login and first answer"),
        "repeated answers a second to four clients on the same two cores: one process of the server": (
            f"{loads[1]:.0f}"
        ),
        "the same: two processes": f"{loads[2]:.0f}, {more}",
        "the server's processor time of an answer, two processes beside one": times(
            verdicts("server", "server CPU an answer"), ".2f"
        ),
        "memory with 200 idle clients: one process, two processes": f"{memory[1]:.0f} MB, {memory[2]:.0f} MB",
    }


def milliseconds(what: str) -> str:
    return f"{verdicts('server', what)[0]:.2g} ms"


def all_three(title: str, *of: str) -> str:
    return times(cells("overhead", title, "COUNT, SUM, AVG", *of, column="whole ratio"))


# ---- texts ---------------------------------------------------------------------------------------------


def listed(rows: Rows) -> str:
    lines = [
        "| question | figure |",
        "|---|---|",
        *(f"| {asks} | {figure} |" for asks, figure in rows.items()),
    ]
    return "\n".join(lines) + "\n"


def rivals() -> str:
    """Whole calls of all contestants, as multiples of plain DuckDB in the same process."""
    read = table("rivals", "over plain DuckDB")
    names = {"ours": "dpsql", "smartnoise": "SmartNoise SQL", "qrlew": "Qrlew", "opendp": "OpenDP"}
    shown = [name for name in names if name in read["columns"]]
    lines = [
        f"| question | plain DuckDB | {' | '.join(names[name] for name in shown)} |",
        f"|---|---|{'---|' * len(shown)}",
    ]
    for row in read["rows"]:
        ratios = (row[read["columns"].index(name)] for name in shown)
        figures = ("not answered" if ratio is None else f"{short(ratio)}x" for ratio in ratios)
        plain = row[read["columns"].index("plain, ms")]
        lines.append(f"| {row[1]} | {short(plain)} ms | {' | '.join(figures)} |")
    return "\n".join(lines) + "\n"


def tpch() -> str:
    read = table("speed", "whole calls, ms")
    lines = ["| query | plain DuckDB | dpsql | over plain |", "|---|---|---|---|"]
    lines += [
        f"| {name} | {short(plain['median'])} ms | {short(ours['median'])} ms | {short(ratio)}x |"
        for name, plain, ours, ratio, _ in read["rows"]
        if name.startswith("TPC-H")
    ]
    return "\n".join(lines) + "\n"


def page() -> str:
    return f"""\
# Measured

`python -m benchmarks --save` on two cores, DuckDB 2.0, Python 3.11. Each figure is a ratio or a median of
one run; the raw results, with the command, the machine and its load, are in `benchmarks/results/`. A call of
ours is whole: from the text to the answer, with its durable debit, at a price that was not paid before.

## How exact

{listed(how_exact() | more_exact())}
## How fast, beside others

Whole calls over plain DuckDB's time for the same question, all in one run, by
`python -m benchmarks rivals --scale 1`; `benchmarks/rivals/` says what each contestant was told.

{rivals()}
Queries of TPC-H with the customer as the unit, at scale 1, by `python -m benchmarks speed --scale 1`:

{tpch()}
## How fast, and how large

{listed(how_fast() | more_fast())}
## What a server adds

`python -m benchmarks server`, over a loopback address without TLS, with psycopg; clients on the same two
cores.

{listed(served())}"""


def readme(text: str) -> str:
    """Return the README with its short table computed anew."""
    before, _, rest = text.partition(START)
    return f"{before}{START}\n{listed(how_exact() | how_fast())}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
        README.write_text(readme(README.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        print(page(), end="")
