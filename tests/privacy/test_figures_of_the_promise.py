"""Each number of epsilon in the README's promise and in the promise itself is computed from the accountants.

A sentence is written anew with what is computed, and looked for in the text; in the sections below no figure
is left over. A number that changes is printed as it has to be.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.accounting import Accountant, Budget, opened
from dpsql.accounting.choices import choice_rho
from dpsql.accounting.concentrated import conversion_delta
from dpsql.accounting.conversions import analytic_sigma, rho_sigma, zcdp_rho
from dpsql.accounting.group_privacy import group_privacy
from dpsql.accounting.responses import designed_divergence, designed_rho
from dpsql.attacks.chances import right
from dpsql.facts.ownership import FAN_OUT
from dpsql.ir.event import Event, LaplaceEvent, ResponseEvent
from dpsql.ir.measure import REPLICAS
from dpsql.post.margins import CONFIDENCE

ROOT = Path(__file__).resolve().parents[2]
README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
PROMISE = (ROOT / "dpsql" / "docs" / "privacy-promise.md").read_text(encoding="utf-8")
FIVE = Budget(5.0, 1e-6)


def factor(epsilon: float, units: int) -> str:
    """How much the odds change at most, if the whole budget is epsilon and there are so many steps."""
    promised = group_privacy(opened("pure", Budget(epsilon, 0.0)), Budget(epsilon, 0.0), units, False)
    assert promised is not None
    odds = math.exp(promised[0])
    return f"{odds:,.0f}" if odds >= 100 else f"{odds:.1f}"


def point(name: str, units: int, thresholds: bool) -> str:
    """A cell of the promise's table."""
    promised = group_privacy(opened(name, FIVE), FIVE, units, thresholds)
    if promised is None:
        delta = FIVE.delta * math.fsum(math.exp(step * FIVE.epsilon) for step in range(units))
        return f"nothing: a delta of {delta:.1f}"
    epsilon, delta = promised
    digits, _, power = f"{delta:.1e}".partition("e")
    short = "0" if not delta else f"{digits.removesuffix('.0')}e{int(power)}"
    return f"({epsilon:.2f}".removesuffix("0").removesuffix("0").removesuffix(".") + f", {short})"


def part(rules: Accountant, event: Event) -> str:
    """The part of a budget of 5 that an event takes."""
    charged, total = rules.charge((event,)), rules.total(FIVE)
    return f"{100 * charged.main / total.main:.0f} %"  # type: ignore[attr-defined]  # both count whole units


# ---- the sentences -------------------------------------------------------------------------------------


def test_the_readmes_promise() -> None:
    assert (
        f"({factor(1.0, 1)} for an epsilon of 1, {factor(5.0, 1)} for 5), except with probability delta"
        in README
    )
    assert f"e^(2 epsilon) ({factor(1.0, 2)} and {factor(5.0, 2)}), except with probability" in README


@pytest.mark.parametrize("units", [1, 2, 4])
def test_the_table_of_steps(units: int) -> None:
    """The last column holds for any accountant: of those with a delta it is the same."""
    last = {point(name, units, True) for name in ("zcdp", "rdp", "approx")}
    assert len(last) == 1
    row = f"| {units} | {point('pure', units, False)} | {point('zcdp', units, False)} | {last.pop()} |"
    assert row in PROMISE


def test_what_large_single_events_take() -> None:
    noise, coin = LaplaceEvent(1, 1.0), ResponseEvent(math.log(3))
    rdp, zcdp = opened("rdp", FIVE), opened("zcdp", FIVE)
    text = " ".join(PROMISE.split())
    of_noise = f"takes {part(rdp, noise)} where it takes {part(zcdp, noise)} under `zcdp`"
    of_a_coin = f"takes {part(rdp, coin)}, where {part(zcdp, coin)} would be needed"
    assert f"Laplace noise of epsilon 1 {of_noise}, and a coin-flip response (ln 3) {of_a_coin}" in text


def test_what_zcdp_gives_away() -> None:
    text, delta = " ".join(PROMISE.split()), conversion_delta(FIVE)
    wider = [
        f"{100 * (rho_sigma(Fraction(zcdp_rho(e, delta))) / analytic_sigma(e, FIVE.delta) - 1):.1f} %"
        for e in (1.0, 5.0)
    ]
    assert f"is {wider[0]} wider at a price of 1, and {wider[1]} at 5, than the curve" in text
    less = []
    for price in (3.0, 10.0):
        rho = zcdp_rho(price, delta)
        less.append(f"{100 * (1 - float(choice_rho(Fraction(math.sqrt(8 * rho)))) / rho):.0f} %")
    assert f"a price of 3 or 10 buys take {less[0]} and {less[1]} less than epsilon^2 / 8" in text


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
@pytest.mark.parametrize("values", [3, 10, 0])
def test_what_responses_are_charged(epsilon: Fraction, values: int) -> None:
    """A hundredth more than at the worst order at most, which these 149 miss by less than a thousandth."""
    assert "and responses to within 1 %" in " ".join(PROMISE.split())
    orders = [1 + Fraction(place**2, 1_000) / epsilon for place in range(1, 150)]
    worst = max(designed_divergence(epsilon, values, order) / order for order in orders)
    assert worst <= designed_rho(epsilon, values) <= Fraction(1011, 1000) * worst


def test_figures_of_other_limits() -> None:
    text = " ".join(PROMISE.split())
    assert f"together may multiply one private row at most {FAN_OUT:,} times" in text
    assert f"{REPLICAS} replicas of what was released" in text
    assert f"keeps with {100 * CONFIDENCE:.0f} % probability" in text
    phase = conversion_delta(FIVE) / FIVE.delta
    assert phase == pytest.approx(4 / 5)
    assert "four fifths of delta turn rho into epsilon, one fifth is for thresholds" in text


def test_guesses_follow_from_the_odds() -> None:
    """What attacks may win, and what the promise says, are one number: even odds times the factor."""
    for epsilon in (0.1, 1.0, 5.0):
        for steps in (1, 2):
            promised = group_privacy(opened("pure", Budget(epsilon, 0.0)), Budget(epsilon, 0.0), steps, False)
            assert promised is not None
            odds = math.exp(promised[0])
            assert right(epsilon, steps=steps) == pytest.approx(odds / (1 + odds), rel=1e-12)


# ---- nothing is left over ------------------------------------------------------------------------------

KNOWN = (
    r"\(2\.7 for an epsilon of 1, 148 for 5\)",
    r"\(7\.4 and 22,026\)",
    r"e\^\(2 epsilon\)",
    r"For a policy of epsilon 5 and delta 1e-6",
    r"\| [124] \|.*?\|\n",
    r"\(Vadhan 2017, lemma 2\.2\)",
    r"k\^2",
    r"\(Bun and Steinke 2016, proposition 1\.9\)",
    r"delta \(1 \+ e\^epsilon( \+ \.\.\. \+ e\^\(\(k-1\) epsilon\))?\)",
    r"\(1 \+ e\^epsilon\) delta",
    r"above 1",
)
"""What is computed above, and what is no figure of a promise: the years of papers, powers, and 1."""

ELSEWHERE = (
    r"(?m)^\d\. ",
    r"\(\[[^]]*\]\([^)]*\)\)|\[[^]]*\]\([^)]*\)",
    r"L[12]\b",
    r"most 1\b",
    r"10,000 times",
    r"\(epsilon, 0\)",
    r"\(Dwork and Roth 2014, theorem 3\.20\)",
    r"At a delta of 1e-6 the noise of a single query is \S+ % wider at a price of 1, and \S+ % at 5",
    r"within 1 %",
    r"a price of 3 or 10 buys take \d+ % and \d+ % less than epsilon\^2 / 8",
    r"Of a budget of 5 at a delta of 1e-6, Laplace noise of epsilon 1 takes \d+ % where it takes \d+ %",
    r"\(ln 3\) takes \d+ %, where \d+ %",
    r"`responses = 1\.2`",
    r"`kill -9`",
    r"\(Feldman and Zrnic 2021; Whitehouse and others 2023\)",
    r"Vadhan and Wang 2021",
    r"for 100 answers and for 100,000",
    r"95 % probability",
    r"`[^`]*`",
    r"64 replicas",
)
"""The same of the other sections, whose headings are numbered."""


@pytest.mark.parametrize(
    ("text", "known"),
    [
        (
            (ROOT / "README.md").read_text().partition("## The promise\n")[2].partition("\nIts limits")[0],
            KNOWN,
        ),
        (PROMISE.partition("## 1. The statement\n")[2].partition("**What they may observe**")[0], KNOWN),
        (re.sub(r"(?m)^## .*", "", PROMISE.partition("**What they may observe**")[2]), ELSEWHERE),
    ],
    ids=["README", "promise", "the rest of the promise"],
)
def test_no_other_figure_is_promised(text: str, known: tuple[str, ...]) -> None:
    assert text
    for each in known:
        text = re.sub(each.replace(" ", r"\s+"), "", text)
    assert re.findall(r".{0,20}\d.{0,20}", text) == []
