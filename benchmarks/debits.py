"""How long one durable debit takes, with blocks of units and many accounts, beside a ledger without them.

And how long where the journal is made and unlinked each time. Debits of all ledgers are made in turns. Every
one charges the database, an analyst and, where there are any, two groups. With blocks they are paid in all of
them, or in three.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

from benchmarks.timing import Report, Setting, Table, alternate, ratio
from dpsql.accounting.blocks import BlocksWanted
from dpsql.accounting.entries import Debit, Granted, Promise, SharedGrant
from dpsql.accounting.ledger import Ledger
from dpsql.accounting.shared_accounts import group_account
from dpsql.accounting.units import Units

BLOCKS, ANALYSTS, GROUPS = 50, 8, 2
_MUCH = Units(10**15)
_PROMISE = Promise("clinic", "patients.patient_id", "pure", 0.0)


def debits(setting: Setting) -> Report:
    few = _opened(setting.folder / "plain.ledger", 0, 1, 0)
    many = _opened(setting.folder / "blocks.ledger", BLOCKS, ANALYSTS, GROUPS)
    apart = _opened(setting.folder / "apart.ledger", BLOCKS, ANALYSTS, GROUPS)
    unlinking = _opened(setting.folder / "unlinking.ledger", 0, 1, 0)
    with unlinking._chain.reading():
        connection = unlinking._chain._open()
    connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    plain, everywhere, some, unlinked = alternate(
        [_paying(few, ()), _paying(many, ()), _paying(apart, (1, 7, 30)), _paying(unlinking, ())],
        20 if setting.quick else 400,
        warm=5,
    )
    for ledger in (few, many, apart, unlinking):
        ledger.close()
    table = Table(
        "one durable debit, ms",
        ("blocks", "accounts", "paid in", "ms"),
        [
            (0, 2, "-", plain),
            (BLOCKS, ANALYSTS + GROUPS, "all blocks", everywhere),
            (BLOCKS, ANALYSTS + GROUPS, "3 blocks", some),
            (0, 2, "-, its journal unlinked", unlinked),
        ],
    )
    what = f"a debit with {BLOCKS} blocks and {ANALYSTS + GROUPS} accounts, over one without"
    return Report(
        (table,),
        (
            ratio(f"{what}, in all blocks", everywhere, plain, 1.3),
            ratio(f"{what}, in 3", some, plain, 1.3),
            ratio("a debit, over one whose journal is unlinked", plain, unlinked, 1.0),
        ),
    )


def _opened(path: Path, blocks: int, analysts: int, groups: int) -> Ledger:
    names = tuple(f"analyst {number}" for number in range(analysts))
    shared = tuple(SharedGrant(group_account(str(number)), 1.0, _MUCH, names) for number in range(groups))
    wanted = BlocksWanted("cohort", tuple(map(str, range(blocks)))) if blocks else None
    return Ledger.open(
        path, _PROMISE, Granted(1.0, _MUCH, tuple((name, 1.0, _MUCH) for name in names), shared, wanted)
    )


def _paying(ledger: Ledger, blocks: tuple[int, ...]) -> Callable[[], object]:
    number = itertools.count()

    def pay() -> object:
        plan = f"plan {next(number)}"
        paid = ("analyst 0", "SELECT COUNT(*) FROM patients", plan, "v1", "[]", 0.1, Units(10), ("patients",))
        return ledger.debit_or_join(Debit(*paid, blocks=blocks or None, listed=BLOCKS))

    return pay
