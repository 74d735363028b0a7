"""Read an exception: the user's line that raised it, and the sample it was raised for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from types import FrameType

from paramedic.aliases import Fields
from paramedic.capture.sources.datasets import reader
from paramedic.errors import message_of
from paramedic.program.where import frame_site, is_users, locals_of
from paramedic.record.writer import NOWHERE, Site

_FUNCTIONAL = os.path.join("torch", "nn", "functional.py")


def raised_at(error: BaseException) -> Site:
    """The user's innermost line in the traceback."""
    site = NOWHERE
    for frame, line in _frames(error):
        if is_users(frame.f_code.co_filename):
            site = frame_site(frame)._replace(line=line)
    return site


def exit_codes(error: BaseException) -> dict[str, int]:
    """Of the ranks that failed, where a launcher raised the exception: torchrun, or torch.multiprocessing.spawn."""
    failures = getattr(error, "failures", None)
    if isinstance(failures, dict):
        known = {rank: getattr(failure, "exitcode", None) for rank, failure in failures.items()}
    else:
        known = {getattr(error, "error_index", None): getattr(error, "exit_code", None)}
    return {str(rank): code for rank, code in known.items() if isinstance(rank, int) and isinstance(code, int)}


def raised_in_reader(error: BaseException, dataset: object) -> bool:
    """Whether it came out of the dataset's own code, here or in a worker process."""
    code = reader(dataset)
    if code is None:
        return False
    if any(frame.f_code is code for frame, _ in _frames(error)):
        return True
    return (
        re.search(rf'File "{re.escape(code.co_filename)}", line \d+, in {code.co_name}\n', message_of(error))
        is not None
    )


def sample_in_traceback(error: BaseException, indices: object) -> int | None:
    """The place in the batch of the sample that was being made; known in this process only."""
    if not isinstance(indices, (list, tuple)):
        return None
    for frame, _ in _frames(error):
        if frame.f_code.co_filename.endswith("fetch.py"):
            index = locals_of(frame).get("idx")
            if index is not None and index in indices:
                return list(indices).index(index)
    return None


def call_in_traceback(error: BaseException, functions: tuple[str, ...]) -> tuple[str, Site, Fields] | None:
    """The call of one of these functions of torch that failed: its name, the user's line, and its arguments."""
    found = [frame for frame, _ in _frames(error) if frame.f_code.co_filename.endswith(_FUNCTIONAL)]
    for frame in found:
        if frame.f_code.co_name in functions:
            return frame.f_code.co_name, raised_at(error), locals_of(frame)
    return None


def _frames(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    traceback = error.__traceback__
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next
