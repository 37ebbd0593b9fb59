"""Text -> Query: parse one statement, check it by allow-lists, and extract the clauses of dpsql."""
