"""From data as owners have it to a first useful answer: ``dpsql init`` with Enter alone, on nine sets.

The unit is right, or init refuses and says the line to write. Each transcript of ``init`` and ``policy
check``, 80 columns wide, is as it was kept in tests/cli/first_policies; ``DPSQL_SCREENS=write`` keeps what is
said now.
"""

from __future__ import annotations

import difflib
import io
import os
import re
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import owners_data
import pytest

import dpsql
from dpsql.cli import main
from dpsql.render.digits import wide
from dpsql.session.checks import load_policy

KEPT = Path(__file__).parent / "first_policies"
ENTER = "\n" * 40


@dataclass(frozen=True)
class First:
    """What becomes of a set: who is protected, how many questions that takes, a query and its truth."""

    hidden: str
    questions: int
    sql: str
    truth: int


WRITTEN = {
    "log": First(
        "user: each value of user_id, protected with all rows in events",
        *(16, "SELECT COUNT(DISTINCT user_id) FROM events", owners_data.PEOPLE),
    ),
    "events": First(
        "user: each value of user_id, protected with all rows in events",
        *(16, "SELECT COUNT(DISTINCT user_id) FROM events", owners_data.PEOPLE),
    ),
    "shop": First(
        "member: members.mid, protected with all rows in members, purchases",
        *(21, "SELECT country, COUNT(*) FROM members GROUP BY country", owners_data.PEOPLE // 3),
    ),
    "accounts": First(
        "account: accounts.account, protected with all rows in accounts, logins",
        *(18, "SELECT COUNT(*) FROM accounts", owners_data.PEOPLE),
    ),
    "meters": First(
        "household: each value of household_id, protected with all rows in meters, readings",
        *(19, "SELECT COUNT(DISTINCT household_id) FROM meters", owners_data.PEOPLE * 2 // 3),
    ),
    "census": First(
        "person: each value of person_id, protected with all rows in census",
        *(15, "SELECT is_0, COUNT(*) FROM census GROUP BY is_0", owners_data.PEOPLE // 2),
    ),
    "hospital": First(
        "patient: patients.hospital_id and patients.patient_no together, "
        "protected with all rows in patients, stays",
        *(18, "SELECT COUNT(*) FROM patients", owners_data.PEOPLE),
    ),
    "daily": First(
        "patient: patients.patient_id, protected with all rows in patients, visits",
        *(17, "SELECT COUNT(*) FROM patients", owners_data.PEOPLE),
    ),
}
"""Sets for which Enter alone makes a policy."""

REFUSED = {
    "towns": (2, "who is protected? nothing in towns.duckdb is named like a person"),
}
"""Sets for which ``--yes`` makes none, with the exit code and the reason."""


class Screen(io.StringIO):
    """A terminal of 80 columns, as far as a program asks."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("owners")
    for name in owners_data.NAMES:
        owners_data.make(name, folder)
    return folder


@pytest.fixture
def screen(sets: Path, monkeypatch: pytest.MonkeyPatch) -> Screen:
    monkeypatch.chdir(sets)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    return Screen()


def typed(screen: Screen, *words: str) -> int:
    """Type a command, and Enter wherever it asks."""
    screen.write(f"$ dpsql {' '.join(words)}\n")
    with redirect_stdout(screen), redirect_stderr(screen), mock.patch("sys.stdin", io.StringIO(ENTER)):
        return main(list(words))


def path_of(name: str) -> str:
    return name if name == "daily" else f"{name}.duckdb"


def compare(name: str, said: str) -> None:
    file, said = KEPT / f"{name}.txt", re.sub(r"(?m) +$", "", said)
    if os.environ.get("DPSQL_SCREENS") == "write":
        file.write_text(said, encoding="utf-8")
    kept = file.read_text(encoding="utf-8")
    lines = difflib.unified_diff(kept.splitlines(), said.splitlines(), "kept", "said", lineterm="")
    assert said == kept, "\n".join(lines)


@pytest.mark.parametrize("name", WRITTEN)
def test_enter_alone_makes_a_policy_that_answers(name: str, screen: Screen, sets: Path) -> None:
    expected, database = WRITTEN[name], path_of(name)
    policy = sets / f"{name}.toml"
    policy.unlink(missing_ok=True)
    named = (
        ("--policy", policy.name) if name == "daily" else ()
    )  # a folder's would be shown by its whole path
    assert typed(screen, "init", database, *named) == 0, screen.getvalue()
    assert typed(screen, "policy", "check", database) == 0
    said = screen.getvalue()
    assert " ".join(said.split()).count(f"unit {expected.hidden} budget") == 2
    assert len(re.findall(r"(?m)^  .*\]: ", said)) == expected.questions
    assert [line for line in said.split("\n") if wide(line) > 80] == []
    compare(name, said)
    with dpsql.connect(sets / database) as db:
        answer = db.execute(expected.sql)
    at = len(answer.columns) - 1
    for row, margins in zip(answer.rows, answer.margins, strict=True):
        if row[0] is not None:
            assert margins[at] <= expected.truth / 10, "a margin of a tenth is of use"
            assert abs(row[at] - expected.truth) <= 4 * margins[at]  # seven deviations and more
    assert len(answer.rows) >= 1


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_guessed_is_not_written(name: str, screen: Screen, sets: Path) -> None:
    code, reason = REFUSED[name]
    assert typed(screen, "init", path_of(name), "--yes") == code
    said = screen.getvalue()
    assert reason in " ".join(said.split())
    assert not (sets / f"{name}.toml").exists()
    compare(name, said)


def test_defaults_are_what_enter_takes(screen: Screen, sets: Path, tmp_path: Path) -> None:
    for name in ("events", "shop"):
        made = []
        for file, more in ((tmp_path / f"{name}.asked", ()), (tmp_path / f"{name}.yes", ("--yes",))):
            assert typed(screen, "init", path_of(name), "--policy", str(file), *more) == 0
            made.append(load_policy(file).tables)
        assert [rule.unit for rule in made[0]] == [rule.unit for rule in made[1]]
        assert [len(rule.columns) for rule in made[0]] == [len(rule.columns) for rule in made[1]]


def test_what_is_refused_can_be_said(screen: Screen, sets: Path, tmp_path: Path) -> None:
    """The help's line, with the owner's word in it: who really wants towns hidden gets towns."""
    words = (
        "init",
        "towns.duckdb",
        "--yes",
        "--unit",
        "town_stats.town",
        "--policy",
        str(tmp_path / "t.toml"),
    )
    assert typed(screen, *words) == 0
    assert "unit      town_stat: town_stats.town" in screen.getvalue()


def test_a_census_of_130_columns_takes_fifteen_questions_at_most(sets: Path) -> None:
    assert len(owners_data.KINDS) + 3 == 130
    assert WRITTEN["census"].questions <= 15


def test_nothing_personal_is_listed(screen: Screen, sets: Path, tmp_path: Path) -> None:
    """An email that the database keeps unique is no key of the policy: columns of keys exist for analysts."""
    file = tmp_path / "shop.toml"
    assert typed(screen, "init", "shop.duckdb", "--yes", "--policy", str(file)) == 0
    assert "email" not in file.read_text()
