"""`NeuralNetClassifier(Net, callbacks=[ParamedicCallback()])` for skorch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skorch.callbacks import Callback

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

    def on_train_begin(self, net: object, X: object = None, y: object = None, **kwargs: object) -> None:
        self._watched.begin()

    def on_train_end(self, net: object, X: object = None, y: object = None, **kwargs: object) -> None:
        self._watched.end()
