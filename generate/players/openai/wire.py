"""HTTP to one endpoint, with a bound on everything that a stranger's server decides: size, headers, time, redirects.

Nothing is read from the environment but the proxies (HTTP_PROXY, HTTPS_PROXY, NO_PROXY), and nothing follows a
redirect: neither the key nor the prompt goes to an address that the user has not named.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

LARGEST = 4 * 1024 * 1024  # bytes of a response, unpacked; a chat completion has some kilobytes
_LONGEST_HEADER = 8190  # bytes of a header line, and as many lines as aiohttp allows (128)


class BrokenOff(Exception):
    """No response came, or none that can be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Response:
    """headers: by lower-case name."""

    status: int
    headers: Mapping[str, str]
    text: str


class Wire:
    """A client for one base URL. It belongs to the event loop of its first request."""

    def __init__(self, base_url: str, headers: Mapping[str, str], connections: int) -> None:
        self._url = f"{base_url}/chat/completions"
        self._headers = dict(headers) | {"Accept": "application/json", "Accept-Encoding": "gzip, deflate"}
        self._connections = connections
        self._proxy, self._proxy_headers = _proxy_for(base_url)
        if self._proxy is not None and base_url.startswith("http://"):
            self._headers |= self._proxy_headers  # there is no CONNECT that could carry them
        self._session: aiohttp.ClientSession | None = None

    async def post(self, body: bytes, seconds: float) -> Response:
        """The response to a request, whatever its status. Raises BrokenOff."""
        try:
            async with (
                asyncio.timeout(seconds),
                self._open().post(
                    self._url,
                    data=body,
                    allow_redirects=False,
                    proxy=self._proxy,
                    proxy_headers=self._proxy_headers,
                ) as response,
            ):
                text = await _read(response)
                return Response(response.status, {k.lower(): v for k, v in response.headers.items()}, text)
        except TimeoutError:
            raise BrokenOff(f"nothing came within {seconds:g} s") from None
        except aiohttp.ClientConnectorError:
            raise BrokenOff("it cannot be reached") from None
        except aiohttp.ClientPayloadError:
            raise BrokenOff("the response broke off in the middle") from None
        except aiohttp.ClientResponseError as error:
            long = "more than" in error.message or "too long" in error.message.lower()
            raise BrokenOff("the response's headers are too long" if long else "the response is not HTTP") from None
        except (aiohttp.ClientError, OSError, ValueError):
            raise BrokenOff("the connection broke before an answer came") from None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._connections),
                headers=self._headers,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None),
                max_line_size=_LONGEST_HEADER,
                max_field_size=_LONGEST_HEADER,
                trust_env=False,  # no .netrc: a password there belongs to another use
            )
        return self._session


async def _read(response: aiohttp.ClientResponse) -> str:
    """The body, unpacked piece by piece, so that a small one that unpacks to gigabytes is dropped in time."""
    pieces, size = [], 0
    async for piece in response.content.iter_any():
        size += len(piece)
        if size > LARGEST:
            response.close()
            raise BrokenOff(f"the response is larger than {LARGEST // 2**20} MiB")
        pieces.append(piece)
    return b"".join(pieces).decode("utf-8", "replace")


def _proxy_for(url: str) -> tuple[str | None, dict[str, str]]:
    """The proxy of the environment for an address, and the header with its password where it has one."""
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
