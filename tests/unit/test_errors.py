"""Every refusal is coded, points at its place, says what to do instead, and shows no data."""

from __future__ import annotations

import copy
import pickle
import re
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest
from drivers.endless import ENDLESS

import dpsql
from dpsql import accounting, audit
from dpsql.accounting.entries import Overdrawn
from dpsql.accounting.units import Units
from dpsql.accounting.zcdp import Zcdp
from dpsql.batch.atomic_files import alone
from dpsql.cli import main
from dpsql.dbapi.guard import guarded
from dpsql.engines.postgres.dialect import refused
from dpsql.errors import CODES, Error, class_of, refuse
from dpsql.ir.event import AlertEvent, Event
from dpsql.parse.scripts import statements

COUNT = "SELECT COUNT(*) FROM patients"
CREATE = "CREATE PRIVATE ALERT many WITH (above = 100)"
FIXTURES = Path(__file__).parents[2] / "grammar_tests" / "refused"

Trigger = Callable[[Path], Any]


def ask(sql: str, epsilon: float | None = None, **given: Any) -> Trigger:
    """Open the clinic and ask; D1xx to D4xx are raised by fixtures in SQL, the others here."""

    def trigger(clinic: Path) -> None:
        with dpsql.connect(clinic, **given) as db:
            db.execute(sql, epsilon=epsilon)

    return trigger


def with_policy(before: str, after: str, sql: str = COUNT) -> Trigger:
    """The same under another policy."""

    def trigger(clinic: Path) -> None:
        policy = clinic.with_suffix(".toml")
        text = policy.read_text()
        assert before in text
        policy.write_text(text.replace(before, after, 1))
        ask(sql)(clinic)

    return trigger


def another_delta(clinic: Path) -> None:
    dpsql.connect(clinic).close()
    with_policy("1e-6", "1e-7")(clinic)


def older_ledger(clinic: Path) -> None:
    policy, ledger = clinic.with_suffix(".toml"), clinic.with_suffix(".ledger")
    policy.write_text(policy.read_text() + '[ledger]\nwitness = "clinic.witness"\n')
    dpsql.connect(clinic).close()
    before = ledger.read_bytes()
    ask(COUNT)(clinic)
    ledger.write_bytes(before)
    ask(COUNT)(clinic)


def damaged_ledger(clinic: Path) -> None:
    dpsql.connect(clinic).close()
    ledger = clinic.with_suffix(".ledger")
    ledger.write_bytes(ledger.read_bytes().replace(b"patients.patient_id", b"patients.patient_ie"))
    ask(COUNT)(clinic)


def open_ledger(clinic: Path) -> None:
    dpsql.connect(clinic).close()
    clinic.with_suffix(".ledger").chmod(0o666)
    ask(COUNT)(clinic)


def closed_connection(clinic: Path) -> None:
    db = dpsql.connect(clinic)
    db.close()
    db.execute(COUNT)


def audit_by_an_analyst(clinic: Path) -> None:
    with dpsql.connect(clinic, analyst="ana") as db:
        audit.measure(db, COUNT)


def broken_pipeline(clinic: Path) -> None:
    with dpsql.connect(clinic) as db, pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpsql.releasing.release", secret)
        db.execute(COUNT)


def time_limit(clinic: Path) -> None:
    with dpsql.connect(clinic) as db:
        db.timeout = 0.2
        db.execute(ENDLESS)


def secret(*given: object) -> None:
    raise ValueError("secret 42")


def no_room(clinic: Path) -> None:
    policy = clinic.with_suffix(".toml")
    policy.write_text(policy.read_text().replace("[analysts.bob]", "[analysts.bob]\nmegabytes = 0.0001"))
    ask(COUNT, analyst="bob")(clinic)
    ask(COUNT.replace("patients", "visits"), analyst="bob")(clinic)


def another_range(clinic: Path) -> None:
    ask("CREATE PRIVATE VIEW ages WITH (ranges = age) AS SELECT age FROM patients")(clinic)
    with_policy("age = { range = [0, 120] }", "age = { range = [0, 100] }", "SELECT SUM(n) FROM ages")(clinic)


CHECKED = '[unit]\nblocks = { column = "ward", values = ["A"], check = true }'


def file_of_units_is_gone(clinic: Path) -> None:
    with_policy("[unit]", CHECKED)(clinic)
    clinic.with_suffix(".ledger-units").unlink()
    ask(COUNT)(clinic)


def unit_in_another_block(clinic: Path) -> None:
    with_policy("[unit]", CHECKED)(clinic)
    with duckdb.connect(str(clinic)) as connection:
        connection.execute("UPDATE patients SET ward = 'C' WHERE ward = 'A'")
    ask(COUNT)(clinic)


def alert_that_has_ended(clinic: Path) -> None:
    ask("CREATE PRIVATE ALERT many WITH (above = -1e6)")(clinic)
    ask("SELECT DP_ABOVE('many', COUNT(*)) FROM patients")(clinic)
    ask("SELECT DP_ABOVE('many', COUNT(*)) FROM visits")(clinic)


def alert_without_a_price(clinic: Path) -> None:
    """Under an accountant that was written before there were alerts."""

    class Older(Zcdp):
        name = "older"

        def _charge(self, event: Event) -> Units:
            if isinstance(event, AlertEvent):
                raise TypeError("older knows no AlertEvent")
            return super()._charge(event)

    accounting._shelf()["older"] = Older()
    try:
        with_policy('accountant = "zcdp"', 'accountant = "older"', CREATE)(clinic)
    finally:
        del accounting._shelf()["older"]


def nothing_to_show(clinic: Path) -> None:
    policy = clinic.with_suffix(".toml")
    policy.write_text(policy.read_text().replace("[unit]", "[unit]\nabout = 10"))
    ask("SELECT cost, COUNT(*) FROM visits GROUP BY cost")(clinic)


def two_runs_in_one_folder(clinic: Path) -> None:
    with alone(clinic.parent), alone(clinic.parent):
        pass


def refuse_on_postgres(what: str) -> None:
    """What needs a server otherwise: tests/privacy/test_postgres.py."""
    raise refused(what)


TRIGGERS: dict[str, Trigger] = {
    "D001": closed_connection,
    "D107": lambda clinic: statements("-- name: a/b\nSELECT 1"),
    "D501": ask(COUNT, 3.0, analyst="bob"),
    "D502": ask(COUNT, 20.5),
    "D503": ask(COUNT, -1.0),
    "D504": ask(COUNT, analyst="eve"),
    "D505": another_delta,
    "D506": damaged_ledger,
    "D507": open_ledger,
    "D508": audit_by_an_analyst,
    "D509": two_runs_in_one_folder,
    "D510": no_room,
    "D511": nothing_to_show,
    "D512": older_ledger,
    "D513": another_range,
    "D514": file_of_units_is_gone,
    "D515": alert_that_has_ended,
    "D516": alert_without_a_price,
    "D601": ask("SELECT CAST(CASE COUNT(*) WHEN 1 THEN '1' ELSE 'x' END AS INTEGER) FROM patients"),
    "D602": lambda clinic: ask(COUNT)(clinic.with_name("none.duckdb")),
    "D603": time_limit,
    "D604": ask("SELECT repeat('x', COUNT(*)::BIGINT * 0 + 4000000000) FROM patients"),
    "D605": lambda clinic: refuse_on_postgres("a window"),
    "D801": with_policy("[query]", "[query"),
    "D802": with_policy("max_epsilon", "maximal_epsilon"),
    "D803": with_policy("epsilon = 100.0", "epsilon = nan"),
    "D804": with_policy("age = {", "agee = {"),
    "D805": with_policy("[tables.drugs]", '[tables.drugs]\nkey = "dose"'),
    "D806": with_policy('"patient_id" }', '"kind" }'),
    "D807": lambda clinic: ask(COUNT, policy=clinic.with_name("none.toml"))(clinic),
    "D808": with_policy(
        "[tables.drugs]", '[views.few]\nsql = "SELECT nothing FROM patients"\n[tables.drugs]'
    ),
    "D809": unit_in_another_block,
    "D901": broken_pipeline,
}


def caught_by(trigger: Trigger, clinic: Path) -> dpsql.Error:
    with pytest.raises(dpsql.Error) as caught:
        trigger(clinic)
    return caught.value


# ---- codes -------------------------------------------------------------------------------------------


def test_every_code_is_raised_somewhere() -> None:
    """By a fixture in SQL, or by one of the triggers above."""
    texts = [file.read_text(encoding="utf-8") for file in FIXTURES.glob("*.sql")]
    refused = {code for text in texts for code in re.findall(r"^-- outcome: refused (D\d{3})", text, re.M)}
    assert refused | TRIGGERS.keys() == CODES.keys()
    assert refused & TRIGGERS.keys() == {"D502", "D503"}  # prices of a query, and of a call


@pytest.mark.parametrize("code", TRIGGERS)
def test_raised(code: str, clinic: Path) -> None:
    error = caught_by(TRIGGERS[code], clinic)
    assert error.code == code, str(error)
    assert isinstance(error, dpsql.InterfaceError if code == "D001" else class_of(code))
    assert str(error).startswith(f"error[{code}]: {error.title}\n")
    assert error.help
    assert str(error).endswith(f"  = help: {error.help}")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.position) == (type(error), str(error), error.position)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("D101", dpsql.ProgrammingError),
        ("D205", dpsql.ProgrammingError),
        ("D251", dpsql.NotSupportedError),
        ("D301", dpsql.NotSupportedError),
        ("D402", dpsql.NotSupportedError),
        ("D501", dpsql.OperationalError),
        ("D602", dpsql.OperationalError),
        ("D801", dpsql.ProgrammingError),
        ("D901", dpsql.InternalError),
    ],
)
def test_the_class_of_a_code(code: str, kind: type[dpsql.Error]) -> None:
    assert class_of(code) is kind
    assert type(refuse(code, "no", help="yes")) is kind


def test_a_code_that_is_not_listed_cannot_be_raised() -> None:
    with pytest.raises(AssertionError, match="D999"):
        refuse("D999", "no", help="none")


@pytest.mark.parametrize("code", ["D801", "D802", "D803", "D804", "D805", "D806", "D808", "D809"])
def test_errors_of_the_policy_have_their_line(code: str, clinic: Path) -> None:
    error = caught_by(TRIGGERS[code], clinic)
    assert error.position is not None
    line, column = error.position
    assert f" --> clinic.toml:{line}:{column}\n" in str(error)
    shown = clinic.with_suffix(".toml").read_text().split("\n")[line - 1]
    assert f"{line} | {shown}\n" in str(error)
    assert underlined(error) or code == "D801"  # what is not TOML may end too early


# ---- carets ------------------------------------------------------------------------------------------


def underlined(error: Error) -> str:
    """The characters of the excerpt that stand above the carets."""
    lines = str(error).split("\n")
    place = next(i for i, line in enumerate(lines) if re.match(r" *\| *\^", line))
    start, end = lines[place].index("^"), lines[place].rindex("^") + 1
    assert "^" * (end - start) == lines[place][start:end]
    return lines[place - 1][start:end]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM nonesuch",
        "SELECT COUNT(*) FROM patients WHERE nonesuch > 1",
        "SELECT\n  COUNT(*)\nFROM patients\n\nWHERE age > 1 AND\n  nonesuch > 1",
        "SELECT\r\n  COUNT(*)\r\nFROM patients\r\nWHERE nonesuch > 1",
        "\t\tSELECT\tCOUNT(*)\tFROM\tpatients WHERE\t\tnonesuch > 1",
        "SELECT COUNT(*) FROM patients WHERE city = 'æøå' AND nonesuch > 1",
        "SELECT COUNT(*) FROM patients WHERE city = '🙂🙂' AND nonesuch > 1",
        "SELECT COUNT(*) /* ÿ\n é */ FROM patients WHERE city = 'e\u0301' AND nonesuch > 1",
        "-- 漢\nSELECT COUNT(*) FROM patients WHERE city <> '漢字' AND nonesuch = 1",
        "SELECT COUNT(*) FROM patients WHERE " + "age > 1 AND " * 30 + "nonesuch > 1",
        "SELECT COUNT(*) FROM patients WHERE nonesuch > 1" + " AND age > 1" * 30,
        "SELECT COUNT(*) FROM patients WHERE " + "age > 1 AND " * 30 + "nonesuch > 1" + " AND age > 1" * 30,
        "SELECT COUNT(*) FROM patients WHERE age > 1 AND nonesuch",
    ],
)
def test_carets_stand_under_the_words_they_mean(sql: str, db: dpsql.Connection) -> None:
    """Tabs, other alphabets, long lines and several lines: the same words, and the right line and column."""
    for place in (db.execute, db.explain):
        with pytest.raises(dpsql.ProgrammingError) as caught:
            place(sql)
        error = caught.value
        assert error.code in ("D201", "D202"), str(error)
        assert underlined(error) == "nonesuch"
        before = sql[: sql.index("nonesuch")]
        assert error.position == (before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)
        assert max(len(line) for line in str(error).split("\n") if line.startswith(" ")) < 400


@pytest.mark.parametrize(
    ("sql", "code", "words"),
    [
        ("SELECT SUM(ln(score)) FROM patients", "D301", "ln(score)"),
        ("SELECT age, income FROM patients", "D402", None),
        ("SELECT COUNT(*) FROM patients; SELECT 1", "D102", "SELECT"),
        ("DROP TABLE patients", "D104", "DROP"),
        ("SELECT COUNT(*) FROM patients WHERE nope(age) > 1", "D204", None),
        ("SELECT COUNT(*)\nFRM patients", "D101", None),
        ("SELECT COUNT(*) FROM patients WHERE age > ?", "D106", None),
        (
            "SELECT COUNT(*) FROM patients WHERE seen > CAST(now() AS TIME)",
            "D205",
            "CAST(now() AS TIME)",
        ),
        (f"SELECT COUNT(*) FROM patients WHERE age > {'1' * 350}", "D205", None),
    ],
)
def test_every_refusal_has_what_it_needs(
    sql: str, code: str, words: str | None, db: dpsql.Connection
) -> None:
    with pytest.raises(dpsql.DatabaseError) as caught:
        db.execute(sql)
    error = caught.value
    assert error.code == code
    assert f"  = help: {error.help}" in str(error)
    if code == "D106":
        assert error.position is None
        return
    assert error.position is not None
    assert f" --> query:{error.position[0]}:{error.position[1]}\n" in str(error)
    assert underlined(error) in sql
    if words is not None:
        assert underlined(error) == words


def test_a_parameter_has_the_place_of_its_mark(db: dpsql.Connection) -> None:
    with pytest.raises(dpsql.ProgrammingError) as caught:
        db.execute("SELECT COUNT(*) FROM patients WHERE age > ? AND born > CAST(? AS UUID)", (1, 2))
    assert (caught.value.code, underlined(caught.value)) == ("D205", "CAST(? AS UUID)")


@pytest.mark.parametrize(
    "sql", ["", " ", ";", "--", "SELECT (", "SELECT 'x", 'SELECT "x', "/*", "SELECT 1 +"]
)
def test_an_end_that_comes_too_early(sql: str, db: dpsql.Connection) -> None:
    with pytest.raises(dpsql.ProgrammingError) as caught:
        db.execute(sql)
    assert caught.value.code == "D101"
    assert "sqlglot" not in str(caught.value)  # our words, not the parser's
    if caught.value.position is not None:
        underlined(caught.value)


def test_an_excerpt_of_anything_points_at_it() -> None:
    """Every span of texts with long lines, tabs and line ends: the excerpt above the carets is the span."""
    text = "a\tb\n" + "0123456789" * 30 + "\n\n\tæ漢🙂\nend"
    for start in range(len(text)):
        for width in (1, 2, 7, 60, 200):
            span = SimpleNamespace(start=start, end=start + width)
            error = refuse("D101", "no", span, label="here", help="yes").within(text, "name")
            line, column = error.position or (0, 0)
            rest = text.split("\n")[line - 1][column - 1 :].replace("\t", " ")
            shown = underlined(error) if rest else ""
            assert rest.startswith(shown)
            assert len(shown) in (min(width, len(rest)), 120 - min(column - 1, 59)) or not rest
            assert all(len(each) < 200 for each in str(error).split("\n"))


def test_an_error_without_a_place_still_says_why() -> None:
    error = refuse("D501", "what", label="why", notes=("one", "two"), help="how")
    assert str(error) == "error[D501]: what\n  = why\n  = note: one\n  = note: two\n  = help: how"
    assert error.position is None


def test_the_innermost_text_wins() -> None:
    error = refuse("D101", "no", SimpleNamespace(start=0, end=3), help="yes")
    assert error.within("abc", "inner").within("xyz", "outer") is error
    assert "inner:1:1" in str(error)
    assert "abc" in str(error)


# ---- errors travel -----------------------------------------------------------------------------------


def errors() -> Iterator[dpsql.Error]:
    """One of each kind."""
    span = SimpleNamespace(start=7, end=10)
    for code in ("D101", "D251", "D501", "D901"):
        yield refuse(code, "what", span, label="why", notes=("note",), help="how").within(
            "SELECT abc", "file.sql"
        )
    yield dpsql.InterfaceError("closed", help="open")
    yield dpsql.NotSupportedError("D104", "no transactions")
    yield Overdrawn(Units(3), Units(1, 1), Units(5, 2), "ana")


@pytest.mark.parametrize("error", list(errors()), ids=lambda error: type(error).__name__)
def test_errors_can_be_pickled_and_copied(error: dpsql.Error) -> None:
    """A process pool or a thread that keeps them needs it."""
    copies = [pickle.loads(pickle.dumps(error, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    for again in (*copies, copy.copy(error), copy.deepcopy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert vars(again) == vars(error)


# ---- nothing hot in them -----------------------------------------------------------------------------


@contextmanager
def nothing_hot(code: str) -> Iterator[None]:
    """Whoever catches this refusal finds no trace of its reason: not in words, not in what it came from."""
    with pytest.raises(dpsql.Error) as caught:
        yield
    error = caught.value
    assert error.code == code
    assert error.__cause__ is None
    assert error.__context__ is None
    assert "secret 42" not in "".join(traceback.format_exception(error))
    assert "secret 42" not in repr(error) + str(error) + repr(vars(error))


STEPS = (
    "planning.parse",
    "planning.bind",
    "planning.rewrite",
    "planning.plan",
    "releasing.release",
    "releasing.to_bytes",
    "releasing.from_bytes",
    "post.stages.finish",
)


@pytest.mark.parametrize("step", STEPS)
def test_a_bug_of_ours_shows_nothing(
    step: str, db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever step of the pipeline fails: D901, and no word of the reason."""
    if step == "releasing.from_bytes":  # what was stored is read by another session
        db.execute(COUNT)
        db._open().kept.forget()
    monkeypatch.setattr(f"dpsql.{step}", secret)
    with nothing_hot("D901"):
        db.execute(COUNT)
    with nothing_hot("D901"):
        db.cursor().execute(COUNT)
    paid = STEPS.index(step) >= STEPS.index("releasing.release")
    assert len(db.purchases) == paid


def test_an_engines_words_show_nothing(db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB quotes the value that it could not convert."""

    def quoting(*given: object) -> None:
        raise duckdb.ConversionException("could not convert 'secret 42'")

    with monkeypatch.context() as patch:
        patch.setattr("dpsql.engines.duckdb.DuckDB._all", quoting)
        with nothing_hot("D601"):
            db.execute(COUNT)
    assert [each.answered for each in db.purchases] == [False]
    db.execute(COUNT)
    assert [each.answered for each in db.purchases] == [True]


def test_interrupts_are_not_swallowed(db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (KeyboardInterrupt, SystemExit):

        def stop(*given: object, kind: type[BaseException] = kind) -> None:
            raise kind

        with monkeypatch.context() as patch:
            patch.setattr("dpsql.planning.plan", stop)
            with pytest.raises(kind):
                db.execute(COUNT)
    assert db.execute(COUNT).cost == 1.0


def test_the_command_line_shows_nothing_of_a_bug(
    clinic: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dpsql.releasing.release", secret)
    assert main(["query", str(clinic), "-c", COUNT]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "error[D901]" in err
    assert "secret 42" not in err
    assert "Traceback" not in err


def test_an_interrupt_shows_no_frame_that_holds_data() -> None:
    def step() -> None:
        raise KeyboardInterrupt("secret 42")

    with pytest.raises(KeyboardInterrupt) as caught:
        guarded(step)
    assert caught.value.__context__ is None
    assert "secret 42" not in "".join(traceback.format_exception(caught.value))
    assert "step" not in [each.name for each in traceback.extract_tb(caught.value.__traceback__)]


def test_what_stops_the_process_has_no_frame_that_holds_data() -> None:
    """The handler of a signal may raise it anywhere."""

    def step() -> None:
        raise SystemExit(3)

    with pytest.raises(SystemExit) as caught:
        guarded(step)
    assert caught.value.code == 3
    assert "step" not in [each.name for each in traceback.extract_tb(caught.value.__traceback__)]
