"""While the run goes on: TensorBoard's files keep up with the record, in a thread of the attendant."""

from __future__ import annotations

import contextlib
import gc
import threading
import time
from pathlib import Path

from paramedic.postmortem.lookout import SHARE, step_back

EVERY = 5.0  # seconds


def start(record: Path, folder: Path) -> None:
    """Write until this process ends; the run writes the rest. What fails here is written then, too."""
    threading.Thread(target=_run, args=(record, folder), name="paramedic-board", daemon=True).start()


def _run(record: Path, folder: Path) -> None:
    from paramedic.reports.tensorboard import Board

    step_back()
    board = Board(record, folder)
    while True:
        began = time.thread_time()
        with contextlib.suppress(Exception):  # there is no record yet, or it is being written
            board.more()
        gc.collect()  # records refer to each other, and hold files open
        time.sleep(max(EVERY, (time.thread_time() - began) / SHARE))
