"""PM609."""

from collections import Counter
from collections.abc import Iterator

from paramedic.record.facts import Forgotten, Optimizer, Resumed, Step
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import many


@rule("PM609", "lost-training-state", severity="warning", needs=[Optimizer], lasting=True)
def check(run: Run, *, tolerance: float = 0.01, fewest: int = 20) -> Iterator[Finding]:
    """A resumed training does not continue where it stopped: the optimizer's state or the learning rate is lost.

    Some schedulers set the learning rate when they are built (`LambdaLR` to its initial value), after
    `optimizer.load_state_dict` had restored it. Or weights and epoch counter are restored from the checkpoint, but not
    the optimizer's state. Or a new optimizer is built for every batch.

    ## Why it hurts
    The first steps after resuming are far too large or too small, and the schedule does not match the epoch counter.
    Without its moments Adam takes full-size first steps in every direction.

    ## What to try first
    Build the scheduler first, then load the states of optimizer *and* scheduler.

    ## When this is wrong
    When the resumed part should have its own schedule: set the learning rate explicitly after loading, or load only the
    weights. Fine-tuning that restarts the epoch count is not reported.

    ## Options
    `tolerance`: relative difference between restored and used learning rate; `fewest`: fewest optimizers with one step
    each.
    """
    yield from _left_behind(run)
    yield from _made_anew(run, fewest)
    for event in run.facts(Resumed):
        pairs = [(a, b) for a, b in zip(event.restored, event.used, strict=False) if abs(a - b) > tolerance * a]
        if not pairs:
            continue
        restored, used = pairs[0]
        yield Finding(
            what=f"{event.class_} changed the restored learning rate {restored:.4g} to {used:.4g} when it was built",
            why="its constructor restarts the schedule, after the saved state was loaded",
            remedy="build the scheduler first, then optimizer.load_state_dict(...) and scheduler.load_state_dict(...)",
            where=event.where,
            evidence=(Evidence(name="learning_rate", value=used, limit=f"{restored:.4g} as saved"),),
            confidence=0.92,
        )


def _left_behind(run: Run) -> Iterator[Finding]:
    """The file contains a matching optimizer state and the counter continues, but the state was not loaded."""
    for event in run.facts(Forgotten):
        name, value, key = event.counter
        yield Finding(
            what=f"{event.module} got its weights from a checkpoint and {name} continues at {value}, but {event.class_}"
            " started with an empty state",
            why=f"next to {key!r}, the file contains the optimizer's state for all {event.tensors} tensors, but no "
            "optimizer.load_state_dict(...) loads it",
            remedy="build the optimizer before resuming, then optimizer.load_state_dict(checkpoint.optimizer)",
            where=event.where,
            evidence=(Evidence(name="restored_tensors_of_state", value=0, limit=str(event.tensors)),),
            confidence=0.9,
        )


def _made_anew(run: Run, fewest: int) -> Iterator[Finding]:
    """All optimizers of the run come from one line, hold the same parameters and took one step each."""
    optimizers = run.facts(Optimizer)  # perhaps not all: a new one may look like one that is gone
    steps = Counter[int]()
    for event in run.facts(Step):
        steps[event.optimizer] += event.count
    held = {tuple(name for group in o.groups for name in group.parameters) for o in optimizers}
    if len(steps) < fewest or len(held) != 1 or len({o.line for o in optimizers}) != 1:
        return
    first, names = optimizers[0], next(iter(held))
    keeps_state = first.class_ != "SGD" or any(group.momentum for group in first.groups)
    if not keeps_state or max(steps.values(), default=2) > 1 or any(name.startswith("a tensor of") for name in names):
        return
    yield Finding(
        what=f"{many(len(steps), 'optimizer')} were built for the same parameters, and each took one step",
        why=f"a new {first.class_} starts from zero moments every time",
        remedy="build it once, before the loop; change its rate with a scheduler or param_groups",
        where=first.where,
        evidence=(Evidence(name="steps_per_optimizer", value=1, limit="> 1"),),
        confidence=0.93,
    )
