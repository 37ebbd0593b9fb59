"""Core expressions mean over dpsql what the SQL beside them means in plain DuckDB.

At an epsilon of a million the noise on a count of this clinic is less than a half in all but one of 10^9 cases.
"""

# ruff: noqa: E501 - one question a line, the SQL beside it

from __future__ import annotations

import datetime
import shutil
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlalchemy as sa
from sqlalchemy import and_, case, cast, desc, extract, false, func, literal, not_, or_, select, text, true

meta = sa.MetaData()
p = sa.Table(
    "patients",
    meta,
    sa.Column("patient_id", sa.Integer, primary_key=True),
    sa.Column("age", sa.Integer),
    sa.Column("sex", sa.String),
    sa.Column("ward", sa.String),
    sa.Column("town", sa.String),
    sa.Column("smoker", sa.Boolean),
)
v = sa.Table(
    "visits",
    meta,
    sa.Column("patient_id", sa.Integer, sa.ForeignKey("patients.patient_id")),
    sa.Column("day", sa.Date),
    sa.Column("ward", sa.String),
    sa.Column("cost", sa.Double),
    sa.Column("reason", sa.String),
)
w = sa.Table(
    "wards",
    meta,
    sa.Column("ward", sa.String, primary_key=True),
    sa.Column("building", sa.String),
    sa.Column("beds", sa.Integer),
)

decade = (p.c.age // 10).label("decade")
young = select(p.c.patient_id, p.c.age).where(p.c.age < 30).subquery()
counts = select(p.c.ward, func.count().label("n")).group_by(p.c.ward).cte("counts")
each = select(v.c.patient_id, func.count().label("n")).group_by(v.c.patient_id).subquery()
age_group = case((p.c.age >= 65, "old"), (p.c.age < 18, "young"), else_="between")
other = p.alias()


def number(*where: Any) -> Any:
    return select(func.count()).select_from(p).where(*where)


QUERIES: list[tuple[str, Any, str]] = [
    ("everybody", number(), "SELECT count(*) FROM patients"),
    ("count of a column", select(func.count(p.c.age)), "SELECT count(age) FROM patients"),
    ("COUNT(1)", select(func.count(1)).select_from(p), "SELECT count(*) FROM patients"),
    ("distinct units", select(func.count(p.c.patient_id.distinct())), "SELECT count(*) FROM patients"),
    ("and", number(p.c.age > 30, p.c.ward == "Oncology"), "SELECT count(*) FROM patients WHERE age > 30 AND ward = 'Oncology'"),
    ("or", number(or_(p.c.age > 80, and_(p.c.smoker, p.c.age < 20))), "SELECT count(*) FROM patients WHERE age > 80 OR smoker AND age < 20"),
    ("not", number(not_(p.c.smoker)), "SELECT count(*) FROM patients WHERE NOT smoker"),
    ("is true", number(p.c.smoker.is_(True)), "SELECT count(*) FROM patients WHERE smoker IS TRUE"),
    ("is null", number(p.c.town.is_(None)), "SELECT count(*) FROM patients WHERE town IS NULL"),
    ("is not null", number(p.c.town.is_not(None)), "SELECT count(*) FROM patients WHERE town IS NOT NULL"),
    ("is distinct from", number(p.c.sex.is_distinct_from("F")), "SELECT count(*) FROM patients WHERE sex IS DISTINCT FROM 'F'"),
    ("true", number(true()), "SELECT count(*) FROM patients"),
    ("false", number(false()), "SELECT 0"),
    ("in", number(p.c.ward.in_(["Oncology", "Maternity"])), "SELECT count(*) FROM patients WHERE ward IN ('Oncology', 'Maternity')"),
    ("in nothing", number(p.c.ward.in_([])), "SELECT 0"),
    ("not in", number(p.c.ward.not_in(["Oncology"])), "SELECT count(*) FROM patients WHERE ward <> 'Oncology'"),
    ("not in nothing", number(p.c.ward.not_in([])), "SELECT count(*) FROM patients"),
    ("in a public table", number(p.c.ward.in_(select(w.c.ward).where(w.c.building == "North"))),
     "SELECT count(*) FROM patients WHERE ward IN (SELECT ward FROM wards WHERE building = 'North')"),
    ("in own rows", number(p.c.patient_id.in_(select(v.c.patient_id).where(v.c.cost > 500))),
     "SELECT count(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM visits WHERE cost > 500)"),
    ("exists", number(select(v.c.cost).where(v.c.patient_id == p.c.patient_id, v.c.cost > 500).exists()),
     "SELECT count(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND cost > 500)"),
    ("like", number(p.c.town.like("town 1%")), "SELECT count(*) FROM patients WHERE town LIKE 'town 1%'"),
    ("ilike", number(p.c.town.ilike("TOWN 1%")), "SELECT count(*) FROM patients WHERE town LIKE 'town 1%'"),
    ("not ilike", number(p.c.town.not_ilike("TOWN 1%")), "SELECT count(*) FROM patients WHERE town NOT LIKE 'town 1%'"),
    ("contains", number(p.c.town.contains("1")), "SELECT count(*) FROM patients WHERE town LIKE '%1%'"),
    ("contains an escaped sign", number(p.c.town.contains("n_1", autoescape=True)), "SELECT 0"),
    ("icontains", number(p.c.town.icontains("N 1")), "SELECT count(*) FROM patients WHERE town LIKE '%n 1%'"),
    ("starts with", number(p.c.town.startswith("town 2")), "SELECT count(*) FROM patients WHERE town LIKE 'town 2%'"),
    ("ends with", number(p.c.town.endswith("2")), "SELECT count(*) FROM patients WHERE town LIKE '%2'"),
    ("regexp", number(p.c.town.regexp_match("n [12]")), "SELECT count(*) FROM patients WHERE regexp_matches(town, 'n [12]')"),
    ("regexp, any case", number(p.c.town.regexp_match("N [12]", flags="i")), "SELECT count(*) FROM patients WHERE regexp_matches(town, 'n [12]')"),
    ("not regexp", number(not_(p.c.town.regexp_match("n [12]"))), "SELECT count(*) FROM patients WHERE NOT regexp_matches(town, 'n [12]')"),
    ("between", number(p.c.age.between(10, 20)), "SELECT count(*) FROM patients WHERE age BETWEEN 10 AND 20"),
    ("groups", select(p.c.ward, func.count(), func.avg(p.c.age)).group_by(p.c.ward), "SELECT ward, count(*), avg(age) FROM patients GROUP BY ward"),
    ("having", select(p.c.ward, func.count().label("n")).group_by(p.c.ward).having(func.count() > 2000),
     "SELECT ward, count(*) FROM patients GROUP BY ward HAVING count(*) > 2000"),
    ("order by a label", select(p.c.ward, func.count().label("n")).group_by(p.c.ward).order_by(desc("n")).limit(2),
     "SELECT ward, count(*) AS n FROM patients GROUP BY ward ORDER BY n DESC LIMIT 2"),
    ("limit and offset", select(p.c.ward, func.count()).group_by(p.c.ward).order_by(p.c.ward).limit(2).offset(1),
     "SELECT ward, count(*) FROM patients GROUP BY ward ORDER BY ward LIMIT 2 OFFSET 1"),
    ("offset alone", select(p.c.ward, func.count()).group_by(p.c.ward).order_by(p.c.ward).offset(4),
     "SELECT ward, count(*) FROM patients GROUP BY ward ORDER BY ward OFFSET 4"),
    ("fetch first", select(p.c.ward, func.count()).group_by(p.c.ward).order_by(p.c.ward).fetch(2),
     "SELECT ward, count(*) FROM patients GROUP BY ward ORDER BY ward LIMIT 2"),
    ("nulls last", select(p.c.sex, func.count()).group_by(p.c.sex).order_by(p.c.sex.desc().nulls_last()).limit(1),
     "SELECT sex, count(*) FROM patients GROUP BY sex ORDER BY sex DESC NULLS LAST LIMIT 1"),
    ("whole division", select(decade, func.count()).where(p.c.age < 100).group_by(decade).order_by(decade).limit(9),
     "SELECT age // 10 AS d, count(*) FROM patients GROUP BY d ORDER BY d LIMIT 9"),
    ("division", select(func.avg(p.c.age / 4)), "SELECT avg(age / 4) FROM patients"),
    ("remainder", select((p.c.age % 2).label("odd"), func.count()).where(p.c.age >= 0).group_by("odd"),
     "SELECT age % 2, count(*) FROM patients WHERE age >= 0 GROUP BY 1"),
    ("minus", select(func.sum(50 - p.c.age)), "SELECT sum(50 - age) FROM patients"),
    ("sum of a case", select(func.sum(case((p.c.age > 65, 1), else_=0))), "SELECT count(*) FROM patients WHERE age > 65"),
    ("groups of a case", select(age_group, func.count()).group_by(age_group),
     "SELECT CASE WHEN age >= 65 THEN 'old' WHEN age < 18 THEN 'young' ELSE 'between' END AS k, count(*) FROM patients GROUP BY k"),
    ("filter", select(func.count().filter(p.c.smoker), func.count()).select_from(p),
     "SELECT count(*) FILTER (WHERE smoker), count(*) FROM patients"),
    ("cast to a float", select(func.avg(cast(p.c.age, sa.Float))), "SELECT avg(age) FROM patients"),
    ("cast to a text", select(cast(p.c.smoker, sa.String).label("s"), func.count()).group_by("s"),
     "SELECT smoker::VARCHAR, count(*) FROM patients GROUP BY 1"),
    ("try_cast", select(func.count(sa.try_cast(func.right(p.c.town, 1), sa.Integer))),
     "SELECT count(TRY_CAST(right(town, 1) AS INTEGER)) FROM patients"),
    ("coalesce", select(func.coalesce(p.c.sex, "?").label("s"), func.count()).group_by("s"),
     "SELECT coalesce(sex, '?'), count(*) FROM patients GROUP BY 1"),
    ("concat", number(p.c.sex + "-" + p.c.ward == "F-Oncology"), "SELECT count(*) FROM patients WHERE sex = 'F' AND ward = 'Oncology'"),
    ("extract", select(extract("quarter", v.c.day).label("q"), func.count()).group_by("q"),
     "SELECT quarter(day), count(*) FROM visits GROUP BY 1"),
    ("date_trunc", select(func.date_trunc("month", v.c.day).label("m"), func.count()).group_by(text("m")),
     "SELECT date_trunc('month', day), count(*) FROM visits GROUP BY 1"),
    ("dates", select(func.count()).where(v.c.day >= datetime.date(2024, 12, 1)), "SELECT count(*) FROM visits WHERE day >= '2024-12-01'"),
    ("an interval", select(func.count()).where(v.c.day + datetime.timedelta(days=30) > datetime.date(2024, 12, 31)),
     "SELECT count(*) FROM visits WHERE day + INTERVAL 30 DAY > '2024-12-31'"),
    ("join by the foreign key", select(p.c.sex, func.count()).join_from(p, v).group_by(p.c.sex),
     "SELECT sex, count(*) FROM patients JOIN visits USING (patient_id) GROUP BY sex"),
    ("outer join", select(func.count(), func.count(v.c.day)).select_from(p).outerjoin(v),
     "SELECT count(*), count(day) FROM patients LEFT JOIN visits USING (patient_id)"),
    ("join with a public table", select(w.c.building, func.count()).join_from(p, w, p.c.ward == w.c.ward).group_by(w.c.building),
     "SELECT building, count(*) FROM patients JOIN wards USING (ward) GROUP BY building"),
    ("an unnamed alias", select(func.count()).select_from(other).where(other.c.age < 50), "SELECT count(*) FROM patients WHERE age < 50"),
    ("an unnamed subquery", select(func.count(), func.avg(young.c.age)), "SELECT count(*), avg(age) FROM patients WHERE age < 30"),
    ("per person", select(func.avg(each.c.n)), "SELECT count(*) / count(DISTINCT patient_id) FROM visits"),
    ("a CTE joined with a public table", select(counts.c.ward, counts.c.n / w.c.beds).join_from(counts, w, counts.c.ward == w.c.ward),
     "SELECT ward, n / beds FROM (SELECT ward, count(*) AS n FROM patients GROUP BY ward) JOIN wards USING (ward)"),
    ("a window over groups", select(counts.c.ward, func.rank().over(order_by=counts.c.n.desc())),
     "SELECT ward, rank() OVER (ORDER BY count(*) DESC) FROM patients GROUP BY ward"),
    ("string_agg", select(func.aggregate_strings(counts.c.ward, "/")),
     "SELECT string_agg(ward, '/' ORDER BY ward) FROM wards"),
    ("a scalar subquery", number(p.c.age > select(func.avg(p.c.age)).scalar_subquery() + 10.3),
     "SELECT count(*) FROM patients WHERE age > (SELECT avg(age) FROM patients) + 10.3"),
    ("rollup", select(p.c.ward, func.count()).group_by(func.rollup(p.c.ward)), "SELECT ward, count(*) FROM patients GROUP BY ROLLUP (ward)"),
    ("cube and grouping", select(p.c.ward, func.grouping(p.c.ward), func.count()).group_by(func.cube(p.c.ward)),
     "SELECT ward, grouping(ward), count(*) FROM patients GROUP BY CUBE (ward)"),
    ("grouping sets", select(p.c.ward, p.c.sex, func.count()).group_by(func.grouping_sets(sa.tuple_(p.c.ward), sa.tuple_(p.c.sex))),
     "SELECT ward, sex, count(*) FROM patients GROUP BY GROUPING SETS ((ward), (sex))"),
    ("union all", sa.union_all(number(p.c.age > 50), number(p.c.age > 60)),
     "SELECT count(*) FROM patients WHERE age > 50 UNION ALL SELECT count(*) FROM patients WHERE age > 60"),
    ("reserved words", select(func.count().label("select"), func.count(p.c.age).label("Mixed Case")),
     "SELECT count(*), count(age) FROM patients"),
    ("a schema", select(func.count()).select_from(sa.Table("patients", sa.MetaData(), sa.Column("age"), schema="main")),
     "SELECT count(*) FROM patients"),
    ("public rows", select(w).where(w.c.beds > 30).order_by(w.c.beds), "SELECT * FROM wards WHERE beds > 30 ORDER BY beds"),
    ("distinct public rows", select(w.c.building).distinct().order_by(w.c.building), "SELECT DISTINCT building FROM wards ORDER BY 1"),
    ("constants", select(literal(1), literal("x"), literal(Decimal("1.50")), literal(datetime.date(2024, 1, 1)), sa.null(), true()),
     "SELECT 1, 'x', 1.50, DATE '2024-01-01', NULL, true"),
    ("text()", text("SELECT ward, COUNT(*) AS n FROM patients WHERE age > :least GROUP BY ward").bindparams(least=18),
     "SELECT ward, count(*) FROM patients WHERE age > 18 GROUP BY ward"),
    ("text() with columns", text("SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward")
     .columns(sa.column("ward", sa.String), sa.column("n", sa.Integer)).subquery().select(),
     "SELECT ward, count(*) FROM patients GROUP BY ward"),
]  # fmt: skip


@pytest.fixture(scope="module")
def engine(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[sa.Engine]:
    made = sa.create_engine(f"dpsql:///{built}?ledger={tmp_path_factory.mktemp('ledger') / 'own.ledger'}")
    yield made
    made.dispose()


@pytest.fixture(scope="module")
def plain(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """The same data in plain DuckDB; a copy, since one process opens a file in one way."""
    copy = shutil.copy(built, tmp_path_factory.mktemp("plain"))
    with duckdb.connect(copy) as owner:
        yield owner


@pytest.mark.parametrize(("query", "sql"), [pytest.param(*rest, id=name) for name, *rest in QUERIES])
def test_it_means_the_same(query: Any, sql: str, engine: sa.Engine, plain: duckdb.DuckDBPyConnection) -> None:
    with engine.connect() as connection:
        found = [tuple(row) for row in connection.execute(query)]
    expected = plain.execute(sql).fetchall()
    assert len(found) == len(expected)
    for row, right in zip(sorted(found, key=repr), sorted(expected, key=repr), strict=True):
        assert len(row) == len(right)
        for one, other in zip(row, right, strict=True):
            assert one == (pytest.approx(other, rel=1e-3) if isinstance(other, float) else other)
