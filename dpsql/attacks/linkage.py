"""Linkage: groups by what a public list holds too, and the list gives the names.

    SELECT zip, birth, sex FROM people GROUP BY zip, birth, sex
      0151  1961-05-17  F      -> on the list there is one such woman, by name

The attacker has a perfect list. A name is found where a group is shown that is one person's alone.

Test: tests/privacy/test_attack_command.py
"""

from __future__ import annotations

from collections import Counter

from dpsql.attacks.ask import Ask
from dpsql.attacks.attack import Attack, Outcome, unusual
from dpsql.attacks.world import World
from dpsql.engines.identifiers import quote
from dpsql.errors import Error

_RELEASES = 5


def _names(world: World, ask: Ask) -> Outcome:
    columns = ", ".join(map(quote, world.quasi))
    listed = world.truth(f"SELECT {columns} FROM {world.people}")
    alone = {group for group, persons in Counter(listed).items() if persons == 1 and None not in group}
    releases = _RELEASES if not ask.exact else 1
    found = 0
    for _ in range(releases):
        with ask.opened(world.database) as eve:
            try:
                shown = eve.rows(f"SELECT {columns} FROM {world.people} GROUP BY {columns}", world.epsilon)
            except Error as error:
                if error.code != "D304":
                    raise
                return Outcome(len(listed), 0, unusual(world.epsilon, world.delta), "refused without a delta")
        found += len(alone & set(shown))
    return Outcome(releases * len(listed), found, unusual(world.epsilon, world.delta))


ATTACKS = (
    Attack(
        "linkage",
        "groups by columns that a public list of names holds too",
        _names,
        unusual,
        needs=lambda world: (
            "" if world.quasi else "columns whose values nobody declared in the table of units"
        ),
    ),
)
