"""SQLAlchemy's expressions as DuckDB's SQL, where it differs from the standard.

column // 10             age // 10                        keeps its list of groups
column.ilike("m%")       ward ILIKE ?
column.icontains("x")    ward ILIKE '%' || ? || '%'       a pattern is a constant: no lower(...)
column.regexp_match(x)   regexp_matches(ward, ?)
cast(column, Float)      CAST(age AS DOUBLE)
select(...).offset(5)    OFFSET ?
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.sql.compiler import GenericTypeCompiler, IdentifierPreparer, SQLCompiler
from sqlalchemy.types import STRINGTYPE

RESERVED = set(
    """
    all analyse analyze and anti any array as asc asof asymmetric at authorization between bigint binary bit
    boolean both by case cast char character check coalesce collate collation column columns concurrently
    constraint create cross dec decimal default deferrable desc describe distinct do else end except exists
    extract false fetch float for foreign freeze from full generated glob grant group grouping grouping_id
    having ilike in initially inner inout int integer intersect interval into is isnull join lambda lateral
    leading left like limit map national natural nchar none not notnull null nullif numeric offset on only or
    order out outer overlaps overlay pivot pivot_longer pivot_wider placing position positional precision
    primary qualify real references returning right row select semi setof show similar smallint some struct
    substring summarize symmetric table tablesample then time timestamp to trailing treat trim true try_cast
    tuple union unique unpack unpivot using values varchar variadic verbose when where window with
    """.split()
)
"""DuckDB's keywords: names that must be quoted."""


class Preparer(IdentifierPreparer):
    """Names, in double quotes where needed."""

    reserved_words = RESERVED


class TypeCompiler(GenericTypeCompiler):
    """Types in CAST; a Float is a double, as in Python."""

    def visit_float(self, type_: Any, **kw: Any) -> str:
        return "DOUBLE"

    def visit_datetime(self, type_: Any, **kw: Any) -> str:
        return self.visit_TIMESTAMP(type_, **kw)

    def visit_TIMESTAMP(self, type_: Any, **kw: Any) -> str:
        return "TIMESTAMP WITH TIME ZONE" if type_.timezone else "TIMESTAMP"

    def visit_INTERVAL(self, type_: Any, **kw: Any) -> str:
        return "INTERVAL"

    def visit_enum(self, type_: Any, **kw: Any) -> str:
        return "VARCHAR"


class Compiler(SQLCompiler):
    """Statements. Nothing is refused here: executing the query refuses it better, with a caret."""

    def visit_floordiv_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return f"{self.process(binary.left, **kw)} // {self.process(binary.right, **kw)}"

    def visit_ilike_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._ilike("ILIKE", binary, **kw)

    def visit_not_ilike_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._ilike("NOT ILIKE", binary, **kw)

    def _ilike(self, word: str, binary: Any, **kw: Any) -> str:
        text = f"{self.process(binary.left, **kw)} {word} {self.process(binary.right, **kw)}"
        escape = binary.modifiers.get("escape")
        return text if escape is None else f"{text} ESCAPE {self.render_literal_value(escape, STRINGTYPE)}"

    def visit_ilike_case_insensitive_operand(self, element: Any, **kw: Any) -> str:
        return str(self.process(element.element, **kw))

    def visit_regexp_match_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._function_call("regexp_matches", binary, **kw)

    def visit_not_regexp_match_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return f"NOT {self._function_call('regexp_matches', binary, **kw)}"

    def visit_regexp_replace_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._function_call("regexp_replace", binary, **kw)

    def _function_call(self, function: str, binary: Any, **kw: Any) -> str:
        arguments = [self.process(binary.left, **kw), self.process(binary.right, **kw)]
        if flags := binary.modifiers.get("flags"):
            arguments.append(self.render_literal_value(flags, STRINGTYPE))
        return f"{function}({', '.join(arguments)})"

    def visit_try_cast(self, cast: Any, **kw: Any) -> str:
        return f"TRY_CAST({self.process(cast.clause, **kw)} AS {self.process(cast.typeclause, **kw)})"

    def visit_aggregate_strings_func(self, fn: Any, **kw: Any) -> str:
        return f"string_agg{self.function_argspec(fn, **kw)}"

    def limit_clause(self, select: Any, **kw: Any) -> str:
        text = ""
        if select._limit_clause is not None:
            text += f"\n LIMIT {self.process(select._limit_clause, **kw)}"
        if select._offset_clause is not None:
            text += f"\n OFFSET {self.process(select._offset_clause, **kw)}"
        return text
