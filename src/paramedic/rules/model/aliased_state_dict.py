"""PM410."""

from collections.abc import Iterator

from paramedic.record.facts import LateSave, Load, Model, Snapshot
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import at


@rule("PM410", "aliased-state-dict", severity="error", coverage=[Model])
def check(run: Run) -> Iterator[Finding]:
    """A saved snapshot shares memory with the live weights.

    `best = model.state_dict()` holds the model's own tensors, which keep changing during training. So does
    `{k: v.detach().cpu() for k, v in model.state_dict().items()}` while the model is on the CPU: neither copies.

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
            why=_why(taken),
            remedy=_remedy(taken),
            where=at(event, taken.taken_at),
            evidence=(
                Evidence(name="shared_memory", value="all tensors", limit="none"),
                Evidence(name="steps_since", value=event.step - taken.taken_step, limit="0"),
            ),
            confidence=0.98,
        )


def _derived(taken: Snapshot | LateSave) -> bool:
    return isinstance(taken, Snapshot) and taken.derived


def _why(taken: Snapshot | LateSave) -> str:
    if _derived(taken):
        return "neither detach() nor, on the same device, cpu() and to() copy anything, and training went on"
    return "state_dict() returns the model's own tensors, and training has changed them since"


def _remedy(taken: Snapshot | LateSave) -> str:
    if _derived(taken):
        return "copy each tensor: {k: v.detach().cpu().clone() for k, v in model.state_dict().items()}"
    return "copy.deepcopy(model.state_dict())"
