"""DuckDB's aggregates that are not answered, and what to write instead.

mad(x)           DP_SAMPLE(mad(x), 0, 100)
approx_top_k     groups ordered by count, with LIMIT
"""

from __future__ import annotations

_VALUES = "count the values: SELECT x, COUNT(*) AS n FROM ... GROUP BY x ORDER BY n DESC"
_LISTED = f"{_VALUES}; of one unit's rows, in a subquery, take STRING_AGG(x, ',' ORDER BY y)"
_TOP = "take the first groups: SELECT x, COUNT(*) AS n FROM ... GROUP BY x ORDER BY n DESC LIMIT 3"
_BITS = "count the rows in which a bit is set: COUNT(*) FILTER (WHERE x & 4 <> 0)"
_STEPS = (
    "count the values: SELECT x, COUNT(*) AS n FROM ... GROUP BY x; of numbers, list the bins: HISTOGRAM(x, "
    "[10, 20, 30]), or count by steps: SELECT FLOOR(x / 10) AS step, COUNT(*) ... GROUP BY step"
)
_SUM = "write SUM(x): it adds whole grid steps, so it has no rounding error"
_WEIGHED = "write SUM(x * w) / SUM(w) FILTER (WHERE x IS NOT NULL)"
_LOGARITHMS = ": the bounds are those of LN(x), 0 and 13.9 where x is between 1 and a million"
_GEOMETRIC = f"write EXP(AVG(LN(x) CLAMPED BETWEEN -5 AND 10)){_LOGARITHMS}"

INSTEAD: dict[str, str] = {
    **dict.fromkeys(("list", "array_agg"), _LISTED),
    "variant_group_object": _VALUES,
    **dict.fromkeys(("json_group_array", "json_group_object", "json_group_structure"), _VALUES),
    "approx_top_k": _TOP,
    **dict.fromkeys(("bit_and", "bit_or", "bit_xor", "bitstring_agg"), _BITS),
    **dict.fromkeys(("histogram", "histogram_exact"), _STEPS),
    **dict.fromkeys(("fsum", "kahan_sum", "sumkahan", "sum_no_overflow"), _SUM),
    **dict.fromkeys(("wavg", "weighted_avg"), _WEIGHED),
    **dict.fromkeys(("geomean", "geometric_mean"), _GEOMETRIC),
    "combine_aggr": "aggregate the rows themselves: SUM(x), AVG(x)",
    "count_star": "write COUNT(*)",
    "decimal_average": "write AVG(x)",
    "entropy": "compute it of numbers on blocks of units: DP_SAMPLE(entropy(x), 0, 10); or count the values, "
    "and compute it from their shares: SELECT x, COUNT(*) AS n FROM ... GROUP BY x",
    "kurtosis": "compute it on blocks of units: DP_SAMPLE(kurtosis(x), -3, 30)",
    "kurtosis_pop": "compute it on blocks of units: DP_SAMPLE(kurtosis_pop(x), -3, 30)",
    "lttb": "plot a mean per period: SELECT date_trunc('month', t) AS month, AVG(x) FROM ... GROUP BY month",
    "mad": "compute it on blocks of units: DP_SAMPLE(mad(x), 0, 100); or ask QUANTILE_CONT(x, [0.25, 0.75])",
    "product": f"write EXP(SUM(LN(x) CLAMPED BETWEEN -5 AND 10)){_LOGARITHMS}",
    "reservoir_quantile": "write QUANTILE_CONT(x, 0.9)",
    "sem": "write STDDEV_POP(x) / SQRT(COUNT(x))",
    "skewness": "compute it on blocks of units: DP_SAMPLE(skewness(x), -5, 5)",
}
