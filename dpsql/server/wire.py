"""The bytes of one client: bounded buffers, whole messages, TLS, and no patience with who does not read.

wire.take(n)    the next n bytes, once they are there; the kernel holds back a client that sends more
wire.send(b)    kept until ``flush``, which raises ``Gone`` where nobody reads for ``READ_WITHIN`` seconds

Test: tests/unit/test_server_wire.py
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import cast

READ_WITHIN = 60.0
"""Seconds in which a client must read something of what is sent."""

_KEPT = 1 << 16
"""Bytes that are read ahead of what is asked for, and that are sent without being asked for."""


class Gone(Exception):
    """The client has left, or does not read."""


class Wire(asyncio.Protocol):
    """One connection. A single task takes and sends."""

    def __init__(self, begin: Callable[[Wire], None]) -> None:
        self._begin, self._begun = begin, False
        self._received, self._wanted = bytearray(), 0
        self._sent: list[bytes] = []
        self._unsent = 0
        self._news, self._free = asyncio.Event(), asyncio.Event()
        self._free.set()
        self._ended = False
        self.lost = False
        self.on_lost: Callable[[], object] = lambda: None
        self.transport: asyncio.Transport

    # ---- what asyncio calls ------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        if not self._begun:
            self._begun = True
            _ask_whether_it_is_there(transport.get_extra_info("socket"))
            self._begin(self)

    def data_received(self, data: bytes) -> None:
        self._received += data
        if len(self._received) >= max(self._wanted, _KEPT):
            self.transport.pause_reading()
        self._news.set()

    def eof_received(self) -> None:
        self._ended = True
        self._news.set()

    def connection_lost(self, error: Exception | None) -> None:
        self.lost = self._ended = True
        self._news.set()
        self._free.set()
        self.on_lost()

    def pause_writing(self) -> None:
        self._free.clear()

    def resume_writing(self) -> None:
        self._free.set()

    # ---- reading -----------------------------------------------------------------------------------

    async def take(self, size: int) -> bytes:
        """Return the next bytes, or raise ``Gone``."""
        self._wanted = size
        while len(self._received) < size:
            if self._ended:
                raise Gone
            self._news.clear()
            self.transport.resume_reading()
            await self._news.wait()
        taken = bytes(self._received[:size])
        del self._received[:size]
        return taken

    # ---- writing -----------------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        self._sent.append(data)
        self._unsent += len(data)

    @property
    def full(self) -> bool:
        """Whether it is time to flush."""
        return self._unsent >= _KEPT

    async def flush(self) -> None:
        """Hand over what is to be sent, and wait until little of it is left."""
        data, self._sent, self._unsent = b"".join(self._sent), [], 0
        if self.lost:
            raise Gone
        self.transport.write(data)
        left = self.transport.get_write_buffer_size()
        while not self._free.is_set():
            try:
                async with asyncio.timeout(READ_WITHIN):
                    await self._free.wait()
            except TimeoutError:
                before, left = left, self.transport.get_write_buffer_size()
                if left >= before:
                    self.transport.abort()
                    raise Gone from None
        if self.lost:
            raise Gone

    # ---- TLS ---------------------------------------------------------------------------------------

    async def encrypt(self, context: ssl.SSLContext, answer: bytes, within: float) -> None:
        """Say yes, and go on encrypted. What came in the clear before that is not taken for encrypted."""
        self.transport.pause_reading()
        if self._received:
            raise Gone
        self.transport.write(answer)
        try:
            made = await asyncio.get_running_loop().start_tls(
                self.transport, self, context, server_side=True, ssl_handshake_timeout=within
            )
        except (OSError, ssl.SSLError, TimeoutError):
            raise Gone from None
        if made is None:  # the client left during the handshake
            raise Gone
        self.transport = made

    async def close(self) -> None:
        """Send the rest and close; after a second, close without."""
        try:
            async with asyncio.timeout(1.0):
                await self.flush()
        except (Gone, TimeoutError):
            pass
        if not self.lost:
            self.transport.close()
            asyncio.get_running_loop().call_later(1.0, self.transport.abort)


def _ask_whether_it_is_there(connection: socket.socket) -> None:
    """Let the system ask a silent client each minute: one whose machine has died says nothing for good."""
    if connection.family in (socket.AF_INET, socket.AF_INET6):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _ALIVE.items():
            if hasattr(socket, name):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


_ALIVE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 6}
"""Seconds of silence, seconds between questions, and how many of these without an answer are the end."""
