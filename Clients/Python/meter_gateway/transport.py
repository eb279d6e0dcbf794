"""HTTP to meterd: over its control socket, or over TCP to its page's port with a token."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import http.client
import json
import os
import socket
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints, is_typeddict
from urllib.parse import quote, urlencode, urlsplit

from .errors import BadAnswer, BadRequest, Forbidden, MeterError, TimedOut, Unreachable

SYSTEM_SOCKET = "/run/meterd/control.sock"
ANSWER_MAX = 64 << 20
LINE_MAX = 4 << 20

# From Python 3.14 on they are one.
UNIONS = (Union, UnionType)

Body = TypeVar("Body")


def default_socket() -> str:
    """Returns the socket that meterctl would use: $METERD_SOCKET, your own daemon's, then the system's."""
    if named := os.environ.get("METERD_SOCKET"):
        return named
    runtime, user = os.environ.get("XDG_RUNTIME_DIR", ""), os.geteuid()
    own = f"{runtime}/meterd/control.sock" if runtime.startswith("/") else f"/tmp/meterd-{user}/control.sock"  # noqa: S108
    if user != 0 and (Path(own).exists() or not Path(SYSTEM_SOCKET).exists()):
        return own
    return SYSTEM_SOCKET


def decode(text: bytes, what: str) -> Any:
    """Returns the JSON in an answer. BadAnswer where there is none."""

    def refuse(word: str) -> None:
        raise ValueError(f"{word} is no JSON")

    try:
        return json.loads(text.decode(), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise BadAnswer(
            "bad-answer",
            f"{what} cannot be read: {text[:80]!r}",
            "does meterd answer there, and is it of the version of this package?",
        ) from error


def check(value: Any, kind: type[Body], what: str) -> Body:
    """Returns an answer as a type of the interface. Raises BadAnswer with the place of a wrong type."""
    if (fault := _fault(value, kind)) is not None:
        words = f"{what} is not as the interface says, at {fault or 'all of it'}"
        raise BadAnswer("bad-answer", words, "use the package of the version that meterd has")
    return cast(Body, value)


def _fault(value: Any, kind: Any) -> str | None:
    """Returns the path of the first value of a wrong type, empty for the whole, or None. New enum words are fine."""
    if is_typeddict(kind):
        return _fault_of_keys(value, kind) if isinstance(value, dict) else ""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in UNIONS:
        return None if any(_fault(value, one) is None for one in inner) else ""
    if origin in (list, dict):
        if not isinstance(value, origin):
            return ""
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        faults = ((place, _fault(part, inner[-1])) for place, part in parts)
        return next((f"/{place}{fault}" for place, fault in faults if fault is not None), None)
    if kind is float:
        kind = int | float
    is_kind = isinstance(value, str if origin is Literal else kind)
    return None if is_kind and (kind is bool or not isinstance(value, bool)) else ""


def _fault_of_keys(value: dict[str, Any], kind: Any) -> str | None:
    for key, inner, plain in _keys(kind):
        if key not in value:
            if key in kind.__required_keys__:
                return f"/{key}"
        elif type(value[key]) not in plain and (fault := _fault(value[key], inner)) is not None:
            return f"/{key}{fault}"
    return None


@functools.cache
def _keys(kind: Any) -> list[tuple[str, Any, frozenset[type]]]:
    """Returns keys with their types, and the plain ones of those, which need no further look."""
    plain = {str, int, float, bool, NoneType}
    return [
        (key, inner, frozenset(plain.intersection(get_args(inner) if get_origin(inner) in UNIONS else (inner,))))
        for key, inner in get_type_hints(kind).items()
    ]


def failure(status: int, text: bytes, what: str) -> MeterError:
    """Returns the error that an answer of status 400 or above stands for."""
    body = decode(text, what)
    if not isinstance(body, dict) or not all(isinstance(body.get(key), str) for key in ("code", "message", "next")):
        return BadAnswer("bad-answer", f"{what} has status {status} and no reason", "does meterd answer there?")
    return MeterError.of(body["code"], body["message"], body["next"])


def segment(text: str, what: str = "meter") -> str:
    """Returns a part of a path. BadRequest where it is empty."""
    if not text:
        raise BadRequest("bad-request", f'"" names no {what}', f"give the {what}'s id or name")
    try:
        return quote(text, safe="")
    except UnicodeEncodeError as error:
        raise BadRequest("bad-request", f"{text!r} is no text", f"give the {what}'s id or name") from error


class Transport:
    """Where a meterd is. Each request has a connection of its own, so it may be used by several threads."""

    def __init__(self, socket_path: str | None, url: str | None, token: str | None, timeout: float) -> None:
        if url is not None and socket_path is not None:
            raise BadRequest("bad-request", "a socket and a URL were given", "give one of them")
        if token is not None and not (token.isascii() and token.isprintable()):
            raise BadRequest(
                "bad-request", "the token has characters that no token has", "meterctl web enable shows one"
            )
        self.timeout = timeout
        self.token = token
        self.socket_path = None if url else socket_path or default_socket()
        parts = urlsplit(url or "http://meterd")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadRequest("bad-request", f'"{url}" is not a URL', "it begins with http:// or https://")
        try:
            self.host, self.port = parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError as error:
            raise BadRequest("bad-request", f'"{url}" has no valid port', "http://host:8642") from error
        self.is_encrypted = parts.scheme == "https"
        self.name = self.socket_path or f"{parts.scheme}://{self.host}:{self.port}"

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        patience: float = 0,
    ) -> Any:
        """Returns the JSON of an answer.

        Args:
            method: GET, POST, PATCH or DELETE.
            path: with what is in it percent-encoded.
            body: sent as JSON, without what is None.
            query: added to the path, without what is None.
            patience: seconds that meterd may take on top of the usual time.

        """
        with self._answer(method, with_query(path, query), body, self.timeout + patience) as (response, _):
            text = response.read(ANSWER_MAX + 1)
            if len(text) > ANSWER_MAX:
                raise BadAnswer("bad-answer", f"{path} answers with more than {ANSWER_MAX} bytes", "ask for less")
            return decode(text, path)

    def lines(self, path: str, seconds: float | None = None) -> Iterator[Any]:
        """Yields the JSON of each line of an answer, until it ends or so many seconds have passed."""
        end = None if seconds is None else time.monotonic() + seconds
        with self._answer("GET", path, None, self.timeout) as (response, sock):
            while True:
                remaining = None if end is None else end - time.monotonic()
                if remaining is not None and remaining <= 0:
                    return
                sock.settimeout(remaining)
                try:
                    line = response.readline(LINE_MAX + 1)
                except TimeoutError:
                    if end is None:
                        raise
                    return
                if not line:
                    return
                yield from _line(line, path)

    @contextlib.contextmanager
    def _answer(
        self, method: str, path: str, body: Mapping[str, Any] | None, timeout: float
    ) -> Iterator[tuple[http.client.HTTPResponse, socket.socket]]:
        connection = self._connection(timeout)
        try:
            connection.connect()
            sock = connection.sock
            content = (
                None if body is None else json.dumps({key: value for key, value in body.items() if value is not None})
            )
            connection.request(method, path, content, self._headers(content is not None))
            with connection.getresponse() as response:
                if response.status >= 400:
                    raise failure(response.status, response.read(LINE_MAX), path)
                yield response, sock
        except (OSError, http.client.HTTPException) as error:
            raise self._loss(error, f"{method} {path}", timeout) from error
        finally:
            connection.close()

    def _headers(self, has_content: bool) -> dict[str, str]:
        headers = {"Content-Type": "application/json"} if has_content else {}
        return headers | ({"Authorization": f"Bearer {self.token}"} if self.token else {})

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        if self.socket_path is not None:
            return _LocalConnection(self.socket_path, timeout)
        kind = http.client.HTTPSConnection if self.is_encrypted else http.client.HTTPConnection
        return kind(self.host, self.port, timeout=timeout)

    def _loss(self, error: Exception, what: str, timeout: float) -> MeterError:
        if isinstance(error, TimeoutError):
            return TimedOut("timed-out", f"{what} had no answer within {timeout:g} s", "is the host busy or asleep?")
        if isinstance(error, PermissionError):
            return Forbidden("permission", f"this user may not use {self.name}", "join its group: adduser USER meterd")
        if isinstance(error, FileNotFoundError | ConnectionRefusedError | socket.gaierror):
            return Unreachable("unreachable", f"no meterd answers at {self.name}", "start it: systemctl start meterd")
        words = str(error) or type(error).__name__
        return Unreachable("unreachable", f"the connection to {self.name} was lost: {words}", "is meterd running?")

    # The same for asyncio, for streams alone: everything else is short enough for asyncio.to_thread.

    async def lines_async(self, path: str, seconds: float | None = None) -> AsyncGenerator[Any, None]:
        """Yields as `lines` does."""
        end = None if seconds is None else time.monotonic() + seconds
        writer = None
        try:
            async with asyncio.timeout(self.timeout):
                reader, writer = await self._open()
                headers = "".join(f"{key}: {value}\r\n" for key, value in self._headers(False).items())
                writer.write(f"GET {path} HTTP/1.1\r\nHost: {self._host_header}\r\n{headers}\r\n".encode())
                await writer.drain()
                pieces = await self._pieces(reader, path)
            rest = b""
            while True:
                remaining = None if end is None else end - time.monotonic()
                if remaining is not None and remaining <= 0:
                    return
                try:
                    piece = await asyncio.wait_for(anext(pieces, b""), remaining)
                except TimeoutError:
                    if end is None:
                        raise
                    return
                if not piece:
                    for value in _line(rest, path):
                        yield value
                    return
                *lines, rest = (rest + piece).split(b"\n")
                for line in [*lines, *([rest] if len(rest) > LINE_MAX else [])]:
                    for value in _line(line + b"\n", path):
                        yield value
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as error:
            raise self._loss(error, f"GET {path}", self.timeout) from error
        finally:
            if writer is not None:
                writer.close()

    @property
    def _host_header(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.socket_path else f"{host}:{self.port}"

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self.socket_path is not None:
            return await asyncio.open_unix_connection(self.socket_path)
        return await asyncio.open_connection(self.host, self.port, ssl=self.is_encrypted or None)

    async def _pieces(self, reader: asyncio.StreamReader, path: str) -> AsyncIterator[bytes]:
        """Returns the pieces of an answer's body (RFC 9112, sections 4, 6 and 7.1), an empty one at its end."""
        first, *fields = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        version, code, *_ = [*first.split(" "), "", ""]
        if not version.startswith("HTTP/1.") or not code.isdecimal():
            raise ValueError(f"{first[:80]!r} is no answer of HTTP")
        headers = {key.strip().lower(): value.strip() for key, _, value in (field.partition(":") for field in fields)}
        is_chunked = headers.get("transfer-encoding", "").lower() == "chunked"
        length = headers.get("content-length", "")

        async def chunks() -> AsyncIterator[bytes]:
            while is_chunked and (size := int((await reader.readuntil(b"\n")).split(b";")[0], 16)) > 0:
                if size > ANSWER_MAX:
                    raise ValueError(f"a chunk of {size} bytes")
                yield await reader.readexactly(size)
                await reader.readexactly(2)
            if length.isdecimal() and 0 < int(length) <= ANSWER_MAX:
                yield await reader.readexactly(int(length))
            while not is_chunked and not length and (piece := await reader.read(65536)):
                yield piece

        if int(code) >= 400:
            raise failure(int(code), b"".join([piece async for piece in chunks()]), path)
        return chunks()


class _LocalConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("meterd", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _line(line: bytes, path: str) -> Iterator[Any]:
    """Yields the JSON of a line: nothing of an empty one, with which meterd shows that it lives."""
    if len(line) > LINE_MAX:
        raise BadAnswer("bad-answer", f"{path} has a line of more than {LINE_MAX} bytes", "does meterd answer there?")
    if line.strip():
        yield decode(line, f"a line of {path}")


def with_query(path: str, query: Mapping[str, Any] | None) -> str:
    """Returns a path with its query, without what is None."""
    text = urlencode({key: value for key, value in (query or {}).items() if value is not None})
    return f"{path}?{text}" if text else path
