"""``dpsql query --as ana``: the owner sees what ana would, and nothing is paid and nothing is read."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpsql
from dpsql import releasing
from dpsql.cli import main

COUNT = "SELECT COUNT(*) FROM patients"


@pytest.fixture
def limited(clinic: Path) -> Path:
    policy = clinic.with_suffix(".toml")
    tables = 'tables = ["patients.age", "patients.score", "wards"]'
    policy.write_text(policy.read_text().replace("[analysts.bob]", f"[analysts.bob]\n{tables}"))
    dpsql.connect(clinic).close()  # its keys are verified, and the ledger is there
    return clinic


def tried(clinic: Path, sql: str, *more: str, who: str = "bob") -> int:
    """Ask as somebody; nothing is paid and nothing is stored."""
    before = paid(clinic)
    code = main(["query", str(clinic), "--as", who, "-c", sql, *more])
    assert paid(clinic) == before
    return code


def paid(clinic: Path) -> list[tuple[int, str]]:
    """The entries about queries; others note what the data is."""
    with dpsql.connect(clinic) as db:
        entries = db._open().ledger.entries()
    return [(each.id, each.kind) for each in entries if each.kind in ("debit", "share", "part", "answer")]


def test_what_would_be_paid_is_said(limited: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tried(limited, COUNT, "--epsilon", "0.5") == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("for bob, not asked: costs epsilon 0.5, ")
    assert "remaining 2, and 1." in shown.out
    assert not shown.err
    assert tried(limited, "SELECT SUM(score) FROM patients") == 0  # finds a range first
    assert "for bob, not asked: costs epsilon 1, " in capsys.readouterr().out


def test_what_was_paid_is_shown_and_only_to_who_paid(
    limited: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = "SELECT OPTIONS(within = '90%') COUNT(*) FROM patients WHERE age > 21"
    for sql in (COUNT, steps):
        with dpsql.connect(limited, analyst="ana") as db:
            db.execute(sql)
        assert tried(limited, sql) == 0
        assert "not asked: costs" in capsys.readouterr().out, "bob would have to join"
        with dpsql.connect(limited, analyst="bob") as db:
            (row,) = db.execute(sql).rows
        assert tried(limited, sql, "--format", "csv") == 0
        assert capsys.readouterr().out.splitlines()[1] == str(row[0])


def test_what_is_public_is_shown(limited: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tried(limited, "SELECT COUNT(*) AS n FROM wards", "--format", "csv") == 0
    assert capsys.readouterr().out.splitlines() == ["n", "3"]
    assert tried(limited, f"EXPLAIN {COUNT}") == 0
    assert "price     epsilon 1 under zcdp" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("sql", "more", "code"),
    [
        ("SELECT COUNT(*) FROM visits", (), "D201"),
        ("SELECT SUM(income) FROM patients", (), "D202"),
        (COUNT, ("--epsilon", "3"), "D501"),
        (COUNT, ("--epsilon", "30"), "D502"),
        ("SELECT age FROM patients", (), "D402"),
    ],
)
def test_what_would_be_refused_is_refused(
    sql: str, more: tuple[str, ...], code: str, limited: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tried(limited, sql, *more) == (3 if code == "D501" else 1)
    shown = capsys.readouterr()
    assert f"error[{code}]" in shown.err
    assert not shown.out
    with dpsql.connect(limited, analyst="bob") as db, pytest.raises(dpsql.Error) as caught:
        db.execute(sql, epsilon=float(more[1]) if more else None)
    assert caught.value.code == code, "bob himself"


def test_a_query_that_would_show_nothing_is_refused(
    limited: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = limited.with_suffix(".toml")
    policy.write_text(policy.read_text().replace("[unit]", "[unit]\nabout = 10"))
    assert tried(limited, "SELECT age * 7 % 1000, COUNT(*) FROM patients GROUP BY ALL") in (0, 1)
    assert main(["query", str(limited), "--as", "ana", "SELECT cost, COUNT(*) FROM visits GROUP BY 1"]) == 1
    assert "error[D511]" in capsys.readouterr().err


def test_what_was_interrupted_is_not_completed(
    limited: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would read private rows: bob himself may ask again, which is free."""
    with monkeypatch.context() as patched, dpsql.connect(limited, analyst="bob") as db:
        patched.setattr(releasing, "release", lambda *_: 1 / 0)
        with pytest.raises(dpsql.InternalError):
            db.execute(COUNT, epsilon=1.9)
    assert tried(limited, COUNT, "--epsilon", "1.9") == 0
    assert "for bob, not asked: free: " in capsys.readouterr().out
    with dpsql.connect(limited, analyst="bob") as db:
        assert db.execute(COUNT, epsilon=1.9).rows


@pytest.mark.parametrize("more", [("--analyst", "ana"), ("-o", "x.csv")])
def test_it_goes_with_nothing_that_asks(
    more: tuple[str, str], limited: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tried(limited, COUNT, *more) == 2
    assert "--as asks nothing for anybody" in capsys.readouterr().err


def test_a_stranger_is_none_of_the_policy(limited: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tried(limited, COUNT, who="eve") == 1
    assert "error[D504]" in capsys.readouterr().err


def test_from_python(limited: Path) -> None:
    with dpsql.connect(limited, analyst="bob") as db:
        assert db.stored(COUNT) is None
        answer = db.execute(COUNT)
        stored = db.stored(COUNT)
        assert stored is not None
        assert (stored.rows, stored.margins, stored.cost, stored.repeated) == (
            answer.rows,
            answer.margins,
            0.0,
            True,
        )
