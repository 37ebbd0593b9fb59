"""``python grammar_tests/drawn --triples 20000 --seed 7``: a run of any size, with its report."""

from __future__ import annotations

import argparse
import secrets
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from drawn.run import Violation, started


def main() -> int:
    parser = argparse.ArgumentParser(prog="drawn", description=__doc__)
    parser.add_argument("--triples", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="for a smaller case of each violation")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with started(options.seed) as run:
        shown = 0
        while run.triples < options.triples:
            run.triples_beyond(min(options.triples, run.triples + 500))
            for violation in run.violations[shown:]:
                print(f"VIOLATION {violation}", flush=True)
                if options.write is not None:
                    _write(options.write / f"{options.seed}-{shown}.sql", run.shrunk(violation))
                shown += 1
        print(f"seed {options.seed}: {run.triples} triples, {len(run.violations)} violations")
        print("\n".join(run.coverage.lines()))
    return 1 if run.violations else 0


def _write(file: Path, violation: Violation) -> None:
    """Write a case as the fixtures have them; the rows are those of the run's world."""
    file.parent.mkdir(exist_ok=True)
    head = f"-- case: {violation.said.splitlines()[0]}, {violation.world}, epsilon {violation.epsilon}"
    file.write_text(f"{head}\n-- outcome: accepted\n{violation.sql};\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
