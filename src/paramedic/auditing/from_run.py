"""The loaders that an unmodified script has built: which one trains, which one validates, and where they stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Source
from paramedic.audit.dense_labels import IGNORED
from paramedic.audit.sources.torch_data import open_loader
from paramedic.auditing.examine import examine
from paramedic.diagnosis import rank
from paramedic.errors import ParamedicError
from paramedic.findings import Diagnosis, Finding, Where
from paramedic.record.facts import BadLabels, EvalForward, Loader, LossCall, TrainForward
from paramedic.record.reader import Run, open_runs
from paramedic.rules.rule import Rule

MOST = 20_000  # samples of each loader, unless more are asked for: a run's data may take hours to read
EPOCHS = 4  # passes over the data that make a mean margin worth something
LEARNT = 0.5  # of the loss of guessing: a few hundred steps on noise do not get there
BY_SIMPLE_MODELS = ("PM311", "PM322")  # they find no relation: no fault where the script's own model has found one
AS_THE_MODEL_GETS_IT = ("PM301", "PM302")  # a run measures scales behind the script's own scaling, which decides
_HELD_OUT = ("val", "dev", "test", "eval", "hold")


def sources_of(folder: Path, built: Sequence[Any], *, sample: int | None = None) -> dict[str, Source]:
    """ "train" and, where one was built, "val". A loader that was read in training is the former."""
    run = open_runs(folder)[0]
    names = {loader.number: loader.variable or "" for loader in run.facts(Loader)}
    trained = _loaders(run.facts(TrainForward)) or [loader.number for loader in run.facts(Loader)[:1]]
    evaluated = [number for number in _loaders(run.facts(EvalForward)) if number not in trained]
    train = next((b for b in built if b.number is not None and b.number in trained), None) or (built or [None])[0]
    if train is None:
        raise ParamedicError(
            "the script built no DataLoader, so there is nothing to audit",
            expected="a script that feeds its model from a DataLoader",
            fix="in the script: print(paramedic.audit((inputs, targets)))",
        )
    others = [b for b in built if b is not train and b.number not in trained]
    others.sort(key=lambda b: (b.number not in evaluated, not _held_out(names.get(b.number, ""))))
    chosen = {"train": train} | ({"val": others[0]} if others else {})
    return {
        split: replace(
            open_loader(b.loader, title=names.get(b.number, ""), label=None, sample=sample or MOST),
            where=_where(b.site),
            notices=_notices(split, b.loader, sample),
            margins=_mean(b.margins),
            outputs=_outputs(run),
            ignored=next((call.ignore_index for call in run.facts(LossCall) if call.ignore_index is not None), -100),
        )
        for split, b in chosen.items()
    }


def with_audit(
    diagnosis: Diagnosis,
    folder: Path,
    built: Sequence[object],
    rules: Sequence[Rule],
    options: Mapping[str, Mapping[str, object]],
) -> Diagnosis:
    """One verdict on a run and on its data."""
    try:
        _, audited = examine(sources_of(folder, built), rules, options=options, show_progress=True)
    except Exception as error:  # the run's own verdict is worth more than this
        why = error.what if isinstance(error, ParamedicError) else f"{type(error).__name__}: {error}"
        notices = (*diagnosis.run.notices, f"the data was not audited: {why}")
        return replace(diagnosis, run=replace(diagnosis.run, notices=notices))
    known = {finding.code for finding in diagnosis.findings}
    in_data = [_beside_a_run(f, diagnosis) for f in audited.findings if f.code not in known]
    ranked = rank([*diagnosis.findings, *in_data], rules)
    found = {finding.code for finding in ranked}
    clear = [code for code in dict.fromkeys((*diagnosis.clear, *audited.clear)) if code not in found]
    sick = any(finding.severity != "note" for finding in ranked)
    return replace(
        diagnosis,
        verdict="sick" if sick else diagnosis.verdict,
        findings=tuple(ranked),
        clear=tuple(clear),
        abstained=tuple(a for a in diagnosis.abstained if a.code not in {*found, *clear}),
        crashed=(*diagnosis.crashed, *audited.crashed),
        run=replace(diagnosis.run, data=audited.run.data),
    )


def _beside_a_run(finding: Finding, diagnosis: Diagnosis) -> Finding:
    """What the run itself has seen decides; what only the data suggests is a note then.

    That goes for what a simple model cannot learn and the script's own model has clearly learnt, and for scales that
    the script changes before the model or the loss gets to see them.
    """
    run = diagnosis.run.progress
    if finding.code in AS_THE_MODEL_GETS_IT and finding.code in diagnosis.clear:
        return replace(finding, severity="note")
    if finding.code not in BY_SIMPLE_MODELS or run is None or run.guessing is None:
        return finding
    learnt = run.last < LEARNT * run.guessing and (run.evaluation is None or run.evaluation < run.guessing)
    return replace(finding, severity="note") if learnt else finding


def _outputs(run: Run) -> int | None:
    """How many classes the model has scores for, where its loss was given a label beyond them."""
    rejected = [event for event in run.facts(BadLabels) if event.max >= event.classes and event.max not in IGNORED]
    return rejected[0].classes if rejected else None


def _loaders(calls: Sequence[TrainForward | EvalForward]) -> list[int]:
    return list(dict.fromkeys(call.loader for call in calls if call.loader is not None))


def _notices(split: str, loader: Any, sample: int | None) -> tuple[str, ...]:
    size = len(loader.dataset) if hasattr(loader.dataset, "__len__") else 0
    if sample is not None or size <= MOST:
        return ()
    return (f"{MOST:,} samples of {split} were looked at, of {size:,} (paramedic audit --script --sample N for more)",)


def _mean(margins: Any) -> NDArray[np.float64] | None:
    """Sums over counts; NaN for samples that did not come up. None when they came up too seldom to tell."""
    if margins is None:
        return None
    sums, counts = margins.numpy()
    if np.median(counts[counts > 0]) < EPOCHS:
        return None
    return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), np.nan))


def _held_out(name: str) -> bool:
    return any(word in name.lower() for word in _HELD_OUT)


def _where(site: Any) -> Where:
    file, line, function = (*site, None, None, None)[:3]
    return Where(file=file, line=line, function=function)
