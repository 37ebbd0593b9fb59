-- The tables of every world, and the rows of the public ones. Alone, this is the empty world.

CREATE TYPE blood_type AS ENUM ('0', 'A', 'B', 'AB');

-- The unit table: one row per patient.
CREATE TABLE patients (
    patient_id INTEGER PRIMARY KEY,
    born DATE,
    age INTEGER,
    sex VARCHAR NOT NULL,
    ward VARCHAR,
    income DOUBLE,
    insured BOOLEAN,
    smoker BOOLEAN NOT NULL,
    city VARCHAR,
    height DECIMAL(5, 2),
    children TINYINT,          -- bounded by its type alone
    score DOUBLE,              -- bounded by nothing
    blood blood_type,          -- an enum whose list the policy does not repeat
    registered TIMESTAMP,
    allergies VARCHAR[],       -- a list without a declared length
    notes VARCHAR              -- the policy does not mention it
);

-- Many rows per patient; the unit column may be NULL or point at nobody.
CREATE TABLE visits (
    visit_id BIGINT UNIQUE,
    patient_id INTEGER,
    place_id INTEGER,
    visited_on DATE,
    seen_at TIMESTAMP,
    cost DOUBLE,
    minutes INTEGER,
    kind VARCHAR NOT NULL,
    urgent BOOLEAN,
    steps BIGINT               -- bounded by its type alone, which is wide
);

-- Owned along foreign keys: treatments -> visits, reactions -> treatments -> visits.
CREATE TABLE treatments (
    treatment_id BIGINT UNIQUE,
    visit_id BIGINT,
    drug VARCHAR,
    dose DECIMAL(8, 2),
    given_on DATE
);
CREATE TABLE reactions (treatment_id BIGINT, severity INTEGER, noted_on DATE);

-- No rows in any world; and one whose policy does not say where clipping starts.
CREATE TABLE referrals (referral_id BIGINT, patient_id INTEGER, reason VARCHAR, cost DOUBLE, made_on DATE);
CREATE TABLE calls (patient_id INTEGER, called_at TIMESTAMP, seconds INTEGER);

-- Times with time zone, beside those without.
CREATE TABLE journeys (
    patient_id INTEGER,
    arrived_at TIMESTAMPTZ,
    left_at TIMESTAMPTZ,
    noted_at TIMESTAMP,
    noted_on DATE
);

-- Values with parts: a text of several answers, lists, a map, a struct, JSON and a text that may be JSON.
CREATE TABLE answers (
    patient_id INTEGER,
    choices VARCHAR,
    scores DOUBLE[],
    counts MAP(VARCHAR, INTEGER),
    home STRUCT(town VARCHAR, rooms INTEGER, "floor area" DOUBLE),
    doc JSON,
    remark VARCHAR
);

-- Another schema, whose unit column is of another width.
CREATE SCHEMA sales;
CREATE TABLE sales.orders (
    order_id BIGINT PRIMARY KEY,
    patient_id BIGINT,
    placed_at TIMESTAMP,
    amount DECIMAL(12, 2),
    status VARCHAR NOT NULL,
    method VARCHAR
);
CREATE TABLE sales.refunds (order_id BIGINT, patient_id BIGINT, amount DECIMAL(12, 2), paid_on DATE);

-- Units of two columns, under other names and types in each table, and a link of two: two_columns.toml has these.
CREATE SCHEMA clubs;
CREATE TABLE clubs.members (club VARCHAR, number INTEGER, joined DATE, level VARCHAR, fee DOUBLE);
CREATE TABLE clubs.matches (
    court VARCHAR,
    slot INTEGER,
    of_club VARCHAR,
    of_number BIGINT,
    played_on DATE,
    points INTEGER,
    place_id INTEGER
);
CREATE TABLE clubs.shots (court VARCHAR, slot SMALLINT, speed DOUBLE, kind VARCHAR);

-- Not in the policy at all.
CREATE TABLE staff (staff_id INTEGER, name VARCHAR, wage DOUBLE);
INSERT INTO staff VALUES (1, 'Ola', 500000), (2, 'Kari', 600000);

-- Public tables.
CREATE TABLE wards (ward VARCHAR PRIMARY KEY, floor INTEGER, beds INTEGER);
INSERT INTO wards VALUES ('A', 1, 20), ('B', 1, 12), ('C', 2, 30), ('D', 3, 8), ('Z', NULL, 0);

CREATE TABLE places (place_id INTEGER PRIMARY KEY, city VARCHAR, kind VARCHAR);
INSERT INTO places VALUES
    (1, 'Oslo', 'hospital'), (2, 'Oslo', 'clinic'), (3, 'Bergen', 'hospital'),
    (4, 'Bergen', 'pharmacy'), (5, 'Trondheim', 'clinic'), (6, NULL, 'clinic');

CREATE TABLE place_tags (place_id INTEGER, tag VARCHAR);
INSERT INTO place_tags VALUES
    (1, 'night'), (1, 'parking'), (1, 'night'), (2, 'parking'), (2, NULL), (3, 'night'), (5, 'harbour'),
    (NULL, 'night'), (42, 'parking');

CREATE TABLE age_bands (band VARCHAR, low INTEGER, high INTEGER);
INSERT INTO age_bands VALUES ('child', 0, 17), ('adult', 18, 66), ('senior', 67, 120);

CREATE TABLE tariffs (kind VARCHAR, fee DOUBLE, valid_from DATE);
INSERT INTO tariffs VALUES
    ('checkup', 20.5, '2022-01-01'), ('surgery', 310, '2022-01-01'), ('emergency', 95, '2022-01-01'),
    ('therapy', 40, '2022-01-01'), ('therapy', 45.25, '2024-01-01'), ('massage', NULL, '2024-01-01');

CREATE TABLE holidays (day DATE, name VARCHAR);

-- The views of the policy, for plain DuckDB to read: dpsql takes them from world.toml.
CREATE VIEW adults AS SELECT * EXCLUDE (allergies, notes) FROM patients WHERE age >= 18;
CREATE VIEW stays AS
    SELECT v.patient_id, v.visit_id, v.kind, v.cost AS price, a.ward, a.sex
    FROM visits v JOIN adults a USING (patient_id);
CREATE VIEW spending AS SELECT patient_id, SUM(cost) AS spent, COUNT(*) AS n FROM visits GROUP BY patient_id;
CREATE VIEW ward_sizes AS SELECT ward, COUNT(*) AS n, AVG(age) AS mean_age FROM patients GROUP BY ward;
CREATE VIEW large_wards AS SELECT * RENAME (beds AS places) FROM wards WHERE beds >= 12;
CREATE VIEW headcounts AS SELECT age, sex, ward, COUNT(*) AS n FROM patients GROUP BY ALL;
