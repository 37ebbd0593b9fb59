"""Which values may be negative for no other reason than a subtraction in no known order."""

from __future__ import annotations

import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.facts.subtractions import below_by_subtraction

BY_SUBTRACTION = [
    "SELECT AVG(minutes - cost) FROM visits",
    "SELECT AVG((minutes - cost) / 60) FROM visits",
    "SELECT AVG(10 * (2 * minutes - cost) + minutes) FROM visits",
    "SELECT AVG(CASE WHEN kind = 'surgery' THEN minutes - cost ELSE 5 END) FROM visits",
    "SELECT AVG(date_diff('day', born, seen)) FROM patients WHERE born BETWEEN '1930-01-01' AND '2020-01-01' "
    "AND seen BETWEEN '1980-01-01' AND '2024-01-01'",
    "SELECT AVG(DATE '2000-01-01' - born) FROM patients WHERE born BETWEEN '1930-01-01' AND '2020-01-01'",
    "SELECT AVG(d) FROM (SELECT minutes - cost AS d, kind FROM visits) WHERE kind = 'surgery'",
    "SELECT AVG(d) FROM patients JOIN (SELECT *, minutes - cost AS d FROM visits) USING (patient_id)",
    "SELECT AVG(s) FROM (SELECT patient_id, SUM(minutes - cost) AS s FROM visits GROUP BY patient_id)",
    "SELECT AVG(g) FROM (SELECT minutes - LAG(minutes) OVER (PARTITION BY patient_id ORDER BY visit_id) AS g "
    "FROM visits)",
    "SELECT AVG(x) FROM (SELECT patient_id, minutes - cost AS x FROM visits GROUP BY patient_id, x)",
]

NOT = [
    "SELECT AVG(cost - 250) FROM visits",  # a constant is a range's own middle
    "SELECT AVG(income - age) FROM patients",  # an income is in [-1000, 5000]
    "SELECT AVG(-minutes) FROM visits",
    "SELECT AVG(minutes - cost - 1) FROM visits",
    "SELECT AVG(a.minutes - b.minutes) FROM visits a JOIN visits b USING (patient_id) "
    "WHERE a.minutes >= b.minutes",
    "SELECT AVG(d - 5) FROM (SELECT minutes - cost AS d FROM visits)",
    "SELECT AVG(hi - lo) FROM (SELECT patient_id, MAX(cost) AS hi, MIN(cost) AS lo FROM visits GROUP BY 1)",
    "SELECT AVG(s) FROM (SELECT patient_id, SUM(cost - 250) AS s FROM visits GROUP BY patient_id)",
    "SELECT AVG(d) FROM (SELECT minutes - cost AS d FROM visits UNION ALL SELECT -cost FROM visits)",
]


def told(db: dpsql.Connection, sql: str) -> bool:
    (measure,) = plan_of(db._open(), sql, 1.0).measures
    argument = measure.measure.aggregates[0].argument
    assert argument is not None
    return below_by_subtraction(measure.measure.relation, argument)


@pytest.mark.parametrize("sql", BY_SUBTRACTION)
def test_it_is_the_subtraction_alone(sql: str, db: dpsql.Connection) -> None:
    assert told(db, sql)


@pytest.mark.parametrize("sql", NOT)
def test_it_is_something_else(sql: str, db: dpsql.Connection) -> None:
    assert not told(db, sql)
