"""One investigation: make the experiments that are worth making, keep what they say, come to a conclusion."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from paramedic.diagnosis import diagnose
from paramedic.findings import Diagnosis
from paramedic.lab import plan, verdict
from paramedic.lab.catalogue import BASELINE, EXAM, folds
from paramedic.lab.experiment import Experiment, Result
from paramedic.lab.meanings import meaning
from paramedic.lab.on_ray import RayRunner
from paramedic.lab.reasoning import readings
from paramedic.lab.runner import Runner
from paramedic.record.facts import Trial
from paramedic.record.reader import Run, open_runs
from paramedic.record.writer import append
from paramedic.rules.experiments import Lab
from paramedic.rules.rule import Abstain, Rule
from paramedic.settings import Settings

SIMPLE_LIMIT = 120.0
LEAST_LIMIT = 20.0  # seconds before an experiment counts as hung


@dataclass(slots=True, kw_only=True)
class Options:
    """What the user may choose."""

    steps: int = 300
    time_limit: float = 300.0
    only: tuple[Experiment, ...] = ()
    folds: int = 0  # of the script's own model


class Session:
    """Collects results; `said` is called with every new one and what it means."""

    def __init__(
        self,
        runner: Runner | RayRunner,
        options: Options,
        rules: Sequence[Rule],
        rule_options: Mapping[str, Mapping[str, object]],
        said: Callable[[Result, str], None],
    ) -> None:
        self.runner, self.options, self.said = runner, options, said
        self.rules, self.rule_options = rules, rule_options
        self.results: dict[str, Result] = {}
        self.started = time.perf_counter()

    def investigate(self, tick: Callable[[Sequence[str]], None]) -> None:
        """Make the experiments. Ctrl-C and the time limit end it early, with what is known so far."""
        try:
            self._make([BASELINE], tick)
            while self.results["baseline"].steps and self._seconds_left() > 0:
                wanted = self._next()
                if not wanted:
                    return
                self._make(wanted, tick)
        except KeyboardInterrupt:
            self._keep(self.runner.stop())

    def conclude(self) -> verdict.Conclusion:
        diagnosis, run = self._diagnosis(), self._run()
        cause, confidence, because = verdict.conclude(diagnosis, run)
        lab = verdict.lab_of(run)
        if cause != "none" and diagnosis.verdict == "healthy":
            diagnosis = replace(diagnosis, verdict="inconclusive", reason=because)
        return verdict.Conclusion(
            cause=cause,
            confidence=confidence,
            because=because,
            reasoning=readings(lab) if lab is not None else (),
            diagnosis=diagnosis,
            results=tuple(self.results.values()),
            seconds=time.perf_counter() - self.started,
            meanings=tuple(self._meaning(run, result) for result in self.results.values()),
        )

    # Steps of it ----------------------------------------------------------------------------------------------------

    def _next(self) -> tuple[Experiment, ...]:
        if self.options.only:
            return self._not_yet(self.options.only)
        diagnosis, run = self._diagnosis(), self._run()
        sure = [f for f in diagnosis.findings if f.severity == "error" and not f.code.startswith(verdict.SILENT)]
        named = any(verdict.cause_of(f) != "unknown" and f.confidence >= 0.9 for f in sure)
        cause, *_ = verdict.conclude(diagnosis, run)
        wanted = plan.stage(run, self.results, named=named, found=cause not in ("none", "unknown"))
        return wanted or self._not_yet(folds(self.options.folds))

    def _not_yet(self, experiments: tuple[Experiment, ...]) -> tuple[Experiment, ...]:
        return tuple(experiment for experiment in experiments if experiment.name not in self.results)

    def _make(self, experiments: Sequence[Experiment], tick: Callable[[Sequence[str]], None]) -> None:
        waiting = list(experiments)
        while waiting or self.runner.running:
            while waiting and self.runner.free and self._seconds_left() > 0:
                self._start(waiting.pop(0))
            tick([job.experiment.name for job in self.runner.running])
            self._keep(self.runner.finished())
            if self._seconds_left() <= 0:
                self._keep(self.runner.stop())
                return
            time.sleep(0.03)

    def _start(self, experiment: Experiment) -> None:
        if experiment.name == "simple-models":
            from paramedic.lab import classical

            folder = self.runner.folder_of(experiment.name)
            captured = self.runner.folder / "captured.npz"
            self.runner.limit = SIMPLE_LIMIT
            self.runner.start_function(experiment, lambda: classical.answer(captured, folder))
            return
        base = self.results.get("baseline")
        steps = self.options.steps if base is None else experiment.steps or max(base.steps, 1)
        steps *= 4 if experiment.name == "longer" else 1
        seconds = 0.25 * self.options.time_limit if base is None else max(2.5 * base.seconds, 5.0)
        seconds *= 4 if experiment.name == "longer" else 1
        order = experiment.order
        if order.startswith("held_out"):
            order = f"held_out={max(steps - EXAM, steps // 2)}{order.partition('=')[2]}"
            order += (
                ",unchanged" if experiment.name == "longer" else ""
            )  # it tells something without an examination too
        settings = Settings(stop_after=steps, stop_after_seconds=seconds, intervention=order, bundle_limit=0)
        if base is not None:
            settings = replace(settings, probes=False, budget=0.0, on_nan="continue")
        self.runner.limit = max(LEAST_LIMIT, 2 * seconds)
        self.runner.start(replace(experiment, order=order), settings)

    def _keep(self, results: Sequence[Result]) -> None:
        for result in results:
            self.results[result.name] = result
            if (self.runner.folder / "main.db").exists():
                append(self.runner.folder / "main.db", Trial(**asdict(result)))
                self.said(result, self._meaning(self._run(), result))
            else:
                self.said(result, result.reason or result.status)

    def _meaning(self, run: Run, result: Result) -> str:
        try:
            return meaning(Lab(run), result.name)
        except Abstain as why:
            return result.reason or (str(why) if result.name == "baseline" else "")

    def _diagnosis(self) -> Diagnosis:
        return diagnose(self.runner.folder, self.rules, self.rule_options)

    def _run(self) -> Run:
        runs = open_runs(self.runner.folder)
        return next((run for run in runs if run.facts(Trial)), runs[0])

    def _seconds_left(self) -> float:
        return self.options.time_limit - (time.perf_counter() - self.started)


def cost(results: Sequence[Result]) -> float:
    """All experiments together, as a multiple of the baseline."""
    base = next((result.seconds for result in results if result.name == "baseline"), 0.0)
    return sum(result.seconds for result in results) / base if base else math.nan
