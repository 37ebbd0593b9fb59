"""4,000 answers, minus the exact numbers: noise has the declared law, and every number a draw of its own.

The tests and their levels are in ``laws``: all of a run together fail by chance once in a billion. Answers
are to be independent across columns, groups, queries, forks and processes.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from privacy.laws import FALSE_ALARM, Residuals, dependence, found, p_values, values
from privacy.planted import half_of_the_noise, one_draw_for_all

import dpsql
from dpsql.accounting import accountant
from dpsql.audit import plan_of
from dpsql.audit.whole_releases import Remembered
from dpsql.ir.plan import Noise
from dpsql.release.completed import completed
from dpsql.release.release import from_system
from dpsql.release.serialization import from_bytes
from dpsql.releasing import release_stages

ANSWERS = 4_000
SQL = "SELECT ward, SUM(income), SUM(height) FROM patients WHERE age > {} GROUP BY ward"
"""Everybody is older than a negative number: many questions have the same exact answer."""

FORKS = """
import json, os, random, sys
import dpsql
from dpsql import releasing
from dpsql.audit import plan_of
from dpsql.audit.whole_releases import Remembered
from dpsql.mechanisms import mechanism

path, ledger, sql, seeded = sys.argv[1:]
if seeded:
    words = random.Random().randbytes
    releasing.from_system = lambda noise, size: mechanism(noise.mechanism).draw(noise.scale, size, words)
with dpsql.connect(path, ledger=ledger) as db:
    session = db._open()
    plan, reading = plan_of(session, sql, 1.0), Remembered(session.engine.measure)
    releasing.release_stages(session, plan, read=reading)
    for child in range(3):
        ours, theirs = os.pipe()
        if os.fork() == 0:
            os.close(ours)
            tables = [releasing.release_stages(session, plan, read=reading)[0] for _ in range(200)]
            with os.fdopen(theirs, "w") as pipe:
                json.dump([table.sums.tolist() for table in tables], pipe)
            os._exit(0)
        os.close(theirs)
        with os.fdopen(ours) as pipe:
            print(pipe.read())
        os.wait()
"""


@pytest.fixture(params=["zcdp", "pure"])
def policy(request: pytest.FixtureRequest, clinics: Path, tmp_path: Path) -> Path:
    """The clinic's, with a budget for 4,000 answers: Gaussian noise, and Laplace's."""
    text = (clinics / "clinic" / "clinic.toml").read_text().replace('"zcdp"', f'"{request.param}"')
    text = text.replace("epsilon = 100.0", "epsilon = 10000.0")
    file = tmp_path / "clinic.toml"
    file.write_text(text if accountant(request.param).has_delta else text.replace("1e-6", "0.0"))
    return file


@pytest.fixture
def database(clinics: Path, policy: Path, tmp_path: Path) -> Iterator[dpsql.Connection]:
    path = clinics / "clinic" / "clinic.duckdb"
    with dpsql.connect(path, policy, tmp_path / "clinic.ledger") as db:
        yield db


def residuals(db: dpsql.Connection, answers: list[NDArray[np.int64]]) -> Residuals:
    """Subtract the exact sums of the three wards, which are released in the order of their names."""
    session = db._open()
    (measure,) = plan_of(session, SQL.format(-1), 1.0).measures
    groups, exact = completed(session.engine.measure(measure), measure)
    assert list(groups) == [("A",), ("B",), ("C",)]
    return Residuals(np.array(answers) - exact, measure.noise.mechanism, measure.noise.scale)


def released(db: dpsql.Connection) -> list[NDArray[np.int64]]:
    """The way of an answer from the measure to the release, without a ledger."""
    session = db._open()
    plan, reading = plan_of(session, SQL.format(-1), 1.0), Remembered(session.engine.measure)
    return [release_stages(session, plan, read=reading)[0].sums for _ in range(ANSWERS)]


def paid(db: dpsql.Connection) -> list[NDArray[np.int64]]:
    """The whole way: asked, paid, released and stored."""
    session, answers = db._open(), []
    for number in range(1, ANSWERS + 1):
        sql = SQL.format(-number)
        assert db.execute(sql, epsilon=1.0).repeated is False
        plan = plan_of(session, sql, 1.0)
        stored = session.ledger.stored(plan.digest, session.versions.of(plan.tables), "")
        assert stored is not None
        assert stored.answer is not None
        answers.append(from_bytes(stored.answer, [2])[0].sums)
    return answers


# ---- the engine's noise --------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [released, pytest.param(paid, marks=pytest.mark.sweep)])
def test_answers_have_the_declared_noise(
    way: Callable[[dpsql.Connection], list[NDArray[np.int64]]], database: dpsql.Connection
) -> None:
    """4,000 of six numbers or more; false alarms 1e-9."""
    given = residuals(database, way(database))
    assert given.steps.shape[0] == ANSWERS
    assert len(p_values(given)) > 30
    assert found(given) == set()


def in_children(path: Path, ledger: Path, seeded: str) -> list[NDArray[np.int64]]:
    """The releases of three children, forked after the parent has released some."""
    done = subprocess.run(
        [sys.executable, "-c", FORKS, str(path), str(ledger), SQL.format(-1), seeded],
        capture_output=True,
        text=True,
        check=True,
    )
    return [np.array(json.loads(line)) for line in done.stdout.splitlines()]


def alike(drawn: list[NDArray[np.int64]], db: dpsql.Connection) -> bool:
    """Whether two of these processes depend on each other; false alarms 1e-9."""
    places = [residuals(db, list(each)).places().ravel() for each in drawn]
    pairs = list(itertools.combinations(places, 2))
    return any(dependence(one, other) < FALSE_ALARM / len(pairs) for one, other in pairs)


@pytest.mark.parametrize("policy", ["zcdp"], indirect=True)
def test_forks_and_processes_draw_for_themselves(
    clinics: Path, tmp_path: Path, database: dpsql.Connection
) -> None:
    """Three children each of two processes; and a seed that was drawn before the fork is noticed."""
    path = clinics / "clinic" / "clinic.duckdb"
    ours = [*in_children(path, tmp_path / "a.ledger", ""), *in_children(path, tmp_path / "b.ledger", "")]
    assert len(ours) == 6
    assert not alike(ours, database)
    assert alike(in_children(path, tmp_path / "c.ledger", "seeded"), database)


# ---- planted errors ------------------------------------------------------------------------------------


def noise_of_the_answer_before(patch: pytest.MonkeyPatch) -> None:
    drawn: list[NDArray[np.int64]] = []

    def every_second(noise: Noise, size: int) -> NDArray[np.int64]:
        drawn.append(from_system(noise, size))
        return drawn[len(drawn) // 2 * 2 - 2] if len(drawn) % 2 == 0 else drawn[-1]

    patch.setattr("dpsql.releasing.from_system", every_second)


def holes(patch: pytest.MonkeyPatch) -> None:
    """Short floats: of the powers of two above 2^11 steps they have no odd multiples."""

    def rounded(noise: Noise, size: int) -> NDArray[np.int64]:
        drawn = from_system(noise, size)
        unit = 2 ** np.maximum(np.floor(np.log2(np.maximum(np.abs(drawn), 1))).astype(np.int64) - 10, 0)
        return np.asarray(drawn // unit * unit)

    patch.setattr("dpsql.releasing.from_system", rounded)


def few_values(patch: pytest.MonkeyPatch) -> None:
    """Floats made of 16 random bits, whose last bits look random."""

    def made(noise: Noise, size: int) -> NDArray[np.int64]:
        drawn = from_system(noise, size) / noise.scale
        return np.asarray(np.rint(np.round(drawn, 4) * noise.scale)).astype(np.int64)

    patch.setattr("dpsql.releasing.from_system", made)


@pytest.mark.parametrize(
    ("error", "test"),
    [
        (half_of_the_noise, "law"),
        (one_draw_for_all, "columns"),
        (one_draw_for_all, "groups"),
        (noise_of_the_answer_before, "queries"),
        (holes, "low-order bits"),
        (few_values, "values"),
    ],
)
@pytest.mark.parametrize("policy", ["zcdp"], indirect=True)
def test_planted_errors_are_found(
    error: Callable[[pytest.MonkeyPatch], None],
    test: str,
    database: dpsql.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each by far: products of the same draws have 4,000 times the variance of one, 30 times its root."""
    error(monkeypatch)
    assert test in found(residuals(database, released(database)))


def test_values_that_were_there_before_are_counted() -> None:
    wide = Residuals(np.arange(4_000).reshape(-1, 1, 1), "laplace", 2.0**40)
    assert values(wide) == 1.0
    assert values(Residuals(wide.steps // 2, "laplace", 2.0**40)) < 1e-100
