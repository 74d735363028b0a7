"""PM410."""

from collections.abc import Iterator

from paramedic.record.facts import LateSave, Load, Model, Snapshot
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import at


@rule("PM410", "aliased-state-dict", severity="error", coverage=[Model])
def check(run: Run) -> Iterator[Finding]:
    """A saved snapshot shares memory with the live weights.

    `best = model.state_dict()` holds the model's own tensors, which keep changing during training.

    ## Why it hurts
    Restoring the "best" weights restores the last ones, and saving them saves the last ones. Early stopping and model
    selection have no effect.

    ## What to try first
    `best = copy.deepcopy(model.state_dict())`, or write it to disk at once. `dict.copy()` is not enough.

    ## When this is wrong
    Only snapshots that were loaded or saved after the weights had changed are reported.
    """
    reported: set[tuple[object, object]] = set()
    found: list[Load | LateSave] = [*run.facts(Load), *run.facts(LateSave)]
    for event in found:
        taken = event if isinstance(event, LateSave) else event.snapshot
        if taken is None or (isinstance(taken, Snapshot) and not taken.moved) or taken.taken_step >= event.step:
            continue
        place = (taken.taken_at[0], taken.taken_at[1])
        if place in reported:
            continue
        reported.add(place)
        done = "loaded" if isinstance(event, Load) else "saved"
        yield Finding(
            what=f"the state dict taken at step {taken.taken_step:,} and {done} at step {event.step:,} "
            f"({event.line}) shares its memory with the live model",
            why="state_dict() returns the model's own tensors, and training has changed them since",
            remedy="copy.deepcopy(model.state_dict())",
            where=at(event, taken.taken_at),
            evidence=(
                Evidence(name="shared_memory", value="all tensors", limit="none"),
                Evidence(name="steps_since", value=event.step - taken.taken_step, limit="0"),
            ),
            confidence=0.98,
        )
