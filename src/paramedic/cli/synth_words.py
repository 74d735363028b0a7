"""What `paramedic synth` says, in lines of 80 columns."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paramedic.synth.catalogue import TASKS
from paramedic.synth.task import ERRORS, OPTIMA, Task

if TYPE_CHECKING:
    from paramedic.synth.ladder import Climb


def catalogue() -> str:
    lines = []
    for task in TASKS.values():
        lines += wrapped(f"{task.name:<11}{task.form}: {task.summary}", 11)
        lines += [
            f"  {level}{' *' if level == task.usual else '  '} {rung.name}" for level, rung in enumerate(task.rungs, 1)
        ]
        usual = " ".join(f"{name}={value}" for name, value in task.settings(None, {}).items())
        lines += wrapped(f"  settings  {usual}", 12)
        lines += [f"  gap       {task.gap}", ""] if task.gap else [""]
    lines.append("* the usual form. Write one with: paramedic synth sine --out data --level 3")
    return "\n".join(lines)


def wrapped(text: str, indent: int) -> list[str]:
    return textwrap.wrap(text, 80, subsequent_indent=" " * indent, break_long_words=False)


def written(paths: Sequence[Path]) -> str:
    card = json.loads(paths[-1].read_text(encoding="utf-8"))
    best = card["optimum"]["test"]
    task = TASKS[card["task"]]
    lines = [f"{path}" for path in paths]
    samples = card["samples"]
    lines += wrapped(
        f"{card['task']}, level {card['level']} ({card['rung']}): {samples['train']} training and "
        f"{samples['test']} test samples, {card['split']} split, seed {card['seed']}.",
        0,
    )
    lines += wrapped(f"The best possible model has a {ERRORS[task.goal]} of {best:.3g} on the test set.", 0)
    return "\n".join(lines)


def heading(task: Task, settings: Mapping[str, Any]) -> str:
    chosen = " ".join(f"{name}={value}" for name, value in settings.items())
    first = f"{task.name}: {task.summary}" + (f" ({chosen})" if chosen else "")
    columns = f"    {'rung':<42}{'error':>8}{'optimum':>9}{'blind':>8}{'learnt':>9}"
    return "\n".join(["", *wrapped(first, 2), columns])


def rung_line(result: Climb) -> str:
    mark = "✓" if result.passed else "✗"
    name = result.rung.name if len(result.rung.name) <= 40 else result.rung.name[:39] + "…"
    values = f"{result.error:>8.2g}{result.optimum:>9.2g}{result.blind:>8.2g}"
    return f"  {mark} {result.level} {name:<40}{values}{max(result.learnt, 0):>9.0%}"


def climbed(task: Task, results: Sequence[Climb]) -> str:
    from paramedic.synth.ladder import LEARNT, RATES, TESTS

    last = results[-1]
    legend = (
        f"error: {ERRORS[task.goal]} on {TESTS} new samples. optimum: {OPTIMA[task.goal]}, which no model can beat. "
        f"blind: the best answer that ignores the input. A rung counts as learnt at {LEARNT:.0%} of the way."
    )
    if last.passed:
        verdict = f"All {len(results)} rungs of {task.name} are learnt: on this kind of task the model is sound."
        return "\n".join([*wrapped(verdict, 0), *wrapped(legend, 0)])
    rates = ", ".join(f"{rate:g}" for rate in RATES)
    verdict = (
        f"Breaks at rung {last.level} of {len(task.rungs)}: {last.rung.name}. The best of three tries "
        f"(Adam, learning rates {rates}) got {max(last.learnt, 0):.0%} of the way."
    )
    return "\n".join([*wrapped(verdict, 0), *wrapped(f"It probably lacks {last.rung.needs}.", 0), *wrapped(legend, 0)])
