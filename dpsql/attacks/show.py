"""Run the attacks on a world, with dpsql's answers and with exact ones, and judge them.

Test: tests/privacy/test_attack_command.py
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from importlib import import_module

from dpsql.attacks.ask import Dpsql, Exact
from dpsql.attacks.attack import Attack, Outcome
from dpsql.attacks.chances import ERRS, beats
from dpsql.attacks.world import World
from dpsql.errors import Error, InternalError
from dpsql.lazy_dataclass import dataclass

ROOMS = (
    "averaging",
    "differencing",
    "tracker",
    "reconstruction",
    "linkage",
    "membership",
    "silence",
    "reuse",
)
"""The files of the attacks, in the order of the table."""


def attacks() -> tuple[Attack, ...]:
    """Return every attack there is."""
    return tuple(attack for room in ROOMS for attack in import_module(f"dpsql.attacks.{room}").ATTACKS)


@dataclass(frozen=True, slots=True)
class Judged:
    """What an attack won against dpsql, and against exact answers; ``lacks`` says why it was not run.

    ``can_beat``: right guesses alone would have been too many.
    """

    name: str
    does: str
    ours: Outcome
    exact: Outcome | None
    beat: bool
    can_beat: bool
    lacks: str = ""


def show(world: World, names: Sequence[str], jobs: int, done: Callable[[Judged], None]) -> list[Judged]:
    """Run attacks on the world, some at a time, and tell of each that is done."""
    judged = []
    for result in _results(world, names, jobs):
        judged.append(result)
        done(result)
    return judged


def _results(world: World, names: Sequence[str], jobs: int) -> Iterator[Judged]:
    if jobs == 1:
        yield from (judge(world, name) for name in names)
        return
    # not forked: engines have threads
    with multiprocessing.get_context("spawn").Pool(jobs, _ignore_interrupts) as pool:
        yield from pool.imap(partial(judge, world), names)


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the process that waits, which ends this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def judge(world: World, name: str) -> Judged:
    """Run one attack. Its level is its part of that of all attacks, whichever are run."""
    every = attacks()
    attack = next(each for each in every if each.name == name)
    lacks = attack.needs(world)
    if lacks:
        nothing = Outcome(0, 0, attack.allowed(world.epsilon, world.delta))
        return Judged(attack.name, attack.does, nothing, None, False, False, f"needs {lacks}")
    try:
        exact = None
        if attack.exact:
            with closing(Exact(world)) as plain:
                exact = attack.run(world, plain)
        with closing(Dpsql(world)) as engine:
            ours = attack.run(world, engine)
    except InternalError:
        raise
    except Error as error:  # a refusal depends on no private data, and says none
        allowed = attack.allowed(world.epsilon, world.delta)
        exact, ours = None, Outcome(0, 0, allowed, f"refused: {error.title}")
    beat, can_beat = (beats(won, ours.tried, ours.bound, ERRS / len(every)) for won in (ours.won, ours.tried))
    return Judged(attack.name, attack.does, ours, exact, beat, can_beat)
