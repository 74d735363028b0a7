"""PM109."""

from collections.abc import Iterator, Sequence
from statistics import median

from paramedic.record.facts import Backward, Bundle, LossCall
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.curves import Curve
from paramedic.rules.outcome import outcome

_WINDOW = 20


@rule("PM109", "loss-spike", severity="warning", needs=[Backward], symptom=True)
def check(run: Run, *, above_before: float = 20.0, above_first: float = 5.0, damage: float = 2.0) -> Iterator[Finding]:
    """The loss of one step is far above that of the steps around it.

    ## Why it hurts
    A single batch with extreme values gives a huge gradient, and that one step can undo hundreds of good ones.

    ## What to try first
    Look at the batch of that step: a missing-value code such as -9999, a broken file, a wrong unit. Gradient clipping
    limits the damage one batch can do. `paramedic run --bundle-spikes` saves such a step with its batch, and `paramedic
    replay` runs it again.

    ## When this is wrong
    A spike that training recovers from is a note, even if batches with outliers are frequent: a model that was set back
    is worse on all batches, including the good ones. Targets that grow during training, such as those of a value
    function, raise the loss without any fault; that is a note as well. Losses that are sums or hand-written are not
    judged.

    ## Options
    `above_before`: times the typical loss of the steps before; `above_first`: times the first loss; `damage`: how much
    higher the loss must stay afterwards to be more than a note.
    """
    judged = outcome(run)
    curve = judged.curve
    if len(curve.values) < 3 * _WINDOW:
        raise Abstain(f"only {len(curve.values)} steps")
    index = _spike(curve, above_before, above_first)
    if index is None:
        return
    before, after = median(curve.values[index - _WINDOW : index]), curve.values[index + 1 : index + 1 + _WINDOW]
    # A model that was set back is worse on its better batches, too; outliers alone raise only those they are in.
    harmed = len(after) >= _WINDOW // 2 and _better(after) > damage * before
    # Whoever has caught up by the end has lost some steps, not the run.
    harmed = harmed and _better(curve.values[-_WINDOW:]) > damage * _better(curve.values[index - _WINDOW : index])
    step = curve.at[index]
    harmed = harmed and not _targets_moved(run, step, damage)
    yield Finding(
        what=f"the loss jumped from {before:.3g} to {curve.values[index]:.3g} in one step (step {step:,})",
        why=f"it set the model back: the loss of the next {len(after)} steps is {median(after):.3g}"
        if harmed
        else "training recovered, but that batch is worth a look",
        remedy=f"look at the batch of step {step:,} for extreme values (missing-value codes, wrong units)"
        f"{_look(run, step)}; clip gradients with nn.utils.clip_grad_norm_",
        where=curve.where_at(step),
        evidence=(
            Evidence(name="spike", value=float(f"{curve.values[index] / before:.3g}"), limit=f"< {above_before:g}"),
            Evidence(name="afterwards", value=float(f"{median(after) / before:.3g}") if after else None),
        ),
        confidence=0.85,
        severity="warning" if harmed else "note",
    )


def _better(losses: Sequence[float]) -> float:
    """The lower quartile: the loss of a good batch."""
    return sorted(losses)[len(losses) // 4]


def _targets_moved(run: Run, step: int, times: float) -> bool:
    """Whether the scale of the targets has changed since then, as when an agent finds its first rewards.

    The scale of the loss then changes with it, whatever happened to the model.
    """
    calls = [call for call in run.facts(LossCall, phase="train") if call.values is not None]
    before = [call.numbers.target_spread for call in calls if call.step < step]
    after = [call.numbers.target_spread for call in calls if call.step > step]
    return bool(before and after) and median(after) > times * median(before)


def _look(run: Run, step: int) -> str:
    """How to look at the batch."""
    kept = [event.path for event in run.facts(Bundle) if event.step == step]
    return f": paramedic replay {kept[0]}" if kept else "; paramedic run --bundle-spikes saves it"


def _spike(curve: Curve, above_before: float, above_first: float) -> int | None:
    """The highest isolated peak: far above the steps before it, and not the beginning of a new level."""
    first = max(curve.values[:5])
    candidates = range(_WINDOW, len(curve.values))
    index = max(candidates, key=lambda i: curve.values[i])
    value, before = curve.values[index], median(curve.values[index - _WINDOW : index])
    if before <= 0 or value < above_before * before or value < above_first * first:
        return None
    after = curve.values[index + 1 : index + 1 + _WINDOW]
    return index if after and median(after) < value / 5 else None
