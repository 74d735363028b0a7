"""How a watched script ends, and what is told then: an exception, what an experiment changed, the lines to keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch

from paramedic.capture import moments
from paramedic.capture.watcher import Watcher
from paramedic.program.where import start_folder
from paramedic.record.facts import Fact
from paramedic.sources import lines_to_keep


class Surroundings(Protocol):
    """What an experiment has changed around the script, before anything was watched."""

    on_finish: list[Callable[[], object]]

    def summary(self) -> Fact: ...


def about_to_fail(watcher: Watcher, error: BaseException) -> None:
    """An exception is about to end this process, which no code of ours started; the others may end it first."""
    if isinstance(error, (KeyboardInterrupt, SystemExit)) or watcher.guard.closed:
        return
    watcher.guard.tell_each(moments.about_to_fail, error)
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        watcher.writer.start()
        watcher.writer.flush()


def tell_all(watcher: Watcher, surroundings: Surroundings | None, error: BaseException | None) -> None:
    """The script is over, by an error or not: settle what is open."""
    if surroundings is not None:
        watcher.ask("surroundings", _tell_surroundings, watcher, surroundings)
    watcher.ask("finish", watcher.bringing.finish)
    watcher.guard.tell_each(moments.run_over)
    if error is not None:
        watcher.guard.tell_each(moments.run_failed, error)
    watcher.ask("sources", _keep_sources, watcher)


def _tell_surroundings(watcher: Watcher, surroundings: Surroundings) -> None:
    for finish in surroundings.on_finish:
        finish()
    watcher.state(surroundings.summary())


def _keep_sources(watcher: Watcher) -> None:
    """The lines that findings can be about, for reports that are made where the script is not."""
    watcher.writer.set_meta(sources=lines_to_keep(watcher.writer.sites, start_folder()))
