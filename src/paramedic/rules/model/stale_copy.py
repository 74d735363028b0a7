"""PM418."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator

from paramedic.record.facts import (
    Average,
    Copy,
    EvalForward,
    Load,
    LossCall,
    Model,
    Optimizer,
    SetBack,
    Stillness,
    TrainForward,
    WayGone,
)
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.lines import edited_at
from paramedic.rules.support import at
from paramedic.static.collecting import collected_at, decay_at
from paramedic.static.history import Link, history
from paramedic.static.program import called, calls_at, program
from paramedic.static.updating import blended_with_itself_at, held_back_at


@rule("PM418", "stale-copy", severity="warning", coverage=[Model])
def check(run: Run, *, most: float = 0.9) -> Iterator[Finding]:
    """A copy of the model (target network, moving average) does not follow its source as it should.

    It loads its own weights, or a shadow that was never updated; its parameters follow but its BatchNorm statistics do
    not; its moving average takes most of the new weights in every step, so nothing is averaged, or so little that the
    run ends before it has moved, or that 16 bits round it away; or the update runs the other way and writes the copy
    into the trained model.

    ## Why it hurts
    A target network that never changes keeps returning the values of an untrained network. An average without the
    statistics normalises with the initial ones and predicts far worse than the model it averages. An average with its
    factors swapped is the model itself, one step late; and a model that is pulled back to a fixed copy cannot move away
    from it.

    ## What to try first
    `target.load_state_dict(online.state_dict())`. For an average, copy the buffers as well: `for mine, theirs in
    zip(ema.buffers(), model.buffers()): mine.copy_(theirs)`. Its weights: `mine.mul_(decay).add_(theirs, alpha=1 -
    decay)` with a decay near 1.

    ## When this is wrong
    A teacher that is frozen on purpose is not reported: it neither loads nor changes. Nor is a copy that takes all of
    the weights at once, or an average that takes large shares only at the start.

    ## Options
    `most`: the share of the distance to its source above which a copy that moves in each step averages nothing.
    """
    yield from _following_itself(run)
    yield from _nothing_new(run)
    yield from _set_back(run)
    yield from _without_buffers(run)
    yield from _averaged(run, most)
    yield from _never_moved(run)
    yield from _far_behind(run, most)


def _following_itself(run: Run) -> Iterator[Finding]:
    loads: dict[tuple[object, ...], list[Load]] = defaultdict(list)
    for event in run.facts(Load):
        taken = event.snapshot
        if taken and not taken.moved and taken.taken_step == event.step:
            loads[(event.where.file, event.where.line, event.module)].append(event)
    for events in loads.values():
        if len({event.step for event in events}) < 2:
            continue
        last = events[-1]
        yield Finding(
            what=f"{last.module} loaded its own state dict {len(events)} times and has never changed",
            why="load_state_dict(x.state_dict()) on x itself copies every tensor onto itself",
            remedy=f"load the weights of the trained model: {last.module}.load_state_dict(online.state_dict())",
            **edited_at(last.where, _same_object(run, last)),
            evidence=(Evidence(name="tensors_changed", value=0, limit="> 0"),),
            confidence=0.96,
        )


def _same_object(run: Run, load: Load) -> Link | None:
    """`self.target = self.online`: another name for the same model instead of a copy."""
    code = program(run)
    scope = code.scope(load.where.file, load.where.line)
    calls = calls_at(scope, load.where.line) if scope is not None and load.where.line is not None else []
    for call in calls:
        if called(call) == "load_state_dict" and isinstance(call.func, ast.Attribute) and scope is not None:
            made = history(code, scope, call.func.value)[:1]
            return next((link for link in made if isinstance(link.node, ast.Name | ast.Attribute)), None)
    return None


def _nothing_new(run: Run, fewest: int = 3) -> Iterator[Finding]:
    """An untrained model is repeatedly given weights while another is trained, and they are never new."""
    loads: dict[str, list[Load]] = defaultdict(list)
    for event in run.facts(Load):
        if event.into == "model" and event.matched:
            loads[event.module or ""].append(event)
    trained = {name.partition(".")[0] for o in run.facts(Optimizer) for g in o.groups for name in g.parameters}
    for name, events in loads.items():
        steps = {event.step for event in events if not event.snapshot}
        if len(steps) < fewest or name.partition(".")[0] in trained or any(event.changed for event in events):
            continue
        yield Finding(
            what=f"{name} loaded weights {len(events)} times in {max(steps) - min(steps):,} steps, and not one "
            "value was new",
            why="what it loads is never updated: most likely its names differ from those of the trained model",
            remedy="compare the names on both sides; a wrapper adds a prefix (module. or _orig_mod.)",
            where=events[-1].where,
            evidence=(Evidence(name="tensors_changed", value=0, limit="> 0"),),
            confidence=0.9,
        )


def _set_back(run: Run, fewest: int = 3) -> Iterator[Finding]:
    """The trained model is repeatedly given the weights of a copy that never changes."""
    loads: dict[tuple[str, str], list[SetBack]] = defaultdict(list)
    for event in run.facts(SetBack):
        loads[(event.module or "", event.copy)].append(event)
    for (name, copy), events in loads.items():
        if len({event.step for event in events}) < fewest or len({event.sum for event in events}) > 1:
            continue
        if not all(event.used for event in events):
            continue  # a snapshot to go back to, not a network that gives targets
        yield Finding(
            what=f"{name}, which is being trained, was reset to the weights of {copy} {len(events)} times, and "
            f"{copy} has "
            "never changed",
            why="the update runs the wrong way: it undoes the training, and the copy never changes",
            remedy=f"{copy}.load_state_dict({name}.state_dict())",
            where=events[-1].where,
            evidence=(Evidence(name="changes_of_the_copy", value=0, limit="> 0"),),
            confidence=0.93,
        )


def _without_buffers(run: Run) -> Iterator[Finding]:
    looks: dict[str, list[Copy]] = defaultdict(list)
    for event in run.facts(Copy):
        looks[event.module or ""].append(event)
    following = {event.module for event in run.facts(Average) if event.kind != "still"}
    loads = {load.module: load for load in run.facts(Load) if load.changed and _left_statistics_out(load)}
    for name, events in looks.items():
        last = events[-1]
        new = last.batches == 0 and last.off == 0 and last.source_batches > 0
        if new and (last.written or name in following or name in loads):
            yield _untouched(run, name, last, loads.get(name))
            continue
        moved = {event.parameters for event in events}
        if len(events) < 2 or len(moved) < 2 or len({event.buffers for event in events}) > 1:
            continue
        if len({event.source_buffers for event in events}) < 2:
            continue
        where = next((event.where for event in events if event.where.file), events[0].where)
        yield Finding(
            what=f"the weights of {name} follow {events[0].source}, but its BatchNorm statistics have never changed",
            why="running_mean and running_var are buffers, which parameters() does not include",
            remedy="copy the buffers as well: for mine, theirs in zip(copy.buffers(), model.buffers()): "
            "mine.copy_(theirs)",
            where=where,
            evidence=(
                Evidence(name="evaluations_compared", value=len(events)),
                Evidence(name="buffers_changed", value=0, limit="> 0"),
            ),
            confidence=0.93,
        )


def _left_statistics_out(load: Load) -> bool:
    return load.into == "model" and any(name.endswith(("running_mean", "running_var")) for name in load.missing)


def _untouched(run: Run, name: str, event: Copy, load: Load | None) -> Finding:
    shown = event.where if event.where.file else at(event, event.evaluated)
    if event.buffers_written:
        return _given_their_own(name, event)
    return Finding(
        what=f"the weights of {name} follow {event.source}, but its BatchNorm statistics are still those of a new "
        "layer: mean 0, variance 1",
        why=f"the statistics of {event.source} come from {event.source_batches:,.0f} batches; averaging "
        "weights does not update buffers",
        remedy="copy the buffers as well, or call torch.optim.swa_utils.update_bn(loader, model) before evaluating",
        **edited_at(shown if load is None else load.where, collected_at(program(run))),
        evidence=(Evidence(name="batches_seen", value=0, limit=f"{event.source_batches:.0f} as its source"),),
        confidence=0.95,
    )


def _given_their_own(name: str, event: Copy) -> Finding:
    parts = [path.rpartition(".")[2] for path in (name, event.source)]
    return Finding(
        what=f"the weights of {name} follow {event.source}, but its BatchNorm statistics are still those of a new "
        "layer: mean 0, variance 1, although they are written here",
        why=f"what is written into them are their own values; the statistics of {event.source} come from "
        f"{event.source_batches:,.0f} batches",
        remedy=f"take the buffers of {event.source}: for mine, theirs in zip({parts[0]}.buffers(), "
        f"{parts[1]}.buffers()): mine.copy_(theirs)",
        where=event.where,
        evidence=(Evidence(name="batches_seen", value=0, limit=f"{event.source_batches:.0f} as its source"),),
        confidence=0.95,
    )


def _never_moved(run: Run, *, fewest: int = 200) -> Iterator[Finding]:
    """A copy helps to compute regression targets, along with values such as rewards, and is never updated.

    A teacher's outputs are the targets themselves; a network that evaluates next states must follow.
    """
    distances = [
        c for c in run.facts(LossCall, phase="train") if c.function in ("mse_loss", "smooth_l1_loss", "huber_loss")
    ]
    plain = [c for c in distances if c.target_maker is None and not c.target.requires_grad]
    moved = {event.module for event in run.facts(Average) if event.kind != "still"}
    moved |= {event.module for event in run.facts(Stillness) if event.moved}
    moved |= {event.module for event in run.facts(TrainForward)}  # it was trained itself, at another time
    for event in run.facts(Stillness):
        name, steps = event.module or "", event.last_step - event.step
        asked = [e for e in run.facts(EvalForward) if e.module == name and not e.grad]
        inside = asked and plain and asked[0].where.function == plain[0].where.function
        seen_to_the_end = event.last_step > run.steps // 2
        if steps < fewest or name in moved or not seen_to_the_end or not inside or len(plain) < len(distances):
            continue
        load = next((load for load in run.facts(Load) if load.module == name), None)
        held_back = _held_back(run, name)
        parts = [path.rpartition(".")[2] for path in (name, event.source)]
        itself = blended_with_itself_at(program(run), parts[0], parts[1])
        written = next((e.where for e in run.facts(Average) if e.module == name and e.where.file), None)
        shown = load.where if load is not None else written or asked[0].where
        yield Finding(
            what=f"{name}, a copy of {event.source} used to compute the targets, has not changed in {steps:,} steps",
            why="the targets use the untrained network's values, so only one step of reward can ever be learnt",
            remedy=_hint(held_back, itself, name, writes=load is None and written is not None)
            + f"every few hundred steps {name}.load_state_dict({event.source}.state_dict()), or a little of it in "
            "each",
            **edited_at(shown, itself or held_back),
            evidence=(Evidence(name="steps_without_change", value=steps, limit=f"< {fewest}"),),
            confidence=0.86,
        )


def _hint(held_back: Link | None, itself: Link | None, name: str, *, writes: bool) -> str:
    if itself is not None:
        return f"the update takes the weights of {name} itself; "
    if held_back is not None:
        return "look at this condition: the update under it had no effect; "
    return f"look at this line, which writes to {name} but changes nothing; " if writes else ""


def _held_back(run: Run, name: str) -> Link | None:
    ran = {(load.where.file, load.where.line) for load in run.facts(Load)}
    return held_back_at(program(run), name.rpartition(".")[2], ran)


def _far_behind(
    run: Run, most: float, *, least: float = 0.25, moved: float = 0.1, fewest: int = 20
) -> Iterator[Finding]:
    """An average that moves so slowly that at the end of the run it is still the initial network."""
    looks: dict[tuple[str, str], list[WayGone]] = defaultdict(list)
    for event in run.facts(WayGone):
        looks[(event.module or "", event.source)].append(event)
    for (name, source), events in looks.items():
        last = events[-1]
        late = last.step >= max(fewest, run.steps // 2) and last.way >= moved
        if late and len(events) >= 3 and all(event.coarse and event.share <= least for event in events):
            yield _rounded_away(source, last)
            continue
        used = any(e.module == name and "metric" in e.uses for e in run.facts(EvalForward))
        if late and used and all(event.share <= least for event in events):
            yield from _slow(run, name, source, events, most)


def _rounded_away(source: str, last: WayGone) -> Finding:
    return Finding(
        what=f"the average with which {source} is evaluated is kept in 16 bits and has covered "
        f"{max(last.share, 0):.0%} of the distance that {source} has moved in {last.step:,} steps",
        why="what an average takes in a step, (1 - decay) of the difference, is smaller than the last digit of a "
        "16-bit value, so it is rounded away",
        remedy="keep the average in float32: dtype=torch.float32, or p.detach().clone().float()",
        where=at(last, last.updated),
        evidence=(Evidence(name="share_of_the_way", value=round(last.share, 4), limit="> 0.25"),),
        confidence=0.92,
    )


def _slow(run: Run, name: str, source: str, events: list[WayGone], most: float, fewest: int = 3) -> Iterator[Finding]:
    last = events[-1]
    steps = [event for event in run.facts(Average) if event.module == name]
    if any(_how_far(event, most) != "part" or event.share <= 0 for event in steps):
        return
    # Weights that are put into the model for each evaluation: nobody saw the steps they are averaged in.
    shadow = name == source and len(events) >= fewest and events[0].share <= last.share and last.share > 0
    if not steps and not shadow:
        return
    rate = steps[0].share if steps else last.share / last.step
    yield Finding(
        what=f"the average with which {source} is evaluated has covered {max(last.share, 0):.0%} of the distance that "
        f"{source} has moved in {last.step:,} steps",
        why=f"it takes about {rate:.1g} of the new weights in a step (a decay near {1 - rate:.5g}) and would need "
        f"{1 / rate:,.0f} steps; the evaluated network is nearly the initial one",
        remedy=f"use a decay that fits the run, such as {_fitting(last.step)}, or one that grows: "
        "min(decay, (1 + step) / (10 + step))",
        **edited_at(steps[0].where if steps else last.where, decay_at(program(run), rate)),
        evidence=(
            Evidence(name="share_of_the_way", value=round(last.share, 4), limit="> 0.25"),
            Evidence(name="share_taken_per_step", value=round(rate, 7)),
        ),
        confidence=0.9,
    )


def _fitting(steps: int) -> float:
    """A decay that averages over about a tenth of the run."""
    return next((decay for decay in (0.999, 0.998, 0.995, 0.99, 0.98, 0.95) if 1 / (1 - decay) <= steps / 10), 0.9)


WHOLE = 0.9999  # of the way, but for rounding: the weights were copied


def _how_far(event: Average, most: float) -> str:
    if event.kind == "still":
        return "still"
    return "whole" if event.share > WHOLE else "most" if event.share > most else "part"


def _averaged(run: Run, most: float, fewest: int = 8) -> Iterator[Finding]:
    looks: dict[str, list[Average]] = defaultdict(list)
    for event in run.facts(Average):
        looks[event.module or ""].append(event)
    for name, events in looks.items():
        counts: Counter[str] = Counter()
        for event in events:
            counts[_how_far(event, most)] += event.count
        drawn = [event for event in events if event.backwards and event.kind == "still"]
        fast = [event for event in events if _how_far(event, most) == "most"]
        if fast and counts["most"] >= fewest and not counts["part"]:
            yield _too_fast(name, fast[0], most, counts["most"])
        elif sum(event.count for event in drawn) >= fewest and not any(counts[k] for k in ("most", "part", "whole")):
            yield _drawn_back(name, drawn[0], sum(event.count for event in drawn))


def _too_fast(name: str, event: Average, most: float, times: int) -> Finding:
    return Finding(
        what=f"{name} takes {event.share:.2%} of the weights of {event.source} in a step ({times} of {times} steps)",
        why="a moving average should keep most of itself and take a little of the new weights; here the factors are "
        "swapped",
        remedy="mine.mul_(decay).add_(theirs, alpha=1 - decay), with a decay such as 0.99",
        where=event.where,
        evidence=(Evidence(name="share_taken_per_step", value=round(event.share, 5), limit=f"≤ {most:g}"),),
        confidence=0.9,
    )


def _drawn_back(name: str, event: Average, times: int) -> Finding:
    source = event.source
    return Finding(
        what=f"{name} never changes, but in {times} steps {source}, which is being trained, was averaged with it",
        why=f"the update runs the wrong way: it pulls {source} back to the initial weights of {name}",
        remedy=f"write into {name}: for mine, theirs in zip({name}.parameters(), {source}.parameters())",
        where=event.where,
        evidence=(
            Evidence(name="steps_with_changes_of_the_copy", value=0, limit="> 0"),
            Evidence(name="steps_in_which_the_trained_one_was_written", value=times, limit="0"),
        ),
        confidence=0.9,
    )
