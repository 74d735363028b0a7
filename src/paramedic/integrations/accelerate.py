"""`Accelerator(log_with=ParamedicTracker())`, then `init_trackers` and `end_training` as with any tracker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accelerate.tracking import GeneralTracker

from paramedic.integrations.watched import Watched

if TYPE_CHECKING:
    from paramedic.findings import Diagnosis


class ParamedicTracker(GeneralTracker):
    """Watches from `init_trackers` to `end_training`, on the main process. Options: of paramedic.watch."""

    name = "paramedic"
    requires_logging_directory = False
    main_process_only = True

    def __init__(self, **options: object) -> None:
        super().__init__()
        self._watched = Watched(**options)

    @property
    def tracker(self) -> Diagnosis | None:
        """The diagnosis, once the training has ended: what accelerator.get_tracker("paramedic", unwrap=True) gives."""
        return self._watched.diagnosis

    def start(self) -> None:
        self._watched.begin()

    def store_init_configuration(self, values: dict[str, object]) -> None:
        self._watched.begin()  # versions of Accelerate that do not call start()

    def log(self, values: dict[str, object], step: int | None, **kwargs: object) -> None:
        """Losses are seen where they are computed."""

    def finish(self) -> None:
        self._watched.end()
