"""dpsql budget --format csv and --plot: every purchase, and how spending grew."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import dpsql
from dpsql.cli import main
from dpsql.dbapi.accounts import Spending
from dpsql.terminal.spending import spending_svg

COUNT = "SELECT COUNT(*) FROM patients WHERE age > {}"


@pytest.fixture
def asked(clinic: Path) -> Path:
    """Ana pays for two questions, the owner for a third, and bo joins one of ana's."""
    policy = clinic.with_suffix(".toml")
    text = policy.read_text()
    if "[analysts.bo]" not in text:
        text += "\n[analysts.bo]\nepsilon = 3\n"
    if "[analysts.ana]" not in text:
        text += "\n[analysts.ana]\nepsilon = 5\n"
    policy.write_text(text)
    for analyst, age, epsilon in (("ana", 1, 0.5), ("ana", 2, 0.25), (None, 3, 1.0), ("bo", 2, 0.25)):
        with dpsql.connect(clinic, analyst=analyst) as db:
            db.execute(COUNT.format(age), epsilon=epsilon)
    return clinic


def told(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str, str]:
    code = main(["budget", *map(str, words)])
    done = capsys.readouterr()
    return code, done.out, done.err


def test_csv_has_the_purchases(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = told(capsys, asked, "--format", "csv")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["analyst"], row["sql"], row["epsilon"], row["shared"]) for row in rows] == [
        ("ana", COUNT.format(1), "0.5", "false"),
        ("ana", COUNT.format(2), "0.25", "false"),
        ("", COUNT.format(3), "1.0", "false"),
        ("bo", COUNT.format(2), "0.25", "true"),
    ]


def test_spending_ends_where_the_accounts_are(asked: Path) -> None:
    """A debit moves the database and who paid it; who joins it pays alone."""
    with dpsql.connect(asked) as db:
        spent, balance = {each.analyst: each.steps for each in db.spending}, db.budget
        times = [purchase.time for purchase in db.purchases]
    assert [time for time, _ in spent[""]] == times[:3]
    assert [time for time, _ in spent["ana"]] == times[:2]
    assert [time for time, _ in spent["bo"]] == times[3:]
    ends = {account.analyst: account.spent for account in balance.accounts}
    for name, steps in spent.items():
        assert [epsilon for _, epsilon in steps] == sorted(epsilon for _, epsilon in steps)
        assert (steps[-1][1] if steps else 0.0) == (ends[name] if name else balance.spent)


def test_an_analyst_sees_their_own(asked: Path) -> None:
    with dpsql.connect(asked, analyst="ana") as db:
        (own,) = db.spending
    assert (own.analyst, len(own.steps)) == ("ana", 2)


def test_the_picture_has_a_stair_for_each_account(
    asked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "spending.svg"
    code, out, _ = told(capsys, asked, "--plot", file)
    assert code == 0
    assert "granted" in out
    text = file.read_text()
    ET.fromstring(text)
    assert len(re.findall(r'<path class="s\d" d="M', text)) == 3
    assert [name for name in ("database", "ana", "bo") if f">{name}</text>" in text] == [
        "database",
        "ana",
        "bo",
    ]
    stairs = [
        re.findall(r"([\d.]+) ([\d.]+)", path) for path in re.findall(r'class="s\d" d="M([^"]+)"', text)
    ]
    for stair in stairs:  # each stretch is level, or goes straight up
        for (x, y), (next_x, next_y) in zip(stair, stair[1:], strict=False):
            assert x == next_x or y == next_y


def test_many_accounts_and_days(tmp_path: Path) -> None:
    days = [f"2026-11-{day:02}T08:00:00.000+00:00" for day in range(1, 9)]
    accounts = [Spending(f"a{number}", ((day, number + 1.0),)) for number, day in enumerate(days)]
    text = spending_svg([*accounts, Spending("silent", ())])
    assert "not drawn: 2 more accounts" in text
    assert "2026-11-08" in text
    assert "silent" not in text


def test_nothing_is_drawn_of_nothing(
    clinic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "spending.svg"
    code, _, err = told(capsys, clinic, "--plot", file)
    assert code == 1
    assert "nothing was paid yet" in err
    assert not file.exists()


@pytest.mark.parametrize("words", [("--plot", "s.svg"), ("--format", "csv")])
def test_it_is_of_one_database(
    asked: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = told(capsys, asked, asked, *words)
    assert code == 2
    assert "go with one database" in err
