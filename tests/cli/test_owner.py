"""The owner's check: what is left, and types that changed on purpose."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.cli import main

COUNT = "SELECT COUNT(*) FROM patients"


def check(clinic: Path, *more: str) -> int:
    return main(["policy", "check", str(clinic), *more])


def retyped(clinic: Path) -> None:
    """A query has been asked; since then a column has another type."""
    with dpsql.connect(clinic) as db:
        db.execute(COUNT, epsilon=0.5)
    with duckdb.connect(str(clinic)) as connection:
        connection.execute("ALTER TABLE patients ALTER age TYPE BIGINT")


def test_what_the_ledger_has_left(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(clinic) == 0
    assert "ledger    none yet: the first query creates clinic.ledger" in capsys.readouterr().out
    assert not clinic.with_suffix(".ledger").exists()
    with dpsql.connect(clinic, analyst="ana") as db:
        db.execute(COUNT, epsilon=2.0)
        left = db.budget.remaining
    assert check(clinic) == 0
    lines = capsys.readouterr().out.split("\n")
    (line,) = (each for each in lines if each.startswith("ledger    clinic.ledger: "))
    assert line.endswith(" remains")
    assert float(line.split()[-2]) == pytest.approx(left, abs=1e-3)
    assert any(each.startswith("          bob: 0 of 2 spent, 2 remains") for each in lines)


def test_what_the_policy_leaves_out_is_told(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What analysts never see is part of what an owner signs."""
    assert check(clinic) == 0
    assert "hidden" not in capsys.readouterr().out
    with duckdb.connect(str(clinic)) as connection:
        connection.execute("CREATE TABLE diary (day DATE); ALTER TABLE patients ADD COLUMN email VARCHAR")
    assert check(clinic) == 0
    lines = capsys.readouterr().out.split("\n")
    assert [each for each in lines if each.startswith("hidden")] == [
        "hidden    diary",
        "hidden    patients: email",
    ]


def test_an_analyst_who_is_spelled_otherwise(clinic: Path) -> None:
    with pytest.raises(dpsql.Error, match="D504") as caught:
        dpsql.connect(clinic, analyst="Ana")
    assert caught.value.help == "did you mean ana?"


def test_a_check_changes_no_ledger(clinic: Path) -> None:
    """Not even where the policy grants more than it did."""
    with dpsql.connect(clinic) as db:
        db.execute(COUNT)
    ledger, policy = clinic.with_suffix(".ledger"), clinic.with_suffix(".toml")
    before = ledger.read_bytes()
    policy.write_text(policy.read_text().replace("epsilon = 100.0", "epsilon = 200.0"))
    assert check(clinic) == 0
    assert ledger.read_bytes() == before


def test_a_ledger_of_another_promise_is_told(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dpsql.connect(clinic).close()
    policy = clinic.with_suffix(".toml")
    policy.write_text(policy.read_text().replace("delta = 1e-6", "delta = 1e-7"))
    assert check(clinic) == 1
    assert "error[D505]" in capsys.readouterr().err


def test_a_type_that_changed_is_accepted_by_the_owner(
    clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    retyped(clinic)
    with pytest.raises(dpsql.Error, match="--accept") as caught:
        dpsql.connect(clinic)
    assert caught.value.code == "D804"
    assert check(clinic) == 1  # told, and not accepted by looking
    assert "error[D804]: patients.age has changed its type" in capsys.readouterr().err
    assert check(clinic, "--accept") == 0
    assert "accepted  patients.age: it was INTEGER and is BIGINT now" in capsys.readouterr().out
    assert check(clinic, "--accept") == 0
    assert "accepted  nothing" in capsys.readouterr().out
    with dpsql.connect(clinic, analyst="ana") as db:
        assert len(db.execute(COUNT).rows) == 1
    assert check(clinic) == 0


def test_a_range_that_no_longer_fits_is_not_accepted(
    clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dpsql.connect(clinic).close()
    with duckdb.connect(str(clinic)) as connection:
        connection.execute("ALTER TABLE patients ALTER age TYPE VARCHAR")
    assert check(clinic, "--accept") == 1
    assert "error[D804]: the declaration of age does not fit the column" in capsys.readouterr().err


def test_nothing_is_accepted_without_a_ledger(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(clinic, "--accept") == 1
    assert "there is no ledger" in capsys.readouterr().err
