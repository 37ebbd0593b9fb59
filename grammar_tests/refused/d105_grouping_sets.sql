-- D105: grouping sets that are written in no way that DuckDB reads.

-- case: subtotals as another database writes them
-- outcome: refused D105 at 1:46
SELECT ward, COUNT(*) FROM patients GROUP BY ward WITH ROLLUP;
