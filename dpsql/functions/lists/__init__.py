"""Functions of lists and maps that the query spells out."""
