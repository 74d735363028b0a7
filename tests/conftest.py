"""Fixtures: `shop` runs real scripts in real processes; see workshop.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from workshop import Workshop


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)
