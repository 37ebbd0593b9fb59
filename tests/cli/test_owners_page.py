"""The owner's handbook: its tables and outputs are computed, and what it says of renewals is so.

Its command lines run with those of the other pages.
"""

from __future__ import annotations

from pathlib import Path

import owners_page
import pytest

import dpsql
from dpsql.cli import main


def test_what_is_written_is_computed() -> None:
    text = owners_page.PAGE.read_text(encoding="utf-8")
    assert owners_page.page(text) == text


def test_a_renewal_keeps_the_answers_but_those_of_private_groups(clinic: Path) -> None:
    policy = clinic.with_suffix(".toml")
    asked = {
        "SELECT COUNT(*) FROM patients": True,
        "SELECT ward, AVG(age) FROM patients GROUP BY ward": True,
        "SELECT SUM(cost) FROM visits": True,
        "SELECT city, COUNT(*) FROM patients GROUP BY city": False,
    }
    with dpsql.connect(clinic) as db:
        for sql in asked:
            assert not db.execute(sql).repeated
    policy.write_text(policy.read_text().replace("epsilon = 100.0", "epsilon = 120.0"))
    with dpsql.connect(clinic) as db:
        assert db.budget.granted == 120
        assert {sql: db.execute(sql).repeated for sql in asked} == asked


def test_the_audits_verdict_is_the_one_of_the_readme(
    clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = clinic.with_name("questions.sql")
    questions.write_text("SELECT ward, COUNT(*), AVG(age) FROM patients GROUP BY ward;\n")
    assert main(["audit", str(clinic), str(questions)]) == 0
    verdict = capsys.readouterr().out.strip().split("\n")[-1]
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert f"`{verdict}`" in " ".join(readme.split())


def test_copies_of_data_have_budgets_of_their_own(clinic: Path) -> None:
    """What the handbook warns of: a ledger that was put back forgets what was spent since."""
    with dpsql.connect(clinic) as db:
        db.execute("SELECT COUNT(*) FROM patients")
        ledger = db.ledger_path
    kept = ledger.read_bytes()
    with dpsql.connect(clinic) as db:
        spent = db.budget.spent
        db.execute("SELECT COUNT(*) FROM visits")
        assert db.budget.spent > spent
    ledger.write_bytes(kept)
    with dpsql.connect(clinic) as db:
        assert db.budget.spent == spent
