"""A failure inside a DataLoader: which batch was being made, and which sample of it."""

from __future__ import annotations

from types import FrameType
from typing import NamedTuple

from paramedic.postmortem.frames import At
from paramedic.program.where import locals_of

_FETCH = "torch/utils/data/_utils/fetch.py"
_MISSING = object()


class Loading(NamedTuple):
    """What a DataLoader was at when its data set or collate function raised."""

    sample: str | None  # index of the sample that failed; None when all samples were there and collating failed
    indices: str  # of the batch

    def sentence(self) -> str:
        if self.sample is not None:
            return f"sample {self.sample} could not be loaded (the batch was to hold {self.indices})"
        return f"the samples were loaded but could not be made into a batch: {self.indices}"


def loading(frames: list[At]) -> Loading | None:
    """Read off the frames of torch's fetcher; None when no sample was being loaded."""
    for position, at in enumerate(frames):
        frame = at.frame
        if frame.f_code.co_name == "fetch" and frame.f_code.co_filename.replace("\\", "/").endswith(_FETCH):
            indices = locals_of(frame).get("possibly_batched_index", _MISSING)
            if indices is _MISSING:
                return None
            sample = _sample([inner.frame for inner in frames[position + 1 :]])
            return Loading(None if sample is _MISSING else shown_indices(sample), shown_indices(indices))
    return None


def _sample(inner: list[FrameType]) -> object:
    for frame in inner[:2]:
        code, local = frame.f_code, locals_of(frame)
        if code.co_name == "<listcomp>" and "idx" in local:
            return local["idx"]
        if code.co_name == "__getitem__" and code.co_argcount > 1:
            return local.get(code.co_varnames[1], _MISSING)
    return _MISSING


def shown_indices(indices: object) -> str:
    """`3, 5, 8`; long lists are cut."""
    if not isinstance(indices, (list, tuple)):
        return str(indices) if isinstance(indices, (int, str)) else type(indices).__name__
    shown = ", ".join(shown_indices(index) for index in indices[:8])
    return f"{shown}, … ({len(indices):,} samples)" if len(indices) > 8 else shown
