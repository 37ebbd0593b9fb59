"""Accounts in each block of units, against what persons have lost who were in it, or came into it."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import field, replace
from pathlib import Path

import pytest
from test_ledger import ASKED, PROMISE, refused  # the same ledgers

import dpsql
from dpsql.accounting.blocks import EVERYWHERE, BlockList, BlocksWanted, ChangedList
from dpsql.accounting.dues import Due, priced
from dpsql.accounting.entries import Debit, Granted, SharedGrant
from dpsql.accounting.ledger import Ledger
from dpsql.accounting.shared_accounts import group_account
from dpsql.accounting.spending import Spending
from dpsql.accounting.units import Units
from dpsql.ir.unit_blocks import REST
from dpsql.lazy_dataclass import dataclass

MUCH = Units(10**9)
ANALYSTS = ("ana", "bo", "cy")


def granted(
    values: Sequence[str], check: bool = False, members: Sequence[str] = (), total: Units = MUCH
) -> Granted:
    analysts = tuple((name, 1.0, total) for name in ANALYSTS)
    shared = (SharedGrant(group_account("some"), 1.0, total, tuple(members)),) if members else ()
    return Granted(1.0, total, analysts, shared, BlocksWanted("cohort", tuple(values), check))


def debit(
    analyst: str,
    plan: int,
    blocks: tuple[int, ...] | None,
    listed: int,
    price: int = 0,
    checked: int | None = None,
) -> Debit:
    asked = replace(ASKED, analyst=analyst, digest=f"plan {plan}", price=Units(price or 1 + plan))
    return replace(asked, blocks=blocks, listed=listed, checked=checked)


@dataclass(slots=True)
class Person:
    """Somebody, and the debits that read what belongs to them; in no block, they are not in the data."""

    block: int | None
    read: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Model:
    """Persons: in each block one who lost most of all that may be there."""

    persons: dict[int, Person] = field(default_factory=lambda: {REST: Person(REST)})
    left: Person | None = None  # was in the rest, and left before the check began
    check: bool = False
    checked: bool = False

    def append(self, count: int, check: bool) -> None:
        """Values are appended: whoever comes from the rest; under a check nobody can who was seen by it."""
        lasting = self.checked and check
        for _ in range(count):
            block = len(self.persons)
            before = self.left if lasting else self.persons[REST]
            self.persons[block] = Person(block, set() if before is None else {*before.read})
        self.check, self.checked = check, lasting
        self.left = self.left if lasting else None

    def see(self) -> None:
        """Units are looked at: who is gone by now is known to no check."""
        if self.check and not self.checked:
            self.checked, self.left = True, Person(None, {*self.persons[REST].read})

    def reads(self, plan: int, blocks: set[int]) -> None:
        for block in blocks:
            self.persons[block].read.add(plan)


def agree(ledger: Ledger, model: Model, paid: dict[str, set[int]], members: set[str]) -> None:
    for block, person in model.persons.items():
        everything = set().union(*paid.values())
        assert ledger.spent(None, block) == Units(sum(1 + plan for plan in person.read & everything))
        for name in ANALYSTS:
            assert ledger.spent(name, block) == Units(sum(1 + plan for plan in person.read & paid[name]))
        together = set().union(*(paid[name] for name in members)) if members else set()
        for _, spent, _, _ in ledger.shared(block=block):
            assert spent == Units(sum(1 + plan for plan in person.read & together))


def history(path: Path, seed: int, steps: int = 260) -> None:
    """Random debits, joins, appended values, checks and members, beside what persons have lost."""
    rng, model = random.Random(seed), Model()
    values, check, plan, members = ["0", "1"], rng.random() < 0.5, 0, set[str]()
    paid: dict[str, set[int]] = {name: set() for name in ("", *ANALYSTS)}
    model.append(2, check)
    ledger = Ledger.open(path, PROMISE, granted(values, check))
    asked: dict[int, tuple[tuple[int, ...] | None, int]] = {}
    for step in range(steps):
        if step % 13 == 12:
            fresh, check = rng.randrange(3), check if rng.random() < 0.8 else not check
            values += [str(len(values) + at) for at in range(fresh)]
            if fresh or model.check != check:
                model.append(fresh, check)
            members |= {name for name in ANALYSTS if rng.random() < 0.2}
            ledger.close()
            ledger = Ledger.open(path, PROMISE, granted(values, check, sorted(members)))
            if model.checked:
                ledger.note_units(BlocksWanted("cohort", tuple(values), check), "d", "v", "units")
            agree(ledger, model, paid, members)
        if check and rng.random() < 0.1:
            ledger.note_units(BlocksWanted("cohort", tuple(values), check), "d", "v", "units")
            model.see()
        _, checked, same = ledger.units_seen(BlocksWanted("cohort", tuple(values), check))
        assert same
        name, again = rng.choice(("", *ANALYSTS)), asked and rng.random() < 0.4
        if again:
            old = rng.choice([*asked])
            ledger.debit_or_join(debit(name, old, *asked[old], checked=checked))
            paid[name].add(old)
            continue
        listed = len(values) if rng.random() < 0.8 else rng.randrange(2, len(values) + 1)
        blocks = tuple(sorted(rng.sample(range(listed + 1), rng.randrange(1, listed + 2))))
        chosen = None if rng.random() < 0.3 else blocks
        ledger.debit_or_join(debit(name, plan, chosen, listed, checked=checked))
        later = {*range(listed + 1, len(values) + 1)} if REST in blocks else set()
        model.reads(plan, {*model.persons} if chosen is None else {*blocks} | later)
        paid[name].add(plan)
        asked[plan] = chosen, listed
        plan += 1
    for _ in range(2):
        agree(ledger, model, paid, members)
        ledger.verify()
        assert [
            each for each in ledger.recomputed().findings if "block" in each[1] or "group" in each[1]
        ] == []
        ledger.close()
        ledger = Ledger.open(path, PROMISE, granted(values, check, sorted(members)))
    ledger.close()


@pytest.mark.parametrize("seed", range(4))
def test_an_account_is_what_a_person_of_its_block_has_lost(tmp_path: Path, seed: int) -> None:
    history(tmp_path / "a.ledger", seed)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(10, 60))
def test_an_account_is_what_a_person_of_its_block_has_lost_in_many(tmp_path: Path, seed: int) -> None:
    history(tmp_path / "a.ledger", seed)


PLANTED = {
    "an appended block is empty": (Spending, "append", lambda self, old, new, fresh, zero: None),
    "a shorter list is taken for the whole": (
        BlockList, "touched", lambda self, blocks, listed: blocks,
    ),
    "a share is paid where its debit was": (
        BlockList, "paid", lambda self, entry, blocks: blocks and tuple(blocks),
    ),
    "a check forgets what was before": (Spending, "begin_check", lambda self, zero: None),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_planted_errors_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(*PLANTED[name])
    found = 0
    for seed in range(4):
        try:
            history(tmp_path / f"{seed}.ledger", seed)
        except (AssertionError, dpsql.Error):
            found += 1
    assert found


# ---- room ----------------------------------------------------------------------------------------------


def test_each_block_has_the_whole_budget(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "a", PROMISE, granted(["2023", "2024"], total=Units(10))) as ledger:
        ledger.debit_or_join(debit("ana", 1, (1,), 2, 10))
        ledger.debit_or_join(debit("ana", 2, (2,), 2, 9))
        assert [ledger.spent(None, block) for block in (0, 1, 2)] == [Units(0), Units(10), Units(9)]
        short = refused("D501", lambda: ledger.debit_or_join(debit("ana", 3, (1, 2), 2, 1)))
        assert "cohort 2023" in short.title
        assert (
            "cohort 2024" in refused("D501", lambda: ledger.debit_or_join(debit("bo", 4, (2,), 2, 2))).title
        )
        assert (
            "cohort 2023" in refused("D501", lambda: ledger.debit_or_join(debit("bo", 5, None, 2, 1))).title
        )
        ledger.debit_or_join(debit("bo", 6, (0, 2), 2, 1))
        refused(
            "D501", lambda: ledger.check("bo", priced((Due(((2,), 2)), Units(1)), (Due(((0,), 2)), Units(1))))
        )
        ledger.check("bo", priced((Due(((0,), 2)), Units(9))))
        refused(
            "D501",
            lambda: ledger.check("bo", priced((Due(((0,), 2)), Units(5)), (Due(EVERYWHERE), Units(5)))),
        )


def test_a_list_that_is_checked_grows_with_the_units(tmp_path: Path) -> None:
    """Nobody appends a value before looking at them, and nobody pays who has not looked."""
    wanted = BlocksWanted("cohort", ("2023", "2024"), True)
    with Ledger.open(tmp_path / "a", PROMISE, granted(["2023"], True)) as ledger:
        first = ledger.note_units(replace(wanted, values=("2023",)), "d1", "v", "units")
        ledger.debit_or_join(debit("ana", 1, (0,), 1, 7, first))
        for other in (None, first + 1):
            refused("D505", lambda other=other: ledger.debit_or_join(debit("ana", 1, (0,), 1, 7, other)))
    with Ledger.open(tmp_path / "a", PROMISE, granted(["2023", "2024"], True)) as ledger:
        assert ledger.blocks() == ("the rest of cohort", "cohort 2023")
        assert ledger.units_seen(wanted) == ("d1", first, False)
        assert ledger.note_units(wanted, "d2", "v", "units") == first
        assert ledger.units_seen(wanted) == ("d2", first, True)
        assert [ledger.spent(None, block) for block in (0, 1, 2)] == [Units(7), Units(0), Units(0)]
        ledger.verify()
    with Ledger.open(tmp_path / "a", PROMISE, granted(["2023", "2024"], False)) as ledger:
        assert ledger.units_seen(wanted) == (None, None, False)
        ledger.debit_or_join(debit("ana", 2, (0,), 2, 7))
        refused("D803", lambda: ledger.note_units(replace(wanted, values=("2024",)), "d", "v", "units"))


def test_an_older_ledger_gains_blocks_that_have_spent_all_that_it_has(tmp_path: Path) -> None:
    plain = Granted(1.0, MUCH, tuple((name, 1.0, MUCH) for name in ANALYSTS))
    with Ledger.open(tmp_path / "a", PROMISE, plain) as ledger:
        ledger.debit_or_join(replace(ASKED, price=Units(7)))
        assert ledger.blocks() == ()
    with Ledger.open(tmp_path / "a", PROMISE, granted(["2023"])) as ledger:
        assert ledger.blocks() == ("the rest of cohort", "cohort 2023")
        assert [ledger.spent("ana", block) for block in (0, 1)] == [Units(7), Units(7)]


def test_a_list_of_blocks_only_grows(tmp_path: Path) -> None:
    Ledger.open(tmp_path / "a", PROMISE, granted(["2023", "2024"])).close()
    for values in (["2023"], ["2024", "2023"], ["2023", "2025"], ["2022", "2023", "2024"]):
        error = refused("D803", lambda values=values: Ledger.open(tmp_path / "a", PROMISE, granted(values)))
        assert isinstance(error, ChangedList)
    other = replace(granted(["2023", "2024"]), blocks=BlocksWanted("year", ("2023", "2024")))
    assert "by year" in refused("D505", lambda: Ledger.open(tmp_path / "a", PROMISE, other)).label
    none = replace(granted(["2023", "2024"]), blocks=None)
    assert "has none" in refused("D505", lambda: Ledger.open(tmp_path / "a", PROMISE, none)).label
    Ledger.open(tmp_path / "a", PROMISE, granted(["2023", "2024", "2025"])).close()


# ---- many at once, and kills -----------------------------------------------------------------------------

WORKER = """
import sys, random
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from test_block_accounts import debit, granted
from test_ledger import PROMISE
from dpsql.accounting.ledger import Ledger
from dpsql.accounting.units import Units
from dpsql.errors import DatabaseError
rng = random.Random(sys.argv[2])
wanted = granted(["x", "y"], False, ["ana", "bo"], Units(int(sys.argv[4])))
with Ledger.open(Path(sys.argv[1]), PROMISE, wanted, patience=120) as ledger:
    for step in range(int(sys.argv[5])):
        blocks = rng.choice([(1,), (2,), (1, 2), None])
        try:
            receipt = ledger.debit_or_join(debit(rng.choice(["ana", "bo"]), step, blocks, 2, 7)
                if rng.random() < 0.2 else
                debit(rng.choice(["ana", "bo"]), hash((sys.argv[2], step)), blocks, 2, 7))
        except DatabaseError as error:
            assert error.code == "D501", error
            continue
        print(*(blocks or (0, 1, 2)), "" if receipt.joined else "new", flush=True)
"""


def start(path: Path, name: object, total: int, steps: int) -> subprocess.Popen[str]:
    here = str(Path(__file__).parent)
    arguments = [sys.executable, "-c", WORKER, str(path), str(name), here, str(total), str(steps)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("processes", [4, pytest.param(64, marks=pytest.mark.sweep)])
def test_many_processes_on_two_blocks_never_grant_too_much(tmp_path: Path, processes: int) -> None:
    path, total = tmp_path / "a.ledger", Units(500)
    wanted = granted(["x", "y"], False, ["ana", "bo"], total)
    Ledger.open(path, PROMISE, wanted).close()
    workers = [start(path, name, 500, 60) for name in range(processes)]
    for worker in workers:
        worker.communicate(timeout=600)
        assert worker.returncode == 0
    with Ledger.open(path, PROMISE, wanted) as ledger:
        ledger.verify()
        for block in (1, 2):
            assert total.main - 7 < ledger.spent(None, block).main <= total.main
            assert all(ledger.spent(name, block).within(total) for name in ANALYSTS)
            assert all(spent.within(total) for _, spent, _, _ in ledger.shared(block=block))


@pytest.mark.parametrize("kills", [3, pytest.param(200, marks=pytest.mark.sweep)])
def test_what_a_killed_process_was_told_is_spent(tmp_path: Path, kills: int) -> None:
    path, wanted, told = tmp_path / "a.ledger", granted(["x", "y"], False, ["ana", "bo"]), dict[int, int]()
    Ledger.open(path, PROMISE, wanted).close()
    for name in range(kills):
        with start(path, name, MUCH.main, 10_000) as worker:
            assert worker.stdout is not None
            lines = [worker.stdout.readline()]
            time.sleep(random.Random(name).random() / 20)
            worker.kill()
            lines += worker.stdout.readlines()
        for line in lines:
            *blocks, new = line.rstrip("\n").split(" ")
            for block in map(int, blocks) if new == "new" and line.endswith("\n") else ():
                told[block] = told.get(block, 0) + 7
    with Ledger.open(path, PROMISE, wanted) as ledger:
        ledger.verify()
        for block in (0, 1, 2):
            own = sum(ledger.spent(name, block).main for name in ANALYSTS)
            [(_, group, _, _)] = ledger.shared(block=block)
            assert ledger.spent(None, block) == group
            assert own >= ledger.spent(None, block).main >= len({*told}) > 0
