"""PostgreSQL's strings with escapes, and functions that DuckDB knows by another name.

    E'it\\'s'      'it''s'            E'a\\\\b'    'a\\b'
    btrim(x)      trim(x)            every(x)   bool_and(x)

Left alone: escapes other than \\\\ \\' \\n \\r \\t.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot.tokenizer_core import Token, TokenType

from dpsql.server.dialect.calls import calls_of, quoted
from dpsql.server.dialect.edits import Edit

_ESCAPES = {"\\\\": "\\", "\\'": "'", "''": "'", "\\n": "\n", "\\r": "\r", "\\t": "\t"}
_ESCAPED = re.compile(r"\\\\|\\'|''|\\n|\\r|\\t")
_RENAMED = {"btrim": "trim", "every": "bool_and"}


def plain_literals(tokens: Sequence[Token], sql: str) -> Iterator[Edit]:
    """Write E'...' as a plain string."""
    for token in tokens:
        if token.token_type is not TokenType.BYTE_STRING:
            continue
        written = sql[token.start : token.end + 1]
        if written[:2] in ("E'", "e'") and written[-1:] == "'":
            inner = written[2:-1]
            if "\\" not in _ESCAPED.sub("", inner):
                yield Edit(
                    token.start, token.end + 1, quoted(_ESCAPED.sub(lambda found: _ESCAPES[found[0]], inner))
                )


def renamed_functions(tokens: Sequence[Token]) -> Iterator[Edit]:
    """Call functions by DuckDB's names."""
    for call in calls_of(tokens, *_RENAMED):
        yield Edit(call.name.start, call.name.end + 1, _RENAMED[str(call.name.text).casefold()])
