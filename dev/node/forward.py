"""Lets pods reach servers of this machine that listen on loopback only.

Each port is opened at one more address, on which only pods can reach this machine; connections are
carried to the same port of loopback. A server that is down refuses at once, as it would itself.
"""

import asyncio
import sys
from asyncio import StreamReader, StreamWriter
from collections.abc import Sequence
from contextlib import suppress

from dev import folders
from dev.daemon import Command, Daemon

_LOOPBACK = "127.0.0.1"
_CHUNK_BYTES = 65536
_READY_SECONDS = 30


def start(daemon: Daemon, address: str, ports: Sequence[int]) -> None:
    """Start to carry, anew when it ran; ready once the ports are open. Raises StartError."""
    daemon.stop()
    daemon.log.unlink(missing_ok=True)
    numbers = [str(port) for port in ports]
    daemon.start(
        Command(
            argv=[sys.executable, "-m", "dev.node.forward", address, *numbers],
            env={"PYTHONPATH": str(folders.CHECKOUT)},
        ),
        is_ready=lambda: daemon.log.read_text(encoding="utf-8") == "open\n",
        ready_seconds=_READY_SECONDS,
    )


async def _carry_all(address: str, ports: Sequence[int]) -> None:
    servers = [await asyncio.start_server(_carry, address, port) for port in ports]
    print("open", flush=True)
    await asyncio.gather(*(server.serve_forever() for server in servers))


async def _carry(reader: StreamReader, writer: StreamWriter) -> None:
    port = writer.get_extra_info("sockname")[1]
    try:
        there = await asyncio.open_connection(_LOOPBACK, port)
    except OSError:
        writer.transport.abort()
        return
    await asyncio.gather(_copy(reader, there[1]), _copy(there[0], writer))
    for one in (writer, there[1]):
        one.close()


async def _copy(source: StreamReader, target: StreamWriter) -> None:
    """Copy until one side has said its last, and let the other know."""
    with suppress(OSError):
        while chunk := await source.read(_CHUNK_BYTES):
            target.write(chunk)
            await target.drain()
    with suppress(OSError, RuntimeError):
        target.write_eof()


if __name__ == "__main__":
    asyncio.run(_carry_all(sys.argv[1], [int(port) for port in sys.argv[2:]]))
