"""The client: problems, repeated calls, pages, streams of changes, webhooks and rows."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import random
import time
import uuid
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import (
    Any, AsyncIterator, Awaitable, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, ParamSpec,
    Type, TypeVar, Union, cast,
)
from urllib.parse import quote

import httpx

from . import models
from .operations import AsyncOperations, Operations

P = ParamSpec("P")
R = TypeVar("R")


class Problem(Exception):
    """A call that failed. It cost nothing."""

    def __init__(self, problem: models.Problem) -> None:
        super().__init__(f"{problem['code']}: {problem['detail']}")
        self.code: str = problem["code"]
        """The kind of problem, such as not_found; a later service may have further ones."""
        self.detail: str = problem["detail"]
        self.status: int = problem["status"]
        self.request_id: str = problem["request_id"]
        self.retry_after: Optional[int] = problem.get("retry_after")
        """Seconds to wait before the next call; None when waiting does not help."""
        self._problem = problem

    def __reduce__(self) -> Any:
        return type(self), (self._problem,)


class NoProblemDocument(Exception):
    """The server refused a call without saying why: its address may be wrong."""


class _Settings:
    def __init__(self, base_url: str, key: str, retries: int, patience: float) -> None:
        self._base, self._key, self._retries, self._patience = base_url.rstrip("/"), key, retries, patience

    def _request(
        self, method: str, path: str, names: Mapping[str, str], query: Mapping[str, Any], body: Any, key: Optional[str]
    ) -> Dict[str, Any]:
        """Return the arguments of a request, which is the same each time that it is sent."""
        for name, value in names.items():
            path = path.replace("{" + name + "}", quote(value, safe="/" if name == "path" else ""))
        headers = {"Authorization": f"Bearer {self._key}", "Idempotency-Key": key or str(uuid.uuid4())}
        params = {name: _text(value) for name, value in query.items() if value is not None}
        request = {"method": method, "url": self._base + path, "params": params, "headers": headers}
        if isinstance(body, (str, bytes)) or hasattr(body, "read"):  # a file of lines, which may be sent again
            headers["Content-Type"] = "application/x-ndjson"
            return {**request, "content": body.read() if hasattr(body, "read") else body}
        return {**request, "json": body}

    def _wait(self, response: Optional[httpx.Response], attempt: int) -> Optional[float]:
        """Return the seconds after which a call may be sent again; None for never."""
        seconds = 0.0 if response is None else _retry_after(response)
        if seconds is None or seconds > self._patience or attempt >= self._retries:
            return None
        return seconds or 0.2 * 2**attempt * random.uniform(0.5, 1.5)

    def _stream(self, after: Optional[int], filters: Mapping[str, Any]) -> Dict[str, Any]:
        request = self._request("GET", "/v1/changes", {}, filters, None, None)
        request["headers"]["Accept"] = "text/event-stream"
        if after is not None:
            request["headers"]["Last-Event-ID"] = str(after)
        request["timeout"] = httpx.Timeout(60, connect=10)
        return request


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(str(v) for v in value)
    return str(value)


def _retry_after(response: httpx.Response) -> Optional[float]:
    """Return the pause that a refusal asks for; 0 for one of the client's own, None for an answer that is final."""
    if response.status_code not in (429, 502, 503, 504):
        return None
    field: Optional[str] = response.headers.get("Retry-After")
    if field is not None and response.status_code != 504:
        try:
            return max(0.0, float(field))
        except ValueError:
            pass
        try:
            when: float = parsedate_to_datetime(field).timestamp()
            return max(0.0, when - time.time())
        except (TypeError, ValueError):
            return 0.0
    document = str(response.headers.get("Content-Type", "")).startswith("application/problem+json")
    return None if document else 0.0


def _answer(response: httpx.Response) -> Any:
    if response.status_code == 204:
        return None
    try:
        answer = response.json()
    except ValueError:
        answer = None
    if response.is_success and answer is not None:
        return answer
    raise _failure(response.status_code, answer)


def _failure(status: int, answer: Any) -> Exception:
    if isinstance(answer, dict) and "code" in answer and "detail" in answer:
        told = {"status": status, "request_id": "", **answer}
        return Problem(cast("models.Problem", told))
    return NoProblemDocument(f"the server answered {status} without a problem document; check its address")


class _Events:
    """The parser of one stream of events."""

    def __init__(self) -> None:
        self._event, self._data = "", ""

    def line(self, line: str) -> Optional[models.Change]:
        """Take one line, and return the change that it completes. Raise the Problem with which a stream ends."""
        field, _, value = line.partition(":")
        if field == "event":
            self._event = value.strip()
        elif field == "data":
            self._data += value
        elif line == "" and self._data:
            event, data = self._event, json.loads(self._data)
            self._event, self._data = "", ""
            if event == "error":
                raise _failure(0, data)
            if event == "change":
                return cast("models.Change", data)
        return None


class Client(_Settings, Operations):
    """A client that blocks. Each call has an Idempotency-Key: it is charged once, however often it is sent.

    retries is how often a call is repeated that may succeed later, and patience the longest pause before it, in
    seconds: a service that asks for a longer one is not asked again.
    """

    def __init__(
        self, base_url: str, key: str, *, retries: int = 3, patience: float = 60, http: Optional[httpx.Client] = None
    ) -> None:
        super().__init__(base_url, key, retries, patience)
        self._http = http or httpx.Client(timeout=30)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _call(
        self, method: str, path: str, names: Dict[str, str], query: Dict[str, Any], body: Any, idempotency_key: Optional[str]
    ) -> Any:
        request, attempt = self._request(method, path, names, query, body, idempotency_key), 0
        while True:
            response: Optional[httpx.Response] = None
            try:
                response = self._http.request(**request)
            except httpx.TransportError:
                if attempt >= self._retries:
                    raise
            pause = self._wait(response, attempt)
            if response is not None and pause is None:
                return _answer(response)
            time.sleep(pause or 0)
            attempt += 1

    def pages(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> Iterator[R]:
        """Read the pages of a list: client.pages(client.list_posts, "github", handle="octocat").

        Each page is a call with its own price.
        """
        given: Dict[str, Any] = dict(kwargs)
        while True:
            page: Any = cast(Callable[..., Any], call)(*args, **given)
            yield page
            given["cursor"] = page["meta"].get("next_cursor")
            given.pop("idempotency_key", None)
            if given["cursor"] is None:
                return

    def bulk_results(self, name: str, *, after: int = 0) -> Iterator[models.BulkResult]:
        """Yield the results of a bulk job behind the line after, by line, and wait for further ones until it is over."""
        while True:
            page = self.list_bulk_results(id=name, after=after)
            for result in page["data"]:
                after = result["line"]
                yield result
            if page["meta"].get("next_cursor") is None:
                return
            if not page["data"]:
                time.sleep(1)

    def follow(self, *, after: Optional[int] = None, **filters: str) -> Iterator[models.Change]:
        """Yield the changes behind the seq after, and wait for further ones. A lost stream is resumed.

        filters are those of list_changes, such as monitor. Store the seq of the last change to continue there.
        """
        attempt = 0
        while True:
            response: Optional[httpx.Response] = None
            try:
                with self._http.stream(**self._stream(after, filters)) as response:
                    if response.status_code != 200:
                        response.read()
                    else:
                        events, attempt = _Events(), 0
                        for line in response.iter_lines():
                            change = events.line(line.rstrip("\r\n"))
                            if change is not None:
                                after = change["seq"]
                                yield change
            except httpx.TransportError:
                if attempt >= self._retries:
                    raise
            refused = response is not None and response.status_code != 200
            pause = self._wait(response if refused else None, attempt)
            if pause is None:
                raise _failed(response)
            time.sleep(pause)
            attempt += 1


class AsyncClient(_Settings, AsyncOperations):
    """A client that is awaited; see Client."""

    def __init__(
        self, base_url: str, key: str, *, retries: int = 3, patience: float = 60, http: Optional[httpx.AsyncClient] = None
    ) -> None:
        super().__init__(base_url, key, retries, patience)
        self._http = http or httpx.AsyncClient(timeout=30)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _call(
        self, method: str, path: str, names: Dict[str, str], query: Dict[str, Any], body: Any, idempotency_key: Optional[str]
    ) -> Any:
        request, attempt = self._request(method, path, names, query, body, idempotency_key), 0
        while True:
            response: Optional[httpx.Response] = None
            try:
                response = await self._http.request(**request)
            except httpx.TransportError:
                if attempt >= self._retries:
                    raise
            pause = self._wait(response, attempt)
            if response is not None and pause is None:
                return _answer(response)
            await asyncio.sleep(pause or 0)
            attempt += 1

    async def pages(self, call: Callable[P, Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[R]:
        """Read the pages of a list; see Client.pages."""
        given: Dict[str, Any] = dict(kwargs)
        while True:
            page: Any = await cast(Callable[..., Awaitable[Any]], call)(*args, **given)
            yield page
            given["cursor"] = page["meta"].get("next_cursor")
            given.pop("idempotency_key", None)
            if given["cursor"] is None:
                return

    async def bulk_results(self, name: str, *, after: int = 0) -> AsyncIterator[models.BulkResult]:
        """Yield the results of a bulk job; see Client.bulk_results."""
        while True:
            page = await self.list_bulk_results(id=name, after=after)
            for result in page["data"]:
                after = result["line"]
                yield result
            if page["meta"].get("next_cursor") is None:
                return
            if not page["data"]:
                await asyncio.sleep(1)

    async def follow(self, *, after: Optional[int] = None, **filters: str) -> AsyncIterator[models.Change]:
        """Yield changes; see Client.follow."""
        attempt = 0
        while True:
            response: Optional[httpx.Response] = None
            try:
                async with self._http.stream(**self._stream(after, filters)) as response:
                    if response.status_code != 200:
                        await response.aread()
                    else:
                        events, attempt = _Events(), 0
                        async for line in response.aiter_lines():
                            change = events.line(line.rstrip("\r\n"))
                            if change is not None:
                                after = change["seq"]
                                yield change
            except httpx.TransportError:
                if attempt >= self._retries:
                    raise
            refused = response is not None and response.status_code != 200
            pause = self._wait(response if refused else None, attempt)
            if pause is None:
                raise _failed(response)
            await asyncio.sleep(pause)
            attempt += 1


def _failed(response: Optional[httpx.Response]) -> Exception:
    if response is None or response.status_code == 200:
        return httpx.ReadError("the stream ended, and could not be resumed")
    try:
        return _failure(response.status_code, response.json())
    except ValueError:
        return _failure(response.status_code, None)


class WebhookError(ValueError):
    """A delivery that is not from the service, or too old."""


def verify_webhook(
    secret: str, headers: Mapping[str, str], body: Union[bytes, str], *, tolerance: float = 300, now: Optional[float] = None
) -> Dict[str, Any]:
    """Return the change in a delivery, after its signature and time were checked.

    It raises WebhookError for any other request. tolerance is the greatest age, in seconds.
    https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
    """
    given = {name.lower(): value for name, value in headers.items()}
    ident, moment = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
    try:
        age = (time.time() if now is None else now) - int(moment)
        key = base64.b64decode(secret[len("whsec_") :] if secret.startswith("whsec_") else secret, validate=True)
    except ValueError as e:
        raise WebhookError("the delivery has no time, or the secret is not one") from e
    if not key:  # anyone could sign with it
        raise WebhookError("the secret is empty")
    if abs(age) > tolerance:
        raise WebhookError("the delivery is too old, or from the future")
    text = body.encode() if isinstance(body, str) else body
    signed = hmac.new(key, ident.encode() + b"." + moment.encode() + b"." + text, hashlib.sha256).digest()
    for signature in given.get("webhook-signature", "").split():
        version, _, value = signature.partition(",")
        if version == "v1" and hmac.compare_digest(base64.b64encode(signed), value.encode()):
            return cast(Dict[str, Any], json.loads(text))
    raise WebhookError("the signature is not that of the delivery")


def to_rows(objects: Iterable[Mapping[str, Any]]) -> List[Dict[str, Any]]:
    """Return objects as flat rows, for pandas.DataFrame and csv: an author's handle is in author.handle.

    Lists stay lists.
    """
    return [dict(_flat("", o)) for o in objects]


def _flat(prefix: str, o: Mapping[str, Any]) -> Iterator[Any]:
    for name, value in o.items():
        if isinstance(value, Mapping):
            yield from _flat(prefix + name + ".", value)
        else:
            yield prefix + name, value
