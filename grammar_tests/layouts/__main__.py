"""``python grammar_tests/layouts --files 2000 --seed 7``: a run of any size, with its report."""

from __future__ import annotations

import argparse
import secrets
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from layouts.run import Run


def main() -> int:
    parser = argparse.ArgumentParser(prog="layouts", description=__doc__)
    parser.add_argument("--files", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    run, shown = Run(options.seed), 0
    while run.files < options.files:
        goal = min(options.files, run.files + 100)
        run.until(lambda each, goal=goal: each.files >= goal)  # type: ignore[misc]  # bound at once
        for violation in run.violations[shown:]:
            print(f"VIOLATION {violation}", flush=True)
        shown = len(run.violations)
    written = ", ".join(f"{number} {name}" for name, number in run.writers.most_common())
    print(f"seed {options.seed}: {run.files} files ({written}), {run.asked} statements, {shown} violations")
    return 1 if run.violations else 0


if __name__ == "__main__":
    sys.exit(main())
