"""What the language page says and shows, chapter by chapter: words, and names of fixtures.

Chapter("Joins", "Two private tables meet on...", (("On the unit:", (("joins/...", "..."),)),))
"""

from __future__ import annotations

from dataclasses import dataclass

Example = tuple[str, str]
"""A file of this folder, and the name of one of its cases."""


@dataclass(frozen=True, slots=True)
class Chapter:
    title: str
    text: str
    examples: tuple[tuple[str, tuple[Example, ...]], ...] = ()


CHAPTERS = (
    Chapter(
        "Sources",
        "FROM reads tables of the policy, its views, WITH, subqueries, constants and `range`. "
        "Names are read as in DuckDB: case does not matter, a WITH hides a table. A column that "
        "the policy does not list is not there.",
        (
            (
                "Tables, aliases, schemas, names of columns:",
                (
                    ("select/shapes.sql", "how many patients are there"),
                    ("from/relations.sql", "a table alias with AS and a list of column names"),
                    ("from/relations.sql", "a table in another schema under an alias"),
                    ("select/shapes.sql", "FROM comes first"),
                ),
            ),
            (
                "WITH and subqueries; an alias serves what follows it; a table may come in twice:",
                (
                    ("cte/with.sql", "a private filter"),
                    ("cte/with.sql", "a per-unit table, then a release, then its summary"),
                    ("from/relations.sql", "a subquery that filters and computes"),
                    ("select/earlier_aliases.sql", "a computed column, and one of it"),
                    ("from/relations.sql", "the same table three times"),
                ),
            ),
            (
                "Views of the policy are read as if they were written in WITH:",
                (
                    ("views/policy_views.sql", "rows of a view"),
                    ("views/policy_views.sql", "a view that has aggregated by unit"),
                ),
            ),
            (
                "A private view counts all combinations of some columns' values in `n`: bought once, asked "
                "free ([design note](design/0019-a-view-is-bought-once.md)). "
                "`CREATE PRIVATE VIEW headcounts WITH (epsilon = 1, ranges = (age)) AS SELECT age, sex, ward "
                "FROM patients` makes one, and `REFRESH`, `DROP` and `GRANT SELECT ON headcounts TO bo` "
                "serve it; so does `private = { }` in the policy. With `method = 'mst'` in place of `ranges` "
                "it has [synthetic rows](exports.md#views-of-synthetic-rows), of any number of columns. With "
                "`sums = (cost)` it has `SUM(cost)` and `AVG(cost)` too. "
                "`COUNT(*)` of it is `SUM(n)`:",
                (
                    ("views/private_views.sql", "a range and a value of a private view"),
                    ("views/private_views.sql", "shares of all rows of a private view"),
                    ("views/private_views.sql", "a mean over a private view weighs each row"),
                ),
            ),
            (
                "A private alert tells whether a count, or a sum of declared bounds, is above a threshold, "
                "each with noise: any number of questions until the first true, for one price ([design note]"
                "(design/0040-an-alert-is-one-response.md)). "
                "`CREATE PRIVATE ALERT flu WITH (epsilon = 0.5, above = 100)` buys one, and "
                "`SELECT DP_ABOVE('flu', COUNT(*)) FROM visits WHERE ...` asks, free: false ... true. "
                "It says true once, or `times = 3` times at as many prices. `max_rows` (1) of a unit count, "
                "each with at most `upper` (1): an alert about sums says `upper = 500`. With `lower = -500` "
                "values may be negative, and questions have twice the noise. The same question about the "
                "same data has the same outcome. `dpsql explain` says how far from the threshold outcomes "
                "can be trusted. `DROP PRIVATE ALERT flu` and `GRANT SELECT ON PRIVATE ALERT flu TO bo` "
                "serve it. "
                "The number itself is not shown; it is a COUNT or SUM as any other:",
                (
                    ("select/alerts.sql", "the number of a question"),
                    ("select/alerts.sql", "how far private rows are from a public mean"),
                ),
            ),
            (
                "A private holdout tells who has public rows beside the private ones whether a mean holds "
                "in both, again and again ([design note](design/0045-a-holdout-is-an-alert.md)). "
                "`CREATE PRIVATE HOLDOUT h WITH (epsilon = 1, times = 3, tolerance = 0.04)` buys it, and "
                "`SELECT DP_HOLDOUT('h', 0.31, AVG(x)) FROM t WHERE ...` asks, free: the answer is .31 "
                "while the private mean is within the tolerance of it, and else the private mean with noise "
                "and its margin, `times` times. `epsilon` is the price of all of it. `max_rows` (1) of a "
                "unit count, and a value may be `upper` (1) from the public number. Comparing has noise "
                "too: `dpsql explain` says how far off a sum of distances is told rightly; divided by the "
                "number of rows, that is how far off a mean is. `DROP PRIVATE HOLDOUT h` and `GRANT SELECT "
                "ON PRIVATE HOLDOUT h TO bo` serve it. The mean is an AVG as any other:",
                (("select/alerts.sql", "the mean of a holdout"),),
            ),
            (
                "Stars, with EXCLUDE, REPLACE and RENAME:",
                (
                    ("select/stars.sql", "a star without some columns"),
                    ("select/stars.sql", "a column replaced by a clamp of itself"),
                ),
            ),
            (
                "Lists that rows hold become rows, at most ten of each list, or as many as the policy's "
                "`length` or `OPTIONS(max_unnest = 20)` say:",
                (
                    ("from/row_items.sql", "the items of a text"),
                    ("from/row_items.sql", "rows without items stay in a left join"),
                    ("from/row_items.sql", "a list in the select list"),
                    ("from/row_items.sql", "the keys of a map"),
                    ("from/row_items.sql", "some of the items"),
                ),
            ),
            (
                "Sets of private rows have the unit on both sides; UNION ALL needs no side to select it:",
                (
                    ("sets/channels.sql", "sums of three channels"),
                    ("sets/sets.sql", "UNION of units"),
                    ("sets/sets.sql", "EXCEPT of units"),
                    ("sets/sets.sql", "UNION ALL BY NAME"),
                ),
            ),
            (
                "PIVOT lists its values, unless they are declared:",
                (
                    ("pivot/pivot.sql", "two aggregates for each value"),
                    ("pivot/pivot.sql", "a pivot in FROM"),
                ),
            ),
        ),
    ),
    Chapter(
        "Joins",
        "Two private tables meet on the unit, or along a foreign key that the policy declares. A "
        "public table may be joined on anything: what it multiplies is bounded per unit. INNER, "
        "LEFT, RIGHT, FULL, SEMI, ANTI, NATURAL, CROSS, USING, and a comma with WHERE.",
        (
            (
                "On the unit:",
                (
                    ("joins/on_the_unit.sql", "USING the unit"),
                    ("joins/on_the_unit.sql", "a private table kept by a left join"),
                    ("joins/more_kinds.sql", "FULL on the unit"),
                    ("joins/more_kinds.sql", "ANTI"),
                ),
            ),
            ("Along foreign keys:", (("joins/foreign_keys.sql", "one step along the chain"),)),
            (
                "By a column that tells the unit (`order_id = { tells_unit = true }` in the policy, or a "
                "table's key), if the other one does too or has its name: the join is made within the unit, "
                "and the note says so:",
                (
                    ("joins/ties.sql", "another refund of the same order"),
                    ("joins/ties.sql", "a value of the order"),
                ),
            ),
            (
                "With public tables:",
                (
                    ("joins/public_tables.sql", "on a public key"),
                    ("joins/public_tables.sql", "a range condition"),
                    ("joins/public_tables.sql", "private rows kept by a left join"),
                    ("joins/calendars.sql", "a series of moments, and a day"),
                ),
            ),
            (
                "Public rows are kept where they are the groups, and a row of NULLs changes no aggregate:",
                (("joins/public_side_kept.sql", "visits of every place"),),
            ),
        ),
    ),
    Chapter(
        "Rows",
        "WHERE takes any expression of the functions below. What it says of a column is known of "
        "it afterwards: `WHERE x BETWEEN 0 AND 10` gives SUM(x) a range.",
        (
            (
                "Conditions:",
                (
                    ("where/conditions.sql", "OR and NOT"),
                    ("where/conditions.sql", "LIKE with both wildcards"),
                    ("where/conditions.sql", "dates compared with literals"),
                ),
            ),
            (
                "Conditions that bound, a column or the same expression:",
                (
                    ("aggregates/sums.sql", "a column without a range, bounded by WHERE"),
                    ("bounds/conditions.sql", "of days between two columns"),
                    ("scalars/narrowed.sql", "a branch within its own condition"),
                    ("scalars/narrowed.sql", "a ratio away from zero"),
                ),
            ),
            (
                "Differences of values in a known order are never negative: of extremes, of a value and "
                "the one before it in a window sorted by it, of columns that a condition compares, or a "
                "`check` of the policy:",
                (
                    ("bounds/order.sql", "of days and moments, as they are and as numbers"),
                    ("bounds/order.sql", "from one row to the next"),
                    ("bounds/order.sql", "of columns that a condition compares"),
                    ("bounds/checks.sql", "of columns that a check compares"),
                ),
            ),
            (
                "Parts of JSON and of structs; lengths of texts, where the policy declares one:",
                (
                    ("scalars/json.sql", "a text of JSON as a key"),
                    ("scalars/json.sql", "a number of JSON, cast and clamped"),
                    ("scalars/json.sql", "a field of a struct"),
                    ("scalars/text_lengths.sql", "the length of a text with a declared length"),
                    ("scalars/text_lengths.sql", "the length of the first characters"),
                ),
            ),
        ),
    ),
    Chapter(
        "Subqueries",
        "A subquery among private rows is tied to the unit, or public, or a release of its own, "
        "which is made first and paid for as a part of the query.",
        (
            (
                "Tied to the unit:",
                (
                    ("subqueries/exists.sql", "those with a visit"),
                    ("subqueries/exists.sql", "those without"),
                    ("subqueries/membership.sql", "units with many rows"),
                    ("subqueries/values.sql", "a count per unit, 0 where there is nothing"),
                    ("subqueries/any_row.sql", "the rate of coming back"),
                ),
            ),
            (
                "Public:",
                (
                    ("subqueries/exists.sql", "public rows choose private ones"),
                    ("where/conditions.sql", "a list from a public table"),
                    ("subqueries/values.sql", "a public row tied to a private one"),
                ),
            ),
            (
                "Released first (what rests on it has no margin):",
                (
                    ("stages/stages.sql", "above the mean"),
                    ("stages/stages.sql", "a mean of the group, decorrelated"),
                    ("stages/stages.sql", "the busiest places, joined back"),
                ),
            ),
        ),
    ),
    Chapter(
        "Per-unit work",
        "GROUP BY the unit, and windows that are partitioned by it, are exact: each person's rows "
        "make that person's values, which are aggregated once more. Ties in an order are broken "
        "by all columns, in an aggregate by the value that it picks.",
        (
            (
                "Aggregates of each person:",
                (
                    ("per_unit/inner_aggregates.sql", "visits per patient"),
                    ("per_unit/inner_aggregates.sql", "a histogram of how often patients came"),
                    ("per_unit/inner_aggregates.sql", "HAVING inside, by unit"),
                ),
            ),
            (
                "One row of each person, and what most rows have:",
                (
                    ("per_unit/picked_rows.sql", "the kind of the dearest visit"),
                    ("per_unit/picked_rows.sql", "the first and the last value in an order"),
                    ("per_unit/picked_rows.sql", "any value of a column that the unit determines"),
                    ("per_unit/picked_rows.sql", "the kind that most visits have"),
                ),
            ),
            (
                "Windows, QUALIFY, DISTINCT ON:",
                (
                    ("per_unit/windows.sql", "the latest visit by QUALIFY"),
                    ("per_unit/windows.sql", "the change from the visit before"),
                    ("per_unit/windows.sql", "a frame of rows"),
                    ("per_unit/windows.sql", "DISTINCT ON the unit"),
                ),
            ),
        ),
    ),
    Chapter(
        "Groups",
        "A group appears because its key is public (a declared value, a boolean, a short range, a "
        "column of a public table, an expression over those, or the few parts that an expression "
        "cuts units into: `patient_id % 10`), or because enough units are in it (a noisy "
        "threshold, paid from delta). Public groups appear even if they are empty.",
        (
            (
                "Public keys:",
                (
                    ("group_by/public_keys.sql", "declared values"),
                    ("group_by/public_keys.sql", "two keys"),
                    ("keys/public_expressions.sql", "a month of a declared range"),
                    ("keys/public_expressions.sql", "a float cut to steps"),
                    ("keys/conditions_on_expressions.sql", "a list"),
                    ("keys/arms.sql", "by the beginning of a hash"),
                ),
            ),
            (
                "Private keys:",
                (
                    ("keys/private_keys.sql", "a text without declared values"),
                    ("keys/keys_only.sql", "distinct values of a private key"),
                    ("keys/other_group.sql", "the rest of the cities"),
                ),
            ),
            (
                "Subtotals:",
                (
                    ("group_by/grouping_sets.sql", "subtotals and a total"),
                    ("group_by/grouping_sets.sql", "chosen sets"),
                    ("group_by/grouping_sets.sql", "which keys are left out"),
                ),
            ),
            (
                "Groups are chosen and ordered by released numbers, free of charge:",
                (
                    ("having/having.sql", "a condition on a count"),
                    ("order_limit/order_limit.sql", "the three largest groups"),
                ),
            ),
            (
                "No rows at all, by LIMIT 0, WHERE FALSE or WHERE 1 = 0 at the end: names and types of "
                "columns, free of charge, as tools ask for them:",
                (
                    ("select/no_rows.sql", "the columns of a table"),
                    ("select/no_rows.sql", "the columns of a query"),
                ),
            ),
        ),
    ),
    Chapter(
        "Aggregates",
        "What one person adds is clipped as a whole, over all rows, groups and columns, before "
        "noise is added.",
        (
            (
                "Counts, sums, means, with FILTER. A SUM over no rows is 0 with noise, where DuckDB says "
                "NULL: that there are none is not told:",
                (
                    ("aggregates/counts.sql", "distinct units by group"),
                    ("aggregates/distinct_values.sql", "values of many rows by group"),
                    ("aggregates/sums.sql", "a sum clamped by the analyst"),
                    ("aggregates/filters.sql", "a sum and a mean with conditions"),
                    ("select/shapes.sql", "arithmetic between aggregates"),
                ),
            ),
            (
                "Conditions that overlap or exclude each other: a row pays for what it can be in together, "
                "and counts, or sums of one column, are measured as cells that share no row where their sums "
                "are more exact. The bins of HISTOGRAM and running totals over groups in order are such "
                "numbers too:",
                (
                    ("aggregates/overlaps.sql", "males, females, and those below an age of each"),
                    ("aggregates/overlaps.sql", "sums chosen by CASE, and their total"),
                    ("aggregates/histograms.sql", "ages in bins"),
                    ("group_by/running_totals.sql", "years of age, each with its number"),
                ),
            ),
            (
                "Spreads, correlations and lines; what is asked of the same argument, or of the same pair, "
                "has one price:",
                (
                    ("aggregates/moments.sql", "standard deviations by ward"),
                    ("aggregates/pairs.sql", "a correlation"),
                    ("aggregates/pairs.sql", "a line"),
                ),
            ),
            (
                "What predicts what: `DP_LINEAR` in FROM fits its first column to the others by least "
                "squares. Numbers, dates and timestamps need a range (these have coefficients for a day), "
                "texts a list of values (each but the first is a term), conditions are 1 or 0; a fit has up "
                "to 100 terms. Rows with NULL in any column are left out. `margin` is the noise "
                "of a coefficient, `std_error` the chance of who is in the data, and `low` to `high` "
                "holds both; where noise may be all that tells terms apart, the coefficients stand alone. "
                "A fit is three releases for one price: the last is of residuals, cut to a length that few "
                "rows exceed, so that its noise follows how well the terms predict and not the range of the "
                "first column; with `max_rows_contributed = auto` it is one. "
                "As with any clip, `margin`, `low` and `high` know "
                "nothing of rows that are cut: where few rows are far further off than all others (rare "
                "large claims, log-normal costs), intervals may not hold. "
                "`DP_COVARIANCE` gives the covariances of all pairs of columns. A coefficient is a number "
                "like others: what is computed from it has a margin ([design "
                "note](design/0030-a-model-is-sums-of-products.md)). `DP_LOGISTIC` predicts whether its "
                "first column is true (or 1): coefficients are log odds. It takes eight gradients, each at "
                "the weights that the one before gave (`OPTIONS(steps = 12)` in the query inside takes more, "
                "4 to 30), for one price; it needs Gaussian noise, so `pure` has none ([design "
                "note](design/0035-a-logistic-fit-is-a-chain-of-releases.md)):",
                (
                    ("from/models.sql", "a linear fit"),
                    ("from/models.sql", "a fit on conditions, listed texts and many rows a unit"),
                    ("from/models.sql", "a prediction from a fit"),
                    ("from/models.sql", "covariances"),
                    ("from/logistic.sql", "a logistic fit"),
                    ("from/logistic.sql", "a chance that a logistic fit predicts"),
                ),
            ),
            (
                "Medians and quantiles are chosen among the bins of a public grid over the range of their "
                "argument: each of up to 65,536 whole numbers, decimals or days, else 16,384 bins of the "
                "same width, or of the same ratio where the range is wide. All that is asked of one argument "
                "under one condition shares one search, and one price. A part of it tells how dense the "
                "rows lie, for margins; where they are too few, there is none. MIN and MAX are values with a "
                "few rows beyond them: 12 for ages of 121 years, 22 on the finest grids, times the rows of "
                "one person and divided by epsilon, or a third of all. The very last one is somebody's own. "
                "Where there are three times as many rows (beside quantiles: before the lowest and behind "
                "the highest of them), at most 5 % of these values are beyond all rows, however wide the "
                "range is; a least value that so many share is found.",
                (
                    ("aggregates/quantiles.sql", "a median by group"),
                    ("aggregates/quantiles.sql", "a list of quantiles"),
                    ("aggregates/quantiles.sql", "discrete quantiles in all their spellings"),
                    ("aggregates/extremes.sql", "the latest and the first day"),
                    ("aggregates/modes.sql", "the most frequent kind"),
                ),
            ),
            (
                "Ranges, and rows per person, that the policy leaves out are found privately, once for all "
                "queries (over [a policy](../../grammar_tests/finds.toml) that leaves some out):",
                (
                    ("bounds/found.sql", "a sum of a column without a range"),
                    ("bounds/found.sql", "rows per unit by group"),
                ),
            ),
            (
                "Anything else by sample and aggregate: `DP_SAMPLE(f(x), low, high)` divides the units "
                "among blocks (64 in each group, more at a low price: 67 / epsilon times the groups that one "
                "unit may be in), computes f of each block, clamps it to the bounds, and chooses the "
                "median among 4,096 values between them. f is avg, entropy, favg, kurtosis, kurtosis_pop, "
                "mad, median, mode, quantile_cont, quantile_disc, skewness, stddev, stddev_pop, var_pop or "
                "variance, of numbers. **It is biased where blocks are small**: f of fifty "
                "units is not f of all (a skewness is nearer to 0, a spread smaller), and no margin "
                "is shown. With fewer than about 1,300 units in a group ask "
                "for something else. Blocks without a value count as the middle of the bounds:",
                (
                    ("aggregates/samples.sql", "the skewness by sampling"),
                    ("aggregates/samples.sql", "a sample by what is one for each unit"),
                    ("aggregates/samples.sql", "a sample with two conditions"),
                ),
            ),
        ),
    ),
    Chapter(
        "Functions",
        "These may be applied to private rows. Each gives a value for every argument: what would "
        "fail in DuckDB (a division by zero, an overflow, a text that is no date) is NULL here. "
        "Work is capped: a text ends at 65,536 characters, a duration beyond 20,000 years is NULL, "
        "and so is the local time of a moment beyond the year 9999. "
        "Group keys of type TIMESTAMP_NS are told apart by microseconds. An ENUM has the order of its "
        "members above a release, where `typeof` says ENUM without them, and is a text in an answer. "
        "DuckDB's other names for them are read as well. The examples are over columns `i`, `j` "
        "INTEGER, `l` BIGINT, `x`, `y` DOUBLE, `b` BOOLEAN, `s`, `c` VARCHAR, `d` DATE, `ts` "
        "TIMESTAMP, `tz` TIMESTAMPTZ, `u` UUID, `e` ENUM.",
        (
            (
                "What is answered for `ts` is answered for `tz` too, on the clock of the policy's "
                "`timezone` (UTC if it names none), whatever zone a session has: `year(tz)`, `tz::DATE`, "
                "`date_trunc('day', tz)`, `tz + INTERVAL 1 DAY`. Its time of day and its text are those "
                "of the local time: `tz::TIMESTAMP::TIME`. A text beside a DATE, a TIMESTAMP or a "
                "TIMESTAMPTZ is read as one, on the same clock: `tz >= '2024-01-31'`, `ts < '2024-01-31 "
                "10:30'`. The time between two moments is an INTERVAL, which is compared with INTERVALs, "
                "or measured by `epoch(a - b)` and `date_diff`:",
                (
                    ("scalars/time_zones.sql", "days of a time with time zone"),
                    ("where/moments.sql", "longer than three days"),
                ),
            ),
        ),
    ),
    Chapter(
        "After the release",
        "Above an aggregate that dropped the unit, and over public tables, any SELECT of DuckDB: "
        "joins, windows, QUALIFY, set operations, GROUP BY, lists, LATERAL, recursion, PIVOT and "
        "UNPIVOT, with all functions whose result depends on their arguments alone. It is free.",
        (
            (
                "Over released groups:",
                (
                    ("post/outer_queries.sql", "a release joined with a public table"),
                    ("post/windows.sql", "the share of the whole"),
                    ("post/windows.sql", "QUALIFY over groups"),
                    ("post/outer_queries.sql", "a union of releases"),
                    ("post/clauses.sql", "one row for each value, the first in order"),
                ),
            ),
            (
                "The ends of a released number's 95 % interval, where it passes through unchanged:",
                (
                    ("post/intervals.sql", "the ends themselves"),
                    ("post/intervals.sql", "groups chosen by their lower end"),
                    ("post/intervals.sql", "of a column that a subquery passes through"),
                ),
            ),
            (
                "Posteriors of a share, a rate and a mean, from released counts and sums: structs of "
                "`mean`, `sd`, `low` and `high`, free, which know the law of the noise. `DP_BETA(yes, no, "
                "a, b)` has the prior Beta(a, b), (1, 1) if left out; `DP_GAMMA(events, exposure, a, b)` "
                "the prior of shape a and rate b, (1, 0), and exposures of at least 1; `DP_NORMAL(total, "
                "n, sd)` a flat one, of the mean of values with a known deviation. What adds and "
                "subtracts counts and sums of one row may stand for them. It is NULL where the law of "
                "their noise is not known: of a number twice, of a count near the threshold of its group, "
                "of sums of several numbers under Laplace noise ([design "
                "note](design/0036-a-posterior-knows-the-noise.md)):",
                (
                    ("post/posteriors.sql", "the share of smokers in each ward"),
                    ("post/posteriors.sql", "a rate of events in an exposure"),
                    ("post/posteriors.sql", "a posterior of columns that subqueries pass through"),
                ),
            ),
            (
                "Over public tables, exact and free:",
                (("public/exact.sql", "aggregates of every sort"), ("public/exact.sql", "a recursive query")),
            ),
            (
                "Public columns that the keys of a group determine, exact and free beside what is noised:",
                (
                    ("public/looked_up.sql", "the largest of a column that the key determines"),
                    ("public/looked_up.sql", "a private key that determines a place"),
                ),
            ),
        ),
    ),
    Chapter(
        "Statements and options",
        "SELECT, VALUES, PIVOT and FROM are answered; EXPLAIN tells what a query would release, "
        "at what price, and reads nothing. One statement at a time; values come as question "
        "marks.",
        (
            (
                "A query may say its price, or its accuracy, and where clipping starts:",
                (
                    ("options/clause.sql", "the price in the long form"),
                    ("options/within.sql", "every group of a count, in 99 of 100 cases"),
                    ("options/contributions.sql", "more rows than the policy guesses"),
                    ("options/spellings.sql", "clamped between bounds"),
                ),
            ),
        ),
    ),
)

REFUSED: tuple[Example, ...] = (
    ("refused/d104_statements.sql", "rows changed"),
    ("refused/d105_syntax.sql", "a column by its number"),
    ("refused/d201_tables.sql", "a table that the policy does not mention"),
    ("refused/d202_columns.sql", "a column that the policy does not mention"),
    ("refused/d203_ambiguous.sql", "the unit of two tables"),
    ("refused/d204_functions.sql", "a name with a slip"),
    ("refused/d205_types.sql", "a number plus a text"),
    ("refused/d251_unvetted_functions.sql", "chance"),
    ("refused/d252_clauses.sql", "the first rows inside"),
    ("refused/d252_clauses.sql", "a pivot without a list"),
    ("refused/d252_clauses.sql", "columns turned into rows"),
    ("refused/d252_clauses.sql", "the nearest row"),
    ("refused/d205_quantiles.sql", "beyond the last row"),
    ("refused/d205_quantiles.sql", "the greatest of texts"),
    ("refused/d253_aggregates.sql", "distinct pairs of values"),
    ("refused/d253_aggregates.sql", "a mean of distinct values by group"),
    ("refused/d253_samples.sql", "bounds the wrong way round"),
    ("refused/d253_samples.sql", "a sample of a count"),
    ("refused/d253_other_aggregates.sql", "a mean absolute deviation in one step"),
    ("refused/d254_windows.sql", "a place in the order of all"),
    ("refused/d255_subqueries.sql", "somebody with the same age"),
    ("refused/d255_subqueries.sql", "one NULL would empty everybody's list"),
    ("refused/d301_bounds.sql", "a ratio whose divisor may be zero"),
    ("refused/d302_rows_per_unit.sql", "a count of rows"),
    ("refused/d303_fan_out.sql", "a long range crossed in"),
    ("refused/d304_no_delta.sql", "a private key"),
    ("refused/d305_grid.sql", "sums of very different size under one clip"),
    ("refused/d401_joins.sql", "a self join on a group"),
    ("refused/d402_raw_rows.sql", "all columns"),
    ("refused/d402_raw_rows.sql", "a column that is no key"),
    ("refused/d402_raw_rows.sql", "a value of one row in HAVING"),
    ("refused/d403_unit_shown.sql", "the unit as a key"),
    ("refused/d403_unit_shown.sql", "the unit's quotient"),
    ("refused/d404_kept_rows.sql", "a public table kept, all rows counted"),
    ("refused/d405_public_rows_chosen.sql", "places somebody visits"),
    ("refused/d406_set_operations.sql", "private and public rows together"),
    ("refused/d407_private_views.sql", "a column without public values"),
    ("refused/d407_private_views.sql", "too many combinations"),
    ("refused/d407_private_views.sql", "an aggregate that leaves the counts out"),
    ("refused/d407_private_views.sql", "a private view beside private rows"),
    ("refused/d407_private_views.sql", "a private view with the name of a view"),
    ("refused/d412_alerts.sql", "an average"),
    ("refused/d412_alerts.sql", "more rows of a unit than the alert allows"),
    ("refused/d406_set_operations.sql", "the unit in different places"),
)
