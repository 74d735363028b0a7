"""The sentences and numbers that all reports share, so that they never contradict each other."""

from __future__ import annotations

import contextlib
import math
import numbers
import os
from collections.abc import Iterable, Sequence
from typing import Any

from paramedic import cells
from paramedic.findings import Diagnosis, Finding, RunFacts, Where, unchecked
from paramedic.findings.ranks import elsewhere, seen_on

MARKS = {"error": "✗", "warning": "▲", "note": "•"}
LONGEST_VALUE = 200  # characters; a tensor printed in full helps nobody
INTERRUPTED = 130  # the exit code of a script that Ctrl-C has ended


def plural(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def listed(names: Iterable[str], most: int = 3) -> str:
    """'a, b and 4 more'."""
    names = list(names)
    if len(names) <= most:
        return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + (names[-1] if names else "")
    return f"{', '.join(names[:most])} and {len(names) - most} more"


def number(value: Any) -> str:
    """A measured value as a person would write it; a NaN stays visibly a NaN."""
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, numbers.Integral):
        return f"{int(value):,}"
    if isinstance(value, numbers.Real):
        return _real(float(value))
    if isinstance(value, list | tuple):
        items = [f"({number(item)})" if isinstance(item, list | tuple) else number(item) for item in value[:100]]
        return _shorten(", ".join(items))
    if isinstance(value, dict):
        return _shorten(", ".join(f"{key}: {number(item)}" for key, item in value.items()))
    return _shorten(str(value))


def _real(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return f"{value:.4g}"


def _shorten(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"


def percent(share: float) -> str:
    if share < 0.0005:
        return "less than 0.1 %"
    return f"{100 * share:.1f} %" if share < 0.0995 else f"{100 * share:.0f} %"


def duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    if minutes == 0:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def place(where: Where) -> list[str]:
    """The parts of "train.py:41 in train · module net.head" that are known."""
    parts = []
    if where.file:
        spot = cells.spot(where.file, where.line)
        parts.append(f"{spot} in {where.function}" if where.function else spot)
    if where.module:
        parts.append(f"module {where.module}")
    return parts


def places(finding: Finding, *, ranks: int = 1) -> list[str]:
    """The place to edit, the ranks on which it was found where there are several, and the places that belong to it."""
    also = [f"also {cells.spot(where.file, where.line)}" for where in elsewhere(finding) if where.file]
    return [*place(finding.where), *([_on_ranks(finding, ranks)] if ranks > 1 else []), *also]


def _on_ranks(finding: Finding, ranks: int) -> str:
    seen = seen_on(finding)
    if len(seen) == 1:
        return f"rank {seen[0]}"
    return f"all {ranks} ranks" if len(seen) == ranks > 2 else f"ranks {listed([str(rank) for rank in seen])}"


def shortest(path: str) -> str:
    """A path as one would type it from here: relative where that is shorter."""
    with contextlib.suppress(ValueError, OSError):  # another drive, or a working directory that is gone
        return min(os.path.relpath(path), path, key=len)
    return path


def moment(finding: Finding) -> str:
    step = [] if finding.where.step is None else [f"step {finding.where.step:,}"]
    return " · ".join([*step, finding.severity or "note"])


def fold(findings: Sequence[Finding]) -> list[tuple[Finding, list[Finding]]]:
    """Each independent finding with its consequences; a consequence of something unlisted stands for itself."""
    cause_of = {finding.code: finding.consequence_of for finding in findings if finding.consequence_of}
    roots = {finding.code for finding in findings if not finding.consequence_of}
    folded: list[tuple[Finding, list[Finding]]] = []
    effects_of: dict[str, list[Finding]] = {}
    waiting: list[tuple[str, Finding]] = []
    for finding in findings:
        root = _root(finding, cause_of, roots)
        if root is not None:
            waiting.append((root, finding))
            continue
        effects: list[Finding] = []
        folded.append((finding, effects))
        effects_of.setdefault(finding.code, effects)
    for root, finding in waiting:
        effects_of[root].append(finding)
    return folded


def _root(finding: Finding, cause_of: dict[str, str], roots: set[str]) -> str | None:
    code, seen = finding.consequence_of, set[str]()
    while code and code not in roots and code not in seen:
        seen.add(code)
        code = cause_of.get(code)
    return code if code in roots else None


def verdict(diagnosis: Diagnosis, *, why: str = "", how: str = "") -> str:
    """The sentences after "Verdict: ..."; `why` and `how` say where abstentions and crashes are explained."""
    opening = {"sick": _sick, "healthy": _healthy, "inconclusive": _inconclusive}[diagnosis.verdict](diagnosis)
    checked = f"{plural(len(diagnosis.clear), 'rule')} clear"
    if diagnosis.abstained:
        checked += f", {unchecked.in_short(diagnosis.abstained)}{why}"
    if diagnosis.crashed:
        checked += f", {len(diagnosis.crashed)} crashed{how}"
    watching = cost(diagnosis.run)
    return f"{opening}{checked}.{f' Overhead {watching}.' if watching else ''}"


def headline(diagnosis: Diagnosis) -> str:
    """The word of the verdict. A run that learnt nothing is not called healthy, although no fault was found."""
    return "not learning" if _in_trouble(diagnosis) else diagnosis.verdict


def _in_trouble(diagnosis: Diagnosis) -> bool:
    """The outcome itself is why the verdict is open."""
    progress = diagnosis.run.progress
    trouble = progress.trouble if progress is not None else ""
    return diagnosis.verdict == "inconclusive" and bool(trouble) and diagnosis.reason.startswith(trouble)


def tone(diagnosis: Diagnosis) -> str:
    """The verdict whose colour and mark the headline gets: what learnt nothing does not look healthy."""
    return diagnosis.verdict if headline(diagnosis) == diagnosis.verdict else "inconclusive"


FEWEST_FOR_A_SHARE = 100  # steps: in a shorter run most steps are still part of the first look,
SETTLED, HIGH = 1_000, 0.1  # and a high share says so too, until the run is this long


def cost(run: RunFacts) -> str:
    """What watching took by the stopwatch: in seconds up to the first look, then as a share of each step."""
    if run.overhead is None or not math.isfinite(run.overhead):
        return ""
    if run.first_look is None:  # a record of an older version
        return f"{short_time(run.overhead * run.seconds)} of {duration(run.seconds)}" if run.seconds else ""
    around = run.around or 0.0
    first = f"{short_time(run.first_look + around)} for {'start-up and ' * bool(around)}the first look"
    if run.steady is None:
        return first
    if run.steps < (SETTLED if run.steady > HIGH else FEWEST_FOR_A_SHARE):
        return f"{short_time(run.overhead * run.seconds + around)} in all" if run.seconds else first
    return f"{first}, then {percent(run.steady)} of each step"


PARTS = {
    "data": "waiting for data",
    "to_device": "copies to the device",
    "forward": "forward and loss",
    "backward": "backward",
    "optimizer": "optimizer",
    "evaluation": "evaluation, averaged per step",
    "other": "everything else",
}


def bar(share: float, width: int = 24) -> str:
    return "█" * round(width * min(max(share, 0.0), 1.0))


def short_time(seconds: float) -> str:
    if seconds < 0.0995:
        return f"{1000 * seconds:.2g} ms" if seconds < 0.00995 else f"{1000 * seconds:.0f} ms"
    return f"{seconds:.2g} s" if seconds < 9.95 else f"{seconds:.0f} s"


def coverage(run: RunFacts) -> str:
    """How much of the run was looked at, and how closely."""
    if not run.coverage:
        return ""
    examined, watched, sampled = (run.coverage.get(name, 0) for name in ("examined", "watched", "sampled"))
    return f"{watched:,} of {plural(run.steps, 'step')}, {examined:,} of them call by call; statistics of {sampled:,}"


def _counts(diagnosis: Diagnosis) -> str:
    counts = [(diagnosis.count("error"), "error"), (diagnosis.count("warning"), "warning")]
    counts.append((diagnosis.count("note"), "note"))
    known = sum(bool(finding.known) for finding in diagnosis.findings)
    listed = ", ".join(plural(count, word) for count, word in counts if count)
    return f"{listed} ({known} in the baseline)" if known else listed


def _sick(diagnosis: Diagnosis) -> str:
    return f"{_counts(diagnosis)}; "


def _healthy(diagnosis: Diagnosis) -> str:
    steps = plural(diagnosis.run.steps, "step")
    if diagnosis.run.samples is not None:
        steps = plural(diagnosis.run.samples, "sample")
    notes = diagnosis.count("note")
    said = (
        f"No known fault found in {steps}."
        if not notes
        else f"No known fault found in {steps}, {plural(notes, 'note')}."
    )
    progress = diagnosis.run.progress
    if progress is not None:
        guess = "" if progress.guessing is None else f" (guessing {number(progress.guessing)})"
        measured = "" if progress.evaluation is None else f", {number(progress.evaluation)} in the last evaluation"
        said += f" Loss {number(progress.first)} → {number(progress.last)}{guess}{measured}."
        if progress.slight:
            said += " That is hardly better than guessing; paramedic diagnose shows whether the data allow more."
    return f"{said} "


def _inconclusive(diagnosis: Diagnosis) -> str:
    reason = diagnosis.reason or "too little was seen to judge"
    notes = f"{_counts(diagnosis)}; " if diagnosis.findings else ""
    opening = reason if reason.startswith("torch.") else f"{reason[0].upper()}{reason[1:]}"
    return f"{opening}. {what_would_help(diagnosis)} {notes}"


def next_experiment(diagnosis: Diagnosis) -> str:
    """The command that tells why a script learns nothing, or hardly anything, where nothing else does."""
    command, progress = diagnosis.run.command, diagnosis.run.progress
    slight = diagnosis.verdict == "healthy" and progress is not None and progress.slight
    return (
        f"paramedic diagnose {command.removeprefix('python ')}"
        if (_in_trouble(diagnosis) or slight) and command
        else ""
    )


def what_would_help(diagnosis: Diagnosis) -> str:
    """The next thing to do when nothing could be concluded."""
    if diagnosis.run.samples is not None:
        return "Let it read more data."
    if _in_trouble(diagnosis):
        simple = diagnosis.run.progress.simple if diagnosis.run.progress is not None else ""
        if simple:
            return f"The data can be learnt: {simple}. So look at the model, the loss and the settings."
        return "No known fault found; paramedic diagnose shows whether it is the model, the data or the settings."
    if any(curve.values and not math.isfinite(curve.values[-1]) for curve in diagnosis.run.losses):
        return "paramedic diagnose shows whether it is the model, the data or the settings."
    if diagnosis.run.exit_code == INTERRUPTED:
        return "It was interrupted (Ctrl-C): let it run for longer."
    if diagnosis.run.exit_code not in (0, None):
        return f"Fix what ended the script (exit code {diagnosis.run.exit_code}), then run it again."
    if diagnosis.run.steps == 0 and diagnosis.run.losses:
        return (
            "There were backward passes, but no torch.optim optimizer: use one instead of a hand-written update or a "
            "library's own optimizer."
        )
    if diagnosis.run.steps == 0:
        return "Run the part that trains: paramedic looks at what happens around optimizer.step()."
    blind = unchecked.by_reason(abstention for abstention in diagnosis.abstained if abstention.blind)
    remedies = dict.fromkeys(group.remedy for group in blind)
    return f"To let them look: {'; '.join(remedies)}." if remedies else "Run it for more steps."
