"""PM806."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median

from paramedic.findings import Where
from paramedic.record.facts import Collective, Time
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.teams import sharding_of, team_of
from paramedic.rules.timing import Times, add_up, busiest_line, times

# Backward is not among them: that is where the others wait, and what a rank computes there is not known.
PARTS = {
    "data": "waiting for its data",
    "to_device": "copying to the device",
    "forward": "in the forward pass",
    "optimizer": "in the optimizer's step",
    "other": "outside of forward, backward and step",
}
FEWEST = 4  # windows of half a second and more
LEAST = 0.005  # seconds per step: less is noise


@rule("PM806", "straggler", severity="warning", needs=[Time])
def check(run: Run, *, share: float = 0.3, note: float = 0.15) -> Iterator[Finding]:
    """One rank is slower than the others, which wait for it in every step.

    Compares the parts of a step that each rank does alone: data, forward pass, optimizer, and everything outside them.
    The time in backward() is excluded, because the ranks wait for each other there; so is that of the forward pass if
    the model is divided among them (FSDP, tensor parallel).

    ## Why it hurts
    Gradients are averaged in each step, so all ranks are as slow as the slowest. If one rank spends a tenth of a second
    on logging, all of them do.

    ## What to try first
    Look at the line named here: what does this rank do that the others do not? Usual causes: logging, checkpoints or
    images on rank 0 in every step, a shard with longer samples, a slower disk or device.

    ## When this is wrong
    Only a lasting difference is reported: the same rank must be the slowest in every quarter of the run. If the time is
    well spent, there is nothing to do.

    ## Options
    `share`: share of the step's time that the others lose, above which it is a warning; `note`: above which it is a
    note.
    """
    team = team_of(run)
    if run is not team[0]:
        raise Abstain("reported on the first rank only")
    if any(len(_windows(member)) < FEWEST for member in team):
        raise Abstain("too short a run to compare the ranks' speed")
    parts = [*PARTS]
    if sharding_of(run) is not None:
        if any(call.phase == "train" for member in team for call in member.facts(Collective)):
            raise Abstain(
                "the model is sharded and the script makes its own collective calls, so waiting looks like work"
            )
        parts.remove("forward")
    quarters = [_slowest(team, [add_up(_quarter(member, number)) for member in team], parts) for number in range(4)]
    slow, part, extra = _slowest(team, [add_up(_windows(member)) for member in team], parts)
    if any(quarter[0] is not slow for quarter in quarters):
        return
    lost = extra / _per_step(times(slow))
    if lost >= note and extra >= LEAST:
        yield _finding(team, slow, part, extra, lost, severe=lost >= share)


def _windows(run: Run) -> list[Time]:
    return [window for window in run.facts(Time) if not window.examined]


def _quarter(run: Run, number: int) -> list[Time]:
    windows = _windows(run)
    return windows[number * len(windows) // 4 : (number + 1) * len(windows) // 4]


def _slowest(team: Sequence[Run], taken: Sequence[Times], parts: Sequence[str]) -> tuple[Run, str, float]:
    """The rank that spends most time alone, in which part, and by how much per step."""
    own = [sum(found.parts.get(part, 0.0) for part in parts) / found.steps for found in taken]
    place = max(range(len(team)), key=own.__getitem__)

    def excess(part: str) -> float:
        each = [found.parts.get(part, 0.0) / found.steps for found in taken]
        return each[place] - median(each[:place] + each[place + 1 :])

    return team[place], max(parts, key=excess), own[place] - median(own[:place] + own[place + 1 :])


def _per_step(found: Times) -> float:
    return found.training / found.steps


def _finding(team: Sequence[Run], slow: Run, part: str, extra: float, lost: float, *, severe: bool) -> Finding:
    seen = busiest_line(slow, part)
    where = replace(seen[0] if seen else Where(), rank=slow.rank)
    step = _per_step(times(slow))
    look = f"look at {where.file}:{where.line}" if where.file else "look at what only this rank does there"
    return Finding(
        what=f"rank {slow.rank} takes {1000 * extra:.0f} ms more than the other ranks in each step of "
        f"{1000 * step:.0f} ms, {PARTS[part]}",
        why=f"the others wait for it: {lost:.0%} of the time of {len(team) - 1} of {len(team)} ranks",
        remedy=f"{look}: do it less often, make it cheaper, or share it among the ranks",
        where=where,
        severity="warning" if severe else "note",
        evidence=(
            Evidence(name="seconds_more_per_step", value=round(extra, 4)),
            Evidence(name="share_of_the_step", value=round(lost, 3), limit="< 0.15"),
            Evidence(name="part_of_the_loop", value=part),
        ),
        confidence=0.85,
    )
