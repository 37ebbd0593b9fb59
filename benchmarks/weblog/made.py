"""A made-up table ``views`` of a month of page views, and a table of its users.

150,000 users of a month and 1.5 million page views: few users have many, few URLs, phrases, regions and sites
have most. One site (7) has a tenth of all.
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
USERS, QUICK = 150_000, 400

Ints = NDArray[np.int64]

_CREATE = """
CREATE TABLE views (
    view_id BIGINT UNIQUE, user_id BIGINT NOT NULL, seen_at TIMESTAMP NOT NULL, day DATE NOT NULL,
    site INTEGER NOT NULL, address INTEGER NOT NULL, region INTEGER NOT NULL, page TEXT NOT NULL,
    title TEXT NOT NULL, came_from TEXT NOT NULL, phrase TEXT NOT NULL, page_hash BIGINT NOT NULL,
    from_hash BIGINT NOT NULL, reloaded SMALLINT NOT NULL, linked SMALLINT NOT NULL,
    downloaded SMALLINT NOT NULL, uncounted SMALLINT NOT NULL, ad SMALLINT NOT NULL,
    engine SMALLINT NOT NULL, source SMALLINT NOT NULL, phone SMALLINT NOT NULL,
    model TEXT NOT NULL, width SMALLINT NOT NULL, window_width SMALLINT NOT NULL,
    window_height SMALLINT NOT NULL
)
"""

_FILL = """
INSERT INTO views SELECT
    watch, person, TIMESTAMP '2024-03-01' + to_seconds(second),
    DATE '2024-03-01' + (second // 86400)::INTEGER,
    CASE counter WHEN 0 THEN 7 ELSE 1000 + counter END, address, 200 + region,
    CASE page % 7 WHEN 3 THEN 'http://search.example/' ELSE 'http://site' || counter || '.example/' END
        || 'page/' || page,
    'title ' || page || CASE page % 11 WHEN 5 THEN ' on Search' ELSE '' END,
    CASE WHEN referer = 0 THEN '' ELSE 'http://www.host' || referer % 40 || '.example/from/' || referer END,
    CASE WHEN phrase = 0 THEN '' ELSE 'phrase ' || phrase END,
    1000003 * page, 999983 * referer,
    refresh, link, download, dont, advertiser, CASE WHEN phrase = 0 THEN 0 ELSE engine END, source - 1,
    phone, CASE WHEN phone = 0 THEN '' ELSE 'model ' || model END, width, (width * narrow) // 20 - 16, height
FROM columns
"""


def made(setting: Setting) -> Path:
    """Create the data, and its policy beside it."""
    path = setting.folder / "views.duckdb"
    with duckdb.connect(str(path)) as connection:
        _fill(connection, QUICK if setting.quick else USERS, np.random.default_rng(7))
    shutil.copy(HERE / "views.toml", path.with_suffix(".toml"))
    return path


def _fill(connection: duckdb.DuckDBPyConnection, users: int, random: np.random.Generator) -> None:
    each = np.ceil(random.lognormal(1.55, 1.2, users)).astype(np.int64)
    user = np.repeat(np.arange(users), each)
    many = len(user)
    names = 71 + 7 * np.arange(users)

    def usual(values: Ints, now: Ints, share: float) -> Ints:
        """What a user usually has, and for a share of the rows something else."""
        return np.where(random.random(many) < share, now, values[user])

    phone = np.where(random.random(users) < 0.2, 1 + _skewed(random, 30, users), 0)
    counter = usual(_skewed(random, 2000, users), _skewed(random, 2000, many), 0.5)
    columns = {
        "watch": random.permutation(many) + 2**40,
        "person": names[user],
        "second": np.sort(random.integers(0, 31 * 86_400, many)),
        "counter": counter,
        "address": random.integers(-(2**31), 2**31, users)[user],
        "region": _skewed(random, 3000, users)[user],
        "page": 50 * counter + _skewed(random, 300, many),
        "referer": np.where(random.random(many) < 0.3, 0, 1 + _skewed(random, 20_000, many)),
        "phrase": np.where(random.random(many) < 0.7, 0, 1 + _skewed(random, 30_000, many)),
        "refresh": random.random(many) < 0.15,
        "link": random.random(many) < 0.2,
        "download": random.random(many) < 0.02,
        "dont": random.random(many) < 0.1,
        "advertiser": np.where(random.random(many) < 0.006, 2 + _skewed(random, 25, many), 0),
        "engine": 2 + _skewed(random, 30, many),
        "source": _skewed(random, 10, many),
        "phone": phone[user],
        "model": _skewed(random, 60, users)[user],
        "width": np.array([1368, 1920, 1024, 1280, 320])[_skewed(random, 5, users)][user],
        "narrow": 12 + _skewed(random, 9, many),
        "height": 300 + 10 * _skewed(random, 60, many),
    }
    connection.execute("CREATE TABLE users (user_id BIGINT PRIMARY KEY)")
    _insert(connection, "INSERT INTO users SELECT person FROM columns", {"person": names})
    connection.execute(_CREATE)
    _insert(connection, _FILL, columns)


def _insert(connection: duckdb.DuckDBPyConnection, sql: str, columns: dict[str, Any]) -> None:
    """Run an INSERT from ``columns``."""
    connection.execute(sql)


def _skewed(random: np.random.Generator, many: int, size: int) -> Ints:
    """Draw numbers below ``many``, the first ones most often."""
    weights = 1.0 / np.arange(1, many + 1)
    return random.choice(many, size, p=weights / weights.sum())
