"""PM218."""

from collections.abc import Iterator

from paramedic.record.facts import Backward, Model, Optimizer, Schedule, Trial
from paramedic.rules import Evidence, Finding, Run, Where, rule
from paramedic.rules.experiments import Lab, at
from paramedic.rules.standing import IN_THE_WAY, far_better

CHANGES = {
    "steady-rate": (
        "the learning rate held at its first value",
        "use a schedule that decays more slowly; is step() called per batch where epochs are meant?",
    ),
    "plain-optimizer": ("the optimizer's values at their defaults", "leave them at their defaults"),
    "turned-round": (
        "positive and negative of the triplet loss swapped",
        "pass them in this order: anchor, positive, negative",
    ),
    "standardised": (
        "inputs scaled to mean 0 and standard deviation 1",
        "standardise each input feature before training",
    ),
    "fresh-start": (
        "torch's own initialisation",
        "use torch's default initialisation, or scale yours to the layer's size",
    ),
    "no-batchnorm": (
        "BatchNorm removed",
        "look at BatchNorm's input: tiny batches, or batches of a single class or source",
    ),
    "simple-loss": ("the plain loss of the same task", "start with the plain loss, then add what you need"),
    "linear-model": (
        "a linear model instead of yours",
        "the loop and the loss work: follow one sample through the model layer by layer, or build it up step by "
        "step from the linear one",
    ),
    "clipped": ("gradients clipped to a norm of 1", "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"),
    "fp32": ("full precision", "bfloat16 instead of float16, or a GradScaler"),
    "eager": ("no torch.compile", "drop torch.compile, and report the bug to PyTorch"),
    "batch-x4": ("batches four times as large", "larger batches, or a smaller learning rate"),
    "batch-1": ("batches of one sample", "look for code that mixes the samples of a batch"),
}


@rule("PM218", "one-change-helps", severity="warning", needs=[Trial], causes=["PM207", "PM209", "PM213", "PM214"])
def check(run: Run, *, better: float = 0.2) -> Iterator[Finding]:
    """The script learns little or nothing, but learns once a single thing is changed.

    ## Why it hurts
    The change is what makes the difference: nothing else differs between the two runs.

    ## What to try first
    Make the same change in the script.

    ## When this is wrong
    Reported only if the unchanged script ends no better than guessing, or if another initialisation, schedule or
    optimizer setting more than doubles what it learns. One change may hide another cause, so look at the other
    experiments as well.

    ## Options
    `better`: how much lower the loss must end, as a share of what the script itself reaches.
    """
    lab = Lab(run)
    if lab.trouble in ("none", "memorises"):
        helping = [tried for name in IN_THE_WAY if (tried := lab.get(name)) and far_better(lab, tried)]
    elif lab.signal == "none":
        return
    else:
        if any(lab.helps(name) for name in ("lr-up", "lr-down", "no-regularisation")):
            return
        helping = [tried for name in CHANGES if (tried := lab.get(name)) and lab.helps(name)]
        helping = [tried for tried in helping if tried.better_than(lab.base, by=better)]
    if not _rate_is_fine(lab):
        helping = [tried for tried in helping if tried.name != "linear-model"]  # it has a rate of its own
    if not helping:
        return
    best = min(helping, key=lambda tried: (tried.name == "linear-model", tried.last))
    changed, remedy = CHANGES[best.name]
    if best.name == "plain-optimizer":
        values = best.noted["settings"].items()
        changed = ", ".join(f"{name}={usual} instead of {given}" for name, (given, usual) in values)
        usually = ", ".join(f"{name}={usual}" for name, (_, usual) in values)
        remedy = f"{usually}, the default of {_optimizer_class(run)}"
    yield Finding(
        what=f"with {changed} the loss ends at {best.last:.3g}, without at "
        + (f"{lab.base.last:.3g}" if lab.base.finite else "a non-finite value"),
        why=f"nothing else was changed; guessing gives {lab.guessing:.3g}",
        remedy=remedy,
        where=_where(run, best.name),
        evidence=(Evidence(name="change", value=best.name), best.evidence(), lab.base.evidence()),
        confidence=0.85,
    )


def _rate_is_fine(lab: Lab) -> bool:
    """Whether the model learns an easier task at the script's own rate; if not, that is PM214."""
    return bool(lab.learns_one_batch or lab.learns_twin)


def _where(run: Run, change: str) -> Where:
    if change == "steady-rate" and (schedule := run.first(Schedule)) is not None:
        return schedule.where
    if change == "turned-round":
        return at(run.first(Backward))
    return at(run.first(Model) if change == "linear-model" else run.first(Optimizer))


def _optimizer_class(run: Run) -> str:
    optimizer = run.first(Optimizer)
    return optimizer.class_ if optimizer is not None else "the optimizer"
