"""PM502."""

import math
from collections.abc import Iterator

from paramedic.record.facts import LossCall, LossValues
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.lines import applied_at
from paramedic.rules.support import measured, train_first


@rule("PM502", "softmax-before-cross-entropy", severity="error", needs=[LossCall], causes=["PM512"], lasting=True)
def check(run: Run, *, tolerance: float = 1e-3) -> Iterator[Finding]:
    """Probabilities reach a loss that expects logits.

    `F.cross_entropy` and `nn.CrossEntropyLoss` apply log-softmax themselves. Given the output of a softmax they
    apply it twice.

    ## Why it hurts
    The doubled softmax is nearly flat: the loss cannot fall below a floor well above zero, gradients are small, and
    training is slow or stops at a mediocre accuracy. In validation only, it makes a good model look bad.

    ## What to try first
    Return the raw outputs of the last Linear layer, and apply softmax only where you need probabilities.

    ## When this is wrong
    Never: every examined row was non-negative and summed to 1. `log_softmax` before cross-entropy is harmless (applying
    it twice changes nothing) and is not reported.

    ## Options
    `tolerance`: how far a row's sum may be from 1.
    """
    reported = False
    for calls in train_first(measured(run.facts(LossCall), "cross_entropy")):
        probable = [call for call in calls if _probabilities(call.numbers, tolerance)]
        if not probable or len(probable) < len(calls) or probable[0].input.shape[-1] < 2:
            continue
        call = next((call for call in calls if call.made_at), calls[0])
        if call.phase == "eval" and reported:
            continue  # the same model, evaluated: one line is enough to edit
        reported = True
        classes = call.input.shape[1 if len(call.input.shape) > 1 else 0]
        rows = int(call.numbers.rows)
        floor = math.log(1 + (classes - 1) / math.e)
        made = call.made_at
        yield Finding(
            what=f"F.cross_entropy received probabilities: {rows} of {rows} rows sum to 1.000 ({call.phase} phase)",
            why=f"cross-entropy applies log-softmax itself; over {classes} classes it cannot fall below {floor:.2f}",
            remedy="drop the softmax and pass logits to the loss" + (f" at {call.line}" if made else ""),
            **applied_at(run, call),
            evidence=(
                Evidence(name="row_sum_min", value=call.numbers.row_sum_min, limit=f"1 ± {tolerance:g}"),
                Evidence(name="row_sum_max", value=call.numbers.row_sum_max, limit=f"1 ± {tolerance:g}"),
                Evidence(name="calls", value=len(calls), limit="all of them"),
            ),
            confidence=0.99,
        )


def _probabilities(values: LossValues, tolerance: float) -> bool:
    low, high = values.row_sum_min, values.row_sum_max
    return values.input_min >= 0 and abs(low - 1) <= tolerance and abs(high - 1) <= tolerance
