"""Drawn layouts: the rows of one unit are read the same whatever other units' rows are.

    python grammar_tests/layouts --files 2000 --seed 7

Rows are drawn, and written twice in one physical layout, with one unit and without it. The engine opens
both as it opens any data, and is asked the same statements: what it says of everybody else's rows may not
differ, and a condition must choose the rows of which it is true.

    rows         columns whose values suit statistics: constants, blocks, NULLs; one unit with odd values
    statements   conditions, joins, groups over such columns, and what each says of a row
    parquet      files: writers, encodings, pages, dictionaries, statistics, bloom filters, splits
    databases    DuckDB files: compression, row groups, deletes, updates, checkpoints, the log
    lines        csv files: quotes, line breaks, lines that are none
    run          the two copies side by side
"""
