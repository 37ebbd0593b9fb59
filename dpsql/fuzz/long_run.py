"""Runs on one world after another, each under a seed of its own, until so many triples are judged.

    tally = long_run(lambda seed: empty_like(database, policy), 7, 2_000, note)
    tally.triples, tally.found

What is minded is shrunk while its world is there. A drawn policy that is refused is left out; where the
schema is the owner's, the refusal is raised.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import field
from pathlib import Path

from dpsql.errors import Error
from dpsql.fuzz.judging import Violation
from dpsql.fuzz.run import Empty, Fuzz, fuzzing
from dpsql.lazy_dataclass import dataclass

PER_WORLD = 500
"""Triples on one world."""

_SHRUNK, _TRIES = 1, 60
"""Violations of a world that are shrunk, and smaller queries that are tried; others are most often alike."""


@dataclass(slots=True)
class Tally:
    """What was done. ``found`` are violations, each with the seed of its world."""

    triples: int = 0
    accepted: int = 0
    alive: int = 0
    worlds: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    policies: Counter[str] = field(default_factory=Counter)
    found: list[tuple[int, Violation]] = field(default_factory=list)

    def add(self, run: Fuzz) -> None:
        """Count what a run has done."""
        self.triples += run.triples
        self.accepted += run.accepted
        self.alive += run.alive
        self.worlds += 1
        self.refused += run.refused

    def lines(self) -> Iterator[str]:
        """What was done, in words."""
        yield (
            f"{self.triples:,} triples on {self.worlds} made-up databases: {self.accepted:,} queries were "
            f"accepted, {self.alive:,} of them measure more than zeros; {self.refused.total():,} refused."
        )
        if self.policies:
            yield "policies refused: " + ", ".join(f"{c} {n}" for c, n in self.policies.most_common())
        yield f"{len(self.found)} violations"


def long_run(
    empty_of: Callable[[int], Empty],
    seed: int,
    triples: int,
    found: Callable[[int, Violation], None],
    *,
    going: Callable[[int], None] = lambda triples: None,
    per_world: int = PER_WORLD,
    write: Path | None = None,
    drawn: bool = False,
) -> Tally:
    """Judge so many triples; ``found`` hears of each violation, ``going`` of progress, and both may raise.

    ``write`` is a folder for cases: a smaller query, its policy, its database and a neighbour.
    """
    tally = Tally()
    while tally.triples < triples:
        with tempfile.TemporaryDirectory(prefix="dpsql-fuzz-") as name:
            folder = Path(name) / f"seed-{seed}"
            try:
                _on_one_world(tally, empty_of(seed), folder, seed, triples, found, going, per_world, write)
            except Error as error:
                if not drawn or error.code[1] == "9":
                    raise
                tally.policies[error.code] += 1
        seed += 1
    return tally


def _on_one_world(
    tally: Tally,
    empty: Empty,
    folder: Path,
    seed: int,
    triples: int,
    found: Callable[[int, Violation], None],
    going: Callable[[int], None],
    per_world: int,
    write: Path | None,
) -> None:
    with empty.connection, fuzzing(folder, empty, seed) as run:
        before = tally.triples

        def step() -> None:
            going(min(triples, before + run.triples))

        run.until(min(per_world, triples - before), step)
        tally.add(run)
        minded, run.violations = run.violations, []
        for number, violation in enumerate(minded):
            smaller = run.shrunk(violation, run.world, step, _TRIES) if number < _SHRUNK else violation
            tally.found.append((seed, smaller))
            found(seed, smaller)
            if write is not None:
                write_case(write / f"seed-{seed}-{number}", folder, smaller)


def write_case(target: Path, folder: Path, violation: Violation) -> None:
    """Write a case as fixtures have it, beside the policy, the database and the copies that it breaks on."""
    target.mkdir(parents=True)
    first = violation.said.splitlines()[0]
    head = f"-- case: {first}, epsilon {violation.epsilon}\n-- outcome: accepted\n"
    (target / "case.sql").write_text(f"{head}{violation.sql};\n", encoding="utf-8")
    for path in (*folder.glob("*.duckdb"), folder / "policy.toml"):
        if path.name != "empty.duckdb":
            shutil.copy(path, target / path.name)


__all__ = ["PER_WORLD", "Tally", "long_run", "write_case"]
