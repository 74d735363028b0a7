"""From data to a diagnosis: read each split once, infer the task, ask every check."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from paramedic.audit.audit import Audit, Split
from paramedic.audit.chunk import Source
from paramedic.audit.cluster import sketch_on
from paramedic.audit.facts import describe
from paramedic.audit.sketches.split import SplitSketch, sketch
from paramedic.audit.sources.torch_data import as_before
from paramedic.audit.task import TASKS, Task, infer
from paramedic.diagnosis import judge, rank
from paramedic.errors import ParamedicError
from paramedic.findings import Diagnosis, Finding, RunFacts, Where
from paramedic.record.facts import Audited
from paramedic.reports.progress import Progress
from paramedic.rules.audited import verdict_on
from paramedic.rules.rule import Rule

BY_MODELS = ("PM310", "PM311", "PM322")  # when none of them is asked for, no model is fitted


def examine(
    sources: Mapping[str, Source],
    rules: Sequence[Rule],
    *,
    task: str | None = None,
    options: Mapping[str, Mapping[str, object]] | None = None,
    command: str = "",
    show_progress: bool = False,
    on: str | None = None,
) -> tuple[Audit, Diagnosis]:
    """Audit the source called "train", and the one called "val" if there is one; `on` is "ray" or None."""
    began = time.time()
    sketches: dict[str, SplitSketch] = {}
    for name, source in sources.items():
        with Progress(f"{name}: {source.title}", source.size, shown=show_progress) as progress:
            sketches[name] = sketch(source, progress=progress) if on is None else sketch_on(on, source, progress)
        if sketches[name].stopped:
            break
    audit = assemble(sources, sketches, task)
    asked = [rule for rule in rules if rule.on_audits is not None]
    # Some models of scikit-learn draw from the global generator.
    with as_before(), Progress("checks", len(asked) + 1, shown=show_progress, stages=True) as progress:
        diagnosis = verdict(audit, asked, options or {}, progress.at)
    return audit, replace(diagnosis, run=replace(diagnosis.run, seconds=time.time() - began, command=command))


def assemble(sources: Mapping[str, Source], sketches: Mapping[str, SplitSketch], task: str | None) -> Audit:
    splits = {name: Split(name, sources[name], found) for name, found in sketches.items()}
    train = splits["train"]
    if not train.size and not train.sketch.bad:
        raise ParamedicError(
            f"{train.source.title} holds no samples", expected="at least one sample", fix="look at the file"
        )
    if task is not None and task not in TASKS:
        raise ParamedicError(
            f"there is no task {task!r}",
            expected=f"one of {', '.join(TASKS)}",
            fix="--task TASK",
        )
    shapes = [found.shape for found in train.sketch.inputs.values()]
    targets = train.sketch.kept.target
    inferred = infer(targets, shapes[0] if shapes else None, boxes=bool(train.sketch.boxes))
    told = Task(kind=task, because="you said so", told=True) if task is not None else inferred
    return Audit(train=train, val=splits.get("val"), task=told)


def verdict(
    audit: Audit,
    rules: Sequence[Rule],
    options: Mapping[str, Mapping[str, object]],
    began: Callable[[str], None] = lambda stage: None,
) -> Diagnosis:
    """What all rules say that know what to ask an audit; `began` is told which one, for some take their time."""

    def one_by_one() -> Iterator[Rule]:
        for rule in rules:
            began(rule.name)
            yield rule

    asked = judge(one_by_one(), [audit], options)
    findings = [replace(f, where=_where(audit, f), files=_files(audit, f)) for f in asked.findings]
    ranked = tuple(rank(findings, rules))
    began("what simple models reach")
    stopped = next((split.sketch.stopped for split in audit.splits if split.sketch.stopped), "")
    facts = _facts(audit, stopped, models=any(rule.code in BY_MODELS for rule in rules))
    data = Audited(title=facts.script, samples=audit.train.size, lines=facts.data, stopped=stopped)
    said, reason = verdict_on(data, ranked, looked=bool(asked.clear or ranked), crashed=len(asked.crashed))
    return Diagnosis(
        verdict=said,
        reason=reason,
        findings=ranked,
        clear=tuple(asked.clear),
        abstained=tuple(asked.abstained),
        crashed=tuple(asked.crashed),
        run=facts,
    )


def _where(audit: Audit, finding: Finding) -> Where:
    """The line that builds the loader, where there is a script."""
    return next((split.source.where for split in audit.splits if split.name == finding.split), finding.where)


def _files(audit: Audit, finding: Finding) -> tuple[str, ...]:
    split = next((split for split in audit.splits if split.name == finding.split), None)
    named = [split.file(index) for index in finding.samples] if split is not None else []
    return finding.files or tuple(name for name in named if name)


def _facts(audit: Audit, stopped: str, *, models: bool) -> RunFacts:
    notices = [notice for split in audit.splits for notice in split.source.notices]
    return RunFacts(
        id="audit",
        record="",
        script=audit.train.source.title,
        samples=sum(split.size for split in audit.splits),
        data=tuple(describe(audit, models=models)),
        notices=tuple(dict.fromkeys([*([stopped] if stopped else []), *notices])),
    )
