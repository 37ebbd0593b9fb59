"""What could show nothing is refused before it is paid for; what hardly could is said before and after."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import dpsql
from dpsql import worth
from dpsql.audit import plan_of
from dpsql.explain.doubts import Doubt, doubts_of
from dpsql.ir.plan import Plan
from dpsql.policy.catalogue import Known

BY_COST = "SELECT cost, COUNT(*) AS n FROM visits GROUP BY cost"
BY_CITY = "SELECT city, COUNT(*) AS n FROM patients GROUP BY city"
PUBLIC = "SELECT floor(cost / 1) AS cost, COUNT(*) AS n FROM visits GROUP BY 1"

Opened = Callable[..., dpsql.Connection]


@pytest.fixture
def opened(clinic: Path, tmp_path: Path) -> Iterator[Opened]:
    """The clinic of about so many patients, as its owner says; other lines may be replaced."""
    with ExitStack() as stack:

        def connected(
            about: int | None, *more: tuple[str, str], ledger: str = "own.ledger"
        ) -> dpsql.Connection:
            text = clinic.with_suffix(".toml").read_text()
            said = (
                () if about is None else (('key = "patient_id"\n', f'key = "patient_id"\nabout = {about}\n'),)
            )
            for old, new in (*said, *more):
                assert old in text
                text = text.replace(old, new, 1)
            (tmp_path / "own.toml").write_text(text)
            return stack.enter_context(dpsql.connect(clinic, tmp_path / "own.toml", tmp_path / ledger))

        yield connected


def refused(db: dpsql.Connection, sql: str, epsilon: float = 1.0) -> dpsql.Error:
    with pytest.raises(dpsql.OperationalError, match="would show nothing at this price") as caught:
        db.execute(sql, epsilon=epsilon)
    assert caught.value.code == "D511"
    return caught.value


def test_groups_that_cannot_show_are_refused_for_nothing(opened: Opened) -> None:
    """89 patients show a group of visits at epsilon 1, and there are about 50."""
    db = opened(50)
    error = refused(db, BY_COST)
    assert re.search(r"a group shows from 89 patients on, and there are about 50 in all", error.label)
    assert error.position == (1, 49)
    assert db.purchases == ()
    assert db.price(BY_COST, epsilon=1.0).nothing
    assert "it would show nothing, and is refused (D511)" in str(db.explain(BY_COST, epsilon=1.0))


def test_where_nobody_says_how_many_units_there_are_nothing_is_refused(opened: Opened) -> None:
    db = opened(None)
    assert db.execute(BY_COST, epsilon=1.0).cost == 1.0
    price = db.price(BY_COST, epsilon=0.5)
    assert (price.doubts, price.nothing) == ((), False)


@pytest.mark.parametrize("accountant", ["zcdp", "approx"])
def test_what_the_help_says_shows_something(opened: Opened, accountant: str) -> None:
    """Each remedy, taken, is answered at what it says; a little less than the price that it names is not."""
    db = opened(50, ('"zcdp"', f'"{accountant}"'))
    said = refused(db, BY_COST).help
    price = re.search(r"pay ([\d.]+) or more", said)
    groups = re.search(r"OPTIONS\(max_groups_contributed = (\d+)\)", said)
    assert price is not None
    assert groups is not None
    assert "show public keys: floor(cost)" in said
    assert said.endswith("ask all the same: OPTIONS(anyway = true) after SELECT")
    refused(db, BY_COST, 0.95 * float(price[1]))
    for sql, epsilon in (
        (BY_COST, float(price[1])),
        (BY_COST.replace("SELECT", f"SELECT {groups[0]}"), 1.0),
        ("SELECT floor(cost) AS c, COUNT(*) FROM visits GROUP BY c", 1.0),
        (BY_COST.replace("SELECT", "SELECT OPTIONS(anyway = true)"), 1.0),
    ):
        assert db.execute(sql, epsilon=epsilon).cost == epsilon
    assert db.execute(BY_COST, epsilon=1.0).cost == 0.0  # paid for by the last one


def test_no_remedy_is_named_that_the_budget_or_the_owner_forbids(opened: Opened) -> None:
    db = opened(50, ("max_epsilon = 20.0", "max_epsilon = 1.2"))
    assert "pay" not in refused(db, BY_COST).help
    db = opened(50, ("epsilon = 100.0", "epsilon = 20.0"), ledger="other.ledger")
    db.execute("SELECT COUNT(*) FROM patients", epsilon=19.9)
    assert "pay" not in refused(db, BY_COST).help


def test_anyway_in_python_and_a_repeat_of_it(opened: Opened) -> None:
    db = opened(50)
    first = db.execute(BY_COST, epsilon=1.0, anyway=True)
    assert (first.cost, db.execute(BY_COST, epsilon=1.0).rows) == (1.0, first.rows)


def test_groups_that_hardly_can_show_are_answered_with_a_note(opened: Opened) -> None:
    """89 of 500 patients: more than a tenth. 89 of 900 say nothing."""
    db = opened(500)
    price = db.price(BY_COST, epsilon=1.0)
    assert price.doubts == ("a group shows from 89 patients on, and there are about 500 in all",)
    assert not price.nothing
    answer = db.execute(BY_COST, epsilon=1.0)
    assert "reaches 89. There are about 500 patients in all: few groups can reach it." in answer.note
    assert "doubt     a group shows from 89 patients on" in str(db.explain(BY_COST, epsilon=1.0))
    assert opened(900).price(BY_COST, epsilon=1.0).doubts == ()


def test_an_empty_answer_says_which_spelling_needs_no_threshold(opened: Opened) -> None:
    answer = opened(None).execute(f"{BY_CITY} HAVING n > 10_000")
    assert answer.rows == []
    assert answer.note.endswith("Public keys need no threshold: WHERE city IN ('...', '...').")


def test_rows_that_always_show_are_no_nothing(opened: Opened) -> None:
    """The total of a ROLLUP, and the row of all hidden groups."""
    db = opened(30)
    for sql in (
        "SELECT city, COUNT(*) AS n FROM patients GROUP BY ROLLUP (city)",
        "SELECT OPTIONS(other_group = 'other') city, COUNT(*) AS n FROM patients GROUP BY city",
    ):
        assert db.price(sql, epsilon=1.0).doubts
        assert db.execute(sql, epsilon=1.0).rows


@pytest.mark.parametrize(
    ("sql", "epsilon", "nothing"),
    [
        # the noise of COUNT at .01 is 100 patients wide (zcdp: sqrt of 2 ln(1/delta))
        ("SELECT COUNT(*) FROM patients", 0.01, True),
        ("SELECT COUNT(DISTINCT patient_id) FROM visits", 0.01, True),
        ("SELECT AVG(age) FROM patients", 0.01, True),
        ("SELECT SUM(income) FROM patients", 0.01, True),
        ("SELECT COUNT(*) FROM patients", 1.0, False),
        ("SELECT AVG(age) FROM patients", 1.0, False),
        ("SELECT SUM(income) FROM patients", 1.0, False),
    ],
)
def test_numbers_that_could_be_anything_are_refused(
    opened: Opened, sql: str, epsilon: float, nothing: bool
) -> None:
    db = opened(240)
    if not nothing:
        assert db.price(sql, epsilon=epsilon).doubts == ()
        return
    said = refused(db, sql, epsilon)
    assert re.search(r"is expected within ± [\d,]+ even over all rows", said.label)
    price = re.search(r"pay ([\d.]+) or more", said.help)
    assert price is not None
    assert db.execute(sql, epsilon=float(price[1])).cost == float(price[1])
    refused(db, sql, 0.95 * float(price[1]))


def test_a_number_beside_one_that_says_something_is_only_noted(opened: Opened) -> None:
    """AVG of a range of 6,000 in three groups; and a median, of which nothing is known before."""
    db = opened(240)
    for sql in (
        "SELECT ward, AVG(income) AS i FROM patients GROUP BY ward",
        "SELECT MEDIAN(age) FROM patients",
    ):
        assert not db.price(sql, epsilon=0.1).nothing
    assert "AVG is expected within" in db.execute("SELECT AVG(age) FROM patients", epsilon=0.1).note


def test_rows_still_to_be_found_say_nothing_before_they_are_found(opened: Opened) -> None:
    """The widest candidate would ask for a threshold of thousands; what was found decides."""
    db = opened(240, ("rows_per_unit = 5\n\n[tables.visits.columns]", "\n[tables.visits.columns]"))
    plan = plan_of(db._open(), BY_COST, 2.0)
    assert plan.first is not None
    assert doubts_of(plan, db._open().known) == ()


def test_what_was_paid_for_a_bound_is_said(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows per unit that were found make the threshold too high: the search is paid, and no more."""

    def hopeless(plan: Plan, known: Known) -> tuple[Doubt, ...]:
        return () if plan.first is not None else (Doubt(plan.measures[0], True, "no group shows", ""),)

    monkeypatch.setattr(worth, "doubts_of", hopeless)
    db = opened(240, ("rows_per_unit = 5\n\n[tables.visits.columns]", "\n[tables.visits.columns]"))
    said = "epsilon 2 was paid for the rows_per_unit of visits: later queries use it free"
    assert refused(db, BY_COST, 10.0).notes == (said,)
    assert refused(db, BY_COST, 10.0).notes == ()
    assert [each.epsilon for each in db.purchases] == [2]


def test_it_depends_on_no_row(opened: Opened, clinics: Path, tmp_path: Path) -> None:
    """The same refusal over nobody as over all: nothing is read."""
    db = opened(50)
    here = str(refused(db, BY_COST))
    empty = clinics / "empty" / "clinic.duckdb"
    with dpsql.connect(empty, tmp_path / "own.toml", tmp_path / "empty.ledger") as nobody:
        assert str(refused(nobody, BY_COST)) == here


@pytest.mark.parametrize(
    ("about", "sql", "said"),
    [
        # 30 patients show a city; 40 cities of them are 1,200, more than a tenth of 10,000
        (
            10_000,
            f"{BY_CITY} ORDER BY n LIMIT 10 OFFSET 39",
            "OFFSET 39 shows something only if 40 groups have 30",
        ),
        (10_000, f"{BY_CITY} ORDER BY n LIMIT 10 OFFSET 9", ""),
        (10_000, f"SELECT MAX(n) FROM ({BY_CITY}) OFFSET 39", ""),
        # a range of 6,000,001 whole numbers, and 5 rows of each of 100,000 patients
        (
            100_000,
            "SELECT (income * 1000)::INTEGER AS i, COUNT(*) FROM patients GROUP BY i",
            "a key is in a range of 6,000,001 values, more than all patients have rows that count",
        ),
        (10_000_000, "SELECT (income * 1000)::INTEGER AS i, COUNT(*) FROM patients GROUP BY i", ""),
    ],
)
def test_more_groups_than_units_can_show_are_doubted(opened: Opened, about: int, sql: str, said: str) -> None:
    price = opened(about).price(sql, epsilon=1.0)
    assert said in "".join(price.doubts)
    assert bool(price.doubts) == bool(said)
    assert not price.nothing


def test_nothing_is_left_of_fewer_groups_than_offset(opened: Opened) -> None:
    db = opened(10_000)
    by_ward = "SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward ORDER BY n"
    assert refused(db, f"{by_ward} LIMIT 1 OFFSET 3").label == "OFFSET 3 leaves nothing of 3 groups"
    assert len(db.execute(f"{by_ward} LIMIT 1 OFFSET 2")) == 1


def test_keys_that_show_are_more_than_nothing(opened: Opened) -> None:
    """Which cities there are says something, though the sums beside them do not."""
    sql = "SELECT city, SUM(score CLAMPED BETWEEN -1e9 AND 1) FROM patients GROUP BY city"
    price = opened(240).price(sql, epsilon=0.2)
    assert price.doubts
    assert not price.nothing


@pytest.mark.parametrize(
    ("conditions", "said"),
    [
        ("ward = 'a'", "ward is one of 'A', 'B', 'C'"),
        ("ward IN ('a', 'b') AND smoker", "ward is one of 'A', 'B', 'C'"),
        ("ward = 'A' AND ward = 'B'", "ward is one of 'A', 'B', 'C'"),
        ("age > 120", "age is from 0 to 120"),
        ("age BETWEEN 200 AND 300", "age is from 0 to 120"),
        ("age // 10 = 13 OR age < 0", "age is from 0 to 120"),
        ("60 > age AND 130 <= age", "age is from 0 to 120"),
        ("height > 1000", "height is from 0 to 250"),
        ("patient_id IS NULL", "patient_id is never NULL in the rows that count"),
        ("patient_id IS NULL OR patient_id IS NULL", "patient_id is never NULL in the rows that count"),
        ("patient_id IS NULL AND age > 3", "patient_id is never NULL in the rows that count"),
    ],
)
def test_conditions_that_no_declared_row_meets_are_doubted(
    opened: Opened, conditions: str, said: str
) -> None:
    db = opened(None)
    sql = f"SELECT COUNT(*) AS n FROM patients WHERE {conditions}"
    price = db.price(sql, epsilon=1.0)
    assert price.doubts == (f"no declared value meets the conditions: {said}",)
    assert (price.unmet, price.nothing, price.cost) == (True, False, 1.0)
    assert f"doubt     {price.doubts[0]}" in str(db.explain(sql, epsilon=1.0))
    answer = db.execute(sql, epsilon=1.0)
    assert len(answer) == 1
    assert f"No declared value meets the conditions: {said}." in answer.note


@pytest.mark.parametrize(
    "conditions",
    [
        "ward = 'A'",
        "ward <> 'A'",
        "ward IN ('a', 'A')",
        "ward = 'a' OR age > 50",
        "age IS NULL",
        "NOT (ward = 'a')",
        "age >= 120",
        "age < 1",
        "city = 'nowhere'",
        "age > height",
        "lower(ward) = 'a'",
        "born >= DATE '2525-12-31'",
    ],
)
def test_conditions_that_some_row_may_meet_are_not(opened: Opened, conditions: str) -> None:
    price = opened(None).price(f"SELECT COUNT(*) FROM patients WHERE {conditions}", epsilon=1.0)
    assert (price.doubts, price.unmet) == ((), False)


def test_joined_rows_must_meet_the_conditions_of_both_sides(opened: Opened) -> None:
    db = opened(None)
    visits = "(SELECT patient_id FROM visits WHERE kind = 'x') AS v"
    sql = f"SELECT COUNT(*) FROM patients AS p {{}} JOIN {visits} USING (patient_id)"
    for kind, unmet in (("", True), ("SEMI", True), ("LEFT", False), ("ANTI", False)):
        assert db.price(sql.format(kind), epsilon=1.0).unmet == unmet
    older = "SELECT age FROM patients WHERE age > {}"
    both = f"SELECT COUNT(*) FROM ({older} UNION ALL {older.format(130)})"
    assert db.price(both.format(120), epsilon=1.0).unmet
    assert not db.price(both.format(10), epsilon=1.0).unmet


def test_rows_that_a_join_keeps_may_lack_the_other_side(opened: Opened) -> None:
    """The unit of a visit is never NULL, but that of a patient's visits may be."""
    db = opened(None)
    assert db.price("SELECT COUNT(*) FROM visits WHERE patient_id IS NULL", epsilon=1.0).unmet
    kept = "patients p LEFT JOIN visits v USING (patient_id) WHERE v.patient_id IS NULL"
    assert not db.price(f"SELECT COUNT(*) FROM {kept}", epsilon=1.0).unmet


def test_how_many_rows_a_patient_has_is_no_promise(opened: Opened) -> None:
    of_each = "(SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)"
    assert not opened(None).price(f"SELECT COUNT(*) FROM {of_each} WHERE n > 1000", epsilon=1.0).unmet


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT ward, COUNT(*), AVG(age) FROM patients WHERE ward = 'a' GROUP BY ward",
        "SELECT upper(city) c, MEDIAN(age) FROM patients WHERE upper(city) = 'A' AND c = 'B' GROUP BY c",
        "SELECT ward, COUNT(*) FROM patients WHERE ward = 'a' GROUP BY GROUPING SETS ((ward, smoker), ward)",
    ],
)
def test_no_group_costs_nothing(opened: Opened, sql: str) -> None:
    db = opened(None)
    assert db.price(sql, epsilon=1.0).cost == 0.0
    answer = db.execute(sql, epsilon=1.0)
    assert (answer.rows, answer.cost, db.purchases) == ([], 0.0, ())
    assert answer.note


def test_groups_of_one_part_alone_are_paid_for(opened: Opened) -> None:
    """Nothing is drawn for the part that has no group; the other has the noise of its share."""
    db = opened(None)
    none = "SELECT ward, COUNT(*) AS n FROM patients WHERE ward = 'a' GROUP BY ward"
    sql = f"SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward UNION ALL {none}"
    assert db.price(sql, epsilon=1.0).cost == 1.0
    answer = db.execute(sql, epsilon=1.0)
    assert [row[0] for row in answer.rows] == ["A", "B", "C"]
    assert db.execute(sql, epsilon=1.0).rows == answer.rows


@pytest.mark.parametrize(
    ("rows", "most"),
    [
        ("patients WHERE patient_id = 7", 1),
        ("patients WHERE 7 = patient_id AND smoker", 1),
        ("patients WHERE patient_id IN (1, 2, 3)", 3),
        ("patients WHERE patient_id BETWEEN 10 AND 19", 10),
        ("patients WHERE patient_id = 1 OR patient_id IN (2, 3)", 3),
        ("patients JOIN visits USING (patient_id) WHERE visits.patient_id = 7", 1),
        ("patients JOIN (SELECT patient_id FROM visits WHERE patient_id IN (1, 2)) USING (patient_id)", 2),
        ("(SELECT patient_id, city FROM patients) WHERE patient_id = 7", 1),
    ],
)
def test_conditions_on_few_units_show_nothing(opened: Opened, rows: str, most: int) -> None:
    error = refused(opened(20_000), f"SELECT city, COUNT(*) AS n FROM {rows} GROUP BY city")
    assert f"and the conditions leave {most} at most" in error.label


@pytest.mark.parametrize(
    "rows",
    [
        "patients WHERE patient_id <> 7",
        "patients WHERE patient_id = 7 OR age > 30",
        "patients WHERE NOT patient_id IN (1, 2, 3)",
        "patients WHERE patient_id BETWEEN 1 AND 9000",
        "patients WHERE age = 7",
        "patients LEFT JOIN (SELECT patient_id FROM visits WHERE patient_id = 7) USING (patient_id)",
        "patients ANTI JOIN (SELECT patient_id FROM visits WHERE patient_id = 7) USING (patient_id)",
    ],
)
def test_other_conditions_leave_many_units(opened: Opened, rows: str) -> None:
    price = opened(20_000).price(f"SELECT city, COUNT(*) AS n FROM {rows} GROUP BY city", epsilon=1.0)
    assert price.doubts == ()


def test_a_number_of_few_units_tells_nothing(opened: Opened) -> None:
    db = opened(20_000)
    assert (
        "COUNT is expected within" in refused(db, "SELECT COUNT(*) FROM patients WHERE patient_id = 7").label
    )
    assert "AVG is expected within" in refused(db, "SELECT AVG(age) FROM patients WHERE patient_id = 7").label
    assert db.price("SELECT COUNT(*) FROM patients WHERE patient_id = 7", epsilon=2.0).nothing
