"""JupySQL's %sql in a real IPython, in a process of its own: it keeps its connections in globals."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import dpsql

SESSION = """
import sys
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "sql")
shell.run_line_magic("config", "SqlMagic.feedback = 0")
shell.run_line_magic("sql", sys.argv[1])

BY_WARD = "SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward ORDER BY ward"
result = shell.run_cell_magic("sql", "", BY_WARD)
print(result)
frame = result.DataFrame()
assert frame["ward"].tolist()[0] == "Cardiology" and frame["n"].dtype.kind == "i"

shell.user_ns["least"] = 40
shell.run_cell("rows = %sql SELECT ward FROM wards WHERE beds > {{least}} ORDER BY ward")
assert [row[0] for row in shell.user_ns["rows"]] == ["Cardiology", "Geriatrics"]

shell.run_cell("again = %sql " + BY_WARD)
assert shell.user_ns["again"].dict() == result.dict()

shell.run_cell("%sql SELECT age FROM patients")
print(shell.run_line_magic("sqlcmd", "tables"))
columns = shell.run_line_magic("sqlcmd", "columns --table patients")
print(columns)

shell.run_cell("columns = %sql SELECT * FROM visits WHERE 1=0")
assert shell.user_ns["columns"].DataFrame().columns.tolist()[:2] == ["patient_id", "day"]
assert shell.user_ns["columns"].DataFrame().empty
"""


def test_the_magic(url: str, built: Path, ledger: Path, tmp_path: Path) -> None:
    """Questions, a parameter, a question again, a refusal in our words, lists of tables and columns."""
    script = tmp_path / "session.py"
    script.write_text(SESSION)
    quiet = {"PLOOMBER_STATS_ENABLED": "false", "PLOOMBER_VERSION_CHECK_DISABLED": "true"}
    done = subprocess.run(
        [sys.executable, str(script), url],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=tmp_path,
        env=os.environ | quiet | {"IPYTHONDIR": str(tmp_path), "HOME": str(tmp_path), "PYTHONUTF8": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout + done.stderr
    assert "| Cardiology |" in said
    assert "error[D402]: single private rows are never shown" in said
    assert "| patients |" in said
    assert re.search(r"\| +age +\| INTEGER", said)
    with dpsql.connect(built, ledger=ledger) as db:
        assert len(db.purchases) == 1
