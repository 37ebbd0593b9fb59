"""What do the best known attacks win, beside what epsilon allows them, under each accountant?

On the made-up population of ``dpsql attack``, at full size. "Beaten" counts attacks that won more than their
bound allows (a false alarm in a million shows); the presence histogram's gain is what it guesses more than
chance, of what its bound does. Exact answers are attacked in the same way: the least success of all attacks
but linkage, which finds the persons that are alone on the public list.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from benchmarks.timing import Report, Setting, Table, Verdict
from dpsql.attacks.made_up import made_up
from dpsql.attacks.show import attacks, judge, show
from dpsql.attacks.world import World

ACCOUNTANTS, EPSILONS = ("pure", "approx", "zcdp"), (0.1, 1.0, 5.0)
TRIALS = 80
PRESENCE = "reconstruction: presence"
OF_PRESENCE = 5
"""How many times more trials of it: 4,000 persons deviate by .008 of what epsilon 1 allows, which is .231."""


def run(setting: Setting) -> Report:
    trials, epsilons = (2, (1.0,)) if setting.quick else (TRIALS, EPSILONS)
    table = Table(
        f"attacks, {trials} trials",
        ("accountant", "epsilon", "seconds", "attacks", "refused", "beaten", "presence gains", "exact least"),
    )
    for accountant in ACCOUNTANTS:
        for epsilon in epsilons:
            table.rows.append(_shown(setting.folder / f"{accountant}-{epsilon}", accountant, epsilon, trials))
    verdicts = [Verdict("attacks that beat their bound", sum(row[5] for row in table.rows), 0)]
    verdicts.append(Verdict("least success on exact answers", min(row[7] for row in table.rows), 0.99, True))
    verdicts += [
        Verdict(f"presence, pure at {row[1]:g}: gain, of the bound's", row[6], 0.9, at_least=True)
        for row in table.rows
        if row[0] == "pure" and row[1] >= 1
    ]
    return Report((table,), tuple(verdicts))


def _shown(folder: Path, accountant: str, epsilon: float, trials: int) -> tuple[object, ...]:
    (folder / "ledgers").mkdir(parents=True)
    delta = 0.0 if accountant == "pure" else 1e-6
    world = made_up(folder, folder / "ledgers", accountant, epsilon, delta, trials)
    began = time.perf_counter()
    judged = show(world, [attack.name for attack in attacks()], 2, lambda _: None)
    taken = time.perf_counter() - began
    answered = [each for each in judged if not each.ours.words.startswith("refused")]
    exact = [each.exact.success for each in answered if each.exact is not None and each.name != "linkage"]
    beaten, gain = sum(each.beat for each in judged), _gain(replace(world, trials=OF_PRESENCE * trials))
    return accountant, epsilon, taken, len(judged), len(judged) - len(answered), beaten, gain, min(exact)


def _gain(world: World) -> float:
    ours = judge(world, PRESENCE).ours
    return (ours.success - 0.5) / (ours.bound - 0.5)
