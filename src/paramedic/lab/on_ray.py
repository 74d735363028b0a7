"""Run experiments on a Ray cluster. Folder and script travel to a worker; the record of the run comes back.

A task starts a process of its own for the script, as on this machine: if that dies, the task lives to tell.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paramedic.aliases import Fields
from paramedic.errors import ParamedicError
from paramedic.lab import scratch
from paramedic.lab.experiment import Experiment, Result, Status
from paramedic.lab.outcome import measure
from paramedic.launch import Target
from paramedic.paths import make_private_folder
from paramedic.settings import Settings


@dataclass(slots=True, kw_only=True)
class Task:
    """An experiment under way on some machine of the cluster."""

    experiment: Experiment
    reference: Any
    settings: Settings
    limit: float
    started: float = field(default_factory=time.perf_counter)


class RayRunner:
    """The same doors as Runner."""

    def __init__(self, target: Target, folder: Path, *, jobs: int | None, address: str) -> None:
        self.target, self.folder = target, folder.absolute()
        self._ray = _connected(address)
        self.jobs = jobs or max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        self.limit = 120.0
        self.running: list[Task] = []
        self._packed = self._ray.put(_packed_folder(Path.cwd()))

    @property
    def free(self) -> bool:
        return len(self.running) < self.jobs

    def folder_of(self, name: str) -> Path:
        return self.folder if name == "baseline" else self.folder / name

    def start(
        self,
        experiment: Experiment,
        settings: Settings,
        edited: Mapping[str, bytes] | None = None,
        args: tuple[str, ...] | None = None,
    ) -> None:
        """`edited` are files that differ in the copy of the folder, by their names in it; `args` other arguments."""
        words = self.target.args if args is None else args
        target = {"script": self.target.name, "args": words, "is_module": self.target.is_module}
        task = self._ray.remote(num_cpus=1, max_retries=0)(_run_script)
        sent = task.remote(
            self._packed, target, settings.as_dict(), os.getcwd(), self.limit, sys.path, dict(edited or {})
        )
        self._started(experiment, sent, settings)

    def start_function(self, experiment: Experiment, function: Callable[[], object]) -> None:
        """Simple models are fitted where the samples have come back to: here, in a process of its own."""
        captured, folder = self.folder / "captured.npz", self.folder_of(experiment.name)
        data = captured.read_bytes() if captured.exists() else b""
        task = self._ray.remote(num_cpus=1, max_retries=0)(_fit_simple_models)
        self._started(experiment, task.remote(data, sys.path), Settings())
        make_private_folder(folder)

    def _started(self, experiment: Experiment, reference: Any, settings: Settings) -> None:
        limit = 3 * self.limit  # until a worker is free
        self.running.append(Task(experiment=experiment, reference=reference, settings=settings, limit=limit))

    def finished(self) -> list[Result]:
        results = []
        for task in list(self.running):
            ready, _ = self._ray.wait([task.reference], timeout=0)
            seconds = time.perf_counter() - task.started
            if ready:
                results.append(self._received(task, seconds))
            elif seconds > task.limit:
                self._ray.cancel(task.reference, force=True)
                results.append(self._over(task, "hung", f"still running after {task.limit:.0f} s", seconds))
        return results

    def stop(self, *, status: Status = "interrupted") -> list[Result]:
        results = []
        for task in list(self.running):
            self._ray.cancel(task.reference, force=True)
            results.append(self._over(task, status, "stopped early", time.perf_counter() - task.started))
        return results

    def _received(self, task: Task, seconds: float) -> Result:
        try:
            state, reason, packed, ran = self._ray.get(task.reference)
        except Exception as error:  # the worker itself is gone
            return self._over(task, "crashed", f"{type(error).__name__} on the cluster", seconds)
        with zipfile.ZipFile(io.BytesIO(packed)) as files:
            files.extractall(self.folder_of(task.experiment.name))
        return self._over(task, state, reason, ran)

    def _over(self, task: Task, status: Status, reason: str, seconds: float) -> Result:
        self.running.remove(task)
        folder = self.folder_of(task.experiment.name)
        return measure(task.experiment, folder, status, reason=reason, seconds=seconds, wanted=task.settings)


def _connected(address: str) -> Any:
    try:
        import ray
    except ImportError:
        raise ParamedicError(
            "--on ray needs Ray, which is not installed", expected="the extra ray", fix="pip install 'paramedic[ray]'"
        ) from None
    if address != "ray" and not address.startswith("ray://"):
        raise ParamedicError(f"--on {address} is unknown", expected="ray, or ray://HOST:PORT", fix="--on ray")
    if not ray.is_initialized():
        named = None if address == "ray" else address  # a cluster that runs here is found, or one is started
        try:
            ray.init(address=named, log_to_driver=False, logging_level="ERROR", include_dashboard=False)
        except (ConnectionError, RuntimeError) as error:
            raise ParamedicError(
                f"no Ray cluster answers: {str(error).splitlines()[0]}",
                expected=f"a cluster at {address}" if named else "a cluster, or a machine that can start one",
                fix="ray status there; or without --on, on this machine",
            ) from None
    return ray


def _packed_folder(folder: Path) -> bytes:
    """The files as a zip; large ones as links, for folders that all machines of the cluster see."""
    with tempfile.TemporaryDirectory() as place:
        scratch.copy(folder, Path(place))
        return _zipped(Path(place))


def _zipped(folder: Path) -> bytes:
    packed, links = io.BytesIO(), {}
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as files:
        for path in sorted(folder.rglob("*")):
            name = str(path.relative_to(folder))
            if path.is_symlink():
                links[name] = str(path.resolve())
            elif path.is_file():
                files.write(path, name)
        files.writestr(LINKS, json.dumps(links))
    return packed.getvalue()


LINKS = ".paramedic-links.json"


def _unzipped(packed: bytes, folder: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(packed)) as files:
        files.extractall(folder)
    for name, target in json.loads((folder / LINKS).read_text()).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(target)
    (folder / LINKS).unlink()


# On a worker --------------------------------------------------------------------------------------------------------


def _run_script(
    packed: bytes,
    target: Fields,
    settings: dict[str, object],
    original: str,
    limit: float,
    path: list[str],
    edited: dict[str, bytes],
) -> tuple[Status, str, bytes, float]:
    place = Path(tempfile.mkdtemp(prefix="paramedic-"))
    try:
        work, record = place / "work", place / "record"
        work.mkdir()
        _unzipped(packed, work)
        scratch.exchange(work, edited)
        order = target | {"folder": str(record), "settings": settings, "cwd": str(work), "threads": 1}
        order["original"] = original if os.path.isdir(original) else None
        return _in_a_process([sys.executable, "-m", "paramedic.lab.child"], json.dumps(order), record, limit, path)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _fit_simple_models(data: bytes, path: list[str]) -> tuple[Status, str, bytes, float]:
    place = Path(tempfile.mkdtemp(prefix="paramedic-"))
    try:
        if data:
            (place / "captured.npz").write_bytes(data)
        command = [sys.executable, "-m", "paramedic.lab.classical", str(place / "captured.npz"), str(place / "answer")]
        return _in_a_process(command, "", place / "answer", 120.0, path)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _in_a_process(
    command: list[str], words: str, folder: Path, limit: float, path: list[str]
) -> tuple[Status, str, bytes, float]:
    began = time.perf_counter()
    known = os.pathsep.join(part for part in path if part and os.path.exists(part))
    try:
        done = subprocess.run(
            command, input=words, capture_output=True, text=True, timeout=limit, env={**os.environ, "PYTHONPATH": known}
        )
    except subprocess.TimeoutExpired:
        return "hung", f"still running after {limit:.0f} s", _zipped(folder), time.perf_counter() - began
    status: Status = "ended" if done.returncode == 0 else "crashed"
    status = "out of memory" if done.returncode == -9 else status
    reason = "" if done.returncode == 0 else f"exit code {done.returncode}"
    return status, reason, _zipped(folder), time.perf_counter() - began
