"""The wire to one endpoint, which limits what an untrusted server can do.

The openai SDK lists the models over it. Chat completions are sent without the SDK, with which a request of a game costs
three times the processor's time.

The wire limits the size, headers and time of a response and reads nothing from the environment but the proxies
(HTTP_PROXY, HTTPS_PROXY, NO_PROXY). It sends only the headers it was given and follows no redirects: neither the key
nor the prompt goes to an address that the user has not named.
"""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx2

LARGEST = 4 * 1024 * 1024  # bytes of a decompressed response; a chat completion has a few kilobytes
_CONNECTS = 10.0  # seconds that a connection may take to come about
_LONGEST_HEADER = 8190  # bytes of a header line, and as many lines as aiohttp allows (128)


class BrokenOff(Exception):
    """No usable response came; the message says why."""


class TooSlow(BrokenOff):
    """No response came in time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"nothing came within {seconds:g} s")


@dataclass(frozen=True, slots=True)
class Response:
    """headers: by lower-case name."""

    status: int
    headers: Mapping[str, str]
    text: str


class Wire:
    """A client for one base URL. It belongs to the event loop of its first request. headers: of every request."""

    def __init__(self, base_url: str, headers: Mapping[str, str], connections: int) -> None:
        self._base_url = base_url
        self._connections = connections
        self._proxy, self._proxy_headers = proxy_for(base_url)
        # Without a tunnel there is no CONNECT request to carry the proxy's login.
        plain_proxy = self._proxy_headers if self._proxy and base_url.startswith("http://") else {}
        self._headers = {"Accept": "application/json", "Accept-Encoding": "gzip, deflate", **headers, **plain_proxy}
        self._session: aiohttp.ClientSession | None = None

    async def post(self, body: Mapping[str, Any], seconds: float) -> Response:
        """The response to a request for a chat completion, whatever its status. Raises BrokenOff."""
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        return await self.send("POST", f"{self._base_url}/chat/completions", data, seconds)

    async def models(self, seconds: float) -> Response:
        """The list of models, or whatever comes for it, as the SDK asks for it. Raises BrokenOff."""
        from openai import APIConnectionError, APIStatusError, AsyncOpenAI  # takes long to import

        carrier = _Carrier(self, seconds)
        client = AsyncOpenAI(
            api_key="not used: the headers have it",
            base_url=self._base_url,
            max_retries=0,
            timeout=None,
            http_client=httpx2.AsyncClient(transport=carrier, trust_env=False, follow_redirects=False),
        )
        with suppress(APIConnectionError, APIStatusError):  # the carrier knows what came
            await client.models.with_raw_response.list()
        if isinstance(carrier.came, BrokenOff):
            raise carrier.came
        return carrier.came

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def send(self, method: str, url: str, data: bytes, seconds: float) -> Response:
        """What comes for a request within that time, whatever its status. Raises BrokenOff."""
        if self._session is None:
            self._session = self._opened()
        try:
            async with (
                asyncio.timeout(seconds),
                self._session.request(
                    method,
                    url,
                    data=data,
                    headers=self._headers,
                    allow_redirects=False,
                    proxy=self._proxy,
                    proxy_headers=self._proxy_headers,
                ) as response,
            ):
                content = await _read(response)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
            raise BrokenOff("it cannot be reached") from None
        except TimeoutError:
            raise TooSlow(seconds) from None
        except aiohttp.ClientPayloadError:
            raise BrokenOff("the response broke off in the middle") from None
        except aiohttp.ClientResponseError as error:
            long = "more than" in error.message or "too long" in error.message.lower()
            raise BrokenOff("the response's headers are too long" if long else "the response is not HTTP") from None
        except (aiohttp.ClientError, OSError, ValueError):
            raise BrokenOff("the connection broke before an answer came") from None
        return Response(response.status, {name.lower(): value for name, value in response.headers.items()}, content)

    def _opened(self) -> aiohttp.ClientSession:
        """A session with limits on what a server can do, that takes nothing from the environment."""
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._connections),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECTS),
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
            trust_env=False,  # no .netrc: a password there belongs to another use
        )


class _Carrier(httpx2.AsyncBaseTransport):
    """Takes a request of the SDK over the wire, with the wire's own headers alone, and keeps what came of it."""

    def __init__(self, wire: Wire, seconds: float) -> None:
        self._wire, self._seconds = wire, seconds
        self.came: Response | BrokenOff = BrokenOff("nothing was sent")

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            self.came = await self._wire.send(request.method, str(request.url), await request.aread(), self._seconds)
        except BrokenOff as error:
            self.came = error
            raise
        return httpx2.Response(self.came.status, text=self.came.text, request=request)


async def _read(response: aiohttp.ClientResponse) -> str:
    """The body, decompressed in pieces, so that a small body that expands to gigabytes is dropped in time."""
    pieces, size = [], 0
    async for piece in response.content.iter_any():
        size += len(piece)
        if size > LARGEST:
            response.close()
            raise BrokenOff(f"the response is larger than {LARGEST // 2**20} MiB")
        pieces.append(piece)
    return b"".join(pieces).decode("utf-8", "replace")


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
