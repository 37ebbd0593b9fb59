"""What a connection tells before anything is paid: prices, and what exists for an analyst."""

from __future__ import annotations

from pathlib import Path

import pytest
from drivers.endless import ENDLESS

import dpsql
from dpsql.policy.listing import Column

BY_WARD = "SELECT ward, COUNT(*) AS n, SUM(age) AS years FROM patients GROUP BY ward"


@pytest.fixture
def db(clinic: Path) -> dpsql.Connection:
    return dpsql.connect(clinic, analyst="ana")


def test_the_price_is_what_is_paid_and_what_is_left(db: dpsql.Connection) -> None:
    price = db.price(BY_WARD, epsilon=0.5)
    assert (price.epsilon, price.cost, price.repeated) == (0.5, 0.5, False)
    assert db.budget.spent == 0, "telling a price costs nothing"
    answer = db.execute(BY_WARD, epsilon=0.5)
    assert answer.cost == price.cost
    assert answer.remaining == pytest.approx(price.after)
    assert price.share == pytest.approx((50 - answer.remaining) / 50)


def test_the_expected_errors_are_the_margins(db: dpsql.Connection) -> None:
    count, total = db.price(BY_WARD, epsilon=0.5).expected
    margins = db.execute(BY_WARD, epsilon=0.5).margins[0]
    assert margins[1:] == (count.error, pytest.approx(total.error, rel=0.02))
    assert [each.aggregate for each in (count, total)] == ["count", "sum"]


def test_a_price_speaks_of_columns_by_the_querys_names(db: dpsql.Connection) -> None:
    told = db.price(
        "SELECT ward, AVG(age) AS age, COUNT(*), MEDIAN(age) AS middle FROM patients GROUP BY ward"
    )
    assert [each.name for each in told.expected] == ["age", "count_star()", "middle"]
    age, _, middle = told.expected
    assert age.at_rows == 1000
    assert (middle.error, middle.places is None) == (None, False)
    below = db.price('WITH n AS (SELECT COUNT(*) AS "the ""n" FROM patients) SELECT 2 * "the ""n" FROM n')
    assert [each.name for each in below.expected] == ['the "n']


def test_private_keys_need_units_and_listed_ones_do_not(db: dpsql.Connection) -> None:
    by_city = "SELECT city, COUNT(*) FROM patients GROUP BY city"
    one, half = db.price(by_city, epsilon=1.0).units, db.price(by_city, epsilon=0.5).units
    assert one is not None
    assert half is not None
    assert one < half
    assert db.price(BY_WARD).units is None


def test_a_connection_has_a_usual_price_that_a_query_may_overrule(db: dpsql.Connection) -> None:
    assert db.epsilon == 1.0, "the policy's"
    db.epsilon = 0.25
    assert db.execute(BY_WARD).cost == 0.25
    assert db.price("SELECT OPTIONS(epsilon = 0.5) COUNT(*) FROM patients").cost == 0.5
    assert db.price(BY_WARD, epsilon=2.0).cost == 2.0
    for price in (21.0, 0.0, float("nan"), "much"):
        with pytest.raises(dpsql.OperationalError):
            db.epsilon = price  # type: ignore[assignment]  # that is the question
    assert db.epsilon == 0.25, "what is refused changes nothing"
    db.epsilon = None
    assert db.price(BY_WARD).cost == 1.0


def test_a_price_says_whether_the_budget_holds_it(db: dpsql.Connection) -> None:
    """bob has an epsilon of 2."""
    assert db.price(BY_WARD, epsilon=3.0).held
    with dpsql.connect(db.ledger_path.with_suffix(".duckdb"), analyst="bob") as bobs:
        price = bobs.price(BY_WARD, epsilon=3.0)
        assert not price.held
        assert bobs.price(BY_WARD, epsilon=1.0).held
        with pytest.raises(dpsql.OperationalError, match="D501"):
            bobs.execute(BY_WARD, epsilon=3.0)


def test_what_was_answered_is_free(db: dpsql.Connection) -> None:
    db.execute(BY_WARD)
    price = db.price(BY_WARD)
    assert (price.cost, price.repeated, price.share, price.after) == (0, True, 0, price.remaining)
    assert db.price(BY_WARD, epsilon=0.5).cost == 0.5, "at another price it is another answer"


def test_what_somebody_else_paid_for_is_free_to_the_owner_alone(clinic: Path) -> None:
    with dpsql.connect(clinic, analyst="ana") as ana:
        ana.execute(BY_WARD)
    with dpsql.connect(clinic, analyst="bob") as bob, dpsql.connect(clinic) as owner:
        assert (owner.price(BY_WARD).cost, owner.execute(BY_WARD).cost) == (0, 0)
        assert (bob.price(BY_WARD).cost, bob.execute(BY_WARD).cost) == (1, 1)


def test_public_data_is_free(db: dpsql.Connection) -> None:
    price = db.price("SELECT * FROM wards")
    assert (price.cost, price.repeated, price.expected) == (0, False, ())


def test_a_price_with_bounds_to_be_found(db: dpsql.Connection) -> None:
    """``score`` has no range: it is found first, for a part of the price that both plans make up."""
    price = db.price("SELECT SUM(score) FROM patients", epsilon=1.0)
    assert price.cost == pytest.approx(1.0)
    answer = db.execute("SELECT SUM(score) FROM patients", epsilon=1.0)
    assert answer.cost == pytest.approx(1.0)
    assert answer.remaining == pytest.approx(price.after)


def test_what_is_refused_has_no_price(db: dpsql.Connection) -> None:
    with pytest.raises(dpsql.NotSupportedError, match="D402"):
        db.price("SELECT age FROM patients")


def test_tables_and_what_is_known_of_their_columns(db: dpsql.Connection) -> None:
    tables = {each.name: each for each in db.tables}
    assert list(tables) == ["patients", "visits", "drugs", "wards"]
    patients, visits, drugs, wards = tables.values()
    assert (patients.unit, patients.path, patients.rows_per_unit) == ("patient", ("patient_id",), 1)
    assert (visits.path, visits.rows_per_unit, visits.keys) == (("patient_id",), 5, (("visit_id",),))
    assert drugs.path == ("visit_id -> visits.visit_id",)
    columns = {each.name: each for each in patients.columns}
    assert columns["patient_id"].unit
    assert columns["age"].hint == "[0, 120]"
    assert columns["ward"].hint == "A, B, C"
    assert (columns["score"].hint, columns["city"].hint) == ("", "")
    assert wards.public
    assert wards.size == 3
    assert all(each.size is None for each in (patients, visits, drugs)), "sizes of private tables are private"


def test_a_found_range_is_told_as_found(db: dpsql.Connection) -> None:
    def score() -> Column:
        return next(each for each in db.tables[0].columns if each.name == "score")

    assert score().range is None
    db.execute("SELECT SUM(score) FROM patients", epsilon=5.0)
    assert score().range is not None
    assert score().found


def test_columns_of_views(clinic: Path) -> None:
    policy = clinic.with_suffix(".toml")
    views = '[views.adults]\nsql = "SELECT age, ward FROM patients WHERE age >= 18"\n'
    views += '[views.sizes]\nsql = "SELECT ward, COUNT(*) AS n FROM adults GROUP BY ward"\n'
    views += '[views.floors]\nsql = "SELECT ward, floor FROM wards"\n'
    policy.write_text(policy.read_text() + views)
    with dpsql.connect(clinic) as db:
        adults, sizes, floors = db.tables[-3:]
    assert [(each.name, each.type, each.hint) for each in adults.columns] == [
        ("age", "INTEGER", "[18, 120]"),
        ("ward", "VARCHAR", "A, B, C"),
    ]
    assert [(each.name, each.type) for each in sizes.columns] == [("ward", "VARCHAR"), ("n", "BIGINT")]
    assert [each.name for each in floors.columns] == ["ward", "floor"]
    assert [each.view for each in (adults, sizes, floors)] == [
        "rows of patients",
        "a release, paid when it is asked",
        "public",
    ]


def test_a_time_limit_stops_a_query_and_not_the_next(db: dpsql.Connection) -> None:
    db.timeout = 0.2
    with pytest.raises(dpsql.OperationalError, match=r"time limit of 0\.2 seconds") as stopped:
        db.execute(ENDLESS)
    assert stopped.value.code == "D603"
    db.timeout = 600.0
    assert len(db.execute(BY_WARD)) == 3


def test_what_was_answered_stays_free_when_the_owner_grants_more(clinic: Path) -> None:
    """Answers rest on ranges and tables, not on who may spend how much."""
    policy = clinic.with_suffix(".toml")
    with dpsql.connect(clinic, analyst="ana") as db:
        before = db.execute(BY_WARD)
    text = policy.read_text().replace("[analysts.bob]\nepsilon = 2.0", "[analysts.eve]\nepsilon = 7.0")
    policy.write_text(text.replace("epsilon = 100.0", "epsilon = 200.0").replace("= 20.0", "= 30.0"))
    with dpsql.connect(clinic, analyst="ana") as db:
        again = db.execute(BY_WARD)
        assert (again.repeated, again.cost, again.rows) == (True, 0, before.rows)
    policy.write_text(policy.read_text().replace("age = { range = [0, 120] }", "age = { range = [0, 119] }"))
    with dpsql.connect(clinic, analyst="ana") as db:
        assert not db.execute(BY_WARD).repeated


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf"), "30", True])
def test_no_query_runs_without_the_limit_that_somebody_meant(db: dpsql.Connection, limit: object) -> None:
    db.timeout = limit  # type: ignore[assignment]  # that is the question
    with pytest.raises(dpsql.InterfaceError, match="positive number of seconds"):
        db.execute(BY_WARD)
    assert not db.purchases


def test_a_limit_may_be_longer_than_a_clock_can_wait(db: dpsql.Connection) -> None:
    db.timeout = 1e300
    assert len(db.execute(BY_WARD)) == 3
