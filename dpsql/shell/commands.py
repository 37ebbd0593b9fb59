"""The analyst's commands: query, explain, budget."""

from __future__ import annotations

import json
import os
import re
import sys
from argparse import Namespace
from pathlib import Path

from dpsql.answer import Answer
from dpsql.answer.box import answer_text, summary
from dpsql.answer.files import to_csv, to_json, to_parquet, with_margins
from dpsql.dbapi import Connection, connect
from dpsql.errors import InterfaceError
from dpsql.ir.column import Value
from dpsql.screen.accounts import budget_json, budget_text
from dpsql.screen.explanation import wrapped
from dpsql.screen.terminal import put, tell, width
from dpsql.screen.waiting import beside
from dpsql.screen.why import why as entry_of


def query(options: Namespace) -> int:
    """Answer one query."""
    if options.format == "parquet" and options.output is None:
        options.usage("--format parquet needs -o FILE")
    sql = sql_of(options)
    check_output(options.output)
    with opened(options) as db:
        answer = answered(db, sql, values_of(options.param), options.epsilon)
    if options.output is None:
        _print(answer, options)
    else:
        write(_content(answer, options), options.output)
        tell(summary(answer))
    return 0


def explain(options: Namespace) -> int:
    """What a query would release."""
    sql = sql_of(options)
    with opened(options) as db:
        explanation = db.explain(sql, values_of(options.param), epsilon=options.epsilon)
    if options.format == "json":
        put(json.dumps(explanation.to_dict(), indent=2, ensure_ascii=False, default=str))
    else:
        put(wrapped(explanation, width()))
    return 0


def budget(options: Namespace) -> int:
    """What was granted and spent, by whom, on what."""
    with opened(options) as db:
        put(budget_json(db) if options.format == "json" else budget_text(db, width()))
    return 0


def why(options: Namespace) -> int:
    """What a refusal's code means."""
    code = re.sub(r"^error\[(\w+)\].*", r"\1", options.code)
    entry = entry_of(code)
    if entry is None:
        raise InterfaceError(f"there is no code {code}", help="give one as it stands in a message: D301")
    put(entry)
    return 0


def answered(
    db: Connection, sql: str, values: tuple[Value, ...] = (), epsilon: float | None = None
) -> Answer:
    """The answer to one query."""
    return beside(db, lambda: db.execute(sql, values, epsilon=epsilon))


# ---- what goes in ------------------------------------------------------------------------------------


def opened(options: Namespace) -> Connection:
    db = connect(options.database, options.policy, options.ledger, options.analyst)
    if db.ledger_created:
        tell(f"created the ledger {db.ledger_path}: it keeps what was spent and every answer, so keep it")
    return db


def sql_of(options: Namespace) -> str:
    text: str | None = options.command
    try:
        if text is None and (sys.stdin is None or sys.stdin.isatty()):
            options.usage("give a query with -c, or on standard input")
        if text is None or text == "-":
            text = sys.stdin.buffer.read().decode("utf-8")
        text.encode("utf-8")
    except UnicodeError:
        raise InterfaceError("the query is not text in UTF-8") from None
    return text


def values_of(texts: list[str]) -> tuple[Value, ...]:
    return tuple(map(_value, texts))


def _value(text: str) -> Value:
    """A parameter as it would be read in SQL, but that text needs no quotes."""
    folded = text.strip().casefold()
    if folded in ("true", "false", "null"):
        return {"true": True, "false": False, "null": None}[folded]
    if re.fullmatch(r"[+-]?\d{1,38}", folded, re.ASCII):
        return int(folded)
    if re.fullmatch(r"[+-]?(\d+\.\d*|\.?\d+)(e[+-]?\d+)?", folded, re.ASCII):
        return float(folded)
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return text


# ---- what comes out ----------------------------------------------------------------------------------


def _print(answer: Answer, options: Namespace) -> None:
    if options.format == "table":
        put(answer_text(answer))
        return
    put(_content(answer, options).decode("utf-8").removesuffix("\n"))
    tell(summary(answer))


def _content(answer: Answer, options: Namespace) -> bytes:
    if options.format == "table":
        return (answer_text(answer) + "\n").encode("utf-8")
    if options.format == "json":
        return to_json(answer).encode("utf-8")
    told = with_margins(answer) if options.margins else answer
    return to_parquet(told) if options.format == "parquet" else to_csv(told).encode("utf-8")


def check_output(file: Path | None) -> None:
    """Before anything is paid: a file that cannot be written is no place for an answer."""
    if file is None:
        return
    folder = file.parent
    if file.is_dir() or not folder.is_dir() or not os.access(file if file.exists() else folder, os.W_OK):
        raise InterfaceError(f"{file} cannot be written", help="name a file in a folder of yours")


def write(content: bytes, file: Path) -> None:
    try:
        file.write_bytes(content)
    except OSError as error:
        raise InterfaceError(
            f"{file} could not be written: {error.strerror}",
            help="nothing is lost: asked again, the same query is served from the ledger, free",
        ) from None
