"""The page of a run, kept up to date for as long as somebody looks at it.

The loss is cheap and comes often; the other pictures and the rules each take their time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from paramedic.diagnosis import diagnose, recorded_losses
from paramedic.errors import ParamedicError
from paramedic.findings import Diagnosis, words
from paramedic.record.ending import UNDER_WAY, cut_short
from paramedic.record.reader import Run, reading, trained
from paramedic.reports import html, overlay, pictures
from paramedic.reports.pictures import Pictures
from paramedic.rules.evaluations import evaluation_curves
from paramedic.rules.rule import Rule
from paramedic.serve.pace import Pace

SO_FAR = {
    "healthy": "no fault found so far",
    "inconclusive": "too early to tell",
    "not learning": "not learning so far",
}

Parts = Mapping[str, str]  # the sections of a page that can be exchanged, by name


class Tail:
    """One run. `look` is called by one thread at a time."""

    def __init__(self, folder: Path, rules: Sequence[Rule], options: Mapping[str, Mapping[str, Any]]) -> None:
        self.folder = folder
        self._rules, self._options = rules, options
        self._loss, self._pictures, self._judgement = Pace(), Pace(), Pace()
        self._diagnosis: Diagnosis | None = None
        self._parts: Parts = {"state": _line("Waiting for the first step …")}

    def look(self) -> Parts:
        """The sections as the record has them now; the ones of before where it has not changed or it is too soon."""
        if self._loss.is_due:
            stamp = _stamp(self.folder)
            try:
                with reading(self.folder) as runs:
                    now = stamp, cut_short(self.folder, runs[0])
                    if any(pace.wants(now) for pace in (self._loss, self._pictures, self._judgement)):
                        self._parts = {**self._parts, **self._drawn(runs, now)}
            except ParamedicError as error:
                if "there is no record" not in error.what:
                    self._parts = {**self._parts, "state": _line(error.what)}
            except (
                Exception
            ) as error:  # such as a file that goes away while it is read: the page stays, and tries again
                said = f"The record cannot be read now: {type(error).__name__}: {error}"
                self._parts = {**self._parts, "state": _line(said)}
        return self._parts

    def report(self) -> str:
        """The same as one file to keep."""
        diagnosis, drawn = diagnose(self.folder, self._rules, self._options), pictures.of_record(self.folder)
        return html.render(diagnosis, pictures=drawn, data=pictures.of_audit(self.folder))

    def _drawn(self, runs: list[Run], now: tuple[object, str | None]) -> Parts:
        run, under_way, drawn = trained(runs)[0], now[1] == UNDER_WAY, None
        judged = self._diagnosis
        if judged is None or self._judgement.wants(now):
            judged = self._judgement.timed(now, lambda: diagnose(self.folder, self._rules, self._options))
            self._diagnosis = judged
        if self._pictures.wants(now):
            drawn = self._pictures.timed(now, lambda: pictures.of(run))
        return self._loss.timed(now, lambda: _written(run, judged, drawn, under_way))


class Overlay:
    """Several runs in the same charts."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._folders = folders
        self._pace = Pace()
        self._parts: Parts = {"state": _line("Reading …")}

    def look(self) -> Parts:
        stamp = [_stamp(folder) for folder in self._folders.values()]
        if self._pace.wants(stamp):
            self._parts = self._pace.timed(stamp, self._drawn)
        return self._parts

    def _drawn(self) -> Parts:
        runs, silent = {}, []
        with ExitStack() as files:
            for name, folder in self._folders.items():
                try:
                    runs[name] = trained(files.enter_context(reading(folder)))[0]
                except ParamedicError:
                    silent.append(name)
            drawn = html.overlay(overlay.charts(runs))
        said = f"{words.plural(len(runs), 'run')} in the same charts"
        said += f"; not readable yet: {', '.join(silent)}" if silent else ""
        return {"state": _line(said), **drawn}


def _written(run: Run, judged: Diagnosis, drawn: Pictures | None, under_way: bool) -> Parts:
    facts = replace(
        judged.run,
        losses=tuple(recorded_losses(run)),
        evaluations=tuple(evaluation_curves(run)),
        steps=run.steps,
        notices=tuple(notice for notice in judged.run.notices if not notice.endswith(UNDER_WAY)),
    )
    diagnosis = replace(judged, run=facts)
    state = _line(_state(diagnosis, run, under_way), running=under_way)
    words_of_verdict = _so_far(diagnosis) if under_way else {}
    return {"state": state, **html.parts(diagnosis, drawn, **words_of_verdict)}


def _so_far(diagnosis: Diagnosis) -> dict[str, str]:
    """A run that goes on needs no advice to run on, and what is found later may change the verdict."""
    word, sentence = words.headline(diagnosis), words.verdict(diagnosis)
    if diagnosis.verdict == "inconclusive":
        sentence = sentence.replace(f" {words.what_would_help(diagnosis)} ", " ")
    return {"headline": SO_FAR.get(word, word), "sentence": sentence}


def _state(diagnosis: Diagnosis, run: Run, under_way: bool) -> str:
    """Such as "train.py · running · step 1,204 · loss 0.31"."""
    if diagnosis.run.samples is not None:
        return f"{diagnosis.run.script} · audited · {words.plural(diagnosis.run.samples, 'sample')}"
    code = diagnosis.run.exit_code
    said = [
        diagnosis.run.script,
        "running" if under_way else "ended" if code in (0, None) else f"ended with exit code {code}",
    ]
    said.append(f"step {run.steps:,}")
    curves = [curve for curve in diagnosis.run.losses if curve.values]
    if len(curves) == 1:
        said.append(f"loss {words.number(curves[0].values[-1])}")
    times = run.series("time:step")[-20:]
    if under_way and times:
        said.append(f"{words.short_time(sum(value for _, value in times) / len(times))} per step")
    return " · ".join(filter(None, said))


def _line(text: str, *, running: bool = False) -> str:
    return html.part("state", text=text, running=running)


def _stamp(folder: Path) -> object:
    """Changes whenever something is written: SQLite's log grows, or is folded into the file."""
    return [(file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in sorted(folder.glob("*.db*"))]
