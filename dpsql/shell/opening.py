"""Open a session in the background, so that the first prompt does not wait for the database."""

from __future__ import annotations

import threading
from collections.abc import Callable

from dpsql.dbapi import Connection
from dpsql.render.digits import on_a_line
from dpsql.shell.state import Shell
from dpsql.terminal.output import tell


class Opening:
    """A session that a background thread opens; ``shell`` is None until it is open."""

    def __init__(self, open_session: Callable[[], Shell]) -> None:
        self.shell: Shell | None = None
        self.failure: BaseException | None = None
        self._open_session = open_session
        self._thread: threading.Thread | None = None
        self._ledger_announced = False

    def begin(self, then: Callable[[], None] = lambda: None) -> None:
        """Start the thread once; it calls ``then`` when the session is open or opening it failed."""
        if self._thread is not None:
            return

        def work() -> None:
            try:
                self.shell = self._open_session()
            except BaseException as error:  # wait() raises it again, in the thread that waits
                self.failure = error
            then()

        self._thread = threading.Thread(target=work, daemon=True)
        self._thread.start()

    def wait(self) -> Shell:
        """Return the session once it is open."""
        self.begin()
        while self.shell is None:
            if self.failure is not None:
                raise self.failure
            assert self._thread is not None
            self._thread.join(0.1)  # with a timeout, so that Ctrl-C can interrupt it
        self._announce_ledger(self.shell)
        return self.shell

    def close(self) -> None:
        """Close the session, also if no statement was run."""
        if self._thread is not None:
            self._thread.join()
        if self.shell is not None:
            self._announce_ledger(self.shell)
            self.shell.db.close()

    def _announce_ledger(self, shell: Shell) -> None:
        db = shell.db
        if isinstance(db, Connection) and db.ledger_created and not self._ledger_announced:
            name = on_a_line(db.ledger_path.name)
            tell(f"created {name}: it records what was spent and every answer, so keep it")
        self._ledger_announced = True
