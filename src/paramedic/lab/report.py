"""Reports of `paramedic diagnose`: progress while it works, a table of the experiments, then the verdict."""

from __future__ import annotations

import json as json_module
import math
import shutil
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from paramedic import voice
from paramedic.findings import LossCurve
from paramedic.findings.words import plural
from paramedic.lab.experiment import Result
from paramedic.lab.reasoning import Reading
from paramedic.lab.session import cost
from paramedic.lab.verdict import WORDS, Conclusion
from paramedic.paths import write_text
from paramedic.reports import html as page
from paramedic.reports import json as contract
from paramedic.reports.pictures import of_record
from paramedic.reports.screen import Screen, speaks_unicode, wants_color
from paramedic.reports.terminal import render as render_findings
from paramedic.rules.experiments import SWEEP, smooth

STYLES = {
    "model": "bold red",
    "data": "bold red",
    "settings": "bold red",
    "none": "bold green",
    "unknown": "bold yellow",
}


TONES = {"none": "healthy", "unknown": "inconclusive"}  # of the page's headline; the other causes are faults


class Progress:
    """What is being tried and what was learnt so far, a line each."""

    def __init__(self, stream: TextIO, *, quiet: bool) -> None:
        self.stream, self.quiet = stream, quiet
        self.live = stream.isatty() and not quiet
        self.started = time.perf_counter()
        self._shown = ""

    def opening(self, command: str) -> None:
        self.say(f"paramedic: experiments with {command}")

    def say(self, words: str) -> None:
        if not self.quiet:
            voice.say(words)

    def tick(self, running: Sequence[str]) -> None:
        if not self.live:
            return
        text = f"  {time.perf_counter() - self.started:4.0f} s  trying {', '.join(running)} …" if running else ""
        text = text[: shutil.get_terminal_size((80, 24)).columns - 1]
        if text != self._shown:
            self.stream.write(f"\r\x1b[K{text}")
            self.stream.flush()
            self._shown = text

    def result(self, result: Result, meaning: str) -> None:
        self.done()
        if not self.quiet:
            screen = _screen(self.stream)
            _row(screen, result, meaning)
            voice.say(str(screen), end="")

    def done(self) -> None:
        if self.live and self._shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
            self._shown = ""


def _screen(stream: TextIO) -> Screen:
    width = min(shutil.get_terminal_size((80, 24)).columns, 100) if stream.isatty() else 80
    return Screen(width=width, color=wants_color(stream), unicode=speaks_unicode(stream))


def _row(screen: Screen, result: Result, meaning: str) -> None:
    screen.line(meaning, label=f"  {result.name:<18}{losses(result):<21}", indent=41)


def losses(result: Result) -> str:
    if result.first is None or result.status == "not applied":
        return ""
    last = "not finite" if not result.finite else f"{result.last:.3g}"
    return f"{result.first:.3g} → {last}"


def show(conclusion: Conclusion, *, verbose: int, quiet: bool) -> None:
    """The findings, what was ruled out, and the verdict last."""
    stream = voice.stream()
    screen = _screen(stream)
    if not quiet and conclusion.diagnosis.findings:
        text = render_findings(
            conclusion.diagnosis,
            width=screen.width,
            color=wants_color(stream),
            verbose=verbose,
            unicode=speaks_unicode(stream),
        )
        kept, _, _ = text.rpartition("Verdict: ")
        voice.say(f"\n{kept.rstrip()}", end="\n")
    _verdict(screen, conclusion, quiet=quiet)
    voice.say(str(screen), end="")


def _verdict(screen: Screen, conclusion: Conclusion, *, quiet: bool) -> None:
    if not quiet:
        screen.blank()
        for row in conclusion.reasoning:
            screen.line((row.question, "bold"), f" {_sentence(row.answer)}{_says(row)}", label="  ", indent=4)
        if conclusion.reasoning:
            screen.blank()
    word = (f"{WORDS[conclusion.cause]}.", STYLES[conclusion.cause])
    screen.line(("Verdict: ", "bold"), word, f" {_because(conclusion)}")


def _because(conclusion: Conclusion) -> str:
    """What follows the verdict, on the terminal and on the page."""
    runs = plural(len(conclusion.results), "experiment")
    sure = "" if conclusion.confidence is None else f"; {100 * conclusion.confidence:.0f} % sure"
    return (
        f"{_sentence(conclusion.because)} {runs} in {conclusion.seconds:.0f} s, "
        f"{cost(conclusion.results):.1f} times the cost of the baseline{sure}."
    )


def _says(row: Reading) -> str:
    return f" This {row.says}." if row.says else ""


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}." if words else ""


# Files ------------------------------------------------------------------------------------------------------------


def write(conclusion: Conclusion, *, json: Path | None, html: Path | None) -> None:
    for path, render in ((json, render_json), (html, render_html)):
        if path is None:
            continue
        write_text(path, render(conclusion), fix="choose another folder")
        voice.say(f"paramedic: wrote {path}")


def render_json(conclusion: Conclusion) -> str:
    """The contract of `paramedic run`, with the cause and the experiments."""
    report: dict[str, object] = json_module.loads(contract.render(conclusion.diagnosis))
    report |= {
        "cause": conclusion.cause,
        "ruled_out": list(conclusion.ruled_out),
        "reasoning": [
            {"question": row.question, "answer": row.answer, "points_to": row.points_to, "says": row.says}
            for row in conclusion.reasoning
        ],
        "experiments": [
            contract.plain(_experiment(result, meaning))
            for result, meaning in zip(conclusion.results, conclusion.meanings, strict=True)
        ],
        "confidence": conclusion.confidence,
        "because": conclusion.because,
        "seconds": round(conclusion.seconds, 2),
        "cost": contract.plain(cost(conclusion.results)),
    }
    return json_module.dumps(report, indent=2, allow_nan=False) + "\n"


def _experiment(result: Result, meaning: str) -> dict[str, object]:
    return {
        "name": result.name,
        "changed": result.changed,
        "outcome": result.status,
        "first_loss": result.first,
        "last_loss": result.last if result.finite else float("nan"),
        "steps": result.steps,
        "seconds": result.seconds,
        "run": result.run,
        "meaning": meaning,
        "reason": result.reason,
    }


def render_html(conclusion: Conclusion) -> str:
    """The page of a run, with the curves of all experiments in one picture."""
    curves = tuple(
        LossCurve(label=result.name, steps=tuple(range(len(result.values))), values=result.values)
        for result in conclusion.results
        if result.values and "range" not in result.name
    )
    diagnosis = replace(conclusion.diagnosis, run=replace(conclusion.diagnosis.run, losses=curves, evaluations=()))
    rows = [
        (result.name, result.changed, losses(result), f"{result.steps:,}", f"{result.seconds:.1f} s", meaning)
        for result, meaning in zip(conclusion.results, conclusion.meanings, strict=True)
    ]
    lab = {
        "rows": rows,
        "headline": WORDS[conclusion.cause],
        "tone": TONES.get(conclusion.cause, "sick"),
        "sentence": _because(conclusion),
        "reasoning": [(row.question, row.answer, row.says) for row in conclusion.reasoning],
        "sweeps": [
            _sweep(result, meaning)
            for result, meaning in zip(conclusion.results, conclusion.meanings, strict=True)
            if "range" in result.name and len(result.values) > 5
        ],
    }
    return page.render(diagnosis, lab=lab, pictures=of_record(Path(diagnosis.run.record)))


def _sweep(result: Result, meaning: str) -> dict[str, object]:
    """A range test as a line: x is the logarithm of the factor, y that of the loss above its lowest value."""
    low, high = (math.log10(factor) for factor in SWEEP)
    values = smooth(result.values)
    floor = min(values)
    heights = [math.log1p(min(value - floor, 1e6)) for value in values]
    top = max(heights) or 1.0
    width = len(values) - 1
    points = " ".join(f"{40 + 800 * i / width:.0f},{170 - 160 * height / top:.0f}" for i, height in enumerate(heights))
    ticks = [(40 + 800 * (n - low) / (high - low), f"{10.0**n:g}×") for n in range(round(low), round(high) + 1)]
    return {"name": result.name, "points": points, "ticks": ticks, "low": f"{floor:.3g}", "high": f"{max(values):.3g}",
            "meaning": meaning}  # fmt: skip
