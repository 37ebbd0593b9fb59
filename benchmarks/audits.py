"""What do guesses prove of a statement's epsilon, beside its price, under each accountant?

30 statements on the demo's clinic of 2,000 patients at a price of 1: 2,000 coins are guessed after 2,000 from
which guessing is learned (``dpsql audit --attack``), at a level of one in a million each. None may prove more
than the price. A count under ``pure``, with 20,000 coins: at least .85 of it, so the test has power.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

import dpsql
from benchmarks.timing import Report, Setting, Table, Verdict
from dpsql.audit import owners_session
from dpsql.audit.neighbour_views import Lacking
from dpsql.audit.whole_statements import Guessed, guessed
from dpsql.cli.demo_data import POLICY, build
from dpsql.session import Session

ACCOUNTANTS = ("pure", "approx", "zcdp")
COUNT = "SELECT COUNT(*) FROM patients"
STATEMENTS = (
    COUNT,
    "SELECT COUNT(*), COUNT(age), COUNT(DISTINCT ward) FROM patients",
    "SELECT COUNT(*) FILTER (WHERE age > 30), COUNT(*) FILTER (WHERE age > 60) FROM patients",
    "SELECT SUM(age) FROM patients",
    "SELECT AVG(age) FROM patients",
    "SELECT STDDEV(age), VAR_POP(age) FROM patients",
    "SELECT MEDIAN(age) FROM patients",
    "SELECT QUANTILE_CONT(age, [0.1, 0.9]) FROM patients",
    "SELECT MIN(age), MAX(age) FROM patients",
    "SELECT MODE(ward) FROM patients",
    "SELECT HISTOGRAM(age, [20, 40, 60, 80]) FROM patients",
    "SELECT COUNT(DISTINCT town) FROM patients",
    "SELECT ward, COUNT(*) FROM patients GROUP BY ward",
    "SELECT ward, smoker, COUNT(*), SUM(age) FROM patients GROUP BY ward, smoker",
    "SELECT sex, AVG(age) FROM patients WHERE smoker GROUP BY sex",
    "SELECT town, COUNT(*) FROM patients GROUP BY town",
    "SELECT town FROM patients GROUP BY town",
    "SELECT DISTINCT town, ward FROM patients",
    "SELECT town, AVG(age) FROM patients GROUP BY town HAVING COUNT(*) > 10 ORDER BY 2 DESC LIMIT 3",
    "SELECT OPTIONS(other_group = 'other') town, COUNT(*) FROM patients GROUP BY town",
    "SELECT ward, smoker, COUNT(*) FROM patients GROUP BY CUBE (ward, smoker)",
    "SELECT age // 10 AS decade, COUNT(*) FROM patients GROUP BY decade",
    "SELECT COUNT(*), SUM(cost) FROM visits",
    "SELECT SUM(cost), AVG(cost) FROM visits",
    "SELECT ward, COUNT(*), AVG(cost) FROM visits GROUP BY ward",
    "SELECT date_trunc('month', day) AS month, COUNT(*) FROM visits GROUP BY month",
    "SELECT w.building, SUM(v.cost) FROM visits v JOIN wards w USING (ward) GROUP BY w.building",
    "SELECT AVG(n) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)",
    "SELECT COUNT(*) FROM patients p WHERE EXISTS "
    "(SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND v.cost > 400)",
    "SELECT COUNT(*) FROM patients WHERE age > (SELECT AVG(age) FROM patients)",
)


def run(setting: Setting) -> Report:
    trials, of_count = (200, 200) if setting.quick else (2_000, 20_000)
    statements = STATEMENTS[::6] if setting.quick else STATEMENTS
    database = _small(build(setting.folder))
    table = Table(
        f"epsilon proven of statements at a price of 1, {trials:,} coins",
        ("statement", *ACCOUNTANTS),
    )
    proven: dict[str, list[float | str]] = {sql: [] for sql in statements}
    over, power = 0, 0.0
    for accountant in ACCOUNTANTS:
        with _audited(database, setting.folder, accountant) as audit:
            for sql in statements:
                found = audit(sql, trials)
                proven[sql].append("refused" if found is None else found.proven)
                over += found is not None and not found.holds
            if accountant == "pure":
                count = audit(COUNT, of_count)
                power = 0.0 if count is None else count.proven / count.claimed
    table.rows.extend((sql, *each) for sql, each in proven.items())
    refused = sum(each.count("refused") for each in proven.values())
    return Report(
        (table,),
        (
            Verdict("statements that prove more than their price", over, 0),
            Verdict("statements refused, all under pure, which shows no private keys", refused, None),
            Verdict(f"a count, {of_count:,} coins: proven, of the price", power, 0.85, at_least=True),
        ),
    )


def _small(database: Path) -> Path:
    """Keep a tenth of the patients."""
    with duckdb.connect(str(database)) as connection:
        for table in ("visits", "patients"):
            connection.execute(f"DELETE FROM {table} WHERE patient_id > 2000")
    return database


@contextmanager
def _audited(database: Path, folder: Path, accountant: str) -> Iterator[_Audit]:
    policy, delta = folder / f"{accountant}.toml", 0.0 if accountant == "pure" else 1e-6
    budget = f'epsilon = 5.0\ndelta = {delta}\naccountant = "{accountant}"'
    policy.write_text(POLICY.replace("epsilon = 5.0\ndelta = 1e-6", budget), encoding="utf-8")
    with dpsql.connect(database, policy, folder / f"{accountant}.ledger") as db:
        session = owners_session(db)
        neighbour = Lacking(database, session.policy, session.known)
        try:
            yield _Audit(session, neighbour)
        finally:
            neighbour.close()


class _Audit:
    """The clinic under one accountant, and without one of some patients."""

    def __init__(self, session: Session, neighbour: Lacking) -> None:
        self._session, self._neighbour = session, neighbour
        self._units = neighbour.units(4, 1)

    def __call__(self, sql: str, trials: int) -> Guessed | None:
        """Return what guesses prove; None where the accountant refuses keys that need a delta."""
        try:
            return guessed(self._session, sql, 1.0, self._neighbour, self._units, trials, lambda _: None)
        except dpsql.Error as error:
            if error.code != "D304" or self._session.budget.delta:
                raise
            return None
