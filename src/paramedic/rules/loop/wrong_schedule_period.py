"""PM608."""

import ast
from collections.abc import Iterator, Sequence

from paramedic.findings import Where
from paramedic.record.facts import Ended, Epoch, Loader, Optimizer, Schedule, Step
from paramedic.rules import Abstain, Evidence, Finding, Run, Steps, rule
from paramedic.rules.lines import edited_at, first_link
from paramedic.rules.support import at, many
from paramedic.static.calls import keyword_at, second_call
from paramedic.static.history import Link, history
from paramedic.static.program import Program, called, program

_SIZED = ("total_steps", "T_max", "total_iters")
_BY_FACTORS = ("ExponentialLR", "StepLR", "MultiStepLR", "ReduceLROnPlateau")  # without an end


@rule(
    "PM608",
    "wrong-schedule-period",
    severity="warning",
    needs=[Schedule, Step],
    coverage=[Steps("fewest")],
    causes=["PM201", "PM206", "PM207", "PM213", "PM607"],
)
def check(run: Run, *, fewest: int = 50, early: float = 0.5) -> Iterator[Finding]:
    """The learning-rate schedule runs at the wrong pace, in the wrong direction, or not at all.

    ## Why it hurts
    A schedule counted in epochs but stepped for every batch decays the learning rate within a few batches: the rest of
    the run trains at almost zero. One counted in batches but stepped once per epoch hardly changes the rate, and one
    that is never stepped does nothing. One built for an optimizer that has since been replaced changes a rate that is
    not used. If the warm-up is longer than the run, the rate never reaches its target. `ReduceLROnPlateau` expects a
    value that falls: given an accuracy, it treats every improvement as a failure; given the loss of single batches, it
    mistakes their noise for a plateau.

    ## What to try first
    Call `scheduler.step()` after each epoch for schedules counted in epochs, after each `optimizer.step()` for those
    counted in batches (`OneCycleLR`, most warm-ups). A new optimizer needs a new scheduler. Use `mode="max"` for
    metrics that should rise.

    ## When this is wrong
    Schedules that reach zero at the end of the run are not reported, nor are restarts, nor cosines that go up and down
    once per pass over the data, nor schedules whose `step()` is in the source but was not reached: it may depend on a
    condition.

    ## Options
    `fewest`: fewest optimizer steps; `early`: share of the run before which the rate must not have vanished.
    """
    if run.facts(Ended):
        raise Abstain("the script ended early")
    trained = {event.optimizer for event in run.facts(Step) if event.gradients != "none"}
    schedules = run.facts(Schedule)
    for schedule in schedules:
        steps = schedule.steps
        yield from _inherited(run, schedule, schedules, fewest)
        yield from _backwards(schedule)
        if steps < fewest or schedule.optimizer not in trained:  # a schedule that is only looked at trains nothing
            continue
        finding = _never(schedule, steps) or _vanished(run, schedule, steps, early) or _wrong_unit(run, schedule, steps)
        finding = finding or _zero(run, schedule, steps, early) or _never_arrived(run, schedule, steps)
        if finding is not None:
            yield finding


def _inherited(run: Run, schedule: Schedule, schedules: list[Schedule], fewest: int) -> Iterator[Finding]:
    """Its optimizer has stopped, another one trains the same weights, whose rate no schedule changes."""
    heir = schedule.heir
    if heir is None or schedule.idle < 3 or schedule.heir_steps < fewest:
        return
    if any(other.optimizer == heir for other in schedules):
        return
    made = next((event for event in run.facts(Optimizer) if event.number == heir), schedule)
    yield Finding(
        what=f"{schedule.class_} changes the rate of an optimizer that no longer steps: its last {schedule.idle} "
        f"calls changed nothing, while another optimizer took {many(schedule.heir_steps, 'step')} on the same weights",
        why="a scheduler is bound to the optimizer object it was built with, not to the variable",
        remedy="build a new scheduler for the new optimizer",
        where=made.where if made.where.file else schedule.where,
        evidence=(Evidence(name="calls_without_effect", value=schedule.idle, limit="0"),),
        confidence=0.93,
    )


def _backwards(schedule: Schedule) -> Iterator[Finding]:
    """ReduceLROnPlateau is given a value that should rise and expects it to fall, or vice versa."""
    told, meaning, mode = schedule.told or [], schedule.meaning, schedule.mode
    if meaning is None or len(told) < 4 or not schedule.last < schedule.peak:
        return
    name, wanted = meaning
    third = max(1, len(told) // 3)
    change = sum(told[-third:]) / third - sum(told[:third]) / third
    improved = change > 0 if wanted == "rise" else change < 0
    if not improved or (mode == "max") == (wanted == "rise"):
        return
    yield Finding(
        what=f"ReduceLROnPlateau(mode={mode!r}) is given {name}, which went from {told[0]:.3g} to {told[-1]:.3g}: it "
        f"has lowered the rate from {schedule.peak:g} to {schedule.last:.1e}",
        why=f"it treats every {wanted} as a failure, so the better the model gets, the lower the rate",
        remedy=f'pass mode="{"max" if wanted == "rise" else "min"}" where it is built',
        where=at(schedule, schedule.born),
        evidence=(Evidence(name="change_of_the_number", value=round(change, 5), limit="a plateau"),),
        confidence=0.93,
    )


def _never(schedule: Schedule, steps: int) -> Finding | None:
    if schedule.calls or schedule.inner or schedule.written:  # perhaps its time has not come
        return None
    return Finding(
        what=f"{schedule.class_} was built and never stepped in {many(steps, 'optimizer step')}",
        why="the learning rate never changes",
        remedy="call scheduler.step() after each epoch, or after each optimizer.step() if it counts batches",
        where=at(schedule, schedule.born),
        evidence=(Evidence(name="scheduler_steps", value=0, limit="≥ 1"),),
        confidence=0.9,
    )


def _vanished(run: Run, schedule: Schedule, steps: int, early: float) -> Finding | None:
    """The rate vanishes long before the end and does not recover."""
    since, calls = schedule.low_since, schedule.calls
    if since is None or since > early * steps or calls < 0.9 * steps:
        return None
    if schedule.class_ == "ReduceLROnPlateau" and not _noisy(schedule.told, since):
        return None  # one batch is the whole of the data, and the loss has arrived
    if calls < 1.1 * steps and schedule.class_ not in _BY_FACTORS and _one_pass(run, since, steps):
        return _too_short(run, schedule, steps, early)
    again = second_call(program(run), schedule.where) if calls < 1.1 * steps else None
    often = f"{calls / steps:.0f} times per" if calls > 1.9 * steps else "for every"
    return Finding(
        what=f"the learning rate fell from {schedule.peak:g} to less than a hundredth of that by step {since:,} of "
        f"{steps:,} "
        f"and ended at {schedule.last:.1e}",
        why=f"{schedule.class_} was stepped {often} optimizer step, {calls:,} times; the rest of the run hardly "
        "changes the weights",
        remedy="move scheduler.step() to the end of each epoch, or count the schedule in batches"
        if again is None
        else "create a new optimizer and schedule for the second call of this function",
        **edited_at(_to_edit(schedule), again),
        evidence=(
            Evidence(name="rate_gone_at", value=round(since / steps, 3), limit=f"> {early:g} of the run"),
            Evidence(name="scheduler_steps", value=calls),
        ),
        confidence=0.93,
    )


def _one_pass(run: Run, since: int, steps: int) -> bool:
    """Whether the rate vanishes at the end of the first pass over the data: batches are what the schedule counts.

    A cosine has nearly vanished a little before its end. As many batches as there are epochs would say nothing.
    """
    lengths = {epoch.batches for epoch in run.facts(Epoch)}
    return any(n >= 10 and 0.9 * n <= since <= n + 1 and abs(steps / n - since) > 0.2 * since for n in lengths)


def _too_short(run: Run, schedule: Schedule, steps: int, early: float) -> Finding:
    since = schedule.low_since or 0
    return Finding(
        what=f"the learning rate fell from {schedule.peak:g} to less than a hundredth of that by step {since:,} of "
        f"{steps:,}, in the first pass over the data, and ended at {schedule.last:.1e}",
        why=f"{schedule.class_} is laid out for the batches of one epoch; the rest of the run hardly changes the "
        "weights",
        remedy=f"give it the steps of the whole run, {steps}: epochs * len(loader)",
        **edited_at(at(schedule, schedule.born), _length_at(program(run))),
        evidence=(
            Evidence(name="rate_gone_at", value=round(since / steps, 3), limit=f"> {early:g} of the run"),
            Evidence(name="scheduler_steps", value=schedule.calls),
        ),
        confidence=0.93,
    )


def _length_at(code: Program) -> Link | None:
    """Where the length of the only schedule is computed, or else given."""
    given = keyword_at(code, (*_SIZED, "num_training_steps"))
    made = history(code, given.scope, given.node) if given is not None else []
    return (
        first_link(made, lambda node: "len" in [called(n) for n in ast.walk(node) if isinstance(n, ast.Call)]) or given
    )


def _noisy(told: Sequence[float], at: int, around: int = 10, spread: float = 0.25) -> bool:
    """Whether the values passed to it varied from batch to batch when the rate vanished."""
    near = [value for value in told[max(0, at - around) : at + around] if value > 0]
    return len(near) >= around and max(near) - min(near) > spread * sum(near) / len(near)


def _never_arrived(run: Run, schedule: Schedule, steps: int, arrived: float = 0.5, fewest: int = 4) -> Finding | None:
    """The rate rises until the end of the run and stays far below its target."""
    first, target, calls = schedule.first, schedule.target, schedule.calls
    rising = first is not None and schedule.last >= schedule.peak > first
    if not rising or not target or calls < fewest or schedule.last > arrived * target:
        return None
    course = [rate for _, rate in run.series(f"lr:{schedule.optimizer}")]
    if len(course) < 3 or course[-1] < max(course) or course[-1] <= course[len(course) * 3 // 4 - 1]:
        return None
    horizon = next((schedule.settings[name] for name in _SIZED if schedule.settings.get(name)), None)
    what = f"the run of {steps:,} steps ended inside the warm-up: the learning rate had risen to {schedule.last:.2g} "
    what += f"of {target:.2g}"
    laid_out = f"{schedule.class_} is configured for {horizon:,.0f} steps" if horizon else "the warm-up takes longer"
    remedy = f"give it the number of optimizer steps, {steps}: epochs * len(loader), not len(dataset)"
    where = edited_at(at(schedule, schedule.born), keyword_at(program(run), ("warmup_steps", "num_warmup_steps")))
    if calls < 0.9 * steps and calls * target / schedule.last <= steps:
        laid_out = f"{schedule.class_} was stepped only {many(calls, 'time')}, but its warm-up is counted in batches"
        remedy, where = _each_batch(schedule), edited_at(_to_edit(schedule), None)
    elif not horizon:
        remedy = f"warm up for a small part of the run, such as {max(1, steps // 20)} of its {steps} steps"
    return Finding(
        what=what,
        why=f"{laid_out}; nearly all of the run trains at a fraction of the chosen rate",
        remedy=remedy,
        **where,
        evidence=(
            Evidence(name="rate_at_the_end", value=float(f"{schedule.last:.3g}"), limit=f"{target:g}"),
            Evidence(name="optimizer_steps", value=steps, limit="" if horizon is None else f"{horizon:.0f}"),
        ),
        confidence=0.93,
    )


def _each_batch(schedule: Schedule) -> str:
    if schedule.by_library:
        return 'have it stepped for every batch; in Lightning: {"scheduler": scheduler, "interval": "step"}'
    return "call scheduler.step() after every optimizer.step(), not once per epoch"


def _zero(run: Run, schedule: Schedule, steps: int, early: float) -> Finding | None:
    """The rate is exactly zero for most of the run, whatever the pace."""
    since = schedule.low_since
    if since is None or since > early * steps or schedule.last != 0 or not schedule.calls:
        return None
    course = run.series(f"lr:{schedule.optimizer}")
    if not course or course[-1][1] != 0:
        return None  # another schedule, or the script itself, has raised it again
    return Finding(
        what=f"the learning rate is 0 from step {since:,} of {steps:,} on",
        why=f"{schedule.class_} multiplied it by zero; the weights do not change for the rest of the run",
        remedy="check the factor: gamma=1 keeps the rate, gamma=0 sets it to 0"
        if schedule.class_ in ("StepLR", "MultiStepLR", "ExponentialLR")
        else "set the schedule's length to the whole run",
        where=at(schedule, schedule.born),
        evidence=(
            Evidence(name="learning_rate", value=0.0, limit="> 0"),
            Evidence(name="rate_gone_at", value=round(since / steps, 3), limit=f"> {early:g} of the run"),
        ),
        confidence=0.95,
    )


def _to_edit(schedule: Schedule) -> Where:
    """Where step() is called; if a library does that, the line that builds the schedule."""
    return at(schedule, schedule.born) if schedule.by_library else schedule.where


def _whole_epochs(run: Run, horizon: float, calls: int) -> bool:
    """Whether a horizon in batches is a number of passes over a loader: a deliberate cycle.

    Unless it is also the number of epochs, which is the more common argument.
    """
    # A length that only the user's own sampler could tell is seen when a pass is over.
    passes, loaders = run.facts(Epoch), run.facts(Loader)
    lengths = {epoch.batches for epoch in passes} | {loader.batches for loader in loaders}
    return any(n and n >= 10 and horizon % n == 0 and round(calls / n) != horizon for n in lengths)


def _wrong_unit(run: Run, schedule: Schedule, steps: int) -> Finding | None:
    """Sized in one unit and stepped in the other."""
    settings, calls = schedule.settings, schedule.calls
    horizon = next((settings[name] for name in _SIZED if settings.get(name)), None)
    if horizon is None or not calls:
        return None
    per_batch = calls >= 0.9 * steps
    cycles = schedule.class_ == "CosineAnnealingLR" and per_batch and calls >= 4 * horizon
    if cycles and not _whole_epochs(run, horizon, calls):
        what = f"CosineAnnealingLR(T_max={horizon:.0f}) was stepped {calls:,} times: the rate went up and down again "
        what += f"{calls / (2 * horizon):,.0f} times"
        remedy = f"step it once per epoch, or give it T_max={calls}"
    elif calls <= horizon / 10 and abs(horizon - steps) <= 0.02 * steps:
        what = f"{schedule.class_} is configured for {horizon:,.0f} steps, as many as the optimizer took, but was "
        what += f"stepped only {calls} times"
        remedy = _each_batch(schedule)
        if schedule.by_library:
            what += f" by the library's loop ({schedule.line})"
    else:
        return None
    return Finding(
        what=what,
        why="the schedule is counted in one unit, batches or epochs, and stepped in the other",
        remedy=remedy,
        where=_to_edit(schedule),
        evidence=(
            Evidence(name="scheduler_steps", value=calls, limit=f"{horizon:.0f}"),
            Evidence(name="optimizer_steps", value=steps),
        ),
        confidence=0.9,
    )
