"""The log of a run: one line per moment, as JSON in the run's folder and, on request, for people on stderr."""

from __future__ import annotations

import os
import time
from json import dumps  # now: the script may put a function of its own in its place
from pathlib import Path

import psutil

from paramedic import descriptors, voice
from paramedic.aliases import Fields
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.moments import Lap
from paramedic.capture.probe import probe
from paramedic.capture.sources.clock import EVALUATION
from paramedic.capture.watcher import Watcher
from paramedic.logged import SERIES as LOGGED
from paramedic.paths import append_private, make_private_folder

SHORTEST = 0.1  # seconds between two lines
SHARE = 1 / 2000  # of the run's length so far: the log grows with the logarithm of the run's length
MEMORY_EVERY = 1.0  # seconds


@probe("log")
class Log:
    """Adds up steps until a line is due. Training and evaluation are written with the same keys."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        name = watcher.writer.path.stem
        self.file_name = "log.jsonl" if name == "main" else f"log-{name}.jsonl"
        self.human = watcher.settings.log and name in ("main", "rank0")
        self._file: int | None = None
        self._failed = False
        self._began = time.perf_counter()
        self._written = {"train": self._began, "eval": self._began}
        self._steps = {"train": 0, "eval": 0}
        self._seconds = {"train": 0.0, "eval": 0.0}
        self._samples = {"train": 0, "eval": 0}
        self._watched = {"train": 0.0, "eval": 0.0}  # seconds of the steps whose batches were seen
        self._shapes: dict[str, list[list[int]] | None] = {"train": None, "eval": None}
        self._phase = "train"  # of the last batch
        self._counted = 0.0  # seconds of evaluation since the last step that were added up
        self._step = {"train": 0, "eval": 0}
        self._memory: tuple[float, int | None] = (float("-inf"), None)
        self._waiting: Fields | None = None  # a line that is complete but for the gradients of its step
        self._told: dict[str, tuple[int, float]] = {}  # logged values that a line has shown

    @on(moments.lap_over)
    def stepped(self, lap: Lap) -> None:
        self._write_waiting()
        evaluation = lap.parts.get(EVALUATION, 0.0)
        if self._steps["eval"]:
            self._seconds["eval"] += max(evaluation - self._counted, 0.0)
            self._watched["eval"] = self._seconds["eval"]
            self._write_if_due("eval")
        self._counted = 0.0
        self._steps["train"] += lap.steps
        self._seconds["train"] += lap.seconds - evaluation
        self._watched["train"] += lap.seconds - evaluation if lap.watched else 0.0
        self._step["train"] = lap.step
        self._write_if_due("train")

    @on(moments.evaluation_timed)
    def evaluated(self, seconds: float) -> None:
        """One more batch to evaluate; evaluation has taken so many seconds since the last step."""
        self._seconds["eval"] += seconds - self._counted
        self._watched["eval"] = self._seconds["eval"]
        self._counted = seconds
        if seconds > SHORTEST and self._steps["eval"]:  # a short one is written when it is over
            self._write_if_due("eval")
        self._steps["eval"] += 1  # not before: it may be the first batch of a new loader to train on
        self._step["eval"] = self.watcher.step

    @on(moments.trained_after_all)
    def take_back(self) -> None:
        """What the last batch has added to the evaluation belongs to the step that it is trained on."""
        shapes, self._shapes["eval"] = self._shapes["eval"], None
        self._steps["eval"] = max(self._steps["eval"] - 1, 0)
        self._samples["eval"] -= (size := _size_of(shapes))
        self._phase, self._shapes["train"] = "train", shapes
        self._samples["train"] += size

    @on(moments.batch_shapes)
    def got(self, shapes: list[list[int]], evaluating: bool) -> None:
        """A batch has come."""
        self._phase = "eval" if evaluating else "train"
        self._shapes[self._phase] = shapes
        self._samples[self._phase] += _size_of(shapes)

    @on(moments.run_over)
    def finish(self) -> None:
        self._write_waiting()
        for phase in ("eval", "train"):
            if self._steps[phase] or (phase == "train" and self._untold()):
                self._write(phase)
        self._write_waiting()
        self._close()

    @on(moments.forked)
    def forget(self, name: str) -> None:
        """In a forked child: the file belongs to the parent; there will be another one if the child trains."""
        self._file, self.human, self.file_name = None, False, f"log-{name}.jsonl"
        self._steps = {"train": 0, "eval": 0}

    def _write_if_due(self, phase: str) -> None:
        now, every = time.perf_counter(), self.watcher.settings.log_every
        if every is not None and phase == "train":
            step = self._step["train"]
            if step // every > (step - self._steps["train"]) // every:
                self._write("train")
            return
        if now - self._written[phase] >= max(SHORTEST, SHARE * (now - self._began)):
            self._write(phase)

    def _write(self, phase: str) -> None:
        line = self._line(phase)
        self._written[phase] = time.perf_counter()
        self._steps[phase], self._seconds[phase], self._samples[phase], self._watched[phase] = 0, 0.0, 0, 0.0
        self._write_waiting()
        if phase == "train":
            self._waiting = line  # statistics of a step are read one step later
        else:
            self._put(line)

    def _write_waiting(self) -> None:
        line, self._waiting = self._waiting, None
        if line is not None:
            step, norm = self.watcher.writer.latest.get("gradient_norm", (-1, None))
            if line["step"] - line["steps"] <= step < line["step"]:
                line["gradient_norm"] = norm
            self._put(line)

    def _put(self, line: Fields) -> None:
        if self.human:
            voice.say(for_people(line))
        if self._failed:
            return
        try:
            if self._file is None or not descriptors.is_ours(self._file):
                path = Path(self.watcher.writer.path).parent / self.file_name
                make_private_folder(path.parent)
                self._file = descriptors.keep(append_private(path))
            os.write(self._file, (dumps(line) + "\n").encode())
        except OSError:  # the record says what is wrong with the folder
            self._failed = True
            self._close()

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            descriptors.close(file)

    def _line(self, phase: str) -> Fields:
        seconds, steps = self._seconds[phase], self._steps[phase]
        watched, samples = self._watched[phase], self._samples[phase]
        latest = self.watcher.writer.latest
        losses = "loss:" if phase == "train" else "eval_loss:"
        return {
            "time": round(time.time(), 3),
            "phase": phase,
            "step": self._step[phase],
            "steps": steps,
            "loss": self._fresh_ones(losses, phase),
            "learning_rate": [latest[name][1] for name in sorted(latest) if name.startswith("lr:")],
            "gradient_norm": self._fresh("gradient_norm", phase),
            "seconds_per_step": round(seconds / steps, 6) if steps else None,
            "samples_per_second": round(samples / watched, 1) if samples and watched else None,
            "batch": self._shapes[phase],
            "padding": self.watcher.known.loaders.last_padding() if phase == self._phase else None,
            "memory": self._memory_now(),
            "logged": self._logged_since(phase),
        }

    def _untold(self) -> bool:
        """Whether the script has logged something since the last line, as after its last step."""
        latest, told = self.watcher.writer.latest, self._told
        return any(n.startswith(LOGGED) and latest[n] is not told.get(n.removeprefix(LOGGED)) for n in list(latest))

    def _logged_since(self, phase: str) -> dict[str, float]:
        """What the script has logged, each value in one line: a score of the evaluation is none of the next step."""
        latest, fresh = self.watcher.writer.latest, self._fresh_ones(LOGGED, phase)
        new = {name: value for name, value in fresh.items() if latest[LOGGED + name] is not self._told.get(name)}
        self._told |= {name: latest[LOGGED + name] for name in new}
        return new

    def _fresh_ones(self, prefix: str, phase: str) -> dict[str, float]:
        series = [name for name in list(self.watcher.writer.latest) if name.startswith(prefix)]
        values = {name.removeprefix(prefix): self._fresh(name, phase) for name in series}
        return {name: value for name, value in values.items() if value is not None}

    def _fresh(self, series: str, phase: str) -> float | None:
        """The last value, if it is of the steps that this line is about."""
        step, value = self.watcher.writer.latest.get(series, (-1, None))
        return value if step >= self._step[phase] - self._steps[phase] else None

    def _memory_now(self) -> dict[str, float]:
        latest = self.watcher.writer.latest
        known = {name.removeprefix("memory:"): latest[name][1] for name in list(latest) if name.startswith("memory:")}
        if known:
            return known
        taken, size = self._memory
        if time.perf_counter() - taken > MEMORY_EVERY:
            size = psutil.Process().memory_info().rss
            self._memory = (time.perf_counter(), size)
        return {} if size is None else {"rss:main": size}


def _size_of(shapes: list[list[int]] | None) -> int:
    """Samples in a batch of these shapes."""
    return shapes[0][0] if shapes and shapes[0] else 1


def for_people(line: Fields) -> str:
    """The line as somebody reads it while it scrolls by; what is not known is left out."""
    words = [f"{line['phase']:5} step {line['step']:,}"]
    if line["loss"]:
        words.append("loss " + " ".join(f"{value:.4g}" for value in line["loss"].values()))
    if line["learning_rate"] and line["phase"] == "train":
        words.append("lr " + " ".join(f"{rate:.3g}" for rate in dict.fromkeys(line["learning_rate"])))
    if line["gradient_norm"] is not None and line["phase"] == "train":
        words.append(f"grad {line['gradient_norm']:.3g}")
    if line["seconds_per_step"] is not None:
        words.append(f"{line['seconds_per_step']:.3g} s/step")
    if line["samples_per_second"]:
        words.append(f"{line['samples_per_second']:,.0f} samples/s")
    if line["batch"]:
        words.append("batch " + "×".join(str(size) for size in line["batch"][0]))
    if line["padding"]:
        words.append(f"{100 * line['padding']:.0f} % padding")
    words += [f"{name} {value:.4g}" for name, value in line["logged"].items()]
    words += [f"{place} {size / 2**30:.2f} GiB" for place, size in _places(line["memory"])]
    return "  ".join(words)


def _places(memory: dict[str, float]) -> list[tuple[str, float]]:
    """What the process holds, and what it holds on each device."""
    host = [("memory", memory["rss:main"])] if "rss:main" in memory else []
    return host + [
        (name.removeprefix("allocated:"), size) for name, size in memory.items() if name.startswith("allocated:")
    ]
