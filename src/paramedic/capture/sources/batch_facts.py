"""What a batch holds: its values in a few numbers, and those that are not finite."""

from __future__ import annotations

import torch

from paramedic.capture.boxes import boxes
from paramedic.capture.facts import LARGE, VALUE_NAMES, content_hash, describe, readable, values
from paramedic.capture.nearby import nearby
from paramedic.capture.watcher import Watcher
from paramedic.program.untouched import integers
from paramedic.program.where import user_site
from paramedic.record.facts import BadInput, Batch, Values

MOST_ROWS = 20
Tensors = list[tuple[str, torch.Tensor]]  # of a batch, with the path to each


class BatchFacts:
    """States what is seen in the batches of loaders."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher

    def describe(self, number: int, position: int, tensors: Tensors, *, epoch: int = -1, place: int = -1) -> None:
        described = []
        with torch.no_grad():
            for path, tensor in tensors:
                seen: dict[str, object] = {}
                near = nearby(self.watcher, tensor)
                if near is not None and readable(near):
                    seen["values"] = Values(**dict(zip(VALUE_NAMES, values(near).tolist(), strict=True)))
                    seen["hash"] = content_hash(near) if near.nbytes <= LARGE else None
                    seen["boxes"] = boxes(near)
                described.append(describe(tensor, path=path, **seen))
        batch = Batch(loader=number, position=position, epoch=epoch, place=place, tensors=described)
        self.watcher.state(batch, site=user_site())

    def look_for_bad_values(self, number: int, position: int, tensors: Tensors, index: object) -> None:
        for path, tensor in tensors:
            if tensor.dtype.is_floating_point and tensor.device.type == "cpu" and readable(tensor):
                self._look_at(number, position, path, tensor, index)

    def _look_at(self, number: int, position: int, path: str, tensor: torch.Tensor, index: object) -> None:
        # The sum is the cheapest number that any NaN or infinity spoils.
        with torch.no_grad():
            if bool(torch.isfinite(tensor.sum())):
                return
            nan, inf = int(torch.isnan(tensor).sum()), int(torch.isinf(tensor).sum())
            if not nan and not inf:
                return  # the sum itself overflowed
            rows = (~torch.isfinite(tensor)).reshape(tensor.shape[0] if tensor.dim() else 1, -1).any(1)
        places = rows.nonzero().reshape(-1).tolist()[:MOST_ROWS]
        known = integers(index) or []
        samples = [known[row] for row in places] if len(known) == len(rows) else []
        bad = BadInput(
            source="loader",
            loader=number,
            position=position,
            path=path,
            nan=nan,
            inf=inf,
            rows=places,
            samples=samples,
        )
        self.watcher.state(bad, site=user_site(), key=("loader", number, path))
