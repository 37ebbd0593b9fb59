"""What statements are for, settings, and refusals as fields."""

from __future__ import annotations

import pytest

from dpsql.dbapi import Connection
from dpsql.errors import CODES, Error, refuse
from dpsql.ir.source import Span
from dpsql.server import statements as s
from dpsql.server.catalogues import Names
from dpsql.server.dialect import Understood
from dpsql.server.notices import refused, state_of
from dpsql.server.settings import BadSetting, Settings


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("", s.Empty()),
        ("-- nothing", s.Empty()),
        ("begin isolation level serializable read only", s.Begin()),
        ("START TRANSACTION", s.Begin()),
        ("/* a */ COMMIT WORK", s.End(False)),
        ("END", s.End(False)),
        ("rollback", s.End(True)),
        ('ROLLBACK TO SAVEPOINT "A b"', s.Savepoint("ROLLBACK", "A b")),
        ("RELEASE x", s.Savepoint("RELEASE", "x")),
        ("SET x = 'it''s'", s.Assign("x", "it's")),
        ("SET SESSION DateStyle TO ISO, MDY", s.Assign("datestyle", "ISO, MDY")),
        ("SET LOCAL dpsql.epsilon = 0.2", s.Assign("dpsql.epsilon", "0.2", True)),
        ("set names 'utf8'", s.Assign("client_encoding", "utf8")),
        ("SET TIME ZONE LOCAL", s.Assign("timezone", None)),
        ("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", s.Done("SET")),
        ("RESET ALL", s.Assign("all", None, tag="RESET")),
        ("SHOW dpsql.budget", s.Show("dpsql.budget")),
        ("SHOW TRANSACTION ISOLATION LEVEL", s.Show("transaction_isolation")),
        ("DEALLOCATE PREPARE ALL", s.Discard("DEALLOCATE ALL", None)),
        ("DISCARD ALL", s.Discard("DISCARD ALL", None, True)),
        ('DECLARE "c" SCROLL CURSOR WITH HOLD FOR SELECT 1', s.Declare("c", s.Ask("SELECT 1", 40), True)),
        ("FETCH FORWARD 10 FROM c", s.Fetch("c", 10, False)),
        ("FETCH c", s.Fetch("c", 1, False)),
        ("FETCH ALL IN c", s.Fetch("c", None, False)),
        ("MOVE 2 c", s.Fetch("c", 2, True)),
        ("CLOSE ALL", s.CloseCursor(None)),
        ("COPY (SELECT ')' AS a) TO STDOUT", s.Copy(s.Ask("SELECT ')' AS a", 6))),
        (
            "COPY (FROM t) TO STDOUT CSV HEADER DELIMITER ';' NULL 'x'",
            s.Copy(s.Ask("FROM t", 6), "csv", True, ";", "x"),
        ),
        ("COPY (FROM t) TO STDOUT WITH (FORMAT binary)", s.Copy(s.Ask("FROM t", 6), "binary")),
        ("SELECT 'BEGIN'", s.Ask("SELECT 'BEGIN'")),
        ("SHOW TABLES", s.Ask("SHOW TABLES")),
        ("SETTLE", s.Ask("SETTLE")),
    ],
)
def test_what_a_statement_is_for(sql: str, expected: s.Statement) -> None:
    assert s.statement_of(sql) == expected


@pytest.mark.parametrize(
    "sql",
    [
        "COPY t TO STDOUT",
        "COPY (FROM t) TO '/etc/passwd'",
        "COPY t FROM STDIN",
        "FETCH BACKWARD 2 FROM c",
        "COMMIT PREPARED 'x'",
    ],
)
def test_what_is_known_and_not_supported(sql: str) -> None:
    assert isinstance(s.statement_of(sql), s.Unknown)


def test_a_text_is_split_where_no_quote_or_comment_is_open() -> None:
    text = " SELECT ';' ; -- a;b\n /* ; */ SELECT $$;$$;;\nSELECT 3"
    assert list(s.split(text)) == [("SELECT ';'", 1), ("SELECT $$;$$", 30), ("SELECT 3", 45)]
    assert all(text[start : start + len(part)] == part for part, start in s.split(text))


# ---- settings ------------------------------------------------------------------------------------------


@pytest.fixture
def settings() -> Settings:
    return Settings({"server_version": "15.0", "timezone": "UTC"}, 300.0)


def test_settings_are_kept_or_are_what_they_are(settings: Settings) -> None:
    assert settings.change("application_name", "psql") == ""
    assert settings.show("application_name") == "psql"
    assert settings.change("client_encoding", "utf-8") == ""
    assert settings.change("DateStyle".lower(), "ISO, DMY") == ""
    assert "stays it" in settings.change("timezone", "Asia/Tokyo")
    assert settings.change("timezone", "utc") == ""
    assert "changes nothing" in settings.change("a.b", "c")
    settings.reset()
    assert settings.show("a.b") is None
    for name, value in (("client_encoding", "latin1"), ("dpsql.epsilon", "inf"), ("dpsql.margins", "x")):
        with pytest.raises(BadSetting):
            settings.change(name, value)
    assert dict(settings.listed())["TimeZone"] == "UTC"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("500", 0.5), ("2s", 2.0), ("1 min", 60.0), ("0", 300.0), ("2h", 300.0), (None, 300.0)],
)
def test_no_statement_runs_longer_than_the_owner_says(
    settings: Settings, value: str | None, seconds: float
) -> None:
    settings.change("statement_timeout", value)
    assert settings.timeout == seconds


# ---- names ---------------------------------------------------------------------------------------------


def test_constants_are_whole_statements(db: Connection) -> None:
    names = Names("clinic", "ana", db)
    for sql, value in (("SELECT current_database()", "clinic"), ("select pg_catalog.version()", "Post")):
        assert names.asks(sql)
        assert str(names.answer(sql, ()).rows[0][0]).startswith(value)
    for sql in ("SELECT COUNT(*) FROM patients WHERE ward <> 'version()'", "SELECT version() FROM patients"):
        assert not names.asks(sql), sql
    assert names.types["patients"]["age"] == "INTEGER"


# ---- refusals ------------------------------------------------------------------------------------------


def test_every_code_has_a_state() -> None:
    states = {code: state_of(refuse(code, "x", help="y")) for code in CODES}
    assert all(len(state) == 5 for state in states.values())
    assert [code for code, state in states.items() if state == "XX000"] == ["D901"]


def test_a_refusal_points_at_the_text_or_shows_where_it_is() -> None:
    def error(text: str) -> Error:
        return refuse("D301", "a title", Span(7, 9), label="why", notes=("note",), help="help").within(
            text, "view"
        )

    here = refused(error("SELECT xy FROM t"), Understood("SELECT xy FROM t", ()), 10)
    assert (here["C"], here["M"], here["P"], here["H"]) == ("0A000", "[D301] a title", "18", "help")
    assert here["D"] == "why\nnote"
    elsewhere = refused(error("SELECT xy FROM t"), Understood("SELECT * FROM view", ()))
    assert elsewhere["P"] == ""
    assert "--> view:1:8" in elsewhere["D"]
    assert "SELECT xy FROM t" in elsewhere["D"]
