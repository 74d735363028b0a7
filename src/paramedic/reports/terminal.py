"""The diagnosis on a terminal: evidence before theory, causes before consequences, the verdict last."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from paramedic.config import DEFAULT_RUNS
from paramedic.findings import Diagnosis, Finding, RunFacts
from paramedic.findings.unchecked import by_reason, saw_too_little
from paramedic.findings.words import (
    MARKS,
    PARTS,
    bar,
    coverage,
    fold,
    headline,
    moment,
    next_experiment,
    percent,
    place,
    places,
    plural,
    short_time,
    shortest,
    tone,
    verdict,
)
from paramedic.reports.evidence import columns, measured
from paramedic.reports.screen import Screen

STYLES = {"error": "bold red", "warning": "bold yellow", "note": "bold blue"}
VERDICT_STYLES = {"sick": "bold red", "healthy": "bold green", "inconclusive": "bold yellow"}
INDENT = 9  # the width of "  where  "
WIDE_ENOUGH = 60  # columns, for a table
MOST_NOTES = 5
MOST_NOTICES = 3


def render(
    diagnosis: Diagnosis,
    *,
    width: int = 80,
    color: bool = False,
    verbose: int = 0,
    unicode: bool = True,
    links: bool = False,
) -> str:
    """The report as text. verbose: -1 the verdict only, 0 the usual, 1 evidence and abstentions, 2 everything."""
    screen = Screen(width=width, color=color, unicode=unicode, links=links)
    if verbose >= 0:
        _data(screen, diagnosis.run)
        _findings(screen, diagnosis, verbose)
        _notices(screen, diagnosis.run.notices, verbose)
    if verbose >= 1:
        _not_checked(screen, diagnosis, verbose)
        _times(screen, diagnosis.run)
        _memory(screen, diagnosis.run)
        if said := coverage(diagnosis.run):
            screen.line(("Looked at ", "bold"), said)
            screen.blank()
    if verbose >= 2 and diagnosis.clear:
        screen.line(("Checked and clear", "bold"))
        screen.line(" ".join(diagnosis.clear), label="  ", indent=2)
        screen.blank()
    if diagnosis.verdict == "sick" and verbose >= 0 and diagnosis.run.record:
        screen.command("More:", f"paramedic report {_run_name(diagnosis.run)} --html report.html")
        screen.blank()
    _verdict(screen, diagnosis, verbose)
    if verbose >= 0 and (experiment := next_experiment(diagnosis)):
        screen.command("Next:", experiment)
    return str(screen)


def _findings(screen: Screen, diagnosis: Diagnosis, verbose: int) -> None:
    folded = fold(diagnosis.findings)
    brief = [cause for cause, effects in folded if cause.severity == "note" and not effects and verbose == 0]
    known = [cause for cause, effects in folded if verbose == 0 and cause.known and all(e.known for e in effects)]
    for cause, effects in folded:
        if cause not in brief and cause not in known:
            _finding(screen, cause, effects, diagnosis.run, verbose)
    _known(screen, known)
    for note in brief[:MOST_NOTES]:
        spot = f" ({place(note.where)[0]})" if place(note.where) else ""
        screen.line(f"{note.code} {note.name}: {note.what}{spot}", label=(f"{MARKS['note']} ", "bold blue"), indent=2)
    if len(brief) > MOST_NOTES:
        screen.line(f"and {plural(len(brief) - MOST_NOTES, 'more note')} (-v)", label="  ", indent=2)
    if brief:
        screen.blank()


def _known(screen: Screen, known: Sequence[Finding]) -> None:
    if known:
        screen.line(("Known, from the baseline", "bold"), " (-v shows them in full)")
    for finding in known:
        mark = (f"{MARKS[finding.severity or 'note']} ", STYLES[finding.severity or "note"])
        spot = f" ({place(finding.where)[0]})" if place(finding.where) else ""
        screen.line(f"{finding.code} {finding.name}{spot}", label=mark, indent=2)
    if known:
        screen.blank()


def _finding(screen: Screen, finding: Finding, effects: Sequence[Finding], run: RunFacts, verbose: int) -> None:
    severity = finding.severity or "note"
    head = (f"{finding.code} {finding.name}", "bold")
    screen.line(head, label=(f"{MARKS[severity]} ", STYLES[severity]), indent=2, right=moment(finding))
    _field(screen, "what", finding.what)
    _where(screen, finding, run)
    _field(screen, "why", finding.why)
    _field(screen, "try", finding.remedy, style="bold")
    if verbose >= 1:
        _evidence(screen, finding)
        if finding.consequence_of:
            _field(screen, "from", f"{finding.consequence_of}, which probably explains this")
    for effect in effects if verbose == 0 else ():
        _field(screen, "so", f"{effect.code} {effect.name}: {effect.what}")
    _field(screen, "more", f"paramedic explain {finding.code}")
    screen.blank()
    for effect in effects if verbose >= 1 else ():
        _finding(screen, effect, (), run, verbose)


def _field(screen: Screen, label: str, words: str, *, style: str = "") -> None:
    if words:
        screen.line((words, style), label=(f"  {label}", "dim"), indent=INDENT)


def _where(screen: Screen, finding: Finding, run: RunFacts) -> None:
    parts = places(finding, ranks=run.ranks)
    if not parts:
        return
    in_one_line = "   ·   ".join(parts)
    fits = len(in_one_line) <= screen.width - INDENT
    rest = ("   ·   " if fits else "\n").join(["", *parts[1:]])
    label = ("  where", "dim")
    screen.line((parts[0], screen.link(finding.where.file, finding.where.line)), rest, label=label, indent=INDENT)
    source = run.source.get(f"{finding.where.file}:{finding.where.line}", "")
    if source:
        screen.quote(source.strip(), indent=INDENT, style="cyan")


def _evidence(screen: Screen, finding: Finding) -> None:
    for order, fact in enumerate(map(measured, finding.evidence)):
        limit = f"   (limit {fact.limit})" if fact.limit else ""
        label = "  seen" if order == 0 else ""
        said = f"{fact.name}: {fact.value}" if fact.value else fact.name
        screen.line(said + limit, label=(label, "dim"), indent=INDENT)
        for row in columns(fact.table):
            screen.line(row, label=" " * (INDENT + 2), indent=INDENT + 2)
        if fact.more:
            screen.line(fact.more, label=" " * (INDENT + 2), indent=INDENT + 2)
    _field(screen, "sure", percent(finding.confidence))


def _notices(screen: Screen, notices: Sequence[str], verbose: int) -> None:
    shown = notices if verbose >= 1 else notices[:MOST_NOTICES]
    for notice in shown:
        screen.line(("Caveat: ", "bold"), notice)
    if len(notices) > len(shown):
        screen.line(f"and {plural(len(notices) - len(shown), 'more caveat')} (-v)")
    if notices:
        screen.blank()


def _not_checked(screen: Screen, diagnosis: Diagnosis, verbose: int) -> None:
    for title, little in (("Do not apply", False), ("Saw too little", True)):
        group = by_reason(rule for rule in diagnosis.abstained if saw_too_little(rule) is little)
        if group:
            screen.line((title, "bold"))
        for reason, codes, remedy in group:
            help = f" ({remedy})" if remedy else ""
            screen.line(reason, (help, "bold"), f": {' '.join(codes)}", label="  - ", indent=4)
        if group:
            screen.blank()
    if diagnosis.crashed:
        screen.line(("Rules that crashed", "bold"), " (a bug in the rule, not in your script)")
        for crash in diagnosis.crashed:
            screen.line(f"{crash.code}: {crash.error}", label="  - ", indent=4)
            if verbose >= 2:
                screen.verbatim(crash.traceback, indent=4, style="dim")
        screen.blank()


def _times(screen: Screen, run: RunFacts) -> None:
    if not run.times:
        return
    screen.line(("Time of a step ", "bold"), short_time(sum(time.seconds for time in run.times)))
    for time in run.times:
        part, seconds = PARTS.get(time.part, time.part), short_time(time.seconds)
        if screen.width < WIDE_ENOUGH:
            screen.line(f"{part} {seconds}, {100 * time.share:.0f} %", label="  ", indent=2)
        else:
            screen.line(f"{seconds:>7} {100 * time.share:4.0f} %  {bar(time.share)}", label=f"  {part}", indent=26)
    screen.blank()


def _data(screen: Screen, run: RunFacts) -> None:
    for line in run.data:
        label, _, words = line.partition(": ")
        screen.line(words, label=(f"{label}", "dim"), indent=INDENT)
    if run.data:
        screen.blank()


def _memory(screen: Screen, run: RunFacts) -> None:
    if run.memory:
        screen.line(("Memory", "bold"))
        for line in run.memory:
            screen.line(line, label="  - ", indent=4)
        screen.blank()


def _run_name(run: RunFacts) -> str:
    """What `paramedic report` will find: the id where runs usually are, otherwise the folder."""
    record = shortest(run.record)
    usual = record == f"{DEFAULT_RUNS}/{run.id}"
    return shlex.quote(run.id if usual else record)


def _verdict(screen: Screen, diagnosis: Diagnosis, verbose: int) -> None:
    why = " (-v says why)" if verbose < 1 else ""
    how = " (-vv shows how)" if verbose < 2 else ""
    word = (f"{headline(diagnosis)}.", VERDICT_STYLES[tone(diagnosis)])
    screen.line(("Verdict: ", "bold"), word, " " + verdict(diagnosis, why=why, how=how))
