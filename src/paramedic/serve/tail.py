"""The page of a run, kept up to date for as long as somebody looks at it.

Charts are cheap and come often; rules are asked more rarely.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from paramedic.diagnosis import UNDER_WAY, cut_short, diagnose, recorded_losses
from paramedic.errors import ParamedicError
from paramedic.findings import Diagnosis
from paramedic.record.reader import Run, reading, trained
from paramedic.reports import html, overlay, pictures, words
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
        self._charts, self._judgement = Pace(), Pace()
        self._diagnosis: Diagnosis | None = None
        self._drawn_at: object = None  # what was written by then
        self._judged_at: object = None
        self._parts: Parts = {"state": _line("Waiting for the first step …")}

    def look(self) -> Parts:
        """The sections as the record has them now; the ones of before where it has not changed or it is too soon."""
        if self._charts.is_due:
            stamp = _stamp(self.folder)
            try:
                with reading(self.folder) as runs:
                    now = stamp, cut_short(self.folder, runs[0])
                    if now != self._drawn_at or now != self._judged_at:
                        self._parts = self._charts.timed(lambda: self._drawn(runs, now))
                        self._drawn_at = now
            except ParamedicError as error:
                if "there is no record" not in error.what:
                    self._parts = {**self._parts, "state": _line(error.what)}
        return self._parts

    def report(self) -> str:
        """The same as one file to keep."""
        return html.render(diagnose(self.folder, self._rules, self._options), pictures=pictures.of_record(self.folder))

    def _drawn(self, runs: list[Run], now: tuple[object, str | None]) -> Parts:
        if self._judgement.is_due and self._judged_at != now:
            self._diagnosis = self._judgement.timed(lambda: diagnose(self.folder, self._rules, self._options))
            self._judged_at = now
        run, under_way = trained(runs)[0], now[1] == UNDER_WAY
        assert self._diagnosis is not None  # the first judgement is always due
        facts = replace(
            self._diagnosis.run,
            losses=tuple(recorded_losses(run)),
            evaluations=tuple(evaluation_curves(run)),
            steps=run.steps,
            notices=tuple(notice for notice in self._diagnosis.run.notices if not notice.endswith(UNDER_WAY)),
        )
        diagnosis = replace(self._diagnosis, run=facts)
        state = _line(_state(diagnosis, run, under_way), running=under_way)
        words_of_verdict = _so_far(diagnosis) if under_way else {}
        return {"state": state, **html.parts(diagnosis, pictures.of(run), **words_of_verdict)}


class Overlay:
    """Several runs in the same charts."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._folders = folders
        self._pace = Pace()
        self._stamp: object = None
        self._parts: Parts = {"state": _line("Reading …")}

    def look(self) -> Parts:
        stamp = [_stamp(folder) for folder in self._folders.values()]
        if self._pace.is_due and stamp != self._stamp:
            self._parts, self._stamp = self._pace.timed(self._drawn), stamp
        return self._parts

    def _drawn(self) -> Parts:
        runs, silent = {}, []
        with ExitStack() as files:
            for name, folder in self._folders.items():
                try:
                    runs[name] = trained(files.enter_context(reading(folder)))[0]
                except ParamedicError:
                    silent.append(name)
            drawn = html.charts_of(overlay.charts(runs))
        said = f"{words.plural(len(runs), 'run')} in the same charts"
        said += f"; not readable yet: {', '.join(silent)}" if silent else ""
        return {"state": _line(said), "pictures": drawn}


def _so_far(diagnosis: Diagnosis) -> dict[str, str]:
    """A run that goes on needs no advice to run on, and what is found later may change the verdict."""
    word, sentence = words.headline(diagnosis), words.verdict(diagnosis)
    if diagnosis.verdict == "inconclusive":
        sentence = sentence.replace(f" {words.what_would_help(diagnosis)} ", " ")
    return {"headline": SO_FAR.get(word, word), "sentence": sentence}


def _state(diagnosis: Diagnosis, run: Run, under_way: bool) -> str:
    """Such as "running · step 1,204 · loss 0.31"."""
    code = diagnosis.run.exit_code
    said = ["running" if under_way else "ended" if code in (0, None) else f"ended with exit code {code}"]
    said.append(f"step {run.steps:,}")
    curves = [curve for curve in diagnosis.run.losses if curve.values]
    if len(curves) == 1:
        said.append(f"loss {words.number(curves[0].values[-1])}")
    times = run.series("time:step")[-20:]
    if under_way and times:
        said.append(f"{words.short_time(sum(value for _, value in times) / len(times))} per step")
    return " · ".join(said)


def _line(text: str, *, running: bool = False) -> str:
    return html.part("state", text=text, running=running)


def _stamp(folder: Path) -> object:
    """Changes whenever something is written: SQLite's log grows, or is folded into the file."""
    return [(file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in sorted(folder.glob("*.db*"))]
