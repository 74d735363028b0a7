"""`ParamedicHandler().attach(trainer)` for Ignite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ignite.engine import Events

from paramedic.integrations.watched import Watched

if TYPE_CHECKING:
    from paramedic.findings import Diagnosis


class ParamedicHandler:
    """Watches a trainer from its first event to its last. Options: of paramedic.watch.

    Exceptions are not listened to: an engine that has a handler for them no longer raises them.
    """

    def __init__(self, **options: object) -> None:
        self._watched = Watched(**options)

    @property
    def diagnosis(self) -> Diagnosis | None:
        return self._watched.diagnosis

    def attach(self, engine: Any) -> None:
        engine.add_event_handler(Events.STARTED, self._watched.begin)
        engine.add_event_handler(Events.COMPLETED, self._watched.end)
