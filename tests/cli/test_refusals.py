"""The page of refusals has an entry for each code that is raised, and its examples do as it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dpsql
from dpsql.cli import main
from dpsql.cli.demo_data import POLICY, build
from dpsql.errors import CODES
from dpsql.terminal.why import entries, why

FIRST = {"D412": "CREATE PRIVATE ALERT crowd WITH (epsilon = 0.1, above = 100)"}
"""What is asked before, where the question needs it."""

ROOT = Path(dpsql.__file__).parent

OTHERWISE = {
    "D302": {
        "max_epsilon = 2.0\n": "max_epsilon = 2.0\nfind_bounds = false\n",
        "rows_per_unit = 15 ": "# ",
    },
    "D304": {"delta = 1e-6": 'accountant = "pure"'},
    "D410": {
        "[tables.wards]": '[views.ages]\nsql = "SELECT age FROM patients"\nprivate = { }\n\n[tables.wards]'
    },
}
"""What the policy says instead, where the demo's answers the question."""


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("refusals"))


def examples(code: str) -> dict[str, str]:
    """``refused`` and ``answered``, of codes that have them."""
    entry = entries().get(code, "")
    return dict(re.findall(r"^-- (refused|answered)\n(.*?);\n(?=--|```)", entry, re.M | re.S))


def raised() -> set[str]:
    """The codes that stand in the code, outside of the list of codes."""
    found: set[str] = set()
    for file in ROOT.rglob("*.py"):
        if file.name != "errors.py":
            found |= set(re.findall(r'"(D\d{3})"', file.read_text(encoding="utf-8")))
    return found


def test_every_code_that_is_raised_has_an_entry_and_every_entry_a_code() -> None:
    assert list(entries()) == list(CODES)
    assert raised() - {"D001"} <= entries().keys()
    assert entries().keys() - raised() <= {"D001"}  # InterfaceError's


@pytest.mark.parametrize("code", CODES)
def test_an_entry_says_what_why_and_what_instead(code: str) -> None:
    title, what, reason, instead, *block = entries()[code].split("\n\n", 4)
    assert title == f"{code}: {CODES[code]}"
    assert what.strip()
    assert reason.startswith("Why: ")
    assert instead.startswith("Instead: ")
    assert len(block) <= 1
    assert bool(block) == ((code[1] in "1234" and code != "D107") or code in ("D502", "D503"))
    assert all(len(line) <= 78 for text in (what, reason, instead) for line in text.split("\n"))


@pytest.mark.parametrize("code", [each for each in CODES if examples(each)])
def test_the_examples_are_refused_and_answered(code: str, clinic: Path, tmp_path: Path) -> None:
    text = POLICY
    for before, after in OTHERWISE.get(code, {}).items():
        assert before in text
        text = text.replace(before, after)
    policy = tmp_path / "clinic.toml"
    policy.write_text(text)
    shown = examples(code)
    with dpsql.connect(clinic, policy, tmp_path / "clinic.ledger") as db:
        if code in FIRST:
            db.execute(FIRST[code])
        with pytest.raises(dpsql.Error) as caught:
            db.explain(shown["refused"])
        assert caught.value.code == code, str(caught.value)
        db.explain(shown["answered"])


def test_why_speaks_in_plain_text() -> None:
    said = why("d301")
    assert said is not None
    assert said.startswith("D301: a sum needs a finite bound\n")
    assert "    -- refused\n    SELECT SUM(cost / age)" in said
    assert "`" not in said
    assert why("D999") is None
    assert why("") is None


def test_why_as_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", "D402"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("D402: single private rows are never shown\n")
    assert err == ""
    assert main(["why", "error[D402]:"]) == 0  # as it stands in a message
    assert capsys.readouterr().out == out
    assert main(["why", "D999"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "no code D999" in err
