"""How far the work is, on stderr; nothing where nobody looks."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any


class Progress:
    """A bar for one source, with its rate and the time left; or for stages, which take as long as they take."""

    def __init__(self, title: str, size: int | None, *, shown: bool, stages: bool = False) -> None:
        self._bar: Any = None
        if shown and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            clock = TimeElapsedColumn() if stages else TimeRemainingColumn()
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), clock)
            rate = TextColumn("{task.fields[rate]}")
            self._bar = Bar(*columns, rate, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(title, total=size, rate="")

    def advance(self, samples: int) -> None:
        if self._bar is not None:
            speed = self._bar.tasks[0].speed
            self._bar.update(self._task, advance=samples, rate=f"{speed:,.0f}/s" if speed else "")

    def at(self, title: str) -> None:
        """One of several stages begins."""
        if self._bar is not None:
            self._bar.update(self._task, description=title, advance=1)

    def __enter__(self) -> Progress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
