"""`learner.fit(1, cbs=ParamedicCallback())` for fastai."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastai.callback.core import Callback

from paramedic.integrations.watched import Watched

if TYPE_CHECKING:
    from paramedic.findings import Diagnosis


class ParamedicCallback(Callback):
    """Watches `fit`; the verdict is on stderr, and in `diagnosis`. Options: of paramedic.watch."""

    def __init__(self, **options: object) -> None:
        super().__init__()
        self._watched = Watched(**options)

    @property
    def diagnosis(self) -> Diagnosis | None:
        return self._watched.diagnosis

    def before_fit(self) -> None:
        self._watched.begin()

    def after_fit(self) -> None:
        self._watched.end()
