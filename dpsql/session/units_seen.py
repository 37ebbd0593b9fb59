"""The check that no unit moves from one block to another, once for each version of the data.

    monday     p1: 2023  p2: 2024             noted in the file of units, then in the ledger
    tuesday              p2: 2024  p3: 2025   p3 is noted; p1 has left, and stays noted
    wednesday  p1: 2024  ...                  shut (D809), for the owner and for every analyst

Claim   of two questions that were paid for since the check began, each on data that was checked, no unit has
        a row in one block for the one and in another block for the other.
Proof   A session answers from one version of the data (session/data_versions.py). When it opens, every unit
        with a row in a private table is in the file, in the block that it has in this version under this
        list of blocks: the ledger has an entry for version, list and tables, or all units are read now. A
        unit's block is read as plan/blocks.py means it: the value in the one row of its own table, else the
        rest. Records are never taken out of the file, which is the one that the ledger's last digest names
        (accounting/units_file.py), and a unit that is there in another block ends the opening. They are
        durable before the entry, and the entry is before the first debit; a debit needs a session that has
        looked since the check began. A value is appended to a list by the same entry, so that no unit that
        was in the rest is in its block. All who look at once wait for each other at the file.
Test    tests/privacy/test_units_seen.py

That it is shut is all that it tells: no number, no unit and no block is named, and what is written to the
ledger does not depend on which units there are.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpsql.accounting.blocks import BlocksWanted
from dpsql.accounting.ledger import seen_since
from dpsql.accounting.units_file import BLOCK, HASH, TakenFile, UnitsFile, beside, key_of, unit_hash
from dpsql.engines.contents import hashed
from dpsql.ir.relation import unit_types
from dpsql.ir.unit_blocks import REST, UnitBlocks, UnitHolder
from dpsql.policy.catalogue import Known
from dpsql.policy.toml_positions import Document

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpsql.accounting.ledger import Ledger
    from dpsql.engines import Engine, Texts
    from dpsql.session.data_versions import DataVersions


def units_file(ledger: Ledger, known: Known) -> UnitsFile:
    """Return the file of units beside a ledger."""
    kinds = tuple(each.kind.name for each in unit_types(known.unit_type))
    return UnitsFile(beside(ledger.path), key_of(ledger.salt), kinds)


def check_units(
    engine: Engine,
    ledger: Ledger,
    versions: DataVersions,
    known: Known,
    wanted: BlocksWanted,
    document: Document,
) -> int:
    """Note all units of this version; return the entry since which they are checked, or raise D809, D514.

    ``known`` are all private tables, whoever asks.
    """
    assert known.blocks is not None
    holders, file = unit_holders(known), units_file(ledger, known)
    version = hashed((versions.of({holder.table for holder in holders}), engine.reader))
    fact = json.dumps(["units", known.blocks.table, *map(str, holders), wanted.column, *wanted.values])

    def noted() -> int | None:
        digest, checked, same = ledger.units_seen(wanted)
        if not same or digest is None or checked is None:
            return None
        there = seen_since(fact, checked) in ledger.verified(version) and file.holds(digest)
        return checked if there else None

    if (checked := noted()) is not None:
        return checked
    digest, _, _ = ledger.units_seen(wanted)
    with file.taken(digest) as taken:
        if (checked := noted()) is not None:  # by a process that was faster
            return checked
        digest, _, _ = ledger.units_seen(wanted)
        fresh = _looked(engine, known, file, taken, digest, document)
        now = taken.append(fresh) if fresh else taken.digest
        return ledger.note_units(wanted, now, version, fact)


def compare_units(
    engine: Engine, ledger: Ledger, known: Known, wanted: BlocksWanted, document: Document
) -> None:
    """Raise what ``check_units`` would raise now, and write nothing."""
    digest, _, _ = ledger.units_seen(wanted)
    if digest is not None:
        file = units_file(ledger, known)
        with file.taken(digest) as taken:
            _looked(engine, known, file, taken, digest, document)


def _looked(
    engine: Engine, known: Known, file: UnitsFile, taken: TakenFile, digest: str | None, document: Document
) -> bytes:
    """Return the records of units that the file lacks; D809 if one that it has is in another block."""
    assert known.blocks is not None
    seen = SeenUnits(known.blocks, file.key)
    taken.read(digest, seen.remember)
    engine.units(unit_holders(known), known.blocks, seen.look)
    if seen.moved:
        raise document.refuse(
            "D809",
            f"a {known.unit} is in another block than before",
            ("unit", "blocks", "check"),
            label="each one stays where it was seen first",
            notes=("a NULL that was filled in, and a row that came later, move one out of the rest",),
            help="give it back the value that it had; a value is appended to the list before anybody "
            "with it is loaded",
        )
    return seen.fresh()


def unit_holders(known: Known) -> tuple[UnitHolder, ...]:
    """Return the tables and columns that hold units of private tables, each once."""
    assert known.blocks is not None
    found = dict.fromkeys(
        UnitHolder(table.links[-1].table if table.links else table.name, table.unit_column)
        for table in known.tables
        if table.unit_column is not None
    )
    return tuple(sorted(found, key=lambda holder: (holder.table, str(holder.columns))))


class SeenUnits:
    """Units in the file, and those of the present data beside them."""

    def __init__(self, blocks: UnitBlocks, key: bytes) -> None:
        self.moved = False
        self._numbers: dict[str | None, int] = {value: at for at, value in enumerate(blocks.written, 1)}
        self._key = key
        self._records: list[bytes] = []
        self._fresh: list[bytes] = []
        self._known: tuple[NDArray[Any], NDArray[Any]] | None = None

    def remember(self, records: bytes) -> None:
        """Add records of the file."""
        self._records.append(records)

    def look(self, rows: Sequence[Texts]) -> None:
        """Compare units of the present data: their values, and that of their block."""
        import numpy as np  # loaded by few openings

        if self._known is None:
            self._known = _sorted(self._records)
            self._records.clear()
        units, blocks = self._known
        found = np.frombuffer(b"".join(map(self._record_of, rows)), _record())
        names = found["unit"].copy()
        at = np.searchsorted(units, names)
        known = np.zeros(len(names), bool)
        within = at < len(units)
        known[within] = units[at[within]] == names[within]
        self.moved = self.moved or bool((blocks[at[known]] != found["block"][known]).any())
        self._fresh.append(found[~known].tobytes())

    def fresh(self) -> bytes:
        """Return the records of units that the file lacks, in no order of the data."""
        import numpy as np

        records = np.frombuffer(b"".join(self._fresh), _record())
        return records[np.argsort(records["unit"].copy())].tobytes()

    def _record_of(self, row: Texts) -> bytes:
        *values, block = row
        name = unit_hash(self._key, values)
        return name + self._numbers.get(block, REST).to_bytes(BLOCK)


def _sorted(records: Sequence[bytes]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the units of records in order, and their blocks."""
    import numpy as np

    all_of_them = np.frombuffer(b"".join(records), _record())
    units = all_of_them["unit"].copy()
    order = np.argsort(units)
    return units[order], all_of_them["block"][order]


def _record() -> Any:
    import numpy as np

    return np.dtype([("unit", f"S{HASH}"), ("block", f">u{BLOCK}")])
