"""A watch that a framework starts and ends: what all callbacks share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paramedic import voice
from paramedic.errors import ParamedicError
from paramedic.watching import Watch, watch

if TYPE_CHECKING:
    from paramedic.findings import Diagnosis


class Watched:
    """From `begin` to `end`; under `paramedic run`, or inside another watch, that one goes on and gives the verdict."""

    def __init__(self, **options: Any) -> None:
        self._options = options  # of paramedic.watch
        self._watch: Watch | None = None
        self.diagnosis: Diagnosis | None = None

    def begin(self) -> None:
        if self._watch is not None:
            return
        try:
            self._watch = watch(**self._options)
        except ParamedicError as error:  # a second watch: no reason to end a training
            voice.say(str(error))

    def end(self, *, show: bool = True) -> None:
        if self._watch is not None:
            self.diagnosis = self._watch.stop(show=show)
            self._watch = None
