"""OPTIONS(non_negative = true): what is raised to 0, what is not, and that it costs nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.ir.plan import MeasurePlan, PublicKeys
from dpsql.ir.table import ExactTable, ReleasedTable
from dpsql.mechanisms import mechanism
from dpsql.post.joint import numbers_of
from dpsql.post.non_negative import raised
from dpsql.release.release import release

FEW = "ward, smoker, COUNT(*) AS n FROM patients WHERE age > 80 GROUP BY ALL ORDER BY ALL"
CUBE = "ward, smoker, COUNT(*) AS n FROM patients WHERE age > 80 GROUP BY CUBE (ward, smoker)"
OPTION = "SELECT OPTIONS(non_negative = true) "


@pytest.mark.parametrize("asked", [FEW, CUBE])
def test_the_other_form_is_free(db: dpsql.Connection, asked: str) -> None:
    """The same numbers, but for those below 0."""
    plain = db.execute(f"SELECT {asked}", epsilon=0.02)
    above = db.execute(f"{OPTION}{asked}", epsilon=0.02)
    assert (above.cost, above.repeated) == (0.0, True)
    assert "raised to 0" in above.note
    assert "raised to 0" not in plain.note
    assert min(row[-1] for row in above) >= 0
    if asked == FEW:  # each number by itself
        assert [row[-1] for row in above] == [max(0, row[-1]) for row in plain]


def test_a_sum_that_may_be_negative_stays(db: dpsql.Connection) -> None:
    asked = "SUM(age - 200) AS below, COUNT(*) AS n FROM patients"
    assert list(db.execute(f"{OPTION}{asked}")) == list(db.execute(f"SELECT {asked}"))
    assert next(iter(db.execute(f"{OPTION}{asked}")))[0] < 0


def drawn(planned: MeasurePlan, exact: ExactTable, seed: int) -> ReleasedTable:
    words = np.random.default_rng(seed)
    noise = lambda noise, size: mechanism(noise.mechanism).draw(noise.scale, size, words.bytes)  # noqa: E731  # a name for one call
    return release(exact, planned, noise)


def test_cells_are_raised_together(db: dpsql.Connection) -> None:
    """Totals are sums of their parts still, nothing is below 0, and on the whole numbers are more exact."""
    plain, above = (plan_of(db._open(), f"{start} {CUBE}", 0.05).measures[0] for start in ("SELECT", OPTION))
    assert plain.joint is not None
    assert isinstance(above.rule, PublicKeys)
    inner = plain.measured
    exact = db._open().engine.measure(inner)
    truth = numbers_of(release(exact, inner, lambda noise, size: np.zeros(size, np.int64)), plain, True).sums
    errors = Counter[str]()
    for seed in range(20):
        cells = drawn(inner, exact, seed)
        table = numbers_of(cells, above, every_group=True)
        assert (table.sums >= 0).all()
        numbers = dict(zip(table.groups, table.sums[:, 0].tolist(), strict=True))
        totals = {
            keys: sum(n for group, n in numbers.items() if group[0] == number)
            for number, keys in above.rule.sets
        }
        assert totals[1, 2] == totals[(1,)]  # of the listed wards
        assert totals[(2,)] == totals[()]
        errors["above"] += int(np.square((table.sums - truth) >> 20).sum())
        errors["plain"] += int(np.square((numbers_of(cells, plain, True).sums - truth) >> 20).sum())
    assert errors["above"] < errors["plain"]


@pytest.mark.parametrize("sign", [np.maximum, np.minimum])
def test_no_number_moves_away_from_a_truth_that_is_not_negative(
    db: dpsql.Connection, sign: Callable[..., object]
) -> None:
    """Planted: what is above 0 is lowered to it."""
    asked = "ward, smoker, COUNT(*) AS n FROM patients GROUP BY ALL"
    (planned,) = plan_of(db._open(), f"{OPTION}{asked}", 0.05).measures
    exact = db._open().engine.measure(planned)
    truth = release(exact, planned, lambda noise, size: np.zeros(size, np.int64)).sums
    before = drawn(planned, exact, 1)
    after = raised(before, planned).sums if sign is np.maximum else np.minimum(before.sums, 0)
    nearer = bool((abs(after - truth) <= abs(before.sums - truth)).all())
    assert nearer is (sign is np.maximum)


def test_it_is_true_or_false(clinic: Path) -> None:
    with dpsql.connect(clinic) as db:
        plain = db.execute("SELECT OPTIONS(non_negative = false) COUNT(*) FROM patients")
        assert plain.note == db.execute("SELECT COUNT(*) FROM patients").note
        with pytest.raises(dpsql.ProgrammingError, match="non_negative is true or false"):
            db.execute("SELECT OPTIONS(non_negative = 1) COUNT(*) FROM patients")
