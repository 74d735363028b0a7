"""`paramedic.watch()`: the watcher for notebooks and for code that cannot be launched with `paramedic run`."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from paramedic import cells, voice
from paramedic.errors import ParamedicError
from paramedic.settings import DEFAULT_BUDGET, Settings

if TYPE_CHECKING:
    from paramedic.capture.attach import Attachment
    from paramedic.findings import Diagnosis

_active: list[Watch] = []


class Watch:
    """A watch that is on from its creation until `stop()`, or until the end of its `with` block."""

    def __init__(self, attachment: Attachment, folder: Path, *, owner: bool) -> None:
        self._attachment = attachment
        self._owner = owner  # False under `paramedic run`, which ends the watch itself
        self.folder = folder
        self.diagnosis: Diagnosis | None = None

    def stop(self, *, show: bool = True) -> Diagnosis:
        """End the watch and give the verdict; shown on stderr unless `show` is false."""
        if self.diagnosis is None:
            from paramedic.past_runs import conclude

            if self._owner:
                self._attachment.finish()
            if self in _active:
                _active.remove(self)
            self.diagnosis = self.diagnose()
            if self._owner:
                conclude(self.folder, self.diagnosis)
            if show and self._owner:
                _show(self.diagnosis)
        return self.diagnosis

    def diagnose(self) -> Diagnosis:
        """The verdict so far; the watch goes on."""
        from paramedic.config import load_config, rule_options
        from paramedic.diagnosis import diagnose
        from paramedic.rules.catalogue import select

        self._attachment.watcher.writer.flush()
        config = load_config()
        return diagnose(self.folder, select(chosen=config.select, ignored=config.ignore), rule_options(config))

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()


def _show(diagnosis: Diagnosis) -> None:
    from paramedic.reports.screen import speaks_unicode
    from paramedic.reports.terminal import render

    stream = voice.stream()
    text = render(diagnosis, unicode=speaks_unicode(stream))
    if not cells.is_notebook():
        print(text, file=stream, end="")
        return
    from IPython.display import display

    display({"text/html": diagnosis._repr_html_(), "text/plain": text}, raw=True)


def watch(
    *models_and_optimizers: Any,
    runs: str | None = None,
    budget: float = DEFAULT_BUDGET,
    every: int | None = None,
    quiet: bool = False,
) -> Watch:
    """Watch the training that follows, in this process.

    Models and optimizers are found by themselves once they are used; naming them here is optional and has no effect.
    Use it as `with paramedic.watch(): train()`, or call it and `stop()` it later. Under `paramedic run` it joins the
    watch that is already on.

    `budget` is the share of the run's time that watching may cost (0: no statistics); with `every`, statistics are
    taken every so many steps, whatever they cost. What is certain is told while training goes on, in one line on
    stderr; with `quiet`, only at the end.
    """
    import atexit

    from paramedic.at_work import current
    from paramedic.capture.attach import attach
    from paramedic.config import load_config, new_run_id, runs_folder
    from paramedic.program import where

    if _active:
        raise ParamedicError(
            "a watch is already on in this process",
            expected="one watch at a time",
            fix="stop() the first one",
        )
    running = current()
    if running is not None:
        return Watch(running, running.watcher.writer.path.parent, owner=False)
    folder = runs_folder(load_config(), runs).absolute() / new_run_id()
    meta = {"script": "notebook" if cells.is_notebook() else "paramedic.watch", "command": "", "cwd": os.getcwd()}
    where.start_from(meta["cwd"])  # a cell that was run again has another number now
    settings = Settings(budget=budget, every=every, announce=not quiet)
    attachment = attach(folder, name="main", meta=meta, settings=settings)
    attachment.known.modules.adopt_existing()
    watch = Watch(attachment, folder, owner=True)
    _active.append(watch)
    atexit.register(lambda: attachment.finish() if watch in _active else None)
    return watch
