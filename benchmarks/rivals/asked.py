"""The questions that all contestants are asked, each in plain SQL. Imported by the rivals' own Pythons too.

``joined`` is the same question for those that cannot follow a foreign key to the unit. It reads the view
LINES, in which each line names its customer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

LINES = """
SELECT o_custkey AS custkey, c_mktsegment, l_returnflag, l_linestatus, l_quantity, l_extendedprice,
    l_discount, l_shipdate
FROM lineitem JOIN orders ON l_orderkey = o_orderkey JOIN customer ON o_custkey = c_custkey
"""


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one of the databases, with the targets that it has."""

    name: str
    title: str
    source: str
    """people, visits or tpch; ``tiny`` before it means a thousand rows."""
    table: str
    """The table, or the view, that holds its rows with the unit's column in it."""
    unit: str
    sql: str
    joined: str
    keys: tuple[str, ...] = ()
    groups: int | None = None
    """The most groups that a unit reaches, for rivals that bound them: as many as its rows without."""
    of_plain: float | None = None
    milliseconds: float | None = None

    @property
    def tiny(self) -> bool:
        return self.source.startswith("tiny ")


PEOPLE = "SELECT COUNT(*) AS n FROM people"
STATES = "SELECT state, SUM(income) AS s, AVG(age) AS a FROM people GROUP BY state"
PLACES = (
    "SELECT place, COUNT(*) AS n, COUNT(DISTINCT user_id) AS u, SUM(cost) AS s FROM visits GROUP BY place"
)
FLAGS = (
    "SELECT l_returnflag, l_linestatus, SUM(l_quantity) AS q, SUM(l_extendedprice) AS p, "
    "SUM(l_extendedprice * (1 - l_discount)) AS d, AVG(l_quantity) AS aq, AVG(l_extendedprice) AS ap, "
    "COUNT(*) AS n FROM {} WHERE l_shipdate <= DATE '1998-09-02' GROUP BY l_returnflag, l_linestatus"
)
SEGMENTS = "SELECT c_mktsegment, COUNT(*) AS n, SUM(l_extendedprice) AS s FROM {} GROUP BY c_mktsegment"
REVENUE = (
    "SELECT SUM(l_extendedprice * (1 - l_discount)) AS r FROM {} "
    "WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01'"
)
MEDIAN = "SELECT MEDIAN(age) AS m FROM people"
URLS = "SELECT url, COUNT(DISTINCT user_id) AS u FROM visits GROUP BY url"
THREE = "lineitem JOIN orders ON l_orderkey = o_orderkey JOIN customer ON o_custkey = c_custkey"


def _people(name: str, title: str, sql: str, source: str = "people", **more: Any) -> Question:
    return Question(name, title, source, "people", "person", sql, sql, **more)


def _visits(name: str, title: str, sql: str, source: str = "visits", **more: Any) -> Question:
    return Question(name, title, source, "visits", "user_id", sql, sql, **more)


def _lines(name: str, title: str, sql: str, read: str, **more: Any) -> Question:
    texts = sql.format(read), sql.format("lines")
    return Question(name, title, "tpch", "lines", "custkey", *texts, **more)


QUESTIONS = (
    _people("Q1", "people", PEOPLE),
    _people("Q2", "people by state", STATES, keys=("state",), of_plain=2.0),
    _visits("Q3", "visits by place", PLACES, keys=("place",), groups=5, of_plain=1.6),
    _lines(
        "Q4", "lineitem", FLAGS, "lineitem", keys=("l_returnflag", "l_linestatus"), groups=4, of_plain=1.7
    ),
    _lines("Q5", "three-way join", SEGMENTS, THREE, keys=("c_mktsegment",), groups=1, of_plain=1.3),
    _people("Q6", "median", MEDIAN, of_plain=1.5),
    _lines("Q7", "revenue of a year", REVENUE, "lineitem", of_plain=1.6),
    _visits("Q8", "private keys", URLS, keys=("url",), of_plain=1.6),
    _people("T1", "1,000 people", PEOPLE, "tiny people", milliseconds=6.0),
    _people("T2", "1,000 people by state", STATES, "tiny people", keys=("state",), milliseconds=9.0),
    _visits(
        *("T3", "1,000 visits by place", PLACES, "tiny visits"), keys=("place",), groups=5, milliseconds=10.0
    ),
)
