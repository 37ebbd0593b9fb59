"""The text of a measure's sums, printed once for all prices.

    SELECT SUM(x) ... at epsilon 0.5      printed
    the same at epsilon 0.6               other noise, the same clip: the same text

Claim   a text that is kept is the one that printing again would give.
Proof   Of a plan, printing reads what ``_read`` takes from it; of a threshold, which statistic has it, not
        how many units it asks for. What else a text rests on, its printer names as ``others``. All of this
        is compared, and no value of it is ever changed.
Test    grammar_tests/test_corrected.py prints from nothing but what is compared
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias
from weakref import WeakKeyDictionary

from dpsql.ir.measure import Measure
from dpsql.ir.plan import MeasurePlan, Threshold

_Read: TypeAlias = tuple[object, ...]

_MOST = 4
"""Texts that are kept of one measure; the oldest goes first."""


class PrintedOnce:
    """The texts of measures, each as long as its measure."""

    def __init__(self) -> None:
        self._texts: WeakKeyDictionary[Measure, list[tuple[_Read, str]]] = WeakKeyDictionary()

    def text(self, planned: MeasurePlan, others: tuple[object, ...], printed: Callable[[], str]) -> str:
        """Return the text that is ``printed`` of this plan and of these ``others``."""
        read = (*_read(planned), *others)
        texts = self._texts.setdefault(planned.measure, [])
        for known, text in texts:
            if known == read:
                return text
        text = printed()
        texts.append((read, text))
        del texts[:-_MOST]
        return text

    def forget(self) -> None:
        self._texts.clear()


def _read(planned: MeasurePlan) -> _Read:
    rule: object = planned.rule
    if isinstance(planned.rule, Threshold):
        rule = Threshold, planned.rule.statistic, planned.rule.listed
    return planned.keys, rule, planned.shape, planned.bound, planned.groups
