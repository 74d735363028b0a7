"""`model.learn(10_000, callback=ParamedicCallback())` for Stable-Baselines3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stable_baselines3.common.callbacks import BaseCallback

from paramedic.integrations.watched import Watched

if TYPE_CHECKING:
    from paramedic.findings import Diagnosis


class ParamedicCallback(BaseCallback):
    """Watches `learn`; the verdict is on stderr, and in `diagnosis`. Options: of paramedic.watch."""

    def __init__(self, **options: object) -> None:
        super().__init__()
        self._watched = Watched(**options)

    @property
    def diagnosis(self) -> Diagnosis | None:
        return self._watched.diagnosis

    def _on_training_start(self) -> None:
        self._watched.begin()

    def _on_training_end(self) -> None:
        self._watched.end()

    def _on_step(self) -> bool:
        return True  # False would end the training
