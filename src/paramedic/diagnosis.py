"""Record + rules -> diagnosis: every rule is run; causes come first, their consequences under them."""

from __future__ import annotations

import contextlib
import math
import re
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paramedic.errors import ParamedicError
from paramedic.findings import (
    SEVERITY_ORDER,
    Abstention,
    Crash,
    Diagnosis,
    Finding,
    LossCurve,
    Progress,
    RunFacts,
    Verdict,
)
from paramedic.findings.ranks import told_once
from paramedic.findings.words import number
from paramedic.frozen import dataclass
from paramedic.record.ending import BY_SIGNAL, UNDER_WAY, cut_short
from paramedic.record.facts import Audited, Backward, EvalForward, Forward, Gear, Model, Optimizer, ProbeFailed, Step
from paramedic.record.reader import Run, damaged, open_runs
from paramedic.record.reader import trained as trained_of
from paramedic.rules import audited
from paramedic.rules.coverage import not_looked
from paramedic.rules.curves import loss_curves
from paramedic.rules.ends import failure, ranks_elsewhere
from paramedic.rules.evaluations import evaluation_curves, mean_losses
from paramedic.rules.growth import memory_lines
from paramedic.rules.open_questions import open_questions
from paramedic.rules.outcome import learnt, outcome, setback
from paramedic.rules.relation import relation
from paramedic.rules.rule import Abstain, Rule, known_to, missing_need
from paramedic.rules.timing import time_shares
from paramedic.sources import source_line

MORE_THAN_GUESSING = 0.15  # share of right answers, or correlation, that shows that data can be learnt
FEWEST_STEPS = 5  # below this nobody can say "healthy"
_IGNORE = re.compile(r"#\s*paramedic:\s*ignore\[([^\]]+)\]")


def diagnose(
    folder: Path,
    rules: Sequence[Rule],
    options: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    incomplete: str | None = None,
) -> Diagnosis:
    """Ask every rule about every process of the run. `incomplete` says why the record ends early, if it does."""
    runs = open_runs(folder)
    try:
        if (data := runs[0].first(Audited)) is not None:
            return _of_audit(folder, runs[0], data, rules)
        return _diagnose(folder, runs, rules, options or {}, incomplete or cut_short(folder, runs[0]))
    except ParamedicError:
        raise
    except Exception as error:  # rules fail one by one, see `ask`: this is about what every report needs
        raise damaged(runs[0].path, error) from error
    finally:
        for run in runs:
            run.close()


def _of_audit(folder: Path, run: Run, data: Audited, rules: Sequence[Rule]) -> Diagnosis:
    """What these rules said when the data was available."""
    ranked = tuple(rank(audited.findings(run, rules), rules))
    clear, crashed = audited.clear(run, rules), audited.crashed(run, rules)
    verdict, reason = audited.verdict_on(data, ranked, looked=bool(clear or ranked), crashed=len(crashed))
    meta = {name: str(run.meta.get(name, "")) for name in ("command", "script")}
    facts = RunFacts(
        id=folder.name, record=str(folder), script=data.title or meta["script"], command=meta["command"],
        seconds=data.seconds, started=data.time, samples=data.samples, data=tuple(data.lines),
        notices=tuple(data.notices),
    )  # fmt: skip
    abstained = audited.abstained(run, rules)
    return Diagnosis(verdict=verdict, reason=reason, findings=ranked, clear=clear, abstained=abstained,
                     crashed=crashed, run=facts)  # fmt: skip


def _diagnose(
    folder: Path,
    runs: Sequence[Run],
    rules: Sequence[Rule],
    options: Mapping[str, Mapping[str, Any]],
    incomplete: str | None,
) -> Diagnosis:
    trained = trained_of(list(runs))
    asked = judge([rule for rule in rules if rule.reads == "run"], trained, options)
    needs_data = "this needs an audit of the data (paramedic audit)"
    unasked = [Abstention(code=rule.code, reason=needs_data) for rule in rules if rule.reads == "audit"]
    abstained = sorted([*asked.abstained, *unasked], key=lambda abstention: abstention.code)
    findings, clear, crashed = asked.findings, asked.clear, asked.crashed
    kept: dict[str, str] = {place: text for run in runs for place, text in run.meta.get("sources", {}).items()}
    kept |= _lines_of(findings, runs)
    ranked = rank([finding for finding in findings if not _ignored_on_its_line(finding, kept)], rules)
    facts = _facts(folder, runs, trained, ranked, kept)
    ranked = _serious(ranked, facts)
    verdict, reason = _verdict(ranked, facts, failure(runs), looked=bool(clear or findings), crashed=len(crashed))
    if verdict != "sick" and reason in ("", _went_wrong(facts)):
        answered = [*clear, *(finding.code for finding in findings)]
        if unanswered := open_questions(rules, abstained, answered, unexplained=bool(reason)):
            verdict, reason = "inconclusive", "; ".join(filter(None, (reason, unanswered)))
    ends = f"the record ends at step {facts.steps}: {incomplete}"
    if incomplete and verdict == "healthy" and incomplete != UNDER_WAY and not incomplete.startswith(BY_SIGNAL):
        verdict, reason = "inconclusive", ends
    elif incomplete:
        facts = replace(facts, notices=(ends, *facts.notices))
    return Diagnosis(
        verdict=verdict,
        reason=reason,
        findings=tuple(ranked),
        clear=tuple(clear),
        abstained=tuple(abstained),
        crashed=tuple(crashed),
        run=facts,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What all rules say about the processes of a run, or about an audit."""

    findings: list[Finding]
    clear: list[str]
    abstained: list[Abstention]
    crashed: list[Crash]


def judge(rules: Iterable[Rule], subjects: Sequence[Any], options: Mapping[str, Mapping[str, Any]]) -> Judged:
    """Ask every rule about each subject; the same finding from several of them counts once."""
    findings: dict[tuple[Any, ...], Finding] = {}
    found = Judged(findings=[], clear=[], abstained=[], crashed=[])
    ranks = any(len(getattr(subject, "ranks", ())) > 1 for subject in subjects)
    for rule in rules:
        outcomes = [ask(rule, subject, options.get(rule.code, {})) for subject in subjects]
        each = [outcome for outcome in outcomes if isinstance(outcome, list)]
        fired = told_once(each) if ranks else [finding for outcome in each for finding in outcome]
        failed = [outcome for outcome in outcomes if isinstance(outcome, Crash)]
        for finding in fired:
            findings.setdefault((finding.code, finding.what, finding.where.file, finding.where.line), finding)
        if failed:
            found.crashed.append(failed[0])
        elif not fired:
            unsure = [outcome for outcome in outcomes if isinstance(outcome, Abstention)]
            blind = [abstention for abstention in unsure if abstention.blind]
            if blind or len(unsure) == len(outcomes):
                found.abstained.append((blind or unsure)[0])
            else:
                found.clear.append(rule.code)
    found.findings.extend(findings.values())
    return found


def ask(rule: Rule, run: Any, options: Mapping[str, Any]) -> list[Finding] | Abstention | Crash:
    """What a rule says about the run or the audit it reads."""
    findings: list[Finding] = []
    for member in getattr(run, "ranks", ()):  # an audit has none
        member.read.clear()
    try:
        reason = missing_need(rule, run, options) if isinstance(run, Run) else None
        if reason is not None:
            return _blind(rule, run) or Abstention(code=rule.code, reason=reason)
        check = rule.check if isinstance(run, Run) else rule.on_audits
        assert check is not None  # else nobody asks
        for finding in check(run, **known_to(check, options)):
            severity = finding.severity or rule.severity
            where = replace(finding.where, rank=finding.where.rank or getattr(run, "rank", 0))
            findings.append(replace(finding, code=rule.code, name=rule.name, severity=severity, where=where))
    except Abstain as abstention:
        return findings or _blind(rule, run) or Abstention(code=rule.code, reason=str(abstention))
    except (Exception, SystemExit) as error:  # a bad rule must never cost the report, nor change the exit code
        return Crash(code=rule.code, error=f"{type(error).__name__}: {error}", traceback=traceback.format_exc())
    return findings or _blind(rule, run) or findings


def _blind(rule: Rule, run: Any) -> Abstention | None:
    """The rule's own answer does not count when facts that it read are missing."""
    reason = not_looked(run) if isinstance(run, Run) else None
    return Abstention(code=rule.code, reason=reason, blind=True) if reason is not None else None


def rank(findings: Iterable[Finding], rules: Sequence[Rule]) -> list[Finding]:
    """Most important first; what another finding explains follows it and says so."""
    by_code = {rule.code: rule for rule in rules}
    order = sorted(findings, key=lambda f: _importance(f, by_code))
    explained: dict[int, str] = {}
    for index, finding in enumerate(order):
        for other_index, other in enumerate(order):
            if other_index in explained or other.code == finding.code:
                continue
            if _explains(other, finding, by_code):
                explained[index] = other.code
                break
    ranked: list[Finding] = []
    placed: set[int] = set()

    def place(index: int) -> None:
        placed.add(index)
        ranked.append(replace(order[index], consequence_of=explained.get(index)))
        for following, cause in explained.items():
            if cause == order[index].code and following not in placed:
                place(following)

    for index in [*(i for i in range(len(order)) if i not in explained), *explained]:
        if index not in placed:
            place(index)
    return ranked


def _importance(finding: Finding, rules: Mapping[str, Rule]) -> tuple[Any, ...]:
    severity = SEVERITY_ORDER[finding.severity or "note"]
    return (severity, rules[finding.code].symptom, -finding.confidence, finding.where.step or 0, finding.code)


def _explains(other: Finding, finding: Finding, rules: Mapping[str, Rule]) -> bool:
    """A note explains no alarm, and another note only where its rule names it."""
    if other.severity == "note" and finding.severity != "note":
        return False
    if any(finding.code.startswith(prefix) for prefix in rules[other.code].causes):
        return True
    return other.severity != "note" and rules[finding.code].symptom and not rules[other.code].symptom


def _serious(ranked: list[Finding], facts: RunFacts) -> list[Finding]:
    """A loss that ends as NaN or infinity is never a mere warning, whichever rule explains it."""
    broken = any(curve.values and not math.isfinite(curve.values[-1]) for curve in facts.losses)
    if not broken or not ranked or ranked[0].severity != "warning":
        return ranked
    return [replace(ranked[0], severity="error"), *ranked[1:]]


def _lines_of(findings: Iterable[Finding], runs: Sequence[Run]) -> dict[str, str]:
    """The lines that findings name, as the files were when they ran: no fact may have happened there."""
    texts: dict[str, str] = {file: text for run in runs for file, text in run.meta.get("code", {}).items()}
    code = {file: text.splitlines() for file, text in texts.items()}
    places = {(where.file or "", where.line or 0) for finding in findings for where in (finding.where, *finding.also)}
    return {
        f"{file}:{line}": code[file][line - 1].strip()
        for file, line in places
        if file in code and 0 < line <= len(code[file])
    }


def _ignored_on_its_line(finding: Finding, kept: Mapping[str, str]) -> bool:
    lines = [source_line(where.file, where.line, kept) for where in (finding.where, *finding.also)]
    found = [match.group(1) for line in lines if (match := _IGNORE.search(line))]
    words = [word.strip() for names in found for word in names.split(",")]
    return any(word == finding.name or finding.code.startswith(word.upper()) for word in words)


def _verdict(
    findings: Sequence[Finding], facts: RunFacts, failed: str | None, *, looked: bool, crashed: int
) -> tuple[Verdict, str]:
    if any(finding.severity != "note" for finding in findings):
        return "sick", ""
    if facts.steps == 0 and not (failed and facts.ranks > 1):
        return "inconclusive", "no optimizer step was seen"
    if failed is not None:
        return "inconclusive", failed
    if wrong := _went_wrong(facts):
        return "inconclusive", wrong
    if facts.steps < FEWEST_STEPS:
        return "inconclusive", f"only {facts.steps} optimizer step{'s' * (facts.steps > 1)} seen"
    if crashed:
        return "inconclusive", f"{crashed} rule{'s' * (crashed > 1)} failed"
    if not looked:
        return "inconclusive", "none of the chosen rules could be checked"
    return "healthy", ""


def _went_wrong(facts: RunFacts) -> str:
    """What the losses themselves show, whatever the rules say."""
    for curve in facts.losses:
        if curve.values and not math.isfinite(curve.values[-1]):
            return f"the loss at {curve.label} is {number(curve.values[-1])} at the end, and no rule can explain it"
    return facts.progress.trouble if facts.progress is not None else ""


def _facts(
    folder: Path, runs: Sequence[Run], trained: Sequence[Run], findings: Sequence[Finding], kept: Mapping[str, str]
) -> RunFacts:
    main, first = runs[0], trained[0]
    meta = {**first.meta, **main.meta}
    return RunFacts(
        id=folder.name,
        record=str(folder),
        script=str(meta.get("script", "")),
        command=str(meta.get("command", "")),
        steps=max(run.steps for run in trained),
        seconds=float(meta.get("seconds") or _last_time(first) - float(meta.get("started", 0))),
        exit_code=meta.get("exit_code"),
        overhead=first.meta.get("overhead"),
        first_look=first.meta.get("first_look"),
        around=first.meta.get("around"),
        steady=first.meta.get("steady"),
        coverage=first.meta.get("coverage", {}),
        started=float(meta.get("started", 0)),
        ranks=len(trained),
        versions=meta.get("versions", {}),
        losses=tuple(recorded_losses(first)),
        evaluations=tuple(evaluation_curves(first)),
        progress=_progress(first),
        times=tuple(time_shares(first)),
        models=tuple(map(_describe_model, first.facts(Model))),
        optimizers=tuple(map(_describe_optimizer, first.facts(Optimizer))),
        memory=tuple(line for run in trained for line in memory_lines(run)),
        notices=tuple(_notices(runs)),
        source={
            f"{f.where.file}:{f.where.line}": text
            for f in findings
            if (text := source_line(f.where.file, f.where.line, kept))
        },
    )


def _last_time(run: Run) -> float:
    times = [fact.time for kind in (Step, Backward, Forward, Model) for fact in run.facts(kind)]
    return max(times, default=float(run.meta.get("started", 0)))


def recorded_losses(run: Run) -> Iterable[LossCurve]:
    """The values at every backward(), by its line."""
    for label, points in run.curves("loss").items():
        yield LossCurve(label=label, steps=tuple(s for s, _ in points), values=tuple(v for _, v in points))


def _progress(run: Run) -> Progress | None:
    """How the run's loss went; judged only where its value means something."""
    curves = loss_curves(run)
    if len(curves) != 1 or curves[0].broke:
        return None
    curve = curves[0]
    measured = mean_losses(run) if len(evaluation_curves(run)) == 1 else []
    evaluation = measured[0].values[-1] if measured else None
    progress = Progress(first=curve.values[0], last=curve.end, evaluation=evaluation)
    if any("training" in answered.uses for answered in run.facts(EvalForward)):
        return progress  # a model's own answers are the targets, as those of a value network: they move
    with contextlib.suppress(Abstain):
        judged = outcome(run)
        # A second optimizer is a second phase, and may have begun with other data.
        best = setback(curve) if len(run.facts(Optimizer)) == 1 else None
        progress = replace(progress, guessing=judged.prior, learnt=learnt(judged), best=best)
        return replace(progress, simple=_by_simple_models(run)) if progress.learnt is False else progress
    return progress


def _by_simple_models(run: Run) -> str:
    found = relation(run)
    clear = found is not None and found.found and found.right > found.guess + MORE_THAN_GUESSING
    return str(found) if clear else ""


def _describe_model(model: Model) -> str:
    total = sum(p.numel for p in model.parameters)
    trainable = sum(p.numel for p in model.parameters if p.requires_grad)
    return f"{model.name}: {model.class_}, {total:,} parameters ({trainable:,} trainable)"


def _describe_optimizer(optimizer: Optimizer) -> str:
    rates = sorted({group.lr for group in optimizer.groups if group.lr is not None})
    count = sum(len(group.parameters) for group in optimizer.groups)
    return f"{optimizer.class_}, lr {', '.join(f'{rate:g}' for rate in rates)}, {count} tensors"


def _notices(runs: Sequence[Run]) -> Iterable[str]:
    for run in runs:
        for failed in run.facts(ProbeFailed):
            yield f"the probe {failed.probe} failed and was detached at step {failed.step}: {failed.error}"
        yield from (gear.reason for gear in run.facts(Gear))
        if run.meta.get("dropped"):
            yield f"{run.meta['dropped']} facts were dropped: too many of one kind"
    if missing := ranks_elsewhere(runs):
        yield f"not checked: {missing} left no record here; paramedic merge adds records of other machines"
