"""What is said of a price before it is paid, beside what is charged: joins, groups, studies, blocks, caps."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from test_ledger import ASKED, PROMISE  # the same ledgers

import dpsql
from dpsql.accounting.blocks import EVERYWHERE, BlocksWanted
from dpsql.accounting.dues import Due, priced
from dpsql.accounting.entries import Debit, Granted, Overdrawn, SharedGrant
from dpsql.accounting.ledger import Ledger
from dpsql.accounting.shared_accounts import group_account, study_account
from dpsql.accounting.units import Units
from dpsql.ir.source import Source
from dpsql.planning import planned

ANALYSTS, STUDIES, BLOCKS = ("ana", "bo", "cy"), ("", "flu", "pox"), ("2024", "2025")


def granted(rng: random.Random) -> Granted:
    """Grants of which each is short at some time."""

    def total() -> Units:
        return Units(rng.randrange(40, 160))

    shared = [SharedGrant(group_account("some"), 1.0, total(), ("ana", "bo"))]
    shared += [SharedGrant(group_account("others"), 1.0, total(), ("bo", "cy"))]
    shared += [SharedGrant(study_account(name), 1.0, total()) for name in STUDIES[1:]]
    own = tuple((name, 1.0, total()) for name in ANALYSTS)
    return Granted(1.0, Units(150), own, tuple(shared), BlocksWanted("cohort", BLOCKS, check=False))


def amounts(ledger: Ledger, block: int) -> dict[str, Units]:
    """Return what each account has spent in a block."""
    found = {name or "": ledger.spent(name, block) for name in (None, *ANALYSTS)}
    found |= {account: spent for account, spent, _, _ in ledger.shared(block=block)}
    return found  # type: ignore[return-value]  # Units


def foretold(ledger: Ledger, asked: Debit, block: int) -> dict[str, Units]:
    """Return what accounts of the payer would have spent in a block after this debit."""
    payer, read = (asked.analyst, asked.study), (asked.blocks, asked.listed)
    due = ledger.due(asked.digest, asked.version, payer, asked.price, read)
    names = [None, *([asked.analyst] if asked.analyst else [])]
    after = ledger.standings(names, payer, priced(*([] if due is None else [due])), ((block,), len(BLOCKS)))
    return {each.shared or each.analyst or "": each.spent for each in after}  # type: ignore[misc]  # Units


def history(path: Path, seed: int) -> set[str]:
    """Ask at random until much is refused; return what happened."""
    rng, happened = random.Random(seed), set[str]()
    ledger = Ledger.open(path, PROMISE, granted(rng))
    for _ in range(120):
        plan = rng.randrange(25)
        asked = replace(
            ASKED,
            analyst=rng.choice(("", *ANALYSTS)),
            study=rng.choice(STUDIES),
            digest=f"plan {plan}",
            price=Units(1 + plan % 13),
            blocks=(None, (0,), (1,), (0, 2), (1, 2))[plan % 5],
            listed=len(BLOCKS),
        )
        payer, read = (asked.analyst, asked.study), (asked.blocks, asked.listed)
        due = ledger.due(asked.digest, asked.version, payer, asked.price, read)
        said = {block: foretold(ledger, asked, block) for block in range(3)}
        before = {block: amounts(ledger, block) for block in range(3)}
        free = ledger.stored(asked.digest, asked.version, *payer) is not None
        assert free == (due is None)
        fits = True
        try:
            ledger.check(asked.analyst, priced(*([] if due is None else [due])), (), asked.study)
        except Overdrawn:
            fits = False
        try:
            receipt = ledger.debit_or_join(asked)
        except Overdrawn:
            assert not fits
            assert before == {block: amounts(ledger, block) for block in range(3)}
            happened.add("refused")
            continue
        assert fits
        ledger.store(receipt.debit_id, b"answer")
        happened.add("free" if due is None else "paid" if due[0].database else "joined")
        assert receipt.joined == (due is not None and not due[0].database)
        for block in range(3):
            after = amounts(ledger, block)
            assert said[block].items() <= after.items()
            apart = {name for name in after if name not in said[block]}
            assert all(after[name] == before[block][name] for name in apart)
    ledger.close()
    return happened


@pytest.mark.parametrize("seed", range(4))
def test_what_is_foretold_is_what_is_charged(tmp_path: Path, seed: int) -> None:
    assert history(tmp_path / "a.ledger", seed) == {"free", "paid", "joined", "refused"}


PLANTED = {
    "a join is asked of the database": lambda due: due._replace(database=True),
    "a join costs all groups": lambda due: due._replace(shared=None),
    "a join is free for who joins": lambda due: due._replace(analyst=False),
    "a join is for no block": lambda due: due._replace(blocks=((), 2)),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_errors_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """What is said of joins is wrong; what is charged is as before."""
    right = Ledger.due

    def wrong(self: Ledger, *words: object) -> tuple[Due, Units] | None:
        found = right(self, *words)  # type: ignore[arg-type]  # passed on
        if found is None or found[0].database:
            return found  # type: ignore[return-value]  # Units
        return PLANTED[name](found[0]), found[1]  # type: ignore[return-value]  # Units

    monkeypatch.setattr(Ledger, "due", wrong)
    with pytest.raises(AssertionError):
        history(tmp_path / "a.ledger", 1)


def test_who_pays_nothing_needs_no_room(tmp_path: Path) -> None:
    """A grant was lowered below what was spent: joins and repeats go on."""
    much, little = Units(100), Units(1)
    both = (("ana", 1.0, much), ("bo", 1.0, much))
    with Ledger.open(tmp_path / "a", PROMISE, Granted(1.0, much, both)) as one:
        one.store(one.debit_or_join(replace(ASKED, analyst="ana", price=Units(9))).debit_id, b"answer")
    with Ledger.open(tmp_path / "a", PROMISE, Granted(1.0, little, both)) as one:
        asked = ASKED.digest, ASKED.version
        due = one.due(*asked, ("bo", ""), Units(9), EVERYWHERE)
        assert due == (Due(EVERYWHERE, database=False, shared=()), Units(9))
        one.check("bo", priced(due))
        one.check("bo", {})
        with pytest.raises(Overdrawn):
            one.check("bo", priced((Due(EVERYWHERE), Units(1))))
        assert one.debit_or_join(replace(ASKED, analyst="bo", price=Units(9))).joined
        assert one.due(*asked, ("bo", ""), Units(9), EVERYWHERE) is None


# ---- through a connection --------------------------------------------------------------------------------

POLICY = """\
[budget]
epsilon = 1.0
accountant = "pure"
delta = 0
[query]
epsilon = 0.9
max_epsilon = 1.0
[analysts.ana]
epsilon = 1.0
[analysts.bo]
epsilon = 2.0
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
age = { range = [0, 100] }
"""
COUNT = "SELECT COUNT(*) FROM people"


def test_a_join_is_quoted_and_billed_as_it_is_charged(tmp_path: Path) -> None:
    """The database has .1 left; bo joins for .9 of bo's own, which every front door says before."""
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER)")
        connection.execute("INSERT INTO people SELECT i, i % 100 FROM range(100) t(i)")
    path.with_suffix(".toml").write_text(POLICY)
    with dpsql.connect(path, analyst="ana") as ana:
        first = ana.execute(COUNT)
    with dpsql.connect(path, analyst="bo") as bo:
        price = bo.price(COUNT)
        assert (price.cost, price.held) == (0.9, True)
        assert price.after == pytest.approx(0.1)  # of the database, which pays nothing
        assert bo.stored(COUNT) is None  # not refused: it would not be
        other = bo.price(COUNT + " WHERE age > 1")
        assert not other.held
        answer = bo.execute(COUNT)
        assert (answer.rows, answer.cost, answer.remaining) == (first.rows, 0.9, pytest.approx(0.1))
        assert bo.price(COUNT).cost == 0
        stored = bo.stored(COUNT)
        assert stored is not None
        assert stored.rows == first.rows


def test_what_was_paid_and_interrupted_is_completed_at_no_cost(tmp_path: Path) -> None:
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER)")
    path.with_suffix(".toml").write_text(POLICY)
    with dpsql.connect(path, analyst="ana") as ana:
        session = ana._open()
        session.pay(planned(session, Source(COUNT), (), session.terms(None)))
        assert ana.price(COUNT).cost == 0
        answer = ana.execute(COUNT)
        assert (answer.cost, answer.repeated) == (0, False)
        assert ana.budget.spent == pytest.approx(0.9)
