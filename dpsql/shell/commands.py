"""The analyst's commands: query, explain, budget."""

from __future__ import annotations

import json
import os
import re
import sys
import textwrap
import threading
from argparse import Namespace
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from dpsql.dbapi import Connection, Purchase, connect
from dpsql.errors import InterfaceError
from dpsql.ir.column import Value
from dpsql.ir.explanation import Explanation
from dpsql.ir.table import Answer
from dpsql.shell import export
from dpsql.shell.render import above, answer_text, below, box, summary, wide
from dpsql.shell.terminal import printable, put, tell, width

T = TypeVar("T")


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


def answered(
    db: Connection, sql: str, values: tuple[Value, ...] = (), epsilon: float | None = None
) -> Answer:
    """The answer to one query."""
    return beside(db, lambda: db.execute(sql, values, epsilon=epsilon))


def beside(db: Connection, step: Callable[[], T]) -> T:
    """What a step gives, worked out beside us: an engine at work does not listen to signals, and we do."""
    outcome: list[T | BaseException] = []
    done = threading.Event()

    def work() -> None:
        try:
            outcome.append(step())
        except BaseException as error:
            outcome.append(error)
        finally:
            done.set()

    threading.Thread(target=work, daemon=True).start()
    try:
        done.wait()
    except KeyboardInterrupt:
        while not done.wait(0.05):  # again and again: it may be on its way from one engine to the other
            db.interrupt()
        raise
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


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
        return export.to_json(answer).encode("utf-8")
    told = export.with_margins(answer) if options.margins else answer
    return export.to_parquet(told) if options.format == "parquet" else export.to_csv(told).encode("utf-8")


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


def wrapped(explanation: Explanation, columns: int, sql: bool = True) -> str:
    """An explanation whose sentences fit the terminal; SQL stays on its line, or is left out."""
    stages: list[dict[str, Any]] = explanation.to_dict()["stages"]
    texts = {stage["post"] for stage in stages} | {
        each["sql"] for stage in stages for each in stage["measures"]
    }
    lines: list[str] = []
    for line in str(explanation).split("\n"):
        if line.strip() in texts:
            lines += [line] if sql else []
        elif sql or not (line.strip() == "sql" or line.startswith("post ")):
            lines.append(
                textwrap.fill(printable(line), columns, subsequent_indent=" " * 14, break_on_hyphens=False)
            )
    return "\n".join(lines)


def budget_text(db: Connection, columns: int) -> str:
    """The accounts in a box, and what they were spent on in another."""
    balance = db.budget
    rows = [("database", balance.granted, balance.spent)]
    rows += [
        (each.analyst, each.granted, each.spent) for each in balance.accounts if _shown(db, each.analyst)
    ]
    cells = [
        (printable(name), f"{granted:g}", above(spent), below(max(0.0, granted - spent)))
        for name, granted, spent in rows
    ]
    lines = [
        f"epsilon, under {balance.accountant} at delta {balance.delta:g}",
        box(("account", "granted", "spent", "remaining"), cells, (False, True, True, True)),
    ]
    purchases = [
        (each.time[:19].replace("T", " "), each.analyst or "(owner)", f"{each.epsilon:g}", _said(each))
        for each in db.purchases
    ]
    if purchases:
        names = ("time (UTC)", "who", "paid", "for")
        taken = sum(max(map(wide, column)) for column in list(zip(names, *purchases, strict=True))[:3])
        cells = [(*each[:3], _cut(each[3], max(20, columns - taken - 13))) for each in purchases]
        lines.append(box(names, cells, (False, False, True, False)))
    return "\n".join(lines)


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 3].rstrip() + "..."


def _said(each: Purchase) -> str:
    said = " ".join(each.sql.split())
    if each.shared:
        return f"(joined) {said}"
    return said if each.answered else f"(unanswered) {said}"


def budget_json(db: Connection) -> str:
    balance = db.budget
    accounts = [
        {"analyst": each.analyst, "granted": each.granted, "spent": each.spent, "remaining": each.remaining}
        for each in balance.accounts
        if _shown(db, each.analyst)
    ]
    found = {
        "granted": balance.granted,
        "spent": balance.spent,
        "remaining": balance.remaining,
        "accountant": balance.accountant,
        "delta": balance.delta,
        "analysts": accounts,
        "purchases": [asdict(each) for each in db.purchases],
    }
    return json.dumps(found, indent=2, ensure_ascii=False)


def _shown(db: Connection, analyst: str) -> bool:
    return db.analyst in (None, analyst)
