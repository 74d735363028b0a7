"""`Trainer(callbacks=[ParamedicCallback()])` for Lightning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paramedic.integrations.watched import Watched

if TYPE_CHECKING:
    from paramedic.findings import Diagnosis

try:
    from lightning.pytorch.callbacks import Callback
except ImportError:
    from pytorch_lightning.callbacks import Callback


class ParamedicCallback(Callback):
    """Watches `fit`; the verdict is on stderr of the first rank, and in `diagnosis`. Options: of paramedic.watch."""

    def __init__(self, **options: object) -> None:
        super().__init__()
        self._watched = Watched(**options)

    @property
    def diagnosis(self) -> Diagnosis | None:
        return self._watched.diagnosis

    def setup(self, trainer: object, pl_module: object, stage: str) -> None:
        if stage == "fit":
            self._watched.begin()

    def teardown(self, trainer: Any, pl_module: object, stage: str) -> None:
        if stage == "fit":
            self._watched.end(show=trainer.is_global_zero)

    def on_exception(self, trainer: Any, pl_module: object, exception: BaseException) -> None:
        self._watched.end(show=trainer.is_global_zero)
