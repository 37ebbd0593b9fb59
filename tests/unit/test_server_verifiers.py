"""The file of verifiers, and how long failed logins make the next ones wait."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpsql
from dpsql.server.backoff import Backoff
from dpsql.server.scram import Verifier
from dpsql.server.verifiers import VerifierFile, check_name, check_password

LIKE = Verifier.of("a long password", iterations=10)


def test_the_file_is_written_and_read(tmp_path: Path) -> None:
    file = VerifierFile(tmp_path / "clinic.analysts")
    assert file.now().named == {}
    with file.changing() as named:
        named["ana"] = LIKE
        named["Æ: of $ sorts"] = LIKE
    secret = file.now().secret
    assert file.now().named == {"ana": LIKE, "Æ: of $ sorts": LIKE}
    assert (tmp_path / "clinic.analysts").stat().st_mode & 0o777 == 0o600
    with file.changing() as named:
        del named["ana"]
    assert list(VerifierFile(tmp_path / "clinic.analysts").now().named) == ["Æ: of $ sorts"]
    assert file.now().secret == secret, "unknown names keep their salts"
    assert [each.name for each in tmp_path.iterdir()] == ["clinic.analysts"]


def test_a_file_that_others_may_read_or_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "clinic.analysts"
    file = VerifierFile(path)
    with file.changing() as named:
        named["ana"] = LIKE
    path.chmod(0o640)
    with pytest.raises(dpsql.InterfaceError, match="is open to other users"):
        file.now()
    path.chmod(0o600)
    for text in ("", "ana:nothing\n", path.read_text() + "bob:SCRAM-SHA-256$1:x\n", "\xff"):
        path.write_bytes(text.encode("latin-1"))
        with pytest.raises(dpsql.InterfaceError, match="is not a file of verifiers"):
            VerifierFile(path).now()
    path.unlink()
    path.symlink_to(tmp_path)
    with pytest.raises(dpsql.InterfaceError, match="is not a file of this user's own"):
        file.now()


def test_names_and_passwords_that_are_refused() -> None:
    check_password("x" * 12)
    check_name("Ana Borgen")
    with pytest.raises(dpsql.InterfaceError, match="shorter than 12"):
        check_password("x" * 11)
    for name in ("a\nb", "# a"):
        with pytest.raises(dpsql.InterfaceError, match="cannot be a login"):
            check_name(name)


def test_failures_make_the_next_login_wait() -> None:
    backoff, waits = Backoff(), []
    for _ in range(13):
        waits.append(backoff.wait("1.2.3.4", "ana", 0.0))
        backoff.failed("1.2.3.4", "ana", 0.0)
    assert waits == [0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60]
    assert backoff.wait("1.2.3.4", "ana", 61.0) == 0, "each failure is waited for once"
    assert backoff.wait("1.2.3.4", "bob", 0.0) == 0
    assert backoff.wait("4.3.2.1", "ana", 0.0) == 0, "nobody can lock ana out from elsewhere"
    backoff.passed("1.2.3.4", "ana")
    assert backoff.wait("1.2.3.4", "ana", 0.0) == 0


def test_an_address_that_tries_many_names_waits_and_memory_is_bounded() -> None:
    backoff = Backoff()
    for number in range(60):
        backoff.failed("1.2.3.4", f"name {number}", 0.0)
        backoff.failed("", f"name {number}", 0.0)
    assert backoff.wait("1.2.3.4", "ana", 0.0) > 0
    assert backoff.wait("", "ana", 0.0) == 0, "nobody of a machine locks the others out"
    for number in range(20_000):
        backoff.failed(f"address {number}", "ana", 0.0)
    assert len(backoff._failed) <= 10_000
