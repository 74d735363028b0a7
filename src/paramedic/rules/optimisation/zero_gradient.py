"""PM215."""

from collections.abc import Iterator

from paramedic.record.facts import Backward, Census, Flat, Load, LossCall, Step
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
    A loaded model whose loss is already exactly zero has nothing to learn.

    ## Options
    `fewest`: examined steps in which all gradients must be zero.
    """
    judged = [_of_optimizer(run, number) for number in sorted({census.optimizer for census in run.facts(Census)})]
    if max(len(some) for some in judged) < fewest:
        raise Abstain("too few steps with gradients were examined")
    curves = loss_curves(run)
    if run.facts(Load) and any(curve.first == 0 for curve in curves):
        raise Abstain("a loaded model starts with a loss of zero")
    for given in judged:
        if len(given) < fewest or any(flag & NONZERO for _, flags in given for flag in flags):
            continue
        if len(judged) > 1 and given[-1][0].step < run.steps // 2:
            continue  # a second loss may come in later
        where, why, remedy = _reason(run, _backward(run, given[0][0].optimizer, len(judged)))
        count = max(len(flags) for _, flags in given)
        yield Finding(
            what=f"all gradients ({count} tensors) were exactly zero in all {len(given)} examined steps",
            why=why,
            remedy=remedy,
            where=where,
            evidence=(
                Evidence(name="nonzero_gradients", value=0, limit="> 0"),
                Evidence(name="examined_steps", value=len(given)),
            ),
            confidence=0.97,
        )


def _of_optimizer(run: Run, number: int) -> list[tuple[Census, list[int]]]:
    """Its examined steps with gradients, and the flags of parameters that had one."""
    own = [census for census in run.facts(Census) if census.optimizer == number]
    given = [(census, [flags for flags in census.flags if flags & GRADIENT]) for census in own]
    return [(census, flags) for census, flags in given if flags]


def _backward(run: Run, optimizer: int, of: int) -> Backward:
    """The backward() whose gradients it uses: of several, the last one above its step()."""
    found = run.facts(Backward)
    step = next((step.where for step in run.facts(Step) if step.optimizer == optimizer), None)
    if of == 1 or step is None or step.line is None:
        return found[0]
    above = [b for b in found if b.where.file == step.file and (b.where.line or 0) < step.line]
    return max(above, key=lambda b: b.where.line or 0, default=found[0])


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
            text = f"the {made[0]} before the loss outputs {values.input_min:g} for every sample, where it is flat"
            return place, text, f"remove the {made[0]}, or look at its input"
        if values and made and made[0] in ("sigmoid", "tanh", "softmax") and values.input_max >= 1:
            place = at(call, made[1:])
            text = f"the {made[0]} before the loss is so saturated that its gradient is zero in float32"
            return place, text, "scale its input down, or use a loss on raw scores (…_with_logits)"
    zero = any(curve.values and not any(curve.values) for curve in loss_curves(run))
    why = (
        "the loss is exactly 0: something multiplies it by zero"
        if zero
        else "some operation before the loss has a zero derivative"
    )
    return backward.where, why, "print the terms of the loss; look for clamp, relu, round and all-zero masks"
