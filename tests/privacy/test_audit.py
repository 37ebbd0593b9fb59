"""The owner's hook shows exactly what noise is added to: every number here is worked out by hand."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql import audit
from dpsql.audit import plan_of
from dpsql.cli import main
from dpsql.errors import InterfaceError
from dpsql.ir.event import GaussianEvent, LaplaceEvent
from dpsql.ir.plan import Norm, Shape

ROW = 2**20  # grid steps of one row, or of one unit
YEAR = 2**20 // 120  # grid steps of one year of age, in [0, 120]

POLICY = """\
[budget]
epsilon = 10.0
delta = {delta}
accountant = "{accountant}"
[query]
epsilon = 1.0
[analysts.ana]
epsilon = 1.0
[unit]
name = "patient"
table = "patients"
key = "patient_id"
[tables.patients.columns]
age = {{ range = [0, 120] }}
ward = {{ values = ["A", "B", "C"] }}
city = {{}}
[tables.visits]
unit = {{ column = "patient_id" }}
rows_per_unit = 5
[tables.visits.columns]
kind = {{ values = ["x", "y"] }}
place = {{}}
"""

# Patient 2 is older than the policy says, 3 has no age, 4 lives on no ward of the list. Patient 1 made two
# visits, patient 2 four thousand, and two visits are nobody's.
DATA = """
CREATE TABLE patients (patient_id INTEGER PRIMARY KEY, age INTEGER, ward VARCHAR, city VARCHAR);
INSERT INTO patients VALUES
    (1, 10, 'A', 'Oslo'), (2, 130, 'A', 'Oslo'), (3, NULL, 'B', NULL), (4, 50, 'Q', 'Rome');
CREATE TABLE visits (patient_id INTEGER, kind VARCHAR NOT NULL, place INTEGER);
INSERT INTO visits VALUES (1, 'x', 1), (1, 'x', 2), (NULL, 'x', 1), (NULL, 'y', 1);
INSERT INTO visits SELECT 2, CASE WHEN i < 3000 THEN 'x' ELSE 'y' END, i % 4 FROM range(4000) AS r(i);
"""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    with duckdb.connect(str(folder / "tiny.duckdb")) as connection:
        connection.execute(DATA)
    (folder / "zcdp.toml").write_text(POLICY.format(accountant="zcdp", delta=1e-6))
    (folder / "pure.toml").write_text(POLICY.format(accountant="pure", delta=0.0))
    return folder / "tiny.duckdb"


@pytest.fixture
def zcdp(tiny: Path, tmp_path: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect(tiny, tiny.with_name("zcdp.toml"), tmp_path / "zcdp.ledger") as db:
        yield db


@pytest.fixture
def pure(tiny: Path, tmp_path: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect(tiny, tiny.with_name("pure.toml"), tmp_path / "pure.ledger") as db:
        yield db


def measured(db: dpsql.Connection, sql: str, shape: Shape, norm: Norm) -> audit.Measured:
    """The only measure of a query, which is bounded in this way."""
    (planned,) = plan_of(db._open(), sql, 1.0).stages[0].measures
    assert (planned.shape, planned.noise.norm) == (shape, norm)
    (found,) = audit.measure(db, sql)
    return found


# ---- exact values, shape by shape --------------------------------------------------------------------


def test_rows_ungrouped(zcdp: dpsql.Connection) -> None:
    """Ages 10, 130 clamped to 120, NULL and 50."""
    found = measured(zcdp, "SELECT SUM(age) FROM patients", Shape.ROWS, Norm.L2)
    assert found.rows == {(): ((10 + 120 + 50) * YEAR,)}
    assert (found.keys, found.public_keys, found.threshold) == ((), True, None)


def test_rows_by_public_keys(pure: dpsql.Connection) -> None:
    """The ward that is not on the list is in no group; a ward without patients is. NULL is a group.

    Patients with an age and patients without one are cells of their own.
    """
    sql = "SELECT ward, COUNT(*), COUNT(age) FROM patients GROUP BY ward"
    found = measured(pure, sql, Shape.ROWS, Norm.L1)
    assert found.rows == {
        ("A",): (2 * ROW, 0),
        ("B",): (0, ROW),
        ("C",): (0, 0),
        (None,): (0, 0),
    }
    assert found.keys == ("ward",)
    assert found.public_keys
    (noise,) = found.noises
    assert (noise.columns, noise.norm, noise.sensitivity) == ((0, 1), 1, ROW)


def test_rows_of_a_pair(zcdp: dpsql.Connection) -> None:
    """AVG: the sum of what is left to 120, and the sum, of the three ages that there are."""
    found = measured(zcdp, "SELECT AVG(age) FROM patients", Shape.ROWS, Norm.L2)
    assert found.rows == {(): ((110 + 0 + 70) * YEAR, (10 + 120 + 50) * YEAR)}
    assert found.statistics == ("rest", "value")
    (noise,) = found.noises
    assert noise.sensitivity == 120 * YEAR  # one row adds 120 years in both norms at most


def test_unit(zcdp: dpsql.Connection) -> None:
    """Patient 1 counts twice; patient 2, who has 4,000 rows, counts five times."""
    found = measured(zcdp, "SELECT COUNT(*) FROM visits", Shape.UNIT, Norm.L2)
    ((total,),) = found.rows.values()
    assert found.noises[0].sensitivity == 5 * ROW
    assert 5 * ROW - 2 <= total - 2 * ROW <= 5 * ROW


def test_l1(pure: dpsql.Connection) -> None:
    """Each of patient 2's 4,000 rows is scaled to 5 / 4,000 of a row, 1,310.72 steps, and cut to 1,310."""
    found = measured(pure, "SELECT kind, COUNT(*) FROM visits GROUP BY kind", Shape.L1, Norm.L1)
    assert math.floor(ROW * 5 / 4000) == 1310
    assert found.rows == {("x",): (2 * ROW + 3000 * 1310,), ("y",): (1000 * 1310,)}
    assert found.noises[0].sensitivity == 5 * ROW


def test_cells(zcdp: dpsql.Connection) -> None:
    """Patient 2's (3,000, 1,000) rows have the norm 1,000 sqrt(10), and are scaled to the norm 5 together."""
    found = measured(zcdp, "SELECT kind, COUNT(*) FROM visits GROUP BY kind", Shape.CELLS, Norm.L2)
    assert found.noises[0].sensitivity == 5 * ROW
    x, y = found.rows["x",][0] - 2 * ROW, found.rows["y",][0]
    for steps, rows in ((x, 3), (y, 1)):
        assert 0 <= rows / math.sqrt(10) * 5 * ROW - steps < 2
    assert x * x + y * y <= (5 * ROW) ** 2


def test_cells_with_a_hidden_count_of_units(zcdp: dpsql.Connection) -> None:
    """Patient 2 is in four places with 1,000 rows each, and counts there as one unit scaled like its rows."""
    sql = "SELECT place, COUNT(*) FROM visits GROUP BY place"
    found = measured(zcdp, sql, Shape.CELLS, Norm.L2)
    assert found.threshold is not None
    column, steps, delta = found.threshold
    assert not found.public_keys
    assert found.statistics[column] == "units"
    assert steps > ROW
    assert 0 < delta < 1e-6 / 5
    (planned,) = plan_of(zcdp._open(), sql, 1.0).stages[0].measures
    one = planned.measure.statistics[column].most
    norm = math.sqrt(4 * ((1000 * ROW) ** 2 + one**2))
    limit = found.noises[0].sensitivity
    assert set(found.rows) == {(0,), (1,), (2,), (3,)}
    for place, others in ((0, 0), (1, 1), (2, 1), (3, 0)):
        units, rows = found.rows[place,][column], found.rows[place,][1 - column]
        assert 0 <= limit * one / norm + others * one - units < 2
        assert 0 <= limit * 1000 * ROW / norm + others * ROW - rows < 2


def test_private_groups_are_shown_before_the_threshold(zcdp: dpsql.Connection) -> None:
    """Rome has one inhabitant: it is there for the auditor, and nobody else."""
    sql = "SELECT city, COUNT(*) FROM patients GROUP BY city"
    found = measured(zcdp, sql, Shape.ROWS, Norm.L2)
    assert found.rows == {("Oslo",): (2 * ROW,), ("Rome",): (ROW,), (None,): (ROW,)}
    assert found.threshold is not None
    assert zcdp.execute(sql).rows == []


def test_an_empty_group_is_measured_where_keys_are_public_alone(zcdp: dpsql.Connection) -> None:
    public = "SELECT ward, COUNT(*) FROM patients WHERE age > 120 GROUP BY ward"
    assert audit.measure(zcdp, public)[0].rows.keys() == {("A",), ("B",), ("C",), (None,)}
    private = "SELECT city, COUNT(*) FROM patients WHERE age > 1000 GROUP BY city"
    assert audit.measure(zcdp, private)[0].rows == {}


@pytest.mark.parametrize(
    ("accountant", "keys"),
    [
        ("zcdp", ""),
        ("zcdp", "kind"),
        ("zcdp", "place"),
        ("zcdp", "kind, place"),
        ("pure", ""),
        ("pure", "kind"),
    ],
)
def test_the_clip_binds(accountant: str, keys: str, request: pytest.FixtureRequest) -> None:
    """Patient 2's 4,000 rows move the sums by the sensitivity, and by no more, in the norm of the noise."""
    db: dpsql.Connection = request.getfixturevalue(accountant)
    tail = f" GROUP BY {keys}" if keys else ""
    (found,) = audit.measure(db, f"SELECT COUNT(*) FROM visits{tail}")
    (others,) = audit.measure(db, f"SELECT COUNT(*) FROM visits WHERE patient_id <> 2{tail}")
    nothing = (0,) * len(found.statistics)
    moved = [
        a - b
        for group, sums in found.rows.items()
        for a, b in zip(sums, others.rows.get(group, nothing), strict=True)
    ]
    noise = found.noises[0]
    norm = sum(map(abs, moved)) if noise.norm == 1 else math.sqrt(sum(each * each for each in moved))
    assert 0.999 * noise.sensitivity < norm <= noise.sensitivity


# ---- what is reported --------------------------------------------------------------------------------


def test_noises_are_the_planned_ones(zcdp: dpsql.Connection, pure: dpsql.Connection) -> None:
    sql = "SELECT ward, SUM(age), COUNT(*) FROM patients GROUP BY ward"
    for db, kind, norm in ((zcdp, GaussianEvent, 2), (pure, LaplaceEvent, 1)):
        (planned,) = plan_of(db._open(), sql, 0.5).stages[0].measures
        (found,) = audit.measure(db, sql, epsilon=0.5)
        (noise,) = found.noises
        assert noise.columns == tuple(range(len(found.statistics)))
        assert (noise.norm, noise.mechanism) == (norm, planned.noise.mechanism)
        assert (noise.sensitivity, noise.scale) == (planned.noise.sensitivity, planned.noise.scale)
        assert isinstance(noise.event, kind)
        assert (noise.event.sensitivity, noise.event.scale) == (noise.sensitivity, noise.scale)
    assert isinstance(found.rows["A",][0], int)


def test_measures_come_in_order(zcdp: dpsql.Connection) -> None:
    """And as they are: measuring twice, under any key, gives the same."""
    sql = "SELECT (SELECT COUNT(*) FROM patients), (SELECT COUNT(*) FROM visits)"
    first, second = audit.measure(zcdp, sql)
    assert first.rows == {(): (4 * ROW,)}
    assert first.noises[0].sensitivity < second.noises[0].sensitivity
    again = audit.measure(zcdp, sql, key=b"fixed", replay=[first, second])
    assert [each.rows for each in again] == [first.rows, second.rows]
    with pytest.raises(InterfaceError, match="replay"):
        audit.measure(zcdp, sql, replay=[first])


def test_it_debits_nothing_at_any_price(zcdp: dpsql.Connection) -> None:
    entries = zcdp._open().ledger.entries()
    for price in (0.1, 1.0, 500.0):  # far above the ceiling and the budget
        assert audit.measure(zcdp, "SELECT COUNT(*) FROM patients", epsilon=price)[0].rows == {(): (4 * ROW,)}
    assert zcdp._open().ledger.entries() == entries
    for price in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(dpsql.OperationalError, match="D503"):
            audit.measure(zcdp, "SELECT COUNT(*) FROM patients", epsilon=price)


def test_what_it_returns_does_not_show_by_accident(zcdp: dpsql.Connection) -> None:
    (found,) = audit.measure(zcdp, "SELECT COUNT(*) FROM patients")
    assert str(4 * ROW) not in repr(found) + str(found) + f"{[found]}"


# ---- who may ask -------------------------------------------------------------------------------------


def test_analysts_may_not(tiny: Path, tmp_path: Path) -> None:
    with dpsql.connect(tiny, tiny.with_name("zcdp.toml"), tmp_path / "ledger", analyst="ana") as db:
        with pytest.raises(dpsql.OperationalError) as caught:
            audit.measure(db, "SELECT COUNT(*) FROM patients")
        assert caught.value.code == "D508"
        assert db.purchases == ()


def test_a_closed_connection_has_no_audit(tiny: Path, tmp_path: Path) -> None:
    db = dpsql.connect(tiny, tiny.with_name("zcdp.toml"), tmp_path / "ledger")
    db.close()
    with pytest.raises(dpsql.InterfaceError):
        audit.measure(db, "SELECT COUNT(*) FROM patients")


def test_no_other_way_leads_there(zcdp: dpsql.Connection, capsys: pytest.CaptureFixture[str]) -> None:
    """Not from SQL, a cursor, the module or the connection; and the command line's audit has no analysts."""
    for sql in ("SELECT measure('patients')", "CALL audit('x')", "SELECT COUNT(*) FROM audit.measure"):
        with pytest.raises(dpsql.DatabaseError):
            zcdp.cursor().execute(sql)
    for thing in (zcdp, zcdp.cursor(), zcdp.explain("SELECT COUNT(*) FROM patients")):
        assert not [name for name in dir(thing) if "audit" in name or "measure" in name]
    assert "audit" not in dpsql.__all__
    assert main(["audit", "x.duckdb", "x.sql", "--analyst", "ana"]) == 2
    assert "unrecognized arguments: --analyst" in capsys.readouterr().err


def test_the_module_does_not_bring_it_along() -> None:
    script = "import dpsql, dpsql.cli, sys; sys.exit('dpsql.audit' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
