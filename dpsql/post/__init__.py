"""Released -> Answer: SQL over noised and public tables in a DuckDB that holds nothing else."""
