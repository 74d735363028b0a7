"""What reaches the first layer with weights: its scale, feature by feature, in training and in evaluation."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from paramedic.aliases import Args, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.code.reshapes import only_reshape
from paramedic.capture.facts import LARGE, readable, sample
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.tensors import tensors_in
from paramedic.record.facts import Input

LOOKS = 12  # calls that are measured, per layer and mode
NAMES = (
    "min", "max", "mean", "std", "largest_feature_std", "median_feature_std", "largest_feature_mean",
    "constant_features", "whole_numbers", "roughness", "roughness_interleaved", "typical",
)  # fmt: skip
COLOURS = (3, 4)
SERIES = range(3, 65)  # channels
SMALLEST = 8  # pixels along a side, to speak of a texture


@dataclass(slots=True)
class Seen:
    """Running sums over the features (or channels) of one layer's input."""

    count: int
    low: torch.Tensor
    high: torch.Tensor
    total: torch.Tensor
    squares: torch.Tensor
    whole: torch.Tensor
    texture: torch.Tensor
    typical: list[torch.Tensor]  # the size of a middling sample, call by call; not of a pixel: most may be background
    calls: int = 1


@probe("inputs", states=[Input])
class Inputs:
    """Measures the input of the first Linear or convolution of a model."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._seen: dict[tuple[object, ...], Seen] = {}
        self._about: dict[tuple[object, ...], tuple[Call, dict[str, object]]] = {}

    @on(moments.first_layer_called)
    def fed(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        """The first module with weights in a top-level call has got its input."""
        x = next((tensor for _, tensor in tensors_in((args, kwargs))), None)
        layers = (nn.Linear, nn.modules.conv._ConvNd)
        if x is None or not isinstance(call.module, layers) or not readable(x) or not x.dtype.is_floating_point:
            return
        if x.requires_grad or x.dim() < 2:
            return  # made by something that is trained
        x = sample(x) if x.nbytes > LARGE else x
        if x.shape[0] < 2:
            return
        loader = (
            None if call.grad else self.watcher.known.loaders.current
        )  # evaluations may be of several kinds of data
        key = (call.path, call.grad, tuple(x.shape[1:]) if x.dim() == 2 else x.shape[1], loader)
        seen = self._seen.get(key)
        if seen is not None and seen.calls >= LOOKS:
            return
        linear = isinstance(call.module, nn.Linear)
        with torch.no_grad():
            typical = x.detach().double().flatten(1).square().mean(1).sqrt().median()
            self._add(key, seen, _by_feature(x, linear), x.new_zeros(2) if linear else _texture(x), typical)
        if key not in self._about:
            facts = {"class_": type(call.module).__name__, "shape": list(x.shape), "grad": call.grad, "loader": loader}
            self._about[key] = (Call(None, None, call.path, call.site, call.training, call.grad, call.step), facts)
        if self._seen[key].calls == LOOKS:
            self._tell(key)

    def _add(
        self,
        key: tuple[object, ...],
        seen: Seen | None,
        x: torch.Tensor,
        texture: torch.Tensor,
        typical: torch.Tensor,
    ) -> None:
        whole = (x == x.round()).float().mean()
        parts = (x.amin(0), x.amax(0), x.sum(0, dtype=torch.float64), x.double().square().sum(0), whole, texture)
        if seen is None:
            self._seen[key] = Seen(len(x), *parts, [typical])
            return
        seen.typical.append(typical)
        seen.low, seen.high = torch.minimum(seen.low, parts[0]), torch.maximum(seen.high, parts[1])
        seen.total, seen.squares = seen.total + parts[2], seen.squares + parts[3]
        seen.whole = torch.minimum(seen.whole, whole)
        seen.texture = seen.texture + texture
        seen.count += len(x)
        seen.calls += 1

    @on(moments.run_over)
    def finish(self) -> None:
        for key, seen in list(self._seen.items()):
            if seen.calls < LOOKS:
                self._tell(key)

    def _tell(self, key: tuple[object, ...]) -> None:
        seen, (call, facts) = self._seen[key], self._about[key]
        mean = seen.total / seen.count
        spread = (seen.squares / seen.count - mean.square()).clamp(min=0).sqrt()
        overall = (seen.squares.sum() / (seen.count * mean.numel()) - mean.mean().square()).clamp(min=0).sqrt()
        numbers = [seen.low.min(), seen.high.max(), mean.mean(), overall, spread.max(), spread.median()]
        numbers += [mean.abs().max(), (seen.low == seen.high).sum(), seen.whole, *seen.texture]
        numbers.append(torch.stack(seen.typical).median())
        facts["reshaped_at"] = only_reshape(call.site)
        data = {**facts, "calls": seen.calls, "features": mean.numel(), "samples": seen.count}

        def use(found: list[float]) -> None:
            fact = Input(**{**data, **dict(zip(NAMES, found, strict=True))})
            phase = "train" if call.grad else "eval"
            self.watcher.state(fact, site=call.site, module=call.path, phase=phase, step=call.step)

        self.watcher.read(torch.stack([number.double() for number in numbers]), use)


def _by_feature(x: torch.Tensor, linear: bool) -> torch.Tensor:
    """Samples and places in rows, features or channels in columns."""
    x = x.detach()
    return x.reshape(-1, x.shape[-1]) if linear else x.movedim(1, -1).reshape(-1, x.shape[1])


def _texture(x: torch.Tensor) -> torch.Tensor:
    """How much neighbouring pixels differ: in the pictures as they are, and if their colours were the last axis.

    The second is less when pictures of height × width × colours were reshaped, not permuted, to colours × height ×
    width. The same of series, (channels, time) against (time, channels). Zeros for everything else.
    """
    if x.dim() == 3 and x.shape[1] in SERIES and x.shape[2] >= 2 * x.shape[1]:
        few = x[:64].detach().contiguous()
        return torch.stack([_roughness(few, 2), _roughness(few.view(len(few), x.shape[2], x.shape[1]), 1)])
    if x.dim() != 4 or x.shape[1] not in COLOURS or min(x.shape[2:]) < SMALLEST:
        return x.new_zeros(2)
    few = x[:8].detach().contiguous()
    count, colours, height, width = few.shape
    return torch.stack([_roughness(few, 2, 3), _roughness(few.view(count, height, width, colours), 1, 2)])


def _roughness(x: torch.Tensor, *axes: int) -> torch.Tensor:
    return torch.stack([x.diff(dim=axis).abs().mean() for axis in axes]).sum()
