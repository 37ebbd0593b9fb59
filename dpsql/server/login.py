"""From the first byte to a known analyst: TLS, the startup message, SCRAM-SHA-256.

    SSLRequest -> S, TLS | startup(user, database) -> SASL -> r=..,s=..,i=.. -> v=.. -> a Login

Claim   before the last proof, what is sent does not depend on whether the name, or the database, exists.
Proof   Both lead to a verifier, real or a stand-in, and then to the same steps with the same messages
        (scram.py); what else is refused (no TLS, a wrong version, too many failures, which are counted for
        all names alike) is refused before a verifier is looked up.
Test    tests/drivers/test_server.py, tests/drivers/test_server_garbage.py
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping

from dpsql.lazy_dataclass import dataclass
from dpsql.server import messages as m
from dpsql.server.addresses import network_of
from dpsql.server.backoff import Backoff
from dpsql.server.certificates import Tls
from dpsql.server.results import expelled
from dpsql.server.scram import PLAIN, PLUS, Exchange
from dpsql.server.verifiers import VerifierFile, Verifiers
from dpsql.server.wire import Wire

WITHIN = 10.0
"""Seconds in which a client must have logged in."""

_BETWEEN = 0.05
"""Seconds between two looks whether others of this name, which log in at the same time, have ended."""

_LONGEST_STARTUP = 10_000
_LONGEST_PROOF = 2_000


@dataclass(frozen=True, slots=True)
class Cancel:
    """A request to interrupt what another connection runs."""

    key: bytes


@dataclass(frozen=True, slots=True)
class Login:
    """Who has proved to know the password. ``database`` is what the client calls it."""

    analyst: str
    database: str
    parameters: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Doors:
    """What a client meets: the verifiers of each database, TLS, and the count of failures.

    ``plain``: connections without TLS are let in, because nobody can listen to them.
    """

    files: Mapping[str, VerifierFile]
    tls: Callable[[], Tls | None]
    backoff: Backoff
    nobody: Verifiers

    @staticmethod
    def of(
        files: Mapping[str, VerifierFile], tls: Callable[[], Tls | None], backoff: Backoff, secret: bytes
    ) -> Doors:
        return Doors(files, tls, backoff, Verifiers(secret, {}))

    def verifiers(self, database: str) -> Verifiers:
        """Return the verifiers of a database: if there is one alone, under any name."""
        file = self.files.get(database)
        if file is None and len(self.files) == 1:
            file = next(iter(self.files.values()))
        return self.nobody if file is None else file.now()


async def login(wire: Wire, doors: Doors, address: str, plain: bool) -> Login | Cancel:
    """Let a client in, or raise ``Expelled``. The caller limits the time."""
    startup, encrypted = await _startup(wire, doors.tls())
    if isinstance(startup, m.CancelRequest):
        return Cancel(startup.key)
    unknown = [name for name in startup.parameters if name.startswith("_pq_.")]
    if startup.minor > 0 or unknown:
        wire.send(m.negotiated(unknown))
    if encrypted is None and not plain:
        raise expelled(
            "28000", "this server takes encrypted connections only", "connect with sslmode=verify-full"
        )
    if "replication" in startup.parameters:
        raise expelled("0A000", "there is no replication here")
    name = startup.parameters.get("user", "")
    if not name:
        raise expelled("28000", "no user name was given")
    address = "" if plain else network_of(address)  # all of this machine are one
    while (wait := doors.backoff.begin(address, name, time.monotonic())) is None:
        await asyncio.sleep(_BETWEEN)
    if wait > 0:
        raise expelled("28P01", "too many logins have failed", f"wait {wait:.0f} seconds and try again")
    database, proved = startup.parameters.get("database") or name, None
    try:
        proved = await _proved(wire, name, doors.verifiers(database), encrypted)
    finally:
        doors.backoff.end(address, name, proved, time.monotonic())
    if not proved:
        raise expelled("28P01", "password authentication failed", "ask the owner: dpsql analyst add")
    wire.send(m.authentication(0))
    return Login(name, database, startup.parameters)


async def _startup(wire: Wire, tls: Tls | None) -> tuple[m.Startup | m.CancelRequest, Tls | None]:
    """Read the first messages; return the last of them, and the TLS of the connection, if it has one."""
    encrypted: Tls | None = None
    for _ in range(3):
        size = int.from_bytes(await wire.take(4), "big")
        if not 8 <= size <= _LONGEST_STARTUP:
            raise expelled("08P01", "this is no startup message")
        try:
            message = m.startup(await wire.take(size - 4))
        except m.Malformed as error:
            raise expelled("08P01", str(error)) from None
        if not isinstance(message, m.EncryptionRequest):
            return message, encrypted
        if message.tls and tls is not None and encrypted is None:
            await wire.encrypt(tls.context, b"S", WITHIN)
            encrypted = tls
        else:
            wire.send(b"N")
            await wire.flush()
    raise expelled("08P01", "this is no startup message")


async def _proved(wire: Wire, name: str, verifiers: Verifiers, tls: Tls | None) -> bool:
    """Whether the client proves that it knows the password of this name."""
    binding = None if tls is None else tls.binding
    wire.send(m.sasl_mechanisms([PLUS, PLAIN] if binding is not None else [PLAIN]))
    await wire.flush()
    try:
        mechanism, first = m.sasl_initial(await _answer(wire))
    except m.Malformed:
        raise expelled("08P01", "this is no message of SASL") from None
    if mechanism not in (PLAIN, PLUS) or (mechanism == PLUS and binding is None):
        raise expelled("08P01", "this mechanism was not offered", "use SCRAM-SHA-256")
    exchange = Exchange(verifiers.of(name), mechanism == PLUS, binding)
    challenge = exchange.first(first)
    if challenge is None:
        raise expelled("08P01", "this is no message of SCRAM-SHA-256")
    wire.send(m.authentication(11, challenge))
    await wire.flush()
    proof = exchange.final(await _answer(wire))
    if proof is None:
        return False
    wire.send(m.authentication(12, proof))
    return True


async def _answer(wire: Wire) -> bytes:
    head = await wire.take(5)
    size = int.from_bytes(head[1:], "big")
    if head[:1] != b"p" or not 4 <= size <= _LONGEST_PROOF:
        raise expelled("08P01", "an answer of SASL was expected")
    return await wire.take(size - 4)
