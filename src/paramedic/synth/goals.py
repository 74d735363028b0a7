"""What is asked for: the loss that trains it, the error that judges it, and the best answer that ignores the input.

`values`: regression, squared error. `classes`: one class per sample, token or pixel, share of wrong ones.
`labels`: several yes-or-no answers, share of wrong ones. `boxes`: share of objects that are not found.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from paramedic.errors import ParamedicError
from paramedic.synth.task import Draw, Task

OVERLAP = 0.5  # of box and truth (intersection over union) from which an object counts as found


def count_classes(task: Task, draw: Draw) -> int:
    """How many outputs a model needs per answer."""
    target = draw.target["labels"] if isinstance(draw.target, dict) else draw.target
    most = int(target.max()) + 1
    # Tokens are told with the tokens that went in; the target alone may lack the last ones.
    return max(most, int(draw.inputs.max()) + 1) if target.ndim == 2 and task.form == "tokens" else most


def fit(task: Task, output: Any, target: Any, classes: int) -> Any:
    """The output in the shape that loss and error expect; a clear word when it has another."""
    if task.goal == "boxes":
        corners, logits = _two_parts(output)
        boxes, labels = target["boxes"], target["labels"]
        _same(corners, tuple(boxes.shape), "boxes")
        _same(logits, (*labels.shape, classes), "class logits")
        return corners, logits
    if task.goal in ("values", "labels"):
        if output.shape == target.shape[:1] and target.shape[1:] == (1,):
            output = output[:, None]
        return _same(output, tuple(target.shape), "outputs")
    if output.ndim == target.ndim + 2 and output.shape[-1] == 1:
        output = output[..., 0]
    # Tokens: classes last, as language models return them. Pixels: classes on axis 1, as convolutions return them.
    last = task.form == "tokens" and target.ndim == 2
    wanted = (*target.shape, classes) if last else (len(target), classes, *target.shape[1:])
    _same(output, wanted, "class logits")
    return output.movedim(-1, 1) if last else output


def _two_parts(output: object) -> tuple[Any, Any]:
    if isinstance(output, dict) and {"boxes", "logits"} <= set(output):
        return output["boxes"], output["logits"]
    if isinstance(output, tuple | list) and len(output) == 2:
        return output[0], output[1]
    raise ParamedicError(
        "a model for boxes must return two things",
        expected='(boxes, logits), or {"boxes": …, "logits": …}',
        fix="paramedic synth list",
    )


def _same(output: object, wanted: tuple[int, ...], what: str) -> Any:
    got = tuple(getattr(output, "shape", ()))
    if got != wanted:
        raise ParamedicError(
            f"the model returned {what} of shape {got or type(output).__name__}",
            expected=f"shape {wanted} for this batch of {wanted[0]}",
            fix="--set … to make the task fit the model; `paramedic synth list` shows its settings",
        )
    return output


def loss(task: Task, output: Any, target: Any) -> Any:
    if task.goal == "boxes":
        corners, logits = output
        return 5 * F.l1_loss(corners, target["boxes"]) + F.cross_entropy(logits.movedim(-1, 1), target["labels"])
    if task.goal == "values":
        return F.mse_loss(output, target)
    if task.goal == "labels":
        return F.binary_cross_entropy_with_logits(output, target)
    return F.cross_entropy(output, target)


def error(task: Task, output: Any, target: Any) -> float:
    if task.goal == "boxes":
        corners, logits = output
        found = (overlap(corners, target["boxes"]) >= OVERLAP) & (logits.argmax(-1) == target["labels"])
        return 1 - float(found.float().mean())
    if task.goal == "values":
        return float(F.mse_loss(output, target))
    if task.goal == "labels":
        return float(((output > 0) != (target > 0.5)).float().mean())
    return float((output.argmax(1) != target).float().mean())


def overlap(one: Any, other: Any) -> Any:
    """Intersection over union of boxes given by their low and high corners, in any number of dimensions."""
    axes = one.shape[-1] // 2
    shared = (
        torch.minimum(one[..., axes:], other[..., axes:]) - torch.maximum(one[..., :axes], other[..., :axes])
    ).clamp(min=0)
    both = shared.prod(-1)
    return both / (_volume(one) + _volume(other) - both).clamp(min=1e-9)


def _volume(box: Any) -> Any:
    axes = box.shape[-1] // 2
    return (box[..., axes:] - box[..., :axes]).clamp(min=0).prod(-1)


def blind_error(task: Task, target: Any, classes: int) -> float:
    """The error of the best answer that does not look at the input."""
    if task.goal == "boxes":
        best = target["boxes"].median(dim=0).values.expand_as(target["boxes"])
        usual = F.one_hot(target["labels"].flatten().mode().values, classes).expand(*target["labels"].shape, classes)
        return error(task, (best, usual), target)
    if task.goal == "values":
        return float(target.var(unbiased=False))
    if task.goal == "labels":
        share = target.mean(dim=0)
        return float(torch.minimum(share, 1 - share).mean())
    # A constant answer may still depend on the place in the sequence or picture.
    return float((target != target.mode(dim=0).values).float().mean())
