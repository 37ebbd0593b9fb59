"""Released -> Answer: SQL over released and public tables, in a DuckDB that holds nothing else."""
