"""PM209."""

from collections.abc import Iterator

from paramedic.record.facts import LossCall
from paramedic.rules import Evidence, Finding, Run, Steps, rule
from paramedic.rules.support import by_place

_SCORES = ("cross_entropy", "nll_loss", "binary_cross_entropy_with_logits", "binary_cross_entropy")
_DISTANCES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")


@rule(
    "PM209",
    "constant-prediction",
    severity="warning",
    needs=[LossCall],
    coverage=[Steps("fewest")],
    causes=["PM207"],
    symptom=True,
)
def check(run: Run, *, spread: float = 1e-3, fewest: int = 60) -> Iterator[Finding]:
    """The outputs hardly depend on the inputs.

    ## Why it hurts
    The output is the same for every input: the model has collapsed, or something before the output removes the signal.

    ## What to try first
    Compare the outputs for two very different inputs layer by layer. Common causes: a learning rate that killed all
    units, a normalisation right before a mean over the same axis, constant inputs, a loss that is minimised by the
    mean.

    ## When this is wrong
    When the task really is constant. Outputs are compared within a batch, so batches of one sample cannot be judged.

    ## Options
    `spread`: standard deviation of the outputs over the samples of a batch, in units of the scores themselves or, for
    regression, of the standard deviation of the targets; `fewest`: fewest steps seen.
    """
    calls = [call for call in run.facts(LossCall, phase="train") if call.values]
    for group in by_place(calls).values():
        late = [call for call in group if call.step >= run.steps // 2]
        if len(late) < 2 or not late[0].input.requires_grad or any(c.numbers.rows < 4 for c in late):
            continue
        spreads = [_spread(call) for call in late]
        known = [value for value in spreads if value is not None]
        if len(known) < len(late) or not all(value <= spread for value in known):  # NaN is another illness
            continue
        yield Finding(
            what=f"the outputs are the same for every sample of a batch (standard deviation {max(known):.1e}) "
            f"in the last {len(late)} examined steps",
            why="no information about the input reaches the output",
            remedy="print each layer's standard deviation over the batch: after which layer is it 0?",
            where=late[0].where,
            evidence=(
                Evidence(name="spread", value=max(known), limit=f"> {spread:g}"),
                Evidence(name="examined_calls", value=len(late)),
            ),
            confidence=0.9,
        )


def _spread(call: LossCall) -> float | None:
    values = call.numbers
    if values.target_std == 0 and call.function not in ("nll_loss", "cross_entropy"):
        return None
    if call.function in _SCORES:
        return float(values.row_spread)
    if call.function in _DISTANCES:
        return float(values.row_spread / values.target_std)
    return None
