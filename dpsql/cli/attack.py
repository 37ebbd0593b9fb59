"""``dpsql attack [DB]``: attack made-up data, or a copy of the owner's, and compare with the promise."""

from __future__ import annotations

import json
import os
import tempfile
import textwrap
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from dpsql.cli.shared_arguments import Commands, check_is_there, command
from dpsql.dbapi.connection import beside
from dpsql.terminal.new_files import check_new, new_file
from dpsql.terminal.output import flush, put, width
from dpsql.terminal.progress import Progress

if TYPE_CHECKING:
    from dpsql.attacks.show import Judged
    from dpsql.attacks.world import World

BEATEN = 1
WARNING = "For the owner only: these are exact functions of private rows. Show them to nobody else."

_SHARED_MEMORY = Path("/dev/shm")
_MOST_TRIALS = 100_000


def arguments(names: Commands) -> None:
    parser = command(
        names,
        "attack",
        "the owner's: run known attacks, beside what epsilon allows them",
        "Run the best known attacks on answers (averaging, differencing, trackers, reconstruction, linkage, "
        "membership, silent channels, reuse), with dpsql's answers and with exact ones, and compare what "
        "they win with what epsilon allows. Without DB on a made-up population of 200; with DB on a copy of "
        "the owner's data, in which the attacked secrets are drawn by coins: the database is only read, and "
        "its ledger is not opened. Whoever can read the files can run it, and what it prints about a DB is "
        "for the owner only. It exits with 1 if an attack beat its bound.",
        (
            "dpsql attack --trials 5",
            "dpsql attack clinic.duckdb --column smoker --epsilon 1 --only tracker --trials 5 "
            "--report attacks.html",
        ),
    )
    parser.add_argument(
        "database", type=Path, nargs="?", metavar="DB", help="a DuckDB file; default: a made-up population"
    )
    parser.add_argument("--policy", type=Path, metavar="FILE", help="default: DB with .toml")
    parser.add_argument(
        "--column",
        metavar="NAME",
        help="the secret to guess, boolean or with declared values; default: the first of the table of units",
    )
    parser.add_argument(
        "--epsilon",
        type=float,
        metavar="E",
        help="the whole budget of each attack; default: 1, and of a DB the policy's",
    )
    parser.add_argument(
        "--accountant",
        choices=("pure", "approx", "zcdp"),
        help="default: approx, and of a DB the policy's",
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help="run this attack, or all whose names begin so; may be repeated",
    )
    parser.add_argument(
        "--trials", type=int, default=80, metavar="N", help="guesses of each secret bit; default: 80"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=2,
        metavar="N",
        help="attacks at the same time, each a process; default: 2",
    )
    parser.add_argument("--format", choices=("box", "json"), default="box", help="default: box")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write a page with pictures as well")
    parser.set_defaults(run=attack, usage=parser.error)


def attack(options: Namespace) -> int:
    """Run the attacks; return 0 if none beat its bound."""
    from dpsql.attacks.table import verdict

    if not 1 <= options.trials <= _MOST_TRIALS or options.jobs < 1:
        options.usage(f"--trials is between 1 and {_MOST_TRIALS:,}, and --jobs at least 1")
    if options.database is None and (options.policy or options.column):
        options.usage("--policy and --column belong to a database")
    if options.epsilon is not None and not 0.001 <= options.epsilon <= 100:
        options.usage("--epsilon is between 0.001 and 100")
    _check_names(options)
    if options.report is not None:
        check_new(options.report)
    memory = _SHARED_MEMORY if os.access(_SHARED_MEMORY, os.W_OK) else None
    copies = memory if options.database is None else _own_folder()
    try:
        with (
            tempfile.TemporaryDirectory(prefix="dpsql-attack-", dir=copies) as folder,
            # each of thousands of ledgers is written durably, and none is kept
            tempfile.TemporaryDirectory(prefix="dpsql-attack-", dir=memory) as ledgers,
        ):
            world = _world(options, Path(folder), Path(ledgers))
            results = _run(world, options.jobs, options.only)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped: attacks pay nothing, and leave nothing behind") from None
    said = _said(options, world)
    if options.format == "json":
        put(_json(options, world, results))
    else:
        _print(said, world, results)
    if options.report is not None:
        from dpsql.attacks.report import page

        text = page("Attacks", said, results, world.delta, verdict(results))
        # of an owner's data, for the owner only
        new_file(
            text.encode(),
            options.report,
            "run the attacks again",
            0o666 if options.database is None else 0o600,
        )
    flush()
    return BEATEN if any(judged.beat for judged in results) else 0


def _check_names(options: Namespace) -> None:
    from dpsql.attacks.show import attacks

    for name in options.only:
        if not any(attack.name.startswith(name) for attack in attacks()):
            options.usage(f"no attack is called {name}: {', '.join(attack.name for attack in attacks())}")


def _own_folder() -> str:
    from dpsql.engines.spill import own_folder

    return own_folder()


def _world(options: Namespace, folder: Path, ledgers: Path) -> World:
    if options.database is None:
        from dpsql.attacks.made_up import made_up

        name = options.accountant or "approx"
        delta = 0.0 if name == "pure" else 1e-6
        return made_up(folder, ledgers, name, options.epsilon or 1.0, delta, options.trials)
    from dpsql.attacks.owners import world_of
    from dpsql.session.checks import load_policy

    check_is_there(options.database)
    policy_file = options.policy or beside(options.database, ".toml")
    policy = load_policy(policy_file)
    name = options.accountant or policy.budget.accountant
    delta = 0.0 if name == "pure" else policy.budget.delta or 1e-6
    epsilon = options.epsilon or policy.budget.epsilon
    return world_of(
        folder,
        ledgers,
        options.database,
        policy_file,
        policy,
        options.column,
        name,
        epsilon,
        delta,
        options.trials,
    )


def _run(world: World, jobs: int, only: list[str]) -> list[Judged]:
    from dpsql.attacks.show import attacks, show

    names = [attack.name for attack in attacks() if not only or any(map(attack.name.startswith, only))]
    progress = Progress(len(names))
    progress.at(names[0])

    def done(judged: Judged) -> None:
        progress.ended()
        progress.at(names[progress.done] if progress.done < len(names) else "")

    try:
        return show(world, names, jobs, done)
    finally:
        progress.clear()


def _said(options: Namespace, world: World) -> list[str]:
    """Return what was attacked and how to read it."""
    delta = f", delta {world.delta:g}" if world.delta else ""
    data = (
        "a made-up population of 200"
        if options.database is None
        else f"a copy of {options.database.name}, with the secret {world.secret.column}"
    )
    lines = [] if options.database is None else [WARNING]
    return [
        *lines,
        f"Attacked: {data}; the whole budget of each attack is epsilon {world.epsilon:g}{delta}, under "
        f"{world.accountant}. The attackers know everything but the secret, which a coin draws for each "
        "trial.",
        "won: the part of guesses that were right, or of things that may not happen at all. exact: the same "
        "with exact answers. allowed: what the paid epsilon lets anybody win. An attack beats it only if so "
        "many right guesses have a probability below one in a million, over all attacks together.",
    ]


def _print(said: list[str], world: World, results: list[Judged]) -> None:
    from dpsql.attacks.table import allowed_table, remarks, table_of, verdict

    def paragraph(text: str) -> str:
        return textwrap.fill(text, width(), subsequent_indent="  ", break_on_hyphens=False)

    for text in said[:-1]:
        put(paragraph(text))
    put(table_of(results))
    put(paragraph(said[-1]))
    put("")
    for line in remarks(results):
        put(paragraph(line))
    put("")
    put(allowed_table(world.delta))
    put(verdict(results))


def _json(options: Namespace, world: World, results: list[Judged]) -> str:
    from dpsql.attacks.table import facts, verdict

    return json.dumps(
        {
            "data": "made up" if options.database is None else options.database.name,
            "epsilon": world.epsilon,
            "delta": world.delta,
            "accountant": world.accountant,
            "trials": world.trials,
            "attacks": facts(results),
            "verdict": verdict(results),
        },
        indent=2,
    )
