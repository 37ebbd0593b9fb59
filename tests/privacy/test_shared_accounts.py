"""Accounts of groups and studies: beside sets of debits, and from the policy to a refusal."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.accounting.entries import Debit, Granted, Overdrawn, Promise, SharedGrant
from dpsql.accounting.ledger import Ledger
from dpsql.accounting.shared_accounts import SharedAccounts, group_account, study_account
from dpsql.accounting.units import Units
from dpsql.cli import main

PROMISE = Promise("clinic", "patients.patient_id", "pure", 0.0)
ANALYSTS = ("ana", "bo", "carl", "dora")
MUCH = Units(10**9)


def granted(members: dict[str, tuple[str, ...]], cap: int | None = None) -> Granted:
    """Everybody may spend much; groups and two studies ``cap``, or as much."""
    total = MUCH if cap is None else Units(cap)
    shared = [SharedGrant(group_account(name), 1.0, total, names) for name, names in members.items()]
    shared += [SharedGrant(study_account(name), 1.0, total) for name in ("flu", "pox")]
    return Granted(1.0, MUCH, tuple((name, 1.0, MUCH) for name in ANALYSTS), tuple(shared))


def debit(analyst: str, plan: int, study: str = "", price: int = 0) -> Debit:
    cost = Units(price or 1 + plan)
    return Debit(analyst, f"SELECT {plan}", f"plan {plan}", "v1", "[]", 0.1, cost, ("t",), study=study)


def spent(ledger: Ledger) -> dict[str, int]:
    return {account: amount.main for account, amount, _, _ in ledger.shared()}  # type: ignore[attr-defined]  # Units


@pytest.mark.parametrize("seed", range(3))
def test_accounts_are_the_unions_of_what_their_members_paid(tmp_path: Path, seed: int) -> None:
    """200 random debits, repeats, joins and changes of membership, beside sets of debits; reopened twice."""
    rng, path = random.Random(seed), tmp_path / "a.ledger"
    members: dict[str, set[str]] = {"one": set(), "two": set()}
    ever: dict[str, set[str]] = {"one": set(), "two": set()}
    bought: dict[str, set[int]] = {name: set() for name in ("", *ANALYSTS, "flu", "pox")}
    ledger = Ledger.open(path, PROMISE, granted({}))
    for step in range(200):
        if step % 25 == 24:
            for name in members:
                members[name] = {who for who in ANALYSTS if rng.random() < 0.3}
                ever[name] |= members[name]
            ledger.close()
            ledger = Ledger.open(path, PROMISE, granted({k: tuple(v) for k, v in members.items() if ever[k]}))
        analyst, study, plan = (
            rng.choice(("", *ANALYSTS)),
            rng.choice(("", "", "flu", "pox")),
            rng.randrange(40),
        )
        receipt = ledger.debit_or_join(debit(analyst, plan, study))
        if rng.random() < 0.5 and receipt.answer is None:
            ledger.store(receipt.debit_id, b"answer")
        bought[analyst].add(plan)
        bought[study].add(plan)
        free = ledger.stored(f"plan {plan}", "v1", analyst, study)
        assert free is not None
        assert ledger.debit_or_join(debit(analyst, plan, study)).joined is False
    for _ in range(2):
        found = spent(ledger)
        for name, names in ever.items():
            union = set().union(*(bought[who] for who in names)) if names else set()
            assert found.get(group_account(name), 0) == sum(1 + plan for plan in union)
        for study in ("flu", "pox"):
            assert found[study_account(study)] == sum(1 + plan for plan in bought[study])
        for who in ANALYSTS:
            assert ledger.spent(who) == Units(sum(1 + plan for plan in bought[who]))
        everything = set().union(*bought.values())
        assert ledger.spent() == Units(sum(1 + plan for plan in everything))
        ledger.verify()
        ledger.close()
        ledger = Ledger.open(path, PROMISE, granted({k: tuple(v) for k, v in members.items() if ever[k]}))
    ledger.close()


def test_a_group_is_a_filter_over_its_members(tmp_path: Path) -> None:
    """ana and bo have 10 together: what both ask counts once, and who left still counts."""
    students = {"students": ("ana", "bo")}
    with Ledger.open(tmp_path / "a.ledger", PROMISE, granted(students, 10)) as ledger:
        ledger.debit_or_join(debit("ana", 5))
        assert ledger.debit_or_join(debit("bo", 5)).joined  # 6 of bo's own; the group has it
        with pytest.raises(Overdrawn) as refused:
            ledger.debit_or_join(debit("bo", 4))
        assert refused.value.account == "group students"
        ledger.debit_or_join(debit("dora", 4))
        with pytest.raises(Overdrawn):  # joining costs the group as much
            ledger.debit_or_join(debit("bo", 4))
        ledger.debit_or_join(debit("bo", 3))
        with pytest.raises(Overdrawn):
            ledger.check("ana", Units(1))
        ledger.check("dora", Units(1))
    with Ledger.open(tmp_path / "a.ledger", PROMISE, granted({"students": ("bo",)}, 10)) as ledger:
        with pytest.raises(Overdrawn):  # ana left, and was a member
            ledger.debit_or_join(debit("ana", 1))
        assert spent(ledger)["group students"] == 10
    with Ledger.open(tmp_path / "a.ledger", PROMISE, granted({"students": ("bo", "dora")}, 10)) as ledger:
        assert spent(ledger)["group students"] == 15  # with what dora alone has paid
    with Ledger.open(tmp_path / "a.ledger", PROMISE, granted({})) as ledger:
        ledger.debit_or_join(debit("ana", 1))  # the policy has no such group any more
        assert "group students" not in spent(ledger)
    with Ledger.open(tmp_path / "a.ledger", PROMISE, granted(students, 20)) as ledger:
        assert spent(ledger)["group students"] == 17


def test_a_study_is_charged_once_for_each_debit(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "a.ledger", PROMISE, granted({}, 10)) as ledger:
        ledger.debit_or_join(debit("ana", 5))
        assert ledger.answered("plan 5", "v1", "ana", "flu") is None
        assert ledger.stored("plan 5", "v1", "ana") is not None
        assert ledger.stored("plan 5", "v1", "ana", "flu") is None
        assert ledger.debit_or_join(debit("ana", 5, "flu")).joined
        assert not ledger.debit_or_join(debit("ana", 5, "flu")).joined
        assert (ledger.spent("ana"), spent(ledger)["study flu"]) == (Units(6), 6)
        assert [entry.price for entry in ledger.bought("ana")] == [Units(6), Units(0)]
        with pytest.raises(Overdrawn) as refused:
            ledger.debit_or_join(debit("bo", 6, "flu"))
        assert refused.value.account == "study flu"
        ledger.debit_or_join(debit("bo", 6, "pox"))
        assert ledger.spent() == Units(13)
        assert spent(ledger) == {"study flu": 6, "study pox": 7}


def test_planted_errors_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who joins a group forgets what they paid; a share charges nobody: each breaks the unions above."""
    right = SharedAccounts.paid_before
    with monkeypatch.context() as planted:
        planted.setattr(
            SharedAccounts,
            "paid_before",
            lambda self, joining, entries, rules, blocks: right(self, joining, [], rules, blocks),
        )
        with pytest.raises(AssertionError):
            test_accounts_are_the_unions_of_what_their_members_paid(tmp_path, 0)
    (tmp_path / "b").mkdir()
    with monkeypatch.context() as planted:
        planted.setattr(SharedAccounts, "lacking", lambda self, accounts, charged, payers: [])
        with pytest.raises((AssertionError, KeyError)):
            test_accounts_are_the_unions_of_what_their_members_paid(tmp_path / "b", 0)


# ---- from the policy to a refusal ----------------------------------------------------------------------

POLICY = """\
[budget]
epsilon = 5.0
delta = 1e-6
accountant = "{accountant}"
[query]
epsilon = 0.2
max_epsilon = 5.0
[analysts.ana]
epsilon = 2.0
[analysts.bo]
epsilon = 2.0
group = "students"
[groups.students]
analysts = ["ana"]
epsilon = 0.5
[studies.flu]
epsilon = 0.3
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
age = {{ range = [0, 100] }}
"""
COUNT = "SELECT COUNT(*) FROM people WHERE age > {}"


@pytest.fixture(params=["pure", "zcdp", "rdp"])
def people(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER)")
        connection.execute("INSERT INTO people SELECT i, i % 100 FROM range(50) t(i)")
    text = POLICY.format(accountant=request.param)
    path.with_suffix(".toml").write_text(
        text.replace("delta = 1e-6\n", "") if request.param == "pure" else text
    )
    return path


def test_groups_and_studies_from_the_policy(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with dpsql.connect(people, analyst="ana") as ana, dpsql.connect(people, analyst="bo") as bo:
        first = ana.execute(COUNT.format(1), epsilon=0.3)
        assert bo.execute(COUNT.format(1), epsilon=0.3).rows == first.rows
        (students,) = bo.budget.shared
        assert (students.analyst, students.granted) == ("group students", 0.5)
        assert students.spent == pytest.approx(0.3, rel=1e-6)
        assert bo.budget.fits < 0.5
        with pytest.raises(dpsql.OperationalError) as refused:
            bo.execute(COUNT.format(2), epsilon=0.49)
        assert refused.value.code == "D501"
        assert "the budget of group students does not hold this price" in str(refused.value)
        most = float(re.search(r"at most (\S+) fits", str(refused.value))[1])  # type: ignore[index]  # it is there
        assert bo.execute(COUNT.format(2), epsilon=most).cost == most
    with dpsql.connect(people, study="flu") as owner:
        assert owner.execute(COUNT.format(1), epsilon=0.3).cost == 0.3  # paid before, and not for the study
        assert owner.execute(COUNT.format(1), epsilon=0.3).cost == 0.0
        with pytest.raises(dpsql.OperationalError, match="the budget of study flu does not hold this price"):
            owner.execute(COUNT.format(3), epsilon=0.3)
        owner.study = None
        assert owner.execute(COUNT.format(3), epsilon=0.3).cost == 0.3
        with pytest.raises(dpsql.OperationalError, match="knows no study flue"):
            owner.study = "flue"
        drawn = {each.analyst: each.steps[-1][1] for each in owner.spending}
        for account in (*owner.budget.accounts, *owner.budget.shared):
            assert drawn[account.analyst] == pytest.approx(account.spent)
    assert main(["budget", str(people)]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"group students +│ +0\.5 ", shown)
    assert re.search(r"study flu +│ +0\.3 ", shown)
    assert main(["budget", str(people), "--format", "json"]) == 0
    assert [each["analyst"] for each in json.loads(capsys.readouterr().out)["shared"]] == [
        "group students",
        "study flu",
    ]


def test_the_command_line_chooses_a_study(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["query", str(people), "--study", "flu", "-c", COUNT.format(9), "--epsilon"]
    assert main([*words, "0.2"]) == 0
    assert main([*words, "0.3"]) == 3
    assert "study flu" in capsys.readouterr().err
    assert main(["query", str(people), "--study", "fly", "-c", COUNT.format(9)]) == 1
    assert "D504" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('analysts = ["ana"]', 'analysts = ["anna"]', "there is no analyst anna"),
        ('analysts = ["ana"]', 'analysts = ["ana", "ana"]', "the group has twice the analyst ana"),
        ('analysts = ["ana"]', 'analysts = "ana"', "analysts must be a list of names"),
        ('analysts = ["ana"]\nepsilon = 0.5', 'analysts = ["ana"]', "the group students says nothing"),
        ("[studies.flu]\nepsilon = 0.3", "[studies.flu]", "epsilon is what may be spent for this study"),
        ('analysts = ["ana"]\n', "[groups.others]\n", "the group others has no analysts"),
    ],
)  # fmt: skip
def test_what_a_policy_may_not_say(people: Path, old: str, new: str, told: str) -> None:
    policy = people.with_suffix(".toml")
    text = policy.read_text().replace(old, new)
    if "others" in new:
        text = text.replace("[groups.students]\n", '[groups.students]\ntables = ["people"]\n')
    policy.write_text(text)
    with pytest.raises(dpsql.ProgrammingError) as refused:
        dpsql.connect(people)
    assert (refused.value.code, told in str(refused.value)) == ("D803", True), str(refused.value)
