"""Errors planted in the engine, and the attack or audit that finds each.

    PLANTED   dpsql attack            AUDITED   dpsql audit
    GUESSED   dpsql audit --attack    FUZZED    dpsql audit --fuzz

Each is one function replaced in a running process: a switch that the engine itself does not have. The page
dpsql/docs/attacks.md lists them (tests/attacks_page.py), tests/privacy/test_planted_errors.py plants them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsql.audit.noiseless import best
from dpsql.detail_kinds import Draw, part
from dpsql.engines.duckdb import DuckDB
from dpsql.engines.row_cells import Row
from dpsql.errors import Error, refuse
from dpsql.ir.plan import MeasurePlan, Noise, Threshold
from dpsql.ir.table import ExactTable
from dpsql.mechanisms import mechanism
from dpsql.mechanisms.threshold import steps_for
from dpsql.plan.noise_choice import noise_with
from dpsql.release.completed import completed
from dpsql.release.matrices import noised
from dpsql.release.release import from_system, release
from dpsql.session.budget import AnalystBudget

Patch = Callable[[pytest.MonkeyPatch], None]


def part_of_the_noise(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("dpsql.releasing.from_system", lambda noise, size: from_system(noise, size) // 4)


def third_of_the_noise(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("dpsql.releasing.from_system", lambda noise, size: from_system(noise, size) // 3)


def half_of_the_noise(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("dpsql.releasing.from_system", lambda noise, size: from_system(noise, size) // 2)


def fixed_seed(patch: pytest.MonkeyPatch) -> None:
    def seeded(noise: Noise, size: int) -> NDArray[np.int64]:
        return mechanism(noise.mechanism).draw(noise.scale, size, random.Random("seed").randbytes)

    patch.setattr("dpsql.releasing.from_system", seeded)


def one_draw_for_all(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("dpsql.releasing.from_system", lambda noise, size: np.repeat(from_system(noise, 1), size))


def a_tenth_is_paid(patch: pytest.MonkeyPatch) -> None:
    def tenth(self: AnalystBudget, planned: Any) -> Any:
        return self.accountant.most(planned.epsilon / 10, self.budget)

    patch.setattr(AnalystBudget, "price", tenth)


def repeats_are_answered_anew(patch: pytest.MonkeyPatch) -> None:
    from dpsql.release.serialization import to_bytes
    from dpsql.releasing import release_stages

    patch.setattr(
        "dpsql.pipeline.stored_release",
        lambda session, plan, receipt: (to_bytes(release_stages(session, plan)), None),
    )


def no_threshold(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        "dpsql.releasing.release", lambda exact, plan, draw: release(exact, plan, draw, threshold=1)
    )


def choices_without_chance(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        "dpsql.releasing.release", lambda exact, plan, draw: release(exact, plan, draw, choose=best)
    )


def values_are_not_clamped(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("dpsql.engines.row_cells.clamped_sql", lambda name, *given, **named: name)


def rows_are_not_clipped(patch: pytest.MonkeyPatch) -> None:
    """The engine enforces a clip a thousand times wider than the noise was made for."""
    measure = DuckDB.measure

    def wide(self: DuckDB, planned: MeasurePlan) -> Any:
        noise = replace(planned.noise, sensitivity=1000 * planned.noise.sensitivity)
        return measure(self, replace(planned, noise=noise))

    patch.setattr(DuckDB, "measure", wide)


def high_values_are_not_clamped(patch: pytest.MonkeyPatch) -> None:
    """Of the branches of a clamp, the one above the range gives the value itself."""
    patch.setattr(
        "dpsql.engines.row_cells.clamped_sql",
        lambda name, low, *more, **named: f"CASE WHEN {name} < {low} THEN {low} ELSE {name} END",
    )


def counts_behind_thresholds_are_exact(patch: pytest.MonkeyPatch) -> None:
    """Groups are shown by their number of units, which nobody pays for."""

    def exactly(exact: ExactTable, planned: MeasurePlan, draw: Draw) -> Any:
        groups, noisy = noised(exact, planned, draw)
        if isinstance(planned.rule, Threshold):
            noisy[:, planned.rule.statistic] = completed(exact, planned)[1][:, planned.rule.statistic]
        return groups, noisy

    patch.setattr("dpsql.release.release.noised", exactly)


def failures_are_refunded(patch: pytest.MonkeyPatch) -> None:
    """The ledger is put back as it was where an answer fails after its debit."""
    from dpsql.pipeline import answer

    def refunding(session: Any, *arguments: Any, **named: Any) -> Any:
        ledger: Path = session.ledger.path
        before = ledger.read_bytes()
        try:
            return answer(session, *arguments, **named)
        except Error:
            ledger.write_bytes(before)
            raise

    patch.setattr("dpsql.pipeline.answer", refunding)


def _persons(session: Any) -> int:
    with session.engine._reading():
        ((number,),) = session.engine._all("SELECT count(*) FROM people")
    assert isinstance(number, int)
    return number


def prices_by_data(patch: pytest.MonkeyPatch) -> None:
    price = AnalystBudget.price

    def more(self: Any, planned: Any) -> Any:
        amount = price(self, planned)
        return amount + amount if _persons(self) % 2 else amount

    patch.setattr(AnalystBudget, "price", more)


def notes_by_data(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        "dpsql.releasing._note", lambda session, *rest, empty: f"{_persons(session)} rows were read"
    )


def failures_by_data(patch: pytest.MonkeyPatch) -> None:
    from dpsql.planning import prepared

    def failing(session: Any, *arguments: Any) -> Any:
        if _persons(session) >= 200:
            raise refuse("D601", "the engine failed")
        return prepared(session, *arguments)

    patch.setattr("dpsql.pipeline.prepared", failing)


def order_by_value(patch: pytest.MonkeyPatch) -> None:
    from dpsql.releasing import answer_of

    def ordered(session: Any, plan: Any, *arguments: Any, **more: Any) -> Any:
        answer = answer_of(session, plan, *arguments, **more)
        if answer.columns[0] != "ward":
            return answer
        with session.engine._reading():
            exact = dict(session.engine._all("SELECT ward, count(*) FROM people GROUP BY ward"))
        return replace(answer, rows=sorted(answer.rows, key=lambda row: (exact[row[0]], row[0])))

    patch.setattr("dpsql.pipeline.answer_of", ordered)


def older_ledgers_are_read(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("dpsql.session.second_places", lambda policy, file, ledger: ())


@dataclass(frozen=True)
class Planted:
    """An error in words, the attack that finds it, and the epsilon and trials at which it surely does.

    ``long`` if that takes more than a few seconds.
    """

    words: str
    patch: Patch
    attack: str
    epsilon: float = 1.0
    trials: int = 1
    long: bool = False


PLANTED = (
    Planted("a quarter of the noise", part_of_the_noise, "reconstruction: presence", trials=50),
    Planted("a third of the noise", third_of_the_noise, "reconstruction: presence", trials=100, long=True),
    Planted("one draw of noise for all columns", one_draw_for_all, "reconstruction: presence", trials=10),
    Planted("noise from a fixed seed", fixed_seed, "differencing: leaving", 0.1, 40, long=True),
    Planted("a tenth of the price is debited", a_tenth_is_paid, "differencing", 5.0, 100, long=True),
    Planted("repeats are answered anew", repeats_are_answered_anew, "reuse"),
    Planted("an older ledger is taken for the newest", older_ledgers_are_read, "reuse"),
    Planted("groups need no threshold", no_threshold, "linkage"),
    Planted("a choice is always the likeliest", choices_without_chance, "tracker: a choice", 0.1, 40, True),
    Planted(
        "values are not clamped", values_are_not_clamped, "differencing: an extreme value", 1.0, 70, True
    ),
    Planted("rows are not clipped", rows_are_not_clipped, "differencing: many rows", 0.1, 40, True),
    Planted(
        "values above a range are not clamped",
        high_values_are_not_clamped,
        "differencing: an extreme value",
        1.0,
        70,
        True,
    ),
    Planted(
        "the count behind a threshold has no noise",
        counts_behind_thresholds_are_exact,
        "membership",
        trials=70,
    ),
    Planted("what fails is refunded", failures_are_refunded, "reuse"),
    Planted("a price depends on data", prices_by_data, "silence"),
    Planted("a note depends on data", notes_by_data, "silence"),
    Planted("a failure depends on data", failures_by_data, "silence"),
    Planted("groups are in the order of exact counts", order_by_value, "silence"),
)
"""The errors that ``dpsql attack`` finds. Its exit code is 1, and the table names the attack."""


def half_of_the_sensitivity(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        "dpsql.plan.noise_choice.noise_with",
        lambda facts, name, clip, ratio: noise_with(facts, name, replace(clip, steps=clip.steps // 2), ratio),
    )


def a_tenth_of_every_draw(patch: pytest.MonkeyPatch) -> None:
    def drawing(name: str) -> Any:
        draw = mechanism(name).draw
        return SimpleNamespace(draw=lambda *arguments: draw(*arguments) // 10)

    patch.setattr("dpsql.release.release.mechanism", drawing)


def choices_at_four_times_their_rate(patch: pytest.MonkeyPatch) -> None:
    def eager(room: str, kind: str) -> Any:
        released = part(room, kind).released
        return SimpleNamespace(
            released=lambda planned, *more: released(replace(planned, epsilon=4 * planned.epsilon), *more)
        )

    patch.setattr("dpsql.release.details.part", eager)


def the_likeliest_is_chosen(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("dpsql.release.details.choose", lambda choices, rate, words: best(choices, rate))


def threshold_one_unit_lower(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        "dpsql.plan.key_rule.steps_for",
        lambda name, scale, one, *more: steps_for(name, scale, one, *more) - one,
    )


def sums_of_nothing_are_null(patch: pytest.MonkeyPatch) -> None:
    """A unit none of whose rows counts in some sum has a NULL there, so that its norm is NULL: no clip."""
    summed = Row.summed
    patch.setattr(
        Row,
        "summed",
        lambda row, each: re.sub(r"coalesce\((sum\(\w+\)), 0\)", r"\1", summed(row, each)),
    )


@dataclass(frozen=True)
class Audited:
    """An error in words, a statement in which ``dpsql audit`` finds it, and what is said of it."""

    words: str
    patch: Patch
    sql: str
    verdict: str


AUDITED = (
    Audited(
        "half of the sensitivity is declared",
        half_of_the_sensitivity,
        "SELECT COUNT(*) FROM patients",
        "moves too far",
    ),
    Audited(
        "a tenth of the noise is drawn",
        a_tenth_of_every_draw,
        "SELECT COUNT(*) FROM patients",
        "tells too much",
    ),
    Audited(
        "choices are made at four times their rate",
        choices_at_four_times_their_rate,
        "SELECT MEDIAN(age) FROM patients",
        "tells too much",
    ),
    Audited(
        "the likeliest candidate is always chosen",
        the_likeliest_is_chosen,
        "SELECT MEDIAN(age) FROM patients",
        "not the planned noise",
    ),
    Audited(
        "a threshold is one unit lower",
        threshold_one_unit_lower,
        "SELECT city, COUNT(*) FROM patients GROUP BY city",
        "moves too far",
    ),
    Audited(
        "a unit's sum of no rows is NULL, and so is its norm",
        sums_of_nothing_are_null,
        "SELECT COUNT(*), SUM(cost) FILTER (WHERE patient_id > 1) FROM visits",
        "moves too far",
    ),
)
"""The errors that ``dpsql audit`` finds, with its verdict."""


@dataclass(frozen=True)
class Guessable:
    """An error in words, and a statement that ``dpsql audit --attack`` finds to tell too much with it."""

    words: str
    patch: Patch
    sql: str
    trials: int


GUESSED = (
    Guessable("half of the noise", half_of_the_noise, "SELECT COUNT(*) FROM patients", 3_000),
    Guessable("noise from a fixed seed", fixed_seed, "SELECT SUM(income) FROM patients", 100),
    Guessable(
        "one draw of noise for all columns",
        one_draw_for_all,
        "SELECT ward, COUNT(*) FROM patients GROUP BY ward",
        100,
    ),
    Guessable(
        "groups need no threshold", no_threshold, "SELECT city, COUNT(*) FROM patients GROUP BY city", 1_000
    ),
    Guessable(
        "a choice is always the likeliest",
        choices_without_chance,
        "SELECT MEDIAN(minutes) FROM visits WHERE patient_id < 3",
        100,
    ),
)
"""The errors that guesses from whole statements find."""


def fan_out_is_one(patch: pytest.MonkeyPatch) -> None:
    """A join with public rows is said to multiply nothing."""
    patch.setattr("dpsql.facts.ownership._multiply_rows", lambda owned, times: owned)


def prices_by_rows(patch: pytest.MonkeyPatch) -> None:
    from dpsql import pricing

    before = pricing.price_of

    def dearer(session: Any, kept: Any) -> Any:
        plan, price = before(session, kept)
        with session.engine._reading():
            ((rows,),) = session.engine._all("SELECT count(*) FROM visits")
        return plan, replace(price, epsilon=price.epsilon * (1 + rows / 1000))

    patch.setattr(pricing, "price_of", dearer)


@dataclass(frozen=True)
class Fuzzed:
    """An error in words, and a seed of ``dpsql audit --fuzz`` that finds it within so many triples."""

    words: str
    patch: Patch
    seed: int
    triples: int
    long: bool = False


FUZZED = (
    Fuzzed("a price depends on rows", prices_by_rows, 1, 40),
    Fuzzed("rows that a join multiplies count once", fan_out_is_one, 1, 500, True),
)
"""The errors that drawn queries find under an owner's policy."""

DRAWN = (("a unit's floats are added up as they come", "sums_in_any_order"),)
"""Errors that only longer runs of the tests find, and what plants them: grammar_tests/drawn/planted.py."""
