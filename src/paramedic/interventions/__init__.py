"""Change one thing around an unmodified script: one file per change, in changes/, with a function `install`.

An order such as `learning_rate=10` names the file and gives its argument. The launcher has it followed inside the
experiment's own process, before the script builds anything.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paramedic.interventions.surroundings import Surroundings


def install(order: str, folder: Path) -> Surroundings:
    """Change the surroundings in this process as ordered; several orders are separated by commas."""
    from paramedic.interventions.surroundings import Surroundings

    surroundings = Surroundings(folder)
    for part in order.split(","):
        name, _, argument = part.partition("=")
        importlib.import_module(f"{__name__}.changes.{name}").install(surroundings, argument)
    return surroundings
