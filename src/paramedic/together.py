"""`torchrun -m paramedic run train.py`: a paramedic in each rank, but one run and one verdict."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from pathlib import Path

from paramedic.errors import ParamedicError

PATIENCE = 30.0  # seconds after the first rank's end
POLL = 0.2


def is_one_of_several() -> bool:
    """Whether a launcher started this very process as one of several ranks."""
    known = all(name in os.environ for name in ("RANK", "LOCAL_RANK", "TORCHELASTIC_RUN_ID"))
    return known and int(os.environ.get("LOCAL_WORLD_SIZE", 1)) > 1


def speaks() -> bool:
    """The first rank of a machine gives the verdict."""
    return not is_one_of_several() or os.environ["LOCAL_RANK"] == "0"


def record_name() -> str:
    return "main" if speaks() else f"rank{os.environ['RANK']}"


def run_id() -> str | None:
    """The same for all ranks of a machine: when their launcher began, and where they meet."""
    if not is_one_of_several():
        return None
    import psutil

    names = ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "GROUP_RANK")
    meeting = " ".join(os.environ.get(name, "") for name in names)
    began = psutil.Process(os.getppid()).create_time()
    digest = hashlib.blake2b(f"{meeting} {os.getppid()}".encode(), digest_size=3).hexdigest()
    return f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(began))}-{digest}"


def wait_for_the_others(folder: Path) -> None:
    """Until every rank of this machine has closed its record, or is gone."""
    end = time.monotonic() + PATIENCE
    while is_one_of_several() and time.monotonic() < end and not _all_closed(folder):
        time.sleep(POLL)


def _all_closed(folder: Path) -> bool:
    import psutil

    from paramedic.record.reader import reading

    try:
        with reading(folder) as runs:
            open_ones = [run for run in runs if "seconds" not in run.meta and psutil.pid_exists(run.meta.get("pid", 0))]
            return len(runs) >= int(os.environ.get("LOCAL_WORLD_SIZE", 1)) and not open_ones
    except (ParamedicError, sqlite3.Error):  # one is just being made
        return False
