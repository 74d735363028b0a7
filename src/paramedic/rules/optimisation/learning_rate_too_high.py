"""PM205."""

from collections.abc import Iterator

from paramedic.record.facts import Backward, Optimizer, StepTried
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.outcome import explosion, optimizer_of, outcome, rates_of
from paramedic.rules.overshooting import JUMP, PUSH, Overshoot, overshoot
from paramedic.rules.rates import lower_helps
from paramedic.rules.tried_steps import Tries, too_large


@rule(
    "PM205",
    "learning-rate-too-high",
    severity="warning",
    needs=[Backward, Optimizer],
    causes=["PM10", "PM201", "PM202", "PM203", "PM204", "PM207", "PM208", "PM209", "PM210", "PM213", "PM305"],
    symptom=True,
)
def check(run: Run, *, push: float = PUSH, jump: float = JUMP) -> Iterator[Finding]:
    """The learning rate is so high that steps destroy what the model has learnt.

    ## Why it hurts
    A healthy step changes a weight by about a thousandth of its size. If each step changes it by a tenth or more,
    training becomes unstable: the loss jumps, diverges, or collapses to a constant answer.

    ## What to try first
    Divide the learning rate by 10, twice if necessary. With Adam, 1e-3 or 3e-4 is a good start. Warm-up helps large
    models through the first steps.

    ## When this is wrong
    Large steps alone are not reported; it is an alarm only if the loss has jumped and the model has learnt nothing. If
    the loss is a sum of terms or hand-written, steps are tried on a copy: they must raise the loss of the very batch
    they were computed from although they follow its downhill slope, and training must have made no progress.

    ## Options
    `push`: typical size of an update relative to the weight; `jump`: how far the loss rose above its first value or
    above guessing, whichever is higher.
    """
    tried = lower_helps(run)
    if tried is not None:
        yield tried
        return
    large = too_large(run)
    if large is not None:
        yield _raises_its_own(run, *large)
        return
    endless = _endless_momentum(run) if explosion(run) is not None or outcome(run).bad else None
    if endless is not None:
        yield endless
        return
    found = overshoot(run, push=push, jump=jump)
    if found is not None:
        yield _finding(found)


def _raises_its_own(run: Run, tried: StepTried, tries: Tries) -> Finding:
    optimizer = optimizer_of(run)
    rates = rates_of(optimizer) if optimizer is not None else []
    rate, after, small = max(rates, default=0.0), tried.losses[2], tried.losses[0]
    raised = f"from {tried.loss:.4g} to {after:.4g}" if after is not None else "to infinity or NaN"
    smaller = f"; a hundredth of the step gives {small:.4g}" if small is not None else ""
    curve = tries.curve
    ended = (
        "then the loss became non-finite"
        if curve is None or curve.broke
        else f"after {curve.steps:,} steps it is {curve.end:.3g}"
    )
    return Finding(
        what=f"a step raises the loss of its own batch {raised}" + (f" at a learning rate of {rate:g}" if rate else ""),
        why=f"the direction is right but the step is far too long{smaller}; {ended}",
        remedy=f"divide the learning rate by 10 or more: lr={rate / 10:g}, then lr={rate / 100:g}"
        if rate
        else "divide the learning rate by 10, or by 100",
        where=optimizer.where if optimizer is not None else tried.where,
        evidence=(
            Evidence(name="loss_before_the_step", value=tried.loss),
            Evidence(name="loss_after_the_step", value=after if after is not None else "not finite", limit="lower"),
            Evidence(name="steps_tried", value=len(tries.found)),
        ),
        confidence=0.93,
    )


def _endless_momentum(run: Run) -> Finding | None:
    for optimizer in run.facts(Optimizer):
        momentum = max((group.momentum for group in optimizer.groups), default=0.0)
        if momentum >= 1:
            return Finding(
                what=f"{optimizer.class_} runs with momentum={momentum:g}: past gradients never decay",
                why="the velocity is the sum of all past gradients, so steps overshoot at any learning rate",
                remedy="momentum=0.9",
                where=optimizer.where,
                evidence=(Evidence(name="momentum", value=momentum, limit="< 1"),),
                confidence=0.96,
            )
    return None


def _finding(found: Overshoot) -> Finding:
    ratio, rate = found.push, max(rates_of(found.optimizer), default=0.0)
    change = f"by {ratio:.0%} of their size" if ratio < 10 else f"to {ratio:.1e} times their size"
    return Finding(
        what=f"each step changes the weights {change} at a learning rate of {rate:g}",
        why=f"healthy steps change about 0.1 %; {found.story}",
        remedy=f"divide the learning rate by 10 or more: lr={rate / 10:g}, then lr={rate / 100:g}",
        where=found.optimizer.where,
        evidence=(
            Evidence(name="update_to_weight", value=float(f"{ratio:.3g}"), limit=f"< {found.limit:g}"),
            Evidence(name="loss_rose", value=float(f"{found.rise:.3g}"), limit="1"),
        ),
        confidence=0.96,
    )
