"""Generated data of a clinic: 20,000 patients, about 70,000 visits, and a public table of wards.

Everything is computed from a fixed hash, so the data is the same everywhere. It has the shape of real
data: a few patients with very many visits, a long tail of towns, costs without an upper bound, missing
values.
"""

from __future__ import annotations

from pathlib import Path

PATIENTS = 20_000

_HELPERS = """
CREATE TEMP MACRO u(i, salt) AS (md5_number_upper(salt || i) + 0.5) / 18446744073709551616;
CREATE TEMP MACRO normal(i, salt) AS sqrt(-2 * ln(u(i, salt))) * cos(2 * pi() * u(i, salt || ' turn'));
"""

_WARDS = """
CREATE TABLE wards (ward VARCHAR PRIMARY KEY, building VARCHAR NOT NULL, beds INTEGER NOT NULL);
INSERT INTO wards VALUES
    ('Cardiology', 'North', 42), ('Emergency', 'North', 30), ('Geriatrics', 'South', 55),
    ('Maternity', 'South', 28), ('Oncology', 'South', 36), ('Pediatrics', 'West', 40);
"""

_PATIENTS = """
CREATE TABLE patients (
    patient_id INTEGER PRIMARY KEY, age INTEGER, sex VARCHAR, ward VARCHAR NOT NULL, town VARCHAR,
    smoker BOOLEAN
);
INSERT INTO patients
SELECT
    i,
    CASE WHEN u(i, 'age?') > 0.02
        THEN greatest(0, least(103, round(typical + spread * normal(i, 'age')))) END,
    CASE WHEN u(i, 'sex?') > 0.01 THEN if(w = 'Maternity' OR u(i, 'sex') < 0.5, 'F', 'M') END,
    w,
    CASE WHEN u(i, 'town?') > 0.01 THEN 'town ' || least(400, floor(u(i, 'town') ** -1.1)::INTEGER) END,
    CASE WHEN u(i, 'smoker?') > 0.1 THEN u(i, 'smoker') < 0.21 END
FROM range(1, {patients} + 1) AS t(i), (VALUES
    ('Emergency', 0.00, 0.35, 48, 21), ('Cardiology', 0.35, 0.57, 66, 11), ('Geriatrics', 0.57, 0.74, 81, 7),
    ('Oncology', 0.74, 0.86, 61, 13), ('Pediatrics', 0.86, 0.95, 8, 4), ('Maternity', 0.95, 1.00, 31, 5)
) AS kinds(w, low, high, typical, spread)
WHERE u(i, 'ward') >= low AND u(i, 'ward') < high
ORDER BY i;
"""

_VISITS = """
CREATE TABLE visits (
    patient_id INTEGER NOT NULL, day DATE NOT NULL, ward VARCHAR NOT NULL, cost DOUBLE, reason VARCHAR
);
INSERT INTO visits
SELECT
    patient_id,
    DATE '2024-01-01' + floor(366 * u(n, 'day'))::INTEGER,
    if(u(n, 'elsewhere') < 0.2, 'Emergency', ward),
    CASE WHEN u(n, 'cost?') > 0.03 THEN round(exp(4.6 + 0.9 * normal(n, 'cost')), 2) END,
    CASE WHEN u(n, 'reason?') > 0.05 THEN
        ['checkup', 'pain', 'infection', 'injury', 'therapy', 'surgery'][
            least(6, floor(u(n, 'reason') ** -0.9))::INTEGER]
    END
FROM (
    SELECT patient_id, ward, 1000 * patient_id + k AS n
    FROM patients, range(least(400, floor(exp(0.9 + normal(patient_id, 'visits'))))::BIGINT) AS r(k)
)
ORDER BY n;
"""

POLICY = """\
# What the clinic promises its patients, and what analysts may ask.
[budget]                          # of all analysts together, for good
epsilon = 5.0
delta = 1e-6

[query]
epsilon = 0.5                     # what a query costs if it does not say
max_epsilon = 2.0

[analysts.ana]
epsilon = 4.0

[unit]                            # whom the promise protects
name = "patient"
table = "patients"
key = "patient_id"

[tables.patients.columns]
age    = { range = [0, 110] }
sex    = { values = ["F", "M"] }
ward   = { values = ["Cardiology", "Emergency", "Geriatrics",
                     "Maternity", "Oncology", "Pediatrics"] }
town   = {}                       # a town appears when enough live there
smoker = {}

[tables.visits]
unit = { column = "patient_id" }
rows_per_unit = 15                # where clipping one patient's visits starts

[tables.visits.columns]
day    = { range = [2024-01-01, 2024-12-31] }
ward   = { values = ["Cardiology", "Emergency", "Geriatrics",
                     "Maternity", "Oncology", "Pediatrics"] }
cost   = { range = [0, 1000] }
reason = {}

[tables.wards]
public = true
key = "ward"
"""


def build(folder: Path) -> Path:
    """Create ``clinic.duckdb`` and ``clinic.toml`` in a folder; return the path of the database."""
    import duckdb  # imported here: only this command creates a database

    database = folder / "clinic.duckdb"
    connection = duckdb.connect(str(database))
    try:
        connection.execute("SET enable_progress_bar = false")
        for script in (_HELPERS, _WARDS, _PATIENTS.format(patients=PATIENTS), _VISITS):
            connection.execute(script)
    finally:
        connection.close()
    (folder / "clinic.toml").write_text(POLICY, encoding="utf-8")
    return database
