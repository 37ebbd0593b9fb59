"""``dpsql advise``: every figure is the planner's, no private row is read, no ledger is made."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.accounting import Budget, accountant
from dpsql.advice.advice import ACCOUNTANTS, advice, one_count, shared
from dpsql.advice.planner import Answerable, Planner, Setting
from dpsql.advice.questions import questions_of
from dpsql.cli import main
from dpsql.engines.open_database import open_database
from dpsql.render.digits import wide
from dpsql.render.log_plot import log_plot
from dpsql.session.checks import load_policy

BY_WARD = "SELECT ward, AVG(age), SUM(income), COUNT(*) FROM patients GROUP BY ward"
VISITS = "SELECT kind, COUNT(*), SUM(cost) FROM visits GROUP BY kind"


@contextlib.contextmanager
def planner_of(database: Path) -> Iterator[Planner]:
    policy = load_policy(database.with_suffix(".toml"))
    with (
        contextlib.closing(open_database(database, policy)) as engine,
        contextlib.closing(Planner(policy, engine)) as planner,
    ):
        yield planner


def answerable(planner: Planner, sql: str, setting: Setting) -> Answerable:
    made = planner.answerable(planner.parsed(sql), setting)
    assert isinstance(made, Answerable), made
    return made


def advised(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["advise", *words]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    return shown.out


# ---- the figures ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ACCOUNTANTS)
def test_every_figure_is_the_one_of_explain(clinic: Path, name: str) -> None:
    """A policy with the setting explains the same errors, and charges the same."""
    setting = Setting(name, Budget(7.0, 0.0 if name == "pure" else 1e-7), 0.3, (("visits", 12),))
    with planner_of(clinic) as planner:
        made = [answerable(planner, sql, setting) for sql in (BY_WARD, VISITS)]
    policy = clinic.with_suffix(".toml")
    text = (
        policy.read_text()
        .replace('"zcdp"', f'"{name}"')
        .replace("rows_per_unit = 5", "rows_per_unit = 12", 1)
    )
    text = re.sub(r"epsilon = (100|50)\.0", "epsilon = 7.0", text).replace(
        "max_epsilon = 20.0", "max_epsilon = 7.0"
    )
    policy.write_text(text.replace("delta = 1e-6\n", "" if name == "pure" else "delta = 1e-7\n"))
    with dpsql.connect(clinic) as db:
        for each, sql in zip(made, (BY_WARD, VISITS), strict=True):
            price = db.price(sql, epsilon=0.3)
            for number, expected in zip(each.numbers, price.expected, strict=True):
                assert number.name == expected.aggregate.upper().replace("COUNT_UNITS", "COUNT")
                assert number.error(expected.at_rows or 1) == pytest.approx(expected.error)
            before = db.budget.spent
            db.execute(sql, epsilon=0.3)
            charged = setting.terms.accountant.epsilon(each.cost, setting.terms.budget)
            assert before or db.budget.spent == pytest.approx(charged)


def test_columns_of_public_tables_have_the_ranges_that_explain_knows(clinic: Path) -> None:
    asked = (
        "SELECT SUM(floor) FROM patients JOIN wards USING (ward)",
        "SELECT SUM(age * floor) FROM patients JOIN wards USING (ward)",
        "SELECT MAX(floor) FROM patients JOIN wards USING (ward)",
    )
    with planner_of(clinic) as planner:
        made = [answerable(planner, sql, planner.setting) for sql in asked]
    with dpsql.connect(clinic) as db:
        for each, sql in zip(made, asked, strict=True):
            ((measure,),) = (stage["measures"] for stage in db.explain(sql).to_dict()["stages"])
            assert [number.facts for number in each.numbers] == measure["columns"]


@pytest.mark.parametrize("name", ACCOUNTANTS)
def test_so_many_questions_fit_and_no_more(clinic: Path, name: str) -> None:
    with planner_of(clinic) as planner:
        for sql in (BY_WARD, "SELECT COUNT(*) FROM visits"):
            setting = Setting(name, Budget(3.0, 1e-6), 0.07)
            made = answerable(planner, sql, setting)
            fit, zero = made.fit(setting), setting.terms.accountant.zero
            total = setting.terms.accountant.total(setting.terms.budget)
            assert fit > 3 / 0.07 - 1
            assert sum([made.cost] * fit, zero).within(total)
            assert not sum([made.cost] * (fit + 1), zero).within(total)


def test_equal_shares_of_a_budget_fit_it(clinic: Path) -> None:
    """What is shown for forty questions is paid for by forty: their prices do not exceed the budget."""
    with planner_of(clinic) as planner:
        for name in ACCOUNTANTS:
            for share in (1, 3, 40, 777):
                setting = shared(Setting(name, Budget(2.0, 1e-6), 1.0), share)
                assert answerable(planner, BY_WARD, setting).fit(setting) == share


def deviation(planner: Planner, name: str, price: float) -> float:
    setting = Setting(name, Budget(1.0, 1e-6), price)
    (number,) = answerable(planner, "SELECT COUNT(*) FROM patients", setting).numbers
    return number.deviation


def test_one_question_is_for_pure_and_forty_for_zcdp(clinic: Path) -> None:
    """1.4 beside 4.6 for one count that takes an epsilon of 1; for one of forty it is the other way round."""
    with planner_of(clinic) as planner:
        assert deviation(planner, "pure", 1.0) == pytest.approx(1.4, abs=0.05)
        assert deviation(planner, "zcdp", 1.0) == pytest.approx(4.6, abs=0.1)
        (share,) = accountant("zcdp").parts(1.0, [Fraction(1, 40)], Budget(1.0, 1e-6))
        assert deviation(planner, "zcdp", share) < deviation(planner, "pure", 1 / 40) / 1.5


def test_the_least_number_of_questions_for_zcdp_is_the_least(clinic: Path) -> None:
    with planner_of(clinic) as planner:
        found = advice(planner, [BY_WARD, "SELECT COUNT(*) FROM patients"])

        def width(name: str, share: int, sql: str) -> float:
            setting = shared(Setting(name, planner.setting.budget, 1.0), share)
            return answerable(planner, sql, setting).numbers[0].width

        for suited, sql in zip(found.suited, found.questions, strict=True):
            assert suited.zcdp_from is not None
            at = suited.zcdp_from
            assert width("zcdp", at, sql) <= min(width("pure", at, sql), width("approx", at, sql))
            assert at == 1 or width("zcdp", at - 1, sql) > min(
                width("pure", at - 1, sql), width("approx", at - 1, sql)
            )


def test_averages_are_over_so_many_persons(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def average(*more: str) -> list[float]:
        said = json.loads(advised(capsys, str(clinic), BY_WARD, "--format", "json", *more))
        (line,) = [each for each in said["lines"] if each["name"] == "1 AVG"]
        return list(line["figures"])

    few, many = average(), average("--persons", "20,000")
    assert few == pytest.approx([20 * each for each in many])


# ---- what is read --------------------------------------------------------------------------------------


def test_neighbours_get_the_same_advice(clinics: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = {
        advised(capsys, str(clinics / name / "clinic.duckdb"))
        for name in ("clinic", "neighbour", "single", "empty")
    }
    assert len(said) == 1
    assert not list(clinics.rglob("*.ledger*"))


def test_damaged_rows_are_not_noticed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The pages of a parquet file are overwritten, its footer is not: whoever reads a row is refused."""
    data = tmp_path / "data"
    data.mkdir()
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT i AS user_id, i % 90 AS age FROM range(5000) AS r(i)) TO '{data}/people.parquet'"
        )
    (tmp_path / "data.toml").write_text(
        "[budget]\nepsilon = 1\ndelta = 1e-6\n[unit]\nname = 'user'\ntable = 'people'\nkey = 'user_id'\n"
        "[tables.people.columns]\nage = { range = [0, 90] }\n"
    )
    file = data / "people.parquet"
    content = bytearray(file.read_bytes())
    content[4 : len(content) // 2] = b"\xff" * (len(content) // 2 - 4)
    file.write_bytes(content)
    assert main(["policy", "check", str(data)]) == 1
    capsys.readouterr()
    assert "SELECT AVG(age), SUM(age) FROM people" in advised(capsys, str(data))


def test_after_init_without_a_ledger(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A log whose policy says neither ranges nor rows per unit; its columns have odd names."""
    database = tmp_path / "log.duckdb"
    with contextlib.closing(duckdb.connect(str(database))) as connection:
        connection.execute(
            'CREATE TABLE "order" (user_id INTEGER, "group" VARCHAR, amount DOUBLE, ok BOOLEAN)'
        )
    assert main(["init", str(database), "--yes", "--unit", "user_id"]) == 0
    out = capsys.readouterr().out
    with planner_of(database) as planner:
        found = one_count(planner)
    assert found is not None
    said = " ".join(out.split())
    assert f'SELECT COUNT(DISTINCT user_id) FROM "order" is within ± {found[1]:.0f} (95 %)' in said
    assert f"{found[2]:,} such questions fit" in said
    shown = advised(capsys, str(database))
    assert 'SELECT "group", COUNT(*) FROM "order" GROUP BY "group"' in shown
    assert "Nobody declared rows_per_unit of order: 10 stands in" in " ".join(shown.split())
    assert {each.name for each in tmp_path.iterdir()} == {"log.duckdb", "log.toml"}


# ---- text ----------------------------------------------------------------------------------------------


def test_it_fits_eighty_columns(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    long = f"SELECT ward, COUNT(*) FROM patients WHERE {' OR '.join(['age>3'] * 20)} GROUP BY ward"
    large = "SELECT SUM(income * income * income), SUM(income * 1000), SUM(income) FROM patients"
    for more in ((), (long,), (large,), ("--persons", "123456")):
        shown = advised(capsys, str(clinic), *more)
        assert all(wide(line) <= 80 for line in shown.split("\n"))
        assert [line for line in shown.split("\n") if "…" in line and not line.startswith("  1  ")] == []
        for part in ("Prices.", "Size.", "rows_per_unit of visits.", "Budget.", "Accountant.", "100 % ┤"):
            assert part in shown


def test_questions_of_the_policy_can_be_asked(clinic: Path) -> None:
    with planner_of(clinic) as planner:
        questions = questions_of(planner.known)
    assert questions == (
        "SELECT COUNT(*) FROM patients",
        "SELECT ward, COUNT(*) FROM patients GROUP BY ward",
        "SELECT city, COUNT(*) FROM patients GROUP BY city",
        "SELECT AVG(age), SUM(age) FROM patients",
        "SELECT COUNT(*) FROM visits",
    )
    with dpsql.connect(clinic) as db:
        for sql in questions:
            db.explain(sql)


def test_pure_has_no_groups_of_its_own(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = clinic.with_suffix(".toml")
    policy.write_text(policy.read_text().replace('"zcdp"', '"pure"').replace("delta = 1e-6\n", ""))
    shown = " ".join(advised(capsys, str(clinic)).split())
    assert "left out: SELECT city, COUNT(*) FROM patients GROUP BY city: these groups are not public" in shown
    assert "delta 1e-06 (pure has no delta" in shown


def test_questions_from_a_file(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = clinic.with_name("questions.sql")
    file.write_text(
        "SET epsilon = 1;\nSELECT MEDIAN(age) FROM patients;\n-- name: old\nSELECT COUNT(*) FROM visits;\n"
    )
    said = json.loads(advised(capsys, str(clinic), "--file", str(file), "--format", "json"))
    assert said["questions"] == ["SELECT MEDIAN(age) FROM patients", "SELECT COUNT(*) FROM visits"]
    assert [line["kind"] for line in said["lines"]] == ["of the rank", "error", "fit"]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT OPTIONS(epsilon = 1) COUNT(*) FROM patients", "a question here sets no epsilon"),
        ("SELECT OPTIONS(within = 5) COUNT(*) FROM patients", "a question here sets no epsilon"),
        ("SELECT * FROM wards", "question 1 reads public tables alone"),
        ("SELECT SUM(score) FROM patients", "D301"),
        ("SELECT OPTIONS(max_rows_contributed = auto) SUM(cost) FROM visits", "asks for a clip that fits"),
        ("SELECT DP_RANDOMIZED_RESPONSE(ward, 1) AS w FROM patients", "D2"),
        ("SELECT agee FROM patients", "did you mean age?"),
    ],
)
def test_a_question_without_figures_is_refused(
    clinic: Path, sql: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["advise", str(clinic), sql]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert said in shown.err


def test_a_number_of_persons_is_a_number(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in ("0", "many", "-3"):
        assert main(["advise", str(clinic), "--persons", wrong]) == 2
        assert "usage" in capsys.readouterr().err


def test_a_plot_has_its_lines_where_they_belong() -> None:
    lines = log_plot((1, 10, 100), ("1", "10", "100"), ((1000, 100, 10), (10, 1, 0.1)), 40, "", 100.0)
    drawn = [line for line in lines if "┤" in line or "│" in line]
    room = [line.partition("┤")[2] or line.partition("│")[2] for line in drawn]
    assert [line.split(" ┤")[0].strip() for line in drawn if "┤" in line] == ["100", "10", "1", "0.1"]
    assert room[0].strip("a ") == ""  # 100 is reached at 10, in the middle, and not above
    assert room[0].find("a") == pytest.approx(len(room[-1]) / 2, abs=4)
    assert room[3].startswith("b")
    assert room[-1].endswith("b")
    assert all(len(line) <= 40 for line in lines)


def test_the_policys_own_accountant_is_compared_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Under rdp its column stands beside the three, and is never worse than zcdp's."""
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER)")
    path.with_suffix(".toml").write_text(
        '[budget]\nepsilon = 5.0\ndelta = 1e-6\naccountant = "rdp"\n[unit]\ntable = "people"\nkey = "id"\n'
        "[tables.people.columns]\nage = { range = [0, 100] }\n"
    )
    assert main(["advise", str(path), "--persons", "1000"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"│ questions │ +pure │ +approx │ +zcdp │ +rdp │", shown)
    rows = re.findall(r"^│ [\d,]+ +" + r"│ +± ([\d,]+)[ <]+" * 4 + "│$", shown, re.MULTILINE)
    assert rows
    assert all(int(rdp.replace(",", "")) <= int(zcdp.replace(",", "")) for *_, zcdp, rdp in rows)
