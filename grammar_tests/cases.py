"""The fixture files of the language, and the worlds they are judged in.

    -- case: a ratio needs a bound
    -- outcome: refused D301 at 1:12
    SELECT SUM(income / age) FROM patients;

A header line is ``-- key: value``; the query is everything from the first other line to the next
``-- case:``. Lines before the first case are comments. A position counts lines and columns of the query
alone, from one.

    outcome   accepted | refused CODE [at LINE:COLUMN]
    oracle    no-meaning (reason): the answer differs from plain DuckDB by design
    epsilon   the price of the query, where it is not the policy's default
    cost      what the query costs, where it says how accurate it is to be
    policy    the policy file, where it is not world.toml
    plain     the query as plain DuckDB reads it, on one line, where it does not know our clause
    measure   a line of the plan in short form, written by ``pytest --write``
    instead   of a refused query: one near it, on one line, that is answered
    attack    what the query tries to learn or to break, a name of ATTACKS in test_attack_list.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dpsql.errors import CODES

HERE = Path(__file__).parent

WORLDS = {
    "world": ("schema.sql", "world.sql"),  # rows that break engines
    "calm": ("schema.sql", "calm.sql"),  # rows that hit no bound and no clip
    "empty": ("schema.sql",),  # no private row at all
}

_KEYS = ("outcome", "oracle", "epsilon", "cost", "policy", "plain", "measure", "attack", "instead")
_HEADER = re.compile(r"-- (\w+): *(.*?) *")
_OUTCOME = re.compile(r"(accepted)|refused (D\d{3})(?: at (\d+):(\d+))?")

OF_QUERIES = tuple(code for code in CODES if code[1] in "1234" and code != "D107")
"""The codes that one query can meet; D107 is of a file of several."""


@dataclass(frozen=True, slots=True)
class Case:
    """One query and what must become of it. ``line`` is where its ``-- case:`` stands in ``file``."""

    name: str
    outcome: str
    code: str | None
    position: tuple[int, int] | None
    sql: str
    file: Path
    line: int
    options: dict[str, str] = field(default_factory=dict)
    measures: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """A name for test reports: ``select/aliases.sql: an alias in capitals``."""
        return f"{self.file.relative_to(HERE).as_posix()}: {self.name}"

    @property
    def policy(self) -> Path:
        return HERE / self.options.get("policy", "world.toml")

    @property
    def epsilon(self) -> float | None:
        return float(self.options["epsilon"]) if "epsilon" in self.options else None

    @property
    def cost(self) -> float:
        """What it costs when it is answered for the first time."""
        return float(self.options.get("cost", self.epsilon or 1.0))

    @property
    def plain(self) -> str:
        """What plain DuckDB is asked in its place."""
        return self.options.get("plain", self.sql)

    @property
    def instead(self) -> str | None:
        return self.options.get("instead")

    @property
    def has_meaning(self) -> bool:
        return not self.options.get("oracle", "").startswith("no-meaning")


def script(world: str) -> str:
    """The SQL that builds a world in an empty database."""
    return "\n".join((HERE / name).read_text(encoding="utf-8") for name in WORLDS[world])


def files() -> list[Path]:
    """Every fixture file: those in folders, but for TPC-H; the worlds lie beside this module."""
    return sorted(file for file in HERE.glob("*/*.sql") if file.parent.name != "tpch")


def all_cases() -> list[Case]:
    return [case for file in files() for case in cases(file)]


def cases(path: Path) -> list[Case]:
    """The cases of one file, in order."""
    lines = path.read_text(encoding="utf-8").split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith("-- case:")]
    ends = [*starts[1:], len(lines)]
    return [_case(path, start, lines[start:end]) for start, end in zip(starts, ends, strict=True)]


def _case(path: Path, start: int, lines: list[str]) -> Case:
    header = list(_header(lines[1:]))
    outcomes = [value for key, value in header if key == "outcome"]
    outcome = _OUTCOME.fullmatch(outcomes[0]) if len(outcomes) == 1 else None
    if outcome is None:
        raise ValueError(f"{path}:{start + 1}: a case is accepted, or refused CODE at LINE:COLUMN")
    accepted, code, line, column = outcome.groups()
    return Case(
        name=lines[0].removeprefix("-- case:").strip(),
        outcome=accepted or "refused",
        code=code,
        position=None if line is None else (int(line), int(column)),
        sql="\n".join(lines[1 + len(header) :]).rstrip(),
        file=path,
        line=start + 1,
        options={key: value for key, value in header if key not in ("outcome", "measure")},
        measures=tuple(value for key, value in header if key == "measure"),
    )


def _header(lines: list[str]) -> Iterator[tuple[str, str]]:
    """The leading ``-- key: value`` lines; the first other line begins the query."""
    for line in lines:
        found = _HEADER.fullmatch(line)
        if found is None or found[1] not in _KEYS:
            return
        yield found[1], found[2]
