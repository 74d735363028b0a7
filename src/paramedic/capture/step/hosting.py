"""What the statements of a step need on the host, where a forked process must do without the accelerator."""

from __future__ import annotations

import torch
from torch import nn

from paramedic.capture.apart.on_host import Copies, TooLarge
from paramedic.capture.apart.process import Refused
from paramedic.capture.inquest.excerpt import Excerpt

MOST_PARAMETERS = 2_000_000  # of models that one core of the host can run a few times, unnoticed
SECONDS, PATIENCE = 1.0, 3.0  # that all runs may take there, and after which nobody waits


def hosted(modules: list[nn.Module], parameters: int, candidates: list[Excerpt]) -> Copies | None:
    """Copies, put in place among the variables of the statements; None where none are needed. Raises Refused."""
    if not torch.cuda.is_initialized():
        return None
    if parameters > MOST_PARAMETERS:
        raise Refused("the models are too large for a step to be run again on the host")
    try:
        copies = Copies(modules)
        for statements in candidates:
            copies.of_used(statements.code.co_names, statements.variables)
        return copies
    except TooLarge:
        raise Refused("what the step uses is too large to be copied to the host") from None
