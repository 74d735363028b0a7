"""`model.fit(x, y, callbacks=[ParamedicCallback()])` for Keras 3 on torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keras.callbacks import Callback

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

    def on_train_begin(self, logs: object = None) -> None:
        self._watched.begin()

    def on_train_end(self, logs: object = None) -> None:
        self._watched.end()
