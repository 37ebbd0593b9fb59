"""A small clinic for the tests of the library, and three databases beside it.

    clinic      240 patients; patient 1 has 3,000 visits, 'Nome' has one inhabitant, ward C has nobody
    neighbour   the same without patient 1
    single      patient 1 alone
    empty       nobody

They are made once per process, each as ``clinic.duckdb`` in a folder with its name, its policy
``clinic.toml`` beside it. Nobody changes those; who wants to change something takes the copy ``clinic``.

Hypothesis tries the same examples every time: ``pytest --hypothesis-profile default`` looks for others.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

import dpsql

settings.register_profile(
    "alike", derandomize=True, deadline=None, suppress_health_check=(HealthCheck.too_slow,)
)
settings.load_profile("alike")
if hasattr(providers, "_get_local_constants"):  # they are those of all modules that a worker happens to have
    providers._get_local_constants = lambda: providers._local_constants

POLICY = """\
[budget]
epsilon = 100.0
delta = 1e-6
accountant = "zcdp"

[query]
epsilon = 1.0
max_epsilon = 20.0

[analysts.ana]
epsilon = 50.0

[analysts.bob]
epsilon = 2.0

[unit]
name = "patient"
table = "patients"
key = "patient_id"

[tables.patients.columns]
patient_id = {}
age = { range = [0, 120] }
ward = { values = ["A", "B", "C"] }
smoker = {}
city = {}
income = { range = [-1000, 5000] }
height = { range = [0, 250] }
score = {}
born = {}
seen = {}

[tables.visits]
key = "visit_id"
unit = { column = "patient_id" }
rows_per_unit = 5

[tables.visits.columns]
visit_id = {}
patient_id = {}
cost = { range = [0, 500] }
minutes = { range = [0, 60] }
kind = { values = ["checkup", "surgery"] }

[tables.drugs]
unit = { column = "visit_id", references = "visits.visit_id" }
rows_per_unit = 5

[tables.drugs.columns]
visit_id = {}
dose = { range = [0, 10] }

[tables.wards]
public = true
key = "ward"
"""

SCHEMA = """
CREATE TABLE patients (
    patient_id INTEGER PRIMARY KEY, age INTEGER, ward VARCHAR NOT NULL, smoker BOOLEAN NOT NULL, city VARCHAR,
    income DOUBLE, height DECIMAL(5, 2), score DOUBLE, born DATE, seen TIMESTAMP
);
CREATE TABLE visits (
    visit_id INTEGER UNIQUE, patient_id INTEGER, cost DOUBLE, minutes INTEGER, kind VARCHAR NOT NULL
);
CREATE TABLE drugs (visit_id INTEGER, dose INTEGER);
CREATE TABLE wards (ward VARCHAR PRIMARY KEY, floor INTEGER);
INSERT INTO wards VALUES ('A', 1), ('B', 1), ('C', 2);
"""

PEOPLE = """
INSERT INTO patients
SELECT
    i, 20 + i % 60, ['A', 'B'][1 + i % 2], i % 3 = 0,
    CASE WHEN i = 1 THEN 'Nome' ELSE ['Oslo', 'Bergen', NULL][1 + i % 3] END,
    i * 10 - 500, [150.25, 160.5, 170][1 + i % 3],
    [0.0, '-0.0'::DOUBLE, 'NaN'::DOUBLE, -1.5, NULL][1 + i % 5],
    [DATE '1950-03-01', DATE '2001-12-31', NULL][1 + i % 3],
    [TIMESTAMP '2023-01-01 08:00:00', TIMESTAMP '2023-01-01 08:00:00.5'][1 + i % 2]
FROM range(1, 241) AS r(i);
INSERT INTO visits
SELECT i, 1 + i % 240, (i % 300)::DOUBLE, i % 60, ['checkup', 'surgery'][1 + i % 2] FROM range(720) AS r(i);
INSERT INTO visits SELECT 10000 + i, 1, 500, 60, ['checkup', 'surgery'][1 + i % 2] FROM range(3000) AS r(i);
INSERT INTO drugs SELECT visit_id, visit_id % 10 FROM visits;
"""

WITHOUT_1 = """
DELETE FROM drugs WHERE visit_id IN (SELECT visit_id FROM visits WHERE patient_id = 1);
DELETE FROM visits WHERE patient_id = 1;
DELETE FROM patients WHERE patient_id = 1;
"""
ONLY_1 = WITHOUT_1.replace("= 1", "<> 1")

SCRIPTS = {
    "clinic": SCHEMA + PEOPLE,
    "neighbour": SCHEMA + PEOPLE + WITHOUT_1,
    "single": SCHEMA + PEOPLE + ONLY_1,
    "empty": SCHEMA,
}


@pytest.fixture(scope="session")
def clinics(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with all four databases, each in a folder of its own with the policy beside it."""
    folder = tmp_path_factory.mktemp("clinics")
    for name, script in SCRIPTS.items():
        (folder / name).mkdir()
        (folder / name / "clinic.toml").write_text(POLICY)
        with duckdb.connect(str(folder / name / "clinic.duckdb")) as connection:
            connection.execute(script)
    return folder


@pytest.fixture
def clinic(clinics: Path, tmp_path: Path) -> Path:
    """A clinic of one's own: its data and its policy may be changed."""
    shutil.copytree(clinics / "clinic", tmp_path / "clinic")
    return tmp_path / "clinic" / "clinic.duckdb"


@pytest.fixture
def db(clinics: Path, tmp_path: Path) -> Iterator[dpsql.Connection]:
    """The owner's connection to the common clinic, with a ledger of its own."""
    path = clinics / "clinic" / "clinic.duckdb"
    with dpsql.connect(path, ledger=tmp_path / "clinic.ledger") as connection:
        yield connection
