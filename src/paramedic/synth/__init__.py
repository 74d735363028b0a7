"""Synthetic tasks with a known answer, in rising difficulty: `paramedic.synth`.

train, test = paramedic.synth.datasets("sine", n=1000, seed=0, split="gap")
paramedic.synth.optimum("gaussians", level=2)   # what no model can beat
paramedic.synth.twin(batch)                     # same shapes, types and ranges, with a rule to learn
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paramedic.synth.dataset import SynthDataset
    from paramedic.synth.files import Parts
    from paramedic.synth.twinning import Twins

__all__ = ["datasets", "optimum", "read", "tasks", "twin", "twins", "write"]


def tasks() -> list[str]:
    """The names of the tasks."""
    from paramedic.synth.catalogue import TASKS

    return list(TASKS)


def datasets(
    task: str, *, n: int = 1000, seed: int = 0, split: str = "random", level: int | None = None, **settings: object
) -> tuple[SynthDataset, SynthDataset]:
    """Training and test set (80 : 20) as map-style torch Datasets; sample i depends on the seed and on i only."""
    from paramedic.synth.catalogue import find
    from paramedic.synth.dataset import SynthDataset
    from paramedic.synth.sampling import Source, sizes

    train, test = sizes(n)
    found = find(task)
    return (
        SynthDataset(Source(found, level, settings, seed=seed, split=split, part="train"), train),
        SynthDataset(Source(found, level, settings, seed=seed, split=split, part="test"), test),
    )


def optimum(task: str, *, split: str = "random", level: int | None = None, **settings: object) -> float:
    """The smallest error that any model can have on the test set: Bayes error, or the variance of the noise."""
    from paramedic.synth.catalogue import find
    from paramedic.synth.sampling import Source

    return float(Source(find(task), level, settings, seed=0, split=split, part="test").arrays(10_240).risk.mean())


def write(
    task: str,
    folder: str | Path,
    *,
    format: str = "npz",
    n: int = 1000,
    seed: int = 0,
    split: str = "random",
    level: int | None = None,
    **settings: object,
) -> list[Path]:
    """Write train and test as files: npz, jsonl, parquet or images; `task.json` beside them states the optimum."""
    from paramedic.synth import files
    from paramedic.synth.catalogue import find

    return files.write(
        find(task), Path(folder), format=format, n=n, seed=seed, split=split, level=level, settings=settings
    )


def read(folder: str | Path) -> Parts:
    """What `write` wrote: {"train": {"input": …, "target": …}, "test": …} as numpy arrays."""
    from paramedic.synth import files

    return files.read(Path(folder))


def twin(batch: object, *, target: str | int | None = None, seed: int = 0) -> Any:
    """A batch of the same shapes, types, ranges and class counts, in which the input tells the target.

    The target is the last of a row, or what a dictionary calls label, target or y; else name its key or position.
    """
    return twins(batch, target=target, seed=seed)(batch)


def twins(first: object, *, target: str | int | None = None, seed: int = 0) -> Twins:
    """A function that makes the twin of every batch of a run, by one rule: ranges are those of the first batch."""
    from paramedic.synth.twinning import Twins

    return Twins(first, target=target, seed=seed)
