"""Answers at random: their exact chances, and that one word decides one answer."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from dpsql.ir.export import Design
from dpsql.mechanisms.randomized_response import LEAST, MOST, WORDS, answers, design

SIZES = (2, 3, 4, 5, 7, 10, 11, 40, 121, 1_001)
EPSILONS = (LEAST, 0.001, 0.1, 1.0, 1.0986122886681098, 3.0, 10.0, MOST)


def _power(epsilon: float) -> mpf:
    with mp.workdps(60):
        return mp.exp(mpf(epsilon))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("size", SIZES)
def test_no_answer_is_likelier_than_e_to_the_epsilon(size: int, epsilon: float) -> None:
    how = design(size, epsilon)
    with mp.workdps(60):
        assert how.own > how.chance
        # the other direction of both kinds: (1 - q) / (1 - p) of a mark, p = 1/2
        loss = (1 - how.chance) / how.chance if how.marks else how.own / how.chance
        assert mpf(loss.numerator) / loss.denominator <= _power(epsilon)
        # and it is used up, to the last of 2^-64: one word less for the others would be too much
        fewer = Fraction(how.other - 1, WORDS)
        if fewer and epsilon > 0.01:
            more = (1 - fewer) / fewer if how.marks else (1 - (size - 1) * fewer) / fewer
            assert mpf(more.numerator) / more.denominator > _power(epsilon) * (1 - mpf(10) ** -15)


def test_direct_answers_below_three_e_to_the_epsilon() -> None:
    """3 e + 2 = 10.15: the shares' errors are equal there (k = 16 has .0075 against .0061)."""
    assert [design(size, 1.0).marks for size in (2, 10, 11, 100)] == [False, False, True, True]


@pytest.mark.parametrize("size", [2, 3, 7])
def test_one_word_decides_a_direct_answer(size: int) -> None:
    """The words beside every border: (k - 1) intervals of ``other`` words, then all the rest."""
    how = Design(size, False, design(size, 1.0).other)
    for truth in range(size):
        others = [value for value in range(size) if value != truth]
        words, expected = [], []
        for i, value in enumerate(others):
            words += [i * how.other, (i + 1) * how.other - 1]
            expected += [value, value]
        words += [(size - 1) * how.other, WORDS - 1]
        expected += [truth, truth]
        given = answers(np.full(len(words), truth), how, _from(words))
        assert given.tolist() == expected


def test_one_word_decides_a_mark() -> None:
    how = design(20, 1.0)
    assert how.marks
    half, other = WORDS // 2, how.other
    words = [other - 1, other, half - 1, half] * 5
    given = answers(np.array([2]), how, _from(words))[0]
    assert given.tolist() == [True, False, True, False] + [True, False, False, False] * 4
    given = answers(np.array([3]), how, _from(words))[0]
    assert given.tolist() == [True, False, False, False] * 5


def test_a_word_for_every_mark_of_every_row() -> None:
    asked: list[int] = []

    def words(size: int) -> bytes:
        asked.append(size)
        return bytes(size)

    answers(np.zeros(3_000, dtype=np.int64), design(1_001, 1.0), words)
    assert sum(asked) == 3_000 * 1_001 * 8


def _from(words: list[int]):
    content = b"".join(word.to_bytes(8, "little") for word in words)

    def given(size: int) -> bytes:
        assert size == len(content)
        return content

    return given
