"""What do the best known attacks win, beside what epsilon allows them, under each accountant?

On the made-up population of ``dpsql attack``. "Beaten" counts attacks that won more than their bound allows
(a false alarm in a million shows), of those that "can beat" it: with fewer trials, not even right guesses
alone are too many. The presence histogram's gain is what it guesses more than chance, of what its bound does,
of 400 to 800 persons (of more in the verdicts). Exact answers are attacked in the same way: the least success
of all attacks but linkage, which finds those who are alone on the public list.
"""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

from benchmarks.timing import Report, Setting, Table, Verdict
from dpsql.attacks.ask import Dpsql
from dpsql.attacks.attack import Outcome
from dpsql.attacks.made_up import made_up
from dpsql.attacks.show import attacks, show
from dpsql.attacks.world import World

ACCOUNTANTS = ("pure", "approx", "zcdp")
TRIALS = {0.1: 40, 1.0: 80, 5.0: 40}
"""Of each secret bit. At 0.1 forty can show a beat; at 5 hardly any can, but of what may not happen."""

PRESENCE = "reconstruction: presence"
OF_PRESENCE, MORE = 80, {1.0: 5, 5.0: 1}
"""Trials of it, and how often: 4,000 and 800 persons deviate by .007 and .003; gains are .231 and .493."""


def run(setting: Setting) -> Report:
    trials_at = {1.0: 2} if setting.quick else TRIALS
    columns = (
        "accountant",
        "epsilon",
        "trials",
        "attacks",
        "refused",
        "can beat",
        "beaten",
        "presence gains",
        "exact least",
    )
    table = Table("attacks", (*columns, "seconds"))
    for accountant in ACCOUNTANTS:
        for epsilon, trials in trials_at.items():
            table.rows.append(_shown(setting.folder / f"{accountant}-{epsilon}", accountant, epsilon, trials))
    verdicts = [Verdict("attacks that beat their bound", sum(row[6] for row in table.rows), 0)]
    verdicts.append(Verdict("least success on exact answers", min(row[8] for row in table.rows), 0.99, True))
    verdicts += [
        Verdict(
            f"presence, pure at {epsilon:g}: gain, of the bound's", _gain_of_many(setting, epsilon), 0.9, True
        )
        for epsilon in trials_at
        if epsilon >= 1
    ]
    return Report((table,), tuple(verdicts))


def _shown(folder: Path, accountant: str, epsilon: float, trials: int) -> tuple[object, ...]:
    world, began = _world(folder, accountant, epsilon, trials), time.perf_counter()
    judged = show(world, [attack.name for attack in attacks()], 2, lambda _: None)
    taken = time.perf_counter() - began
    answered = [each for each in judged if not each.ours.words.startswith("refused")]
    exact = [each.exact.success for each in answered if each.exact is not None and each.name != "linkage"]
    beaten = sum(each.beat for each in judged)
    gain = _gain(next(each.ours for each in judged if each.name == PRESENCE))
    refused, can = len(judged) - len(answered), sum(each.can_beat for each in judged)
    return accountant, epsilon, trials, len(judged), refused, can, beaten, gain, min(exact), taken


def _gain_of_many(setting: Setting, epsilon: float) -> float:
    world = _world(setting.folder / f"many-{epsilon}", "pure", epsilon, 2 if setting.quick else OF_PRESENCE)
    attack = next(each for each in attacks() if each.name == PRESENCE)
    with closing(Dpsql(world)) as engine:
        seen = [attack.run(world, engine) for _ in range(1 if setting.quick else MORE[epsilon])]
    return _gain(Outcome(sum(each.tried for each in seen), sum(each.won for each in seen), seen[0].bound))


def _gain(seen: Outcome) -> float:
    return (seen.success - 0.5) / (seen.bound - 0.5)


def _world(folder: Path, accountant: str, epsilon: float, trials: int) -> World:
    (folder / "ledgers").mkdir(parents=True)
    delta = 0.0 if accountant == "pure" else 1e-6
    return made_up(folder, folder / "ledgers", accountant, epsilon, delta, trials)
