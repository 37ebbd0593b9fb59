-- D101: grouping sets that are written in no way that DuckDB reads.

-- case: subtotals as another database writes them
-- outcome: refused D101 at 1:51
-- instead: SELECT ward, COUNT(*) FROM patients GROUP BY ROLLUP (ward)
SELECT ward, COUNT(*) FROM patients GROUP BY ward WITH ROLLUP;
