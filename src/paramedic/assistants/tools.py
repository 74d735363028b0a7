"""The tools: one method each. Their docstrings are what the assistant reads."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import Field

from paramedic.assistants.project import Project

Script = Annotated[str, Field(description="A Python training script, seen from the project folder.")]
Args = Annotated[tuple[str, ...], Field(description="The script's own command-line arguments.")]
Inputs = Annotated[tuple[str, ...], Field(description="Shapes such as 2,3,32,32 or 2,16:int, or files.")]
Seconds = Annotated[float, Field(gt=0, le=86_400, description="Time limit; the verdict so far is given at its end.")]
Rules = Annotated[tuple[str, ...], Field(description="Codes, names or prefixes of rules.")]

_SHAPE = re.compile(r"[\d,]+(:\w+)?")


class Tools:
    """Each returns the JSON contract of its command, with the end of what was printed under `process`."""

    def __init__(self, project: Project) -> None:
        self._project = project

    async def run(self, script: Script, args: Args = (), seconds: Seconds = 600) -> dict[str, Any]:
        """Run an unmodified training script to its end, watched. findings[0] is the root cause: what is wrong, where
        (file and line), why, and what to try."""
        return await self._project.paramedic("run", self._project.path(script), *args, seconds=seconds)

    async def check(self, script: Script, args: Args = (), steps: int = 20, seconds: Seconds = 300) -> dict[str, Any]:
        """Run a training script for a few optimizer steps only, stop it, and give a verdict. Try this first."""
        words = ("--steps", str(steps), self._project.path(script), *args)
        return await self._project.paramedic("check", *words, seconds=seconds)

    async def report(self, run: str | None = None, ignore: Rules = (), seconds: Seconds = 60) -> dict[str, Any]:
        """The verdict on a recorded run again: by its id or folder, or the last one. Runs nothing."""
        skipped = [word for rule in ignore for word in ("--ignore", rule)]
        words = [] if run is None else [self._project.thing(run)]
        return await self._project.paramedic("report", *skipped, *words, seconds=seconds)

    async def explain(self, rule: str) -> dict[str, Any]:
        """Explain a rule by its code or name: why it hurts, what to try first, when it is wrong."""
        from paramedic.rules.catalogue import find_rule

        found = find_rule(rule)
        return {
            "code": found.code,
            "name": found.name,
            "severity": found.severity,
            "documentation": found.documentation,
            "options": dict(found.options),
        }

    async def diagnose(
        self, script: Script, args: Args = (), steps: int = 300, seconds: Seconds = 300
    ) -> dict[str, Any]:
        """Run controlled experiments on copies of the project: is it the model, the data or the settings? Slow; for
        a script that trains badly although `run` finds nothing."""
        words = ("--steps", str(steps), "--time-limit", str(seconds), self._project.path(script), *args)
        return await self._project.paramedic("diagnose", *words, seconds=seconds + 120)

    async def audit(
        self, data: str, val: str | None = None, label: str | None = None, seconds: Seconds = 300
    ) -> dict[str, Any]:
        """Examine a data set (csv, jsonl, parquet, npz, a folder of images, COCO or VOC boxes): labels, duplicates,
        leaks into the validation data, ranges, signal."""
        words = [self._project.path(data)]
        words += ["--val", self._project.path(val)] if val is not None else []
        words += ["--label", label] if label is not None else []
        return await self._project.paramedic("audit", *words, seconds=seconds)

    async def compare(
        self,
        a: str,
        b: str,
        inputs: Inputs = (),
        backward: bool = False,
        seconds: Seconds = 300,
    ) -> dict[str, Any]:
        """The first place where two models (FILE.py:NAME, .onnx, dumps), checkpoints or recorded runs diverge, and why.
        Models need `inputs`, such as "2,3,32,32" or "2,16:int100"."""
        words = [self._project.thing(a), self._project.thing(b)]
        words += self._inputs(inputs)
        words += ["--backward"] if backward else []
        return await self._project.paramedic("compare", *words, seconds=seconds)

    async def shapes(self, target: str, inputs: Inputs = (), seconds: Seconds = 120) -> dict[str, Any]:
        """Every module's shapes, parameters, FLOPs and memory: of a script's first step, or of FILE.py:NAME with
        `inputs`, such as "2,3,32,32"."""
        words = self._inputs(inputs)
        return await self._project.paramedic("shapes", *words, self._project.thing(target), seconds=seconds)

    def _inputs(self, inputs: tuple[str, ...]) -> list[str]:
        """Shapes as they are; what is no shape is a file or FILE.py:NAME, and must be inside the project."""
        return [
            word
            for given in inputs
            for word in ("--input", given if _SHAPE.fullmatch(given) else self._project.thing(given))
        ]
