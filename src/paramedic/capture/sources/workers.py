"""DataLoader workers: what a worker knows about its failure travels to the parent beside torch's own message."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, NamedTuple

from torch._utils import ExceptionWrapper
from torch.utils.data._utils import signal_handling

from paramedic.aliases import Function
from paramedic.capture.watcher import Watcher
from paramedic.errors import message_of

_ATTRIBUTE = "_paramedic"
Raised = tuple[type[BaseException], BaseException, TracebackType | None]  # as sys.exc_info() tells it


class WorkerFailure(NamedTuple):
    """Made in the worker, shown in the parent; plain text, because it has to be pickled."""

    message: str  # torch's text, by which the parent's exception is recognised
    sentence: str  # which sample failed
    lines: list[str]  # the values where it failed


class Workers:
    """Torch wraps a worker's exception as text; this adds the values, which only the worker can see."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._last: WorkerFailure | None = None

    def install(self) -> None:
        watcher = self.watcher

        def watched_init(original: Function) -> Function:
            def init(wrapper: ExceptionWrapper, exc_info: Raised | None = None, where: str = "in background") -> None:
                raised: Any = exc_info or sys.exc_info()
                original(wrapper, *(watcher.ask("workers", _without_us, raised) or raised,), where)
                watcher.ask("workers", self._describe, wrapper, raised[1])

            return init

        def watched_reraise(original: Function) -> Function:
            def reraise(wrapper: ExceptionWrapper) -> object:
                self._last = getattr(wrapper, _ATTRIBUTE, None)
                return original(wrapper)

            return reraise

        def watched_handlers(original: Function) -> Function:
            return lambda: watcher.known.crashes.in_worker(original)

        watcher.patches.wrap(signal_handling, "_set_worker_signal_handlers", watched_handlers)
        watcher.patches.wrap(ExceptionWrapper, "__init__", watched_init)
        watcher.patches.wrap(ExceptionWrapper, "reraise", watched_reraise)

    def _describe(self, wrapper: ExceptionWrapper, error: BaseException) -> None:
        from paramedic.postmortem.frames import of_traceback, spots
        from paramedic.postmortem.loading import loading
        from paramedic.postmortem.page import Page

        frames = of_traceback(error.__traceback__)
        page = Page()
        page.spots([spot for spot in spots(frames, most=3) if spot.values], title=wrapper.where.removeprefix("in "))
        found = loading(frames)
        failure = WorkerFailure(wrapper.exc_msg[-500:], found.sentence() if found else "", page.body())
        setattr(wrapper, _ATTRIBUTE, failure)

    def failure_behind(self, errors: list[BaseException]) -> WorkerFailure | None:
        """What the worker had to say about one of these exceptions."""
        last = self._last
        if last is not None and any(
            last.message in message_of(error) or last.message in repr(error) for error in errors
        ):
            return last
        return None


def _without_us(exc_info: Raised) -> Raised:
    from paramedic.postmortem.tracebacks import drop_our_frames

    drop_our_frames(exc_info[1])
    return exc_info[0], exc_info[1], exc_info[1].__traceback__
