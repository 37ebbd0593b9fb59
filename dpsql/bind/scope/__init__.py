"""Names in scope: visible columns, FROM items, facts of public rows, and the context of one binding."""
