"""Padding at the end of sequences: do the labels have it where the inputs do, and does the loss know?"""

from __future__ import annotations

import torch

MOST = 1_000_000  # elements of a batch whose padding is counted for the log
TAIL_NAMES = (
    "value",
    "rows",
    "padded_rows",
    "shortest",
    "longest",
    "padding",
    "agreeing",
    "copied",
    "empty",
    "covered",
    "begun",
    "marked",
)


def as_sequences(target: torch.Tensor, prediction: torch.Tensor) -> torch.Tensor | None:
    """The labels as (batch, time), also when they were flattened for the loss."""
    if target.dim() == 2:
        return target
    if target.dim() != 1:
        return None
    base = target._base
    if base is not None and base.dim() == 2 and base.numel() == target.numel():
        return target.reshape(base.shape)
    wide = prediction._base
    if wide is not None and wide.dim() == 3 and wide.shape[0] * wide.shape[1] == target.numel():
        return target.reshape(wide.shape[:2])
    return None


def tails(labels: torch.Tensor, inputs: torch.Tensor | None) -> torch.Tensor:
    """The numbers named in TAIL_NAMES: runs of one value at the ends of rows, and where the inputs end likewise.

    Copied: the labels are the inputs themselves. Empty: places that are padding of token ids, an id that stands nowhere
    else; covered: those of them whose label is the one value. Begun: rows of the inputs whose first id is that value;
    marked: rows with the same label right before the padding, as an end marker is.
    """
    value = labels[:, -1].mode().values
    lengths = run_at_end(labels == value)
    agreeing = copied = empty = covered = begun = torch.zeros((), device=labels.device)
    if inputs is not None and inputs.shape[0] == labels.shape[0]:
        padded = (inputs == 0).all(-1) if inputs.dim() == 3 else inputs == inputs[:, -1].mode().values
        theirs = run_at_end(padded)
        begun = (inputs[:, 0] == value).sum() if inputs.dim() == 2 else begun
        agreeing = ((lengths - theirs).abs() <= 1).logical_and(lengths > 0).logical_and(theirs > 0).sum()
        if labels.shape == inputs.shape:
            copied = (labels == inputs).all()
            alone = padded.sum() == theirs.sum()
            empty, covered = theirs.sum() * alone, torch.minimum(lengths, theirs).sum() * alone
    last = labels.gather(1, (labels.shape[1] - 1 - lengths).clamp(min=0).unsqueeze(1)).squeeze(1)
    marked = (last == last.mode().values).sum()
    numbers = [value, lengths.new_tensor(len(lengths)), (lengths > 0).sum(), lengths.min(), lengths.max()]
    numbers += [lengths.sum(), agreeing, copied, empty, covered, begun, marked]
    return torch.stack([n.double() for n in numbers])


def padding_share(tensors: list[tuple[str, torch.Tensor]]) -> float | None:
    """How much of a batch of sequences is padding: by its mask, or by the value that rows of token ids end in."""
    here = [(path, t) for path, t in tensors if t.device.type == "cpu" and not t.is_nested and t.dim() == 2]
    here = [(path, t) for path, t in here if not t.dtype.is_floating_point and t.shape[1] > 2 and t.numel() < MOST]
    for path, mask in here:
        if "mask" in path:
            return round(1 - float(mask.bool().float().mean()), 4)
    for _, ids in here[:1]:
        runs = run_at_end(ids == ids[:, -1].mode().values)
        if int(runs.max()) > 1:
            return round(float(runs.sum()) / ids.numel(), 4)
    return None


def run_at_end(same: torch.Tensor) -> torch.Tensor:
    return same.long().flip(1).cumprod(1).sum(1)
