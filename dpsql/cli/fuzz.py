"""``dpsql audit DB --fuzz N``: drawn queries on made-up rows under the owner's policy, each on neighbours."""

from __future__ import annotations

import secrets
import textwrap
from argparse import Namespace
from typing import TYPE_CHECKING

from dpsql.cli.shared_arguments import check_is_there
from dpsql.terminal.output import flush, put, width
from dpsql.terminal.progress import Progress

if TYPE_CHECKING:
    from dpsql.fuzz.judging import Violation

FAILED = 1

_LEGEND = (
    "The schema, the policy and the public rows are this database's; the private rows are made up, and so is "
    "the ledger. Of each query, a database and the same without one unit, these are compared: how far exact "
    "numbers move with what is declared, groups, prices, types, explanations, plans, refusals and errors."
)


def fuzz(options: Namespace) -> int:
    """Judge so many triples; return 0 if no judge minds any."""
    from dpsql.dbapi.connection import beside
    from dpsql.fuzz.long_run import long_run
    from dpsql.fuzz.owners_schema import empty_like
    from dpsql.session.checks import load_policy

    check_is_there(options.database)
    policy = load_policy(options.policy or beside(options.database, ".toml"))
    seed = secrets.randbelow(10**6) if options.seed is None else options.seed
    progress = Progress(options.fuzz)

    def going(triples: int) -> None:
        progress.done = triples
        progress.at("triples")

    def found(of: int, violation: Violation) -> None:
        progress.clear()
        put(f"VIOLATION of seed {of}: {violation}")

    put(f"seed {seed}")
    flush()
    try:
        tally = long_run(
            lambda _: empty_like(options.database, policy),
            seed,
            options.fuzz,
            found,
            going=going,
            write=options.write,
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped: fuzzing pays nothing, and reads no private row") from None
    finally:
        progress.clear()
    kept = "FAILED" if tally.found else "PASSED"
    words = list(tally.lines())
    for paragraph in (f"{_LEGEND} {words[0]}", f"{kept}: {words[-1]}."):
        put(textwrap.fill(paragraph, max(40, min(width(), 100)), break_on_hyphens=False))
    flush()
    return FAILED if tally.found else 0
