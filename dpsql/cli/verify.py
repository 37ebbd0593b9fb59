"""``dpsql budget verify DB``: the chain of a ledger, its sums and index, and each price from its events."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from dpsql.accounting.ledger import Ledger
from dpsql.cli.shared_arguments import check_is_there
from dpsql.dbapi.connection import beside
from dpsql.engines.open_database import open_database
from dpsql.errors import InterfaceError, refuse
from dpsql.render.digits import on_a_line, printable
from dpsql.session.checks import load_policy, promise, second_places
from dpsql.terminal.output import put

_MANY = 20
"""Findings that are shown."""


def verified(database: Path, policy_path: Path | None, ledger_path: Path | None) -> int:
    """Check a ledger from its first entry on; nothing is spent and nothing is written."""
    check_is_there(database)
    file, path = policy_path or beside(database, ".toml"), ledger_path or beside(database, ".ledger")
    policy = load_policy(file)
    with closing(open_database(database, policy)) as engine:
        bound = promise(policy, engine)
    ledger = Ledger.look(path, bound, places=second_places(policy, file, path))
    if ledger is None:
        raise InterfaceError(f"there is no ledger {path}", help="name it: --ledger FILE")
    with ledger:
        result = ledger.recomputed()
    if result.findings:
        lines = [f"entry {number}: {what}" for number, what in result.findings[:_MANY]]
        raise refuse(
            "D506",
            "the ledger's prices do not follow from its events",
            notes=tuple(map(printable, lines)),
            help="restore a copy with every entry; an older copy lacks debits, which breaks the promise",
        )
    text = f"{on_a_line(path)}: every entry follows from the one before it, and the sums from all"
    text += f"\n{result.debits:,} debits and {result.shares:,} shares have the price of their events"
    if result.unread:
        text += f"\nof {len(result.unread):,} debits the events were cut: their prices were not checked"
    put(text)
    return 0
