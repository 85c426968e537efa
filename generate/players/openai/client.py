"""The openai SDK's client of one endpoint, and the limits on an untrusted server.

The SDK makes the requests and takes proxies, certificates and OpenAI's organisation and project from the environment.
It is given no key and sees none: below it, the key is put into the request's headers, and a response is limited in size
and stripped of keys. So no log and no exception of the SDK can hold one.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any
from urllib.request import getproxies

from openai import DEFAULT_CONNECTION_LIMITS, APIStatusError, AsyncOpenAI, DefaultAioHttpClient, OpenAIError, Timeout

from liescope.common.errors import UsageError
from liescope.generate.players.openai.completion import STREAM, joined_events
from liescope.generate.players.openai.spec import OPENAI_HOST, host_of
from liescope.generate.players.openai.verdict import Came, Response, Trouble
from liescope.generate.players.parsing.choice import storable

LARGEST = 4 * 1024 * 1024  # bytes of an unpacked response; a chat completion has a few kilobytes
_BEGINNING = 120  # bytes that tell a stream
_CONNECTS = 10.0  # seconds to connect
_OF_THE_SDK = frozenset({"host", "content-type"})  # headers of the SDK that are sent
_TO_OPENAI = frozenset({"openai-organization", "openai-project"})  # headers sent only to OpenAI
_READ = re.compile(r"retry-after(-ms)?|x-ratelimit-reset")  # headers of a response that are used


class Client:
    """A client for one base URL. It belongs to the event loop of its first request. secret: the key, "" for none; hide:
    takes the run's keys out of a text; connections: the most at once. Raises UsageError for an invalid address, or an
    invalid proxy or certificate in the environment.
    """

    def __init__(self, base_url: str, secret: str, hide: Callable[[str], str], connections: int) -> None:
        try:
            self._sdk = AsyncOpenAI(
                api_key="in the headers",
                base_url=base_url,
                max_retries=0,
                timeout=Timeout(None, connect=_CONNECTS),
                http_client=_BoundedHttp(base_url, secret, hide, connections),
            )
        except Exception as error:
            raise UsageError(
                f"{base_url} cannot be asked: it, or a proxy or certificate that the environment names, is wrong "
                f"({type(error).__name__})"
            ) from error

    async def chat(self, body: Mapping[str, Any], seconds: float) -> Came:
        """The response to a chat completion request within that time."""
        create = self._sdk.chat.completions.with_raw_response.create
        # In extra_body, because the SDK would search every message of a plain body for files.
        return await _came(create(model=body["model"], messages=[], extra_body=body), seconds)

    async def models(self, seconds: float) -> Came:
        """The list of models, or whatever the server answers."""
        return await _came(self._sdk.models.with_raw_response.list(), seconds)

    async def close(self) -> None:
        await self._sdk.close()


class BrokenOff(OpenAIError):
    """No usable response came; the message says why."""


class _BoundedHttp(DefaultAioHttpClient):
    """Sends few of the SDK's headers, follows no redirect, keeps no cookie, and limits the size of a response."""

    def __init__(self, base_url: str, secret: str, hide: Callable[[str], str], connections: int) -> None:
        limits = type(DEFAULT_CONNECTION_LIMITS)(max_connections=connections, max_keepalive_connections=connections)
        secured = base_url.startswith("https://") or bool(getproxies())
        # Plain http needs no certificates, and loading them takes 25 ms.
        super().__init__(limits=limits, follow_redirects=False, verify=secured)
        self._passed = _OF_THE_SDK | _TO_OPENAI if host_of(base_url) == OPENAI_HOST else _OF_THE_SDK
        self._own = {"Accept": "application/json", "Accept-Encoding": "gzip, deflate", "User-Agent": "liescope"}
        if secret:
            self._own["Authorization"] = f"Bearer {secret}"
        self._hide = hide

    async def send(self, request: Any, **options: Any) -> Any:
        """The response of a server, small and safe to keep. Raises BrokenOff."""
        passed = {name: value for name, value in request.headers.items() if name in self._passed}
        # A new request, since the SDK reads its own markers back from the headers of the original.
        sent = type(request)(
            request.method,
            request.url,
            headers=passed | self._own,
            content=request.content,
            extensions=request.extensions,
        )
        try:
            response = await super().send(sent, **options | {"stream": True})
        except Exception as error:  # noqa: BLE001 - several libraries raise here, and some SDKs log what they raised
            raise BrokenOff(_why(error)) from None
        try:
            content = await _content(response)
        finally:
            await response.aclose()
            self.cookies.clear()
        headers = {name: self._hide(value) for name, value in response.headers.items() if _READ.fullmatch(name)}
        # Put together first: a key may lie in several pieces of a stream.
        text = self._hide(storable(joined_events(content.decode("utf-8", "replace"))))
        return type(response)(response.status_code, headers=headers, content=text.encode(), request=request)

    def _transport_for_url(self, url: Any) -> Any:
        return _DiscreetTransport(super()._transport_for_url(url))


class _DiscreetTransport:
    """One of the SDK's transports, stripped of whatever a server could leave in a session or in the client's log."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport

    async def handle_async_request(self, request: Any) -> Any:
        response = await self._transport.handle_async_request(request)
        response.extensions.pop("reason_phrase", None)  # the client above would log it
        with suppress(AttributeError):
            self._transport.client.cookie_jar.clear()  # aiohttp's own
        return response


async def _content(response: Any) -> bytes:
    """The body, unpacked here: decoders of the SDK's transports may unpack a few bytes to gigabytes at once."""
    pieces, size = [], 0
    try:
        async for piece in response.aiter_raw():
            size += len(piece)
            if size > LARGEST:
                break
            pieces.append(piece)
    except Exception:  # noqa: BLE001 - as in `send`
        if not STREAM.match(b"".join(pieces)[:_BEGINNING].decode("utf-8", "replace")):  # a stream may tell what it cost
            raise BrokenOff("the response broke off in the middle") from None
    content = b"".join(pieces)
    if response.headers.get("content-encoding", "identity") != "identity" and size <= LARGEST:
        try:
            content = zlib.decompressobj(32 + zlib.MAX_WBITS).decompress(content, LARGEST + 1)  # gzip or deflate
        except zlib.error:
            raise BrokenOff("the response cannot be unpacked") from None
        size = len(content)
    if size > LARGEST:
        raise BrokenOff(f"the response is larger than {LARGEST // 2**20} MiB")
    return content


def _why(error: Exception) -> str:
    """What an aiohttp exception means, whether or not the SDK's transport wrapped it."""
    name = type(error.__cause__ or error).__name__
    if "Certificate" in name:
        reason = re.search(r"verify failed: ([^(]{1,80})", str(error.__cause__ or error))
        words = f" ({reason[1].strip()})" if reason else ""
        return f"its certificate is not trusted{words}: name your authority's file in SSL_CERT_FILE"
    if "Connector" in name or name == "ConnectionTimeoutError":
        return "it cannot be reached"
    if name == "ClientResponseError":
        return "the response is not HTTP, or its headers are too long"
    return "the connection broke before an answer came"


async def _came(call: Awaitable[Any], seconds: float) -> Came:
    """The response to a call of the SDK, whatever its status, or why none came."""
    try:
        async with asyncio.timeout(seconds):
            response = (await call).http_response
    except APIStatusError as error:
        response = error.response
    except TimeoutError:
        return Trouble(f"nothing came within {seconds:g} s", overloaded=True, heard=False)
    except OpenAIError as error:  # the first SDKs of 2.x wrap ours in their own
        return Trouble(str(error.__cause__ or error), heard=False)
    return Response(response.status_code, dict(response.headers), response.text)
