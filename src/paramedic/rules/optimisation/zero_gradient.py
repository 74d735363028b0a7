"""PM215."""

from collections.abc import Iterator

from paramedic.record.facts import Backward, Census, Flat, Load, LossCall
from paramedic.rules import Abstain, Evidence, Finding, Run, Where, rule
from paramedic.rules.curves import loss_curves
from paramedic.rules.support import GRADIENT, NONZERO, at


@rule(
    "PM215",
    "zero-gradient",
    severity="error",
    needs=[Census, Backward],
    causes=["PM203", "PM204", "PM206", "PM207", "PM209", "PM213", "PM305", "PM405"],
    symptom=True,
)
def check(run: Run, *, fewest: int = 3) -> Iterator[Finding]:
    """The loss has a graph, but every gradient is exactly zero.

    ## Why it hurts
    backward() runs, the optimizer steps, and no weight moves: nothing is learnt, and no error is raised.

    ## What to try first
    Look at the last operations before the loss: a ReLU or clamp whose values all lie in its flat part, `round()`,
    `sign()` or a comparison, a mask or weight of zero.

    ## When this is wrong
    A model that is loaded and already gives a loss of exactly zero has nothing to learn.

    ## Options
    `fewest`: examined steps in which all gradients must be zero.
    """
    censuses = run.facts(Census)
    given = [[flags for flags in census.flags if flags & GRADIENT] for census in censuses]
    if len([flags for flags in given if flags]) < fewest:
        raise Abstain("too few steps with gradients were examined")
    if any(flag & NONZERO for flags in given for flag in flags):
        return
    curves = loss_curves(run)
    if run.facts(Load) and any(curve.first == 0 for curve in curves):
        raise Abstain("a loaded model starts with a loss of zero")
    backward = run.facts(Backward)[0]
    where, why, remedy = _reason(run, backward)
    count = max(len(flags) for flags in given)
    yield Finding(
        what=f"all gradients ({count} tensors) were exactly zero in all {len(censuses)} examined steps",
        why=why,
        remedy=remedy,
        where=where,
        evidence=(
            Evidence(name="nonzero_gradients", value=0, limit="> 0"),
            Evidence(name="examined_steps", value=len(censuses)),
        ),
        confidence=0.97,
    )


def _reason(run: Run, backward: Backward) -> tuple[Where, str, str]:
    """Where the gradient gets lost, as far as it is known."""
    flat = run.first(Flat)
    if flat is not None:
        name = flat.function
        return flat.where, f"{name} is flat, so its gradient is zero everywhere", f"compute the loss without {name}"
    for call in run.facts(LossCall, phase="train"):
        values, made = call.values, call.made_at
        if values and made and values.input_min == values.input_max:
            place = at(call, made[1:])
            text = f"the {made[0]} before the loss gives {values.input_min:g} for everything, where it is flat"
            return place, text, f"take the {made[0]} away, or look at what goes into it"
        if values and made and made[0] in ("sigmoid", "tanh", "softmax") and values.input_max >= 1:
            place = at(call, made[1:])
            text = f"the {made[0]} before the loss is so saturated that its gradient is zero in float32"
            return place, text, "scale down what goes into it, or use a loss on raw scores (…_with_logits)"
    zero = any(curve.values and not any(curve.values) for curve in loss_curves(run))
    why = (
        "the loss is exactly 0: something multiplies it by zero"
        if zero
        else "some operation before the loss has a zero derivative"
    )
    return backward.where, why, "print the loss's parts one by one; look for clamp, relu, round, and masks of zeros"
