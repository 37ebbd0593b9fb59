"""`python -m benchmarks [name ...] [--quick] [--save]`: run one benchmark or all; print and save the figures.

    planning   text -> plan                       noise      draws a second
    query      a whole query on 1,000 rows        accuracy   error against epsilon, beside the formula's
    overhead   millions of rows, beside DuckDB    imports    what `import dpsql` costs
    memory     the peak, in fresh processes       tpch       TPC-H with the customer as unit
    coverage   how often intervals hold the truth  peers     error beside that of rivals
    answers    moments and medians                 distinct  COUNT(DISTINCT x), time and memory
    startup    from a command to its answer        larger   files beside less memory
    ledger     opening one of 100,000 answers      skipped  files read in full, beside by statistics
    found      sums whose range is found privately  questions  what analysts ask, on four data sets
    weblog     43 questions about a web log        tightness  what a unit moves, of what is declared
    fitted     a chosen clip beside the best one    speed    whole calls beside plain DuckDB
    rivals     whole calls beside those of rivals  persons   how far off, against persons and epsilon
    edge       what time tells of one person        workloads  related questions together
    synthetic  made-up rows beside the true ones  budget  how many events fit, under each accountant
    together   a file and a view through the engine  models  least squares, and how often intervals hold
    logistic   fits of what happens or not, and how often their intervals hold
    server     what the protocol, logins and idle clients of dpsql serve cost
    posteriors of shares: how often intervals hold, and what one takes
    alerts     a day that stands out of hundreds, beside as many counts
    engines    TPC-H on PostgreSQL and Spark, beside their own plain queries
    clusters   whether k-means on private rows would beat what bins of them give
    attacks    what known attacks win, beside what epsilon allows
    audits     what guesses prove of 30 statements, beside their price
    fuzz       triples that the fuzzer judges in a second
    holdout    what a holdout that is asked again and again claims, and what a private one would cost
    votes      labels by the vote of learners: how often they are right, and what they cost

--quick runs everything on small data, only to test that it runs; its figures mean nothing. --save writes
benchmarks/results/<name>.json (<name>-<scale>.json above scale 1), with the versions and the machine beside
the figures, and its picture if it has one (python benchmarks/rivals/picture.py, -m benchmarks.persons or
-m benchmarks.workloads draw it anew).
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import importlib.metadata
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.timing import Report, Runs, Setting

QUESTIONS = ("planning", "query", "overhead", "memory", "noise", "accuracy", "coverage", "imports")
QUESTIONS += ("tpch", "answers", "distinct", "peers", "startup", "larger", "ledger", "skipped", "found")
QUESTIONS += ("questions", "weblog", "tightness", "fitted", "speed", "rivals", "persons", "edge", "workloads")
QUESTIONS += ("synthetic", "budget", "together", "models", "server", "logistic", "posteriors", "alerts")
QUESTIONS += ("clusters", "holdout", "engines", "votes", "attacks", "audits", "fuzz")
SCALED = ("tpch", "speed", "rivals", "engines", "memory")
RESULTS = Path(__file__).resolve().parent / "results"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(QUESTIONS)}; none is all")
    parser.add_argument("--quick", action="store_true", help="small data and few runs")
    parser.add_argument("--save", action="store_true", help="write benchmarks/results/<name>.json")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where to write them instead")
    parser.add_argument("--scale", type=float, default=0.1, help="TPC-H's scale factor (default 0.1)")
    chosen = parser.parse_args(arguments)
    unknown = sorted(set(chosen.names) - set(QUESTIONS))
    if unknown:
        parser.error(f"no question is called {', '.join(unknown)}: there are {', '.join(QUESTIONS)}")
    names = [name for name in QUESTIONS if name in chosen.names or not chosen.names]
    with tempfile.TemporaryDirectory(prefix="dpsql-bench-") as folder:
        setting = Setting(chosen.quick, chosen.scale, Path(folder))
        for name in names:
            command = f"python -m benchmarks {name}{' --quick' if chosen.quick else ''}"
            command += f" --scale {chosen.scale:g}" if name in SCALED else ""
            module = importlib.import_module(f"benchmarks.{name}")
            print(f"## {name}: {str(module.__doc__).splitlines()[0]}\n$ {command}\n", flush=True)
            start = time.perf_counter()
            report: Report = module.run(setting)
            print(f"{report}\n\n({time.perf_counter() - start:.0f} s)\n", flush=True)
            if chosen.save:
                at_scale = f"{name}-{chosen.scale:g}" if name in SCALED and chosen.scale > 1 else name
                _save(chosen.results, at_scale, command, report, getattr(module, "picture", None))
    return 0


def _save(
    folder: Path, name: str, command: str, report: Report, picture: Callable[[Any], str] | None
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    kept = {"command": command, "at": _now(), "machine": machine(), "versions": versions()}
    text = json.dumps(kept | report.to_dict(), indent=1, default=_plain)
    (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    if picture is not None:
        (folder / f"{name}.svg").write_text(picture(json.loads(text)), encoding="utf-8")


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def machine() -> dict[str, Any]:
    """Return what the figures depend on besides the code."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "load": round(os.getloadavg()[0], 2),
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("dpsql", "duckdb", "sqlglot", "numpy", "mpmath", "opendp", "tpchgen-cli"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _plain(value: object) -> object:
    if isinstance(value, Runs):
        return {"median": value.median, "runs": value.times}
    raise TypeError(f"{type(value).__name__} is not a figure")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
