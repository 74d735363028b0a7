"""PM618."""

from collections.abc import Iterator

from paramedic.record.facts import EvalForward, Forward, Gear, Loader, LossCall, Mode, Step
from paramedic.rules import Abstain, Evidence, Finding, Run, Steps, rule


@rule("PM618", "no-validation", severity="note", needs=[Step, Forward], coverage=[Steps("fewest")])
def check(run: Run, *, fewest: int = 100) -> Iterator[Finding]:
    """The model was never evaluated.

    ## Why it hurts
    The training loss shows how well the model fits the training data. Only held-out data can show whether it
    generalises, and when to stop.

    ## What to try first
    Hold out a tenth of the data and compute the loss or accuracy on it after every epoch, in `model.eval()` and under
    `torch.no_grad()`.

    ## When this is wrong
    When another program evaluates the saved weights. Networks trained against each other, and policies that generate
    their own data, are not judged.

    ## Options
    `fewest`: steps that must have been taken.
    """
    for event in run.facts(Gear):
        raise Abstain(str(event.reason))
    if run.meta.get("forked") or run.rank:
        raise Abstain("another process may do the evaluation")
    if len({event.optimizer for event in run.facts(Step)}) > 1:
        raise Abstain("several optimizers take turns, as in adversarial training")
    if not run.facts(Loader) and not run.facts(LossCall):
        raise Abstain("nothing is compared with targets, and no loader has data that could be held out")
    modes = [event for event in run.facts(Mode) if not event.training]
    if run.facts(EvalForward) or modes or any(not event.grad for event in run.facts(Forward)):
        return
    step = run.facts(Step)[-1]
    yield Finding(
        what=f"{run.steps:,} training steps, but the model was never evaluated on other data",
        why="the training loss alone cannot distinguish learning from memorising",
        remedy="hold out part of the data and evaluate on it after every epoch",
        where=step.where,
        evidence=(Evidence(name="evaluations", value=0, limit="≥ 1"),),
        confidence=0.5,  # that it is a fault; that it is so is certain
    )
