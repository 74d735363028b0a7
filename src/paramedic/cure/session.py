"""One cure: examine the program, try edits for its findings in order of cause, examine it again after each."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paramedic.cure.catalogue import edits_for, remedies_for
from paramedic.cure.edit import Edit
from paramedic.cure.project import NotEditable, Project
from paramedic.cure.proof import Proof, Trial, lacks_scores, prove
from paramedic.cure.scores import printed
from paramedic.diagnosis import diagnose
from paramedic.errors import ParamedicError
from paramedic.findings import Diagnosis, Finding
from paramedic.findings.words import plural
from paramedic.lab.child import OUTPUT
from paramedic.lab.experiment import Experiment, Result
from paramedic.lab.runner import Runner
from paramedic.rules.rule import Rule
from paramedic.settings import Settings

if TYPE_CHECKING:
    from paramedic.lab.on_ray import RayRunner

MOST_ROUNDS = 30  # every confirmed edit leaves fewer alarms, so this is a fence, not a limit one meets
MOST_CANDIDATES = 6  # edits tried for one finding
LONGEST = 300.0  # seconds of the first run; the others may take three times as long as it did
LEAST = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncured:
    """A finding for which no edit was confirmed, and why."""

    finding: Finding
    reason: str


@dataclass(slots=True, kw_only=True)
class Outcome:
    """All that a report may say."""

    first: Trial
    last: Trial
    project: Project  # with all confirmed edits
    confirmed: list[Proof] = field(default_factory=list)
    refuted: list[Proof] = field(default_factory=list)  # tried for what is left, in the program with all edits
    uncured: list[Uncured] = field(default_factory=list)
    recorded: Trial | None = None  # the run that the findings were taken from, where one was named
    unseen: list[Uncured] = field(default_factory=list)  # found in that run, and not in the ones that are compared

    @property
    def known(self) -> Diagnosis | None:
        """What is wrong with the program as it is."""
        return (self.recorded or self.first).diagnosis

    @property
    def left(self) -> list[Finding]:
        """What is still wrong with all edits."""
        return [*self.last.alarms, *(uncured.finding for uncured in self.unseen)]


class Session:
    """`tick` is called again and again with the names of the runs under way."""

    def __init__(
        self,
        runner: Runner | RayRunner,
        rules: Sequence[Rule],
        options: Mapping[str, Mapping[str, Any]],
        *,
        steps: int,
        unsafe: bool,
        tick: Callable[[Sequence[str]], None],
    ) -> None:
        self.runner, self.rules, self.options = runner, rules, options
        self.steps, self.unsafe, self.tick = steps, unsafe, tick
        self._tried = 0
        self._ahead: dict[Edit, Trial] = {}  # of the program as it is: tried beside its own run

    def cure(self, project: Project, recorded: Trial | None = None) -> Outcome:
        """`recorded` is an earlier run: what it found is tried while the program runs once more to compare with."""
        ahead = self._first_edits(recorded, project) if recorded is not None else []
        if recorded is not None and not ahead:
            return self._without_runs(recorded, project)
        first = self._first(project, ahead[: self.runner.jobs - 1])
        outcome = Outcome(first=first, last=first, project=project, recorded=recorded)
        outcome.unseen = _unseen(recorded, first) if recorded is not None else []
        for _ in range(MOST_ROUNDS):
            given_up = [uncured.finding for uncured in outcome.uncured]
            finding = next((found for found in outcome.last.alarms if found not in given_up), None)
            if finding is None:
                break
            self._treat(finding, outcome)
        return outcome

    def _first_edits(self, recorded: Trial, project: Project) -> list[Edit]:
        """For the first finding that there are edits for."""
        each = (self._candidates(finding, project)[0] for finding in recorded.alarms)
        return next((edits for edits in each if edits), [])

    def _without_runs(self, recorded: Trial, project: Project) -> Outcome:
        """Nothing was found, or nothing for which there is an edit."""
        reasons = [(finding, self._candidates(finding, project)[1]) for finding in recorded.alarms]
        uncured = [Uncured(finding=finding, reason=reason) for finding, reason in reasons]
        return Outcome(first=recorded, last=recorded, project=project, uncured=uncured, recorded=recorded)

    def _first(self, project: Project, ahead: Sequence[Edit]) -> Trial:
        """The program as it is, and beside it with each of these edits."""
        names = self._names(ahead)
        edited = [(name, project.after(edit)) for name, edit in zip(names, ahead, strict=True)]
        first, *others = self._try([("baseline", project), *edited], LONGEST)
        self._ahead = dict(zip(ahead, others, strict=True))
        return first

    def _names(self, edits: Sequence[Edit]) -> list[str]:
        self._tried += len(edits)
        return [f"edit-{self._tried - len(edits) + number}" for number in range(1, len(edits) + 1)]

    def _treat(self, finding: Finding, outcome: Outcome) -> None:
        """Take over the first edit that is confirmed, in the order in which the remedies propose them.

        What was given up before is looked at anew then: faults hide each other, and an edit that does not help in one
        program may help in the next.
        """
        edits, reason = self._candidates(finding, outcome.project)
        refuted: list[Proof] = []
        for start in range(0, len(edits), self.runner.jobs):
            try:
                proofs = self._prove(edits[start : start + self.runner.jobs], finding, outcome)
            except ParamedicError as error:  # the edited file cannot be put into a copy of the folder
                reason = error.what
                break
            best = next((proof for proof in proofs if proof.confirmed), None)
            if best is not None:
                outcome.confirmed.append(best)
                outcome.project, outcome.last = outcome.project.after(best.edit), best.after
                outcome.refuted, outcome.uncured = [], []
                return
            refuted += proofs
        outcome.refuted += refuted
        outcome.uncured.append(Uncured(finding=finding, reason=reason or "no edit that was tried is confirmed"))

    def _prove(self, edits: Sequence[Edit], finding: Finding, outcome: Outcome) -> list[Proof]:
        """Run the program with each of these edits, and compare with the run before."""
        known = {} if outcome.confirmed else self._ahead
        waiting = [edit for edit in edits if edit not in known]
        limit = max(LEAST, 3 * outcome.first.result.seconds)
        projects = [outcome.project.after(edit) for edit in waiting]
        trials = self._try(list(zip(self._names(waiting), projects, strict=True)), limit)
        trial_of = known | dict(zip(waiting, trials, strict=True))
        proofs = [
            prove(edit, outcome.project.text_before(edit), finding, outcome.last, trial_of[edit]) for edit in edits
        ]
        return [self._by_answers(proof, outcome) if lacks_scores(proof) else proof for proof in proofs]

    def _by_answers(self, proof: Proof, outcome: Outcome) -> Proof:
        """Run both programs once more, and compare how good their answers are on the batches they train on."""
        projects = {"answers-before": outcome.project, "answers-after": outcome.project.after(proof.edit)}
        self._tried += 1
        wanted = [(f"{name}-{self._tried}", project) for name, project in projects.items()]
        limit = max(LEAST, 3 * outcome.first.result.seconds)
        results = self._run(wanted, limit, intervention="answers")
        scores = [(result.noted or {}).get("answers", {}) for result in results]
        before, after = (
            replace(trial, metrics=trial.metrics | more)
            for trial, more in zip((proof.before, proof.after), scores, strict=True)
        )
        return prove(proof.edit, proof.text, proof.finding, before, after)

    def _candidates(self, finding: Finding, project: Project) -> tuple[list[Edit], str]:
        """Edits to try, or why there are none."""
        if not remedies_for(finding.code):
            return [], f"there is no remedy for {finding.code} yet"
        try:
            edits = list(edits_for(finding, project.source(finding.where.file)))
        except NotEditable as error:
            return [], str(error)
        except ParamedicError as error:
            return [], error.what
        except Exception as error:  # a bad remedy must never cost the report
            return [], f"the remedy failed: {type(error).__name__}: {error}"
        wanted = [edit for edit in edits if self.unsafe or edit.safety == "safe"]
        if edits and not wanted:
            return [], "the only edits take a judgement: --unsafe tries them"
        return wanted[:MOST_CANDIDATES], "" if wanted else "the code there is not written in a way the remedy knows"

    # Runs -------------------------------------------------------------------------------------------------------------

    def _try(self, wanted: Sequence[tuple[str, Project]], limit: float) -> list[Trial]:
        return [self._trial(result) for result in self._run(wanted, limit)]

    def _run(
        self, wanted: Sequence[tuple[str, Project]], limit: float, intervention: str | None = None
    ) -> list[Result]:
        results: dict[str, Result] = {}
        waiting = list(wanted)
        while waiting or self.runner.running:
            while waiting and self.runner.free:
                self._start(*waiting.pop(0), limit, intervention)
            self.tick([job.experiment.name for job in self.runner.running])
            results |= {result.name: result for result in self.runner.finished()}
            time.sleep(0.03)
        return [results[name] for name, _ in wanted]

    def _start(self, name: str, project: Project, limit: float, intervention: str | None) -> None:
        experiment = Experiment(name=name, changed="an edit of the source", order="", asks="does the edit help?")
        settings = Settings(stop_after=self.steps, stop_after_seconds=limit, bundle_limit=0, intervention=intervention)
        self.runner.limit = 2 * limit
        self.runner.start(experiment, settings, edited=project.changed(), args=project.args)

    def _trial(self, result: Result) -> Trial:
        folder = Path(result.run)
        if not (folder / "main.db").exists():
            return Trial(result=result, diagnosis=None)
        try:
            diagnosis = diagnose(folder, self.rules, self.options)
        except ParamedicError:
            return Trial(result=result, diagnosis=None)
        return Trial(result=result, diagnosis=diagnosis, metrics=printed(folder / OUTPUT))


def _unseen(recorded: Trial, first: Trial) -> list[Uncured]:
    """What the recorded run had shown, and the run to compare with does not: no edit could be said to help."""
    shown = {finding.code for finding in first.alarms}
    steps, all_steps = first.result.steps, recorded.result.steps
    more = f"; --steps {all_steps} compares runs as long as that one" if steps < all_steps else ""
    reason = f"it does not show within {plural(steps, 'step')} when the script runs again{more}"
    return [Uncured(finding=finding, reason=reason) for finding in recorded.alarms if finding.code not in shown]
