"""Accept clients, count them, let them talk, and end in good order.

    listen --> Wire --> login --> Conversation --> the client leaves, or has to

    100 at once before they log in, 20 of them from one address,    another 200, 50 for each analyst, after
    50 of them from this machine

Test: tests/drivers/test_server.py, tests/drivers/test_server_limits.py
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from dpsql.errors import Error
from dpsql.lazy_dataclass import dataclass
from dpsql.server import messages as m
from dpsql.server.addresses import network_of
from dpsql.server.aside import Aside
from dpsql.server.backoff import Backoff
from dpsql.server.catalogue import Engines
from dpsql.server.certificates import Tls
from dpsql.server.conversation import Conversation
from dpsql.server.log import Log
from dpsql.server.login import WITHIN, Cancel, Doors, Login, login
from dpsql.server.pool import Place, Pool
from dpsql.server.questions import Client, Questions
from dpsql.server.results import Expelled, Failure, expelled
from dpsql.server.room import Store
from dpsql.server.setting_values import SERVER_VERSION
from dpsql.server.settings import REPORTED, BadSetting, Settings, spelled
from dpsql.server.tally import Tally
from dpsql.server.verifiers import VerifierFile
from dpsql.server.wire import Gone, Wire
from dpsql.session.checks import load_policy

_KEY = 8
"""Bytes of what cancels: no other length is passed on, least of all to the process beside."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much clients may take."""

    connections: int = 200
    each: int = 50
    waiting: int = 100
    waiting_each: int = 20
    waiting_here: int = 50
    at_once: int = 8
    at_once_each: int = 2
    seconds: float = 300.0
    idle: float = 3600.0
    kept: int = 1 << 30
    kept_each: int = 1 << 29
    grace: float = 10.0


@dataclass(frozen=True, slots=True)
class Listener:
    """A socket that listens; on a ``private`` one nobody else can listen in, so TLS is not required."""

    socket: socket.socket
    private: bool
    said: str


@dataclass(slots=True)
class Beside:
    """What processes that serve together share; ``cancel`` tells the others of a key that is not known here.

    ``secret``: from it names of unknown databases get their salts, in each process the same.
    """

    secret: bytes
    tally: Tally
    backoff: Backoff
    cancel: Callable[[bytes], object]


class Server:
    """All clients of one process."""

    def __init__(
        self,
        places: Sequence[tuple[Place, VerifierFile]],
        tls: Callable[[], Tls | None],
        limits: Limits,
        log: Log,
        beside: Beside,
    ) -> None:
        self._limits, self._log, self._beside = limits, log, beside
        self._files = {place.name: file for place, file in places}
        self._doors = Doors.of(self._files, tls, beside.backoff, beside.secret)
        self._threads = ThreadPoolExecutor(limits.at_once + 2, "dpsql-question")
        self._aside, self._engines = Aside(), Engines()
        self._store = Store(limits.kept, limits.kept_each)
        self._pools = {
            place.name: Pool(place, self._threads, self._engines, limits.at_once, limits.at_once_each)
            for place, _ in places
        }
        self._waiting: Counter[str] = Counter()
        self._talking: dict[bytes, Conversation] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = False

    # ---- its life ----------------------------------------------------------------------------------

    async def serve(self, listeners: Sequence[Listener], stop: asyncio.Event) -> None:
        """Serve until ``stop``; then finish what runs, for a while."""
        loop = asyncio.get_running_loop()
        servers = [
            await loop.create_server(self._door(each), sock=each.socket)
            if each.socket.family != socket.AF_UNIX
            else await loop.create_unix_server(self._door(each), sock=each.socket)
            for each in listeners
        ]
        sweeping = asyncio.create_task(self._sweep())
        try:
            await stop.wait()
        finally:
            self._stopping = True
            sweeping.cancel()
            for server in servers:
                server.close()
            await self._end_all()
            for pool in self._pools.values():
                pool.close()
            self._threads.shutdown()
            self._engines.close()
            self._aside.close()

    async def _end_all(self) -> None:
        """Let each running question finish, or interrupt it after the time of grace."""
        why = expelled("57P01", "the server is stopping", "connect again later: what was answered stays free")
        for now in (False, True):
            for conversation in list(self._talking.values()):
                conversation.end(why, now)
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=self._limits.grace)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._limits.grace)

    async def _sweep(self) -> None:
        """End the connections of analysts who were removed."""
        while True:
            await asyncio.sleep(1.0)
            for conversation in list(self._talking.values()):
                if not conversation.questions.client.stands():
                    conversation.end(expelled("28000", "this login has been removed"), now=True)

    # ---- one client --------------------------------------------------------------------------------

    def _door(self, listener: Listener) -> Callable[[], Wire]:
        def begin(wire: Wire) -> None:
            task = asyncio.get_running_loop().create_task(self._meet(wire, listener))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        return lambda: Wire(begin)

    async def _meet(self, wire: Wire, listener: Listener) -> None:
        """Let a client in, talk with it, and close."""
        address = _address(wire)
        try:
            await self._talk(wire, address, listener.private)
        except Gone:
            pass
        except Expelled as error:
            self._log.write("ended", address=address, code=error.fields["C"], why=error.fields["M"])
            wire.send(m.fields_message(b"E", error.fields))
        except Error as error:  # the file of verifiers cannot be read
            self._log.write("broken", address=address, code=error.code, why=str(error))
            wire.send(m.fields_message(b"E", expelled("57P03", "logins are not possible now").fields))
        except Exception as error:  # a bug: it ends this connection alone, and tells nothing
            self._log.write("broken", address=address, code=type(error).__name__)
        finally:
            await wire.close()

    async def _talk(self, wire: Wire, address: str, private: bool) -> None:
        if self._stopping or self._waiting.total() >= self._limits.waiting:
            raise expelled("53300", "too many connections are logging in")
        place, limits = network_of(address), self._limits
        if self._waiting[place] >= (limits.waiting_here if private else limits.waiting_each):
            raise expelled("53300", "too many connections from this address are logging in")
        self._waiting[place] += 1
        try:
            async with asyncio.timeout(WITHIN):
                who = await login(wire, self._doors, address, private)
        except TimeoutError:
            raise expelled("08006", "the login took too long") from None
        finally:
            self._waiting[place] -= 1
            self._waiting += Counter()  # forget addresses without any
        if isinstance(who, Cancel):
            if len(who.key) == _KEY and not self.cancel(who.key):
                self._beside.cancel(who.key)
            return
        key = secrets.token_bytes(_KEY)
        conversation = self._conversation(wire, who, address)
        self._talking[key] = conversation
        self._beside.tally.enter(who.analyst)
        try:
            self._log.write("login", analyst=who.analyst, address=address, database=who.database)
            try:
                await conversation.questions.look()
            except Failure as failure:
                raise Expelled({**failure.fields, "S": "FATAL", "V": "FATAL"}) from None
            wire.send(m.backend_key(key))
            await conversation.run()
        finally:
            del self._talking[key]
            conversation.forget()
            self._beside.tally.leave(who.analyst)
            self._log.write("logout", analyst=who.analyst, address=address, database=who.database)

    def cancel(self, key: bytes) -> bool:
        """Interrupt what runs for this key; whether it is known."""
        found = [each for known, each in self._talking.items() if secrets.compare_digest(known, key)]
        for conversation in found:
            conversation.cancel()
        return bool(found)

    def _conversation(self, wire: Wire, who: Login, address: str) -> Conversation:
        pool = self._pools.get(who.database)
        if pool is None:
            names = ", ".join(self._pools)
            raise expelled(
                "3D000", f"there is no database {who.database} here", f"there is {names}: dbname=..."
            )
        if self._beside.tally.total >= self._limits.connections:
            raise expelled("53300", "too many connections")
        if self._beside.tally.of(who.analyst) >= self._limits.each:
            raise expelled("53300", "too many connections of this analyst")
        file = self._files[who.database]
        verifier = file.now().named.get(who.analyst)
        client = Client(
            who.analyst,
            address,
            lambda: _stands(file, who.analyst, verifier is not None),
        )
        settings = _settings(who, pool.place, self._limits)
        for name in REPORTED:
            wire.send(m.parameter_status(spelled(name), settings.show(name) or ""))
        questions = Questions(client, pool, self._aside, settings, self._log)
        return Conversation(wire, questions, self._limits.idle, self._store.room(who.analyst))


def _stands(file: VerifierFile, analyst: str, before: bool) -> bool:
    """Whether a login is still in the file; while that cannot be read, whether it was."""
    with suppress(Error):  # as said above
        return analyst in file.now().named
    return before


def _settings(who: Login, place: Place, limits: Limits) -> Settings:
    """Return the settings of a new connection, with those that the client asked for."""
    from dpsql import __version__

    zone = "UTC"
    with suppress(Error):  # the policy is read again where the connection opens, which tells
        zone = load_policy(place.policy).timezone
    fixed = {
        "server_version": f"{SERVER_VERSION} (dpsql {__version__}; SQL as in DuckDB)",
        "session_authorization": who.analyst,
        "timezone": zone,
    }
    settings = Settings(fixed, limits.seconds)
    for name, value in who.parameters.items():
        if name in ("user", "database", "options", "replication") or name.startswith("_pq_."):
            continue
        try:
            settings.change(name.lower(), value)
        except BadSetting as error:
            raise expelled(error.state, error.message, error.hint) from None
    for name, value in _options(who.parameters.get("options", "")).items():
        with suppress(BadSetting):  # as good as not given: it changes nothing of an answer
            settings.change(name, value)
    return settings


def _options(text: str) -> Mapping[str, str]:
    """Read ``-c name=value`` and ``--name=value`` of the option ``options``."""
    found = {}
    words = text.replace("\\ ", "\0").split()
    for at, word in enumerate(words):
        setting = words[at + 1] if word == "-c" and at + 1 < len(words) else word.removeprefix("-c")
        setting = setting.removeprefix("--") if word.startswith("--") else setting
        name, equals, value = setting.partition("=")
        if equals and word.startswith("-"):
            found[name.lower().replace("-", "_")] = value.replace("\0", " ")
    return found


def _address(wire: Wire) -> str:
    peer = wire.transport.get_extra_info("peername")
    return str(peer[0]) if isinstance(peer, tuple) and peer else "local"


def socket_file(folder: str, port: int) -> str:
    """Return the name of a Unix socket that psql -h FOLDER -p PORT looks for."""
    return os.path.join(folder, f".s.PGSQL.{port}")
