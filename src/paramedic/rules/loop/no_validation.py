"""PM618."""

from collections.abc import Iterator

from paramedic.record.facts import EvalForward, Forward, Gear, Loader, LossCall, Mode, Step
from paramedic.rules import Abstain, Evidence, Finding, Run, Steps, rule


@rule("PM618", "no-validation", severity="note", needs=[Step, Forward], coverage=[Steps("fewest")])
def check(run: Run, *, fewest: int = 100) -> Iterator[Finding]:
    """The model was never evaluated.

    ## Why it hurts
    The training loss says how well the model knows the training data. Whether it has learnt anything that holds for
    other data, and when to stop, only held-out data can tell.

    ## What to try first
    Hold out a tenth of the data and compute the loss or accuracy on it after every epoch, in `model.eval()` and under
    `torch.no_grad()`.

    ## When this is wrong
    When the evaluation is done by another program on the saved weights. Networks that are trained against each other,
    and policies that make their own data, are not judged.

    ## Options
    `fewest`: steps that must have been taken.
    """
    for event in run.facts(Gear):
        raise Abstain(str(event.reason))
    if run.meta.get("forked") or run.rank:
        raise Abstain("another process may evaluate")
    if len({event.optimizer for event in run.facts(Step)}) > 1:
        raise Abstain("several optimizers take turns, as in adversarial training")
    if not run.facts(Loader) and not run.facts(LossCall):
        raise Abstain("nothing is compared with targets, and no loader gives data that could be held out")
    modes = [event for event in run.facts(Mode) if not event.training]
    if run.facts(EvalForward) or modes or any(not event.grad for event in run.facts(Forward)):
        return
    step = run.facts(Step)[-1]
    yield Finding(
        what=f"{run.steps:,} training steps, and the model was never evaluated on other data",
        why="the training loss alone cannot tell learning from memorising",
        remedy="hold out a part of the data and evaluate on it after every epoch",
        where=step.where,
        evidence=(Evidence(name="evaluations", value=0, limit="≥ 1"),),
        confidence=0.5,  # that it is a fault; that it is so is certain
    )
