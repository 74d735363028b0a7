"""The end of a script that was to run for some steps or seconds only."""

from __future__ import annotations

from paramedic.settings import Settings


class StopTraining(SystemExit):
    """Ends the script after the wanted number of steps. A SystemExit, so that `except Exception` lets it pass."""


def is_over(settings: Settings, steps: int, seconds: float) -> bool:
    """Whether all the steps, or all the time, that were wanted are gone."""
    enough = settings.stop_after is not None and steps >= settings.stop_after
    return enough or (settings.stop_after_seconds is not None and seconds > settings.stop_after_seconds)
