"""``dpsql audit --canaries``: one release proves no more than its price, and more of a broken engine's."""

from __future__ import annotations

import re
from fractions import Fraction
from math import comb
from pathlib import Path

import duckdb
import numpy as np
import pytest
from privacy.test_audit_attack import NEEDS_DELTA, STATEMENTS, Audited, audited, run  # noqa: F401  # a fixture

from dpsql.audit.one_run import ERRS, audited_at_once, chance, proven_at_once
from dpsql.cli import main
from dpsql.release.release import from_system

PRESENCE = f"SELECT HISTOGRAM(patient_id, {list(range(1, 61))}) FROM patients WHERE patient_id <= 60"
"""A count of each of 60 patients: as much as a release can tell of all of them."""

OF_SIXTY = list(range(1, 61))


def test_the_chance_of_right_guesses() -> None:
    """Against the sum of the theorem, in fractions: 7 of 9 guesses about 12 units at odds of 2."""
    p, delta = Fraction(2, 3), Fraction(1, 1000)
    law = [comb(9, k) * p**k * (1 - p) ** (9 - k) for k in range(10)]
    steepest = max(sum(law[max(0, 7 - i) : 7]) / i for i in range(1, 13))
    expected = sum(law[7:]) + 2 * 12 * delta * steepest
    assert chance(7, 9, 12, float(delta), float(np.log(2))) == pytest.approx(float(expected), rel=1e-9)
    assert chance(0, 9, 12, 0.0, 1.0) == 1.0


def test_what_one_release_proves() -> None:
    """All of n right: the odds of errs^(1/n). A delta proves less, and half right nothing."""
    p = ERRS ** (1 / 100)
    assert proven_at_once(100, 100, 100, 0.0) == pytest.approx(np.log(p / (1 - p)), rel=1e-6)
    assert 0 < proven_at_once(100, 100, 100, 1e-6) < proven_at_once(100, 100, 100, 0.0)
    assert proven_at_once(50, 100, 100, 0.0) == proven_at_once(0, 0, 100, 0.0) == 0.0


@pytest.mark.parametrize("audited", ["zcdp"], indirect=True)
def test_one_release_proves_no_more_than_its_price(audited: Audited) -> None:  # noqa: F811  # the fixture
    """Statements of two stages, choices and cells that are measured together; a private view.

    Under ``zcdp`` a count at 1 is guessed with 0.54, and 57 right of 60 would be needed: 1e-12.
    """
    view = "CREATE PRIVATE VIEW v AS SELECT ward, smoker FROM patients"
    for statements in ([PRESENCE], [view], [*STATEMENTS[6:8], STATEMENTS[18], STATEMENTS[29]]):
        priced = [(sql, 1.0 / len(statements)) for sql in statements]
        found = audited_at_once(audited.session, priced, audited.neighbour, OF_SIXTY, lambda _: None)
        assert found is not None
        assert found.canaries == 60
        assert found.holds
        assert 0 < found.claimed <= 1.0 + 1e-6


@pytest.mark.sweep
def test_all_statements_together_prove_no_more_than_their_price(audited: Audited) -> None:  # noqa: F811  # the fixture
    """100 canaries in one release of 30 statements; false alarms 1e-4."""
    delta = audited.session.budget.delta
    statements = [sql for sql in STATEMENTS if delta or not re.search(NEEDS_DELTA, sql)]
    canaries = audited.neighbour.units(100, 1)
    priced = [(sql, 1.0) for sql in statements]
    found = audited_at_once(audited.session, priced, audited.neighbour, canaries, lambda _: None)
    assert found is not None
    assert (found.canaries, found.holds) == (100, True)


@pytest.mark.parametrize("audited", ["pure"], indirect=True)
def test_one_release_proves_something(audited: Audited) -> None:  # noqa: F811  # the fixture
    """At 5 each guess is right with 0.993: 50 of 60 but for 1e-12, and that proves more than 0.5."""
    found = audited_at_once(audited.session, [(PRESENCE, 5.0)], audited.neighbour, OF_SIXTY, lambda _: None)
    assert found is not None
    assert 0.5 < found.proven <= found.claimed == pytest.approx(5.0)


def test_a_tenth_of_the_noise_is_found(
    clinic: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """0.5 is the price, and 5 is given away: 52 right of 60 are needed, and there but for 1e-10."""
    policy = clinic.with_suffix(".toml")
    policy.write_text(policy.read_text().replace('"zcdp"', '"pure"').replace("1e-6", "0.0"))
    with duckdb.connect(str(clinic)) as connection:
        for table in ("visits", "patients"):
            connection.execute(f"DELETE FROM {table} WHERE patient_id > 60")
    file = tmp_path / "q.sql"
    file.write_text(f"{PRESENCE}; SELECT * FROM wards")
    words = "--units", "1", "--trials", "0", "--canaries", "60", "--epsilon", "0.5"
    monkeypatch.setattr("dpsql.releasing.from_system", lambda noise, size: from_system(noise, size) // 10)
    assert main(["audit", str(clinic), str(file), *words]) == 1
    out = capsys.readouterr().out
    assert "FAILED: 1 of 2 statements are not ok: all together." in out
    assert re.search(r"│ all together │ 60 canaries +│ .* │ tells too much +│", out)


def test_no_canaries_below_none(clinic: Path, tmp_path: Path) -> None:
    assert run(clinic, tmp_path, "SELECT COUNT(*) FROM patients", "--canaries", "-1") == 2
