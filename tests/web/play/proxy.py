"""A small reverse proxy: `python -m tests.web.play.proxy PORT SERVER PREFIX strip|keep`.

Like nginx and Caddy, it shows a server under a path and passes on what comes as it comes; `strip` takes the path out of
what it asks the server for.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import closing, suppress


async def main(port: int, server: int, prefix: str, strip: bool) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError), closing(writer):
            method, path, rest = (await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)
            if not path.startswith(prefix.encode() + b"/"):
                writer.write(
                    b"HTTP/1.1 404 Not Found\r\nContent-Length: 15\r\nConnection: close\r\n\r\nThe proxy's own"
                )
                return
            there, back = await asyncio.open_connection("127.0.0.1", server)
            path = path.removeprefix(prefix.encode()) if strip else path
            head = b" ".join([method, path, rest[:-2]])
            lines = [line for line in head.split(b"\r\n") if line and not line.lower().startswith(b"connection:")]
            back.write(b"\r\n".join([*lines, b"Connection: close", b"", b""]))
            up = asyncio.create_task(pipe(reader, back))
            await pipe(there, writer)
            up.cancel()
            back.close()

    async with await asyncio.start_server(serve, "127.0.0.1", port) as listening:
        await listening.serve_forever()


async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4] == "strip"))
