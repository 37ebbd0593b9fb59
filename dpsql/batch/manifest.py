"""manifest.json: the statements of a run and their state, written before anything is paid.

{"run": "...", "started": "...", "rests_on": {"data": ..., "policy": ..., ...}, "statements": [
    {"name": "old", "sql": "...", "price": 0.5, "state": "answered", "file": "old.csv", "sha256": "..."},
    {"name": "by_ward", "sql": "...", "price": 0.5, "state": "waiting", ...}]}

It holds prices, names, fingerprints and the margins of answers: no exact number.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from dpsql.batch.atomic_files import write
from dpsql.errors import refuse
from dpsql.lazy_dataclass import dataclass

NAME = "manifest.json"
FORMAT = 1

WAITING, ANSWERED, REFUSED = "waiting", "answered", "refused"


@dataclass(frozen=True, slots=True)
class Margin:
    """A column of an answer, with the median and the largest of its margins, if it has any."""

    name: str
    type: str
    median: float | None
    largest: float | None


@dataclass(frozen=True, slots=True)
class Entry:
    """One statement. ``set`` is the price of a SET before it, ``epsilon`` the price of its call.

    ``price`` is what it costs at most, ``paid`` what it cost this run; ``repeated`` says that the ledger held
    its answer already. ``digest`` identifies the measurement, ``steps`` says that it is approached in steps.
    ``like`` names a statement before it that measures the same, and pays for both. ``together``: it is
    measured with others, with which it shares a digest, at the price of all of them. ``granted`` is a
    fingerprint of the budgets and prices under which it was priced: the noise depends on them.
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
    together: bool = False
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
        """Whether it was refused before anything was paid: it has no plan, and no share of a total."""
        return not self.digest


@dataclass(frozen=True, slots=True)
class Manifest:
    """One run of one file.

    ``rests_on`` holds fingerprints of what must not change before the run ends. ``mark`` is how many
    purchases the analyst had made before it. ``had`` is what would remain without the run, ``remaining``
    what remains.
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
        """Return the sum of all prices; statements that measure the same count once."""
        return math.fsum(entry.price for entry in self.statements if not entry.like)

    @property
    def paid(self) -> float:
        """Return the sum of what was paid so far."""
        return math.fsum(entry.paid for entry in self.statements)

    @property
    def waiting(self) -> tuple[Entry, ...]:
        """Return the entries without an answer."""
        return tuple(entry for entry in self.statements if not entry.answered)


def save(manifest: Manifest, folder: Path) -> None:
    """Write the manifest atomically."""
    sums = {"price": manifest.price, "paid": manifest.paid}
    content = {"dpsql_run": FORMAT} | sums | _finite(asdict(manifest))
    write((json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode(), folder / NAME)


def _finite(value: Any) -> Any:
    """Replace infinite numbers by None: JSON has no infinity."""
    match value:
        case float() if not math.isfinite(value):
            return None
        case dict():
            return {key: _finite(element) for key, element in value.items()}
        case list() | tuple():
            return [_finite(element) for element in value]
        case _:
            return value


def load(folder: Path) -> Manifest | None:
    """Return the manifest of the run in a folder, or None."""
    file = folder / NAME
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        if content.pop("dpsql_run") != FORMAT:
            raise ValueError
        del content["price"], content["paid"]
        statements = tuple(_entry(entry) for entry in content.pop("statements"))
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
            help="start again with another --out: statements answered before are free at the same prices",
        ) from None


def _entry(content: Mapping[str, Any]) -> Entry:
    content = {"together": False} | dict(content)
    values = {field.name: content[field.name] for field in fields(Entry)}
    return Entry(**values | {"columns": tuple(Margin(**column) for column in content["columns"])})
