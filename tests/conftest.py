"""Fixtures: `shop` runs real scripts in real processes; see workshop.py. `warm_shop` starts them faster."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.warm import Warm

from workshop import Workshop

# Test ids, one a line, that `make slow` runs instead of `make test`: they take many seconds on two cores.
SLOW = frozenset((Path(__file__).parent / "slow.txt").read_text().split("\n")) - {""}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid in SLOW:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def default_handler_for_children() -> Iterator[None]:
    """A DataLoader with workers leaves torch's handler of SIGCHLD behind while this process lives. No later test
    could then ask a model anything in a process of its own."""
    yield
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    with Warm(Workshop(tmp_path_factory.mktemp("warm")).env) as server:
        yield server


@pytest.fixture
def warm_shop(tmp_path: Path, warm: Warm) -> Workshop:
    return Workshop(tmp_path, warm)
