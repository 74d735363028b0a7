"""`Trainer(callbacks=[ParamedicCallback()])` for the Trainer of transformers, and those built on it, such as TRL's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

from paramedic.aliases import Args
from paramedic.integrations.watched import Watched

if TYPE_CHECKING:
    from paramedic.findings import Diagnosis


class ParamedicCallback(TrainerCallback):
    """Watches `train`; the verdict is on stderr of the first rank, and in `diagnosis`. Options: of paramedic.watch."""

    def __init__(self, **options: object) -> None:
        self._watched = Watched(**options)

    @property
    def diagnosis(self) -> Diagnosis | None:
        return self._watched.diagnosis

    def on_train_begin(self, args: Args, state: object, control: object, **kwargs: object) -> None:
        self._watched.begin()

    def on_train_end(self, args: Args, state: Any, control: object, **kwargs: object) -> None:
        self._watched.end(show=state.is_world_process_zero)
