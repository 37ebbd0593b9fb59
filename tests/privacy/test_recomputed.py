"""Events in the ledger, new and old, and prices that do not follow from them."""

from __future__ import annotations

import ast
import gzip
import json
import random
import sqlite3
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpsql
from dpsql.accounting import names, opened
from dpsql.accounting.chain import FORMAT
from dpsql.accounting.stored_events import LONGEST, read, stored
from dpsql.cli import main
from dpsql.ir.event import (
    ChoiceEvent,
    Event,
    GaussianEvent,
    GeometricEvent,
    LaplaceEvent,
    ResponseEvent,
    ThresholdEvent,
)
from dpsql.plan.written_form import written

LEDGERS = Path(__file__).parent / "ledgers"
SCALES = st.floats(1e-6, 1e15, allow_nan=False)
SIZES = st.integers(0, 2**60)
SMALL = st.floats(1e-30, 50)
EVENTS = st.lists(
    st.one_of(
        st.builds(LaplaceEvent, SIZES, SCALES),
        st.builds(GeometricEvent, SIZES, SCALES),
        st.builds(GaussianEvent, SIZES, SCALES),
        st.builds(GaussianEvent, SIZES, SCALES, SMALL, st.floats(1e-30, 0.1)),
        st.builds(ThresholdEvent, st.floats(1e-30, 0.1)),
        st.builds(ChoiceEvent, SMALL),
        st.builds(ResponseEvent, SMALL),
    ),
    max_size=6,
).map(tuple)


@settings(max_examples=200)
@given(EVENTS)
def test_events_are_read_as_they_were_written(events: tuple[Event, ...]) -> None:
    """As JSON, and in the old form, which is that of Python values: to the last bit of each float."""
    assert Counter(read(stored(events)) or ()) == Counter(events)
    assert read(written(events)) == events
    assert json.loads(stored(events)) is not None
    assert ast.parse(written(events))  # the old form is what Python prints


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Laplace",
        "(LaplaceEvent(sensitivity=1, scale=3.0)",
        "(LaplaceEvent(sensitivity=1, scale=3.0))",
        "(LaplaceEvent(sensitivity=1),)",
        "(LaplaceEvent(scale=3.0, sensitivity=1),)",
        "(LaplaceEvent(sensitivity=1.5, scale=3.0),)",
        "(LaplaceEvent(sensitivity=None, scale=3.0),)",
        "(OtherEvent(sensitivity=1, scale=3.0),)",
        "(LaplaceEvent(sensitivity=__import__('os'), scale=3.0),)",
        "(ChoiceEvent(epsilon=0.1), ... (9000 characters, sha256 ab12)",
        '[[1, "choice", 0.1], ... (9000 characters, sha256 ab12)',
        '[[0, "choice", 0.1]]',
        '[[1.0, "choice", 0.1]]',
        '[[true, "choice", 0.1]]',
        '[[1, "other", 0.1]]',
        '[[1, "laplace", 1]]',
        '[[1, "laplace", 1.0, 3.0]]',
        '[[1, "choice", "0.1"]]',
        '[[1, "choice", null]]',
        "[5]",
    ],
)
def test_other_text_is_not_read(text: str) -> None:
    assert read(text) is None


def test_long_lists_are_short_if_they_repeat() -> None:
    many = (ChoiceEvent(0.1), LaplaceEvent(2**20, 3e7)) * 10_000
    assert len(stored(many)) < 100 < LONGEST
    assert Counter(read(stored(many)) or ()) == Counter(many)


POLICY = """\
[budget]
epsilon = 5.0
{delta}
accountant = "{accountant}"
[query]
epsilon = 0.2
[analysts.ana]
epsilon = 2.0
[analysts.bo]
epsilon = 2.0
{groups}
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
age = {{ range = [0, 100] }}
town = {{}}
"""
GROUPS = '[groups.students]\nanalysts = ["ana", "bo"]\nepsilon = 2.0\n[studies.flu]\nepsilon = 1.0'


def built(folder: Path, accountant: str = "zcdp") -> Path:
    """A ledger with sums, counts, medians, keys, shares, and a group that was joined late."""
    path = folder / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER, town VARCHAR, pay DOUBLE)"
        )
        connection.execute("INSERT INTO people SELECT i, i % 100, 'AB'[1 + i % 2], i FROM range(300) t(i)")
    delta = "" if accountant == "pure" else "delta = 1e-6"
    policy = path.with_suffix(".toml")
    policy.write_text(POLICY.format(accountant=accountant, delta=delta, groups=""))
    asked = ["SELECT COUNT(*), SUM(age) FROM people", "SELECT MEDIAN(age) FROM people"]
    asked += [] if accountant == "pure" else ["SELECT town, COUNT(*) FROM people GROUP BY town"]
    asked += ["SELECT AVG(LEAST(age, 50)) FROM people"]
    for analyst in ("ana", "bo"):
        with dpsql.connect(path, analyst=analyst) as db:
            for sql in asked:
                db.execute(sql)
    policy.write_text(POLICY.format(accountant=accountant, delta=delta, groups=GROUPS))
    with dpsql.connect(path, analyst="ana", study="flu") as db:
        for price in (0.1, 0.11):
            db.execute(asked[0], epsilon=price)
    return path


@pytest.mark.parametrize("accountant", names())
def test_every_price_follows_from_its_events(
    tmp_path: Path, accountant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = built(tmp_path, accountant)
    assert main(["budget", "verify", str(path)]) == 0
    shown = capsys.readouterr().out
    many = 5 if accountant == "pure" else 6
    assert f"{many} debits and {many - 2} shares have the price of their events" in shown
    with dpsql.connect(path) as db:
        assert all(read(each.events) for each in db._open().ledger.entries() if each.kind == "debit")


@pytest.mark.parametrize("name", ["before_sums", "before_tables"])
def test_older_ledgers_have_the_price_of_their_events(name: str) -> None:
    """Their events are in the old form; every charge that they made is one that is made now."""
    content = gzip.decompress((LEDGERS / f"{name}.ledger.gz").read_bytes())
    connection = sqlite3.connect(":memory:")
    connection.deserialize(content)
    entries = [json.loads(text) for (text,) in connection.execute("SELECT entry FROM entries ORDER BY id")]
    rules = opened(entries[0]["promise"]["accountant"], dpsql.accounting.Budget(1.0, 1e-6))
    debits = [entry for entry in entries if entry["kind"] == "debit"]
    assert debits
    for entry in debits:
        events = read(entry["events"])
        assert events
        assert rules.charge(events).within(rules.read(entry))


def forged(path: Path, change: Callable[[dict[str, Any]], bool]) -> None:
    """Change the first entry that ``change`` is true of, and write all hashes from there on anew."""
    with sqlite3.connect(path.with_suffix(".ledger")) as ledger:
        before, changed = sha256(FORMAT).digest(), False
        for number, text in ledger.execute("SELECT id, entry FROM entries ORDER BY id").fetchall():
            entry = json.loads(text)
            if not changed and change(entry):
                changed = True
                text = json.dumps(entry, sort_keys=True, separators=(",", ":"))
            before = sha256(before + text.encode()).digest()
            ledger.execute("UPDATE entries SET entry = ?, hash = ? WHERE id = ?", (text, before, number))
        assert changed


def of_debit(change: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], bool]:
    def changed(entry: dict[str, Any]) -> bool:
        if entry["kind"] == "debit":
            change(entry)
        return entry["kind"] == "debit"

    return changed


def cheaper(entry: dict[str, Any]) -> bool:
    if entry["kind"] not in ("share", "members"):
        return False
    entry["main"] -= 1
    return True


def cheaper_members(entry: dict[str, Any]) -> bool:
    return entry["kind"] == "members" and cheaper(entry)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (of_debit(lambda entry: entry.update(main=entry["main"] - 1)), "below that of its events: main"),
        (of_debit(lambda entry: entry.update(delta=0, events='[[1, "threshold", 1e-9]]')), "delta 0 of"),
        (of_debit(lambda entry: entry.update(events='[[1, "laplace", 9, 1.0]]')), "below that of its events"),
        (of_debit(lambda entry: entry.update(events='[[1, "laplace", 1, -1.0]]')), "cannot be charged"),
        (cheaper, "a share has not the price of its debit"),
        (cheaper_members, "a group does not have what its new members had paid"),
    ],
    ids=["price", "delta", "events", "impossible", "share", "members"],
)  # fmt: skip
def test_a_forged_entry_is_found_though_its_chain_is_whole(
    tmp_path: Path, change: Callable[[dict[str, Any]], bool], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = built(tmp_path)
    forged(path, change)
    assert main(["budget", "verify", str(path)]) == 1
    error = " ".join(capsys.readouterr().err.split())
    assert "error[D506]" in error
    assert told in error


def test_an_edited_or_removed_entry_breaks_the_chain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = built(tmp_path)
    before = path.with_suffix(".ledger").read_bytes()
    rng = random.Random(1)
    for _ in range(6):
        path.with_suffix(".ledger").write_bytes(before)
        with sqlite3.connect(path.with_suffix(".ledger")) as ledger:
            (number,) = rng.choice(
                ledger.execute("SELECT id FROM entries WHERE entry LIKE '%debit%'").fetchall()
            )
            if rng.random() < 0.5:
                ledger.execute("UPDATE entries SET entry = replace(entry, '1', '2') WHERE id = ?", (number,))
            else:
                ledger.execute("DELETE FROM entries WHERE id = ?", (number,))
        assert main(["budget", "verify", str(path)]) == 1
        assert "error[D506]" in capsys.readouterr().err


def test_an_older_file_is_found_with_a_witness(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = built(tmp_path)
    policy = path.with_suffix(".toml")
    policy.write_text(policy.read_text() + '[ledger]\nwitness = "other.witness"\n')
    with dpsql.connect(path) as db:
        db.execute("SELECT COUNT(*) FROM people", epsilon=0.05)
    before = path.with_suffix(".ledger").read_bytes()
    with dpsql.connect(path) as db:
        db.execute("SELECT COUNT(*) FROM people", epsilon=0.06)
    path.with_suffix(".ledger").write_bytes(before)
    assert main(["budget", "verify", str(path)]) == 1
    assert "error[D512]" in capsys.readouterr().err


def test_there_must_be_a_ledger(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = built(tmp_path)
    path.with_suffix(".ledger").unlink()
    assert main(["budget", "verify", str(path)]) != 0
    assert "there is no ledger" in capsys.readouterr().err


def test_a_text_does_not_stand_for_more_events_than_fit() -> None:
    """Whoever can write a ledger cannot make its owner's check take all memory."""
    few, many = (f'[[{count}, "choice", 0.1]]' for count in (1_000, 10**12))
    events = read(few)
    assert events is not None
    assert len(events) == 1_000
    assert read(many) is None
