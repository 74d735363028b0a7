"""Run experiments in processes of their own. One that crashes, hangs or runs out of memory is a result."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from paramedic.errors import ParamedicError
from paramedic.lab import child, scratch
from paramedic.lab.experiment import Experiment, Order, Result, Status
from paramedic.lab.outcome import measure
from paramedic.launch import Target
from paramedic.paths import make_private_folder
from paramedic.settings import Settings

POLL = 0.05  # seconds


@dataclass(slots=True, kw_only=True)
class Job:
    """An experiment under way."""

    experiment: Experiment
    pid: int
    folder: Path
    scratch: Path | None
    settings: Settings
    started: float = field(default_factory=time.perf_counter)
    limit: float  # seconds until it counts as hung


class Runner:
    """Starts processes by forking: this one has imported torch already, which would otherwise cost seconds each time.

    It must never compute anything itself, for threads do not survive a fork.
    """

    def __init__(self, target: Target, folder: Path, *, jobs: int, in_place: bool) -> None:
        self.target = target
        self.folder = folder.absolute()
        self.jobs = jobs
        self.in_place = in_place
        self.running: list[Job] = []
        self.limit = 120.0  # seconds for one experiment
        self.threads = _wanted_threads() or max(1, _cores() // jobs)

    @property
    def free(self) -> bool:
        return len(self.running) < self.jobs

    def folder_of(self, name: str) -> Path:
        """The baseline is the run itself; all others are kept below it."""
        return self.folder if name == "baseline" else self.folder / name

    def start(
        self,
        experiment: Experiment,
        settings: Settings,
        edited: Mapping[str, bytes] | None = None,
        args: tuple[str, ...] | None = None,
    ) -> None:
        """`edited` are files that differ in the copy of the folder, by their names in it; `args` other arguments."""
        copied = None if self.in_place else self._copied(edited or {})
        original = None if self.in_place else Path.cwd()
        target = self.target if args is None else replace(self.target, args=args)
        order = make_order(
            target, self.folder_of(experiment.name), settings, cwd=copied or Path.cwd(), original=original
        )
        order = replace(order, threads=self.threads)
        self._fork(experiment, settings, copied, lambda: child.carry_out(order))

    def start_function(self, experiment: Experiment, function: Callable[[], object]) -> None:
        """An experiment that is not a run of the script."""

        def call() -> None:
            try:
                function()
                child.leave(0)
            except BaseException as error:
                print(f"{type(error).__name__}: {error}", file=sys.stderr)
                child.leave(1)

        self._fork(experiment, Settings(), None, call)

    def _copied(self, edited: Mapping[str, bytes]) -> Path:
        place = Path(tempfile.mkdtemp(prefix="paramedic-"))
        scratch.copy(Path.cwd(), place)
        scratch.exchange(place, edited)
        return place

    def _fork(
        self, experiment: Experiment, settings: Settings, copied: Path | None, body: Callable[[], object]
    ) -> None:
        folder = self.folder_of(experiment.name)
        make_private_folder(folder)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        pid = os.fork()
        if pid == 0:
            try:
                body()
            finally:
                os._exit(1)
        job = Job(experiment=experiment, pid=pid, folder=folder, scratch=copied, settings=settings, limit=self.limit)
        self.running.append(job)

    # Ends ---------------------------------------------------------------------------------------------------------

    def finished(self) -> list[Result]:
        """Those that have ended since the last call, hung ones ended by force."""
        results = []
        for job in list(self.running):
            seconds = time.perf_counter() - job.started
            pid, state = os.waitpid(job.pid, os.WNOHANG)
            if pid:
                results.append(self._over(job, *_status(state), seconds))
            elif seconds > job.limit:
                _end(job.pid)
                reason = f"still running after {job.limit:.0f} s"
                results.append(self._over(job, "hung", reason, seconds))
        return results

    def wait(self) -> list[Result]:
        """Block until at least one has ended."""
        while self.running:
            results = self.finished()
            if results:
                return results
            time.sleep(POLL)
        return []

    def stop(self, *, status: Status = "interrupted") -> list[Result]:
        """End all that are under way."""
        results = []
        for job in list(self.running):
            _end(job.pid)
            results.append(self._over(job, status, "stopped early", time.perf_counter() - job.started))
        return results

    def _over(self, job: Job, status: Status, reason: str, seconds: float) -> Result:
        self.running.remove(job)
        result = measure(job.experiment, job.folder, status, reason=reason, seconds=seconds, wanted=job.settings)
        if job.scratch is not None:
            shutil.rmtree(job.scratch, ignore_errors=True)
        return result


def make_order(target: Target, folder: Path, settings: Settings, *, cwd: Path, original: Path | None) -> Order:
    """What a process must know; `cwd` is a copy of the folder `original`, where there is one."""
    script = target.name
    if original is not None and not target.is_module and os.path.isabs(script):
        with contextlib.suppress(ValueError):  # a script elsewhere stays where it is
            script = str(cwd / Path(script).resolve().relative_to(original))
    return Order(
        script=script,
        args=target.args,
        is_module=target.is_module,
        folder=str(folder),
        settings=settings.as_dict(),
        cwd=str(cwd),
        original=None if original is None else str(original),
        threads=1,
    )


def _wanted_threads() -> int:
    """What the user has asked for; 0 if nothing."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return int(asked) if asked.isdigit() else 0


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def prepare() -> None:
    """Import what every experiment needs, once. No thread may be started before the last fork."""
    if not hasattr(os, "fork"):
        raise ParamedicError(
            "experiments need a system that can fork processes", expected="Linux or macOS", fix="--on ray, or WSL"
        )
    import torch._dynamo  # noqa: F401

    import paramedic.capture.attach  # noqa: F401


def _status(state: int) -> tuple[Status, str]:
    if os.WIFSIGNALED(state):
        number = os.WTERMSIG(state)
        if number == signal.SIGKILL:
            return "out of memory", "killed, most likely because memory ran out"
        return "crashed", f"ended by {signal.Signals(number).name}"
    code = os.WEXITSTATUS(state)
    return ("ended", "") if code == 0 else ("crashed", f"exit code {code}")


def _end(pid: int) -> None:
    """The process and all it has started: it is the head of a session of its own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)
