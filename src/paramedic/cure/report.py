"""Reports of `paramedic cure`: each edit as a diff with its proof, and as JSON."""

from __future__ import annotations

import json as json_module
import math
import shutil
from collections.abc import Sequence
from typing import Any

from paramedic import voice
from paramedic.cure.edit import apply
from paramedic.cure.patch import unified
from paramedic.cure.proof import Proof, Trial
from paramedic.cure.session import Outcome, Uncured
from paramedic.findings import Finding, LossCurve
from paramedic.findings.words import fold, places, plural
from paramedic.masking import masked_words
from paramedic.reports import chart, html
from paramedic.reports import json as contract
from paramedic.reports.screen import Screen, speaks_unicode, wants_color

INDENT = 9
COLUMNS = 32  # of a curve
STEEP = 1000  # times the least value
BARS = "▁▂▃▄▅▆▇█"
STYLES = {"+": "green", "-": "red", "@": "cyan"}


def show(outcome: Outcome, *, quiet: bool, written: Sequence[str], refused: bool = False) -> None:
    """The diffs with their proofs, what could not be cured, and the verdict last; `refused`: nor could be written."""
    stream = voice.stream()
    width = min(shutil.get_terminal_size((80, 24)).columns, 100) if stream.isatty() else 80
    screen = Screen(width=width, color=wants_color(stream), unicode=speaks_unicode(stream))
    if not quiet:
        screen.blank()
        for proof in outcome.confirmed:
            _proof(screen, proof)
        _all_uncured(screen, outcome)
    screen.line(("Verdict: ", "bold"), verdict(outcome, written, refused=refused))
    voice.say(str(screen), end="")


def verdict(outcome: Outcome, written: Sequence[str] = (), *, refused: bool = False) -> str:
    """One or two sentences: what is left, and what to type."""
    if outcome.known is None or not outcome.known.alarms:
        result = outcome.first.result
        ended = "" if result.status in ("ended", "stopped") else f" The script {result.status}: {result.reason}"
        return f"nothing to cure. No alarm in {plural(result.steps, 'step')}.{ended}"
    done, left = len(outcome.confirmed), len(outcome.left)
    if not done:
        return f"not cured. {plural(left, 'finding')} left, no edit is confirmed; nothing was changed."
    said = f"{'cured' if not left else 'partly cured'}. {plural(done, 'edit')} confirmed"
    said += f", {plural(left, 'finding')} left. " if left else ". "
    commands = [typed(proof) for proof in outcome.confirmed if proof.edit.args is not None]
    typing = f" Type {commands[-1]}" if commands else ""
    if written or not outcome.project.changed():
        return said + (f"Wrote {', '.join(written)}." if written else "") + typing.lstrip("" if written else " ")
    how = "could be written" if refused else "was written; --write applies the edits, --diff FILE saves them as a patch"
    return f"{said}Nothing {how}.{typing}"


def _proof(screen: Screen, proof: Proof) -> None:
    mark = ("✓ ", "bold green") if proof.confirmed else ("✗ ", "bold red")
    state = "confirmed" if proof.confirmed else "not confirmed"
    head = (f"{proof.finding.code} {proof.finding.name}", "bold")
    screen.line(head, label=mark, indent=2, right=f"{state} · {proof.edit.safety}")
    _field(screen, "what", proof.finding.what)
    _field(screen, "edit", proof.edit.title)
    _field(screen, "where", place(proof))
    for row in diff(proof).splitlines()[2:]:
        screen.verbatim(row.rstrip("\r"), indent=INDENT, style=STYLES.get(row[:1], ""))
    _field(screen, "proof" if proof.confirmed else "but", proof.because)
    for label, words in curves(proof):
        _field(screen, label, words)
    screen.blank()


def _all_uncured(screen: Screen, outcome: Outcome) -> None:
    """Causes, each with what follows from it; a consequence for which edits were tried stands for itself."""
    uncured = {id(each.finding): each for each in (*outcome.uncured, *outcome.unseen)}
    for cause, effects in fold([each.finding for each in uncured.values()]):
        tried = {id(proof.finding) for proof in outcome.refuted}
        _uncured(screen, uncured[id(cause)], outcome.refuted, [effect for effect in effects if id(effect) not in tried])
        for effect in effects:
            if id(effect) in tried:
                _uncured(screen, uncured[id(effect)], outcome.refuted, ())


def _uncured(screen: Screen, uncured: Uncured, refuted: Sequence[Proof], effects: Sequence[Finding]) -> None:
    finding = uncured.finding
    screen.line((f"{finding.code} {finding.name}", "bold"), label=("✗ ", "bold red"), indent=2, right="not cured")
    _field(screen, "what", finding.what)
    _field(screen, "where", "   ·   ".join(places(finding)))
    _field(screen, "but", uncured.reason)
    for proof in refuted:
        if proof.finding is finding:
            _field(screen, "tried", f"{proof.edit.title}: {proof.because}")
    _field(screen, "try", finding.remedy)
    for effect in effects:
        _field(screen, "so", f"{effect.code} {effect.name}: {effect.what}")
    screen.blank()


def _field(screen: Screen, label: str, words: str) -> None:
    if words:
        screen.line(words, label=(f"  {label}", "dim"), indent=INDENT)


def curves(proof: Proof) -> list[tuple[str, str]]:
    """The loss before and after as lines of bars: on one scale, unless the edit changes what the loss means."""
    trials = {"before": proof.before, "after": proof.after}
    points = {label: _points(trial) for label, trial in trials.items()}
    shared = [*points["before"], *points["after"]] if proof.edit.compare == "loss" else []
    return [(label, _curve_line(trial, points[label], shared or points[label])) for label, trial in trials.items()]


def _bars(points: Sequence[float], scale: Sequence[float]) -> str:
    """Logarithmic where the scale spans so much that a linear one would show a single peak."""
    least = min((value for value in scale if value > 0), default=0.0)
    if least and min(scale) >= 0 and max(scale) > STEEP * least:
        points, scale = ([math.log(max(value, least)) for value in values] for values in (points, scale))
    low, high = min(scale, default=0.0), max(scale, default=0.0)
    return "".join(BARS[round((value - low) / ((high - low) or 1.0) * (len(BARS) - 1))] for value in points)


def _curve_line(trial: Trial, points: Sequence[float], scale: Sequence[float]) -> str:
    """Bars with the first and the last value."""
    result = trial.result
    if result.first is None or result.last is None:
        return "no loss known"
    last = "not finite" if trial.ended_broken or not result.finite else f"{result.last:.3g}"
    return f"loss {result.first:.3g} → {last} {_bars(points, scale)}"


def _points(trial: Trial) -> list[float]:
    """Means of the finite values, few enough for a line."""
    values = [value for value in trial.result.values if math.isfinite(value)]
    if len(values) <= COLUMNS:
        return values
    parts = [values[i * len(values) // COLUMNS : (i + 1) * len(values) // COLUMNS] for i in range(COLUMNS)]
    return [sum(part) / len(part) for part in parts]


def place(proof: Proof) -> str:
    """The file and the first line that changes; nothing for a command line."""
    if not proof.edit.splices:
        return ""
    line = 1 + proof.text.count("\n", 0, min(splice.start for splice in proof.edit.splices))
    return f"{proof.edit.file}:{line}"


def diff(proof: Proof) -> str:
    """This edit alone, from the text that it was made from; of a command line, both versions."""
    if proof.edit.args is not None:
        return f"--- command line\n+++ command line\n-{_command(proof, proof.text)}\n+{typed(proof)}\n"
    old, new = proof.text, apply(proof.text, proof.edit.splices)
    return unified(proof.edit.file, old.encode(), new.encode(), context=1).decode()


def typed(proof: Proof) -> str:
    """The command line to type, where the value is set there; else nothing."""
    return _command(proof, " ".join(masked_words(proof.edit.args))) if proof.edit.args is not None else ""


def _command(proof: Proof, args: str) -> str:
    """As the script was started, with these arguments."""
    known = proof.before.diagnosis
    return f"{known.run.command.split(proof.text)[0] if known is not None else ''}{args}"


# Files ------------------------------------------------------------------------------------------------------------


def render_json(outcome: Outcome) -> str:
    """The contract of `paramedic run` for the program as it is, with the edits that were tried."""
    known = outcome.known
    report: dict[str, Any] = json_module.loads(contract.render(known)) if known is not None else {}
    report |= {
        "edits": [contract.plain(_edit(proof)) for proof in (*outcome.confirmed, *outcome.refuted)],
        "uncured": [
            {"code": uncured.finding.code, "file": uncured.finding.where.file, "line": uncured.finding.where.line,
             "reason": uncured.reason}
            for uncured in (*outcome.uncured, *outcome.unseen)
        ],
        "after": contract.plain(_trial(outcome.last)),
    }  # fmt: skip
    return json_module.dumps(report, indent=2, allow_nan=False) + "\n"


def _edit(proof: Proof) -> dict[str, Any]:
    return {
        "file": proof.edit.file,
        "diff": diff(proof),
        "safety": proof.edit.safety,
        "confirmed": proof.confirmed,
        "before": _trial(proof.before),
        "after": _trial(proof.after),
        "code": proof.finding.code,
        "title": proof.edit.title,
        "because": proof.because,
        "command": typed(proof) or None,
    }


def _trial(trial: Trial) -> dict[str, Any]:
    result = trial.result
    return {
        "alarms": [finding.code for finding in trial.alarms],
        "outcome": result.status,
        "steps": result.steps,
        "first_loss": result.first,
        "last_loss": float("nan") if trial.ended_broken else result.last,
        "metrics": trial.metrics,
        "run": result.run,
    }


def render_html(outcome: Outcome) -> str:
    """The report of the program as it is, with each edit, its proof, and the loss before and after."""
    known = outcome.known
    assert known is not None  # a script that left no record ends in a message of its own
    proofs = [_shown(proof, number) for number, proof in enumerate((*outcome.confirmed, *outcome.refuted), 1)]
    return html.render(known, cure=proofs)


def _shown(proof: Proof, number: int) -> dict[str, Any]:
    kinds = {"+": "added", "-": "removed", "@": "place"}
    lines = [(kinds.get(line[:1], "same"), line.rstrip("\r")) for line in diff(proof).splitlines()[2:]]
    curves = [_curve(label, trial) for label, trial in (("before", proof.before), ("after", proof.after))]
    drawn = chart.draw(curves, key=f"cure-{number}", title="Loss before and after the edit", tall=False)
    edit = proof.edit
    return {
        "code": proof.finding.code, "title": edit.title, "file": edit.file, "safety": edit.safety, "diff": lines,
        "what": proof.finding.what, "because": proof.because, "confirmed": proof.confirmed, "command": typed(proof),
        "chart": drawn, "where": place(proof),
    }  # fmt: skip


def _curve(label: str, trial: Trial) -> LossCurve:
    values = trial.result.values
    return LossCurve(label=label, steps=tuple(range(len(values))), values=values)
