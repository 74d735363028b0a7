"""How the processes of a run ended, and which one failed first: the others failed because of it."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from typing import NamedTuple

from paramedic.cells import spot
from paramedic.record.facts import Backward, Ended, Step
from paramedic.record.last_stacks import stood_at
from paramedic.record.reader import Run
from paramedic.rules.teams import standing

# What ranks say whose partner is gone, or never came.
_PARTNER_LOST = re.compile(
    r"Connection (closed|reset) by peer|Broken pipe|Socket (closed|Timeout)|Timed out (waiting|after)|NCCL|Watchdog|"
    r"remote (worker|process)|recvValue failed|wait timeout|Application timeout caused pair closure"
)
MOST_TOLD = 4  # ranks
_BY_THE_LAUNCHER = -getattr(signal, "SIGTERM", 15)


class End(NamedTuple):
    """The failure of one process."""

    run: Run
    how: str  # in words: "ended with ValueError at train.py:31"
    time: float
    follows: bool  # it only tells that another one failed
    signal: str | None = None  # that ended it

    @property
    def words(self) -> str:
        return f"rank {self.run.rank} {self.how}, after {self.run.steps:,} steps"


def bad_ends(runs: Sequence[Run]) -> list[End]:
    """The ranks of a run that did not finish, causes first."""
    codes = _exit_codes(runs)
    ends = [end for run in runs if len(run.ranks) > 1 or run.meta.get("world_size", 1) > 1 if (end := _end(run, codes))]
    return sorted(ends, key=lambda end: (end.follows, end.time))


def failure(runs: Sequence[Run]) -> str | None:
    """What ended the run, in words; None where nothing did."""
    ends = bad_ends(runs)
    if not ends:
        return next((f"the script {_raised(e)}" for run in runs for e in run.facts(Ended)), None)
    first, others = ends[0], ends[1:]
    if not others:
        return first.words
    followed = [] if first.follows else sorted(end.run.rank for end in others if end.follows)
    told = [first.words, *(end.words for end in others if end.run.rank not in followed)][:MOST_TOLD]
    if followed:
        told.append(f"rank{'s' * (len(followed) > 1)} {', '.join(map(str, followed))} failed because of it")
    return "; ".join(told)


def _end(run: Run, codes: dict[int, int] | None) -> End | None:
    ended = run.first(Ended)
    if ended is not None:
        return End(run, _raised(ended), ended.time, bool(_PARTNER_LOST.search(ended.message)))
    if codes is None:
        return None  # nobody says that anything failed
    code, stood = codes.get(run.rank), stood_at(run)
    at = f" at {spot(stood.where.file or '', stood.where.line)}" if stood is not None else ""
    if code is not None and code < 0:
        name = next((s.name for s in signal.Signals if s.value == -code), f"signal {-code}")
        return End(run, f"was killed by {name}{at}", last_time(run), code == _BY_THE_LAUNCHER, name)
    if code is not None and code > 0:
        return End(run, f"exited with code {code}", last_time(run), follows=False)
    if "seconds" not in run.meta:
        place = standing(run)
        if place.where.line is not None:  # it stood still, and somebody put an end to it
            hung = spot(place.where.file or "an unknown line", place.where.line)
            return End(run, f"hung at {hung} until it was killed", last_time(run), follows=True)
        if stood is not None:
            return End(run, f"was ended by SIGTERM{at}", last_time(run), follows=True)
        return End(run, "was killed, or exited with os._exit()", last_time(run), follows=bool(codes))
    return None


def _raised(ended: Ended) -> str:
    return f"ended with {ended.type} at {ended.line}"


def _exit_codes(runs: Sequence[Run]) -> dict[int, int] | None:
    """Exit codes of ranks, if their launcher reported them; None if the run ended well, or is still running."""
    launchers = [run for run in runs if run.meta.get("exit_code")]
    if not launchers:
        return None
    told = [ended.exit_codes for run in launchers for ended in run.facts(Ended) if ended.exit_codes]
    return {int(rank): code for codes in told for rank, code in codes.items()}


def ranks_elsewhere(runs: Sequence[Run]) -> str | None:
    """The ranks of a process group that have no record here, in words."""
    for run in runs:
        size = int(run.meta.get("world_size", 1)) if "joined" in run.meta else 1
        missing = sorted(set(range(size)) - {member.rank for member in run.ranks})
        if missing:
            shown = ", ".join(map(str, missing[:MOST_TOLD])) + " …" * (len(missing) > MOST_TOLD)
            return f"rank{'s' * (len(missing) > 1)} {shown} of {size}"
    return None


def last_time(run: Run) -> float:
    times = [fact.time for kind in (Step, Backward) for fact in run.facts(kind)]
    return max(times, default=float(run.meta.get("started", 0)))
