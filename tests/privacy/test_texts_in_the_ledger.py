"""With texts = "digest" the ledger's file holds no word of what analysts write, and repeats stay free."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpsql
from dpsql.batch.ledger_entries import with_paid
from dpsql.cli import main

NAME = "Quisling"
ASKED = (
    f"SELECT COUNT(*) FROM patients WHERE city = '{NAME}'",
    f"SELECT COUNT(*) FROM patients WHERE city <> '{NAME}'   -- {NAME}",
    f"SELECT city, COUNT(*) FROM patients WHERE city IN ('Oslo', '{NAME}') GROUP BY city",
    f"SELECT CASE WHEN city = 'Oslo' THEN '{NAME}' ELSE 'b' END AS c, COUNT(*) FROM patients GROUP BY c",
    f"SELECT city, ward, COUNT(*) AS {NAME} FROM patients WHERE city IN ('Oslo', '{NAME}') "
    "GROUP BY ROLLUP (city, ward)",
    f"SELECT SUM(score) FROM patients WHERE city <> '{NAME}'",  # finds a range first
    f"/* finds {NAME} */ SELECT COUNT(*) FROM visits",
    f"SELECT OPTIONS(max_rows_contributed = auto) COUNT(*) FROM visits WHERE kind <> '{NAME}'",
    f"SELECT OPTIONS(within = '50%') COUNT(*) FROM patients WHERE city <> '{NAME}' OR city IS NULL",
    f"SELECT COUNT(*) FROM patients WHERE age > (SELECT AVG(age) FROM patients WHERE city <> '{NAME}')",
)
ASKED_WITH = "SELECT COUNT(*) FROM patients WHERE city = ? AND age > 20"


@pytest.fixture
def hidden(clinic: Path) -> Path:
    policy = clinic.with_suffix(".toml")
    policy.write_text(policy.read_text() + '\n[ledger]\ntexts = "digest"\n')
    return clinic


def ask_all(db: dpsql.Connection) -> Iterator[dpsql.Answer]:
    for sql in ASKED:
        yield db.execute(sql)
    yield db.execute(ASKED_WITH, (NAME,))


def test_no_word_of_an_analyst_is_in_the_file_and_repeats_are_free(hidden: Path) -> None:
    with dpsql.connect(hidden, analyst="ana") as db:
        first = list(ask_all(db))
        assert any(NAME in row for answer in first for row in answer.rows), "else no answer is a test"
    for analyst in ("ana", "bob", None):  # who joins writes an entry too
        with dpsql.connect(hidden, analyst=analyst) as db:
            if analyst == "bob":
                assert db.execute(ASKED[2], epsilon=1.0).rows == first[2].rows
                continue
            for before, again in zip(first, ask_all(db), strict=True):
                assert (again.rows, again.margins) == (before.rows, before.margins)
                assert again.repeated
                assert again.cost == 0
    stored = hidden.with_suffix(".ledger").read_bytes()
    for word in (NAME, "SELECT", "Oslo"):
        assert word.encode() not in stored, word


def test_the_file_of_a_plain_ledger_holds_them(clinic: Path) -> None:
    """So that the test above would notice."""
    with dpsql.connect(clinic, analyst="ana") as db:
        list(ask_all(db))
    stored = clinic.with_suffix(".ledger").read_bytes()
    assert all(word.encode() in stored for word in (NAME, "SELECT", "Oslo"))


def test_a_policy_may_change_its_mind(hidden: Path) -> None:
    """Answers and payments of one kind of ledger are those of the other; old texts stay."""
    policy = hidden.with_suffix(".toml")
    other = policy.read_text().replace('"digest"', '"plain"')
    with dpsql.connect(hidden, analyst="ana") as db:
        first = [db.execute(sql).rows for sql in ASKED[:6]]
        spent = db.budget.spent
    kept, _ = policy.read_text(), policy.write_text(other)
    with dpsql.connect(hidden, analyst="ana") as db:
        assert [db.execute(sql).rows for sql in ASKED[:6]] == first
        assert db.budget.spent == spent
        more = db.execute(ASKED[3], epsilon=0.5).rows
    policy.write_text(kept)
    with dpsql.connect(hidden, analyst="ana") as db:
        assert db.execute(ASKED[3], epsilon=0.5).rows == more
        assert sum(NAME in purchase.sql for purchase in db.purchases) == 1


def test_who_looks_at_purchases_reads_words(hidden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with dpsql.connect(hidden, analyst="ana") as db:
        db.execute(ASKED[0])
        db.execute(ASKED_WITH, ("Oslo",))
        db.execute(ASKED_WITH, ("Bergen",))
        db.execute(ASKED[5])
        plain, oslo, bergen, search, _ = db.purchases
    assert plain.sql.startswith("text not kept, digest ")
    assert plain.parameters == ""
    assert oslo.sql == bergen.sql != plain.sql
    assert oslo.parameters != bergen.parameters
    assert search.sql.startswith("/* finds patients.score */ text not kept, digest ")
    with dpsql.connect(hidden) as db:  # the same words are the same digest, by themselves
        db.execute(ASKED[0], epsilon=0.5)
        assert db.purchases[-1].sql == plain.sql
    assert main(["budget", str(hidden)]) == 0
    assert "│ text not kept, digest " in capsys.readouterr().out


def test_another_ledger_has_other_digests(hidden: Path, tmp_path: Path) -> None:
    def digest(name: str) -> str:
        with dpsql.connect(hidden, ledger=tmp_path / name) as db:
            db.execute(ASKED[0])
            return db.purchases[0].sql

    assert digest("a.ledger") != digest("b.ledger")


def test_a_run_knows_its_payments_by_their_digests(hidden: Path, tmp_path: Path) -> None:
    """As after a kill: the manifest says nothing of the payments that the ledger holds."""
    script, out = tmp_path / "names.sql", tmp_path / "out"
    script.write_text("".join(f"{sql};\n" for sql in (ASKED[5], ASKED[8], ASKED[2])))
    assert main(["run", str(hidden), str(script), "--out", str(out), "--analyst", "ana"]) == 0
    manifest = out / "manifest.json"
    content = json.loads(manifest.read_text())
    paid = [entry["paid"] for entry in content["statements"]]
    assert all(paid)
    for entry in content["statements"]:
        entry |= {"state": "waiting", "paid": 0.0}
    manifest.write_text(json.dumps(content))
    from dpsql.batch.manifest import load

    for texts in ('"digest"', '"plain"'):
        policy = hidden.with_suffix(".toml")
        policy.write_text(policy.read_text().replace('"digest"', texts))
        with dpsql.connect(hidden, analyst="ana") as db:
            before = load(out)
            assert before is not None
            assert [entry.paid for entry in with_paid(db, before).statements] == pytest.approx(paid)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ('"digests"', "D803.*not kept as digests(.|\n)*help: did you mean digest?"),
        ('"nothing"', 'D803.*not kept as nothing(.|\n)*texts = "digest" a keyed digest'),
        ("true", "D803.*texts must be a string"),
    ],
)
def test_texts_are_kept_in_two_ways(clinic: Path, said: str, told: str) -> None:
    policy = clinic.with_suffix(".toml")
    policy.write_text(policy.read_text() + f"\n[ledger]\ntexts = {said}\n")
    with pytest.raises(dpsql.DatabaseError, match=told):
        dpsql.connect(clinic)
