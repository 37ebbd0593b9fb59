"""Posteriors of released numbers: right under the law of their noise, free, and NULL where it is not known.

All noise that is compared is seeded here, so no test fails by chance. The coverage table of two laws and four
sizes is `python -m benchmarks posteriors`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import astuple
from pathlib import Path

import duckdb
import numpy as np
import pytest

import dpsql
from dpsql.aggregates import Floats
from dpsql.post import exponential_families
from dpsql.post.exponential_families import Seen, Summary, beta, gamma, log_gamma, normal, summary
from dpsql.post.posteriors import _density, _law, seen_alone

GAUSSIAN, LAPLACE = 4.6, math.sqrt(2)
"""Deviations of a count's noise: at epsilon 1 under zcdp, and of scale 1."""


def seen(first: float, second: float, deviation: float, name: str) -> Seen:
    scale = deviation if name == "gaussian" else deviation / math.sqrt(2)
    return seen_alone(np.array([first, second]), scale, name)


def told(found: Summary | None) -> Floats:
    assert found is not None
    return np.array([found.mean, found.sd, found.low, found.high])


def integrated(line: Floats, density: Floats) -> Floats:
    """The same four numbers by plain sums over a fine line."""
    weights = np.gradient(line) * density
    weights /= weights.sum()
    mean = (weights * line).sum()
    low, high = np.interp((0.025, 0.975), np.cumsum(weights) - weights / 2, line)
    return np.array([mean, math.sqrt((weights * np.square(line - mean)).sum()), low, high])


def whole(number: float, deviation: float, least: int) -> Floats:
    reach = 8 * deviation
    return np.arange(max(least, math.floor(number - reach)), max(number, least) + reach + 1)


BETAS = [
    (12, 25, GAUSSIAN, "gaussian"),
    (-20, 4, GAUSSIAN, "gaussian"),
    (3, 400, GAUSSIAN, "gaussian"),
    (20, 30, 40.0, "gaussian"),  # the noise is wider than both numbers: beside 0 each whole number counts
    (3, 8, LAPLACE, "laplace"),
    (40, 60, 8.0, "laplace"),
]


@pytest.mark.parametrize("case", BETAS, ids=str)
def test_beta_is_the_sum_over_all_hidden_numbers(case: tuple[float, float, float, str]) -> None:
    """Beside a sum over every pair, at 2,000 shares; off by at most a twenty-fifth of the deviation."""
    yes, no, deviation, _ = case
    law = seen(*case)
    y, m = whole(yes, deviation, 0)[:, None], whole(no, deviation, 0)[None]
    logs = law.noise(*np.broadcast_arrays(yes - y, no - m))
    logs = logs + log_gamma(y + m + 1) - log_gamma(y + 1) - log_gamma(m + 1)
    line = 1 / (1 + np.exp(-np.linspace(-14, 14, 2_000)))
    powers = np.exp(y[:, 0] * np.log(line)[:, None]), np.exp(m[0] * np.log1p(-line)[:, None])
    density = ((powers[0] @ np.exp(logs)) * powers[1]).sum(axis=1)
    exact = integrated(line, density)
    assert np.abs(told(summary(beta(1, 1), law)) - exact).max() < exact[1] / 25


def test_gamma_and_normal_are_the_sums_over_all_hidden_numbers() -> None:
    events, exposure, deviation = 100.0, 400.0, 30.0
    law = seen(events, exposure, deviation, "gaussian")
    y, m = whole(events, deviation, 0)[:, None], whole(exposure, deviation, 1)[None]
    logs = law.noise(*np.broadcast_arrays(events - y, exposure - m)) + y * np.log(m) - log_gamma(y + 1)
    line = np.exp(np.linspace(-6, 1, 400))
    density = np.array([np.exp(logs + y * math.log(rate) - m * rate).sum() for rate in line.tolist()])
    exact = integrated(line, density)
    assert np.abs(told(summary(gamma(1, 0), law)) - exact).max() < exact[1] / 25

    total, n, sd = 1000.0, 100.0, 3.0
    law = seen(total, n, GAUSSIAN, "gaussian")
    y, m = np.linspace(total - 30, total + 30, 121)[:, None], whole(n, GAUSSIAN, 1)[None]
    logs = law.noise(*np.broadcast_arrays(total - y, n - m)) - 0.5 * np.log(m)
    line = np.linspace(6, 16, 500)
    density = np.array([np.exp(logs - (y - m * mu) ** 2 / (2 * m * sd * sd)).sum() for mu in line.tolist()])
    exact = integrated(line, density)
    assert np.abs(told(summary(normal(sd), law)) - exact).max() < exact[1] / 25


def held(n: int, draws: int, interval: Callable[[float, float], Summary | None]) -> float:
    """How often an interval holds the share that it is of: shares are even, noise is Gaussian."""
    generator = np.random.default_rng(20)
    hits = 0
    for _ in range(draws):
        share = generator.uniform()
        yes = generator.binomial(n, share)
        first, second = np.rint(np.array((yes, n - yes)) + generator.normal(0, GAUSSIAN, 2)).tolist()
        found = interval(first, second)
        assert found is not None
        hits += found.low <= share <= found.high
    return hits / draws


def test_one_product_of_matrices_and_one_for_each_part_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of few persons, whose density is one product; of many, where this would be no float."""
    cases = [
        (family, seen_alone(np.array(numbers), scale, name))
        for family in (beta(1, 1), beta(0.5, 2), gamma(1, 0.1), normal(3.0))
        for numbers in ((12.0, 25.0), (-3.0, 41.0), (800.0, 230.0))
        for name, scale in (("laplace", 1.0), ("gaussian", 4.6))
    ]
    at_once = [summary(family, seen) for family, seen in cases]
    monkeypatch.setattr(exponential_families, "_FITS", 0.0)
    in_parts = [summary(family, seen) for family, seen in cases]
    for one, other in zip(at_once, in_parts, strict=True):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert astuple(one) == pytest.approx(astuple(other), rel=1e-9, abs=1e-9)
    assert any(one is not None for one in at_once)


def test_intervals_hold_the_truth_and_would_not_without_the_noise() -> None:
    """400 draws of .95 have a deviation of .011; intervals that ignore the noise hold .74 of 30 (planted)."""
    assert held(30, 400, lambda y, m: summary(beta(1, 1), seen(y, m, GAUSSIAN, "gaussian"))) > 0.92

    def deaf(yes: float, no: float) -> Summary | None:
        return summary(beta(1, 1), Seen((max(yes, 0), max(no, 0)), (0, 0), lambda y, m: 0 * y, 4))

    assert held(30, 400, deaf) < 0.85


def test_noises_that_are_correlated() -> None:
    """A number and what it leaves of another: with W's inverse the law is that of the draws behind them."""
    weights = np.array([[1.0, 0.0], [-1.0, 1.0]])  # yes, and n - yes
    first, second = np.array([[1.5]]), np.array([[0.5]])
    for name, expected in (("gaussian", -(1.5**2 + 2.0**2) / 2), ("laplace", -(1.5 + 2.0))):
        sizes = np.sqrt(np.square(weights).sum(axis=1))
        noise = _density(weights, sizes, name)
        assert noise is not None
        assert noise(first, second) == pytest.approx(expected)
    three = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert _law(np.zeros(2), three, "gaussian") is not None
    assert _law(np.zeros(2), three, "laplace") is None, "a sum of two Laplace draws is not one"
    assert _law(np.zeros(2), np.array([[1.0, 0.0], [1.0, 0.0]]), "gaussian") is None, "one number, twice"


POLICY = """
[budget]
epsilon = 100.0
delta = 1e-6
accountant = "{accountant}"
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
ward = {{ values = [0, 1, 2], null = false }}
smoker = {{}}
age = {{ range = [0, 100] }}
town = {{}}
"""

TABLE = """
CREATE TABLE people (id INTEGER PRIMARY KEY, ward INTEGER NOT NULL, smoker BOOLEAN NOT NULL,
                     age INTEGER NOT NULL, town VARCHAR NOT NULL);
INSERT INTO people SELECT i, i % 3, i % 10 < 3, i % 90, if(i < 12, 'small', 'large') FROM range(3000) AS t(i);
"""


@pytest.fixture(scope="module", params=["zcdp", "approx"])
def db(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dpsql.Connection]:
    path: Path = tmp_path_factory.mktemp("posteriors") / "people.duckdb"
    with duckdb.connect(str(path)) as owner:
        owner.execute(TABLE)
    path.with_suffix(".toml").write_text(POLICY.format(accountant=request.param))
    with dpsql.connect(path) as connection:
        yield connection


COUNTS = "COUNT(*) AS n, COUNT(*) FILTER (WHERE smoker) AS yes"


def test_a_posterior_is_free(db: dpsql.Connection) -> None:
    beta = "DP_BETA(yes, n - yes)"
    counts, asked, above = (
        db.execute(sql, epsilon=0.3)
        for sql in (
            f"SELECT ward, {COUNTS} FROM people GROUP BY ward",
            f"SELECT ward, {COUNTS}, {beta} AS p FROM people GROUP BY ward",
            f"SELECT ward, n, yes, {beta} FROM (SELECT ward, {COUNTS} FROM people GROUP BY ward)",
        )
    )
    assert counts.cost > 0
    assert asked.cost == above.cost == 0
    assert asked.rows == above.rows
    for row, (_, n, yes) in zip(asked.rows, counts.rows, strict=True):
        assert row[:3] == (row[0], n, yes)
        assert abs(row[3]["mean"] - 0.3) < 0.2
        assert row[3]["low"] < row[3]["mean"] < row[3]["high"]


def test_a_field_is_that_of_the_whole(db: dpsql.Connection) -> None:
    sql = f"SELECT {COUNTS}, DP_BETA(yes, n - yes) AS p, DP_BETA(yes, n - yes).low AS low FROM people"
    (row,) = db.execute(sql).rows
    assert row[3] == row[2]["low"]


def test_no_posterior_without_a_law(db: dpsql.Connection) -> None:
    """The same number twice; under Laplace noise, a number that two draws make, beside a third."""
    (row,) = db.execute("SELECT DP_BETA(COUNT(*), COUNT(*)) AS p FROM people").rows
    assert row == (None,)
    ages = "COUNT(*) FILTER (WHERE age {})"
    young, old, middle = (ages.format(which) for which in ("< 20", "> 60", "= 40"))
    (row,) = db.execute(f"SELECT DP_BETA({young} + {old}, {middle}) AS p FROM people").rows
    gaussian = db.budget.accountant == "zcdp"
    assert (row[0] is not None) == gaussian


def test_noise_too_wide_to_add_up_tells_nothing() -> None:
    """Among millions of hidden numbers there is no posterior, and no long sum over them."""
    for scale, told in ((30.0, True), (3e5, False), (3e9, False)):
        seen = seen_alone(np.array([10.0, 20.0]), scale, "gaussian")
        assert (summary(beta(1, 1), seen, 2**18) is not None) == told


def test_counts_that_were_raised_have_no_posterior(db: dpsql.Connection) -> None:
    sql = f"SELECT OPTIONS(non_negative = true) {COUNTS}, DP_BETA(yes, n - yes) AS p FROM people"
    assert db.execute(sql).rows[0][2] is None


def test_a_count_near_its_threshold_has_no_posterior(db: dpsql.Connection) -> None:
    """Of 3,000 persons 12 are in a small town: if it is shown at all, its noise was large."""
    sql = "SELECT town, DP_GAMMA(COUNT(*), 10) AS rate FROM people GROUP BY town"
    shown = dict(db.execute(sql).rows)
    assert shown["large"]["mean"] == pytest.approx(298.8, abs=30)
    assert shown.get("small") is None
