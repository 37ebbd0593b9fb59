"""OpenDP's whole calls through its Polars context, over a frame that is loaded before the first call.

One noise scale is searched such that all columns of a query together spend the whole price. An average is a
noisy sum over a noisy length. Dates are texts, since it compares none. Groups per unit are the first ones:
sampled ones fail in this version.
"""

import itertools
import warnings
from collections.abc import Callable, Sized
from typing import Any

from repeated import Task, repeat

warnings.filterwarnings("ignore")

import opendp.prelude as dp  # noqa: E402  # after warnings are silenced
import polars as pl  # noqa: E402  # after warnings are silenced

dp.enable_features("contrib")
ROWS = 10_000_000
READ = {
    "people": "SELECT state, age, income FROM people",
    "visits": "SELECT user_id, place, url, cost FROM visits",
    "lines": "SELECT * REPLACE (CAST(l_shipdate AS VARCHAR) AS l_shipdate) FROM lines",
}


def prepare(task: Task) -> Callable[[], Sized]:
    question = task.question
    read = task.connection.execute(READ[question.table])
    frame = pl.from_arrow(read.to_arrow_table()).lazy()
    ranges = task.ranges()
    values = {key: task.values(key) for key in question.keys}
    keys = pl.LazyFrame(list(itertools.product(*values.values())), schema=list(values), orient="row")

    def number(name: str) -> Any:
        return pl.col(name).fill_null(0.0).fill_nan(0.0)

    def total(name: str, called: str) -> Any:
        return number(name).dp.sum(ranges[name]).alias(called)

    def query() -> Any:
        margins = [dp.polars.Margin(max_length=ROWS, max_groups=ROWS)]
        if question.keys:
            margins.append(dp.polars.Margin(by=list(question.keys), max_length=ROWS, max_groups=ROWS))
        unit: dict[str, Any] = {"contributions": 1}
        if task.rows > 1:
            unit["identifier"] = pl.col(question.unit)
        return dp.Context.compositor(
            data=frame,
            privacy_unit=dp.unit_of(**unit),
            privacy_loss=dp.loss_of(epsilon=task.epsilon, delta=task.delta),
            split_evenly_over=1,
            margins=margins,
        ).query()

    def bounded(asked: Any) -> Any:
        """Bound the groups of a unit, one more since it keeps one less, and the rows in each."""
        by = list(question.keys)
        asked = asked.truncate_num_groups(task.groups + 1, by=by, keep="first")
        return asked.truncate_per_group(max(1, task.rows // task.groups), by=by)

    length = dp.len().alias("n")
    ranges["paid"] = ranges.get("l_extendedprice", (0.0, 0.0))
    paid = (number("l_extendedprice") * (1.0 - number("l_discount"))).alias("paid")
    shipped = pl.col("l_shipdate")

    def people() -> Any:
        return query().select(dp.len(signed=True).alias("n"))

    def states() -> Any:
        age = pl.col("age").fill_null(0).dp.sum(tuple(map(int, ranges["age"]))).alias("age")
        return query().group_by("state").agg(length, total("income", "s"), age)

    def places() -> Any:
        users = pl.col("user_id").dp.n_unique().alias("u")
        return bounded(query()).group_by("place").agg(length, users, total("cost", "s"))

    def flags() -> Any:
        lines = query().filter(shipped <= pl.lit("1998-09-02")).truncate_per_group(task.rows)
        lines = lines.with_columns(paid).group_by(question.keys)
        return lines.agg(length, total("l_quantity", "q"), total("l_extendedprice", "p"), total("paid", "d"))

    def segments() -> Any:
        lines = query().truncate_per_group(task.rows).group_by(question.keys)
        return lines.agg(length, total("l_extendedprice", "s"))

    def median() -> Any:
        age = pl.col("age").fill_null(0)
        return query().select(age.dp.median(candidates=list(range(int(ranges["age"][1]) + 1))).alias("m"))

    def revenue() -> Any:
        lines = query().filter((shipped >= pl.lit("1994-01-01")) & (shipped < pl.lit("1995-01-01")))
        return lines.truncate_per_group(task.rows).with_columns(paid).select(total("paid", "r"))

    def urls() -> Any:
        return bounded(query()).group_by("url").agg(length)

    def released() -> list[dict[str, Any]]:
        found = asked[question.name]()
        if question.keys and task.public:
            found = found.with_keys(keys)
        return found.release().collect().to_dicts()

    asked = {"Q1": people, "Q2": states, "Q3": places, "Q4": flags, "Q5": segments, "Q6": median}
    asked |= {"Q7": revenue, "Q8": urls, "T1": people, "T2": states, "T3": places}
    return released


if __name__ == "__main__":
    repeat(prepare)
