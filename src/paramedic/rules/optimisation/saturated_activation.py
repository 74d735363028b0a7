"""PM204."""

from collections.abc import Iterator

from paramedic.record.facts import Backward, Units
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.optimisation.dead_units import latest
from paramedic.rules.outcome import outcome
from paramedic.rules.support import many

_ENDS = {"tanh": "-1 or 1", "sigmoid": "0 or 1"}


@rule(
    "PM204",
    "saturated-activation",
    severity="warning",
    needs=[Backward, Units],
    causes=["PM201", "PM206", "PM207", "PM209", "PM213", "PM305"],
    symptom=True,
)
def check(run: Run, *, failing: float = 0.7) -> Iterator[Finding]:
    """Sigmoid or tanh units saturated at the ends of their range.

    ## Why it hurts
    The curve is flat there, so hardly any gradient passes back through such a unit, and the layers before it stop
    learning.

    ## What to try first
    Scale the inputs; initialise with `nn.init.xavier_uniform_`, centred around zero; put a normalisation layer before
    the activation; or use ReLU or GELU.

    ## When this is wrong
    Gates are meant to be fully open or closed. It is an alarm only if the loss has not moved away from guessing.

    ## Options
    `failing`: share of a layer's values within one percent of an end above which it is blamed for a failed training.
    """
    judged = outcome(run)
    layers = latest(run, "tanh", "sigmoid")
    if not layers:
        raise Abstain("no sigmoid or tanh was seen in the later part of the run")
    pinned = [event for event in layers if event.pinned >= failing]
    if not pinned or not judged.bad:
        return
    first = min(pinned, key=lambda event: event.id)
    others = f"; the same in {many(len(pinned) - 1, 'other layer')}" if len(pinned) > 1 else ""
    yield Finding(
        what=f"{first.pinned:.0%} of {first.module}'s {first.op} values are saturated at {_ENDS[first.op]}{others}",
        why=f"the curve is flat there and passes no gradient back; {judged}",
        remedy="scale the inputs, use nn.init.xavier_uniform_, or normalise before the activation",
        where=first.where,
        evidence=(Evidence(name="pinned_share", value=round(first.pinned, 3), limit=f"< {failing:g}"),),
        confidence=0.93,
    )
