"""Nothing: the run tells something, whatever becomes of the change that it was ordered together with."""

from __future__ import annotations

from paramedic.interventions.surroundings import Surroundings


def install(surroundings: Surroundings, argument: str) -> None:
    def count() -> None:
        surroundings.applied, surroundings.failed = 1, None

    surroundings.patience = None
    surroundings.on_finish.append(count)
