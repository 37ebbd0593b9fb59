"""Text -> Query: parse and check one statement."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from dpsql.errors import Error, refuse
from dpsql.ir.column import Value
from dpsql.ir.options import Goal, Option
from dpsql.ir.source import Source, Span
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.accuracy_goal import goal_of
from dpsql.parse.alert_statements import (
    AlertStatement,
    CreateAlert,
    alert_statement,
    alert_text,
    take_alert_question,
)
from dpsql.parse.allow_list import MAX_DEPTH, MAX_TEXT, QUERIES, check_depth, check_size, check_tree
from dpsql.parse.backtracking import MOST, too_nested
from dpsql.parse.bigquery_aggregates import clamped, take_spellings
from dpsql.parse.explain_statement import check_explained, without_explain
from dpsql.parse.grammar import check_grammar
from dpsql.parse.histograms import take_histograms
from dpsql.parse.options_clause import agreed, attach_clauses, take_clauses
from dpsql.parse.other_spellings import take_other_spellings
from dpsql.parse.other_syntax import advice_at
from dpsql.parse.parameters import Moment, fill, number_marks
from dpsql.parse.samples import take_samples
from dpsql.parse.token_checks import check_brackets, check_called, check_json_paths, check_order, check_parts
from dpsql.parse.token_edits import token_edits
from dpsql.parse.view_statements import Create, ViewStatement, query_text, view_statement

logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # its warnings contain the text of the query

_TOO_DEEP = "write long chains of OR as IN (...), and split the query into CTEs"


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Query:
    """One checked statement: a SELECT, a set operation, or VALUES. Its tree contains no parameters.

    ``epsilon`` and ``delta`` are the price that its clauses set, ``goal`` is the accuracy, ``max_unnest`` how
    many items of a list count. The other options are attached to their SELECT. ``now`` reads the clock.
    ``anyway``: it is asked even if its answer would show nothing.
    ``explained``: the statement was an EXPLAIN, so the plan is described and nothing is run. A statement
    about a private view, ``view``, has the tree of the query that it is planned as; so has one about a
    private ``alert``, and a question that it answers.
    """

    source: Source
    tree: exp.Expr
    now: Moment
    epsilon: Option | None = None
    delta: Option | None = None
    goal: Goal | None = None
    max_unnest: Option | None = None
    explained: bool = False
    anyway: bool = False
    view: ViewStatement | None = None
    alert: AlertStatement | None = None


def parse(source: Source, parameters: Sequence[Value], now: Moment) -> Query:
    """Parse a text, or refuse it with D1xx."""
    try:
        return _parse(source, parameters, now)
    except Error as error:
        raise error.within(source.text, source.name) from None
    except RecursionError:
        raise refuse("D103", "the query is nested too deeply", help=_TOO_DEEP) from None


def _instead(word: str) -> str:
    """Return what to write instead of a statement that begins with this word."""
    if word in ("SHOW", "DESCRIBE", "DESC", "SUMMARIZE"):
        return "\\d in the shell, tables of a connection in Python, SELECT * FROM t LIMIT 0 anywhere"
    return "write a SELECT; dpsql never changes the data"


def _parse(source: Source, parameters: Sequence[Value], now: Moment) -> Query:
    text = source.text
    if len(text) > MAX_TEXT:
        raise refuse("D103", f"the text is longer than {MAX_TEXT:,} characters", help="split it")
    tokens = _tokens(text)
    explained = without_explain(text, tokens[0] if tokens else None)
    if explained is not None:
        text, tokens = explained, _tokens(explained)
        check_explained(tokens)
    alert: AlertStatement | None = None
    about_alert = alert_statement(text)
    statement = view_statement(text) if about_alert is None else None
    if about_alert is not None:
        alert, text = about_alert, alert_text(about_alert)
        tokens = _tokens(text)
    elif statement is not None:
        text = query_text(statement, text)
        tokens = _tokens(text)
    _check_parentheses(tokens)
    check_parts(tokens)
    check_order(tokens)
    check_brackets(tokens)
    check_called(tokens)
    check_json_paths(tokens)
    edited = token_edits(text, number_marks(tokens, parameters))
    edited, clauses = take_clauses(edited, parameters)
    edited, clamps = take_spellings(edited, parameters)

    try:
        statements = Dialect.get_or_raise("duckdb").parser().parse(edited.tokens, text)
    except ParseError as error:
        raise _unreadable(error, text) from None
    except RecursionError:
        raise
    except Exception:  # the parser may raise anything on an arbitrary text
        raise refuse("D101", "this SQL cannot be parsed", help="check the spelling") from None
    trees = [
        statement
        for statement in statements
        if statement is not None and not isinstance(statement, exp.Semicolon)
    ]
    if not trees:
        raise refuse("D101", "there is no statement here", help="write a SELECT")
    if len(trees) > 1:
        raise refuse(
            "D102",
            "one statement at a time",
            _second_statement(tokens),
            help="send the statements one by one",
        )
    tree = trees[0]
    if not isinstance(tree, QUERIES):
        raise refuse(
            "D104",
            "only queries are answered",
            Span(tokens[0].start, tokens[0].end + 1),
            label="this statement is not a query",
            help=_instead(tokens[0].text.upper()),
        )
    check_depth(tree)
    check_size(tree)
    attach_clauses(tree, edited.mark, clauses)
    marks = [
        Span(token.start, token.end + 1) for token in tokens if token.token_type is TokenType.PLACEHOLDER
    ]
    tree = clamped(fill(tree, parameters, marks, now), edited.mark, clamps)
    if alert is None:
        tree, alert = take_alert_question(tree, text, of_view=statement is not None)
    check_tree(take_other_spellings(take_histograms(take_samples(tree))), text)
    check_grammar(edited.plain)
    price = statement.epsilon if isinstance(statement, Create) else None
    price = alert.epsilon if isinstance(alert, CreateAlert) else price
    return Query(
        source,
        tree,
        now,
        agreed(clauses, "epsilon") or price,
        agreed(clauses, "delta"),
        goal_of(clauses),
        agreed(clauses, "max_unnest"),
        explained is not None,
        any(option.value for clause in clauses if (option := clause.get("anyway")) is not None),
        statement,
        alert,
    )


def _tokens(text: str) -> list[Token]:
    try:
        return list(Dialect.get_or_raise("duckdb").tokenize(text))
    except SqlglotError:
        raise refuse("D101", "this SQL cannot be parsed", help="is a quote or a comment left open?") from None


def _check_parentheses(tokens: list[Token]) -> None:
    depth = 0
    for token in tokens:
        if token.token_type is TokenType.L_PAREN:
            depth += 1
        elif token.token_type is TokenType.R_PAREN:
            depth -= 1
        if depth > MAX_DEPTH:
            span = Span(token.start, token.end + 1)
            raise refuse("D103", f"more than {MAX_DEPTH} open parentheses", span, help=_TOO_DEEP)
    nested = too_nested(tokens)
    if nested is not None:
        span = Span(nested.start, nested.end + 1)
        raise refuse("D103", f"more than {MOST} types are nested here", span, help=_TOO_DEEP)


def _second_statement(tokens: list[Token]) -> Span | None:
    for token, following in zip(tokens, tokens[1:], strict=False):
        if token.token_type is TokenType.SEMICOLON and following.token_type is not TokenType.SEMICOLON:
            return Span(following.start, following.end + 1)
    return None


def _unreadable(error: ParseError, text: str) -> Error:
    """Turn the first error of sqlglot into a refusal: its position, and its message without the excerpt."""
    first = error.errors[0] if error.errors else {}
    line, column = first.get("line") or 1, first.get("col") or 1
    lines = text.split("\n")
    end = sum(len(each) + 1 for each in lines[: line - 1]) + column
    width = len(first.get("highlight") or "x")
    span = Span(max(0, min(end, len(text)) - width), min(end, len(text)))
    complaint = (first.get("description") or "it does not parse").partition(" but got <")[0]
    complaint = complaint.partition(" for <")[0].rstrip(".")
    label = complaint[:1].lower() + complaint[1:]
    return refuse("D101", "this SQL cannot be parsed", span, label=label, help=advice_at(text, span))
