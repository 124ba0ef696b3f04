"""A sandbox for the tests: the program that SOCIALDATA_TEST_PROGRAM names."""

from __future__ import annotations

import os
import re
import subprocess
from typing import Iterator, Tuple

import pytest


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Tuple[str, str]]:
    """Return the address of a sandbox and a key that may manage."""
    program = os.environ["SOCIALDATA_TEST_PROGRAM"]
    server = subprocess.Popen(
        [program, "serve", "--sandbox", "--webhooks-private", "--addr", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    shown = ""
    address = key = None
    while not (address and key):
        line = server.stdout.readline()
        assert line, shown
        shown += line
        address = re.search(r"http://127\.0\.0\.1:\d+", shown)
        key = re.search(r"sk_test_\w+", shown)
    yield address.group(), key.group()
    server.terminate()
    assert server.wait(30) == 0
