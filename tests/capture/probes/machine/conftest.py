"""`group_of_one`: collective operations without other processes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from torch import distributed


@pytest.fixture
def group_of_one() -> Iterator[None]:
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    yield
    distributed.destroy_process_group()
