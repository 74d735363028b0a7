"""PM210."""

import math
from collections.abc import Iterator

from paramedic.record.facts import Backward, Freeze, Load, LossCall, Optimizer
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.curves import loss_curves

_CLASSES = ("cross_entropy", "nll_loss")
_SCALED = ("MulBackward0", "DivBackward0")
_BINARY = ("binary_cross_entropy", "binary_cross_entropy_with_logits")


@rule("PM210", "wrong-initial-loss", severity="warning", needs=[Backward, LossCall], symptom=True)
def check(run: Run, *, classes: float = 3.0, regression: float = 30.0) -> Iterator[Finding]:
    """The very first loss is far above that of an untrained model.

    ## Why it hurts
    An untrained model should be undecided: ln C for C classes, about the mean square of the targets for regression. A
    much higher first loss means that it is confident in random answers: the outputs are far too large, and training
    must first shrink them.

    ## What to try first
    Initialise the last layer with smaller weights (embeddings that double as output weights need `std=0.02`), normalise
    before it, or scale the inputs.

    ## When this is wrong
    Pre-trained weights, checkpoints and trainings that began before watching are not judged; nor are weighted, smoothed
    or summed losses, or logits scaled by a constant (cosines times 30, a temperature).

    ## Options
    `classes`, `regression`: how many times higher than expected the first loss must be.
    """
    call = _first_call(run)
    expected, words = _expected(call)
    curves = [curve for curve in loss_curves(run) if curve.task == call.function]
    if len(curves) != 1 or len(loss_curves(run)) != 1:
        raise Abstain("the loss is a sum of terms, or there are several")
    first = curves[0].values[0]
    limit = regression if call.function == "mse_loss" else classes
    values = call.numbers
    size = math.hypot(values.input_mean, values.input_std)
    if first < limit * expected or first - expected < 2 * min(expected, 1.0):
        return
    if call.function == "mse_loss" and size < 10:
        return  # ordinary outputs, and targets that are very small
    yield Finding(
        what=f"the first loss is {first:.3g}, but an untrained model should start at about {expected:.3g} ({words})",
        why=f"the outputs are far too large before training: {values.input_min:.3g} to {values.input_max:.3g}",
        remedy="initialise the last layer with smaller weights (for example std=0.02), or normalise before it",
        where=call.where,
        evidence=(
            Evidence(name="first_loss", value=float(f"{first:.4g}"), limit=f"< {limit:g} × {expected:.3g}"),
            Evidence(name="output_std", value=float(f"{values.input_std:.3g}")),
        ),
        confidence=0.75,
    )


def _first_call(run: Run) -> LossCall:
    """The loss call of the first step of a model that starts from nothing."""
    if any(event.into == "model" for event in run.facts(Load)):
        raise Abstain("weights were loaded")
    if not all(optimizer.fresh for optimizer in run.facts(Optimizer)):
        raise Abstain("training may have begun before watching")
    calls = run.facts(LossCall, phase="train")
    call = next((c for c in calls if c.step == 0 and c.values and c.input.requires_grad), None)
    if call is None or run.facts(Freeze):
        raise Abstain("the first step was not seen, or parts of the model are frozen")
    if call.reduction != "mean" or call.weighted or call.smoothing:
        raise Abstain("the loss is summed, weighted or smoothed")
    if call.input.made_by in _SCALED and call.function in _CLASSES:
        raise Abstain("the logits are scaled, as with a margin or a temperature")
    if call.numbers.input_nan or call.numbers.input_inf:
        raise Abstain("the outputs are not finite")
    return call


def _expected(call: LossCall) -> tuple[float, str]:
    """The loss of an undecided model."""
    values = call.numbers
    if call.function in _CLASSES and not call.target.dtype.startswith("float"):
        normalised = abs(values.row_exp_max - 1) < 0.01 and abs(values.row_exp_min - 1) < 0.01
        if call.function == "nll_loss" and not normalised:
            raise Abstain("the input of nll_loss is not log-probabilities")
        count = call.input.shape[1] if len(call.input.shape) > 1 else call.input.shape[0]
        if count > 1:
            return math.log(count), f"ln {count}"
    if call.function in _BINARY:
        return math.log(2), "ln 2"
    if call.function == "mse_loss" and values.target_std > 0:
        return values.target_mean**2 + values.target_std**2, "the mean square of the targets"
    raise Abstain("the loss of an untrained model is not known for this function")
