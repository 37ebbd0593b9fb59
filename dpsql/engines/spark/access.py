"""How a Spark is had: in this process (this_process.py), or from a server (connect_server.py).

    access.session                       a session of the engine's own
    access.check()                       its settings, before each measure
    with access.job():                   what is run here, ``cancel`` ends
        access.unchanged(states)         Spark sees the files in the states that were found

Everything else of a measure is the same for both (engine.py).
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

from dpsql.engines.files import State
from dpsql.engines.spark.address import ConnectAddress, LocalAddress, SparkAddress


class Access(Protocol):
    """A session of Spark's, for one engine."""

    @property
    def session(self) -> Any: ...

    def check(self) -> None:
        """Refuse a session, or a Spark, with another setting than those that the claims rest on."""
        ...

    def unchanged(self, states: tuple[State, ...]) -> None:
        """Refuse a Spark that sees files in other states than this process."""
        ...

    def job(self) -> AbstractContextManager[None]:
        """Run what is cancelled by ``cancel``, from any thread."""
        ...

    def cancel(self) -> None: ...

    def close(self) -> None: ...


def access_to(address: SparkAddress) -> Access:
    """Return a session of its own in the Spark of an address, or raise D602."""
    match address:
        case LocalAddress():
            from dpsql.engines.spark.this_process import ThisProcess

            return ThisProcess(address.master)
        case ConnectAddress():
            from dpsql.engines.spark.connect_server import ConnectServer

            return ConnectServer(address)
        case _:
            raise AssertionError(address)
