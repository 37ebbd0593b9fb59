"""``dpsql ledger``: the owner's care for the ledger's file."""

from __future__ import annotations

from argparse import Namespace
from contextlib import closing
from pathlib import Path

from dpsql.cli.shared_arguments import Commands, command


def arguments(names: Commands) -> None:
    kinds = command(names, "ledger", "the owner's: copy a ledger, or move it with its data").add_subparsers(
        metavar="backup|move", required=True
    )
    parser = command(
        kinds,
        "backup",
        "copy a ledger to a new file, while others use it",
        "Copy a ledger to a new file, while others use it, and check the copy from its first entry on. It "
        "is for the day when the ledger is lost. What is spent later is missing from it: it is no budget.",
        ("dpsql ledger backup clinic.duckdb clinic-monday.ledger",),
    )
    parser.add_argument("database", type=Path, metavar="DB", help="the database; it is not opened")
    parser.add_argument("file", type=Path, metavar="FILE", help="the file to write; it must not exist")
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="default: DB with .ledger")
    parser.set_defaults(run=backup)

    parser = command(
        kinds,
        "move",
        "say that the data of a ledger is at another path now",
        "Say that the data of a ledger is at another path, or in another file, now: the same people, the "
        "same unit. First move the data, its policy and its ledger, while nobody has them open. What was "
        "spent stays spent, and the ledger no longer belongs to the old database.",
        ("dpsql ledger move /mnt/old/clinic.duckdb clinic.duckdb",),
    )
    parser.add_argument("old", type=Path, metavar="OLD", help="where the data was; it may be gone")
    parser.add_argument("new", type=Path, metavar="NEW", help="where it is now")
    parser.add_argument("--policy", type=Path, metavar="FILE", help="default: NEW with .toml")
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="default: NEW with .ledger")
    parser.set_defaults(run=move)


def backup(options: Namespace) -> int:
    """Copy a ledger to a new file."""
    from dpsql.accounting.backups import backed_up, units_backed_up
    from dpsql.accounting.units_file import beside as units_beside
    from dpsql.dbapi.connection import beside
    from dpsql.render.digits import on_a_line
    from dpsql.terminal.output import put

    ledger, units = options.ledger or beside(options.database, ".ledger"), units_beside(options.file)
    last = backed_up(ledger, options.file)
    when = last.content["time"][:19].replace("T", " ")
    put(f"{on_a_line(options.file)}: {last.id:,} entries, all checked; the last is of {when} UTC")
    if units_backed_up(ledger, units):
        put(f"{on_a_line(units)}: the file of units, which belongs to it")
    return 0


def move(options: Namespace) -> int:
    """Bind a ledger to the data at another path."""
    from dpsql.accounting.ledger import Ledger
    from dpsql.cli.owner_commands import left
    from dpsql.dbapi.connection import beside
    from dpsql.engines.database_names import is_by_path, names_of
    from dpsql.engines.open_database import open_database
    from dpsql.errors import InterfaceError, refuse
    from dpsql.render.digits import on_a_line, printable
    from dpsql.session.checks import load_policy, promise, second_places
    from dpsql.terminal.output import put, tell

    old, new = options.old, options.new
    ledger: Path = options.ledger or beside(new, ".ledger")
    if not new.exists():
        raise refuse("D602", f"there is no database {new}", help="move the data first, then its ledger")
    if not ledger.exists():
        raise InterfaceError(
            f"there is no ledger {ledger}",
            help=f"move it there from beside {old}, as the data was; or name it: --ledger FILE",
        )
    other = beside(old, ".ledger")
    if other.exists() and not other.samefile(ledger):
        raise InterfaceError(
            f"there is a ledger at the old place too: {other}",
            help="two ledgers are two budgets: keep the one with the last entries, in the new place alone",
        )
    file = options.policy or beside(new, ".toml")
    policy = load_policy(file)
    places = second_places(policy, file, ledger)
    with closing(open_database(new, policy)) as engine:
        wanted = promise(policy, engine)

    def check(before: str) -> None:
        there = names_of(old)
        if before not in there and (old.exists() or is_by_path(before)):
            raise refuse(
                "D505",
                "this ledger belongs to another database",
                label=f"{ledger} is not the ledger of {old}",
                help="name the place where its own data was before, as it was named then",
            )

    moved = Ledger.move(ledger, wanted, check, places=places)
    said = "belongs to" if moved else "belonged already to"
    put(printable(f"{on_a_line(ledger)} {said} {on_a_line(new)}"))
    kept = Ledger.look(ledger, wanted)
    assert kept is not None, "it was there a moment ago"
    with kept:
        put("\n".join(left(policy, kept, on_a_line(ledger.name))))
    if moved and old.exists():
        tell(f"note: {on_a_line(old)} is still there; with a new ledger it would be a new budget: remove it")
    return 0
