"""Caps in time: days, weeks and months of the policy's time zone, within the whole."""

from __future__ import annotations

import datetime
import json
import zoneinfo
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.accounting import entries
from dpsql.accounting.recent import Recent
from dpsql.accounting.units import Units
from dpsql.cli import main
from dpsql.policy.model import AnalystRule
from dpsql.session.time_caps import time_caps

POLICY = """\
timezone = "Europe/Oslo"
[budget]
epsilon = 10.0
{delta}
accountant = "{accountant}"
[query]
epsilon = 0.2
max_epsilon = 5.0
[analysts.ana]
epsilon = 4.0
per_day = 0.5
per_week = 1.0
[analysts.bob]
epsilon = 4.0
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
    return built(tmp_path, request.param)


def built(folder: Path, accountant: str) -> Path:
    path = folder / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER)")
        connection.execute("INSERT INTO people SELECT i, i % 100 FROM range(50) t(i)")
    delta = "" if accountant == "pure" else "delta = 1e-6"
    path.with_suffix(".toml").write_text(POLICY.format(accountant=accountant, delta=delta))
    return path


def later(monkeypatch: pytest.MonkeyPatch, days: float) -> None:
    then = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days)
    monkeypatch.setattr(entries, "clock", lambda: then)


def spend(db: dpsql.Connection, start: int = 0) -> tuple[int, dpsql.Error]:
    """How many counts are answered until one is refused."""
    for place in range(start, start + 500):
        try:
            db.execute(COUNT.format(place))
        except dpsql.Error as error:
            return place - start, error
    raise AssertionError("never refused")


def test_a_day_has_its_cap_and_the_next_one_again(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under pure two counts of .2 fit .5; under the others more. A week has 1, and the whole has 4."""
    with dpsql.connect(people, analyst="ana") as ana, dpsql.connect(people, analyst="bob") as bob:
        first, error = spend(ana)
        assert first == 2 if "pure" in ana.budget.accountant else first >= 2
        assert error.code == "D501"
        tomorrow = datetime.datetime.now(datetime.UTC).astimezone(zoneinfo.ZoneInfo("Europe/Oslo"))
        until = f"{tomorrow.date() + datetime.timedelta(1)} 00:00 (Europe/Oslo)"
        assert "ana's per_day, 0.5, does not hold this price" in str(error)
        assert f"from {until} there is room again" in str(error)
        (day, week) = ana.budget.time_caps
        assert (day.name, week.name, day.until) == ("per_day", "per_week", until)
        assert day.spent == pytest.approx(ana.budget.accounts[0].spent, rel=0.2)
        assert ana.budget.fits < 0.2
        assert ana.execute(COUNT.format(0)).cost == 0.0  # a repeat is free
        assert bob.execute(COUNT.format(400)).cost == 0.2
        with pytest.raises(dpsql.OperationalError, match="per_day"):  # joining costs ana as much
            ana.execute(COUNT.format(400))
        later(monkeypatch, 31)
        assert ana.budget.fits == pytest.approx(0.5, rel=1e-4)
        second, error = spend(ana, 100)
        assert second == first
    with dpsql.connect(people, analyst="ana") as ana:
        whole = ana.budget.accounts[0]
        assert whole.spent > 0
        assert {cap.analyst for cap in ana.budget.time_caps} == {"ana"}


def test_a_clock_that_went_back_frees_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set to the day before for one question, and right again."""
    path = built(tmp_path, "pure")
    with dpsql.connect(path, analyst="ana") as ana:
        ana.execute(COUNT.format(1))
        later(monkeypatch, -1)
        ana.execute(COUNT.format(2), epsilon=0.1)
        monkeypatch.undo()
        times = [purchase.time for purchase in ana.purchases]
        assert times == sorted(times)
        assert ana.budget.time_caps[0].spent == pytest.approx(0.3)
    with dpsql.connect(path, analyst="ana") as ana, pytest.raises(dpsql.OperationalError, match="per_day"):
        ana.execute(COUNT.format(3), epsilon=0.3)


def test_a_price_above_the_cap_never_fits(people: Path) -> None:
    with dpsql.connect(people, analyst="ana") as ana, pytest.raises(dpsql.OperationalError) as refused:
        ana.execute(COUNT.format(1), epsilon=0.6)
    assert "at most 0.5 fits" in str(refused.value)
    assert "room again" not in str(refused.value)


def test_the_owner_sees_them(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with dpsql.connect(people, analyst="ana") as ana:
        ana.execute(COUNT.format(1))
    assert main(["budget", str(people)]) == 0
    assert "ana, per_day" in capsys.readouterr().out
    assert main(["budget", str(people), "--format", "json"]) == 0
    (day, week) = json.loads(capsys.readouterr().out)["time_caps"]
    assert (day["granted"], week["granted"]) == (0.5, 1.0)
    assert day["spent"] == pytest.approx(0.2, rel=1e-6) == week["spent"]


def test_many_at_once_do_not_pass_the_cap(tmp_path: Path) -> None:
    path = built(tmp_path, "pure")

    def ask(place: int) -> int:
        with dpsql.connect(path, analyst="ana") as ana:
            try:
                ana.execute(COUNT.format(place))
            except dpsql.OperationalError:
                return 0
            return 1

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(ask, range(12))) == 2


def test_a_ledger_of_many_entries_is_read_to_where_the_window_began(tmp_path: Path) -> None:
    """90 entries, by a connection that made them and by a new one: both have the same sum."""
    path = built(tmp_path, "pure")
    text = (
        path.with_suffix(".toml")
        .read_text()
        .replace("per_day = 0.5", "per_day = 3")
        .replace("k = 1.0", "k = 4")
    )
    path.with_suffix(".toml").write_text(text)
    with dpsql.connect(path, analyst="ana") as ana:
        for place in range(90):
            ana.execute(COUNT.format(place), epsilon=0.005)
            if place % 40 == 0:
                assert ana.budget.time_caps[0].spent == pytest.approx(0.005 * (place + 1))
        mine = ana._open().ledger.spent_within(ana._open()._caps())
    with dpsql.connect(path, analyst="ana") as again:
        ledger = again._open().ledger
        assert ledger.spent_within(again._open()._caps()) == mine == [ledger.spent("ana")] * 2


@pytest.mark.parametrize(
    ("now", "zone", "starts", "ends"),
    [
        # Oslo: summer time begins on 2026-03-29 at 2:00, which is a day of 23 hours
        ("2026-03-29T21:59", "Europe/Oslo", "03-28T23:00 03-22T23:00 02-28T23:00", "03-30 03-30 04-01"),
        ("2026-03-29T22:01", "Europe/Oslo", "03-29T22:00 03-29T22:00 02-28T23:00", "03-31 04-06 04-01"),
        ("2026-12-31T23:59", "UTC", "12-31T00:00 12-28T00:00 12-01T00:00", "01-01 01-04 01-01"),
        ("2024-02-29T12:00", "Pacific/Auckland", "02-29T11:00 02-25T11:00 02-29T11:00", "03-02 03-04 04-01"),
    ],
)
def test_windows_are_those_of_the_calendar(
    now: str, zone: str, starts: str, ends: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = datetime.datetime.fromisoformat(now + ":00+00:00")
    monkeypatch.setattr(entries, "clock", lambda: moment)
    rule = AnalystRule("ana", 4.0, 1, per_day=1.0, per_week=2.0, per_month=3.0)
    caps = time_caps(rule, zone, lambda epsilon: Units(round(epsilon)))
    assert [cap.since[5:16] for cap in caps] == starts.split()
    assert [cap.until[5:10] for cap in caps] == ends.split()
    assert all(cap.since <= moment.isoformat(timespec="milliseconds") for cap in caps)
    assert [cap.total for cap in caps] == [Units(1), Units(2), Units(3)]


def test_a_planted_error_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read without what this connection appended since: the third count of .2 passes a cap of .5."""
    path = built(tmp_path, "pure")
    right = Recent.read
    monkeypatch.setattr(Recent, "read", lambda self, *more: None if self.last else right(self, *more))
    with dpsql.connect(path, analyst="ana") as ana:
        assert spend(ana)[0] > 2
