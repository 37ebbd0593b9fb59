"""Reconstruction: the secrets of everybody at once, from counts over sets of people.

    subsets           400 sums over a random half of the people each, least squares (Dinur and Nissim 2003);
                      each equation weighs as much as its margin says
    one by one        one statement with a sum for each person
    presence          one statement with a count of each person who has the secret

Conditions that share no person are measured together at the price of one of them, so one statement about each
person beats any number of subsets. Nor do they share noise, so that no column tells anything of another's; if
all had the same noise, two values would be left, and are looked for (``_shared``). A guess about presence
among those who have the secret is bounded by one step, one about a value by two.

Test: tests/privacy/test_attack_command.py
"""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from dpsql.attacks.ask import Ask
from dpsql.attacks.attack import Attack, Outcome, presence, value
from dpsql.attacks.world import World

_TIMES = 2  # as many subsets as persons
_MORE = 40  # subsets than persons at least: with fewer, two of ten persons are alike once in 20,000 times
_RELEASES = 4  # of one statement about everybody


def _subsets(world: World, ask: Ask) -> Outcome:
    persons = world.some
    bits = {person: bool(secrets.randbits(1)) for person in persons}
    subsets = len(persons) + max(_MORE, 0 if ask.exact else (_TIMES - 1) * len(persons))
    matrix, answers = np.zeros((subsets, len(persons))), list[tuple[float, float]]()
    price = world.epsilon / len(matrix)
    with ask.opened(world.drawn(bits)) as eve:
        for row in matrix:
            inside = _half(persons)
            row[:] = [person in set(inside) for person in persons]
            sql = (
                f"SELECT SUM(CASE WHEN {world.holds} THEN 1 ELSE -1 END) FROM {world.people} "
                f"WHERE {world.among(inside)}"
            )
            answers.append(eve.number(sql, price))
        spent = eve.spent
    sums, margins = np.array(answers).T
    weights = 1 / np.where(margins > 0, margins, 1.0)
    guesses = np.linalg.lstsq(matrix * weights[:, None], sums * weights, rcond=None)[0] > 0
    return _counted(guesses.tolist(), list(bits.values()), value(spent, world.delta))


def _half(persons: list[int | str]) -> list[int | str]:
    """Draw each person by a coin, again where nobody was drawn: no SQL asks for rows among no values."""
    while True:
        if inside := [person for person in persons if secrets.randbits(1)]:
            return inside


def _one_by_one(world: World, ask: Ask) -> Outcome:
    each = f"SUM(CASE WHEN {world.holds} THEN 1 ELSE -1 END) FILTER (WHERE {{}})"
    return _joint(world, ask, each, 0.0, value)


def _present(world: World, ask: Ask) -> Outcome:
    return _joint(world, ask, f"COUNT(*) FILTER (WHERE {world.holds} AND {{}})", 0.5, presence)


def _joint(world: World, ask: Ask, each: str, cut: float, allowed: Any) -> Outcome:
    """Ask one statement with a column for each person; guess those above the cut."""
    persons = world.some
    sql = f"SELECT {', '.join(each.format(world.one(person)) for person in persons)} FROM {world.people}"
    tried, won, spent = 0, 0, 0.0
    for _ in range(1 if ask.exact else _RELEASES):
        bits = {person: bool(secrets.randbits(1)) for person in persons}
        with ask.opened(world.drawn(bits)) as eve:
            numbers = np.array(eve.rows(sql, world.epsilon)[0], dtype=float)
            spent = max(spent, eve.spent)
        ties = np.array([secrets.randbits(1) == 1 for _ in persons])
        at = _shared(numbers, cut)
        outcome = _counted(((numbers > at) | ((numbers == at) & ties)).tolist(), list(bits.values()), 0.0)
        tried, won = tried + outcome.tried, won + outcome.won
    return Outcome(tried, won, allowed(spent, world.delta))


def _shared(numbers: np.ndarray[Any, np.dtype[np.float64]], cut: float) -> float:
    """Return where to cut: between the two values that are left if all columns had the same noise."""
    low, high = float(numbers.min()), float(numbers.max())
    step = 1.0 if cut else 2.0
    return (low + high) / 2 if 0 < high - low <= step + 1e-6 else cut


def _counted(guesses: list[bool], bits: list[bool], bound: float) -> Outcome:
    return Outcome(len(bits), sum(map(bool.__eq__, guesses, bits)), bound)


ATTACKS = (
    Attack(
        "reconstruction: subsets", "sums over twice as many random halves, least squares", _subsets, value
    ),
    Attack("reconstruction: one by one", "a sum for each person in one statement", _one_by_one, value),
    Attack(
        "reconstruction: presence", "a count of each person who has the secret, in one", _present, presence
    ),
)
