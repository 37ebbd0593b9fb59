"""Repeated queries to opendp's Polars context: data epsilon delta repetitions -> JSON lines.

Group keys are passed in, lengths are bounded, and one noise scale is searched such that all columns of a
query together spend the whole price. AVG is a noisy sum over a noisy count; VAR is computed from the moments.
"""

import json
import sys
import warnings

warnings.filterwarnings("ignore")

import opendp.prelude as dp  # noqa: E402  # after warnings are silenced
import polars as pl  # noqa: E402  # after warnings are silenced

dp.enable_features("contrib")
ROWS = 250_000


def main(data: str, epsilon: float, delta: float, repetitions: int) -> None:
    frame = pl.read_parquet(data).with_columns(pl.col("age").cast(pl.Float64).alias("age"))
    frame = frame.with_columns((pl.col("age") ** 2).alias("square")).lazy()
    length = dp.len().alias("n")
    asked = {
        "COUNT": [length],
        "SUM": [pl.col("income").fill_null(0.0).fill_nan(0.0).dp.sum((0.0, 200_000.0)).alias("s")],
        "AVG": [length, pl.col("age").fill_null(0.0).fill_nan(0.0).dp.sum((0.0, 120.0)).alias("s")],
        "VAR": [
            length,
            pl.col("age").fill_null(0.0).fill_nan(0.0).dp.sum((0.0, 120.0)).alias("s"),
            pl.col("square").fill_null(0.0).fill_nan(0.0).dp.sum((0.0, 14_400.0)).alias("q"),
        ],
    }
    for aggregate, columns in asked.items():
        for _ in range(repetitions):
            context = dp.Context.compositor(
                data=frame,
                privacy_unit=dp.unit_of(contributions=1),
                privacy_loss=dp.loss_of(epsilon=epsilon, delta=delta),
                split_evenly_over=1,
                margins=[
                    dp.polars.Margin(max_length=ROWS, max_groups=100),
                    dp.polars.Margin(by=["state"], max_length=ROWS, max_groups=100, invariant="keys"),
                ],
            )
            rows = context.query().group_by("state").agg(columns).release().collect().to_dicts()
            values = {row["state"]: made(aggregate, row) for row in rows}
            print(json.dumps({"aggregate": aggregate, "values": values}), flush=True)


def made(aggregate: str, row: dict[str, float]) -> float:
    match aggregate:
        case "COUNT":
            return float(row["n"])
        case "SUM":
            return float(row["s"])
        case "AVG":
            return min(120.0, max(0.0, row["s"] / max(row["n"], 1)))
        case _:
            n = max(row["n"], 1)
            return min(3_600.0, max(0.0, row["q"] / n - (row["s"] / n) ** 2))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
