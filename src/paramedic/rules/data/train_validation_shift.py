"""PM318."""

from collections.abc import Iterator

from paramedic.record.facts import EvalForward, Input, Loader, TrainForward
from paramedic.rules import Abstain, Evidence, Finding, Run, rule


@rule("PM318", "train-validation-shift", severity="warning", needs=[Input, Loader])
def check(run: Run, *, times: float = 8.0) -> Iterator[Finding]:
    """Evaluation inputs are scaled differently from training inputs.

    ## Why it hurts
    The model is evaluated on numbers it has never seen: a normalisation or a division by 255 is missing on one of the
    two sides. The validation looks terrible for a reason that has nothing to do with the model.

    ## What to try first
    Build both transforms from the same pieces; only the random ones belong to training alone.

    ## When this is wrong
    When the evaluation data really comes from somewhere else, as in a test of robustness. Where other evaluation data
    look like the training's, this is assumed to be intended; and where most samples do, as in anomaly detection,
    nothing is reported.

    ## Options
    `times`: ratio of the standard deviations, or distance of the means in standard deviations, that is still fine.
    """
    if not any(event.loader is not None for event in run.facts(EvalForward)):
        raise Abstain("no evaluation with a DataLoader was seen")
    train = {event.module: event for event in run.facts(Input, phase="train")}
    trained = {event.loader for event in run.facts(TrainForward)}
    alike: set[str | None] = set()  # modules that got data like the training's, which they were not trained on
    found = []
    for event in run.facts(Input, phase="eval"):
        base = train.get(event.module)
        if base is None or base.samples < 64 or event.samples < 32 or not base.std or not event.std:
            continue
        ratio = event.std / base.std
        distance = abs(event.mean - base.mean) / max(base.std, event.std)
        if not (1 / times <= ratio <= times and distance <= times):
            if _most_differ(event, base, times**0.5):
                found.append((event, base, ratio))
        elif event.loader not in trained:
            alike.add(event.module)
    for event, base, ratio in found:
        if event.module in alike:
            continue
        yield Finding(
            what=f"evaluation inputs of {event.module} are scaled differently: mean {_pair(event.mean, base.mean)}, "
            f"deviation {_pair(event.std, base.std)} in training",
            why="a scaling step is missing (or done twice) in one of the two",
            remedy="use the same deterministic preprocessing for both loaders",
            where=event.where,
            evidence=(Evidence(name="ratio_of_deviations", value=round(ratio, 4), limit=f"1/{times:g} to {times:g}"),),
            confidence=0.85,
        )


def _most_differ(event: Input, base: Input, times: float) -> bool:
    """Whether a middling sample is of another size: a missing step of the preprocessing changes all of them."""
    return not 1 / times <= event.typical / max(base.typical, 1e-12) <= times


def _pair(value: float, base: float) -> str:
    return f"{value:.3g} against {base:.3g}"
