"""Text -> Query: one statement, allowed by lists, with our own clauses taken out of it."""
