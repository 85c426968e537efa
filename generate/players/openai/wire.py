"""The wire to one endpoint: the openai SDK over our own transport, which limits what an untrusted server can do.

The SDK builds the rare requests (the list of models, files and batches); its own retries, timeouts and redirects are
off. Chat completions go straight to the transport: through the SDK, a request of a game costs three times the
processor's time. The transport limits the size, headers and time of a response and reads nothing from the environment
but the proxies (HTTP_PROXY, HTTPS_PROXY, NO_PROXY). It sends only the headers it was given, none of the SDK's (which
takes some from the environment, OPENAI_CUSTOM_HEADERS), and follows no redirects: neither the key nor the prompt goes
to an address that the user has not named.
"""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx2
from yarl import URL

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai._legacy_response import LegacyAPIResponse

LARGEST = 4 * 1024 * 1024  # bytes of a decompressed response; a chat completion has a few kilobytes
_UNPACKED = frozenset({"content-encoding", "content-length", "content-type", "transfer-encoding"})
_CONNECTS = 10.0  # seconds that a connection may take to come about
_LONGEST_HEADER = 8190  # bytes of a header line, and as many lines as aiohttp allows (128)
_FILE = "/content"  # the end of the addresses whose responses are streamed, whatever their size

Headers = list[tuple[str, str]]


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
    """A client for one base URL. It belongs to the event loop of its first request.

    headers: of every request; silence: seconds for which a server may send nothing, None for any.
    """

    def __init__(
        self, base_url: str, headers: Mapping[str, str], connections: int, silence: float | None = None
    ) -> None:
        self._base_url = base_url
        self._url = f"{base_url}/chat/completions"
        self._transport = BoundedTransport(base_url, headers, connections, silence)

    @cached_property
    def sdk(self) -> AsyncOpenAI:
        """The SDK's client over this wire."""
        from openai import AsyncOpenAI  # takes long to import

        return AsyncOpenAI(
            api_key="not used: the headers have it",
            base_url=self._base_url,
            max_retries=0,
            timeout=None,
            http_client=httpx2.AsyncClient(transport=self._transport, trust_env=False, follow_redirects=False),
        )

    async def post(self, body: Mapping[str, Any], seconds: float) -> Response:
        """The response to a request for a chat completion, whatever its status. Raises BrokenOff."""
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        try:
            async with asyncio.timeout(seconds):
                status, headers, content = await self._transport.send("POST", self._url, data)
        except TimeoutError:
            raise TooSlow(seconds) from None
        return Response(status, {name.lower(): value for name, value in headers}, content.decode())

    async def models(self, seconds: float) -> Response:
        """The list of models, or whatever comes for it. Raises BrokenOff."""
        try:
            async with asyncio.timeout(seconds):
                return await self.received(self.sdk.models.with_raw_response.list())
        except TimeoutError:
            raise TooSlow(seconds) from None

    async def received(self, request: Awaitable[LegacyAPIResponse[Any]]) -> Response:
        """The response to a request of the SDK, whatever its status. Raises BrokenOff."""
        from openai import APIStatusError

        with unwrapped():
            try:
                reply = (await request).http_response
            except APIStatusError as error:
                reply = error.response
        return response_of(reply)

    async def close(self) -> None:
        await self._transport.aclose()


class BoundedTransport(httpx2.AsyncBaseTransport):
    """Sends requests with aiohttp. Raises BrokenOff if no usable response comes."""

    def __init__(self, base_url: str, headers: Mapping[str, str], connections: int, silence: float | None) -> None:
        self._connections, self._silence = connections, silence
        self._proxy, self._proxy_headers = proxy_for(base_url)
        # Without a tunnel there is no CONNECT request to carry the proxy's login.
        plain_proxy = self._proxy_headers if self._proxy and base_url.startswith("http://") else {}
        self._headers = {"Accept": "application/json", "Accept-Encoding": "gzip, deflate", **headers, **plain_proxy}
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        data, kind = await request.aread(), request.headers.get("Content-Type")
        url, own = URL(str(request.url), encoded=True), {"Content-Type": kind} if kind else {}
        if not request.url.path.endswith(_FILE):
            status, headers, content = await self.send(request.method, url, data, own)
            return httpx2.Response(status, headers=headers, content=content, request=request)
        with self._told():
            response = await self._request(request.method, url, data, own)
            if not response.ok:
                async with response:
                    return httpx2.Response(response.status, content=await _read(response), request=request)
        return httpx2.Response(
            response.status, headers=_kept(response), stream=_Pieces(self, response), request=request
        )

    async def send(
        self, method: str, url: str | URL, data: bytes, own: Mapping[str, str] | None = None
    ) -> tuple[int, Headers, bytes]:
        """The status, the headers and the body (in UTF-8) of a response. own: headers of this request alone."""
        with self._told():
            async with self._request(method, url, data, own) as response:
                content = await _read(response)
                return response.status, _kept(response), content

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _request(
        self, method: str, url: str | URL, data: bytes, own: Mapping[str, str] | None
    ) -> aiohttp.client._RequestContextManager:
        if self._session is None:
            self._session = self._opened()
        return self._session.request(
            method,
            url,
            data=data,
            headers={**self._headers, **own} if own else self._headers,
            allow_redirects=False,
            proxy=self._proxy,
            proxy_headers=self._proxy_headers,
        )

    def _opened(self) -> aiohttp.ClientSession:
        """A session with limits on what a server can do, that takes nothing from the environment."""
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._connections),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECTS, sock_read=self._silence),
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
            trust_env=False,  # no .netrc: a password there belongs to another use
        )

    @contextmanager
    def _told(self) -> Iterator[None]:
        """The errors of aiohttp as BrokenOff, in words."""
        try:
            yield
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
            raise BrokenOff("it cannot be reached") from None
        except aiohttp.SocketTimeoutError:
            raise TooSlow(self._silence or 0.0) from None
        except aiohttp.ClientPayloadError:
            raise BrokenOff("the response broke off in the middle") from None
        except aiohttp.ClientResponseError as error:
            long = "more than" in error.message or "too long" in error.message.lower()
            raise BrokenOff("the response's headers are too long" if long else "the response is not HTTP") from None
        except (aiohttp.ClientError, OSError, ValueError):
            raise BrokenOff("the connection broke before an answer came") from None


class _Pieces(httpx2.AsyncByteStream):
    """The body of a response, piece by piece."""

    def __init__(self, transport: BoundedTransport, response: aiohttp.ClientResponse) -> None:
        self._transport, self._response = transport, response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with self._transport._told():
            async for piece in self._response.content.iter_any():
                yield piece

    async def aclose(self) -> None:
        self._response.close()


@contextmanager
def unwrapped() -> Iterator[None]:
    """The SDK's errors of a connection as what the transport raised."""
    from openai import APIConnectionError

    try:
        yield
    except APIConnectionError as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, BrokenOff):
            cause = cause.__cause__ or cause.__context__
        raise cause or BrokenOff("the connection broke before an answer came") from None


def response_of(reply: httpx2.Response) -> Response:
    """A response of the SDK whose body has been read."""
    return Response(reply.status_code, {name.lower(): value for name, value in reply.headers.items()}, reply.text)


def _kept(response: aiohttp.ClientResponse) -> Headers:
    """The headers that are still true of a body that was unpacked."""
    return [(name, value) for name, value in response.headers.items() if name.lower() not in _UNPACKED]


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
