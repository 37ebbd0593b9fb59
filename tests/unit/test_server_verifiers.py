"""The file of verifiers."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpsql
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
