"""What the rules on non-finite values share: which rule an inquest belongs to, and how to describe it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from paramedic.findings import Evidence, Severity
from paramedic.record.facts import Edge, NonFinite, PoisonedStep
from paramedic.record.reader import Run
from paramedic.rules.curves import steps_lost

HUGE = 1e15  # no healthy activation is that large

# operation -> (when it goes wrong, how to avoid that)
_ADVICE: dict[str, tuple[str, str]] = {
    "log": ("log is infinite at 0", "keep the argument above 0: log(x.clamp(min=1e-8)); or use log_softmax, xlogy"),
    "div": (
        "masking the result of a division by 0 does not mask its gradient",
        "guard the denominator itself: x / n.clamp(min=1e-8)",
    ),
    "sqrt": ("the derivative of a root is infinite at 0", "add a small number under the root: (x + 1e-12).sqrt()"),
    "rsqrt": ("1/sqrt(x) is infinite at 0", "add a small number under the root: (x + 1e-12).rsqrt()"),
    "pow": ("the derivative of a root is infinite at 0", "keep the base above 0: x.clamp(min=1e-8) ** p, or x + 1e-12"),
    "acos": (
        "its derivative is infinite at -1 and 1",
        "stay inside the domain: x.clamp(-1 + 1e-6, 1 - 1e-6); or use atan2",
    ),
    "exp": ("exp overflows above 88 in float32", "subtract the maximum first, clamp the argument, or use logsumexp"),
    "norm": ("the derivative of a norm is infinite at 0", "use (x.pow(2).sum(-1) + 1e-12).sqrt()"),
    "mean": ("the mean of no values is 0/0", "skip empty batches, or divide a sum by count.clamp(min=1)"),
    "atan2": ("atan2(0, 0) has no derivative", "keep at least one argument away from 0"),
    "std": ("std needs two values; its derivative is infinite at 0", "use (x.var(..., correction=0) + 1e-8).sqrt()"),
}  # fmt: skip
_ADVICE |= {
    "reciprocal": _ADVICE["div"], "log2": _ADVICE["log"], "log10": _ADVICE["log"], "log1p": _ADVICE["log"],
    "asin": _ADVICE["acos"], "atanh": _ADVICE["acos"], "linalg_vector_norm": _ADVICE["norm"],
    "cdist_forward": _ADVICE["norm"], "euclidean_dist": _ADVICE["norm"], "expm1": _ADVICE["exp"],
    "xlogy": _ADVICE["log"], "logit": _ADVICE["log"], "std_mean": _ADVICE["std"], "acosh": _ADVICE["acos"],
}  # fmt: skip

_LOGARITHMS = ("log", "log2", "log10")


def illness(event: NonFinite) -> str:
    """The code of the rule that an inquest's outcome belongs to."""
    origin = event.origin
    if origin in ("parameter", "buffer"):
        return "PM104"
    if origin == "variable":
        return "PM105"
    if origin == "op" and event.lost_constant:
        return "PM106"
    if origin == "op" and _overflowed_half(event):
        return "PM106"
    if origin == "op" and (event.masked_rows or [0])[0]:
        return "PM108"
    if event.reached == "gradient":
        return "PM103"
    return "PM102" if event.inside_model else "PM101"


def _overflowed_half(event: NonFinite) -> bool:
    result = event.result
    return result is not None and bool(result.inf) and result.dtype == "float16" and not event.from_meant_infinities


@dataclass(frozen=True, slots=True)
class Case:
    """One inquest, and how much the training suffered from what it found."""

    event: NonFinite
    severity: Severity


def cases(run: Run, code: str | None = None) -> Iterator[Case]:
    """The inquests of a run that belong to this rule; those without consequences are notes."""
    poisoned = [event.step for event in run.facts(PoisonedStep) if event.bad]
    spoilt = False  # by an update by hand, which nobody saw
    for event in run.facts(NonFinite):
        if (poisoned and event.step > min(poisoned)) or (spoilt and event.origin in ("parameter", "buffer")):
            return  # the weights are spoilt: what follows says nothing
        spoilt |= not run.steps and event.reached != "evaluation" and event.origin in ("op", "variable")
        if code is None or illness(event) == code:
            yield Case(event, _severity(run, event))


def _severity(run: Run, event: NonFinite) -> Severity:
    if event.reached == "evaluation":
        return "error"
    steps = [step for step in run.facts(PoisonedStep) if step.last_step >= event.step]
    if any(step.bad for step in steps):
        return "error"
    if event.scaled:  # the scaler skips such steps; only if they do not end is anything lost
        lost = steps_lost(run, event.step)
        return "error" if lost > max(3, 0.2 * (run.steps - event.step)) else "note"
    if steps:  # the loss was bad, its gradient was not
        return "error" if event.reached == "loss" else "note"
    return "note" if run.steps > event.step else "error"


def advice(event: NonFinite) -> tuple[str, str]:
    """Why the operation went wrong, and what to type."""
    operands, op = event.operands, str(event.op or "")
    if op == "pow" and operands and operands[0].negative:
        return "a negative number has no fractional power", "raise x.abs() or x.clamp(min=1e-8) to that power instead"
    if op in ("log", "sqrt") and operands and operands[0].negative:
        return f"{op} of a negative number is NaN", "find out why the argument is negative; keep it above 0"
    if op == "div" and [operand.size for operand in operands] == [1, 1] and operands[1].zeros:
        return "the count is 0 for this batch", "divide by count.clamp(min=1), or skip such batches"
    if event.own_backward:
        return (
            "your own backward() produced it from finite values",
            "guard that operation in backward(), or check its derivation",
        )
    if op in _ADVICE:
        return _ADVICE[op]
    return (
        "the result exceeds the range of its dtype",
        "look at the ranges above: which operand should not be so large?",
    )


def operands_in_words(event: NonFinite) -> str:
    """'1 of 8 values is 0' or the ranges, whichever says more."""
    operands, op = event.operands, event.op
    if not operands:
        return "it received no tensor"
    x = operands[min(1, len(operands) - 1)] if op in ("div", "remainder", "atan2") else operands[0]
    who = "denominator" if op == "div" and len(operands) > 1 else "value"
    if op in ("div", "log", "sqrt", "rsqrt", "pow", "reciprocal", "linalg_vector_norm", "norm", "xlogy") and x.zeros:
        if x.size == 1:
            return f"the {who} is 0"
        return f"{x.zeros:,} of {x.size:,} {who}s {'is' if x.zeros == 1 else 'are'} 0"
    if op in ("log", "sqrt", "pow") and x.negative:
        return f"{x.negative:,} of {x.size:,} {who}s {'is' if x.negative == 1 else 'are'} negative"
    if x.size == 0 or math.isnan(x.min):
        return f"it received no finite {who}"
    return "it received " + " and ".join(f"values from {o.min:.4g} to {o.max:.4g}" for o in operands[:2])


def moment(event: NonFinite) -> str:
    """' in the evaluation after step 30', or nothing where it is the training itself."""
    return f" in the evaluation after step {event.step}" if event.reached == "evaluation" else ""


def _is_log_of_zero(event: NonFinite | Edge) -> bool:
    return event.op in _LOGARITHMS and bool(event.operands) and bool(event.operands[0].zeros)


def kind_of(event: NonFinite) -> str:
    """NaN or inf: of what was found first at the operation, else of the loss."""
    result = event.result
    if result is not None and result.nan:
        return "NaN"
    if result is not None and result.inf:
        return "-inf" if _is_log_of_zero(event) else "inf"
    loss = event.loss
    return "inf" if loss is not None and math.isinf(loss) else "NaN"


def operation(event: NonFinite | Edge) -> str:
    """The operation as people write it."""
    op, scalars = str(event.op or "an operation"), event.scalars
    signs = {"div": "/", "mul": "*", "add": "+", "sub": "-", "mm": "@", "bmm": "@"}
    if op == "pow" and scalars:
        return f"… ** {scalars[0]:g}"
    if _is_log_of_zero(event):
        return f"{op}(0)"
    return f"'{signs[op]}'" if op in signs else f"{op}()"


def evidence(event: NonFinite) -> tuple[Evidence, ...]:
    found = [Evidence(name="operation", value=event.op)]
    for number, operand in enumerate(event.operands, 1):
        text = f"{operand.dtype} {tuple(operand.shape)} from {operand.min:.4g} to {operand.max:.4g}"
        zeros = "zero" if operand.zeros == 1 else "zeros"
        counts = {zeros: operand.zeros, "NaN": operand.nan, "inf": operand.inf}
        bad = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
        found.append(Evidence(name=f"operand_{number}", value=text + (f", {bad}" if bad else "")))
    result = event.result
    if result and (result.nan or result.inf):
        found.append(Evidence(name="bad_values", value=result.nan + result.inf, limit=f"0 of {result.size}"))
        if result.rows:
            found.append(Evidence(name="rows_of_the_batch", value=result.rows))
    if event.node:
        found.append(Evidence(name="backward_operation", value=event.node))
    found.append(Evidence(name="reproduced", value=reproduced(event)))
    return tuple(found)


def reproduced(event: NonFinite) -> str:
    if not event.reproduced:
        return "no"
    return "yes, same loss" if event.same_loss else "yes, but the loss differed"


def confidence(event: NonFinite) -> float:
    if event.origin != "op":
        return 0.7
    return 0.97 if event.same_loss else 0.85


def divergence(run: Run, event: NonFinite) -> str | None:
    """Why the bad value is a late consequence, if training had already diverged."""
    place = event.loss_site
    values = [
        abs(v) for step, v in run.series(f"loss:{place.file}:{place.line}") if step <= event.step and math.isfinite(v)
    ]
    first = median(values[: max(1, len(values) // 4)]) if values else math.nan
    if len(values) > 1 and values[-1] > 1e3 * max(first, 1e-2):
        return f"the loss had grown from {first:.3g} to {values[-1]:.3g} by then: training had diverged"
    ends = [abs(end) for operand in event.operands for end in (operand.min, operand.max) if math.isfinite(end)]
    if event.step and max(ends, default=0.0) > HUGE and event.op not in ("exp", "expm1"):
        steps = f"{event.step} step{'s' * (event.step > 1)}"
        return f"the values had grown to {max(ends):.3g} in {steps}: training had diverged"
    return None


SLOW_DOWN = "lower the learning rate (try a tenth of it), clip gradients, check the scale of the inputs"
