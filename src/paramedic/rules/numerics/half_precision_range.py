"""PM106."""

from collections.abc import Iterator

from paramedic.record.facts import Backward
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.bad_values import cases, confidence, evidence, kind_of, operands_in_words, operation
from paramedic.rules.underflow import underflow

_CAUSES = ["PM101", "PM102", "PM103", "PM104", "PM108", "PM201", "PM206", "PM207", "PM213", "PM405"]


@rule("PM106", "half-precision-range", severity="error", coverage=[Backward], causes=_CAUSES)
def check(run: Run, *, underflow_share: float = 0.5) -> Iterator[Finding]:
    """A constant, result or gradient outside the range of half precision.

    ## Why it hurts
    float16 overflows above 65504 and underflows to 0 below 6e-8. A mask constant of -1e9 becomes -inf, and a row of
    nothing but -inf makes softmax NaN; an epsilon of 1e-8 becomes 0 and has no effect. bfloat16 has the range of
    float32 but only three digits. Gradients are small: without loss scaling, float16 turns many of them into 0, and
    layers far from the loss stop learning.

    ## What to try first
    Masks: `torch.finfo(scores.dtype).min`, or a boolean mask. Epsilons: 1e-4 and above in float16. Or compute that one
    line in float32 (`x.float()`), which is what autocast does for you. Gradients: `torch.amp.GradScaler`, or bfloat16,
    which needs no scaler.

    ## When this is wrong
    Only constants and overflows that reached a loss or a gradient are reported. Zero gradients count only if float16 is
    used without a GradScaler and the remaining gradients lie just above the smallest float16 number, from the first
    steps on.

    ## Options
    `underflow_share`: share of all gradient values that underflow to 0 in a typical step.
    """
    if (tiny := underflow(run, underflow_share)) is not None:
        yield tiny
    for case in cases(run, "PM106"):
        event = case.event
        lost = event.lost_constant
        where = event.where
        if lost:
            became = "infinite" if abs(lost.value) > 1 else "0"
            what = f"the constant {lost.value:g} became {became} in {lost.dtype}"
            what += f", and {operation(event)} gave {kind_of(event)}"
            remedy = (
                "mask with torch.finfo(scores.dtype).min or -1e4, or compute the scores in float32"
                if became == "infinite"
                else "use an epsilon of at least 1e-4 here, or compute this line in float32"
            )
        else:
            what = f"{operation(event)} overflowed in float16: {operands_in_words(event)}"
            remedy = "compute this line in float32 (x.float()), scale the operands down, or use bfloat16"
        yield Finding(
            what=what,
            why="float16 overflows above 65504 and underflows to 0 below 6e-8",
            remedy=remedy,
            where=where,
            evidence=(*evidence(event), *([Evidence(name="constant", value=lost.value)] if lost else [])),
            confidence=confidence(event),
            severity=case.severity,
        )
