"""The bytes of a client: no patience with who does not read, none for what comes in the clear before TLS."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from dpsql.server import wire as room
from dpsql.server.wire import Gone, Wire


def talk(
    tmp_path: Path, server: Callable[[Wire], Awaitable[None]], client: Callable[[socket.socket], None]
) -> None:
    """Let a step of a server meet a client, which runs in a thread of its own."""

    async def both() -> None:
        met: asyncio.Future[Wire] = asyncio.get_running_loop().create_future()
        listening = await asyncio.get_running_loop().create_unix_server(
            lambda: Wire(met.set_result), str(tmp_path / "socket")
        )
        with socket.socket(socket.AF_UNIX) as other:
            other.connect(str(tmp_path / "socket"))
            wire = await met
            talking = asyncio.create_task(asyncio.to_thread(client, other))
            async with asyncio.timeout(20):
                await server(wire)
            await wire.close()
            await talking
        listening.close()

    asyncio.run(both())


def test_who_does_not_read_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "READ_WITHIN", 0.2)

    async def send(wire: Wire) -> None:
        wire.send(bytes(20_000_000))
        with pytest.raises(Gone):
            await wire.flush()
        assert wire.transport.is_closing()

    talk(tmp_path, send, lambda client: None)


def test_who_reads_slowly_is_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "READ_WITHIN", 1.0)
    got = bytearray()

    def read(client: socket.socket) -> None:
        while part := client.recv(100_000):
            got.extend(part)

    async def send(wire: Wire) -> None:
        for _ in range(30):
            wire.send(bytes(100_000))
            await wire.flush()

    talk(tmp_path, send, read)
    assert len(got) == 3_000_000


def test_what_is_sent_ahead_is_held_back_by_the_kernel(tmp_path: Path) -> None:
    def send(client: socket.socket) -> None:
        client.sendall(bytes(5_000_000))

    async def take(wire: Wire) -> None:
        await asyncio.sleep(0.3)
        assert len(wire._received) < 1_000_000
        for _ in range(50):
            assert len(await wire.take(100_000)) == 100_000

    talk(tmp_path, take, send)


def test_what_comes_in_the_clear_before_tls_ends_the_connection(tmp_path: Path) -> None:
    """It would be taken for encrypted otherwise (CVE-2021-23214)."""

    async def encrypt(wire: Wire) -> None:
        assert await wire.take(3) == b"ask"
        with pytest.raises(Gone):
            await wire.encrypt(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), b"S", 1.0)

    talk(tmp_path, encrypt, lambda client: client.sendall(b"ask and SELECT"))
