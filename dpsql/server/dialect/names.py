"""Names with the database and the schema before them: "clinic"."main"."t", public.t, "public"."t"."age".

PostgreSQL's schema public is DuckDB's main, which dpsql's names leave out. The words are replaced by spaces,
so that every place stays where it is.

Left alone: public where the policy has a schema of this name, and a name that stands anywhere without a dot
behind it: it may then be an alias, a table or a column. Another database stays, and is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from sqlglot.tokenizer_core import Token, TokenType

from dpsql.server.dialect.edits import Edit

_NOT_NAMES = (TokenType.STRING, TokenType.NUMBER, TokenType.DOT)


def without_schemas(tokens: Sequence[Token], database: str, schemas: Collection[str]) -> Iterator[Edit]:
    """Blank the database and the schema of names."""
    known = {schema.casefold() for schema in schemas}
    public = {"main", "public"} - known
    alone = {
        token.text.casefold()
        for token, behind in zip(tokens, [*tokens[1:], None], strict=True)
        if token.token_type not in _NOT_NAMES and (behind is None or behind.token_type is not TokenType.DOT)
    }
    at = 0
    while at < len(tokens):
        chain = _chain(tokens, at)
        names = [token.text.casefold() for token in chain]
        dropped = 0
        if len(names) >= 3 and names[0] == database.casefold() and names[0] not in alone:
            dropped = 2 if names[1] in public - alone else 1 if names[1] in known else 0
        elif len(names) >= 2 and names[0] in public - alone:
            dropped = 1
        if dropped:
            start, end = chain[0].start, chain[dropped].start
            yield Edit(start, end, " " * (end - start))
        at += max(1, 2 * len(chain) - 1)


def _chain(tokens: Sequence[Token], at: int) -> list[Token]:
    """Return the names of a.b.c that begins here; [] if none does."""
    if tokens[at].token_type in _NOT_NAMES:
        return []
    chain = [tokens[at]]
    while at + 2 < len(tokens) and tokens[at + 1].token_type is TokenType.DOT:
        at += 2
        chain.append(tokens[at])
    return chain
