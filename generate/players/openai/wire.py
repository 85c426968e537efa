"""The wire to one endpoint: the openai SDK over our own transport, which limits what an untrusted server can do.

The SDK builds the rare requests; its own retries, timeouts and redirects are off. Chat completions go straight to the
transport: for each, the SDK would take several times the processor's time that sending takes. The transport limits the
size, headers and time of a response and reads nothing from the environment but the proxies (HTTP_PROXY, HTTPS_PROXY,
NO_PROXY). It sends only the headers it was given, none of the SDK's (which takes some from the environment,
OPENAI_CUSTOM_HEADERS), and follows no redirects: neither the key nor the prompt goes to an address that the user has
not named.
"""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx2

LARGEST = 4 * 1024 * 1024  # bytes of a decompressed response; a chat completion has a few kilobytes
_UNPACKED = frozenset({"content-encoding", "content-length", "content-type", "transfer-encoding"})
_CONNECTS = 10.0  # seconds that a connection may take to come about
_LONGEST_HEADER = 8190  # bytes of a header line, and as many lines as aiohttp allows (128)


class BrokenOff(Exception):
    """No usable response came; the message says why."""


class TooSlow(BrokenOff):
    """No response came in time."""


@dataclass(frozen=True, slots=True)
class Response:
    """headers: by lower-case name."""

    status: int
    headers: Mapping[str, str]
    text: str


class Wire:
    """A client for one base URL. It belongs to the event loop of its first request.

    headers: of every request.
    """

    def __init__(self, base_url: str, headers: Mapping[str, str], connections: int) -> None:
        self._base_url = base_url
        self._url = f"{base_url}/chat/completions"
        self._transport = _BoundedTransport(base_url, headers, connections)

    async def post(self, body: Mapping[str, Any], seconds: float) -> Response:
        """The response to a request, whatever its status. Raises BrokenOff."""
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        try:
            async with asyncio.timeout(seconds):
                status, headers, content = await self._transport.send("POST", self._url, data)
        except TimeoutError:
            raise _too_slow(seconds) from None
        return Response(status, {name.lower(): value for name, value in headers}, content.decode())

    async def models(self, seconds: float) -> Response:
        """The list of models, or whatever comes for it. Raises BrokenOff."""
        from openai import APIConnectionError, APIStatusError, AsyncOpenAI  # takes long to import

        client = AsyncOpenAI(
            api_key="not used: the headers have it",
            base_url=self._base_url,
            max_retries=0,
            timeout=None,
            http_client=httpx2.AsyncClient(transport=self._transport, trust_env=False, follow_redirects=False),
        )
        try:
            async with asyncio.timeout(seconds):
                reply = await client.get("/models", cast_to=httpx2.Response)
        except APIStatusError as error:
            reply = error.response
        except TimeoutError:
            raise _too_slow(seconds) from None
        except APIConnectionError as error:
            raise _cause(error) from None
        return Response(reply.status_code, {name.lower(): value for name, value in reply.headers.items()}, reply.text)

    async def close(self) -> None:
        await self._transport.aclose()


class _BoundedTransport(httpx2.AsyncBaseTransport):
    """Sends the SDK's requests with aiohttp. Raises BrokenOff if no usable response comes."""

    def __init__(self, base_url: str, headers: Mapping[str, str], connections: int) -> None:
        self._connections = connections
        self._proxy, self._proxy_headers = proxy_for(base_url)
        # Without a tunnel there is no CONNECT request to carry the proxy's login.
        plain_proxy = self._proxy_headers if self._proxy and base_url.startswith("http://") else {}
        self._headers = {"Accept": "application/json", "Accept-Encoding": "gzip, deflate", **headers, **plain_proxy}
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        status, headers, content = await self.send(request.method, str(request.url), request.content)
        return httpx2.Response(status, headers=headers, content=content, request=request)

    async def send(self, method: str, url: str, data: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        """The status, the headers and the body (in UTF-8) of a response."""
        try:
            async with self._open().request(
                method,
                url,
                data=data,
                headers=self._headers,
                allow_redirects=False,
                proxy=self._proxy,
                proxy_headers=self._proxy_headers,
            ) as response:
                content = await _read(response)
                headers = [(name, value) for name, value in response.headers.items() if name.lower() not in _UNPACKED]
                return response.status, headers, content
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
            raise BrokenOff("it cannot be reached") from None
        except aiohttp.ClientPayloadError:
            raise BrokenOff("the response broke off in the middle") from None
        except aiohttp.ClientResponseError as error:
            long = "more than" in error.message or "too long" in error.message.lower()
            raise BrokenOff("the response's headers are too long" if long else "the response is not HTTP") from None
        except (aiohttp.ClientError, OSError, ValueError):
            raise BrokenOff("the connection broke before an answer came") from None

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = open_session(self._connections)
        return self._session


def open_session(connections: int) -> aiohttp.ClientSession:
    """A session with limits on what a server can do, that takes nothing from the environment."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=connections),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECTS),
        max_line_size=_LONGEST_HEADER,
        max_field_size=_LONGEST_HEADER,
        trust_env=False,  # no .netrc: a password there belongs to another use
    )


def _too_slow(seconds: float) -> TooSlow:
    return TooSlow(f"nothing came within {seconds:g} s")


def _cause(error: BaseException) -> BrokenOff:
    """The transport's error underneath the SDK's error."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, BrokenOff):
        cause = cause.__cause__ or cause.__context__
    return cause if isinstance(cause, BrokenOff) else BrokenOff("the connection broke before an answer came")


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """The body in UTF-8, decompressed in pieces, so that a small body that expands to gigabytes is dropped in time."""
    pieces, size = [], 0
    async for piece in response.content.iter_any():
        size += len(piece)
        if size > LARGEST:
            response.close()
            raise BrokenOff(f"the response is larger than {LARGEST // 2**20} MiB")
        pieces.append(piece)
    return b"".join(pieces).decode("utf-8", "replace").encode()


def proxy_for(url: str) -> tuple[str | None, dict[str, str]]:
    """The proxy that the environment sets for an address, and the header with its password if it has one."""
    parts = urlsplit(url)
    address = getproxies().get(parts.scheme)
    if not address or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None, {}
    proxy = urlsplit(address if "://" in address else f"http://{address}")
    bare = f"{proxy.scheme}://{proxy.netloc.rpartition('@')[2]}"
    if proxy.username is None:
        return bare, {}
    login = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return bare, {"Proxy-Authorization": f"Basic {b64encode(login.encode()).decode()}"}
