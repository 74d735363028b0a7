"""python -m benchmarks.audit.accuracy: planted faults found, with the right samples; healthy sets left in peace."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from sklearn import datasets
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

import paramedic
from benchmarks.audit.faults import FAULTS, Data, Planted
from benchmarks.audit.sets import mnist_5k

SETS = ("iris", "wine", "digits", "breast_cancer", "diabetes")
SEEDS = tuple(int(word) for word in sys.argv[1:] if word.isdigit()) or (0, 1, 2)


def healthy(seed: int, names: tuple[str, ...] = SETS) -> Iterator[tuple[str, Data]]:
    for name in names:
        x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield name, split(x, y, seed, (8, 8) if name == "digits" else None)
    mnist = mnist_5k()
    if mnist is not None:
        yield "mnist-5k", split(*mnist, seed, (28, 28))


def split(x: Any, y: Any, seed: int, images: tuple[int, ...] | None) -> Data:
    x, vx, y, vy = train_test_split(x, y, test_size=0.25, random_state=seed)
    return Data(x=x, y=y, vx=vx, vy=vy, images=images)


def given(pair: tuple[Any, Any], how: str) -> Any:
    if how == "array":
        return pair
    dataset = TensorDataset(torch.tensor(pair[0], dtype=torch.float32), torch.tensor(pair[1]))
    return dataset if how == "dataset" else DataLoader(dataset, batch_size=32)


def judge(planted: Planted) -> tuple[bool, float]:
    """Whether the fault was found at all, and how many of its samples were named."""
    report = paramedic.audit(given(planted.train, planted.loader), given(planted.val, planted.loader))
    found = [finding for finding in report.findings if finding.code == planted.code]
    named = {sample for finding in found for sample in finding.samples}
    return bool(found), len(named & planted.samples) / len(planted.samples) if planted.samples else 1.0


def main() -> None:
    total = hits = 0
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    print("| set | seed | fault | code | found | samples named |\n|---|---|---|---|---|---|")
    for seed in SEEDS:
        for name, data in healthy(seed):
            for how in ("array", "dataset"):
                report = paramedic.audit(given((data.x, data.y), how), given((data.vx, data.vy), how))
                for alarm in report.diagnosis.alarms:
                    print(f"| {name} | {seed} | none ({how}) | {alarm.code} | FALSE ALARM: {alarm.what} | |")
            for fault in FAULTS:
                planted = fault(data, np.random.default_rng(seed))
                if planted is None:
                    continue
                found, named = judge(planted)
                total, hits = total + 1, hits + (found and named > 0.8)
                if not found or named <= 0.8 or seed == 0:
                    said = "yes" if found else "NO"
                    print(f"| {name} | {seed} | {fault.__name__} | {planted.code} | {said} | {named:.0%} |")
    print(f"\n{hits} of {total} faults found with at least 80 % of their samples")


if __name__ == "__main__":
    main()
