"""The number of the last change of names: of what names a view, and of nothing else."""

from __future__ import annotations

from pathlib import Path

import dpsql
from dpsql.accounting.view_changes import last_view_change


def test_it_changes_with_names_and_access_alone(clinic: Path) -> None:
    ledger = clinic.with_suffix(".ledger")
    assert last_view_change(ledger) == 0, "there is none yet"
    seen = [0]
    with dpsql.connect(clinic, analyst="ana") as db:
        for sql in (
            "CREATE PRIVATE VIEW v WITH (epsilon = 0.1) AS SELECT ward, smoker FROM patients",
            "GRANT SELECT ON v TO bob",
            "REVOKE SELECT ON v FROM bob",
            "DROP PRIVATE VIEW v",
        ):
            db.execute(sql)
            seen.append(last_view_change(ledger))
            db.execute(f"SELECT OPTIONS(epsilon = 0.1) COUNT(*) FROM patients WHERE age > {len(seen)}")
            assert last_view_change(ledger) == seen[-1], "a question changes no name"
    assert len(set(seen)) == 5
    assert seen == sorted(seen)
