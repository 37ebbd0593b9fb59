"""``python grammar_tests/drawn --triples 20000 --seed 7``: a run of any size, with its report.

Half of the triples are on the worlds of the fixtures, half on schemas and policies that are drawn, too.
"""

from __future__ import annotations

import argparse
import os
import random
import secrets
import sys
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the matrices here are small

import duckdb

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dpsql.fuzz.drawn_policies import draw
from dpsql.fuzz.long_run import Tally, long_run
from dpsql.fuzz.run import Empty
from drawn.run import Violation, started

SCHEMAS = 0.5
"""The share of triples on drawn schemas."""

PER_SCHEMA = 300


def main() -> int:
    parser = argparse.ArgumentParser(prog="drawn", description=__doc__)
    parser.add_argument("--triples", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    parser.add_argument("--schemas", type=float, default=SCHEMAS, help="the share on drawn schemas")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="for a smaller case of each violation")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    began, spent = time.perf_counter(), time.process_time()
    on_schemas = round(options.triples * options.schemas)
    tally = of_schemas(options.seed, on_schemas, options.write)
    print("\n".join(tally.lines()), flush=True)
    with started(options.seed) as run:
        shown = 0
        while run.triples < options.triples - on_schemas:
            run.triples_beyond(min(options.triples - on_schemas, run.triples + 500))
            print(f"{run.triples} triples", flush=True)
            for violation in run.violations[shown:]:
                print(f"VIOLATION {violation}", flush=True)
                if options.write is not None:
                    _write(options.write / f"{options.seed}-{shown}.sql", run.smaller(violation))
                shown += 1
        print(f"seed {options.seed}: {run.triples} triples, {len(run.violations)} violations")
        judged, taken = tally.triples + run.triples, time.perf_counter() - began
        each = 1000 * (time.process_time() - spent) / max(judged, 1)
        print(f"{judged / taken:.1f} triples a second, {each:.1f} ms of the processor each")
        print("\n".join(run.coverage.lines(run.alive, run.refused)))
    return 1 if run.violations or tally.found else 0


def of_schemas(seed: int, triples: int, write: Path | None = None) -> Tally:
    """Judge so many triples on schemas and policies of their own, from this seed on."""

    def empty_of(seed: int) -> Empty:
        drawn = draw(random.Random(f"schema {seed}"))
        connection = duckdb.connect(config={"threads": 1})
        connection.execute(drawn.script)
        return Empty(connection, drawn.policy)

    def found(seed: int, violation: Violation) -> None:
        print(f"VIOLATION of schema {seed}: {violation}", flush=True)

    return long_run(empty_of, seed, triples, found, per_world=PER_SCHEMA, write=write, drawn=True)


def _write(file: Path, violation: Violation) -> None:
    """Write a case as the fixtures have them; the rows are those of the run's world."""
    file.parent.mkdir(exist_ok=True)
    head = f"-- case: {violation.said.splitlines()[0]}, {violation.world}, epsilon {violation.epsilon}"
    file.write_text(f"{head}\n-- outcome: accepted\n{violation.sql};\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
