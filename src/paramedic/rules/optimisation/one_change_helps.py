"""PM218."""

from collections.abc import Iterator, Mapping

from paramedic.record.facts import Backward, Model, Optimizer, Schedule, Trial
from paramedic.rules import Evidence, Finding, Run, Where, rule
from paramedic.rules.experiments import CLEAR_SKILL, Lab, Tried, at
from paramedic.rules.loss_terms import number_of, rest, terms_of
from paramedic.rules.own_metrics import repaired
from paramedic.rules.standing import IN_THE_WAY, evaluated_better, far_better
from paramedic.rules.support import listed

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
    "turned-edges": (
        "the edges of the graph turned round",
        "collect each node's messages from the nodes that point to it: source, target = edges, index_add_ over the "
        "target",
    ),
    "uphill": ("every step in the opposite direction", "turn the sign of the loss round: minimise it, or negate it"),
    "lr-up": ("ten times the learning rate", "a larger learning rate"),
    "lr-down": ("a tenth of the learning rate", "a smaller learning rate"),
    "no-regularisation": ("no dropout and no weight decay", "weight_decay=0.01 or less, dropout of 0.1 to 0.5"),
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
    "training-mode": (
        "the evaluation in training mode",
        "the running statistics of BatchNorm do not fit: look at its momentum, at what else goes through the model in "
        "training mode, and at batches that differ from those of the evaluation",
    ),
    "batch-1": ("batches of one sample", "look for code that mixes the samples of a batch"),
}

BY_METRIC_ALONE = ("turned-edges", "uphill", "lr-up", "lr-down", "no-regularisation")  # by the loss: other rules
BY_LOSS = tuple(name for name in CHANGES if name not in BY_METRIC_ALONE)
OTHER_CODE = ("turned-edges", "uphill")  # what these repair does not come by itself with more steps
NO_METRIC = ("linear-model", "simple-loss", "training-mode")  # what is evaluated is not what was changed


@rule("PM218", "one-change-helps", severity="warning", needs=[Trial], causes=["PM207", "PM209", "PM213", "PM214"])
def check(run: Run, *, better: float = 0.2) -> Iterator[Finding]:
    """The script learns little or nothing, but learns once a single thing is changed.

    ## Why it hurts
    The change is what makes the difference: nothing else differs between the two runs.

    ## What to try first
    Make the same change in the script.

    ## When this is wrong
    Reported only if the unchanged script ends no better than guessing, or if another initialisation, schedule or
    optimizer setting more than doubles what it learns, or if a change makes the metric that the script prints far
    better. One change may hide another cause, so look at the other
    experiments as well.

    ## Options
    `better`: how much lower the loss must end, as a share of what the script itself reaches.
    """
    if (found := _by_metric(run)) is not None:
        yield found
        return
    lab = Lab(run)
    if (told := evaluated_better(lab)) is not None:
        yield _evaluation(run, told)
        return
    term = next((name for name in lab.tried if name.startswith("term-") and lab.helps(name)), None)
    # Without a penalty more is memorised, too: where the script learns, simple models must know that there is more.
    if term is not None and (lab.trouble not in ("none", "memorises") or (lab.simple_skill or 0) >= CLEAR_SKILL):
        yield _term(run, lab, term)
        return
    if lab.trouble in ("none", "memorises"):
        helping = [tried for name in IN_THE_WAY if (tried := lab.get(name)) and far_better(lab, tried)]
    elif lab.signal == "none":
        return
    else:
        if any(lab.helps(name) for name in ("lr-up", "lr-down", "no-regularisation")):
            return
        helping = [tried for name in BY_LOSS if (tried := lab.get(name)) and lab.helps(name)]
        helping = [tried for tried in helping if tried.better_than(lab.base, by=better)]
    if lab.helps("simple-loss") and (plain := lab.tried["simple-loss"].noted.get("plain")):
        yield _by_hand(run, lab, plain)
        return
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
    if best.name == "linear-model" and (parts := [name for name in lab.tried if _is_part(name) and lab.helps(name)]):
        inside = listed([name.removeprefix("linear-part-") for name in parts])
        changed, remedy = f"{changed}, or of {inside} alone,", f"the fault is inside of {inside}: {remedy}"
    yield Finding(
        what=f"with {changed} the loss ends at {best.last:.3g}, without at "
        + (f"{lab.base.last:.3g}" if lab.base.finite else "a non-finite value"),
        why=f"nothing else was changed; guessing gives {lab.guessing:.3g}",
        remedy=remedy,
        where=_where(run, best.name),
        evidence=(Evidence(name="change", value=best.name), best.evidence(), lab.base.evidence()),
        confidence=0.8,
    )


def _by_metric(run: Run) -> Finding | None:
    """A change that repairs the metric of unseen samples, whatever the loss does."""
    tried = {trial.name: Tried(trial) for trial in run.facts(Trial)}
    base = tried.get("baseline")
    if base is None or not base.ran:
        return None
    over = base.data.status == "ended"  # else it may only be faster
    names = [name for name in CHANGES if name not in NO_METRIC and (over or name in OTHER_CODE)]
    for name in names:
        told = repaired(base, tried[name]) if name in tried and tried[name].ran else None
        if told is not None:
            changed, remedy = CHANGES[name]
            return Finding(
                what=f"with {changed}, {told}",
                why="nothing else was changed",
                remedy=remedy,
                where=_where(run, name),
                evidence=(Evidence(name="change", value=name), tried[name].evidence(), base.evidence()),
                confidence=0.8,
            )
    return None


def _is_part(name: str) -> bool:
    return name.startswith("linear-part-")


def _evaluation(run: Run, told: str) -> Finding:
    changed, remedy = CHANGES["training-mode"]
    return Finding(
        what=f"with {changed}, {told}",
        why="the weights are the same: only what BatchNorm and Dropout do in eval() differs",
        remedy=remedy,
        where=at(run.first(Model)),
        evidence=(Evidence(name="change", value="training-mode"),),
        confidence=0.8,
    )


def _term(run: Run, lab: Lab, name: str) -> Finding:
    """A term that is in the way of the others; with an unbounded loss its sign is what is wrong."""
    number = number_of(name) or 0
    tried, term = lab.tried[name], terms_of(lab.base)[number]
    before, after = rest(lab.base, number), rest(tried, number)
    assert before is not None and after is not None
    turned = lab.base.exploded and lab.helps(name.replace("off", "turned"))
    now = "added" if term.sign > 0 else "subtracted"
    remedy = f"turn its sign round: it is {now} now" if turned else "weigh it less"
    others = listed([other.name for i, other in enumerate(terms_of(lab.base)) if i != number])
    return Finding(
        what=f"without {term.name} in the loss, {others} falls from {after[0]:.3g} to {after[1]:.3g}; with it, from "
        f"{before[0]:.3g} to {before[1]:.3g}",
        why=f"{term.name} goes from {term.first:.3g} to {term.last:.3g} in the sum, and outweighs what is to be learnt",
        remedy=remedy,
        where=_summed_at(run, lab),
        evidence=(Evidence(name="change", value=name), lab.base.evidence()),
        confidence=0.8,
    )


def _by_hand(run: Run, lab: Lab, plain: Mapping[str, float]) -> Finding:
    return Finding(
        what=f"trained on the plain loss of the same answers and targets, it ends at {plain['last']:.3g} (guessing: "
        f"{plain['guessing']:.3g}); with the loss written by hand nothing is learnt",
        why="data, model and loop are the same, so the fault is in the loss",
        remedy="try the loss on two or three values that you can work out by hand: its value, sign and shapes, and "
        "whether it is 0 where the answers are the targets",
        where=at(run.first(Backward)),
        evidence=(Evidence(name="change", value="simple-loss"), lab.base.evidence()),
        confidence=0.8,
    )


def _summed_at(run: Run, lab: Lab) -> Where:
    file, _, line = str(lab.base.noted.get("summed_at") or "").rpartition(":")
    return Where(file=file, line=int(line)) if file else at(run.first(Backward))


def _rate_is_fine(lab: Lab) -> bool:
    """Whether the model learns an easier task at the script's own rate; if not, that is PM214."""
    return bool(lab.learns_one_batch or lab.learns_twin)


def _where(run: Run, change: str) -> Where:
    if change == "steady-rate" and (schedule := run.first(Schedule)) is not None:
        return schedule.where
    if change in ("turned-round", "uphill"):
        return at(run.first(Backward))
    return at(run.first(Model) if change in ("linear-model", "turned-edges") else run.first(Optimizer))


def _optimizer_class(run: Run) -> str:
    optimizer = run.first(Optimizer)
    return optimizer.class_ if optimizer is not None else "the optimizer"
