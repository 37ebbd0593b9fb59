"""Four made-up data sets, seeded: what a product, a shop, a hospital and a grid operator keep of people.

events     users; events of 60 days, in sessions, some users much more active than others
shop       customers; orders of two years; order_items; products (public)
hospital   patients; stays; diagnoses; labs; wards (public)
meters     households; readings, one each hour of four weeks; weather (public)

The policy of each is a file beside this one, written as its owner would: ranges, lists and rows_per_unit
(about the 95th percentile) from knowledge of the trade.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Setting

HERE = Path(__file__).resolve().parent
QUICK = 300
Ints = NDArray[np.int64]
Generator = np.random.Generator


def made(setting: Setting, name: str) -> Path:
    """Create a data set, and its policy beside it."""
    path = setting.folder / f"{name}.duckdb"
    fill, units = MAKERS[name]
    with duckdb.connect(str(path)) as connection:
        fill(connection, QUICK if setting.quick else units, np.random.default_rng(7))
    shutil.copy(HERE / f"{name}.toml", path.with_suffix(".toml"))
    return path


def _create(connection: duckdb.DuckDBPyConnection, table: str, select: str, columns: dict[str, Any]) -> None:
    """Create ``name(column types)`` and fill it by a SELECT over the drawn columns."""
    connection.execute(f"CREATE TABLE {table}")
    connection.execute(f"INSERT INTO {table.split('(')[0]} SELECT {select} FROM columns")


def _skewed(random: Generator, many: int, size: int, power: float = 0.8) -> Ints:
    """Draw numbers below ``many``, the first ones most often."""
    weights = 1.0 / np.arange(1, many + 1) ** power
    return random.choice(many, size, p=weights / weights.sum())


def _within(sizes: Ints) -> Ints:
    """Return 0, 1, ... for each of the runs of these sizes."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


# ---- events ------------------------------------------------------------------------------------------

COUNTRIES = "['US','DE','FR','GB','ES','IT','NL','PL','SE','NO']"


def _events(connection: duckdb.DuckDBPyConnection, users: int, random: Generator) -> None:
    days = 60
    signup = np.where(
        random.random(users) < 0.6, random.integers(-180, 0, users), random.integers(0, 56, users)
    )
    country, arm = _skewed(random, 10, users), random.integers(0, 2, users)
    plan = random.choice(3, users, p=[0.7, 0.22, 0.08])
    _create(
        connection,
        "users(user_id BIGINT PRIMARY KEY, signup DATE, plan VARCHAR, country VARCHAR, arm VARCHAR)",
        f"user_id, DATE '2024-04-01' + signup::INTEGER, ['free', 'pro', 'team'][plan + 1], "
        f"{COUNTRIES}[country + 1], ['A', 'B'][arm + 1]",
        {"user_id": np.arange(users), "signup": signup, "plan": plan, "country": country, "arm": arm},
    )
    since = np.arange(days) - np.maximum(signup, -30)[:, None]
    often = random.beta(0.9, 2.4, users)[:, None] * (0.45 + 0.55 * np.exp(-since / 15))
    often = often * np.array([1.1, 1.15, 1.15, 1.1, 1.0, 0.7, 0.65])[np.arange(days) % 7]
    user, day = np.nonzero((random.random((users, days)) < often) & (np.arange(days) >= signup[:, None]))
    sessions = 1 + (random.random(len(user)) < 0.15)
    user, day = np.repeat(user, sessions), np.repeat(day, sessions)
    usual, now = random.integers(0, 6, users)[user], _skewed(random, 6, len(user))
    source = np.where(random.random(len(user)) < 0.7, usual, now)
    sizes = random.geometric(0.24, len(user))
    of = np.repeat(np.arange(len(user)), sizes)
    start = np.clip(random.normal(14, 4.5, len(user)), 0, 23.4) * 3600
    pause = np.where(_within(sizes) == 0, 0, random.exponential(70, len(of)))
    passed = np.cumsum(pause) - np.cumsum(pause)[np.cumsum(sizes) - sizes][of]
    eager = np.array([1.0, 1.4, 0.7, 1.6, 0.5, 1.1])[source] * np.where(arm[user] == 1, 1.15, 1.0)
    device = random.choice(4, len(user), p=[0.5, 0.32, 0.1, 0.08])
    _create(
        connection,
        "events(user_id BIGINT NOT NULL, ts TIMESTAMP, day DATE, name VARCHAR, device VARCHAR, "
        "country VARCHAR, source VARCHAR, session_id BIGINT, seconds DOUBLE, url VARCHAR)",
        "user_id, TIMESTAMP '2024-04-01' + to_seconds(least(second, 86399) + day * 86400), "
        "DATE '2024-04-01' + day::INTEGER, "
        "['purchase', 'checkout', 'add_to_cart', 'search', 'click', 'view'][name + 1], "
        "['mobile', 'desktop', 'tablet', NULL][device + 1], "
        f"{COUNTRIES}[country + 1], ['search', 'direct', 'ad', 'email', 'social', 'referral'][source + 1], "
        "session_id, seconds, CASE url WHEN 0 THEN '/' WHEN 1 THEN '/pricing' ELSE '/blog/' || url END",
        {
            "user_id": user[of],
            "second": (start[of] + passed).astype(np.int64),
            "day": day[of],
            "name": np.searchsorted([0.012, 0.03, 0.08, 0.2, 0.35], random.random(len(of)) / eager[of]),
            "device": device[of],
            "country": country[user[of]],
            "source": source[of],
            "session_id": of,
            "seconds": random.lognormal(3.2, 1.1, len(of)).round(1),
            "url": _skewed(random, 300, len(of), 1.0),
        },
    )


# ---- shop --------------------------------------------------------------------------------------------


def _shop(connection: duckdb.DuckDBPyConnection, customers: int, random: Generator) -> None:
    products, span = 300, 731
    price = np.clip(random.lognormal(3.2, 0.7, products), 2, 400).round(2)
    _create(
        connection,
        "products(product_id INTEGER PRIMARY KEY, name VARCHAR, category VARCHAR, brand VARCHAR, "
        "list_price DECIMAL(10, 2))",
        "product_id, 'product ' || product_id, ['garden', 'kitchen', 'books', 'toys', 'sport', 'office', "
        "'beauty', 'music', 'pets', 'tools'][product_id % 10 + 1], 'brand ' || product_id % 25, price",
        {"product_id": np.arange(products), "price": price},
    )
    joined = (span * random.beta(1.0, 1.3, customers)).astype(np.int64)
    country, channel = _skewed(random, 6, customers), _skewed(random, 4, customers, 0.5)
    _create(
        connection,
        "customers(customer_id BIGINT PRIMARY KEY, joined DATE, country VARCHAR, channel VARCHAR, "
        "birth_year INTEGER, newsletter BOOLEAN)",
        "customer_id, DATE '2023-01-01' + joined::INTEGER, "
        "['DE', 'FR', 'AT', 'NL', 'BE', 'IT'][country + 1], "
        "['search', 'ads', 'friends', 'partner'][channel + 1], birth_year, newsletter",
        {
            "customer_id": np.arange(customers),
            "joined": joined,
            "country": country,
            "channel": channel,
            "birth_year": random.integers(1940, 2006, customers),
            "newsletter": random.random(customers) < 0.4,
        },
    )
    many = random.negative_binomial(0.9, 0.25, customers) * (random.random(customers) < 0.95)
    customer = np.repeat(np.arange(customers), many)
    left = span - joined[customer]
    minute = (joined[customer] + left * random.beta(0.8, 1.3, len(customer))) * 1440
    season = np.array([0, 0, 0, 0, 0, 0, 0, 0, 0.1, 0.2, 0.4, 0.5])[
        (minute // 1440 % 365 // 31).astype(np.int64)
    ]
    kept = random.random(len(customer)) < 0.6 + 0.4 * season / 0.5
    customer, minute = customer[kept], minute[kept]
    orders = len(customer)
    _create(
        connection,
        "orders(order_id BIGINT PRIMARY KEY, customer_id BIGINT NOT NULL REFERENCES customers(customer_id), "
        "ordered_at TIMESTAMP, status VARCHAR, coupon VARCHAR, shipping DECIMAL(6, 2))",
        "order_id, customer_id, TIMESTAMP '2023-01-01' + to_minutes(minute), "
        "['paid', 'shipped', 'returned', 'cancelled'][status + 1], "
        "CASE WHEN coupon < 6 THEN 'CODE' || coupon END, shipping",
        {
            "order_id": np.arange(orders),
            "customer_id": customer,
            "minute": np.minimum(minute, span * 1440 - 1).astype(np.int64),
            "status": random.choice(4, orders, p=[0.2, 0.68, 0.07, 0.05]),
            "coupon": random.integers(0, 30, orders),
            "shipping": random.choice([0.0, 4.9, 9.9], orders, p=[0.4, 0.5, 0.1]),
        },
    )
    sizes = np.minimum(random.geometric(0.45, orders), 15)
    order = np.repeat(np.arange(orders), sizes)
    first = _skewed(random, products, orders, 0.9)[order]
    product = np.where(random.random(len(order)) < 0.35, (first + _within(sizes)) % products, 0)
    product = np.where(product == 0, _skewed(random, products, len(order), 0.9), product)
    _create(
        connection,
        "order_items(order_id BIGINT NOT NULL REFERENCES orders(order_id), line INTEGER, "
        "product_id INTEGER NOT NULL REFERENCES products(product_id), quantity INTEGER, "
        "unit_price DECIMAL(10, 2), PRIMARY KEY (order_id, line))",
        "order_id, line, product_id, quantity, unit_price",
        {
            "order_id": order,
            "line": _within(sizes),
            "product_id": product,
            "quantity": np.minimum(random.geometric(0.7, len(order)), 10),
            "unit_price": (
                price[product] * random.choice([1, 0.9, 0.8], len(order), p=[0.7, 0.2, 0.1])
            ).round(2),
        },
    )


# ---- hospital ----------------------------------------------------------------------------------------

WARDS = "'Cardiology Surgery Oncology Maternity Pediatrics Neurology Geriatrics Emergency'.split(' ')"
CODES = "'I10 E11 I25 J18 N39 I50 J44 C50 S72 K80 F32 I63 M54 K35 O80'.split(' ')"
TESTS = "['glucose', 'sodium', 'crp', 'hemoglobin', 'creatinine']"


def _hospital(connection: duckdb.DuckDBPyConnection, patients: int, random: Generator) -> None:
    _create(
        connection,
        "wards(ward VARCHAR PRIMARY KEY, building VARCHAR, beds INTEGER)",
        f"{WARDS}[i + 1], ['North', 'South', 'Old'][i % 3 + 1], 15 + 7 * i",
        {"i": np.arange(8)},
    )
    age = np.clip(random.normal(52, 23, patients), 0, 98)
    _create(
        connection,
        "patients(patient_id BIGINT PRIMARY KEY, sex VARCHAR, born DATE, postcode VARCHAR, smoker BOOLEAN)",
        "patient_id, ['F', 'M'][sex + 1], DATE '2024-01-01' - age::INTEGER, "
        "lpad((1000 + postcode)::VARCHAR, 4, '0'), CASE WHEN smoker < 9 THEN smoker < 2 END",
        {
            "patient_id": np.arange(patients),
            "sex": random.integers(0, 2, patients),
            "age": (age * 365.25).astype(np.int64),
            "postcode": _skewed(random, 80, patients),
            "smoker": random.integers(0, 10, patients),
        },
    )
    many = np.minimum(random.geometric(0.55, patients), 12)
    patient = np.repeat(np.arange(patients), many)
    stays, end = len(patient), 366 * 24
    stay_hours = np.clip(random.lognormal(4.0, 0.9, stays) * (0.6 + age[patient] / 90), 3, 2400)
    gap = np.where(
        random.random(stays) < 0.25, random.exponential(400, stays), random.exponential(2400, stays)
    )
    step = np.where(_within(many) == 0, random.random(stays) * end, stay_hours + gap)
    from_first = np.cumsum(step) - np.repeat(np.cumsum(step)[np.cumsum(many) - many], many)
    admitted = np.repeat(step[np.cumsum(many) - many], many) + from_first
    held = admitted < end
    patient, admitted, stay_hours = patient[held], admitted[held], stay_hours[held]
    stays = len(patient)
    ward = np.where(random.random(stays) < 0.3, 7, _skewed(random, 8, stays, 0.4))
    died = random.random(stays) < 0.002 + 0.06 * (age[patient] / 100) ** 3
    _create(
        connection,
        "stays(stay_id BIGINT PRIMARY KEY, patient_id BIGINT NOT NULL REFERENCES patients(patient_id), "
        "ward VARCHAR, admitted TIMESTAMP, discharged TIMESTAMP, urgent BOOLEAN, outcome VARCHAR, "
        "cost DOUBLE)",
        f"stay_id, patient_id, {WARDS}[ward + 1], TIMESTAMP '2024-01-01' + to_minutes(admitted), "
        "CASE WHEN discharged < 366 * 1440 THEN TIMESTAMP '2024-01-01' + to_minutes(discharged) END, urgent, "
        "CASE WHEN discharged >= 366 * 1440 THEN NULL WHEN died THEN 'died' WHEN moved THEN 'transferred' "
        "ELSE 'home' END, cost",
        {
            "stay_id": np.arange(stays),
            "patient_id": patient,
            "ward": ward,
            "admitted": (admitted * 60).astype(np.int64),
            "discharged": ((admitted + stay_hours) * 60).astype(np.int64),
            "urgent": random.random(stays) < 0.4,
            "died": died,
            "moved": random.random(stays) < 0.08,
            "cost": (stay_hours * random.lognormal(3.2, 0.5, stays)).round(2),
        },
    )
    sizes = random.integers(1, 6, stays)
    stay = np.repeat(np.arange(stays), sizes)
    older = random.random(len(stay)) < age[patient[stay]] / 120
    _create(
        connection,
        "diagnoses(stay_id BIGINT NOT NULL REFERENCES stays(stay_id), code VARCHAR, main BOOLEAN)",
        f"stay_id, CASE WHEN code < 15 THEN {CODES}[code + 1] ELSE 'Z' || code END, main",
        {
            "stay_id": stay,
            "code": np.where(older, _skewed(random, 15, len(stay)), _skewed(random, 120, len(stay), 0.7)),
            "main": _within(sizes) == 0,
        },
    )
    sizes = 1 + random.poisson(np.minimum(stay_hours / 30, 12))
    stay = np.repeat(np.arange(stays), sizes)
    test = random.integers(0, 5, len(stay))
    middle = np.array([100.0, 140.0, 20.0, 13.5, 1.0])[test]
    spread = np.array([0.25, 0.03, 1.0, 0.12, 0.3])[test]
    value = middle * np.exp(
        spread * random.normal(0, 1, len(stay)) + spread * (age[patient[stay]] - 50) / 100
    )
    hours = admitted[stay] + stay_hours[stay] * np.where(_within(sizes) == 0, 0.05, random.random(len(stay)))
    _create(
        connection,
        "labs(patient_id BIGINT NOT NULL REFERENCES patients(patient_id), stay_id BIGINT NOT NULL, "
        "test VARCHAR, value DOUBLE, taken_at TIMESTAMP)",
        f"patient_id, stay_id, {TESTS}[test + 1], value, TIMESTAMP '2024-01-01' + to_minutes(taken)",
        {
            "patient_id": patient[stay],
            "stay_id": stay,
            "test": test,
            "value": value.round(2),
            "taken": (hours * 60).astype(np.int64),
        },
    )


# ---- meters ------------------------------------------------------------------------------------------


def _meters(connection: duckdb.DuckDBPyConnection, households: int, random: Generator) -> None:
    hours = 28 * 24
    day, hour = np.divmod(np.arange(hours), 24)
    cold = random.normal(0, 3, 28)
    _create(
        connection,
        "weather(day DATE PRIMARY KEY, temperature DOUBLE, holiday BOOLEAN)",
        "DATE '2024-02-05' + day::INTEGER, temperature, day = 7",
        {"day": np.arange(28), "temperature": (4 - cold).round(1)},
    )
    region, people = _skewed(random, 6, households, 0.5), random.integers(1, 6, households)
    tariff, heating = random.choice(3, households, p=[0.6, 0.3, 0.1]), _skewed(random, 3, households, 0.9)
    _create(
        connection,
        "households(household_id BIGINT PRIMARY KEY, region VARCHAR, tariff VARCHAR, heating VARCHAR, "
        "people INTEGER, area INTEGER)",
        "household_id, ['North', 'South', 'East', 'West', 'Coast', 'Hills'][region + 1], "
        "['flat', 'night', 'dynamic'][tariff + 1], "
        "['gas', 'electric', 'heat pump'][heating + 1], people, area",
        {
            "household_id": np.arange(households),
            "region": region,
            "tariff": tariff,
            "heating": heating,
            "people": people,
            "area": np.clip(random.normal(60, 25, households) + 15 * people, 18, 300).astype(np.int64),
        },
    )
    base = 0.05 + random.lognormal(-2.2, 0.6, households) + 0.06 * people
    warmth = np.array([0.0, 0.45, 0.2])[heating][:, None] * (1 + cold[day] / 8)
    shape = 0.5 + np.exp(-((hour - 8) ** 2) / 6) + 1.6 * np.exp(-((hour - 19) ** 2) / 9) + 0.2 * (day % 7 > 4)
    night = np.where((hour < 6) & (tariff[:, None] == 1), 0.5, 0.0)
    kwh = base[:, None] * shape * random.lognormal(0, 0.5, (households, hours)) + warmth * 0.8 + night
    there = random.random((households, hours)) < 0.995
    household, at = np.nonzero(there)
    _create(
        connection,
        "readings(household_id BIGINT NOT NULL, ts TIMESTAMP NOT NULL, kwh DOUBLE)",
        "household_id, TIMESTAMP '2024-02-05' + to_hours(hour), CASE WHEN kwh > 0 THEN kwh END",
        {
            "household_id": household,
            "hour": at,
            "kwh": np.where(random.random(len(at)) < 0.002, -1, kwh[there]).round(3),
        },
    )


MAKERS = {
    "events": (_events, 30_000),
    "shop": (_shop, 30_000),
    "hospital": (_hospital, 15_000),
    "meters": (_meters, 4_000),
}
