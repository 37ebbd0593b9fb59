"""What ``current_setting`` and pg_settings say: the settings that clients read, the same for everybody.

SELECT current_setting('server_version_num')      150000
"""

from __future__ import annotations

from dpsql import __version__
from dpsql.server.setting_values import FIXED, FREE, SERVER_VERSION, SHOWN

VERSION = f"PostgreSQL {SERVER_VERSION} (dpsql {__version__}: the SQL of its answers is DuckDB's)"


def settings_of(analyst: str) -> dict[str, str]:
    """Return the settings, by their names in lower case."""
    return {**FIXED, **FREE, **SHOWN, "session_authorization": analyst}
