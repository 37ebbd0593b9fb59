"""A session that is opened while somebody already types: the first prompt does not wait for a database."""

from __future__ import annotations

import threading
from collections.abc import Callable

from dpsql.render.digits import on_a_line
from dpsql.shell.state import Shell
from dpsql.terminal.output import tell


class Opening:
    """``shell`` is None until the session is open; ``begin`` begins to open it beside us."""

    def __init__(self, opened: Callable[[], Shell]) -> None:
        self.shell: Shell | None = None
        self.failure: BaseException | None = None
        self._opened = opened
        self._thread: threading.Thread | None = None
        self._told = False

    def begin(self, then: Callable[[], None] = lambda: None) -> None:
        """Begin, unless that was done; ``then`` is called beside us when the session is open, or failed."""
        if self._thread is not None:
            return

        def work() -> None:
            try:
                self.shell = self._opened()
            except BaseException as error:
                self.failure = error
            then()

        self._thread = threading.Thread(target=work, daemon=True)
        self._thread.start()

    def wait(self) -> Shell:
        """The session, once it is open."""
        self.begin()
        while self.shell is None:
            if self.failure is not None:
                raise self.failure
            assert self._thread is not None
            self._thread.join(0.1)  # a lock without an end would not listen to Ctrl-C
        self._tell(self.shell)
        return self.shell

    def close(self) -> None:
        """Leave in order, also where nothing was asked."""
        if self._thread is not None:
            self._thread.join()
        if self.shell is not None:
            self._tell(self.shell)
            self.shell.db.close()

    def _tell(self, shell: Shell) -> None:
        if shell.db.ledger_created and not self._told:
            name = on_a_line(shell.db.ledger_path.name)
            tell(f"created {name}, which keeps what was spent and every answer: keep it")
        self._told = True
