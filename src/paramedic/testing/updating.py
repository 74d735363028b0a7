"""Whether stored references are to be written anew: `pytest --paramedic-update`, or PARAMEDIC_UPDATE=1."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_VARIABLE = "PARAMEDIC_UPDATE"
_OWN = str(Path(__file__).parent)


def wanted() -> bool:
    return os.environ.get(_VARIABLE, "") not in ("", "0")


def want(update: bool) -> None:
    """For this process and, with xdist, its workers."""
    if update:
        os.environ[_VARIABLE] = "1"


def reference_file(name: str) -> Path:
    """`golden/NAME.json` beside the test that asks; a path with a suffix is taken as it is."""
    if name.endswith(".json"):
        return Path(name)
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
    return Path(frame.f_code.co_filename).parent / "golden" / f"{name}.json"
