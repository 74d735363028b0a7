"""From what the user has to a stream of samples: one file per kind of input."""

from __future__ import annotations

from pathlib import Path

from paramedic.audit.chunk import Source
from paramedic.errors import ParamedicError


def open_source(
    data: object, *, label: str | None = None, title: str = "", sample: int | None = None, like: Source | None = None
) -> Source:
    """The samples of a tensor, an array, a pair of them, a Dataset, a DataLoader, a frame, a file or a folder.

    `like` is the training part, which decides about the columns of a validation part.
    """
    from paramedic.audit.sources import arrays, files, frames, hugging_face, torch_data

    if isinstance(data, str | Path):
        return files.open_path(Path(data), label=label, sample=sample, like=like)
    if isinstance(data, Source):
        return data
    if frames.is_frame(data):
        return frames.open_frame(data, label=label, title=title or "frame", sample=sample, like=like)
    if hugging_face.is_hugging_face(data):
        return hugging_face.open_hugging_face(data, label=label, title=title, sample=sample, like=like)
    if arrays.is_array(data) or arrays.is_pair(data):
        return arrays.open_arrays(data, title=title or "arrays", sample=sample)
    if torch_data.is_loader(data):
        return torch_data.open_loader(data, title=title, label=label, sample=sample)
    if torch_data.is_dataset(data):
        return torch_data.open_dataset(data, title=title, label=label, sample=sample)
    raise ParamedicError(
        f"a {type(data).__name__} cannot be audited",
        expected="a Dataset, a DataLoader, tensors, arrays, a frame, or the path of a file or folder",
        fix="paramedic.audit((inputs, targets)) for arrays",
    )
