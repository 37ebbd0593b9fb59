"""Trials of one secret bit: a fair coin draws it, a fresh ledger pays, and the guess is compared with it."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path

from dpsql.attacks.ask import Analyst, Ask
from dpsql.attacks.attack import Outcome
from dpsql.attacks.world import World


def guessed(
    world: World,
    ask: Ask,
    allowed: Callable[[float, float], float],
    database: Callable[[bool], Path],
    guess: Callable[[Analyst], bool],
    words: str = "",
) -> Outcome:
    """Draw, ask and guess as often as ``ask`` wants; the bound is that of the most that a trial paid."""
    won, spent = 0, 0.0
    for _ in range(ask.trials):
        bit = bool(secrets.randbits(1))
        with ask.opened(database(bit)) as analyst:
            won += guess(analyst) == bit
            spent = max(spent, analyst.spent)
    return Outcome(ask.trials, won, allowed(spent, world.delta), words)


def scored(
    world: World,
    ask: Ask,
    allowed: Callable[[float, float], float],
    database: Callable[[bool], Path],
    score: Callable[[Analyst], float],
    cuts: tuple[float, float],
) -> Outcome:
    """The same where the cut of a score is not known: trials of known bits, which do not count, choose it."""
    seen = list[tuple[float, bool]]()
    spent = 0.0
    training = max(4, ask.trials // 4)
    for number in range(training + ask.trials):
        bit = number % 2 == 0 if number < training else bool(secrets.randbits(1))
        with ask.opened(database(bit)) as analyst:
            seen.append((score(analyst), bit))
            spent = max(spent, analyst.spent)
    cut = max(cuts, key=lambda cut: sum((at > cut) == bit for at, bit in seen[:training]))
    won = sum((at > cut) == bit for at, bit in seen[training:])
    return Outcome(ask.trials, won, allowed(spent, world.delta))
