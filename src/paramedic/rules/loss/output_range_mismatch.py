"""PM512."""

import math
from collections.abc import Iterator

from paramedic.record.facts import LossCall
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.lines import applied_at
from paramedic.rules.support import at, by_place, measured

_BEYOND: dict[str, tuple[str, ...]] = {
    "sigmoid": ("below_0", "above_1"),
    "softmax": ("below_0", "above_1"),
    "tanh": ("below_minus_1", "above_1"),
}
_BEYOND |= {"relu": ("below_0",), "softplus": ("below_0",)}
_RANGES = {"sigmoid": (0.0, 1.0), "softmax": (0.0, 1.0), "tanh": (-1.0, 1.0), "relu": (0.0, float("inf"))}
_RANGES |= {"softplus": (0.0, float("inf"))}
_NODES = {
    "SigmoidBackward0": "sigmoid",
    "TanhBackward0": "tanh",
    "ReluBackward0": "relu",
    "SoftmaxBackward0": "softmax",
    "SoftplusBackward0": "softplus",
}


@rule(
    "PM512",
    "output-range-mismatch",
    severity="warning",
    needs=[LossCall],
    causes=["PM203", "PM204", "PM207", "PM209"],
    lasting=True,
)
def check(run: Run, *, share: float = 0.05) -> Iterator[Finding]:
    """Targets lie outside the range of the output activation or of the loss.

    ## Why it hurts
    A sigmoid never outputs 1.7 and a ReLU never -1. For such targets the loss has a lower bound that training cannot
    get below, and the units saturate in the attempt. Binary cross-entropy with targets outside 0 to 1 has no minimum at
    all. Logits can take any value: after a ReLU they are never negative, so no probability is below one half; after a
    tanh no class can get a high probability.

    ## What to try first
    Remove the activation from the output layer, choose one that covers the targets, or scale the targets to its range.

    ## When this is wrong
    A few outliers beyond the range are not reported; clipping them may be what you want. Nor are targets that are
    outside only because of added noise, as in denoising.

    ## Options
    `share`: share of targets outside the range that is tolerated.
    """
    yield from _no_probabilities(run, share)
    yield from _bounded_logits(run, share)
    functions = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
    seen = measured(run.facts(LossCall, phase="train"), *functions)
    # One line may hold several losses, each with an activation and targets of its own.
    groups = [(name, group) for name in _RANGES for group in by_place(c for c in seen if _made_by(c) == name).values()]
    for activation, calls in groups:
        call = next((call for call in calls if call.made_at), calls[0])
        low, high = _RANGES[activation]
        least = min(call.numbers.target_min for call in calls)
        most = max(call.numbers.target_max for call in calls)
        beyond = sum(getattr(call.numbers, name) for call in calls for name in _BEYOND[activation]) / len(calls)
        if beyond <= share or _spills_over(calls, low, high):
            continue
        reach = f"{low:g} to {high:g}" if high < float("inf") else f"at least {low:g}"
        yield Finding(
            what=f"targets go from {least:.4g} to {most:.4g}, but {activation} outputs only {reach}",
            why="the model can never produce those targets, so the loss has a floor",
            remedy=f"remove the {activation} from the output, or scale the targets to its range",
            **applied_at(run, call),
            evidence=(
                Evidence(name="target_min", value=least, limit=f"≥ {low:g}"),
                Evidence(name="target_max", value=most, limit=f"≤ {high:g}"),
                Evidence(name="share_outside", value=round(beyond, 4), limit=f"≤ {share:g}"),
            ),
            confidence=0.9,
        )


def _no_probabilities(run: Run, share: float) -> Iterator[Finding]:
    functions = ("binary_cross_entropy_with_logits", "binary_cross_entropy")
    for calls in by_place(measured(run.facts(LossCall, phase="train"), *functions)).values():
        beyond = sum(call.numbers.below_0 + call.numbers.above_1 for call in calls) / len(calls)
        if beyond <= share:
            continue
        least = min(call.numbers.target_min for call in calls)
        most = max(call.numbers.target_max for call in calls)
        yield Finding(
            what=f"F.{calls[0].function} received targets from {least:.4g} to {most:.4g}",
            why="its targets are probabilities; outside 0 to 1 the loss has no minimum and falls without bound",
            remedy="scale the targets to 0 to 1, or use a regression loss: F.mse_loss",
            where=calls[0].where,
            evidence=(
                Evidence(name="target_min", value=least, limit="≥ 0"),
                Evidence(name="target_max", value=most, limit="≤ 1"),
                Evidence(name="share_outside", value=round(beyond, 4), limit=f"≤ {share:g}"),
            ),
            confidence=0.95,
        )


def _bounded_logits(run: Run, share: float) -> Iterator[Finding]:
    """An activation before a loss that expects logits: some probabilities are out of reach."""
    functions = ("binary_cross_entropy_with_logits", "cross_entropy")
    for calls in by_place(measured(run.facts(LossCall, phase="train"), *functions)).values():
        binary = calls[0].function != "cross_entropy"
        made = {_made_by(call) for call in calls}
        activation = made.pop() if len(made) == 1 else None
        low, high = (min(c.numbers.input_min for c in calls), max(c.numbers.input_max for c in calls))
        if activation == "tanh" and high - low > 1.8:  # pressed against its ends
            reach = f"{_sigmoid(-1):.2f} to {_sigmoid(1):.2f}" if binary else "never near 0 or 1"
        elif activation in ("relu", "softplus") and binary and low >= 0 and _negatives(calls) > share:
            reach = "at least 0.5"
        elif activation == "sigmoid" and not binary and calls[0].numbers.rows and high - low > 0.3:
            reach = f"at most {_largest_share(calls[0]):.2f}"
        elif activation == "relu" and not binary and low == 0 and len(calls) > 2:
            yield _dead_logits(calls)
            continue
        else:
            continue
        bounds = {"tanh": "-1 to 1", "sigmoid": "0 to 1"}.get(activation, "at least 0")
        call = next((call for call in calls if call.made_at), calls[0])
        yield Finding(
            what=f"the logits passed to F.{call.function} come from {activation}: they are {bounds}",
            why=f"as probabilities that is {reach}, so the loss has a lower bound that training cannot get below",
            remedy=f"remove the {activation} from the output layer: this loss expects unbounded logits",
            **applied_at(run, call),
            evidence=(
                Evidence(name="logit_min", value=low, limit="any"),
                Evidence(name="logit_max", value=high, limit="any"),
            ),
            confidence=0.92,
        )


def _largest_share(call: LossCall) -> float:
    """The highest probability that a class can get when its logit is 1 and all others are 0."""
    classes = call.input.shape[1] if len(call.input.shape) > 1 else 2
    return math.e / (math.e + classes - 1)


def _dead_logits(calls: list[LossCall]) -> Finding:
    """Every distribution can still be expressed, but the gradient of a clipped logit is zero."""
    call = next((call for call in calls if call.made_at), calls[0])
    return Finding(
        what="the logits passed to F.cross_entropy come from relu: none is below 0",
        why="a class whose score is clipped at 0 gets no gradient, so it cannot move down or up again",
        remedy="remove the relu from the output layer: this loss expects unbounded logits",
        where=at(call, call.made_at[1:] if call.made_at else None),
        evidence=(Evidence(name="logit_min", value=0.0, limit="any"),),
        confidence=0.9,
    )


def _negatives(calls: list[LossCall]) -> float:
    """The share of targets that call for a probability of 0, if all are 0 or 1."""
    return 1 - sum(call.numbers.target_mean for call in calls) / len(calls)


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def _spills_over(calls: list[LossCall], low: float, high: float) -> bool:
    """Most targets are inside and none is far outside: values of that range with added noise."""
    width = high - low
    if width == float("inf"):
        return False
    for values in (call.numbers for call in calls):
        mean, std = values.target_mean, values.target_std
        if mean - std < low - 0.1 * width or mean + std > high + 0.1 * width:
            return False
        if values.target_min < low - 0.5 * width or values.target_max > high + 0.5 * width:
            return False
    return True


def _made_by(call: LossCall) -> str | None:
    """The activation function that produced the predictions."""
    made = call.made_at
    return str(made[0]) if made else _NODES.get(call.input.made_by or "")
