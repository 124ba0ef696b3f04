"""The calls that the tests of all clients make to a sandbox: ../../scenario.json."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, Dict, List, Tuple

import httpx
import pytest
from test_client import snake

from socialdata import AsyncClient, Client, Problem

STEPS: List[Dict[str, Any]] = json.loads((Path(__file__).parents[2] / "scenario.json").read_text())


@pytest.fixture(scope="session")
def names(sandbox: Tuple[str, str]) -> Dict[Tuple[str, str], str]:
    """Return the methods of the client by verb and path."""
    out = {}
    for at in ("/openapi.json", "/manage/openapi.json"):
        for path, verbs in httpx.get(sandbox[0] + at).json()["paths"].items():
            for verb, call in verbs.items():
                out[verb, path] = snake(call["operationId"])
    return out


def given(step: Dict[str, Any]) -> Dict[str, Any]:
    return {**step["params"], **({"body": step["body"]} if "body" in step else {})}


def headers(step: Dict[str, Any]) -> Dict[str, str]:
    return {"X-Sandbox": step["sandbox"]} if "sandbox" in step else {}


def blocking(base: str, key: str, name: str, step: Dict[str, Any]) -> List[Any]:
    with Client(base, key, http=httpx.Client(headers=headers(step), timeout=30)) as client:
        call = getattr(client, name)
        if "pages" not in step:
            return [call(**given(step))]
        return [page for page, _ in zip(client.pages(call, **given(step)), range(step["pages"]))]


def awaited(base: str, key: str, name: str, step: Dict[str, Any]) -> List[Any]:
    async def make() -> List[Any]:
        async with AsyncClient(base, key, http=httpx.AsyncClient(headers=headers(step), timeout=30)) as client:
            call = getattr(client, name)
            if "pages" not in step:
                return [await call(**given(step))]
            read: List[Any] = []
            async for page in client.pages(call, **given(step)):
                read.append(page)
                if len(read) == step["pages"]:
                    break
            return read

    return asyncio.run(make())


def member(value: Any, path: str) -> Any:
    for name in path.split("."):
        if isinstance(value, list):
            value = value[int(name)] if int(name) < len(value) else None
        else:
            value = value.get(name) if isinstance(value, dict) else None
    return value


@pytest.mark.parametrize("make", [blocking, awaited])
def test_scenario(sandbox: Tuple[str, str], names: Dict[Tuple[str, str], str], make: Any) -> None:
    for step in STEPS:
        if make is awaited and step.get("want", {}).get("secret") == "*":
            step = {**step, "want": {**step["want"], "secret": None}}  # the key was made before
        name = names[step.get("method", "get"), step["path"]]
        if "problem" in step:
            with pytest.raises(Problem) as e:
                make(*sandbox, name, step)
            assert {"code": e.value.code, "status": e.value.status} == step["problem"], step["name"]
            continue
        answers = make(*sandbox, name, step)
        for answer in answers:
            for path, want in step["want"].items():
                got = member(answer, path)
                assert got is not None if want == "*" else got == want, (step["name"], path, got)
        if "pages" in step:
            ids = [o["id"] for page in answers for o in page["data"]]
            assert len(answers) == step["pages"] and len(set(ids)) == len(ids), step["name"]
