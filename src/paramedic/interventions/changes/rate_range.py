"""A learning rate that grows from step to step: it is good where the loss falls fastest."""

from __future__ import annotations

from paramedic.interventions.changes.learning_rate import multiply
from paramedic.interventions.surroundings import Surroundings


def install(surroundings: Surroundings, argument: str) -> None:
    low, high, steps = (float(part) for part in argument.split(":"))
    multiply(surroundings, lambda step: low * (high / low) ** min(step / max(steps - 1, 1), 1.0))
