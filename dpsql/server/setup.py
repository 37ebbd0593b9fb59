"""What a server is started with, checked before it listens, and the sockets that it listens on.

    Setup(places, listen=("0.0.0.0:5433",), certificate, key) -> checked -> listening

Test: tests/drivers/test_server.py, tests/drivers/test_server_limits.py
"""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from dataclasses import field
from pathlib import Path

from dpsql.errors import Error, InterfaceError
from dpsql.lazy_dataclass import dataclass
from dpsql.server.addresses import is_loopback
from dpsql.server.certificates import Tls, tls_of
from dpsql.server.log import Log
from dpsql.server.pool import Place
from dpsql.server.server import Limits, Listener, socket_file
from dpsql.server.verifiers import VerifierFile
from dpsql.session.checks import load_policy

PORT = 5433


@dataclass(frozen=True, slots=True)
class Setup:
    """``listen`` has HOST:PORT, or a folder for a Unix socket, FOLDER or FOLDER:PORT."""

    places: tuple[tuple[Place, VerifierFile], ...]
    listen: tuple[str, ...]
    certificate: Path | None = None
    key: Path | None = None
    limits: Limits = field(default_factory=Limits)
    log: Path | None = None
    processes: int = 1
    secret: bytes = field(default_factory=lambda: os.urandom(32), repr=False)

    def tls(self) -> Tls | None:
        """Read the certificate and its key, if there are any."""
        if (self.certificate is None) != (self.key is None):
            raise InterfaceError("a certificate and its key belong together", help="--cert FILE --key FILE")
        if self.certificate is None or self.key is None:
            return None
        return tls_of(self.certificate, self.key)


def checked(setup: Setup) -> list[str]:
    """Open everything that serving needs, and return what would be served, line by line."""
    lines = []
    tls = setup.tls()
    for place, file in setup.places:
        policy = load_policy(place.policy)
        known = [rule.name for rule in policy.analysts]
        named = file.now().named
        able = [name for name in named if name in known]
        if able:
            with place.open(able[0]):  # checks the policy against the data, and the ledger
                pass
        lines.append(f"database  {place.name}: {place.database}")
        lines.append(f"analysts  {', '.join(able) or 'none can log in yet: dpsql analyst add'}")
        lines += [
            f"note      {name} has a password, and is not in the policy"
            for name in named
            if name not in known
        ]
    for each in setup.listen:
        host, port = _split(each)
        _check_place(each, host, port)
        private = _is_folder(host) or is_loopback(host)
        if not private and tls is None:
            raise InterfaceError(
                f"{each} can be reached from other machines: passwords and answers need TLS there",
                help="--cert FILE --key FILE; or listen on 127.0.0.1, or on a folder for a Unix socket",
            )
        lines.append(line(socket_file(host, port) if _is_folder(host) else f"{host}:{port}", private, tls))
    return lines


def line(where: str, private: bool, tls: Tls | None) -> str:
    how = "TLS, if the client asks" if private and tls else "no TLS" if private else "TLS alone"
    return f"listen    {where} ({how})"


def reloading(setup: Setup, log: Log) -> tuple[Callable[[], Tls | None], Callable[[], None]]:
    """Return what gives the present TLS, and what reads certificate and log anew."""
    current = [setup.tls()]

    def reload() -> None:
        try:
            current[0] = setup.tls()
            log.reopen()
            log.write("reloaded")
        except Error as error:  # the old ones stay
            log.write("broken", code=error.code, why=str(error))

    return lambda: current[0], reload


def _split(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon:
        host, port = text, str(PORT)
    host = host.removeprefix("[").removesuffix("]")
    if not port.isascii() or not port.isdigit() or not 0 <= int(port) < 65_536 or not host:
        raise InterfaceError(f"{text} is no place to listen", help="write --listen 127.0.0.1:5433")
    return host, int(port)


def _is_folder(host: str) -> bool:
    return os.sep in host


def _check_place(text: str, host: str, port: int) -> None:
    """Refuse a name that nobody knows, and a folder that is none; another server may listen there now."""
    if _is_folder(host):
        if not os.path.isdir(host) or not os.access(host, os.W_OK | os.X_OK):
            raise _unheard(text, "there is no such folder of this user's")
        return
    try:
        _address(host, port)
    except OSError as error:
        raise _unheard(text, str(error.strerror)) from None


def _address(host: str, port: int) -> tuple[int, int, tuple[object, ...]]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    return found[0], found[1], found[4]


def _unheard(text: str, why: str) -> InterfaceError:
    return InterfaceError(
        f"{text} cannot be listened on: {why}",
        help="name another: --listen HOST:PORT, or --listen ./FOLDER, with a slash, for a Unix socket",
    )


def listening(text: str) -> Listener:
    """Return a socket that listens."""
    host, port = _split(text)
    try:
        if _is_folder(host):
            return _on_file(socket_file(host, port))
        family, kind, address = _address(host, port)
        made = socket.socket(family, kind)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(128)
    except OSError as error:
        raise _unheard(text, str(error.strerror)) from None
    made.setblocking(False)
    return Listener(made, is_loopback(made.getsockname()[0]), f"{host}:{made.getsockname()[1]}")


def _on_file(name: str) -> Listener:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    if os.path.exists(name) and stat.S_ISSOCK(os.stat(name).st_mode):
        try:
            made.connect(name)
        except OSError:  # nobody listens there any more
            os.unlink(name)
        else:
            made.close()
            raise InterfaceError(f"another server listens on {name}", help="name another port: FOLDER:PORT")
    made.bind(name)
    os.chmod(name, 0o777)  # whoever may enter the folder may try a password
    made.listen(128)
    made.setblocking(False)
    return Listener(made, True, name)
