"""Training samples beside their labels: whether they are related at all is asked where a model learns nothing."""

from __future__ import annotations

import base64
import weakref

import torch
from torch.nn import functional as F

from paramedic.aliases import Args, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.facts import readable
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.tensors import tensors_in
from paramedic.record import facts
from paramedic.record.writer import Site

MOST_ROWS = 768
WIDTH = 64  # numbers kept of each sample
MOST_BYTES = 8_000_000  # of a batch
MOST_INPUTS = 20_000  # numbers of a sample that are looked at
GRID = 12  # pixels along each side of a picture that is made smaller


@probe("labelled_samples", states=[facts.LabelledSamples])
class LabelledSamples:
    """Keeps samples of the first pass over a loader, or of the examined steps where there is none.

    In a second pass the same samples come again, perhaps augmented: they would look like others with the same label.
    """

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.loaders = watcher.known.loaders
        self._given: tuple[int, weakref.ref[torch.Tensor]] | None = None  # step and input of the last training call
        self._passes: dict[int, int] = {}  # by loader
        self._features: list[torch.Tensor] = []
        self._labels: list[torch.Tensor] = []
        self._kind: tuple[object, ...] | None = None  # what all samples have in common
        self._rows = 0
        self._mix: torch.Tensor | None = None

    @on(moments.pass_began)
    def began(self, loader: int, _: object) -> None:
        self._passes[loader] = self._passes.get(loader, 0) + 1

    @on(moments.model_called)
    def called(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        if self._rows < MOST_ROWS and call.grad and call.training:
            given = [tensor for _, tensor in tensors_in((args, kwargs))]
            found = given[0] if given and _alone(*given) else None
            own = found is None or found.requires_grad  # made by another model: no sample
            self._given = None if found is None or own else (self.watcher.step, weakref.ref(found))

    @on(moments.labels_seen)
    def labelled(self, site: Site, labels: torch.Tensor, predictions: torch.Tensor, ignored: int) -> None:
        if labels.dim() == 1 and not labels.dtype.is_floating_point:
            self._take(labels, predictions, classes=True)

    @on(moments.loss_called)
    def compared(self, name: str, predictions: torch.Tensor, targets: torch.Tensor) -> None:
        one_each = targets.dtype.is_floating_point and targets.dim() in (1, 2) and targets.numel() == len(targets)
        if one_each and not targets.requires_grad:
            self._take(targets.reshape(-1), predictions, classes=name.startswith("binary_cross_entropy"))

    def _take(self, labels: torch.Tensor, predictions: torch.Tensor, *, classes: bool) -> None:
        if self._rows >= MOST_ROWS or not predictions.requires_grad or len(predictions) != len(labels):
            return
        loader = self.loaders.current
        if loader is not None and self._passes.get(loader, 1) > 1:
            return
        inputs = self._inputs(labels) if readable(labels) else None
        if inputs is None:
            return
        kind = (loader, classes, inputs.dtype, tuple(inputs.shape[2:]) if inputs.dtype.is_floating_point else ())
        if self._kind is None or self._kind == kind:
            self.watcher.bring("labelled_samples", [inputs, labels], lambda near: self._keep(kind, *near))

    def _keep(self, kind: tuple[object, ...], inputs: torch.Tensor, labels: torch.Tensor) -> None:
        rows = self._made_fewer(inputs.detach()) if self._kind in (None, kind) else None
        if rows is not None and (not self._features or rows.shape[1] == self._features[0].shape[1]):
            self._kind = kind
            self._features.append(rows)
            self._labels.append(labels.detach().double())
            self._rows += len(rows)

    def _inputs(self, labels: torch.Tensor) -> torch.Tensor | None:
        """What the model got in this step, or else what came from the loader beside these very labels."""
        if self._given is not None and self._given[0] == self.watcher.step:
            given = self._given[1]()
            return given if given is not None and _fits(given, len(labels)) else None
        batch = list((self.loaders.last_batch().tensors() or {}).values()) if labels.is_cpu else []
        beside = [tensor for tensor in batch if not _same(tensor, labels)]
        if len(beside) == len(batch):
            return None
        return next((tensor for tensor in beside if _fits(tensor, len(labels))), None)

    def _made_fewer(self, inputs: torch.Tensor) -> torch.Tensor | None:
        """Pictures smaller, ids counted, and whatever is still wide mixed by fixed random weights."""
        if not inputs.dtype.is_floating_point:
            return _counted(inputs) if inputs.dtype in (torch.int32, torch.int64) else None
        wide = inputs.float()
        if wide.dim() == 4 and min(wide.shape[2:]) > GRID:
            wide = F.adaptive_avg_pool2d(wide, GRID)
        wide = wide.reshape(len(wide), -1)
        if wide.shape[1] <= WIDTH:
            return wide.clone()
        if self._mix is None or len(self._mix) != wide.shape[1]:
            numbers = torch.Generator("cpu").manual_seed(0)  # of its own: nobody else's draws change
            drawn = torch.randn(wide.shape[1], WIDTH, generator=numbers, device="cpu")
            self._mix = drawn / wide.shape[1] ** 0.5
        return wide @ self._mix

    @on(moments.run_over)
    def tell(self) -> None:
        if not self._features:
            return
        features, labels = torch.cat(self._features)[:MOST_ROWS], torch.cat(self._labels)[:MOST_ROWS]
        whole = features - features.mean(0)
        scaled = whole / whole.std(0).clamp_min(1e-12) if len(whole) > 1 else whole
        told = scaled.nan_to_num(0.0, 0.0, 0.0).clamp(-6e4, 6e4).half().numpy()
        assert self._kind is not None
        loader, classes, dtype, _ = self._kind
        self.watcher.state(
            facts.LabelledSamples(
                rows=len(told),
                width=told.shape[1],
                features=base64.b64encode(told.tobytes()).decode(),
                labels=labels.tolist(),
                classes=bool(classes),
                inputs=told.shape[1] if self._mix is None else len(self._mix),
                tokens=dtype in (torch.int32, torch.int64),
                loader=loader if isinstance(loader, int) else None,
            ),
            phase="train",
        )
        self._features, self._labels = [], []


def _alone(first: torch.Tensor, *others: torch.Tensor) -> bool:
    """Whether the others are no further inputs: masks and numbers of segments have the shape of what they belong to."""
    return all(not other.dtype.is_floating_point and other.shape == first.shape[: other.dim()] for other in others)


def _fits(tensor: torch.Tensor, rows: int) -> bool:
    wide = tensor.dim() >= 2 and len(tensor) == rows and 1 < tensor.numel() // rows <= MOST_INPUTS
    return wide and readable(tensor) and tensor.nbytes <= MOST_BYTES


def _same(tensor: torch.Tensor, labels: torch.Tensor) -> bool:
    return tensor.shape == labels.shape and tensor.dtype == labels.dtype and torch.equal(tensor, labels)


def _counted(ids: torch.Tensor) -> torch.Tensor:
    """How often each id occurs in a row, as many ids sharing a column as must."""
    columns = ids.reshape(len(ids), -1).remainder(WIDTH).long()
    counts = torch.zeros(len(ids), WIDTH, device="cpu")
    return counts.scatter_add_(1, columns, torch.ones(columns.shape, device="cpu"))
