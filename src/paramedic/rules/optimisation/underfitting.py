"""PM213."""

from collections.abc import Iterator
from statistics import mean

from paramedic.record.facts import Backward, Model, ModuleCall
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.curves import Curve
from paramedic.rules.evaluations import evaluations
from paramedic.rules.layers import built_at
from paramedic.rules.outcome import Outcome, outcome


@rule("PM213", "underfitting", severity="note", needs=[Backward, Model])
def check(run: Run, *, fewest: int = 200, high: float = 0.4, gap: float = 0.15) -> Iterator[Finding]:
    """Training plateaus at a high loss, on training and held-out data alike.

    ## Why it hurts
    More training will not help: the model is too small for the task, regularised too strongly, or its steps are too
    small or too large to get further.

    ## What to try first
    Start with the narrowest layer: it limits everything after it. Then less dropout and weight decay, then another
    learning rate. If the model can memorise a small part of the data, it is large enough.

    ## When this is wrong
    Some data is that noisy: clicks and share prices can hardly be predicted. That is why this is only a note, and only
    reported with a likely cause.

    ## Options
    `fewest`: fewest steps; `high`: share of the guessing loss that remains; `gap`: largest relative gap to the held-out
    loss.
    """
    judged = outcome(run)
    curve = judged.curve
    if len(curve.values) < fewest:
        raise Abstain(f"only {len(curve.values)} steps; {fewest} are needed")
    if judged.prior is None or judged.prior <= 0:
        raise Abstain("the loss of guessing is not known")
    held_out = [points[-1][1] for points in evaluations(run, curve.task) if points]
    if not held_out:
        raise Abstain("no evaluation with the training's loss function was seen")
    if curve.end < high * judged.prior or judged.bad or not _levelled_off(curve):
        return
    if abs(held_out[-1] - curve.end) > gap * curve.end:
        return
    yield from _suspect(run, judged, held_out[-1], high)


def _levelled_off(curve: Curve) -> bool:
    """Whether the last quarter gained less than a tenth of the progress before it."""
    size = len(curve.values) // 4
    last, before = mean(curve.values[-size:]), mean(curve.values[-2 * size : -size])
    return before - last < 0.1 * max(curve.first - before, 1e-12)


def _suspect(run: Run, judged: Outcome, held_out: float, high: float) -> Iterator[Finding]:
    narrow = _bottleneck(run)
    dropout = [event for event in run.facts(ModuleCall) if event.dropout and (event.p or 0) >= 0.7]
    if narrow is not None:
        module, width, classes = narrow
        words = f"{module} passes only {width} value{'s' * (width > 1)} on for {classes} outputs"
        where, remedy = built_at(run, module), f"make {module} wider"
    elif dropout:
        words = f"{dropout[0].module} drops {dropout[0].p:.0%} of its input"
        where, remedy = dropout[0].where, "lower the dropout"
    else:
        return
    share = judged.curve.end / (judged.prior or 1.0)
    yield Finding(
        what=f"training stopped improving at a loss of {judged.curve.end:.3g}, held-out {held_out:.3g}; "
        f"guessing gives {judged.prior:.3g}",
        why=words,
        remedy=f"{remedy}, and see whether the model can memorise a hundred samples",
        where=where,
        evidence=(Evidence(name="left_of_guessing", value=round(share, 3), limit=f"< {high:g}"),),
        confidence=0.82,
    )


def _bottleneck(run: Run) -> tuple[str, int, int] | None:
    """A hidden matrix far narrower than the output: (module, its width, the outputs)."""
    model = max(run.facts(Model), key=lambda event: sum(p.numel for p in event.parameters))
    matrices = [p for p in model.parameters if len(p.shape) > 1 and p.shape[0] > 0]
    if len(matrices) < 2:
        return None
    outputs = matrices[-1].shape[0]
    narrow = min(matrices[:-1], key=lambda p: p.shape[0])
    width = narrow.shape[0]
    return (narrow.name.rpartition(".")[0], width, outputs) if 3 * width <= outputs else None
