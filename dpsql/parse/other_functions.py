"""Functions of other databases that DuckDB lacks, or that are not vetted, and what to write instead.

FORMAT_DATE('%Y-%m', day)        strftime(day, '%Y-%m')
TIMESTAMPDIFF(year, a, b)        date_sub('year', a, b)
WIDTH_BUCKET(age, 20, 100, 8)    FLOOR((age - 20) / 10)
"""

from __future__ import annotations

from dpsql.parse.other_aggregates import INSTEAD

_FORMATTED = "write strftime(x, '%Y-%m') of a moment; of a month as a date, date_trunc('month', x)"
_READ = "write strptime(x, '%Y-%m-%d')::DATE; or x::DATE, if it is written 2024-12-31"
_LATER = "write x + INTERVAL 1 MONTH, or x + INTERVAL (n) DAY"
_EARLIER = "write x - INTERVAL 1 MONTH, or x - INTERVAL (n) DAY"
_BETWEEN = (
    "write date_sub('day', x, y), whole days from x to y; or date_diff('day', x, y), the midnights between"
)
_PART = "write date_part('month', x), year(x), month(x), monthname(x), dayname(x)"
_STEPS = "count by steps: SELECT FLOOR((x - 20) / 10) AS step, COUNT(*) ... GROUP BY step, of ten from 20"
_QUANTILE = "write QUANTILE_CONT(x, 0.9), or a list of places: QUANTILE_CONT(x, [0.25, 0.5, 0.75])"
_DISTINCT = "write COUNT(DISTINCT x)"
_SAYS = "write regexp_matches(x, '...'), x LIKE '%a%' or contains(x, 'a')"
CLOCKS = ("getdate", "sysdate", "systimestamp", "sysdatetime", "curdate")
"""Functions that read the clock; some databases write them without parentheses."""

ELSEWHERE: dict[str, str] = {
    **dict.fromkeys(("format_date", "format_timestamp", "format_datetime", "date_format"), _FORMATTED),
    **dict.fromkeys(("to_date", "str_to_date", "parse_date", "parse_timestamp", "parse_datetime"), _READ),
    **dict.fromkeys(("dateadd", "timestampadd", "timestamp_add", "datetime_add", "add_months"), _LATER),
    **dict.fromkeys(("timestamp_sub", "datetime_sub", "date_sub"), _EARLIER),
    "top": "write LIMIT 3 at the end",
    **dict.fromkeys(("timestamp_diff", "datetime_diff", "timestampdiff", "months_between"), _BETWEEN),
    **dict.fromkeys(("datepart", "datename", "date_part_year", "dayofmonth"), _PART),
    **dict.fromkeys(CLOCKS, "write now(), or current_date"),
    **dict.fromkeys(("unix_timestamp", "unix_seconds"), "write epoch(x), or epoch(now())"),
    "from_unixtime": "write to_timestamp(x)",
    "datetime_trunc": "write date_trunc('month', x)",
    "eomonth": "write last_day(x)",
    **dict.fromkeys(("width_bucket", "cut"), _STEPS),
    **dict.fromkeys(("approx_percentile", "percentile_approx", "percentile", "approx_quantiles"), _QUANTILE),
    **dict.fromkeys(("approx_distinct", "count_distinct", "countd", "uniq"), _DISTINCT),
    **dict.fromkeys(("regexp_contains", "regexp_like", "rlike"), _SAYS),
    **dict.fromkeys(("isnull", "zeroifnull"), "write COALESCE(x, 0); of a condition, x IS NULL"),
    "nullifzero": "write NULLIF(x, 0)",
    "nvl2": "write CASE WHEN x IS NOT NULL THEN 1 ELSE 2 END",
    "try_to_number": "write TRY_CAST(x AS DOUBLE)",
    "mid": "write substring(x, 1, 3)",
    "square": "write x * x",
    "initcap": "write upper(left(x, 1)) || lower(substring(x, 2))",
    "ratio_to_report": "divide by the total: SELECT x, COUNT(*) / SUM(COUNT(*)) OVER () FROM ... GROUP BY x",
    "farm_fingerprint": "write md5(x)",
}


def instead_of(name: str) -> str | None:
    """Return what to write instead of a function or an aggregate; None if nobody knows."""
    folded = name.casefold()
    return INSTEAD.get(folded) or ELSEWHERE.get(folded)
