"""PM611."""

from collections.abc import Iterator

from paramedic.record.facts import EvalForward, Mode, TrainForward
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import listed


@rule("PM611", "eval-mode-in-training", severity="error", needs=[TrainForward], causes=["PM403"])
def check(run: Run) -> Iterator[Finding]:
    """The model is trained while it is in eval mode.

    Dropout is off and BatchNorm uses, and no longer updates, its running statistics.

    ## Why it hurts
    Usually `model.eval()` was called for a validation and `model.train()` is called only once, before the first epoch.
    From the first validation on there is no regularisation, and the statistics are those of the first epoch.

    ## What to try first
    `model.train()` at the start of every training phase, for example as the first line of the training function.

    ## When this is wrong
    Sub-modules that are kept in eval mode on purpose, such as a frozen backbone's BatchNorm, are not reported: the rule
    looks at the mode of the model that is called.
    """
    reported: set[str | None] = set()
    for event in run.facts(TrainForward):
        affected = [m for m in event.moody if not m.training and (not m.norm or m.trainable)]
        if event.training or not affected or event.module in reported or event.count < 2:
            continue
        reported.add(event.module)
        switch = _last_switch(run, event)
        left = switch is not None and _left_so(run, switch, event)
        since = f", in eval mode since {switch.line}" if switch else ""
        shown = f" ({event.line})" if left else ""
        yield Finding(
            what=f"training step {event.step:,}{shown} ran with {event.module} in eval mode{since}",
            why=f"{listed([m.path + ' (' + m.class_ + ')' for m in affected])} do not do their work",
            remedy=f"call {event.module}.train() after this, or at the start of every training epoch"
            if left
            else f"call {event.module}.train() at the start of every training epoch",
            where=switch.where if switch is not None and left else event.where,
            evidence=(
                Evidence(name="modules_in_eval_mode", value=len(affected), limit="0 while training"),
                Evidence(name="first_step", value=event.step),
            ),
            confidence=0.97 if switch else 0.9,
        )


def _last_switch(run: Run, event: TrainForward) -> Mode | None:
    switches = [m for m in run.facts(Mode) if not m.training and m.step <= event.step and m.module == event.module]
    return switches[-1] if switches else None


def _left_so(run: Run, switch: Mode, event: TrainForward) -> bool:
    """Whether a function that prepares the model, before the first step, hands it over in eval mode.

    An evaluation before the training does that, too; but then it is the training that should call train().
    """
    if switch.count > 1 or event.step > 0 or switch.where.function in (None, "<module>", event.where.function):
        return False
    judged = [e for e in run.facts(EvalForward) if e.uses]
    return not any((e.where.file, e.where.function) == (switch.where.file, switch.where.function) for e in judged)
