"""Files of statements: priced as a whole before anything is paid, shared, kept in files, taken up again."""

from __future__ import annotations

import csv
import json
import math
import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import pytest
from drivers.endless import ENDLESS

import dpsql
from dpsql.accounting import Budget, accountant, names, opened
from dpsql.accounting.units import Units
from dpsql.batch.script import read
from dpsql.batch.shares import balance, combined, shared, strain
from dpsql.cli import main
from dpsql.errors import Error

SCRIPT = """\
-- What the clinic asks every month.
SET epsilon = 0.5;
-- name: old
SELECT COUNT(*) AS n FROM patients WHERE age >= 65;
-- name: by_ward
SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM patients GROUP BY ward;
SELECT ward, floor FROM wards;
SET epsilon = default;
SELECT SUM(cost) AS cost FROM visits;
-- name: plan
EXPLAIN SELECT COUNT(*) FROM patients;
"""


class Runner:
    """The clinic, a script beside it, and ``dpsql run`` of both in this process."""

    def __init__(self, database: Path, said: Callable[[], Any]) -> None:
        self.database, self.said = database, said
        self.folder = database.parent
        self.script = self.folder / "monthly.sql"
        self.out = self.folder / "monthly.results"

    def run(self, text: str | None, *options: str, exits: int = 0) -> str:
        """Everything that was said, on either stream."""
        if text is not None:
            self.script.write_text(text)
        code = main(["run", str(self.database), str(self.script), *options])
        said = self.said()
        assert code == exits, said
        return str(said.out) + str(said.err)

    @property
    def manifest(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.out / "manifest.json").read_text())
        return found

    def entry(self, name: str) -> dict[str, Any]:
        (found,) = (each for each in self.manifest["statements"] if each["name"] == name)
        return found  # type: ignore[no-any-return]  # JSON is of any type

    def purchases(self) -> list[dpsql.Purchase]:
        with dpsql.connect(self.database) as db:
            return list(db.purchases)

    def spent(self) -> Units:
        with dpsql.connect(self.database) as db:
            return db._open().ledger.spent()


@pytest.fixture
def clinic_run(clinic: Path, capsys: pytest.CaptureFixture[str]) -> Runner:
    return Runner(clinic, capsys.readouterr)


# ---- what is run ---------------------------------------------------------------------------------------


def test_names_prices_and_time_limits() -> None:
    tasks = read(SCRIPT + "SET timeout = 30; SELECT 1; SET timeout = off; SELECT 2", "a.sql").tasks
    assert [each.name for each in tasks] == [
        *("old", "by_ward", "statement_03", "statement_04", "plan", "statement_06", "statement_07")
    ]
    assert [each.epsilon for each in tasks] == [0.5, 0.5, 0.5, None, None, None, None]
    assert [each.timeout for each in tasks] == [None, None, None, None, None, 30.0, None]


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("SELECT 1; SET memory = 3; SELECT 2", (1, 11), "SET epsilon: the price of each statement"),
        ("SET epsilon = many; SELECT 1", (1, 1), "a positive number"),
        ("SET timeout = -1; SELECT 1", (1, 1), "SET timeout = 30"),
        ("-- name: a\nSELECT 1;\n-- name: A\nSELECT 2", (4, 1), "is on line 2 already"),
        ("-- name: statement_02\nSELECT 1;\nSELECT 2", (3, 1), "it has no name"),
        ("-- name: Manifest\nSELECT 1", (2, 1), "manifest.json"),
        ("-- nothing", None, "there is no statement"),
    ],
)
def test_what_means_nothing_is_refused(text: str, where: tuple[int, int] | None, words: str) -> None:
    with pytest.raises(Error) as refused:
        read(text, "a.sql")
    assert refused.value.position == where
    assert words in str(refused.value)


def test_a_file_is_answered_into_a_folder(clinic_run: Runner) -> None:
    said = clinic_run.run(SCRIPT)
    assert "5 of 5 statements answered, paid epsilon 2" in said
    manifest = clinic_run.manifest
    assert [each["state"] for each in manifest["statements"]] == ["answered"] * 5
    assert [each["price"] for each in manifest["statements"]] == [0.5, 0.5, 0.0, 1.0, 0.0]
    assert (manifest["price"], manifest["paid"]) == (2.0, 2.0)
    for each in manifest["statements"]:
        content = (clinic_run.out / each["file"]).read_bytes()
        assert sha256(content).hexdigest() == each["sha256"]
        assert len(list(csv.reader(content.decode().splitlines()))) == each["rows"] + 1
    header, *_ = csv.reader((clinic_run.out / "by_ward.csv").read_text().splitlines())
    assert header == ["ward", "n", "n_margin", "age", "age_margin"]
    assert [each["largest"] is None for each in clinic_run.entry("by_ward")["columns"]] == [
        True,
        False,
        False,
    ]
    files = sorted(each.name for each in clinic_run.out.iterdir())
    assert files == sorted(["manifest.json", *(each["file"] for each in manifest["statements"])])
    assert math.fsum(each.epsilon for each in clinic_run.purchases()) == 2.0


@pytest.mark.parametrize("kind", ["json", "parquet"])
def test_formats(clinic_run: Runner, kind: str) -> None:
    clinic_run.run(SCRIPT, "--format", kind, "--out", str(clinic_run.out))
    file = clinic_run.out / f"by_ward.{kind}"
    if kind == "parquet":
        assert duckdb.connect().sql(f"SELECT * FROM '{file}'").columns == [
            "ward",
            "n",
            "n_margin",
            "age",
            "age_margin",
        ]
        return
    found = json.loads(file.read_text())
    assert list(found) == ["columns", "rows", "margins", "note"]
    assert len(found["rows"]) == len(found["margins"]) == 3


def test_standard_input(clinic: Path) -> None:
    command = [sys.executable, "-m", "dpsql.cli", "run", str(clinic), "-"]
    for options, code in (([], 2), (["--out", str(clinic.parent / "found")], 0)):
        result = subprocess.run(
            [*command, *options], input=SCRIPT, capture_output=True, text=True, check=False
        )
        assert result.returncode == code, result.stderr
    assert (clinic.parent / "found" / "by_ward.csv").exists()
    assert "\r" not in result.stderr  # nobody sits there


# ---- before anything is paid ---------------------------------------------------------------------------


def test_a_dry_run_tells_prices_and_pays_nothing(clinic_run: Runner) -> None:
    said = clinic_run.run(SCRIPT, "--dry-run")
    assert "5 statements: epsilon 2 in all" in said
    assert "under zcdp, less than the sum of prices" in said
    assert clinic_run.purchases() == []
    assert not clinic_run.out.exists()
    clinic_run.run(SCRIPT)
    remaining = clinic_run.manifest["remaining"]
    assert f"{math.floor(remaining * 1e4) / 1e4:g} afterwards" in said
    again = clinic_run.run(SCRIPT, "--dry-run")
    assert "2 of it paid before" in again
    assert "answered before" in again


def test_steps_that_were_taken_are_free(clinic_run: Runner) -> None:
    near = "SELECT OPTIONS(within = '5%') COUNT(*) FROM patients"
    assert "at most 20" in clinic_run.run(near, "--dry-run")
    clinic_run.run(near)
    said = clinic_run.run(None, "--dry-run")
    assert "20 of it paid before" in said
    clinic_run.run(None, "--out", str(clinic_run.folder / "again"))
    with dpsql.connect(clinic_run.database) as db:
        price = db.price(near)
        assert (price.cost, price.repeated, price.after) == (0.0, True, price.remaining)


def test_the_same_question_twice_is_paid_once(clinic_run: Runner) -> None:
    said = clinic_run.run("SELECT COUNT(*) FROM patients; SELECT COUNT(*) + 1 FROM patients", "--dry-run")
    assert "2 statements: epsilon 1 in all\n" in said
    assert "free, as statement_01" in said
    clinic_run.run(None)
    assert [each["paid"] for each in clinic_run.manifest["statements"]] == [1.0, 0.0]
    assert (clinic_run.manifest["price"], clinic_run.entry("statement_02")["like"]) == (1.0, "statement_01")


ALIKE = """\
SELECT COUNT(*) FROM patients;
select count(*) AS n from PATIENTS p;
-- name: other
SELECT COUNT(*) FROM patients WHERE age > 30;
"""


@pytest.mark.parametrize("weights", ["", "-- weight: 1\n"])
def test_the_same_question_twice_has_one_share(clinic_run: Runner, weights: str) -> None:
    """Of two questions each buys half of the rho, however often the first is asked."""
    clinic_run.run(weights + ALIKE, "--epsilon", "2", "--apart")
    prices = [each["price"] for each in clinic_run.manifest["statements"]]
    assert prices[0] == prices[1] == prices[2]
    assert [each["paid"] > 0 for each in clinic_run.manifest["statements"]] == [True, False, True]
    assert clinic_run.manifest["had"] - clinic_run.manifest["remaining"] == pytest.approx(2, rel=2e-3)
    files = [(clinic_run.out / f"statement_0{i}.csv").read_text().split()[1] for i in (1, 2)]
    assert files[0] == files[1]


def test_the_greatest_weight_of_one_question_counts(clinic_run: Runner) -> None:
    clinic_run.run(f"-- weight: 4\n{ALIKE}", "--epsilon", "2", "--apart")
    same, again, other = (each["columns"][0]["largest"] for each in clinic_run.manifest["statements"])
    assert same == again
    assert other == pytest.approx(2 * same, abs=1)  # a quarter of the rho is twice the deviation


def test_a_price_of_its_own_comes_off_a_total_once(clinic_run: Runner) -> None:
    own = "SELECT OPTIONS(epsilon = 1.0) COUNT(*) FROM patients;\n"
    said = clinic_run.run(own * 2 + "SELECT AVG(age) FROM patients;", "--epsilon", "2")
    assert "together as private as one query at 2" in said
    assert clinic_run.manifest["had"] - clinic_run.manifest["remaining"] == pytest.approx(2, rel=2e-3)


def test_a_bound_that_is_found_for_one_text_is_not_a_price_for_another(clinic_run: Runner) -> None:
    """Who finds a bound measures with what is left of the price; who uses it, with all of it."""
    text = "SELECT SUM(score) AS s FROM patients;\nSELECT SUM(score) AS t FROM patients;\n"
    assert "2 statements: epsilon 2 in all\ntakes" in clinic_run.run(text, "--dry-run")
    clinic_run.run(None)
    assert [each["paid"] for each in clinic_run.manifest["statements"]] == [1.0, 1.0]
    again = text.split("\n")[0] * 2
    assert "epsilon 0.8 in all, 0.8 of it paid before" in clinic_run.run(again, "--dry-run")


def test_a_refusal_is_told_before_anything_is_paid(clinic_run: Runner) -> None:
    broken = SCRIPT + "SELECT SUM(score) FROM patients;\nSELECT COUNT(*) FROM nobody;\n"
    text = broken.replace("SUM(score)", "any_value(score)")
    said = clinic_run.run(text, exits=1)
    assert "error[D253]" in said
    assert "error[D201]" in said
    assert "monthly.sql:13:22" in said
    assert "nothing was paid" in said
    assert clinic_run.purchases() == []
    assert not clinic_run.out.exists()
    said = clinic_run.run(text, "--keep-going", exits=1)
    assert "5 of 7 statements answered" in said
    assert clinic_run.entry("statement_07")["code"] == "D201"


def test_a_dry_run_tells_what_is_refused_in_its_place(clinic_run: Runner) -> None:
    said = clinic_run.run("SELECT COUNT(*) FROM patients WHERE age > ?; SELECT 1 AS x", "--dry-run", exits=1)
    rows = [line.split()[1] for line in said.splitlines() if line.startswith("│")]
    assert rows == ["name", "statement_01", "statement_02"]
    assert "1 statement: free" in said
    assert "one more is refused: a run with --keep-going skips it, without it nothing is asked" in said
    assert "monthly.sql:1:43" in said
    assert "a file of statements has no parameters" in said


def test_a_file_that_the_budget_does_not_hold_is_not_begun(clinic_run: Runner) -> None:
    text = "".join(f"SELECT COUNT(*) FROM patients WHERE age > {age};\n" for age in range(9))
    said = clinic_run.run("SET epsilon = 1.0;" + text, "--analyst", "bob", exits=3)
    assert "error[D501]: the budget does not hold this file" in said
    assert "it would fit" in said
    said = clinic_run.run(None, "--analyst", "bob", "--dry-run", exits=3)
    assert "more than what remains, which is 2\n" in said
    assert "afterwards" not in said
    assert clinic_run.purchases() == []
    clinic_run.run(text, "--analyst", "bob", exits=3)
    said = clinic_run.run(text, "--analyst", "bob", "--epsilon", "2.0")  # as the help said
    assert "9 of 9" in said
    assert clinic_run.manifest["remaining"] < 0.01


def test_a_folder_is_one_runs_own(clinic_run: Runner) -> None:
    clinic_run.run(SCRIPT)
    before = clinic_run.purchases()
    said = clinic_run.run(SCRIPT.replace("65", "66"), exits=1)
    assert "error[D509]" in said
    assert clinic_run.purchases() == before


def test_two_runs_do_not_write_into_one_folder(clinic_run: Runner) -> None:
    holding = "import sys; from pathlib import Path; from dpsql.batch.atomic_files import alone\n"
    holding += "with alone(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    other = subprocess.Popen(
        [sys.executable, "-c", holding, str(clinic_run.out)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdout is not None
    assert other.stdout.readline() == "held\n"
    assert "another run is using" in clinic_run.run(SCRIPT, exits=1)
    other.communicate()
    clinic_run.run(SCRIPT)


# ---- one total -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("total", [0.01, 1.0, 3.0])
def test_shares_add_up_to_the_total(name: str, total: float) -> None:
    """What these prices buy together is what the total buys; four digits lose little."""
    budget = Budget(5.0, 1e-6)
    chosen = opened(name, budget)
    prices = shared(total, [1, 2, 5], chosen, budget, 10.0)
    whole = chosen.weight(total, budget)
    assert 0.995 * whole <= sum(chosen.weight(each, budget) for each in prices) <= whole
    assert shared(total, [1], chosen, budget, 10.0) == (total,)
    assert combined((total, *prices), chosen, budget) < 0.1 * total


def test_what_the_ceiling_cuts_off_goes_to_the_others() -> None:
    budget = Budget(10.0, 0.0)
    assert shared(4.0, [1, 1, 8], accountant("pure"), budget, 2.0) == (1.0, 1.0, 2.0)
    assert shared(9.0, [1, 1, 8], accountant("pure"), budget, 2.0) == (2.0, 2.0, 2.0)


def test_weights_are_of_what_adds_up(clinic_run: Runner) -> None:
    text = "SELECT COUNT(*) FROM patients;\n-- weight: 4\nSELECT COUNT(*) FROM patients WHERE age > 3;\n"
    clinic_run.run(text, "--epsilon", "2", "--apart")
    one, other = (each["columns"][0]["largest"] for each in clinic_run.manifest["statements"])
    assert one == pytest.approx(2 * other, abs=1)  # four times the rho is half the deviation
    assert clinic_run.manifest["had"] - clinic_run.manifest["remaining"] == pytest.approx(2, rel=2e-3)


def test_groups_ask_for_more(db: dpsql.Connection) -> None:
    """Three groups are three times smaller; the best share of rho grows with the power of two thirds."""
    count, grouped = (
        db._priced(sql, (), None)[0]
        for sql in ("SELECT COUNT(*) FROM patients", "SELECT ward, COUNT(*) FROM patients GROUP BY ward")
    )
    assert strain(grouped) == pytest.approx(3 * strain(count))
    one, other = balance([count, grouped], accountant("zcdp"))
    assert other / one == pytest.approx(3 ** (2 / 3))
    rest = [
        (u, strain(count) * u**-0.5 + strain(grouped) * (1 - u) ** -0.5)
        for u in (i / 1000 for i in range(1, 1000))
    ]
    best = min(rest, key=lambda each: each[1])[0]
    assert best == pytest.approx(one / (one + other), abs=1e-3)


def test_prices_of_their_own_come_off_the_total(clinic_run: Runner) -> None:
    text = "SELECT OPTIONS(epsilon = 1.0) COUNT(*) FROM patients; SELECT AVG(age) FROM patients"
    clinic_run.run(text, "--epsilon", "2")
    prices = [each["price"] for each in clinic_run.manifest["statements"]]
    assert prices[0] == 1.0
    assert 1.0 < prices[1] < 2.0
    said = clinic_run.run(text, "--epsilon", "0.5", "--dry-run", exits=1)
    assert "leaves nothing to share" in said
    said = clinic_run.run(
        SCRIPT.replace("SET epsilon = default;", ""), "--epsilon", "2", "--dry-run", exits=1
    )
    assert "old on line 4 does, for example" in said


# ---- going on ------------------------------------------------------------------------------------------


class Killed(BaseException):
    """Nobody catches it: the process is gone."""


def kill_at(patch: pytest.MonkeyPatch, place: str, number: int) -> None:
    """Die at the so-many-th call of a function."""
    import importlib

    module, _, name = place.rpartition(".")
    real, calls = getattr(importlib.import_module(module), name), [0]

    def die(*given: object, **more: object) -> object:
        calls[0] += 1
        if calls[0] == number:
            raise Killed
        return real(*given, **more)

    patch.setattr(place, die)


LIVELY = """\
-- name: recent
SELECT COUNT(*) AS n FROM patients WHERE seen < now() AT TIME ZONE 'UTC';
-- name: found
SELECT SUM(score) AS score, COUNT(*) AS n FROM patients;
-- name: near
SELECT OPTIONS(within = '5%') COUNT(*) AS n FROM patients;
-- name: last
SELECT COUNT(*) AS n FROM patients WHERE seen > current_date - 3;
"""


@pytest.mark.parametrize("place", ["dpsql.releasing.release", "dpsql.batch.run.keep", "dpsql.batch.run.save"])
@pytest.mark.parametrize("number", [1, 2, 3, 4, 6])
def test_killed_anywhere_it_pays_what_an_undisturbed_run_pays(
    clinic_run: Runner, monkeypatch: pytest.MonkeyPatch, place: str, number: int
) -> None:
    """Between debit and answer, answer and file, file and manifest; also between two steps of one query."""
    with monkeypatch.context() as patch:
        kill_at(patch, place, number)
        try:
            code = main(["run", str(clinic_run.database), str(_written(clinic_run))])
            assert code == 0  # it had ended before
        except Killed:
            pass
    seen = {each.name: each.read_bytes() for each in clinic_run.out.glob("*.csv")}
    clinic_run.run(None, "--resume")
    assert [each["state"] for each in clinic_run.manifest["statements"]] == ["answered"] * 4
    assert all((clinic_run.out / name).read_bytes() == content for name, content in seen.items())
    counts = [
        sum(
            each.sql == entry["sql"] or each.sql.endswith(f"*/ {entry['sql']}")
            for each in clinic_run.purchases()
        )
        for entry in clinic_run.manifest["statements"]
    ]
    assert (counts[0], counts[1], counts[3]) == (1, 2, 1)
    note = clinic_run.entry("near")["note"]
    assert f"after {counts[2]} of" in note
    paid = [each["paid"] for each in clinic_run.manifest["statements"]]
    prices = [each["price"] for each in clinic_run.manifest["statements"]]
    assert (paid[0], paid[3]) == (prices[0], prices[3])
    assert paid[1] == pytest.approx(prices[1])


def _written(clinic_run: Runner) -> Path:
    clinic_run.script.write_text(LIVELY)
    return clinic_run.script


def test_time_stands_still_for_a_run(clinic_run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between debit and answer, now() is what it was: the same measure, so the same debit."""
    text = "SELECT COUNT(*) FROM patients WHERE seen < now() AT TIME ZONE 'UTC'"
    clinic_run.script.write_text(text)
    with monkeypatch.context() as patch:
        kill_at(patch, "dpsql.releasing.release", 1)
        with pytest.raises(Killed):
            main(["run", str(clinic_run.database), str(clinic_run.script)])
    clinic_run.run(None, "--resume")
    assert len(clinic_run.purchases()) == 1
    clinic_run.run(None, "--out", str(clinic_run.folder / "later"))
    assert len(clinic_run.purchases()) == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("data", "the database has been written to since"),
        ("policy", "the policy has changed its tables"),
        ("ledger", "this is another ledger"),
        ("analyst", "another analyst asks"),
        ("file", "statement 2 (by_ward) is not what it was"),
        ("length", "it had 5 statements, and now 4"),
        ("epsilon", "this run began with no --epsilon"),
        ("format", "this run began with --format csv"),
        ("manifest", "this manifest cannot be read"),
    ],
)
def test_what_changed_is_told_and_nothing_is_paid(
    clinic_run: Runner, monkeypatch: pytest.MonkeyPatch, change: str, words: str
) -> None:
    with monkeypatch.context() as patch:
        kill_at(patch, "dpsql.releasing.release", 2)
        with pytest.raises(Killed):
            clinic_run.run(SCRIPT)
    policy, options = clinic_run.database.with_suffix(".toml"), ["--resume"]
    text = SCRIPT
    match change:
        case "data":
            with duckdb.connect(str(clinic_run.database)) as owner:
                owner.execute("DELETE FROM patients WHERE patient_id = 7")
        case "policy":
            policy.write_text(policy.read_text().replace("[0, 120]", "[0, 110]"))
        case "ledger":
            clinic_run.database.with_suffix(".ledger").rename(clinic_run.folder / "old.ledger")
        case "analyst":
            options += ["--analyst", "ana"]
        case "file":
            text = SCRIPT.replace("AVG(age) AS age", "AVG(income) AS income")
        case "length":
            text = SCRIPT[: SCRIPT.index("-- name: plan")]
        case "epsilon":
            options += ["--epsilon", "1"]
        case "format":
            options += ["--format", "json"]
        case "manifest":
            (clinic_run.out / "manifest.json").write_text("{}")
    said = clinic_run.run(text, *options, exits=1)
    assert "error[D509]" in said
    assert words in said
    assert len(clinic_run.purchases()) == (0 if change == "ledger" else 2)


GRANTS = {
    "more": [("epsilon = 100.0", "epsilon = 400.0")],
    "less": [("epsilon = 100.0", "epsilon = 60.0")],
    "analyst": [("[analysts.bob]", "[analysts.eve]\nepsilon = 9.0\n\n[analysts.bob]")],
    "price": [("epsilon = 1.0", "epsilon = 0.25")],
    "ceiling": [("max_epsilon = 20.0", "max_epsilon = 12.0"), ("epsilon = 100.0", "epsilon = 80.0")],
}


def grant(clinic_run: Runner, change: str) -> str:
    """Let the owner change what may be spent; the policy as it was."""
    policy = clinic_run.database.with_suffix(".toml")
    before = after = policy.read_text()
    for old, new in GRANTS[change]:
        assert old in after
        after = after.replace(old, new, 1)
    policy.write_text(after)
    return before


@pytest.mark.parametrize("change", GRANTS)
@pytest.mark.parametrize("number", [1, 2, 3, 4, 6])
def test_a_run_goes_on_under_another_budget_and_nothing_is_paid_twice(
    clinic_run: Runner, monkeypatch: pytest.MonkeyPatch, number: int, change: str
) -> None:
    """Killed between debit and answer: of one release, of bounds, behind bounds, of a step.

    Noise may be drawn by the budget (that of a threshold is). What was debited under the old one is then
    left out, and comes when the old one is back.
    """
    clinic_run.script.write_text(
        "-- name: cities\nSELECT city, COUNT(*) AS n FROM patients GROUP BY city;\n"
        "-- name: same\nSELECT city, COUNT(*) AS m FROM patients GROUP BY city;\n" + LIVELY
    )
    with monkeypatch.context() as patch:
        kill_at(patch, "dpsql.releasing.release", number)
        with pytest.raises(Killed):
            main(["run", str(clinic_run.database), str(clinic_run.script)])
    prices = [each["price"] for each in clinic_run.manifest["statements"]]
    began = {each.sql for each in clinic_run.purchases()}
    seen = {each.name: each.read_bytes() for each in clinic_run.out.glob("*.csv")}
    before = grant(clinic_run, change)
    main(["run", str(clinic_run.database), str(clinic_run.script), "--resume", "--keep-going"])
    for entry in clinic_run.manifest["statements"]:
        assert entry["state"] == "answered" or (entry["code"] == "D509" and entry["sql"] in {*began, *SAME})
    seen |= {each.name: each.read_bytes() for each in clinic_run.out.glob("*.csv")}
    main(["run", str(clinic_run.database), str(clinic_run.script), "--resume", "--keep-going"])
    clinic_run.database.with_suffix(".toml").write_text(before)
    clinic_run.said()
    clinic_run.run(None, "--resume")
    assert all((clinic_run.out / name).read_bytes() == content for name, content in seen.items())
    statements = clinic_run.manifest["statements"]
    assert [each["state"] for each in statements] == ["answered"] * 6
    assert [each["price"] for each in statements if each["name"] != "near"] == [*prices[:4], prices[5]]
    bought = [each.sql for each in clinic_run.purchases()]
    assert [bought.count(each["sql"]) for each in statements if each["name"] != "near"] == [1, 0, 1, 1, 1]
    assert sum(each.startswith("/* finds") for each in bought) == 1
    near = clinic_run.entry("near")
    assert f"after {bought.count(near['sql'])} of" in near["note"]
    assert all(each["paid"] <= each["price"] * (1 + 1e-9) for each in statements)


SAME = ("SELECT city, COUNT(*) AS m FROM patients GROUP BY city",)


def test_a_run_that_ran_short_goes_on_with_what_the_owner_grants(
    clinic_run: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(f"SELECT COUNT(*) FROM patients WHERE age > {age};\n" for age in range(4))
    with monkeypatch.context() as patch:
        kill_at(patch, "dpsql.batch.run.save", 2)
        with pytest.raises(Killed):
            clinic_run.run(f"SET epsilon = 0.9;\n{text}", "--analyst", "bob")
    with dpsql.connect(clinic_run.database, analyst="bob") as db:
        db.execute("SELECT AVG(age) FROM patients", epsilon=1.4)
    said = clinic_run.run(None, "--analyst", "bob", "--resume", exits=3)
    assert "the budget does not hold the rest of this file" in said
    assert "let the owner grant more, then continue with --resume" in said
    policy = clinic_run.database.with_suffix(".toml")
    policy.write_text(policy.read_text().replace("epsilon = 2.0", "epsilon = 4.0"))
    said = clinic_run.run(None, "--analyst", "bob", "--resume")
    assert "4 of 4 statements answered, paid epsilon 3.6 (it took " in said
    assert len(clinic_run.purchases()) == 5
    had, remaining = clinic_run.manifest["had"], clinic_run.manifest["remaining"]
    with dpsql.connect(clinic_run.database, analyst="bob") as db:
        session = db._open()
        debits = [each for each in session.ledger.entries() if each.kind == "debit"]
        granted, gone = session._balance("bob", next(each.price for each in debits if "AVG" in each.sql), 4.0)
        assert had == granted - gone
        assert remaining == session.remaining()


def test_a_page_shows_what_the_files_hold(clinic_run: Runner) -> None:
    """Asked again under another budget, the same question has other noise: the page does not show that."""
    query = "SELECT city, COUNT(*) AS n, SUM(income) AS i FROM patients GROUP BY city ORDER BY n DESC, city"
    clinic_run.run(query)
    page = clinic_run.folder / "page.html"
    clinic_run.run(None, "--resume", "--report", str(page))
    assert "Bergen" in page.read_text()
    grant(clinic_run, "more")
    with dpsql.connect(clinic_run.database) as db:
        assert not db.execute(query).repeated
    clinic_run.run(None, "--resume", "--report", str(page))
    assert "The answer is in statement_01.csv." in page.read_text()


def test_comments_may_change(clinic_run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        kill_at(patch, "dpsql.releasing.release", 2)
        with pytest.raises(Killed):
            clinic_run.run(SCRIPT)
    clinic_run.run("-- Patience.\n" + SCRIPT, "--resume")


def test_a_failure_stops_and_says_how_to_go_on(clinic_run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine fails at the second statement: what was debited stays debited, and is not debited again."""

    def fail(*given: object) -> None:
        raise dpsql.OperationalError("D601", "the engine failed")

    with monkeypatch.context() as patch:
        patch.setattr("dpsql.engines.duckdb.DuckDB.measure", fail)
        said = clinic_run.run(SCRIPT, exits=1)
    assert "stopped at old: 0 of 5 statements answered, paid epsilon 0.5" in said
    assert "--resume" in said
    (line,) = (each for each in said.splitlines() if each.startswith("continue with: dpsql run "))
    assert clinic_run.entry("old")["code"] == "D601"
    said = clinic_run.run(None, *line.split()[6:])
    assert "5 of 5 statements answered, paid epsilon 2" in said
    assert len(clinic_run.purchases()) == 3


def test_resume_without_a_run_is_its_beginning(clinic_run: Runner) -> None:
    said = clinic_run.run(SCRIPT, "--resume")
    assert "this run begins now" in said
    before = clinic_run.manifest
    said = clinic_run.run(SCRIPT, "--resume")
    assert "5 of 5" in said
    assert clinic_run.manifest["statements"] == before["statements"]
    shutil.rmtree(clinic_run.out)
    said = clinic_run.run(SCRIPT)
    assert "paid epsilon 0," in said
    assert clinic_run.entry("old")["repeated"]


# ---- in a terminal -------------------------------------------------------------------------------------


class Terminal:
    """``dpsql run`` in a terminal of its own, 80 columns wide."""

    def __init__(self, *arguments: str) -> None:
        self.screen = b""
        self.pid, self.handle = pty.fork()
        if self.pid == 0:
            os.environ.update(COLUMNS="80", TERM="xterm", PYTHONUTF8="1")
            os.execv(sys.executable, [sys.executable, "-m", "dpsql.cli", "run", *arguments])

    def until(self, words: bytes) -> None:
        while words not in self.screen:
            self.screen += self._more()

    def ended(self) -> int:
        """The exit code, when everything was read."""
        with suppress(OSError):  # how Linux says that the other side is closed
            while more := self._more():
                self.screen += more
        os.close(self.handle)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def _more(self) -> bytes:
        return os.read(self.handle, 4096)


def test_a_line_tells_how_far_it_is(clinic_run: Runner) -> None:
    clinic_run.script.write_text(SCRIPT)
    terminal = Terminal(str(clinic_run.database), str(clinic_run.script))
    assert terminal.ended() == 0
    lines = [each for each in terminal.screen.decode().split("\r") if "\x1b[K[" in each]
    first = {each.split("] ")[1][:3]: each for each in reversed(lines)}  # a slow one is told of again
    assert sorted(first) == ["0/5", "1/5", "2/5", "3/5", "4/5"]
    assert first["0/5"].endswith("\x1b[K[....................] 0/5  old")
    assert re.search(r"\[########\.{12}\] 2/5  statement_03  \d+:\d\d left$", first["2/5"])
    after = terminal.screen.decode().rpartition("\x1b[K")[2]
    assert after.lstrip().startswith("┌")  # nothing of it is left on the screen


def test_long_names_keep_to_the_width_of_a_terminal(clinic_run: Runner) -> None:
    name = "patients_" * 10 + "all"
    clinic_run.script.write_text(f'-- name: {name}\nSELECT COUNT(*) AS "{name}" FROM patients;')
    for options in ("--dry-run",), ():
        terminal = Terminal(str(clinic_run.database), str(clinic_run.script), *options)
        assert terminal.ended() == 0
        lines = [each for each in terminal.screen.decode().splitlines() if "│" in each]
        assert max(len(each) for each in lines) == 80
        assert any(each.startswith("│ patients_patients_") and "..." in each for each in lines)


def test_ctrl_c_ends_it_in_order(clinic_run: Runner) -> None:
    clinic_run.script.write_text(f"SELECT COUNT(*) FROM patients;\n-- name: slow\n{ENDLESS};\nSELECT 1;")
    terminal = Terminal(str(clinic_run.database), str(clinic_run.script))
    terminal.until(b"1/3  slow")
    os.write(terminal.handle, b"\x03")
    assert terminal.ended() == 130
    said = terminal.screen.decode()
    assert "stopped at slow: 1 of 3 statements answered, paid epsilon 1" in said
    assert "continue with: dpsql run " in said
    assert "Traceback" not in said
    assert [each["state"] for each in clinic_run.manifest["statements"]] == ["answered", "waiting", "waiting"]
    assert clinic_run.manifest["ended"] is None


def test_ctrl_c_before_anything_is_asked_says_that_nothing_was_paid(
    clinic_run: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dpsql.batch.bill._billed", stopped)
    for options in ("--dry-run",), ():
        with pytest.raises(KeyboardInterrupt, match="stopped: nothing was paid now"):
            clinic_run.run(SCRIPT, *options)
    assert not clinic_run.out.exists()


def test_a_time_limit_holds_for_its_statements(clinic_run: Runner) -> None:
    said = clinic_run.run(
        f"SET timeout = 0.2;\n{ENDLESS};\nSET timeout = off;\nSELECT COUNT(*) FROM patients",
        "--keep-going",
        exits=1,
    )
    assert "error[D603]" in said
    assert "1 of 2 statements answered" in said


def test_more_time_may_be_allowed_to_a_run(clinic_run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was paid for when time ran out is completed, not paid again."""

    def late(*given: object) -> None:
        raise dpsql.OperationalError("D603", "the query took longer than the time limit")

    text = "SET timeout = 10;\n-- name: slow\nSELECT COUNT(*) FROM visits;"
    with monkeypatch.context() as patch:
        patch.setattr("dpsql.engines.duckdb.DuckDB.measure", late)
        said = clinic_run.run(text, exits=1)
    assert "error[D603]" in said
    assert "--> monthly.sql:3:1" in said
    assert len(clinic_run.purchases()) == 1
    clinic_run.run(text.replace("10", "off"), "--resume")
    assert len(clinic_run.purchases()) == 1
    assert (clinic_run.entry("slow")["paid"], clinic_run.entry("slow")["timeout"]) == (1.0, None)


# ---- what nobody should write ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["clinic.duckdb", "clinic.toml", "clinic.ledger", "monthly.sql", "pipe"])
def test_no_page_takes_the_place_of_what_is_read_or_of_a_device(clinic_run: Runner, name: str) -> None:
    clinic_run.run("SELECT ward, floor FROM wards", "--dry-run")  # there is a ledger
    os.mkfifo(clinic_run.folder / "pipe")
    file = clinic_run.folder / name
    before = file.stat()
    clinic_run.run("SELECT ward, floor FROM wards", "--report", str(file), exits=1)
    assert (file.stat().st_ino, file.stat().st_mode) == (before.st_ino, before.st_mode)
    assert (
        main(["query", str(clinic_run.database), "-c", "SELECT 1 AS x", "-o", str(clinic_run.database)]) == 1
    )
    assert clinic_run.database.stat().st_size > 10_000


@pytest.mark.parametrize(
    "change", [{"started": "soon"}, {"started": "2024-01-01T00:00:00"}, {"started": 3}, {"rests_on": []}]
)
def test_a_manifest_that_somebody_wrote_into_is_refused(clinic_run: Runner, change: dict[str, Any]) -> None:
    clinic_run.run("SELECT ward, floor FROM wards")
    (clinic_run.out / "manifest.json").write_text(json.dumps(clinic_run.manifest | change))
    assert "this manifest cannot be read" in clinic_run.run(None, "--resume", exits=1)


@pytest.mark.parametrize("total", ["1e308", "nan", "inf", "-1", "0"])
def test_no_total_is_beyond_all_budgets(clinic_run: Runner, total: str) -> None:
    assert "D503" in clinic_run.run("SELECT COUNT(*) FROM patients", "--epsilon", total, "--dry-run", exits=1)


@pytest.mark.parametrize("rule", ["zcdp", "approx"])
def test_a_query_in_steps_leaves_delta_to_others(clinic_run: Runner, rule: str) -> None:
    """A threshold after it needs some of the delta, of which the steps charge none."""
    policy = clinic_run.folder / "clinic.toml"
    policy.write_text(re.sub(r'accountant = "\w+"\n', "", policy.read_text()))
    policy.write_text(policy.read_text().replace("[budget]", f'[budget]\naccountant = "{rule}"'))
    clinic_run.run(
        "SET epsilon = 0.1;\nSELECT OPTIONS(within = '5%') COUNT(*) AS n FROM patients;\n"
        "SELECT city, COUNT(*) AS n FROM patients GROUP BY city;",
        "--dry-run",
    )


def test_a_manifest_is_no_check_of_a_guess_about_the_files(clinic_run: Runner) -> None:
    """The data's version comes from sizes and times; who has another ledger cannot make its mark again."""
    clinic_run.run("SELECT COUNT(*) FROM patients;")
    first = clinic_run.manifest["rests_on"]
    out, ledger = clinic_run.folder / "b", clinic_run.folder / "b.ledger"
    clinic_run.run(None, "--out", str(out), "--ledger", str(ledger))
    other = json.loads((out / "manifest.json").read_text())["rests_on"]
    assert {name for name in first if first[name] == other[name]} == {"policy", "analyst", "dpsql"}


def test_what_would_show_nothing_is_refused_before_anything_is_paid(clinic_run: Runner) -> None:
    """At its own price, and at its share of a total: 89 patients show a group of visits at epsilon 1."""
    policy = clinic_run.folder / "clinic.toml"
    text = policy.read_text()
    by_cost = "SELECT cost, COUNT(*) AS n FROM visits GROUP BY cost"
    script = f"-- name: old\nSELECT COUNT(*) FROM patients;\n-- name: costs\n{by_cost};\n"
    policy.write_text(text.replace('key = "patient_id"\n', 'key = "patient_id"\nabout = 50\n', 1))
    assert "refused D511" in clinic_run.run(script, "--dry-run", exits=1)
    said = clinic_run.run(script, exits=1)
    assert "error[D511]: the answer would show nothing at this price" in said
    assert "monthly.sql:4:" in said
    assert clinic_run.purchases() == []
    assert "refused D511" in clinic_run.run(script, "--dry-run", "--epsilon", "1", exits=1)
    priced = clinic_run.run(script, "--dry-run", "--epsilon", "12")
    assert "costs: a group shows from" in priced
    policy.write_text(text)
    assert "a group shows from" not in clinic_run.run(script, "--dry-run")
