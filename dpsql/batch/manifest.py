"""manifest.json: what a run is going to do, written before anything is paid, and what it has done so far.

{"run": "...", "started": "...", "rests_on": {"data": ..., "policy": ..., ...}, "statements": [
    {"name": "old", "sql": "...", "price": 0.5, "state": "answered", "file": "old.csv", "sha256": "..."},
    {"name": "by_ward", "sql": "...", "price": 0.5, "state": "waiting", ...}]}

It holds prices, names and fingerprints, and of answers how far their noise reaches: no exact number.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from dpsql.batch.atomic_files import write
from dpsql.errors import refuse

NAME = "manifest.json"
FORMAT = 1

WAITING, ANSWERED, REFUSED = "waiting", "answered", "refused"


@dataclass(frozen=True, slots=True)
class Margin:
    """A column of an answer: the middle and the largest of its half-widths, where it has any."""

    name: str
    type: str
    median: float | None
    largest: float | None


@dataclass(frozen=True, slots=True)
class Entry:
    """One statement. ``set`` is the price that a SET says, ``epsilon`` the one that its call says.

    ``price`` is what it costs at most, ``paid`` what it cost this run; ``repeated`` says that the ledger held
    its answer already. ``digest`` names what is measured, ``steps`` that it is approached in steps; ``like``
    names a statement before it that measures the same, and pays for both. ``granted`` is a mark of the
    owner's budgets and prices under which it was priced: noise is drawn by them.
    """

    name: str
    line: int
    sql: str
    epsilon: float | None
    timeout: float | None
    weight: float | None
    price: float
    digest: str
    steps: bool
    set: float | None
    like: str = ""
    granted: str = ""
    state: str = WAITING
    paid: float = 0.0
    repeated: bool = False
    rows: int | None = None
    columns: tuple[Margin, ...] = ()
    note: str = ""
    file: str | None = None
    sha256: str | None = None
    error: str | None = None
    code: str | None = None

    @property
    def answered(self) -> bool:
        return self.state == ANSWERED

    @property
    def unpriced(self) -> bool:
        """Refused before anything was paid: it has no plan, and no share of a total."""
        return not self.digest


@dataclass(frozen=True, slots=True)
class Manifest:
    """One run of one file. ``rests_on`` is what may not change before it ends; ``mark`` is how many purchases

    the analyst had made before it; ``had`` is what would remain without it, ``remaining`` what does.
    """

    run: str
    script: str
    script_sha256: str
    started: str
    ended: str | None
    analyst: str | None
    accountant: str
    delta: float
    total: float | None
    format: str
    rests_on: dict[str, str]
    versions: dict[str, str]
    mark: int
    had: float
    remaining: float
    statements: tuple[Entry, ...]

    @property
    def price(self) -> float:
        """The sum of all prices, where statements that measure the same have one."""
        return math.fsum(each.price for each in self.statements if not each.like)

    @property
    def paid(self) -> float:
        """What was paid so far, by the prices."""
        return math.fsum(each.paid for each in self.statements)

    @property
    def waiting(self) -> tuple[Entry, ...]:
        """What is still to be answered."""
        return tuple(each for each in self.statements if not each.answered)


def save(manifest: Manifest, folder: Path) -> None:
    """Put it in its place, whole."""
    sums = {"price": manifest.price, "paid": manifest.paid}
    content = {"dpsql_run": FORMAT} | sums | _finite(asdict(manifest))
    write((json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode(), folder / NAME)


def _finite(value: Any) -> Any:
    """JSON has no infinity: how far noise reaches is nothing there."""
    match value:
        case float() if not math.isfinite(value):
            return None
        case dict():
            return {key: _finite(each) for key, each in value.items()}
        case list() | tuple():
            return [_finite(each) for each in value]
        case _:
            return value


def load(folder: Path) -> Manifest | None:
    """The manifest of the run in a folder; None where there is none."""
    file = folder / NAME
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        if content.pop("dpsql_run") != FORMAT:
            raise ValueError
        del content["price"], content["paid"]
        statements = tuple(_entry(each) for each in content.pop("statements"))
        moment = datetime.datetime.fromisoformat(content["started"])
        if moment.tzinfo is None or type(content["rests_on"]) is not dict:
            raise ValueError
        return Manifest(**content, statements=statements)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise refuse(
            "D509",
            "this manifest cannot be read",
            label=str(file),
            help="start again with another --out: what was answered before is free, at the same prices",
        ) from None


def _entry(content: Mapping[str, Any]) -> Entry:
    said = {each.name: content[each.name] for each in fields(Entry)}
    return Entry(**said | {"columns": tuple(Margin(**each) for each in content["columns"])})
