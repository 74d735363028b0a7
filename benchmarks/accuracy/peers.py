"""Other tools on the same programs: `python -m benchmarks.accuracy.peers [real/]`, where they are installed.

All ask to be put into the script. This is done for them: at the first optimizer step the model that was called with
the optimizer's parameters is handed over, with the loss of every backward(). They have codes of their own, so what is
counted is whether they alarm (warning or worse) on the sick program, and whether they are silent on its repaired twin.
torcheck is told that all trainable parameters change and stay finite; it raises what it finds. TrainCheck asks for a
reference run instead and is slow: a sample of the real bugs, see with_reference.py.

Called with a tool and a script it runs one, and prints its alarms as one line of JSON.
"""

from __future__ import annotations

import importlib.util
import json
import os
import runpy
import subprocess
import sys
import tempfile
import traceback
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.accuracy import with_reference
from benchmarks.accuracy.programs import Program, all_programs
from benchmarks.accuracy.score import share

TOOLS = ("torch_audit", "torchmortem", "torcheck")
PREFIX = "ALARMS "


def main(only: str = "") -> None:
    programs = [p for p in all_programs() if p.source != "cases" and only in f"{p.source}/{p.name}"]
    print(
        "| tool | alarms on sick programs | and is silent on the twin | alarms on healthy programs |\n|---|---|---|---|"
    )
    for tool in TOOLS:
        if importlib.util.find_spec(tool) is None:
            print(f"| {tool} | not installed | | |")
            continue
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            answers = pool.map(partial(alarms_of, tool), [program.script for program in programs])
            said = {(p.source, p.name): answer for p, answer in zip(programs, answers, strict=True)}
        print(f"| {tool} | {row(programs, said)} |", flush=True)
    if only not in "real/":
        return
    if importlib.util.find_spec("traincheck") is None:
        print("| traincheck | not installed | | |")
    else:
        with_reference.main()


def row(programs: list[Program], said: dict[tuple[str, str], bool | None]) -> str:
    sick = [(said[p.source, p.name], said.get((p.source, p.twin or ""))) for p in programs if p.is_sick]
    healthy = [said[p.source, p.name] for p in programs if not p.is_sick]
    pairs = [(mine, twin) for mine, twin in sick if mine is not None and twin is not None]
    cells = (share(mine for mine, _ in sick), share(mine and not twin for mine, twin in pairs), share(healthy))
    return " | ".join(map(str, cells))


def alarms_of(tool: str, script: Path) -> bool | None:
    """Whether it alarms; None where it could not be run."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-m", "benchmarks.accuracy.peers", tool, str(script)],
                cwd=folder, capture_output=True, text=True, timeout=300, check=False,
                env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return None
    line = next((line for line in reversed(done.stdout.splitlines()) if line.startswith(PREFIX)), None)
    return None if line is None else bool(json.loads(line.removeprefix(PREFIX)))


class Handed:
    """Finds the model and hands it to the tool, once."""

    def __init__(self, tool: str) -> None:
        self.tool = tool
        self.called: list[Any] = []
        self.loss = 0.0
        self.instrument: Any = None
        self.raised: list[str] = []

    def install(self) -> None:
        import torch
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

        def note(module: Any, args: Any) -> None:
            if self.instrument is None and not any(module is known for known in self.called[-50:]):
                self.called.append(module)

        torch.nn.modules.module.register_module_forward_pre_hook(note)
        backward = torch.Tensor.backward

        def noted(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            self.loss = float(tensor.detach().sum())
            return backward(tensor, *args, **kwargs)

        torch.Tensor.backward = noted  # type: ignore[method-assign]
        register_optimizer_step_pre_hook(lambda optimizer, *_: self._before(optimizer))
        register_optimizer_step_post_hook(lambda *_: self._after())

    def _before(self, optimizer: Any) -> None:
        if self.instrument is not None:
            return
        held = {id(p) for group in optimizer.param_groups for p in group["params"]}
        models = [m for m in self.called if any(id(p) in held for p in m.parameters())]
        model = max(models, key=lambda m: sum(1 for _ in m.modules()), default=None)
        if model is None:
            return
        if self.tool == "torch_audit":
            from torch_audit import autopatch

            self.instrument = autopatch(model, optimizer=optimizer, every_n_steps=1, fail_level="FATAL", reporters=[])
        elif self.tool == "torcheck":
            import torcheck

            self.instrument = torcheck
            torcheck.register(optimizer)
            for name, parameter in model.named_parameters():
                if parameter.requires_grad:
                    torcheck.add_tensor(parameter, name, changing=True, check_nan=True, check_inf=True)
        else:
            from torchmortem import Autopsy

            self.instrument = Autopsy(model, optimizer=optimizer)
            self.instrument.attach()

    def _after(self) -> None:
        if self.tool == "torchmortem" and self.instrument is not None:
            self.instrument.step(loss=self.loss)

    def alarms(self) -> list[str]:
        if self.instrument is None or self.tool == "torcheck":
            return self.raised
        if self.tool == "torch_audit":
            found = self.instrument.finish().findings
            return [f.rule_id for f in found if f.severity.value in ("WARN", "ERROR", "FATAL")]
        self.instrument.detach()
        return [f.title for f in self.instrument.get_report().findings if f.severity >= 1]


def run_one(tool: str, script: str) -> None:
    handed = Handed(tool)
    handed.install()
    sys.argv = [script]
    sys.path[0] = str(Path(script).parent)
    try:
        runpy.run_path(script, run_name="__main__")
    except BaseException as error:  # a sick program may fail: what was said until then counts
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        if any(f"{os.sep}torcheck{os.sep}" in frame.filename for frame in traceback.extract_tb(error.__traceback__)):
            handed.raised.append(str(error))
    print(PREFIX + json.dumps(handed.alarms()), flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        run_one(sys.argv[1], sys.argv[2])
    else:
        main(*sys.argv[1:])
