"""`alone`: for tests in which a copy of the model is asked."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture
def alone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that waits for any child process is never asked, and some tests that share this process do."""
    own = request.module.__name__
    for name in [name for name in sys.modules if name.startswith("tests.") and name != own]:
        monkeypatch.delitem(sys.modules, name)
