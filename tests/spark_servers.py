"""Spark Connect servers of the package pyspark, on free ports of this machine.

    with SparkServer(folder) as server:           with the settings that dpsql asks for
        server.address(clinic)                    spark+connect://localhost:41231:/tmp/.../clinic
        server.kill(); server.start()             the same server, started anew

``settings`` are added to those, or take their place; ``token=""`` starts one that answers whoever asks;
``instead=(a, b)`` one that sees the folder b under the path a.
"""

from __future__ import annotations

import importlib.util
import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType, TracebackType

import pytest
from sparks import MASTER, MISSING, needs_spark

from dpsql.engines.spark.address import ConnectAddress
from dpsql.engines.spark.connect_server import TOKEN

CLIENT = [name for name in ("grpc", "grpc_status", "pandas", "pyarrow") if not importlib.util.find_spec(name)]

needs_spark_server = [
    *needs_spark,
    pytest.mark.skipif(bool(CLIENT), reason=f"pip install 'dpsql[spark,spark-connect]': {', '.join(CLIENT)}"),
]

GOOD = {
    "spark.ui.enabled": "false",
    "spark.eventLog.enabled": "false",
    "spark.io.encryption.enabled": "true",
    "spark.authenticate": "true",
}
"""What dpsql asks of a server that is one process."""

OWNERS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "Asia/Tokyo",
    "spark.sql.caseSensitive": "false",
    "spark.sql.files.ignoreMissingFiles": "true",
    "spark.sql.adaptive.enabled": "false",
}
"""What a server's owner may have set for other sessions: dpsql's own have settings of their own."""

_WORDS = ("--class", "org.apache.spark.sql.connect.service.SparkConnectServer")


class SparkServer:
    """A server, and the token that this process shows it while it runs."""

    def __init__(
        self,
        folder: Path,
        settings: Mapping[str, str] = MappingProxyType({}),
        *,
        master: str = MASTER,
        token: str | None = None,
        instead: tuple[Path, Path] | None = None,
    ) -> None:
        assert not MISSING
        self.folder, self.master, self.instead = folder, master, instead
        self.token = secrets.token_hex(16) if token is None else token
        self.settings = {**GOOD, **OWNERS, **settings}
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])

    def address(self, path: Path) -> str:
        return str(self.located(path))

    def located(self, path: Path) -> ConnectAddress:
        return ConnectAddress(path, "localhost", self.port, False)

    def start(self) -> None:
        import pyspark

        home = Path(pyspark.__file__).parent
        local = self.folder / "spark local"
        local.mkdir(parents=True, exist_ok=True)
        settings = {
            **self.settings,
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(self.port),
            "spark.local.dir": str(local),
            "spark.driver.memory": "1g",
        }
        if self.token:
            settings["spark.connect.authenticate.token"] = self.token
        settings["spark.master"] = self.master
        words = [word for name, said in settings.items() for word in ("--conf", f"{name}={said}")]
        here = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(home)}
        with (self.folder / "server.log").open("wb") as log:
            self.process = subprocess.Popen(
                [*self._within(), str(home / "bin" / "spark-submit"), *_WORDS, *words, "spark-internal"],
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env={**{name: said for name, said in os.environ.items() if name != TOKEN}, **here},
                start_new_session=True,
            )
        try:
            self._wait()
        except BaseException:  # Ctrl-C too: no server is left behind
            self.kill()
            raise

    def _within(self) -> tuple[str, ...]:
        """Return a command that runs another where one folder is mounted in the place of another."""
        if self.instead is None:
            return ()
        mounted = 'mount --bind "$1" "$0" && shift && exec "$@"'
        return ("unshare", "--mount", "sh", "-c", mounted, *map(str, self.instead))

    def _wait(self) -> None:
        until = time.monotonic() + 180
        while time.monotonic() < until:
            if self.process.poll() is not None:
                break
            with socket.socket() as called:
                if called.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.5)
        raise RuntimeError(f"no server: {(self.folder / 'server.log').read_text()[-2000:]}")

    def kill(self) -> None:
        """End the server, and what it started, at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def __enter__(self) -> SparkServer:
        self._before = os.environ.get(TOKEN)
        self.start()
        os.environ[TOKEN] = self.token
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        if self._before is None:
            del os.environ[TOKEN]
        else:
            os.environ[TOKEN] = self._before
