"""The client against a sandbox, and against servers that fail."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import inspect
import json
import pickle
import re
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import httpx
import pytest

from socialdata import AsyncClient, Client, NoProblemDocument, Problem, WebhookError, to_rows, verify_webhook

VALUES: Dict[str, Any] = {
    "platform": "mock", "provider": "mock", "path": "users/salma_haddad", "region": "SA", "text": "قهوة",
    "of": "/v1/mock/profile?handle=salma_haddad", "url": "https://mock.example/@salma_haddad",
    "urls": ["https://mock.example/@salma_haddad"], "monitor": "salma",
    "field": "followers", "handles": ["salma_haddad"], "ids": ["salma_haddad"], "post_ids": ["salma_haddad"],
}  # fmt: skip
LINES = '{"platform": "mock", "operation": "profile", "params": {"handle": "salma_haddad"}}\n'
WATCHED: Any = {"operation": "profile", "platform": "mock", "params": {"handle": "salma_haddad"}, "every": "1h"}


def snake(name: str) -> str:
    return re.sub("[A-Z]", lambda c: "_" + c.group().lower(), name)


def calls(base: str) -> Iterator[Tuple[str, str, Dict[str, Any]]]:
    """Yield each operation that reads: its path, its method and the arguments of a call."""
    description = httpx.get(base + "/openapi.json").json()
    for path, verbs in description["paths"].items():
        if not path.startswith("/v1/") and path != "/health":
            continue
        given: Dict[str, Any] = {}
        of_several = False
        for p in verbs["get"].get("parameters", []):
            if "$ref" in p:
                p = description["components"]["parameters"][p["$ref"].rsplit("/", 1)[1]]
            one = "Exactly one of" in p.get("description", "") and not of_several
            if p.get("required") or one:
                of_several = of_several or not p.get("required")
                given[p["name"]] = VALUES.get(p["name"], "salma_haddad")
        if path == "/v1/bulkresults":
            given["id"] = "salma"
        yield path, snake(verbs["get"]["operationId"]), given


def check(path: str, answer: Any, problem: Any) -> None:
    if path == "/v1/job":  # only a search knows the id of a job
        assert problem.code == "not_found"
    elif path.startswith("/v1/facebook/"):  # the sandbox is another platform
        assert problem is not None
    elif path == "/health":
        assert answer["status"] == "ok"
    else:
        assert problem is None, f"{path}: {problem}"
        assert answer["meta"]["request_id"] and "data" in answer, path


def test_every_operation(sandbox: Tuple[str, str]) -> None:
    n = 0
    with Client(*sandbox) as client:
        client.put_monitor("salma", body=WATCHED)
        assert client.put_bulk("salma", LINES)["accepted"] == 1
        assert [r["line"] for r in client.bulk_results("salma")] == [1]
        for path, name, given in calls(sandbox[0]):
            answer = problem = None
            try:
                answer = getattr(client, name)(**given)
            except Problem as p:
                problem = p
            check(path, answer, problem)
            n += 1
    assert n > 40


def test_every_operation_awaited(sandbox: Tuple[str, str]) -> None:
    async def every() -> int:
        n = 0
        async with AsyncClient(*sandbox) as client:
            await client.put_monitor("salma", body=WATCHED)
            for path, name, given in calls(sandbox[0]):
                answer = problem = None
                try:
                    answer = await getattr(client, name)(**given)
                except Problem as p:
                    problem = p
                check(path, answer, problem)
                n += 1
        return n

    assert asyncio.run(every()) > 40


def test_every_managing_operation_has_a_method(sandbox: Tuple[str, str]) -> None:
    description = httpx.get(sandbox[0] + "/manage/openapi.json").json()
    for path, verbs in description["paths"].items():
        for verb, call in verbs.items():
            operators = any("operator" in s for s in call.get("security", []))
            for kind in (Client, AsyncClient):
                assert hasattr(kind, snake(call["operationId"])) != operators, (verb, path)


def test_manage(sandbox: Tuple[str, str]) -> None:
    with Client(*sandbox) as client:
        made = client.put_key("py", body={"day_cap": 5})
        assert made["secret"] and made["day_cap"] == 5
        with Client(sandbox[0], made["secret"]) as other:
            assert other.get_me()["data"]["key"]["id"] == made["id"]
        assert client.change_key(made["id"], body={"day_cap": 3})["day_cap"] == 3
        assert client.rotate_key(made["id"], body={"overlap": "1h"})["secret"] != made["secret"]
        assert client.revoke_key(made["id"])["revoked_at"]
        client.put_monitor("ended", body=WATCHED)
        assert client.pause_monitor("ended")["state"] == "paused"
        client.end_monitor("ended")
        assert client.put_account(body={"credits_low": 50})["credits_low"] == 50


def test_manage_awaited(sandbox: Tuple[str, str]) -> None:
    async def manage() -> None:
        async with AsyncClient(*sandbox) as client:
            made = await client.put_key("async", body={"day_cap": 5})
            assert made["secret"] and made["day_cap"] == 5
            assert (await client.put_key("async", body={"day_cap": 4}))["secret"] is None
            async with AsyncClient(sandbox[0], made["secret"]) as other:
                assert (await other.get_me())["data"]["key"]["id"] == made["id"]
                with pytest.raises(Problem) as e:
                    await other.revoke_key(made["id"])
                assert e.value.code == "unauthorized"
            assert (await client.change_key(made["id"], body={"day_cap": 3}))["day_cap"] == 3
            assert (await client.rotate_key(made["id"], body={"overlap": "1h"}))["secret"] != made["secret"]
            assert made["id"] in [k["id"] async for page in client.pages(client.list_keys) for k in page["data"]]
            assert (await client.revoke_key(made["id"]))["revoked_at"]
            await client.put_monitor("awaited", body=WATCHED)
            assert (await client.pause_monitor("awaited"))["state"] == "paused"
            assert (await client.resume_monitor("awaited"))["state"] != "paused"
            assert (await client.put_feed("awaited"))["secret"]
            await client.end_feed("awaited")
            await client.end_monitor("awaited")
            hook = await client.put_endpoint("awaited", body={"url": "http://127.0.0.1:9/hook"})
            assert hook["secret"] != (await client.new_endpoint_secret("awaited"))["secret"]
            assert (await client.test_endpoint("awaited"))["change"]
            await client.end_endpoint("awaited")
            with pytest.raises(Problem):
                await client.deliver_again("none")
            assert (await client.put_account(body={"credits_low": 60}))["credits_low"] == 60
            assert (await client.get_account())["credits_low"] == 60

    asyncio.run(manage())


def test_pages(sandbox: Tuple[str, str]) -> None:
    async def awaited() -> List[str]:
        async with AsyncClient(*sandbox) as client:
            return [c["id"] async for page in client.pages(client.list_comments, "mock", post_id="salma") for c in page["data"]]

    with Client(*sandbox) as client:
        pages = list(client.pages(client.list_comments, "mock", post_id="salma"))
    ids = [c["id"] for page in pages for c in page["data"]]
    assert len(pages) > 1 and len(set(ids)) == len(ids) > 10 * (len(pages) - 1)
    assert asyncio.run(awaited()) == ids


def test_problems(sandbox: Tuple[str, str]) -> None:
    with Client(*sandbox) as client:
        with pytest.raises(Problem) as e:
            client.get_profile("mock", handle="not_found")
        assert (e.value.code, e.value.status, e.value.retry_after) == ("not_found", 404, None)
        assert e.value.request_id.startswith("req_") and e.value.detail
        assert client.get_profile("mock", handle="salma_haddad", include_raw=True, fresh=True)["meta"]["cache"] == "MISS"


class Flaky:
    """A server that gives each request the next of answers, and keeps the requests."""

    def __init__(self, *answers: Tuple[int, Dict[str, str], str]) -> None:
        seen: List[Dict[str, str]] = []
        left = list(answers)

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                seen.append({**{k.lower(): v for k, v in self.headers.items()}, "path": self.path})
                status, headers, body = left.pop(0)
                if status == 0:
                    self.close_connection = True
                    return
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body.encode())
                self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.seen = seen
        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever)

    def __enter__(self) -> Flaky:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


GOOD = (200, {"Content-Type": "application/json"}, '{"data": {"kind": "a word to come", "more": true}, "meta": {}}')
PROBLEM: Dict[str, Any] = {"code": "rate_limited", "detail": "wait", "status": 429, "request_id": "req_1", "retry_after": 0}


def test_a_call_is_repeated_under_one_key() -> None:
    refusals: List[Tuple[int, Dict[str, str], str]] = [
        (0, {}, ""), (503, {"Retry-After": "0"}, "busy"), (429, {"Retry-After": "0"}, json.dumps(PROBLEM)),
    ]  # fmt: skip
    with Flaky(*refusals, GOOD) as server, Client(server.url, "sk_test_a") as client:
        answer = client.get_profile("mock", handle="a/b c")
    assert answer["data"] == {"kind": "a word to come", "more": True}  # D130: what is not known is kept
    assert len({r["idempotency-key"] for r in server.seen}) == 1 and len(server.seen) == 4
    assert server.seen[0]["path"] == "/v1/mock/profile?handle=a%2Fb+c" or "a%2Fb%20c" in server.seen[0]["path"]
    assert server.seen[0]["authorization"] == "Bearer sk_test_a"


def test_a_pause_that_is_too_long_is_not_waited_for() -> None:
    long = {**PROBLEM, "retry_after": 61}
    with Flaky((429, {"Retry-After": "61"}, json.dumps(long))) as server, Client(server.url, "k") as client:
        with pytest.raises(Problem) as e:
            client.get_me()
    assert e.value.retry_after == 61 and len(server.seen) == 1


def test_another_server_is_no_problem_document() -> None:
    with Flaky((404, {}, "<html>")) as server, Client(server.url, "k") as client, pytest.raises(NoProblemDocument):
        client.get_me()


STREAM = [
    (200, {"Content-Type": "text/event-stream"}, ': here\n\nevent: change\nid: 7\ndata: {"seq": 7, "type": "new"}\n\n'),
    (503, {"Retry-After": "0"}, ""),
    (200, {"Content-Type": "text/event-stream"}, 'event: change\nid: 8\ndata: {"seq": 8, "type": "gone"}\n\n'),
    (401, {"Content-Type": "application/problem+json"}, '{"code": "unauthorized", "detail": "no"}'),
]


def test_a_stream_is_resumed() -> None:
    got = []
    with Flaky(*STREAM) as server, Client(server.url, "k") as client, pytest.raises(Problem) as e:
        for change in client.follow(after=6, monitor="salma"):
            got.append(change["seq"])
    assert (got, e.value.code) == ([7, 8], "unauthorized")
    assert [r["last-event-id"] for r in server.seen] == ["6", "7", "7", "8"]


def test_a_stream_is_resumed_awaited() -> None:
    got = []

    async def follow(url: str) -> None:
        async with AsyncClient(url, "k") as client:
            async for change in client.follow():
                got.append(change["seq"])

    with Flaky(*STREAM) as server, pytest.raises(Problem):
        asyncio.run(follow(server.url))
    assert got == [7, 8] and [r.get("last-event-id") for r in server.seen] == [None, "7", "7", "8"]


def test_webhooks() -> None:
    # The vector of the Standard Webhooks libraries.
    secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", '{"test": 2432232314}'
    headers = {
        "Webhook-Id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "Webhook-Timestamp": "1614265330",
        "Webhook-Signature": "v1,bm9ldHUjKzFob2VudXRob2VodWUzMjRvdWVvdW9ldQo= v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    now = 1614265330.0
    assert verify_webhook(secret, headers, body, now=now + 299) == {"test": 2432232314}
    assert verify_webhook(secret, headers, body.encode(), now=now - 299) == {"test": 2432232314}
    bad: List[Tuple[Dict[str, str], str, float]] = [
        (headers, body, now + 301), (headers, body, now - 301), (headers, body + " ", now), ({}, body, now),
        ({**headers, "Webhook-Id": "msg_other"}, body, now), ({**headers, "Webhook-Signature": "v2,g0hM"}, body, now),
        ({**headers, "Webhook-Timestamp": "soon"}, body, now), ({**headers, "Webhook-Signature": "v1,\u00e9"}, body, now),
    ]  # fmt: skip
    for given, text, at in bad:
        with pytest.raises(WebhookError):
            verify_webhook(secret, given, text, now=at)
    signed = hmac.new(b"", b"a.1.{}", hashlib.sha256).digest()
    forged = {"webhook-id": "a", "webhook-timestamp": "1", "webhook-signature": "v1," + base64.b64encode(signed).decode()}
    for empty in ("", "whsec_", "whsec_%%%%"):
        with pytest.raises(WebhookError):
            verify_webhook(empty, forged, "{}", now=1)
    key = base64.b64decode(secret[6:])
    signed = hmac.new(key, b"msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330." + body.encode(), hashlib.sha256).digest()
    assert base64.b64encode(signed).decode() in headers["Webhook-Signature"]


def test_problems_are_pickled() -> None:
    problem = Problem({
        "type": "urn:x", "title": "Later", "code": "rate_limited", "detail": "later", "status": 429, "request_id": "r",
        "retry_after": 3,
    })  # fmt: skip
    again = pickle.loads(pickle.dumps(problem))
    assert (str(again), again.code, again.status, again.retry_after) == ("rate_limited: later", "rate_limited", 429, 3)


def test_rows() -> None:
    rows = to_rows([{"id": "1", "author": {"handle": "a", "x": {"y": None}}, "media": [{"type": "image"}]}])
    assert rows == [{"id": "1", "author.handle": "a", "author.x.y": None, "media": [{"type": "image"}]}]


def test_readme(sandbox: Tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("SOCIALDATA_URL", sandbox[0])
    monkeypatch.setenv("SOCIALDATA_KEY", sandbox[1])
    readme = (Path(__file__).parent.parent / "README.md").read_text()
    snippets = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    assert len(snippets) == 5
    scope: Dict[str, Any] = {}
    for snippet in snippets:
        exec(snippet, scope)
        assert capsys.readouterr().out.strip(), snippet


def test_both_clients_have_the_same_methods() -> None:
    def methods(kind: type) -> Dict[str, List[str]]:
        return {n: list(inspect.signature(m).parameters) for n, m in inspect.getmembers(kind, callable) if n[0] != "_"}

    blocking, awaited = methods(Client), methods(AsyncClient)
    blocking.pop("close"), awaited.pop("aclose")
    assert blocking == awaited and len(blocking) > 70
