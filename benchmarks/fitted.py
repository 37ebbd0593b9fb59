"""What is the error of counts and sums with a clip that is chosen, beside the best fixed one in hindsight?

Every row stands for all the choices that the mechanism may make, each with its exact chance, and for all
noise. What each clip cuts off is measured on the data, without noise. ``error`` is the mean of |answer -
truth| over groups, choices and noise, a tenth of the price paid for the choice; ``ratio`` is that divided by
the error of the best of all clips at the whole price, which nobody knows beforehand. ``none`` is the chance
that nothing is chosen. ``rows`` is the median of the chosen clips, in rows, and ``best`` is the best one.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np

import dpsql
from benchmarks.data import session_of
from benchmarks.timing import Report, Setting, Table, Verdict
from dpsql.details.clip_search.release import units_at
from dpsql.ir.bound import Bound, Missing, MissingClip
from dpsql.ir.clip_search import ClipSearch
from dpsql.ir.plan import MeasurePlan, Plan
from dpsql.ir.source import Source
from dpsql.mechanisms.clip_ladder import covering, handicaps, rate, scores
from dpsql.plan.bound_lookup import Lookup
from dpsql.plan.clip_search import clip_of
from dpsql.planning import planned
from dpsql.release.release import completed
from dpsql.session import Session

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIZES = (1_000, 10_000, 100_000)
PRICES = (0.1, 1.0)
FEW = 1e-4
"""Chance of a choice below which it is left out."""

_FIT = "SELECT OPTIONS(max_rows_contributed = auto)"
QUESTIONS = {
    "visits": f"{_FIT} COUNT(*) FROM visits",
    "visits by place": f"{_FIT} place, COUNT(*) FROM visits GROUP BY place",
    "spent by place": f"{_FIT} place, SUM(spent) FROM visits GROUP BY place",
}
PLACES = 20


def run(setting: Setting) -> Report:
    tables, worst = [], {"a gap": 0.0, "no gap": 0.0}
    for accountant in ("zcdp",) if setting.quick else ("zcdp", "pure"):
        table = Table(
            f"a chosen clip beside the best one, {accountant}",
            ("question", "tail", "people", "epsilon", "error", "ratio", "none", "rows", "best"),
        )
        for tail in ("one in a hundred", "heavy", "light")[: 1 if setting.quick else 3]:
            for size in SIZES[:1] if setting.quick else SIZES:
                path = _visits(setting, tail, size, accountant)
                with dpsql.connect(path) as db:
                    for question, sql in QUESTIONS.items():
                        for price in PRICES:
                            found = _compared(session_of(db), sql, price)
                            table.rows.append((question, tail, size, price, *found))
                            if question != "visits" and size >= 10_000 and price == 1.0:
                                gap = "a gap" if tail.startswith("one") else "no gap"
                                worst[gap] = max(worst[gap], found[1])
        tables.append(table)
    return Report(
        tuple(tables),
        tuple(
            Verdict(
                f"the greatest ratio by place, epsilon 1, from 10,000 people on, {gap} in the tail",
                ratio,
                1.25,
            )
            for gap, ratio in worst.items()
        ),
    )


def _compared(session: Session, sql: str, price: float) -> tuple[float, float, float, float, float]:
    """Return the error, its ratio to the best, the chance of none, and the median and best clip in rows."""
    places: dict[Missing, Bound] = {}
    first = _planned(session, sql, price, places)
    assert first.first is not None
    ((missing,), (search,)) = first.first.missing_bounds, first.first.measures
    detail = search.details[0].detail
    assert isinstance(missing, MissingClip)
    assert isinstance(detail, ClipSearch)
    counted = units_at(detail, session.engine.measure(search).details[0])
    strength = first.first.strength
    exponents = np.array(scores(counted, detail.few)) * float(rate(strength))
    logs = exponents - np.array(handicaps(detail.limits, detail.few, strength))
    chances = np.exp(logs - logs.max())
    chances /= chances.sum()
    errors, whole = np.full((2, len(detail.limits) + 1), np.inf)
    truth = None
    for place in range(len(detail.limits), -1, -1):
        places[missing] = clip_of(missing, place, "now")
        if place == len(detail.limits):  # what is used where nothing is chosen is too wide to cut anybody
            places[missing] = replace(places[missing], high=detail.limits[-1])
        (measure,) = _planned(session, sql, price, places).measures
        if truth is None:
            truth = _sums(session, measure)
        fits = place >= covering(counted)
        cut = np.zeros_like(truth) if fits else np.abs(truth - _sums(session, measure))
        errors[place] = _mean_error(cut, measure, 1.0)
        share = 0.9 if session.accountant.name == "pure" else math.sqrt(0.9)
        whole[place] = _mean_error(cut, measure, share)
        if whole[place] > 3 * whole.min() and chances[:place].sum() < FEW:
            break
    steps = float(measure.measure.statistics[0].step)
    kept = np.isfinite(errors)
    error = float((chances[kept] * errors[kept]).sum() / chances[kept].sum())
    median = int(np.searchsorted(np.cumsum(chances), 0.5))
    rows = [limit / missing.one for limit in (*detail.limits, detail.limits[-1])]
    best = int(whole.argmin())
    return error * steps, error / float(whole.min()), float(chances[-1]), rows[median], rows[best]


def _sums(session: Session, measure: MeasurePlan) -> NDArray[np.float64]:
    return completed(session.engine.measure(measure), measure)[1].astype(float)


def _mean_error(cut: NDArray[np.float64], measure: MeasurePlan, share: float) -> float:
    """Return the mean of |noise - what is cut|, with this share of the plan's noise."""
    scale = measure.noise.scale * share
    if measure.noise.mechanism == "laplace":
        return float((cut + scale * np.exp(-cut / scale)).mean())
    flat = cut / scale / math.sqrt(2)
    erf = np.array([math.erf(x) for x in flat.flat]).reshape(flat.shape)
    return float((scale * math.sqrt(2 / math.pi) * np.exp(-(flat**2)) + cut * erf).mean())


def _planned(session: Session, sql: str, price: float, clips: dict[Missing, Bound]) -> Plan:
    lookup = Lookup(True, clips.get, lambda _: bool(clips))
    return planned(session, Source(sql), (), session.terms(price), lookup)


def _visits(setting: Setting, tail: str, size: int, accountant: str) -> Path:
    """Create people with visits of many places, about six a person."""
    path = setting.folder / f"fitted-{tail.replace(' ', '-')}-{size}-{accountant}.duckdb"
    generator = np.random.default_rng(size)
    rows = np.maximum(1, np.rint(generator.lognormal(math.log(6), 0.6, size)))
    if tail == "one in a hundred":
        heavy = generator.random(size) < 0.01
        rows[heavy] = np.rint(300 * generator.lognormal(0, 0.2, int(heavy.sum())))
    elif tail == "heavy":
        rows = np.minimum(20_000, np.ceil(3 * (generator.pareto(1.5, size) + 1)))
    else:
        rows = 1.0 + generator.poisson(5, size)
    person = np.repeat(np.arange(size), rows.astype(np.int64))
    home = generator.integers(0, PLACES, size)[person]
    place = np.where(generator.random(len(person)) < 0.5, home, generator.integers(0, PLACES, len(person)))
    visits: dict[str, Any] = {
        "person": person,
        "place": place,
        "spent": generator.lognormal(2, 1, len(person)),
    }
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT i AS person FROM range(?) AS r(i)", [size])
        connection.register("made", visits)
        connection.execute("CREATE TABLE visits AS SELECT * FROM made")
    delta = "" if accountant == "pure" else "delta = 1e-6\n"
    listed = ", ".join(map(str, range(PLACES)))
    path.with_suffix(".toml").write_text(
        f'[budget]\nepsilon = 10.0\n{delta}accountant = "{accountant}"\n'
        '[unit]\nname = "person"\ntable = "people"\nkey = "person"\n[tables.people]\n'
        '[tables.visits]\nunit = { column = "person" }\n[tables.visits.columns]\n'
        f"place = {{ values = [{listed}] }}\nspent = {{ range = [0, 1000] }}\n"
    )
    return path
