"""Make data that resemble a batch and can be learnt: a hidden value per sample shows in its inputs and its target."""

from __future__ import annotations

import torch
from torch.nn import functional as F

NOISE = 0.3  # beside a signal of about 1
MOST_CLASSES = 1_000
LEARN_FROM = 1  # batches that are only looked at


class Twin:
    """The twin of one stream of batches. The first batch passes through it as it is, to be looked at."""

    def __init__(self) -> None:
        self.refused: str | None = None
        self._dice = torch.Generator().manual_seed(1)
        self._example: torch.Tensor | None = None  # a target
        self._classes: torch.Tensor | None = None
        self._patterns: dict[int, torch.Tensor] = {}
        self._made: torch.Tensor | None = None
        self._seen = 0

    def inputs(self, inputs: list[torch.Tensor]) -> list[torch.Tensor] | None:
        """Inputs in which the hidden values of a new target show; None when no twin can be made."""
        self._seen += 1
        if self._seen <= LEARN_FROM:
            return inputs
        if self._example is None:
            self.refused = "the batch holds no target that could be told from the inputs"
            return None
        hidden = self._new_target(len(inputs[0]))
        if hidden is None:
            return None
        return [self._input(position, tensor, hidden) for position, tensor in enumerate(inputs)]

    def target(self, target: torch.Tensor) -> torch.Tensor:
        if self._example is None or (self._classes is not None and self._seen <= LEARN_FROM):
            self._learn(target)
            return target
        made, self._made = self._made, None
        if made is None or made.shape != target.shape:
            return target
        return made.to(target.device, target.dtype)

    def _learn(self, target: torch.Tensor) -> None:
        self._example = target.detach().clone().cpu()
        whole = not target.is_floating_point() or bool(((target == 0) | (target == 1)).all())
        self._classes = torch.unique(self._example) if whole else None

    def _new_target(self, rows: int) -> torch.Tensor | None:
        """Hidden values, one row per sample; the target made from them is kept until it is asked for."""
        example = self._example
        assert example is not None
        if example.dim() > 2 or (example.dim() == 2 and not example.is_floating_point() and example.shape[1] > 1):
            self.refused = "the target is not one value or row per sample"
            return None
        if len(example) and example.dim() == 2 and example.shape[1] > 64:
            self.refused = f"the target has {example.shape[1]} columns"
            return None
        if self._classes is None:
            return self._new_values(rows, example)
        if len(self._classes) < 2 or len(self._classes) > MOST_CLASSES:
            self.refused = f"the target has {len(self._classes)} classes in the first batch"
            return None
        if example.is_floating_point() and example.dim() == 2 and example.shape[1] > 1:
            if bool((example.sum(1) == 1).all()):
                chosen = torch.randint(0, example.shape[1], (rows,), generator=self._dice)
                self._made = F.one_hot(chosen, example.shape[1]).float()
            else:
                self._made = torch.randint(0, 2, (rows, example.shape[1]), generator=self._dice).float()
            return 2 * self._made - 1
        chosen = torch.randint(0, len(self._classes), (rows,), generator=self._dice)
        self._made = self._classes[chosen].reshape(rows, *example.shape[1:])
        return F.one_hot(chosen, len(self._classes)).float()

    def _new_values(self, rows: int, example: torch.Tensor) -> torch.Tensor:
        columns = example.reshape(len(example), -1).float()
        spread, mean = columns.std(0, correction=0), columns.mean(0)
        hidden = torch.randn(rows, columns.shape[1], generator=self._dice)
        self._made = (mean + spread * hidden).reshape(rows, *example.shape[1:])
        return hidden

    def _input(self, position: int, tensor: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        if len(tensor) != len(hidden) or tensor.dim() < 2:
            return tensor
        if not tensor.is_floating_point() and tensor.dtype != torch.uint8:
            return self._tokens(tensor, hidden)
        pattern = self._patterns.setdefault(position, _pattern(tensor.shape[1:], hidden.shape[1], self._dice))
        drawn = torch.randn(tensor.shape, generator=self._dice)
        signal = torch.einsum("nk,k...->n...", hidden, pattern) + NOISE * drawn
        across = (0,) if tensor.dim() == 2 else (0, *range(2, tensor.dim()))
        real = tensor.detach().cpu().float()
        spread, mean = torch.std_mean(real, dim=across, keepdim=True, correction=0)
        made = torch.clamp(mean + spread * signal, float(real.min()), float(real.max()))
        return made.to(tensor.device, tensor.dtype)

    def _tokens(self, tensor: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """Half of the tokens tell the class: their number modulo the number of classes."""
        kinds = hidden.shape[1] if self._classes is not None else 4
        kind = (
            hidden.argmax(1)
            if self._classes is not None
            else torch.bucketize(hidden[:, 0], torch.tensor([-0.7, 0, 0.7]))
        )
        real = tensor.detach().cpu()
        telling = (real - real % kinds + kind.reshape(-1, *[1] * (real.dim() - 1))).clamp(
            int(real.min()), int(real.max())
        )
        chosen = (torch.rand(real.shape, generator=self._dice) < 0.5) & (real != 0)  # 0 is often padding
        return torch.where(chosen, telling.to(real.dtype), real).to(tensor.device)


def _pattern(shape: torch.Size, kinds: int, dice: torch.Generator) -> torch.Tensor:
    """For each hidden value what it looks like: smooth over space and time, so that every architecture can see it."""
    if len(shape) == 1:
        return torch.randn(kinds, *shape, generator=dice)
    if len(shape) > 3 or (len(shape) == 2):
        return torch.randn(kinds, *[1] * (len(shape) - 1), shape[-1], generator=dice).expand(kinds, *shape)
    coarse = torch.randn(kinds, shape[0], 3, 3, generator=dice) + torch.randn(kinds, shape[0], 1, 1, generator=dice)
    return F.interpolate(coarse, size=tuple(shape[1:]), mode="bilinear", align_corners=True)
