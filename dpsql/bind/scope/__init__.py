"""Names in scope: visible columns, FROM items, public rows as facts, and what one binding carries along."""
